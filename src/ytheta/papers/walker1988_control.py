"""Adaptive control of the arm of Figure 1 of walker1988: its proof of stability, tracking, and the simulations of both.

The proof: the Lyapunov function (26) and its rate (27)-(29), along simulated motions.

Identity      dV/dt = -sum over links of gamma_j vtilde_j' I0_j vtilde_j = -rᵀ K_D r
Reference     [walker1988] sec. 4, (26)-(29)
Notation      code        paper                          meaning
              kinetic     first term of (26)             sum of vtilde_j' I_j vtilde_j / 2 = rᵀ M r / 2
              estimate    second and third term of (26)  sum of alpha_j mtilde_jᵀ mtilde_j / 2 + beta_j dtilde_j² / 2
              exchanged   mtilde_jᵀ w_j + dtilde_j qtildedot_j qd_j, with mtilde = m - mhat as defined after (26)
Independent   K_D is the mass matrix of an arm whose links have the inertias gamma_j I0_j, not code of the controller.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

import numpy as np
from scipy.integrate import cumulative_simpson

from ytheta.control.feedback.feedback import Feedback
from ytheta.control.feedback.pid import PIDFeedback
from ytheta.control.laws.walker import Walker
from ytheta.dynamics import kernels
from ytheta.dynamics.constraint import build_constraint
from ytheta.papers.exhibit import Exhibit, PrintedResult, State, compare_correction
from ytheta.papers.tracking import evaluate_lyapunov, plot_joints
from ytheta.plots import Axis, Line, Plot
from ytheta.robot.parameters import with_parameters
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.plain_loop import PlainLoop
from ytheta.simulation.runs import Runs

MAX_RATE_ERROR = 1e-3  # of V, relative to its fall; sums over periods of 1 ms
MAX_SIGN_ERROR = 0.01  # of the factor of a term in V, which is +1 or -1


@dataclass(frozen=True, eq=False)
class EnergyBalance:
    """The terms of V after the transient, as changes since its end; ``dissipated`` and ``exchanged`` are integrals."""

    V: Float[np.ndarray, " instants"]
    kinetic: Float[np.ndarray, " instants"]
    estimate: Float[np.ndarray, " instants"]
    dissipated: Float[np.ndarray, " instants"]
    exchanged: Float[np.ndarray, " instants"]

    @property
    def rate_error(self) -> float:
        """The largest difference between V and the integral of -rᵀ K_D r, relative to the fall of V."""
        return float(abs(self.V + self.dissipated).max() / abs(self.V).max())

    @property
    def signs(self) -> tuple[float, float]:
        """The factors of mtildeᵀ w + dtilde qtildedot qd in (27), and in the sum of (28) and (29)."""
        kinetic = self.kinetic + self.dissipated
        scale = float(self.exchanged @ self.exchanged)
        return float(kinetic @ self.exchanged) / scale, float(self.estimate @ self.exchanged) / scale


def compute_balance(run: TrackingRun) -> EnergyBalance:
    """Return the terms of V along a run with the feedback of the paper, after the transient."""
    law, runs, r, reference = run.law, run.runs, run.r, run.reference
    after = runs.t >= TRANSIENT
    M = kernels.mass_matrix(law.robot)(runs.q[0])
    weighted = _make_weighted_arm(law)
    K_D = kernels.mass_matrix(weighted)(runs.q[0])
    x, gains = runs.controller_state[0], np.asarray(law.adaptation, dtype=float)
    output = law.compile(law.graph)(runs.q[0], runs.qd[0], *reference, x)
    w = -output[:, len(law.robot.actuated) :] / gains  # (23), (24): d estimate/dt = -gains w
    tilde = law.unknowns.nominal - x
    kinetic = 0.5 * np.einsum("ti,tij,tj->t", r, M, r)
    estimate = 0.5 * (tilde**2 / gains).sum(axis=1)
    dissipated, exchanged = np.einsum("ti,tij,tj->t", r, K_D, r)[after], (tilde * w).sum(axis=1)[after]
    changes = [values[after] - values[after][0] for values in (run.V, kinetic, estimate)]
    integrals = [cumulative_simpson(v, x=runs.t[after], initial=0.0) for v in (dissipated, exchanged)]
    return EnergyBalance(*changes, *integrals)


def _make_weighted_arm(law: Walker) -> Robot:
    """Return an arm whose links have the inertias gamma_j I0_j, and whose drives have no rotors."""
    gamma = np.repeat(law.gains["feedback"].diagonal(), 10)
    values = dict(zip(law.unknown_names, make_initial_estimate(law), strict=True))
    names = law.robot.parameter_names
    weights = {name: g * values.get(name, 0.0) for name, g in zip(names, gamma, strict=False)}
    return with_parameters(law.robot, {name: weights.get(name, 0.0) for name in names})


def compare_proof(runs: ArmRuns) -> Exhibit:
    """Compare (26)-(29) with the terms of V along the simulated motion."""
    balance = compute_balance(runs.own_plant)
    first, second = balance.signs
    sum_is_right = balance.rate_error < MAX_RATE_ERROR
    return Exhibit(
        "equations_26_29",
        "Lyapunov function (26) and its rate (27)-(29)",
        (
            PrintedResult(
                "dV/dt = -sum of gamma_j vtilde' I0 vtilde",
                "equal",
                f"V falls by {abs(balance.V[-1]):.4g}, its integrated rate differs by {100 * balance.rate_error:.1g} %",
                State.of(sum_is_right),
                f"after the first {1e3 * TRANSIENT:.0f} ms",
            ),
            _compare_sign("sign of mtilde' w + dtilde qtildedot qd in (27)", 1, first, "(21) and (22)"),
            _compare_sign("sign of the same terms in (28), (29)", -1, second, "(23) and (24)"),
            PrintedResult(
                "V, feedback of (21)",
                "never grows",
                _describe_fall(runs.own_plant),
                State.of(runs.own_plant.V_falls),
            ),
            PrintedResult(
                "V, PID feedback",
                "not stated",
                _describe_fall(runs.pid),
                State.OPEN,
                f"{PID_NOTE}. V with the storage of the PID",
            ),
        ),
        plots=(
            Plot(
                "Lyapunov function (26)",
                runs.own_plant.runs.t,
                (Line("feedback of (21)", runs.own_plant.V), Line("PID feedback", runs.pid.V, dashed=True)),
                (Axis("V", log=True),),
            ),
        ),
        open=OPEN,
    )


def _describe_fall(run: TrackingRun) -> str:
    return f"{run.V[0]:.4g} to {run.V[-1]:.4g}, {'falling all the time' if run.V_falls else 'with rises'}"


def _compare_sign(name: str, printed: int, factor: float, source: str) -> PrintedResult:
    return compare_correction(
        name,
        f"{printed:+d}",
        f"{factor:+.3f}",
        f"{source} with mtilde = m - mhat, as defined after (26): the terms have the opposite sign",
        is_printed=abs(factor - printed) < MAX_SIGN_ERROR,
        is_correct=abs(factor + printed) < MAX_SIGN_ERROR,
        note="with mtilde = mhat - m, (27) to (29) are right as printed. The sum, and the theorem, do not change",
    )


# Tracking of the arm of Figure 1 with unknown links and friction.
#
# Reference     [walker1988] abstract, sec. 2.4 and 4


MAX_LATE_ERROR = 0.25  # relative to the start offset


def compare_tracking(runs: ArmRuns) -> Exhibit:
    """Compare the statement that the tracking error vanishes, and that all parameters are adapted."""
    law = runs.own_plant.law
    friction = sum(name.endswith(".fv") for name in law.unknown_names)
    counted = f"{len(law.unknown_names) - friction} of links, {friction} of joints"
    plants = {"feedback of (21)": runs.own_plant}
    left_out = ""
    if runs.mujoco is not None:
        plants["feedback of (21), in MuJoCo"] = runs.mujoco
    else:
        left_out = " MuJoCo is not installed, so its simulation is left out."
    printed = "70 of links, 9 of joints"
    note = "sec. 2.4: ten parameters m_jk of each of m = 7 links, and d_j of each of m + r = 9 joints"
    comparisons = [PrintedResult("adapted parameters", printed, counted, State.of(counted == printed), note)]
    for name, run in plants.items():
        agrees = State.of(run.find_late_error(run.runs.seconds) < MAX_LATE_ERROR * START_OFFSET)
        comparisons.append(PrintedResult(f"Q_e, {name}", "goes to 0", _describe_error(run), agrees))
    comparisons.append(
        PrintedResult("Q_e, PID feedback", "not stated", _describe_error(runs.pid), State.OPEN, PID_NOTE)
    )
    return Exhibit(
        "tracking",
        "Tracking of the arm of Figure 1",
        tuple(comparisons),
        plots=_make_plots(runs),
        open=OPEN + left_out,
    )


def _describe_error(run: TrackingRun) -> str:
    late = run.find_late_error(run.runs.seconds)
    return f"{1e3 * START_OFFSET:.0f} to {1e3 * late:.2g} mm or mrad in {run.runs.seconds:.1f} s"


def _make_plots(runs: ArmRuns) -> tuple[Plot, ...]:
    run, t = runs.own_plant, runs.own_plant.runs.t
    kinds = {joint.name: joint.kind.value for joint in run.law.robot.movable}
    units = [("mm", "N") if kinds[name] == "prismatic" else ("mrad", "Nm") for name in run.law.robot.actuated]
    labels = [f"{name} ({length})" for name, (length, _) in zip(run.law.robot.actuated, units, strict=True)]
    torque_labels = [f"{name} ({force})" for name, (_, force) in zip(run.law.robot.actuated, units, strict=True)]
    largest, without = (1e3 * np.abs(r.error).max(axis=1) for r in (run, runs.constant))
    lines = [Line(label, 1e3 * run.error[:, k]) for k, label in enumerate(labels)]
    lines += [
        Line("largest", largest, axis=1, colour=7),
        Line("largest without adaptation", without, axis=1, colour=7, dashed=True),
    ]
    errors = Plot(
        "Tracking errors",
        t,
        tuple(lines),
        (Axis("error"), Axis("largest", log=True)),
        caption="Below: the largest error, with and without adaptation (dashed).",
    )
    later, peak = t >= TRANSIENT, np.abs(run.runs.tau).max() / 1e3
    torques = plot_joints(
        "Forces and torques",
        t[later],
        run.runs.tau[0][later],
        torque_labels,
        Axis("force or torque"),
        caption=(
            f"The first {1e3 * TRANSIENT:.0f} ms are left out: forces and torques reach {peak:.0f} kN or kNm to "
            f"correct the start offset of {1e3 * START_OFFSET:.0f} mm."
        ),
    )
    return errors, torques


# Simulations of the arm of Figure 1 under the adaptive controller, with settings chosen here (see ``OPEN``).
#
# Reference     [walker1988] sec. 4, (17), (21)-(26)
# Notation      code   paper       meaning
#               r      Qtildedot   qd - (qrd - Lambda e)


SECONDS, MUJOCO_SECONDS = 4.0, 0.4
START_OFFSET = 0.02  # m or rad
TRANSIENT = 0.05  # s, in which the controller corrects the start offset, too fast for sums over periods
AMPLITUDE = 0.05  # m or rad
FREQUENCY, FREQUENCY_STEP = 2.0, 0.5  # rad/s, of the first coordinate, and the increase per coordinate
PID = PIDFeedback(stiffness=[2e5, 2e5, 2e3], integral=[5e5, 5e5, 5e3], damping=[1e4, 1e4, 1e2])
PID_NOTE = "sec. 4 only says that its general class includes PID controllers; the proof is for (21)"
OPEN = (
    "The paper gives no dimensions, masses, gains or trajectories, and simulates nothing. Chosen here: the robot "
    "walker of the catalog without Coulomb friction, estimates that start at 60 % of the masses and without friction, "
    "a start offset of 20 mm or 20 mrad, a slow motion around home, Lambda = 10/s. The theorem holds for any of these "
    "settings."
)


@dataclass(frozen=True, eq=False)
class TrackingRun:
    """A run of an arm."""

    law: Walker
    runs: Runs

    @cached_property
    def reference(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return evaluate_reference(self.law.robot, self.runs.t)

    @cached_property
    def error(self) -> Float[np.ndarray, "instants joints"]:
        return self.runs.q[0] - self.reference[0]

    @cached_property
    def r(self) -> Float[np.ndarray, "instants joints"]:
        """Qtildedot (17)."""
        return self.runs.qd[0] - self.reference[1] + self.error @ self.law.gains["convergence"].T

    @cached_property
    def V(self) -> Float[np.ndarray, " instants"]:
        """The Lyapunov function (26), plus the storage of the feedback law."""
        return evaluate_lyapunov(self.law, self.runs, self.reference)

    @property
    def V_falls(self) -> bool:
        return bool((np.diff(self.V) < 0.0).all())

    def find_late_error(self, seconds: float) -> float:
        """Return the largest error in the last tenth of the first ``seconds``."""
        late = (self.runs.t <= seconds) & (self.runs.t > 0.9 * seconds)
        return float(np.abs(self.error[late]).max())


@dataclass(frozen=True, eq=False)
class ArmRuns:
    """Runs of the arm: on ytheta's own plant, without adaptation, with PID feedback, and in MuJoCo if installed."""

    own_plant: TrackingRun
    constant: TrackingRun
    pid: TrackingRun
    mujoco: TrackingRun | None


def simulate_arm() -> ArmRuns:
    """Simulate the arm of Figure 1."""
    robot = load_without_coulomb("walker")
    law = make_law(robot)
    return ArmRuns(
        simulate(law),
        simulate(make_law(robot, speed=1e-9)),
        simulate(make_law(robot, feedback=PID)),
        simulate_in_mujoco(law) if find_spec("mujoco") else None,
    )


def load_without_coulomb(name: str) -> Robot:
    robot = load(name)
    return with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})


def make_initial_estimate(law: Walker) -> Float[np.ndarray, " unknown"]:
    """Return 60 % of the parameters of the links, and no friction."""
    truth = law.unknowns.nominal
    return np.array([0.0 if n.endswith(".fv") else 0.6 * t for n, t in zip(law.unknown_names, truth, strict=True)])


def make_law(
    robot: Robot, *, light_link: str = "link3", speed: float = 1.0, feedback: Feedback | None = None
) -> Walker:
    """Return a law with unknown links and viscous friction; adaptation gains grow with the square of the parameters.

    ``light_link`` gets a larger feedback gain, and ``speed`` multiplies the adaptation gains.
    """
    unit_law = Walker(robot, convergence=10.0, feedback=1.0, adaptation=1.0)
    names = [body.name for body in build_constraint(robot).mechanism.bodies]
    gamma = np.where(np.array(names) == light_link, 2000.0, 200.0)
    weights = np.array([30.0 if n.endswith(".fv") else 1.0 for n in unit_law.unknown_names])
    adaptation = speed * weights * (abs(unit_law.unknowns.nominal) + 0.02) ** 2
    initial = make_initial_estimate(unit_law)
    return Walker(robot, convergence=10.0, feedback=feedback or gamma, adaptation=adaptation, initial=initial)


def evaluate_reference(robot: Robot, t: Float[np.ndarray, " instants"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a motion from home to one side and back; each coordinate is a little faster than the one before."""
    loops = build_constraint(robot)
    w = FREQUENCY + FREQUENCY_STEP * np.arange(len(robot.actuated))
    half = 0.5 * np.outer(t, w)
    offset = 2.0 * AMPLITUDE * np.sin(half) ** 2
    return (
        loops.home[list(loops.actuated)] + offset,
        AMPLITUDE * w * np.sin(2.0 * half),
        AMPLITUDE * w**2 * np.cos(2.0 * half),
    )


def simulate(law: Walker) -> TrackingRun:
    """Simulate on ytheta's own plant, in continuous time."""
    loop = ClosedLoop(plant=law.robot, controller=law, continuous=True)
    q, qd, _ = evaluate_reference(law.robot, np.zeros(1))
    initial = loop.init(q + START_OFFSET, qd)
    return TrackingRun(law, loop.run(initial, lambda t: evaluate_reference(law.robot, t), SECONDS, every=1))


def simulate_in_mujoco(law: Walker) -> TrackingRun:
    """Simulate in MuJoCo, with a period of 1 ms."""
    from ytheta.simulation.mujoco_plant import MujocoPlant

    loop = PlainLoop(plant=MujocoPlant(law.robot), controller=law)
    q, qd, _ = evaluate_reference(law.robot, np.zeros(1))
    return TrackingRun(
        law, loop.run(q[0] + START_OFFSET, qd[0], lambda t: evaluate_reference(law.robot, t), MUJOCO_SECONDS, every=5)
    )
