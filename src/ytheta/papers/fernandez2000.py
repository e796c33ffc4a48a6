"""fernandez2000: the regressor by Kronecker products, and adaptive control of a PUMA with six joints, Figs. 1 to 4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics import rigid_body
from ytheta.dynamics.formulations import kronecker, newton_euler
from ytheta.dynamics.kernels import forward_dynamics
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, Motion, build_mechanism, numeric_motion
from ytheta.dynamics.operation_counts import count_regressor_operations
from ytheta.dynamics.rigid_body import mass_matrix
from ytheta.identifiability.registry import base_parameters
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State, compare_correction, compare_printed
from ytheta.papers.tracking import compute_rms, evaluate_lyapunov, plot_joints
from ytheta.plots import Axis, Line, Plot
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.references import ReferenceTrajectory
from ytheta.simulation.runs import Runs

CITATION = (
    "J. C. Fernández, L. Peñalver, V. Hernández and J. Tornero, Properties and Data Structures for Efficient Adaptive "
    "Control Algorithms in Robot Manipulators, IFAC, 2000"
)
ABOUT = (
    "The regressor of Lagrange and Euler by Kronecker products, column operator and row-trace, and its use in the "
    "adaptive controller of Slotine and Li. The equations are evaluated for a PUMA at a random state and compared with "
    "other formulations; the simulation of section 5 is repeated in kind."
)


def reproduce() -> PaperReproduction:
    """Compute the equations and Fig. 1 to 4."""
    return PaperReproduction("fernandez2000", CITATION, ABOUT, (*compare_equations(), *compare_figures()))


# Equations of fernandez2000, evaluated for a PUMA at a random state and compared with other formulations.
#
# Notation      code     paper          meaning
#               theta    theta_D        ν(J_l) of all links, sixteen entries per link
#               Y_D …    Y_D, Y_H, Y_c  the parts of the regressor (11), (14), (18)


COUNTED = ("kronecker", "lagrange", "newton_euler")  # formulations
MAX_RELATIVE_ERROR = 1e-12  # of results that agree, relative to the largest entry


@dataclass(frozen=True, eq=False)
class Arm:
    """A robot at one state, with a reference velocity v and its derivative vd."""

    robot: Robot
    mechanism: Mechanism
    motion: Motion

    @staticmethod
    def draw(robot: Robot, seed: int = 0) -> Arm:
        mechanism = build_mechanism(robot)
        q, qd, vd, v = np.random.default_rng(seed).uniform(-2.0, 2.0, (4, mechanism.joints))
        return Arm(robot, mechanism, numeric_motion(q, qd, vd, v))

    @cached_property
    def with_own_velocity(self) -> Arm:
        """The same state with v = qd, the case of the torque equation."""
        return replace(self, motion=numeric_motion(self.motion.q, self.motion.qd, self.motion.vd))

    @cached_property
    def link_parameters(self) -> Float[np.ndarray, " params"]:
        return np.concatenate([link.inertia.vector for link in self.mechanism.robot.links[1:]])

    @cached_property
    def theta(self) -> Float[np.ndarray, " params"]:
        """θ_D of (12)."""
        return np.concatenate([kronecker.vectorize(link.inertia.pseudo) for link in self.mechanism.robot.links[1:]])

    @cached_property
    def Y_D(self) -> Float[np.ndarray, "joints params"]:
        return kronecker.inertial_part(self.mechanism, self.motion).astype(float)

    @cached_property
    def Y_H(self) -> Float[np.ndarray, "joints params"]:
        return kronecker.velocity_part(self.mechanism, self.motion).astype(float)

    @cached_property
    def Y_c(self) -> Float[np.ndarray, "joints params"]:
        return kronecker.gravity_part(self.mechanism, self.motion).astype(float)

    @cached_property
    def torque(self) -> Float[np.ndarray, " joints"]:
        """D vd + h v + c by the recursion of Newton and Euler."""
        return newton_euler.inverse_dynamics(self.mechanism, self.motion, self.link_parameters).astype(float)


def compare_equations() -> tuple[Exhibit, ...]:
    """Return the exhibits of sections 2, 3 and 4, and the cost of the formulation."""
    arm = Arm.draw(load_puma())
    return (
        Exhibit("section_2", "Section 2: properties of ν, ⊗ and the row-trace", tuple(_compare_properties())),
        Exhibit(
            "equations_11_24", "(11)-(24): the regressor of the torque", tuple(_compare_torque(arm.with_own_velocity))
        ),
        Exhibit("equation_25", "(25): from 16 n to 10 n columns", tuple(_compare_columns(arm.with_own_velocity))),
        Exhibit("equations_33_40", "(33)-(40): the regressor of Slotine and Li", tuple(_compare_slotine_li(arm))),
        Exhibit(
            "section_6",
            "Section 6: computational cost",
            (_compare_cost(arm.robot),),
            open="the paper gives no numbers; operations of the regressor of the PUMA 560 are counted here.",
        ),
    )


def _compare_properties() -> Iterator[PrintedResult]:
    rng = np.random.default_rng(0)
    A, B, C = rng.normal(size=(3, 4)), rng.normal(size=(4, 2)), rng.normal(size=(2, 5))
    left, right = kronecker.vectorize(A @ B @ C), kronecker.multiply_kronecker(C.T, A) @ kronecker.vectorize(B)
    yield _compare_arrays("ν(A B C) = (Cᵀ ⊗ A) ν(B)", left, right)
    S = rng.normal(size=(4, 4))
    yield _compare_arrays("tr(A) = tr(ν(A))", np.trace(S), kronecker.trace_vector(kronecker.vectorize(S)))
    wide, b = rng.normal(size=(16, 8)), kronecker.vectorize(B)
    yield _compare_arrays(
        "proposition 1: tr(A ν(B)) = rtr(A) ν(B)", kronecker.trace_vector(wide @ b), kronecker.trace_columns(wide) @ b
    )


def _compare_torque(arm: Arm) -> Iterator[PrintedResult]:
    at, theta, motion = arm.mechanism, arm.link_parameters, arm.motion
    yield _compare_arrays("(11): Y_D θ_D = D q̈", arm.Y_D @ arm.theta, mass_matrix(at, motion, theta) @ motion.vd)
    velocity = rigid_body.coriolis_matrix(at, motion, theta) @ motion.v
    yield _compare_arrays("(14): Y_H θ_D = h", arm.Y_H @ arm.theta, velocity)
    yield _compare_arrays("(18): Y_c θ_c = c", arm.Y_c @ arm.theta, rigid_body.gravity(at, motion, theta))
    below = max(_get_largest_below_diagonal(Y) for Y in (arm.Y_D, arm.Y_H, arm.Y_c))
    yield PrintedResult(
        "Y_D, Y_H, Y_c are upper triangular",
        "yes",
        "yes" if below == 0.0 else f"no, largest entry below the diagonal blocks {below:.2g}",
        State.of(below == 0.0),
    )
    yield _compare_arrays("(24): (Y_D + Y_H + Y_c) θ = τ", (arm.Y_D + arm.Y_H + arm.Y_c) @ arm.theta, arm.torque)
    yield _compare_misprint(
        "(23), in (24)",
        ("[gᵀ U_1i … gᵀ U_ii 0 … 0]ᵀ", (arm.Y_D + arm.Y_H - arm.Y_c) @ arm.theta),
        ("-[gᵀ U_1i … gᵀ U_ii 0 … 0]ᵀ", (arm.Y_D + arm.Y_H + arm.Y_c) @ arm.theta),
        arm.torque,
        "(18), which has a minus sign",
    )


def _get_largest_below_diagonal(Y: Float[np.ndarray, "joints params"]) -> float:
    blocks = np.abs(Y).reshape(len(Y), len(Y), -1).max(axis=2)
    return float(np.tril(blocks, -1).max())


def _compare_columns(arm: Arm) -> Iterator[PrintedResult]:
    n, Y = arm.mechanism.joints, arm.Y_D + arm.Y_H + arm.Y_c
    folded = kronecker.fold(Y).astype(float)
    yield compare_printed("16 n columns, n = 6", "96", Y.shape[1])
    yield compare_printed("10 n different parameters, n = 6", "60", folded.shape[1])
    ten = np.concatenate([link.inertia.pseudo[np.triu_indices(4)] for link in arm.mechanism.robot.links[1:]])
    yield _compare_arrays("10 n columns give the same torque", folded @ ten, arm.torque)
    blocks = folded.reshape(n, n, PER_LINK) * np.eye(n)[:, :, None]
    yield _compare_misprint(
        "block of the column in (25)",
        ("that of the row i", blocks.reshape(n, -1) @ ten),
        ("that of the link", folded @ ten),
        arm.torque,
        "(11), (14), (18), which have blocks above the diagonal: with the same i for row and block, they would be lost",
    )
    places = [4 * (r - 1) - r * (r - 1) // 2 + s for r in range(1, 5) for s in range(1, 5)]
    upper = [4 * (r - 1) - r * (r - 1) // 2 + s for r in range(1, 5) for s in range(r, 5)]
    right = sorted(upper) == list(range(1, PER_LINK + 1))
    yield compare_correction(
        "range of s in (25)",
        "1:4",
        "r:4" if right else "another",
        f"the number of columns: {len(places)} pairs r, s would share {len(set(places))} places; r = 2, s = 1 and "
        "r = 1, s = 4 both give z = 4",
        is_printed=sorted(places) == list(range(1, PER_LINK + 1)),
        is_correct=right,
    )


def _compare_slotine_li(arm: Arm) -> Iterator[PrintedResult]:
    Y_S = arm.Y_D + arm.Y_H + arm.Y_c
    yield _compare_arrays("(30): Y_S θ = D v̇ + h v + c", Y_S @ arm.theta, arm.torque)
    ones = numeric_motion(arm.motion.q, np.ones(arm.mechanism.joints), arm.motion.vd, arm.motion.v)
    printed = kronecker.velocity_part(arm.mechanism, ones).astype(float)  # without q̇_j: as if q̇_j = 1
    velocity = rigid_body.coriolis_matrix(arm.mechanism, arm.motion, arm.link_parameters) @ arm.motion.v
    yield _compare_misprint(
        "B_hil of (40)",
        ("Σ_j Σ_k (U_il ⊗ U_kjl v_k)", printed @ arm.theta),
        ("Σ_j Σ_k (U_il ⊗ U_kjl) q̇_j v_k", arm.Y_H @ arm.theta),
        velocity,
        "(16), which has the factor q̇_j",
    )
    rows, columns = kronecker.fold(Y_S).shape
    yield compare_correction(
        "size of Y_S by (25), n = 6",
        "10 n × n = 60 × 6",
        f"n × 10 n = {rows} × {columns}",
        "(10), where a regressor has n rows, and by the size of τ",
        is_printed=(rows, columns) == (60, 6),
        is_correct=(rows, columns) == (6, 60),
    )


def _compare_cost(robot: Robot) -> PrintedResult:
    counts = count_regressor_operations(robot)
    shown = (f"{name} {counts[name]['multiplications']} / {counts[name]['additions']}" for name in COUNTED)
    return PrintedResult(
        "multiplications / additions",
        "can be reduced by leaving out zeros and by symmetry",
        ", ".join(shown),
        State.OPEN,
    )


def _compare_arrays(name: str, value: object, other: object) -> PrintedResult:
    """Compare an identity of the paper: both sides, relative to the largest entry."""
    error = _compute_relative_error(value, other)
    return PrintedResult(name, "equal", f"equal to {error:.1g}", State.of(error < MAX_RELATIVE_ERROR))


def _compare_misprint(
    name: str, printed: tuple[str, np.ndarray], correct: tuple[str, np.ndarray], expected: np.ndarray, by: str
) -> PrintedResult:
    """Compare a printed formula and a corrected one, each given as text and value, with the expected value."""
    wrong, right = (_compute_relative_error(value, expected) for _, value in (printed, correct))
    is_printed, is_correct = wrong < MAX_RELATIVE_ERROR, right < MAX_RELATIVE_ERROR
    shown = printed[0] if is_printed else correct[0] if is_correct else f"another result, off by {right:.2g}"
    contradiction = f"{by}. As printed, the result is off by {100.0 * wrong:.2g} %"
    return compare_correction(name, printed[0], shown, contradiction, is_printed=is_printed, is_correct=is_correct)


def _compute_relative_error(value: object, expected: object) -> float:
    difference = np.asarray(value, dtype=float) - np.asarray(expected, dtype=float)
    return float(np.abs(difference).max() / np.abs(np.asarray(expected, dtype=float)).max())


# The simulation of fernandez2000 sec. 5: Slotine–Li on a PUMA with six joints and the paper's gains.
#
# The paper gives Lambda = 39, Gamma = 0.075 (its inverse is the gain in (31)) and K_D = 35. It does not give the data
# of its PUMA 600, the points of its polynomial trajectories, the initial estimate or the initial position. For Fig. 4
# it refers to another publication. Chosen here:
#
# - the PUMA 560 of the catalog,
# - random points half a second apart, with a stop at each point,
# - an initial estimate of half of every parameter of the description,
# - a start on the reference trajectory.


LAMBDA, GAMMA, K_D = 39.0, 0.075, 35.0  # from the paper
STEP = 5e-4  # s
SECONDS = 30.0
PLOTTED_SECONDS = 8.0  # in Fig. 1 to 3
POINT_INTERVAL = 0.5  # s, between two points of the trajectory


def make_point_to_point_reference(seed: int, joints: int, seconds: float, *, reach: float = 0.6) -> ReferenceTrajectory:
    """Return quintic polynomials between random points, one every half second, with a stop at each point."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-reach, reach, (int(seconds / POINT_INTERVAL) + 2, joints))

    def evaluate(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        k = np.minimum((t / POINT_INTERVAL).astype(int), len(points) - 2)
        s, difference = (t / POINT_INTERVAL - k)[:, None], points[k + 1] - points[k]
        q = points[k] + difference * (10 * s**3 - 15 * s**4 + 6 * s**5)
        qd = difference * (30 * s**2 - 60 * s**3 + 30 * s**4) / POINT_INTERVAL
        return q, qd, difference * (60 * s - 180 * s**2 + 120 * s**3) / POINT_INTERVAL**2

    return evaluate


@cache
def load_puma() -> Robot:
    """Load the robot once, because loading logs the warnings of its description."""
    return load("puma560")


def make_puma_law(adaptation: float = 1.0 / GAMMA) -> SlotineLi:
    """Return the law with 60 unknown parameters, those of the links; friction and rotor inertia are known."""
    return SlotineLi(load_puma(), convergence=LAMBDA, damping=K_D, adaptation=adaptation)


@dataclass(frozen=True, eq=False)
class PumaRun:
    """A run, its reference trajectory, and its estimates."""

    law: SlotineLi
    trajectory: ReferenceTrajectory
    runs: Runs

    @property
    def t(self) -> Float[np.ndarray, " instants"]:
        return self.runs.t

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.trajectory(self.t)

    @cached_property
    def motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, qd and qdd."""
        q, qd = self.runs.q[0], self.runs.qd[0]
        return q, qd, forward_dynamics(self.law.robot)(q, qd, self.runs.tau[0])

    @cached_property
    def base(self) -> tuple[Float[np.ndarray, "instants base"], Float[np.ndarray, "base"]]:
        """Estimated and true base parameters: the combinations of the 60 parameters that have an effect."""
        unknowns = self.law.unknowns
        K = base_parameters(self.law.robot).K[:, list(unknowns.indices)]
        return self.runs.estimate[0] @ K.T, K @ unknowns.nominal

    @cached_property
    def lyapunov(self) -> Float[np.ndarray, " instants"]:
        return evaluate_lyapunov(self.law, self.runs, self.reference)

    def rms_error(self, derivative: int, begin: float, end: float) -> float:
        """Return the rms error of q, qd or qdd of all joints between two times."""
        within = (self.t >= begin) & (self.t < end)
        return float(compute_rms((self.motion[derivative] - self.reference[derivative])[within]))

    @cached_property
    def base_error(self) -> Float[np.ndarray, " instants"]:
        """The distance of the base parameters from the truth, relative to the truth."""
        return _compute_relative_distance(*self.base)

    @cached_property
    def standard_error(self) -> Float[np.ndarray, " instants"]:
        """Likewise of the standard parameters."""
        return _compute_relative_distance(self.runs.estimate[0], self.law.unknowns.nominal)


def _compute_relative_distance(
    estimate: Float[np.ndarray, "instants params"], truth: Float[np.ndarray, " params"]
) -> Float[np.ndarray, " instants"]:
    return np.linalg.norm(estimate - truth, axis=1) / np.linalg.norm(truth)


def simulate(law: SlotineLi, seconds: float) -> PumaRun:
    """Simulate the law from a start on the reference trajectory, with half of every parameter as initial estimate."""
    trajectory = make_point_to_point_reference(1, 6, SECONDS, reach=1.2)
    loop = ClosedLoop(plant=law.robot, controller=law, period=STEP, continuous=True)
    q, qd, _ = trajectory(np.zeros(1))
    start = loop.init(q, qd, estimate=0.5 * law.unknowns.nominal[None])
    return PumaRun(law, trajectory, loop.run(start, trajectory, seconds, every=10))


# Fig. 1 to 4 of fernandez2000: positions, velocities and accelerations with their references, and estimates.


JOINTS = tuple(f"joint {k}" for k in range(1, 7))
NO_ADAPTATION = 1e-9  # gain of a law whose estimate stays where it is
LARGEST_BASE_PARAMETERS = 6  # number of estimates in Fig. 4
OPEN_SETTINGS = (
    "the data of the PUMA 600, the points of the trajectory, the initial estimate and the initial position; the "
    f"curves are missing in the scan. The paper gives Λ = {LAMBDA:g}, Γ = {GAMMA:g} and K_D = {K_D:g}. Chosen here: "
    "the PUMA 560 of the catalog, random points half a second apart, half of every parameter, and a start on the "
    "reference trajectory. So only the kind of result is compared."
)
AS_IN_FIGURE_1 = "the same settings as in Fig. 1."


def compare_figures() -> tuple[Exhibit, ...]:
    """Simulate with and without adaptation, and return Fig. 1 to 4."""
    run = simulate(make_puma_law(), SECONDS)
    without = simulate(make_puma_law(NO_ADAPTATION), PLOTTED_SECONDS)
    return (
        _compare_motion(run, 0, "positions", Axis("position", "rad"), (1e3, "mrad"), _describe_effect(without)),
        _compare_motion(run, 1, "velocities", Axis("velocity", "rad/s"), (1e3, "mrad/s")),
        _compare_motion(run, 2, "accelerations", Axis("acceleration", "rad/s²"), (1.0, "rad/s²")),
        _compare_estimates(run),
    )


def _compare_motion(
    run: PumaRun,
    derivative: int,
    quantity: str,
    axis: Axis,
    unit: tuple[float, str],
    note: str = "",
) -> Exhibit:
    last = float(run.runs.seconds)
    spans = ((0.0, 1.0), (PLOTTED_SECONDS - 1.0, PLOTTED_SECONDS), (last - 1.0, last))
    first, late, end = (unit[0] * run.rms_error(derivative, *span) for span in spans)
    follow = PrintedResult(
        f"{quantity} follow their references",
        "a figure",
        f"rms {first:.3g}, {late:.2g}, {end:.2g} {unit[1]} in second 1, {PLOTTED_SECONDS:.0f}, {last:.0f}",
        State.OPEN,
        note,
    )
    number = derivative + 1
    return Exhibit(
        f"figure_{number}",
        f"Fig. {number}: {quantity} and references for joints 1 to 6",
        (follow,),
        (_plot_motion(run, derivative, f"Fig. {number}: {quantity} and references", axis),),
        OPEN_SETTINGS if number == 1 else AS_IN_FIGURE_1,
    )


def _describe_effect(without: PumaRun) -> str:
    constant = 1e3 * without.rms_error(0, PLOTTED_SECONDS - 1.0, PLOTTED_SECONDS)
    return f"without adaptation, which the paper does not show, {constant:.2g} mrad in second {PLOTTED_SECONDS:.0f}"


def _compare_estimates(run: PumaRun) -> Exhibit:
    error, unknown, base = run.base_error, len(run.law.unknown_names), len(run.base[1])
    comparisons = (
        PrintedResult(
            "inertial parameters converge",
            "a figure",
            f"base parameters {100 * error[0]:.0f} % off at the start, {100 * error[-1]:.1f} % at the end",
            State.OPEN,
            f"after {run.runs.seconds:.0f} s of exciting motion. The standard parameters do not converge to the truth "
            f"and are {100 * run.standard_error[-1]:.0f} % off: {unknown - base} of their {unknown} combinations have "
            "no effect. For this figure, the paper refers to another publication",
        ),
    )
    plots = (_plot_estimates(run), _plot_distance(run), _plot_lyapunov(run), _plot_torques(run))
    return Exhibit("figure_4", "Fig. 4: convergence of the inertial parameters", comparisons, plots, AS_IN_FIGURE_1)


def _plot_motion(run: PumaRun, derivative: int, title: str, axis: Axis) -> Plot:
    plotted = run.t <= PLOTTED_SECONDS
    values, reference = run.motion[derivative][plotted], run.reference[derivative][plotted]
    return plot_joints(
        title,
        run.t[plotted],
        values,
        JOINTS,
        axis,
        reference=reference,
        below=(values - reference, Axis("error", axis.unit)),
        caption="Dashed: the reference. Below: the error.",
    )


def _plot_torques(run: PumaRun) -> Plot:
    plotted = run.t <= PLOTTED_SECONDS
    torque = run.runs.tau[0][plotted]
    return plot_joints("Torques", run.t[plotted], torque, JOINTS, Axis("torque", "N m"), caption="Not in the paper.")


def _plot_estimates(run: PumaRun) -> Plot:
    estimate, truth = run.base
    names = base_parameters(run.law.robot).names
    largest = np.argsort(-np.abs(truth))[:LARGEST_BASE_PARAMETERS]
    lines = [Line(names[k], estimate[:, k] / truth[k]) for k in largest]
    return Plot(
        "Fig. 4: inertial parameters",
        run.t,
        (*lines, Line("true", np.ones(len(run.t)), dashed=True, colour=7)),
        (Axis("estimate / truth"),),
        caption="The six largest base parameters, each divided by its true value. All start at half of it.",
    )


def _plot_distance(run: PumaRun) -> Plot:
    base, unknown = len(run.base[1]), len(run.law.unknown_names)
    return Plot(
        "Fig. 4: distance from the truth",
        run.t,
        (
            Line(f"{base} base parameters", run.base_error),
            Line(f"{unknown} standard parameters", run.standard_error),
        ),
        (Axis("relative distance", log=True),),
        caption="Norm of the error divided by the norm of the truth. Torques depend on "
        f"{base} combinations of the {unknown} parameters. The estimates of these combinations converge, those of the "
        "single parameters cannot.",
    )


def _plot_lyapunov(run: PumaRun) -> Plot:
    return Plot(
        "Lyapunov function",
        run.t,
        (Line("V", run.lyapunov),),
        (Axis("V", log=True),),
        caption="Not in the paper. It never rises.",
    )
