"""The loop closure equations (8) and (9), from the printed Denavit-Hartenberg matrix, and E and its derivative.

Identity      T_0^1 T_1^13 = T_0^10 T_10^11 T_11^4 T_4^5 T_5^8          (8)
              T_0^1 T_1^2 T_2^12 = T_0^10 T_10^6 T_6^7 T_7^9            (9)
Reference     [walker1988] sec. 2.2 (the matrix) and 2.3, (4)-(9)
Notation      code       paper   meaning                                                     shape
              angles     q       q_1 … q_9                                                   9
              closure    -       left minus right sides of (8) and (9), all 32 entries       32
Independent   of ytheta's kinematics: the equations are solved here by least squares, and U(Q) is compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.constraint import build_constraint, column, compute_drive_motion
from ytheta.dynamics.mechanism import scalars
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

if TYPE_CHECKING:
    import casadi

JOINTS = 9
ACTUATED = (5, 7)  # joints in loops with an actuator; joint 3 is in no loop
UNKNOWN = (1, 2, 4, 6, 8, 9)
BOOM, ARM = 1.2, 0.9  # a_1 and a_2, m, as in the catalog
STROKES = {5: (0.62, 0.92), 7: (1.05, 1.40)}  # m, ranges in which the loops close
POSES = 20
SEED = 1988
MAX_GAP = 1e-12  # m and rad
STEP = 1e-4  # s, of the central differences
MAX_RATE_ERROR, MAX_ACCELERATION_ERROR = 1e-7, 1e-5  # relative; truncation and rounding of central differences
MAX_ITERATIONS = 20


def compare_loop_equations(robot: Robot) -> Exhibit:
    """Compare (8) and (9) with ytheta: count and rank of the equations, U(Q), E and its derivative."""
    equations = LoopEquations(robot)
    rng = np.random.default_rng(SEED)
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
            Comparison("scalar equations", 32, equations.count, Agreement.of(equations.count == 32)),
            Comparison("independent equations", 6, _format_ranks(ranks), Agreement.of(ranks == {6})),
            Comparison(
                "q5 and q7 determine",
                "q1, q2, q4, q6, q8, q9",
                ", ".join(f"q{k}" for k in UNKNOWN) if determined == {6} else f"{_format_ranks(determined)} of them",
                Agreement.of(determined == {6}),
            ),
            Comparison(
                "(8), (9) with ytheta's U(Q)",
                "left side = right side",
                f"largest difference {max(gaps):.1e} m or rad",
                Agreement.of(max(gaps) < MAX_GAP),
            ),
            Comparison(
                "U(Q) solved from (8), (9)",
                "q = U(Q)",
                f"differs from ytheta's by {max(differences):.1e} m or rad",
                Agreement.of(max(differences) < 1e3 * MAX_GAP),
            ),
            Comparison(
                "(5): qd = E Qd",
                "derivative of U",
                f"relative difference {rate_error:.1e}",
                Agreement.of(rate_error < MAX_RATE_ERROR),
                "central differences of U along a motion",
            ),
            Comparison(
                "(7): qdd = E Qdd + Edot Qd",
                "second derivative of U",
                f"relative difference {acceleration_error:.1e}",
                Agreement.of(acceleration_error < MAX_ACCELERATION_ERROR),
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
