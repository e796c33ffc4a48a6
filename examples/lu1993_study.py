"""A study of lu1993 V-B: which scheme is faster for each setting of a grid, and the effect of sensor errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np

import ytheta as yt
from examples.lu1993_schemes import (
    INITIAL_ERROR,
    LINK4_MASS,
    OMEGA,
    SECONDS,
    TRUE_M4,
    Batch,
    BatchSettings,
    make_craig,
    make_modified,
    make_reference,
    simulate_scheme,
)
from examples.paper_comparison import compute_settling_times, rms
from ytheta.shapes import Float, Shaped

DEGREE = np.pi / 180.0
OMEGAS = (1.0, 2.0, np.pi, 2.0 * np.pi, 4.0 * np.pi)
LAMBDAS = (10.0, 15.0, 20.0, 30.0, 40.0)
INITIAL_VELOCITIES = (0.0, 1.0)  # relative to the velocity of the reference
INITIAL_ERRORS = (INITIAL_ERROR, -INITIAL_ERROR)
GAMMAS = 10.0 ** np.linspace(-4.0, -1.0, 13)
FILTERINGS = {"Craig": 1.0, "Craig, Psi = 1.5 lambda": 1.5}
TIME_TOLERANCE = 5e-3  # s; settling times that differ by no more count as equal
M4_TOLERANCE = 0.05  # kg, largest error of m4 once it has settled
MAX_TIME_RATIO = 1.5  # ratio of a settling time to the best one; up to it, a Gamma counts as good

NOISES = (0.0, 50.0, 100.0, 200.0, 400.0)  # rad/s²; the mean acceleration of the reference is 80
BIASES = (0.0, 10.0, 20.0, 40.0)  # rad/s²
SEEDS = 16
PERIOD = 5e-4  # s, of a controller with sensors

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
        return Count(modified_faster.sum(), craig_faster.sum(), equal.sum(), neither.sum())


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
        times = self.times[scheme].one_degree
        best = times.min(axis=1, keepdims=True)
        return float((times <= MAX_TIME_RATIO * best)[np.isfinite(best[:, 0])].sum(axis=1).mean())

    @cached_property
    def size(self) -> tuple[int, int]:
        """The number of settings, and of runs of each scheme."""
        shape = self.times["modified"].m4.shape
        return shape[0], shape[0] * shape[1]


def run_study() -> Study:
    schemes = {"modified": ("modified", 1.0)} | {name: ("Craig", psi) for name, psi in FILTERINGS.items()}
    return Study({name: _simulate_grid(scheme, psi) for name, (scheme, psi) in schemes.items()})


def _simulate_grid(scheme: str, filtering: float) -> SettlingTimes:
    lam, gamma, error, velocity = np.array(list(product(LAMBDAS, GAMMAS, INITIAL_ERRORS, INITIAL_VELOCITIES))).T
    batches = (
        simulate_scheme(scheme, BatchSettings(omega, lam, gamma, error, velocity, filtering)) for omega in OMEGAS
    )
    parts = [_measure_settling(batch) for batch in batches]
    return SettlingTimes(*(_arrange_by_setting(np.array(part)) for part in zip(*parts, strict=True)))


def _measure_settling(batch: Batch) -> tuple[np.ndarray, ...]:
    error, m4_error = batch.largest_error, np.abs(batch.m4 - TRUE_M4)
    outside = (error > DEGREE, error > 2.0 * DEGREE, m4_error > M4_TOLERANCE)
    return (*(compute_settling_times(batch.t, exceeds) for exceeds in outside), batch.diverged)


def _arrange_by_setting(values: Shaped[np.ndarray, "omegas runs"]) -> Times:
    grid = values.reshape(len(OMEGAS), len(LAMBDAS), len(GAMMAS), -1)
    return np.moveaxis(grid, 2, 3).reshape(-1, len(GAMMAS))


def format_study(study: Study) -> Iterator[str]:
    settings, runs = study.size
    yield f"Which scheme is faster? {settings} settings: omega 1, 2, pi, 2 pi, 4 pi; lambda 10, 15, 20, 30, 40; start"
    yield "at rest or with the velocity of the reference, 20 % beyond or short of its position. Each setting has"
    yield f"{len(GAMMAS)} Gammas from 1e-4 to 0.1. Gamma has another unit in each scheme, so equal values mean little."
    yield f"{'':28}{'Gamma':14}{'modified':>9}{'Craig':>7}{'equal':>7}{'neither':>9}{'of':>6}"
    measures = (
        ("one_degree", "tracking within 1 degree"),
        ("two_degrees", "tracking within 2 degrees"),
        ("m4", "m4 within 5 %"),
    )
    for measure, label in measures:
        for tuned in (True, False):
            gammas = "best of each" if tuned else "the same"
            yield _format_count(label, gammas, study.count(measure, tuned=tuned), settings if tuned else runs)
    other = next(name for name in FILTERINGS if name != "Craig")
    yield "with Psi = 1.5 lambda instead of lambda in Craig's scheme:"
    for measure, label in measures[::2]:
        yield _format_count(label, "best of each", study.count(measure, other, tuned=True), settings)
    diverged = ", ".join(f"{scheme} {study.count_diverged(scheme)}" for scheme in study.times)
    yield f"diverged runs, of {runs} each: {diverged}"
    good = ", ".join(f"{scheme} {study.compute_mean_good_gammas(scheme):.1f}" for scheme in ("modified", "Craig"))
    yield f"Gammas within {MAX_TIME_RATIO} times the best settling time, of {len(GAMMAS)}: {good}"
    one, two = study.count_consistent("one_degree"), study.count_consistent("two_degrees")
    yield "settings that agree with all statements of the paper at once, for some Gamma of each scheme:"
    yield f"{one} with a tolerance of 1 degree, {two} with 2 degrees"


def _format_count(label: str, gammas: str, count: Count, total: int) -> str:
    counts = f"{count.modified:9}{count.craig:7}{count.equal:7}{count.neither:9}{total:6}"
    return f"{label:28}{gammas:14}{counts}"


# --- sensor errors ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SensorErrorRuns:
    """Runs of a sampled scheme with errors in the measured accelerations, one row per size of the error.

    ``tracking`` (rad, of all joints) and ``m4_error`` (kg) are rms values while the arm settles, from 0.1 to 0.5 s.
    """

    sizes: tuple[float, ...]
    t: Float[np.ndarray, "instants"]
    m4: Float[np.ndarray, "sizes runs instants"]
    tracking: Float[np.ndarray, "sizes runs"]
    m4_error: Float[np.ndarray, "sizes runs"]


def simulate_sensor_errors(law: yt.control.Law, kind: str, sizes: tuple[float, ...], runs: int) -> SensorErrorRuns:
    """Simulate ``runs`` runs from the same start for every size of the noise or the bias, in rad/s²."""
    rows = np.repeat(sizes, runs)
    per_joint = np.tile(rows[:, None], (1, len(law.robot.actuated)))
    sensors = yt.Sensors(qdd=yt.Sensor(noise=per_joint) if kind == "noise" else yt.Sensor(bias=per_joint))
    loop = yt.ClosedLoop(plant=law.robot, controller=law, period=PERIOD, sensors=sensors)
    reference = make_reference(OMEGA)
    q, qd, _ = (np.repeat(part, len(rows), axis=0) for part in reference(np.zeros(1)))
    start = loop.init((1.0 + INITIAL_ERROR) * q, qd, estimate=np.zeros((len(rows), 1)))
    result = loop.run(start, reference, SECONDS, rng=np.random.default_rng(1), every=2)
    error, m4 = result.q - reference(result.t)[0], LINK4_MASS + result.estimate[:, :, 0]
    early, shape = (result.t >= 0.1) & (result.t < 0.5), (len(sizes), runs)
    tracking = np.where(result.finished, rms(error[:, early], (1, 2)), np.inf)
    m4_error = np.where(result.finished, rms(m4[:, early] - TRUE_M4, 1), np.inf)
    return SensorErrorRuns(sizes, result.t, m4.reshape(*shape, -1), tracking.reshape(shape), m4_error.reshape(shape))


@cache
def compare_sensor_errors(kind: str) -> dict[str, SensorErrorRuns]:
    """Simulate both schemes with noise or with a bias."""
    sizes, runs = (NOISES, SEEDS) if kind == "noise" else (BIASES, 1)
    return {
        "modified": simulate_sensor_errors(make_modified(), kind, sizes, runs),
        "Craig": simulate_sensor_errors(make_craig(), kind, sizes, runs),
    }
