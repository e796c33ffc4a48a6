"""The exhibits of Walker (1988).

The scan has no figures, and the paper gives neither dimensions nor masses, gains or trajectories; it simulates nothing.
What its text says about the arm of Figures 1 and 3 is compared number by number. Its theorem is tested on the arm
``walker`` of the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.control.laws.spatial_control import MotionFunction, compute_link_velocities
from ytheta.dynamics import kernels
from ytheta.dynamics.constraint import build_constraint, column, compute_drive_motion
from ytheta.dynamics.formulations.spatial_tree import (
    BinaryTree,
    LinkMotion,
    NodeKind,
    add_forces,
    build_binary_tree,
    momentum_columns,
    spatial_cross,
    spatial_transpose,
    traverse,
)
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import PER_DRIVE, PER_LINK, scalars
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State
from ytheta.papers.walker1988_control import compare_proof, compare_tracking, simulate_arm
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import AnySpatialColumns, Float

if TYPE_CHECKING:
    import casadi

CITATION = (
    "M. W. Walker, Adaptive Control of Manipulators Containing Closed Kinematic Loops, Robotics Research Laboratory, "
    "University of Michigan, 1988"
)
ABOUT = (
    "A binary tree of links, inverse dynamics without constraint forces and an adaptive controller for robots with "
    "closed loops. The paper proves stability and simulates nothing. Its example arm is the robot walker of the "
    "catalog, with dimensions, masses and friction chosen there."
)


def reproduce() -> PaperReproduction:
    """Compare the statements of the paper about its example arm, and its theorem, with ytheta."""
    robot = load("walker")
    runs = simulate_arm()
    return PaperReproduction(
        "walker1988",
        CITATION,
        ABOUT,
        (
            compare_links(robot),
            compare_tree(robot),
            compare_loop_equations(robot),
            compare_virtual_work(robot),
            compare_proof(runs),
            compare_tracking(runs),
        ),
    )


# Figures 1 and 3: the links of the example arm, and its binary tree with connector and terminating links.
#
# Reference     [walker1988] sec. 2.1, 2.3 and 3


FIGURE_IS_MISSING = "The scan used has no figures: the statements of the text are compared."


def compare_links(robot: Robot) -> Exhibit:
    """Compare what sec. 2.1 and 2.3 say about the links and joints of Figure 1."""
    numbers = {link.name: k for k, link in enumerate(robot.links)}
    children = [(numbers[joint.parent], numbers[joint.child]) for joint in robot.joints]
    behind_1 = _list_descendants(children, 1)
    towards_base = [n for n in numbers.values() if 7 in _list_descendants(children, n)]
    actuated = ", ".join(f"Q{k} = {name}" for k, name in enumerate(robot.actuated, start=1))
    return Exhibit(
        "figure_1",
        "Figure 1: links and joints of the example arm",
        (
            _compare("links m + 1", 8, len(robot.links)),
            _compare("independent loops r", 2, len(robot.loops)),
            _compare("descendants of link 1", "{2, 3}", _format(behind_1)),
            _compare("predecessors of link 7", "{0, 6}", _format(towards_base)),
            _compare("immediate descendants of link 0", "{1, 4, 6}", _format(b for a, b in children if a == 0)),
            _compare("actuated joints", "Q1 = q5, Q2 = q7, Q3 = q3", actuated),
        ),
        open=FIGURE_IS_MISSING,
    )


def compare_tree(robot: Robot) -> Exhibit:
    """Compare the binary tree of Figure 3 with the numbers in the text and with the paths in (8) and (9)."""
    tree = build_binary_tree(robot)
    kinds = {kind: [node.number for node in tree.nodes if node.kind is kind] for kind in NodeKind}
    most = max((node.connector is not None) + (node.successor is not None) for node in tree.nodes)
    pairs = sum(len(tree.path(node.number)) for node in tree.nodes[1:])
    reversed_pairs = sum(len(tree.descendants(node.number)) for node in tree.nodes[1:])
    return Exhibit(
        "figure_3",
        "Figure 3: binary tree",
        (
            _compare("terminating links, m + 1 … m + r", "{8, 9}", _format(kinds[NodeKind.TERMINATING])),
            _compare("connector links, from m + r + 1", "{10, 11, 12, 13}", _format(kinds[NodeKind.CONNECTOR])),
            _compare("Φ_4", "{4, 10, 11}", _format(tree.path(4))),
            _compare("Ψ_1", "{1, 2, 3, 12, 13}", _format(tree.descendants(1))),
            _compare("right side of (8)", "0 10 11 4 5 8", _format_path(tree, 8)),
            _compare("right side of (9)", "0 10 6 7 9", _format_path(tree, 9)),
            _compare("left side of (8)", "0 1 13", _format_path(tree, 13)),
            _compare("left side of (9)", "0 1 2 12", _format_path(tree, 12)),
            _compare("most immediate descendants of a link", 2, most),
            PrintedResult(
                "pairs (i, j) of (30), by Φ and by Ψ",
                "equal",
                f"{pairs} and {reversed_pairs}",
                State.of(pairs == reversed_pairs),
                "the print has Ψ_i under the inner sum on the right side; it is Ψ_j",
            ),
        ),
        open=FIGURE_IS_MISSING,
    )


def _compare(name: str, paper: int | str, value: int | str) -> PrintedResult:
    return PrintedResult(name, paper, value, State.of(paper == value))


def _format(numbers: Iterable[int]) -> str:
    return "{" + ", ".join(str(number) for number in sorted(numbers)) + "}"


def _format_path(tree: BinaryTree, number: int) -> str:
    """Return the nodes from the base to a node, as the superscripts of the transforms in (8) and (9)."""
    return " ".join(str(node) for node in (0, *reversed(tree.path(number))))


def _list_descendants(children: list[tuple[int, int]], link: int) -> list[int]:
    below = [child for parent, child in children if parent == link]
    return below + [further for child in below for further in _list_descendants(children, child)]


# The loop closure equations (8) and (9), from the printed Denavit-Hartenberg matrix, and E and its derivative.
#
# Identity      T_0^1 T_1^13 = T_0^10 T_10^11 T_11^4 T_4^5 T_5^8          (8)
#               T_0^1 T_1^2 T_2^12 = T_0^10 T_10^6 T_6^7 T_7^9            (9)
# Reference     [walker1988] sec. 2.2 (the matrix) and 2.3, (4)-(9)
# Notation      code       paper   meaning                                                     shape
#               angles     q       q_1 … q_9                                                   9
#               closure    -       left minus right sides of (8) and (9), all 32 entries       32
# Independent   of ytheta's kinematics: the equations are solved here by least squares, and U(Q) is compared.


JOINTS = 9
ACTUATED = (5, 7)  # joints in loops with an actuator; joint 3 is in no loop
UNKNOWN = (1, 2, 4, 6, 8, 9)
BOOM, ARM = 1.2, 0.9  # a_1 and a_2, m, as in the catalog
STROKES = {5: (0.62, 0.92), 7: (1.05, 1.40)}  # m, ranges in which the loops close
POSES = 20
POSE_SEED = 1988
MAX_GAP = 1e-12  # m and rad
STEP = 1e-4  # s, of the central differences
MAX_RATE_ERROR, MAX_ACCELERATION_ERROR = 1e-7, 1e-5  # relative; truncation and rounding of central differences
MAX_ITERATIONS = 20


def compare_loop_equations(robot: Robot) -> Exhibit:
    """Compare (8) and (9) with ytheta: count and rank of the equations, U(Q), E and its derivative."""
    equations = LoopEquations(robot)
    rng = np.random.default_rng(POSE_SEED)
    strokes = np.array([rng.uniform(*STROKES[k], size=POSES) for k in ACTUATED]).T
    gaps, differences, ranks, determined = [], [], set(), set()
    for q5, q7 in strokes:
        q = _close_by_ytheta(robot, q5, q7)
        gaps.append(float(abs(equations.evaluate(q)[0]).max()))
        turns = (equations.solve(q5, q7) - q) / (2.0 * np.pi)
        differences.append(float(2.0 * np.pi * abs(turns - turns.round()).max()))
        J = equations.evaluate(q)[1]
        ranks.add(int(np.linalg.matrix_rank(J, tol=1e-9)))
        determined.add(int(np.linalg.matrix_rank(J[:, [k - 1 for k in UNKNOWN]], tol=1e-9)))
    rate_error, acceleration_error = _compare_rates(robot, equations)
    return Exhibit(
        "equations_8_9",
        "Loop equations (8) and (9), and their derivatives (5) and (7)",
        (
            PrintedResult("scalar equations", 32, equations.count, State.of(equations.count == 32)),
            PrintedResult("independent equations", 6, _format_ranks(ranks), State.of(ranks == {6})),
            PrintedResult(
                "q5 and q7 determine",
                "q1, q2, q4, q6, q8, q9",
                ", ".join(f"q{k}" for k in UNKNOWN) if determined == {6} else f"{_format_ranks(determined)} of them",
                State.of(determined == {6}),
            ),
            PrintedResult(
                "(8), (9) with ytheta's U(Q)",
                "left side = right side",
                f"largest difference {max(gaps):.1e} m or rad",
                State.of(max(gaps) < MAX_GAP),
            ),
            PrintedResult(
                "U(Q) solved from (8), (9)",
                "q = U(Q)",
                f"differs from ytheta's by {max(differences):.1e} m or rad",
                State.of(max(differences) < 1e3 * MAX_GAP),
            ),
            PrintedResult(
                "(5): qd = E Qd",
                "derivative of U",
                f"relative difference {rate_error:.1e}",
                State.of(rate_error < MAX_RATE_ERROR),
                "central differences of U along a motion",
            ),
            PrintedResult(
                "(7): qdd = E Qdd + Edot Qd",
                "second derivative of U",
                f"relative difference {acceleration_error:.1e}",
                State.of(acceleration_error < MAX_ACCELERATION_ERROR),
                "central differences of U along a motion",
            ),
        ),
        open=(
            "Dimensions are those of the catalog. The equations hold for any dimensions; checked at "
            f"{POSES} poses of the cylinders within their strokes."
        ),
    )


@dataclass(frozen=True, eq=False)
class LoopEquations:
    """(8) and (9) for the arm of the catalog; connectors 10 to 13 are its markers."""

    robot: Robot

    @property
    def count(self) -> int:
        return int(self._closure.numel())

    def evaluate(self, q: Float[np.ndarray, "9"]) -> tuple[Float[np.ndarray, "32"], Float[np.ndarray, "32 9"]]:
        """Return left minus right sides, and their derivatives by q_1 … q_9."""
        closure, jacobian = self._function(q)
        return np.array(closure)[:, 0], np.array(jacobian)

    def solve(self, q5: float, q7: float) -> Float[np.ndarray, "9"]:
        """Return all positions for given strokes: Gauss-Newton steps on all 32 equations, from home."""
        q, free = _close_by_ytheta(self.robot, 0.77, 1.22), [k - 1 for k in UNKNOWN]
        start = q[[4, 6]]
        for share in (0.25, 0.5, 0.75, 1.0):
            q[[4, 6]] = (1.0 - share) * start + share * np.array([q5, q7])
            for _ in range(MAX_ITERATIONS):
                gap, J = self.evaluate(q)
                q[free] -= np.linalg.lstsq(J[:, free], gap, rcond=None)[0]
                if abs(gap).max() < MAX_GAP:
                    break
        return q

    @cached_property
    def _angles(self) -> casadi.SX:
        import casadi

        return casadi.SX.sym("q", JOINTS)

    @cached_property
    def _closure(self) -> casadi.SX:
        import casadi

        q = [None, *scalars(self._angles)]
        T_0_1, T_1_2 = _make_transform(q[1], a=BOOM), _make_transform(q[2], a=ARM)
        T_11_4, T_10_6 = (_make_transform(q[k] + 0.5 * np.pi, alpha=0.5 * np.pi) for k in (4, 6))
        T_4_5, T_6_7 = (_make_transform(0.0, d=q[k], alpha=-0.5 * np.pi) for k in (5, 7))
        T_5_8, T_7_9 = _make_transform(q[8]), _make_transform(q[9])
        T_0_10, T_0_11, T_2_12, T_1_13 = (self._locate_connector(k) for k in (10, 11, 12, 13))
        T_10_11 = np.linalg.inv(T_0_10) @ T_0_11
        first = T_0_1 @ T_1_13 - T_0_10 @ T_10_11 @ T_11_4 @ T_4_5 @ T_5_8  # (8)
        second = T_0_1 @ T_1_2 @ T_2_12 - T_0_10 @ T_10_6 @ T_6_7 @ T_7_9  # (9)
        return casadi.densify(column(np.concatenate([first.ravel(), second.ravel()])))

    @cached_property
    def _function(self) -> casadi.Function:
        import casadi

        return casadi.Function("closure", [self._angles], [self._closure, casadi.jacobian(self._closure, self._angles)])

    def _locate_connector(self, number: int) -> Float[np.ndarray, "4 4"]:
        (marker,) = [m for m in self.robot.markers if m.name == f"connector{number}"]
        return np.asarray(marker.frame.matrix, dtype=float)


def _make_transform(theta: Any, *, d: Any = 0.0, a: float = 0.0, alpha: float = 0.0) -> np.ndarray:
    """Return the homogeneous transform of sec. 2.2 as an object array."""
    import casadi

    c, s = casadi.cos(theta), casadi.sin(theta)
    ca, sa = round(float(np.cos(alpha)), 15), round(float(np.sin(alpha)), 15)
    result = np.empty((4, 4), dtype=object)
    rows = ((c, -s * ca, s * sa, a * c), (s, c * ca, -c * sa, a * s), (0.0, sa, ca, d), (0.0, 0.0, 0.0, 1.0))
    for place in np.ndindex(4, 4):
        result[place] = rows[place[0]][place[1]]
    return result


def _close_by_ytheta(robot: Robot, q5: float, q7: float) -> Float[np.ndarray, "9"]:
    """Return q_1 … q_9 for given strokes, with the loops closed by ytheta."""
    closure = close_loops(robot, {"q5": float(q5), "q7": float(q7), "q3": 0.0}).or_raise()
    return np.array([*closure.q, *(loop.position for loop in closure.loops)])


def _compare_rates(robot: Robot, equations: LoopEquations) -> tuple[float, float]:
    """Return relative differences between (5) and (7) by ytheta and central differences of U, for q1, q2, q4, q6."""
    import casadi

    loops = build_constraint(robot)
    Qd_symbols, Qdd_symbols = casadi.SX.sym("Qd", 3), casadi.SX.sym("Qdd", 3)
    m = compute_drive_motion(loops, scalars(Qd_symbols), scalars(Qdd_symbols))
    motion = casadi.Function("m", [loops.x, Qd_symbols, Qdd_symbols], [column(m.joints.qd), column(m.joints.vd)])
    Q, Qd, Qdd = np.array([0.75, 1.2]), np.array([0.3, -0.4]), np.array([0.7, 0.5])
    before, now, after = (equations.solve(*(Q + h * Qd + 0.5 * h * h * Qdd)) for h in (-STEP, 0.0, STEP))
    passive = [k - 1 for k in UNKNOWN if k <= len(robot.joints)]
    rate, acceleration = (after - before)[passive] / (2.0 * STEP), (after - 2.0 * now + before)[passive] / STEP**2
    qd, qdd = (np.array(v)[passive, 0] for v in motion(now[: len(loops.home)], [*Qd, 0.0], [*Qdd, 0.0]))
    return float(abs(qd - rate).max() / abs(rate).max()), float(abs(qdd - acceleration).max() / abs(acceleration).max())


def _format_ranks(ranks: set[int]) -> int | str:
    return next(iter(ranks)) if len(ranks) == 1 else " or ".join(map(str, sorted(ranks)))


# The principle of virtual work (16) for arbitrary feedback vectors, and two identities of the proof.
#
# Reference     [walker1988] (10), (14)-(16), and the step before (27)
# Notation      code      paper                  meaning                                               shape
#               F_hat     Fhat_j                 arbitrary forces of all links, link axes              links x 6
#               eta_hat   etahat_j               arbitrary torques of all joints                       drives
#               virtual   vtilde_j, qtildedot_j  velocities that satisfy the loop constraints


STATE_SEED = 16
MAX_RELATIVE_DIFFERENCE = 1e-10


def compare_virtual_work(robot: Robot) -> Exhibit:
    """Compare both sides of (16) at a random motion, and check the identities that the proof uses."""
    left, right = evaluate_virtual_work(robot)
    difference = abs(left - right) / abs(left)
    form, gyroscopic = evaluate_identities(robot)
    return Exhibit(
        "equation_16",
        "Virtual work (16), and identities of the proof",
        (
            PrintedResult(
                "(16) for random feedback",
                "left side = right side",
                f"{left:.6g} and {right:.6g} W",
                State.of(difference < MAX_RELATIVE_DIFFERENCE),
                "random forces of all links and torques of all joints; the arm moves by its forward dynamics",
            ),
            PrintedResult(
                "(10): d/dt (y' I y) / 2 = y' (I yd + v x I y)",
                "equal",
                f"relative difference {form:.1e}",
                State.of(form < 1e-7),
                "the left side by central differences",
            ),
            PrintedResult(
                "vtilde' (vtilde x I vhat), before (27)",
                0,
                f"{gyroscopic:.1e}, relative",
                State.of(gyroscopic < 1e-12),
                "so v x I vhat may be replaced by vhat x I vhat in (21); the torques of the two forms differ",
            ),
        ),
        open="Pose, velocities, forces and torques are random: (16) holds for all of them.",
    )


def evaluate_virtual_work(robot: Robot, seed: int = STATE_SEED) -> tuple[float, float]:
    """Return both sides of (16) for random feedback, motion and virtual velocities."""
    rng, loops = np.random.default_rng(seed), build_constraint(robot)
    n, theta = len(loops.actuated), robot.numeric.theta
    Q = loops.home[list(loops.actuated)] + rng.uniform(-0.05, 0.05, n)
    Qd, virtual = rng.normal(size=(2, n))
    F_hat, eta_hat = rng.normal(size=(len(loops.mechanism.bodies), 6)), rng.normal(size=len(robot.moving))
    x, motion = solve(loops, Q[None]).or_raise().x[0], MotionFunction(loops)
    m, _ = motion.evaluate(x, Qd, 0.0 * Qd, Qd)
    rho_hat = eta_hat.copy()
    for force in traverse(loops.mechanism, m.joints, lambda link, _: F_hat[link][:, None], add_forces):
        rho_hat[force.joint] += float(force.row[0])
    tau = m.drive_jacobian.T @ rho_hat
    Qdd = kernels.forward_dynamics(robot, backend="interpreter").one(Q, Qd, tau)
    m, _ = motion.evaluate(x, Qd, Qdd, Qd)
    velocities = compute_link_velocities(loops, motion.evaluate(x, virtual, 0.0 * Qd, virtual)[0])
    forces = np.zeros_like(F_hat)

    def record_force(link: int, link_motion: LinkMotion) -> AnySpatialColumns:
        forces[link] = link_motion.inertial_columns @ theta[PER_LINK * link : PER_LINK * (link + 1)]  # F_j - I_j g
        return forces[link][:, None].astype(object)

    traverse(loops.mechanism, m.joints, record_force, add_forces)
    first = PER_LINK * len(forces)
    drives = theta[first : first + PER_DRIVE * len(eta_hat)].reshape(-1, PER_DRIVE)
    eta = (m.parameter_factors.astype(float) * drives).sum(axis=1)
    rates = m.drive_jacobian @ virtual
    sides = [_compute_power(velocities, F) + float(rates @ torques) for F, torques in ((forces, eta), (F_hat, eta_hat))]
    return sides[0], sides[1]


def evaluate_identities(robot: Robot, seed: int = STATE_SEED) -> tuple[float, float]:
    """Return the relative differences of (10), and of the product that vanishes before (27), for link 1."""
    rng = np.random.default_rng(seed)
    I = np.stack([momentum_columns(u) @ robot.numeric.theta[:PER_LINK] for u in np.eye(6)], axis=1).astype(float)  # noqa: E741
    v, y, yd, v_hat = rng.normal(size=(4, 6))
    cross = np.stack([spatial_cross(v, unit) for unit in np.eye(6)], axis=1).astype(float)

    def evaluate_form(t: float) -> float:
        """y' I y / 2 in base axes, a short time t after the link was at the origin: dX/dt = v x X."""
        X = np.eye(6) + t * cross + 0.5 * t * t * cross @ cross
        X_inverse = np.eye(6) - t * cross + 0.5 * t * t * cross @ cross
        moved = y + t * yd
        return 0.5 * float(spatial_transpose(moved[:, None])[0] @ (X @ I @ X_inverse @ moved))

    step = 1e-5
    left = (evaluate_form(step) - evaluate_form(-step)) / (2.0 * step)
    right = float(spatial_transpose(y[:, None])[0] @ (I @ yd + cross @ (I @ y)))
    product = spatial_cross(y, I @ v_hat).astype(float)
    row = spatial_transpose(y[:, None])[0]
    return abs(left - right) / abs(right), float(abs(row @ product) / (abs(row) @ abs(product)))


def _compute_power(velocities: Float[np.ndarray, "links 6"], forces: Float[np.ndarray, "links 6"]) -> float:
    """The sum of vtilde_j' F_j."""
    return float(np.sum(velocities * np.roll(forces, 3, axis=1)))
