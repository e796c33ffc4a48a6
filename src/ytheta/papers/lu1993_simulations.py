"""The arm, the trajectory and the two adaptive schemes of lu1993 V-B, and batches of runs with other settings.

The paper gives the masses, the shape of the trajectory, 20 % initial error and the initial estimate m4 = 0.5 kg. It
does not give omega, lambda, Gamma, the gains of Craig's scheme, the initial velocity or the tolerance of "converging".
Fig. 3 to 5 are missing in the scan. Chosen here:

- omega = 4 pi: of pi, 2 pi and 4 pi, the one with which m4 converges within two seconds,
- lambda = 20 for both schemes: errors with a double pole at -lambda settle to one degree in 0.3 s,
- for each scheme, the one of eight values of Gamma with which the scheme settles first,
- an initial velocity equal to that of the reference.

Both schemes run in continuous time, and Craig's scheme gets exact accelerations. The accelerations depend on the
torque, but the torque does not depend on the accelerations, so torque, accelerations and rates are computed in this
order. The gains and Gamma of each run are part of the controller's state, with a rate of zero, so that one compiled
step serves all runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np

from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import QuasiComputedTorque
from ytheta.dynamics.graphs import forward_dynamics_graph
from ytheta.dynamics.mechanism import scalars
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.papers.tracking import compute_rms, compute_settling_times
from ytheta.robot.reading.load import load
from ytheta.shapes import Float, Shaped
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.own_plant import EquationsOfMotion
from ytheta.simulation.period_graph import PeriodGraphBuilder
from ytheta.simulation.references import ReferenceTrajectory
from ytheta.simulation.sensors import Sensor, Sensors

LAMBDA = 20.0  # 1/s
OMEGA = 4.0 * np.pi  # rad/s
GAMMAS = {"modified": 0.006, "Craig": 0.0011}
LINK4_MASS = 0.5  # kg, m4 without the load
TRUE_M4 = 1.0  # kg, with the load
INITIAL_ERROR = 0.2  # of every joint position, relative to the reference position
SECONDS, STEP = 2.0, 1e-3
LEARN = ("load.m",)
SCHEMES = ("modified", "Craig")


def make_reference(omega: float = OMEGA) -> ReferenceTrajectory:
    """Return the trajectory of sec. V-B. Joints 1 and 3 follow sines, joints 2 and 4 cosines."""
    c = np.pi * np.array([8 / 9, 2 / 3, 3 / 4, 15 / 18])
    a = np.pi * np.array([4 / 9, 1 / 3, 1 / 4, 8 / 18])
    w = omega / np.array([1.0, 2.0, 3.0, 4.0])
    phase = np.array([0.0, np.pi / 2, 0.0, np.pi / 2])

    def evaluate(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        angle = np.outer(t, w) + phase
        return c + a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)

    return evaluate


def make_modified(gamma: float = GAMMAS["modified"], convergence: float = LAMBDA) -> QuasiComputedTorque:
    """Return the modified scheme in its quasi-computed-torque form (94)-(96)."""
    return QuasiComputedTorque(load("lu-puma4"), convergence=convergence, adaptation=gamma, learn=LEARN)


def make_craig(gamma: float = GAMMAS["Craig"], convergence: float = LAMBDA) -> Craig:
    """Return Craig's scheme with the poles of the modified one: K_p = lambda², K_v = 2 lambda, Psi = lambda."""
    gains: dict[str, Any] = {"stiffness": convergence**2, "damping": 2.0 * convergence, "filtering": convergence}
    return Craig(load("lu-puma4"), **gains, adaptation=gamma, learn=LEARN)


@dataclass(frozen=True, eq=False)
class BatchSettings:
    """Settings of runs on one trajectory, one entry per run.

    ``initial_error`` and ``initial_velocity`` are relative to the initial position and velocity of the reference.
    """

    omega: float
    convergence: Float[np.ndarray, " runs"]
    gamma: Float[np.ndarray, " runs"]
    initial_error: Float[np.ndarray, " runs"]
    initial_velocity: Float[np.ndarray, " runs"]
    filtering: float = 1.0  # Craig's Psi, in units of lambda

    @staticmethod
    def single(gamma: float, *, omega: float = OMEGA, convergence: float = LAMBDA) -> BatchSettings:
        """Return the settings of one run."""
        lam, gammas, error, velocity = (np.array([value]) for value in (convergence, gamma, INITIAL_ERROR, 1.0))
        return BatchSettings(omega, lam, gammas, error, velocity)

    def factors(self, scheme: str) -> Float[np.ndarray, "runs gains"]:
        """Return factors for the gains of ``make_modified(1, 1)`` or ``make_craig(1, 1)``, ordered like gain_names."""
        lam = self.convergence
        rows = (lam,) if scheme == "modified" else (lam**2, lam, self.filtering * lam)
        return np.stack([*rows, self.gamma], axis=1)


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of runs. A run diverges if its estimated mass matrix has no inverse; its errors are then infinite."""

    t: Float[np.ndarray, " instants"]
    reference: Float[np.ndarray, "instants joints"]
    error: Float[np.ndarray, "instants runs joints"]
    m4: Float[np.ndarray, "instants runs"]

    @property
    def diverged(self) -> Shaped[np.ndarray, " runs"]:
        return ~np.isfinite(self.m4[-1])

    @property
    def largest_error(self) -> Float[np.ndarray, "instants runs"]:
        """The largest error of all joints."""
        return np.abs(self.error).max(axis=2)


def simulate_scheme(scheme: str, settings: BatchSettings) -> Batch:
    """Simulate two seconds; the initial estimate is m4 = 0.5 kg, a load of zero."""
    builder, kernel = _compile_step(scheme)
    slots, steps = builder.slots, round(SECONDS / STEP)
    samples = np.concatenate(make_reference(settings.omega)(0.5 * STEP * np.arange(2 * steps + 1)), axis=1)
    reference = np.concatenate([samples[:-1:2], samples[1::2], samples[2::2]], axis=1)
    start, velocity = samples[0, : slots.joints], samples[0, slots.joints : 2 * slots.joints]
    runs = len(settings.gamma)
    state = np.zeros((runs, slots.size))
    state[:, slots.x] = (1.0 + settings.initial_error[:, None]) * start
    state[:, slots.qd] = settings.initial_velocity[:, None] * velocity
    state[:, slots.controller_state] = np.concatenate([np.zeros((runs, 1)), settings.factors(scheme)], axis=1)
    x, estimate, period_count = slots.x, slots.controller_state.start, slots.period_count
    q, m4, diverged = (
        np.empty((steps, runs, slots.joints)),
        np.empty((steps, runs)),
        np.empty((steps, runs), dtype=bool),
    )
    for k in range(steps):
        q[k], m4[k], diverged[k] = state[:, x], LINK4_MASS + state[:, estimate], state[:, period_count] < 0.0
        state = kernel(state, reference[k])
    followed = reference[:, : slots.joints]
    error = np.where(diverged[:, :, None], np.inf, q - followed[:, None])
    return Batch(STEP * np.arange(steps), followed, error, np.where(diverged, np.inf, m4))


@cache
def _compile_step(scheme: str) -> tuple[PeriodGraphBuilder, Kernel]:
    law: Law = make_modified(1.0, 1.0) if scheme == "modified" else make_craig(1.0, 1.0)
    builder = PeriodGraphBuilder(EquationsOfMotion(law.robot), _add_gains_to_state(law), STEP, continuous=True)
    return builder, compile_graph(builder.build_graph())


def _add_gains_to_state(law: Law) -> Graph:
    """Return (q, qd, qr, qrd, qrdd, x) → (tau, dx/dt), where x are the estimate and the factors of all gains."""
    import casadi

    graph, n, unknown = law.graph_with(law.gain_names), len(law.robot.actuated), len(law.unknown_names)
    sizes = dict.fromkeys(("q", "qd", "qr", "qrd", "qrdd"), n) | {"x": unknown + len(law.gain_names)}
    symbols = {name: casadi.SX.sym(name, size) for name, size in sizes.items()}
    q, qd, *reference, x = symbols.values()
    rest = (*reference, x[:unknown], x[unknown:])
    if law.needs_acceleration:
        tau = graph.apply(q, qd, casadi.SX.zeros(n), *rest)[:n]
        qdd = forward_dynamics_graph(law.robot).apply(q, qd, tau)
        rates = graph.apply(q, qd, qdd, *rest)
    else:
        rates = graph.apply(q, qd, *rest)
    output = casadi.vertcat(rates, casadi.SX.zeros(len(law.gain_names)))
    inputs = [(Input(name, size), symbols[name]) for name, size in sizes.items()]
    return trace(law.name, inputs, scalars(output), made_from=f"{law.name} of {law.robot.name}")


# A study of lu1993 V-B: which scheme is faster for each setting of a grid.


DEGREE = np.pi / 180.0
OMEGAS = (1.0, 2.0, np.pi, 2.0 * np.pi, 4.0 * np.pi)
LAMBDAS = (10.0, 15.0, 20.0, 30.0, 40.0)
INITIAL_VELOCITIES = (0.0, 1.0)  # relative to the velocity of the reference
INITIAL_ERRORS = (INITIAL_ERROR, -INITIAL_ERROR)
SCANNED_GAMMAS = 10.0 ** np.linspace(-4.0, -1.0, 13)
CRAIG_WITH_OTHER_PSI = "Craig, Psi = 1.5 lambda"
FILTERINGS = {"Craig": 1.0, CRAIG_WITH_OTHER_PSI: 1.5}  # Psi, in units of lambda
MEASURES = {  # by field of SettlingTimes
    "one_degree": "tracking within 1 degree",
    "two_degrees": "tracking within 2 degrees",
    "m4": "m4 within 5 %",
}
TIME_TOLERANCE = 5e-3  # s; settling times that differ by no more count as equal
M4_TOLERANCE = 0.05  # kg, largest error of m4 once it has settled
MAX_TIME_RATIO = 1.5  # ratio of a settling time to the best one; up to it, a Gamma counts as good

Times = Float[np.ndarray, "settings gammas"]


@dataclass(frozen=True, eq=False)
class SettlingTimes:
    """Settling times of one scheme, in s: one row for each of the 100 settings, one column for each Gamma."""

    one_degree: Times
    two_degrees: Times
    m4: Times
    diverged: Shaped[np.ndarray, "settings gammas"]


@dataclass(frozen=True, eq=False)
class Count:
    """The number of cases in which each scheme is faster, both are equally fast, or neither settles."""

    modified: int
    craig: int
    equal: int
    neither: int

    @staticmethod
    def of(modified: np.ndarray, craig: np.ndarray) -> Count:
        modified_faster, craig_faster = modified < craig - TIME_TOLERANCE, craig < modified - TIME_TOLERANCE
        neither = np.isinf(modified) & np.isinf(craig)
        equal = ~(modified_faster | craig_faster | neither)
        return Count(*(int(which.sum()) for which in (modified_faster, craig_faster, equal, neither)))


@dataclass(frozen=True, eq=False)
class Study:
    """Settling times of both schemes for all settings; Craig's scheme is simulated with two values of Psi."""

    times: dict[str, SettlingTimes]

    def count(self, measure: str, other: str = "Craig", *, tuned: bool) -> Count:
        """Compare the schemes with the best Gamma of each in every setting, or in all runs with the same Gamma."""
        pair = (getattr(self.times[scheme], measure) for scheme in ("modified", other))
        return Count.of(*(times.min(axis=1) if tuned else times for times in pair))

    def count_consistent(self, measure: str) -> int:
        """Return the number of settings that agree with all statements of the paper, for some Gamma of each scheme."""
        modified, craig = self.times["modified"], self.times["Craig"]
        a, b = getattr(modified, measure), getattr(craig, measure)
        in_time = ((a >= 0.25) & (a < 0.3))[:, :, None] & ((b >= 0.33) & (b < 0.37))[:, None, :]
        return int((in_time & (modified.m4[:, :, None] < craig.m4[:, None, :])).any(axis=(1, 2)).sum())

    def count_diverged(self, scheme: str) -> int:
        return int(self.times[scheme].diverged.sum())

    def compute_mean_good_gammas(self, scheme: str) -> float:
        """Return the mean number of good Gammas per setting, without settings in which no Gamma settles."""
        return compute_mean_good(self.times[scheme].one_degree)

    def compute_mean_good_lambdas(self, scheme: str) -> float:
        """Likewise of the lambdas, each with its best Gamma."""
        tuned = self.times[scheme].one_degree.min(axis=1).reshape(len(OMEGAS), len(LAMBDAS), -1)
        return compute_mean_good(np.moveaxis(tuned, 1, 2).reshape(-1, len(LAMBDAS)))

    @cached_property
    def size(self) -> tuple[int, int]:
        """The number of settings, and of runs of each scheme."""
        shape = self.times["modified"].m4.shape
        return shape[0], shape[0] * shape[1]


def compute_mean_good(times: Float[np.ndarray, "cases values"]) -> float:
    """Return the mean number of values that are nearly as good as the best, without cases in which nothing settles."""
    best = times.min(axis=1, keepdims=True)
    return float((times <= MAX_TIME_RATIO * best)[np.isfinite(best[:, 0])].sum(axis=1).mean())


def run_study() -> Study:
    schemes = {"modified": ("modified", 1.0)} | {name: ("Craig", psi) for name, psi in FILTERINGS.items()}
    return Study({name: _simulate_grid(scheme, psi) for name, (scheme, psi) in schemes.items()})


def _simulate_grid(scheme: str, filtering: float) -> SettlingTimes:
    lam, gamma, error, velocity = np.array(list(product(LAMBDAS, SCANNED_GAMMAS, INITIAL_ERRORS, INITIAL_VELOCITIES))).T
    batches = (
        simulate_scheme(scheme, BatchSettings(omega, lam, gamma, error, velocity, filtering)) for omega in OMEGAS
    )
    parts = [_measure_settling(batch) for batch in batches]
    return SettlingTimes(*(_arrange_by_setting(np.array(part)) for part in zip(*parts, strict=True)))


def _measure_settling(batch: Batch) -> tuple[np.ndarray, ...]:
    error, m4_error = batch.largest_error, np.abs(batch.m4 - TRUE_M4)
    outside = (error > DEGREE, error > 2.0 * DEGREE, m4_error > M4_TOLERANCE)
    return (*(compute_settling_times(batch.t, exceeds) for exceeds in outside), batch.diverged)


def _arrange_by_setting(values: Shaped[np.ndarray, "omegas runs"]) -> Shaped[np.ndarray, "settings gammas"]:
    grid = values.reshape(len(OMEGAS), len(LAMBDAS), len(SCANNED_GAMMAS), -1)
    return np.moveaxis(grid, 2, 3).reshape(-1, len(SCANNED_GAMMAS))


# Sensor errors in lu1993 V-B: both schemes, sampled, with noise or a bias in the measured accelerations.


NOISES = (0.0, 50.0, 100.0, 200.0, 400.0)  # rad/s²; the mean acceleration of the reference is 80
BIASES = (0.0, 10.0, 20.0, 40.0)  # rad/s²
SEEDS = 16
PERIOD = 5e-4  # s, of a controller with sensors


@dataclass(frozen=True, eq=False)
class SensorErrorRuns:
    """Runs of a sampled scheme with errors in the measured accelerations, one row per size of the error.

    ``tracking`` (rad, of all joints) and ``m4_error`` (kg) are rms values while the arm settles, from 0.1 to 0.5 s.
    """

    sizes: tuple[float, ...]
    t: Float[np.ndarray, " instants"]
    m4: Float[np.ndarray, "sizes runs instants"]
    tracking: Float[np.ndarray, "sizes runs"]
    m4_error: Float[np.ndarray, "sizes runs"]


def simulate_sensor_errors(law: Law, kind: str, sizes: tuple[float, ...], runs: int) -> SensorErrorRuns:
    """Simulate ``runs`` runs from the same start for every size of the noise or the bias, in rad/s²."""
    rows = np.repeat(sizes, runs)
    per_joint = np.tile(rows[:, None], (1, len(law.robot.actuated)))
    sensors = Sensors(qdd=Sensor(noise=per_joint) if kind == "noise" else Sensor(bias=per_joint))
    loop = ClosedLoop(plant=law.robot, controller=law, period=PERIOD, sensors=sensors)
    reference = make_reference(OMEGA)
    q, qd, _ = (np.repeat(part, len(rows), axis=0) for part in reference(np.zeros(1)))
    start = loop.init((1.0 + INITIAL_ERROR) * q, qd, estimate=np.zeros((len(rows), 1)))
    result = loop.run(start, reference, SECONDS, rng=np.random.default_rng(1), every=2)
    error, m4 = result.q - reference(result.t)[0], LINK4_MASS + result.estimate[:, :, 0]
    early, shape = (result.t >= 0.1) & (result.t < 0.5), (len(sizes), runs)
    tracking = np.where(result.finished, compute_rms(error[:, early], (1, 2)), np.inf)
    m4_error = np.where(result.finished, compute_rms(m4[:, early] - TRUE_M4, 1), np.inf)
    return SensorErrorRuns(sizes, result.t, m4.reshape(*shape, -1), tracking.reshape(shape), m4_error.reshape(shape))


def compare_sensor_errors(kind: str) -> dict[str, SensorErrorRuns]:
    """Simulate both schemes with noise or with a bias."""
    sizes, runs = (NOISES, SEEDS) if kind == "noise" else (BIASES, 1)
    return {
        "modified": simulate_sensor_errors(make_modified(), kind, sizes, runs),
        "Craig": simulate_sensor_errors(make_craig(), kind, sizes, runs),
    }
