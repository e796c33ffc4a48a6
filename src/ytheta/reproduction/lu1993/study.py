"""A study of lu1993 V-B: which scheme is faster for each setting of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ytheta.reproduction.lu1993.schemes import INITIAL_ERROR, TRUE_M4, Batch, BatchSettings, simulate_scheme
from ytheta.reproduction.tracking import compute_settling_times
from ytheta.shapes import Float, Shaped

DEGREE = np.pi / 180.0
OMEGAS = (1.0, 2.0, np.pi, 2.0 * np.pi, 4.0 * np.pi)
LAMBDAS = (10.0, 15.0, 20.0, 30.0, 40.0)
INITIAL_VELOCITIES = (0.0, 1.0)  # relative to the velocity of the reference
INITIAL_ERRORS = (INITIAL_ERROR, -INITIAL_ERROR)
GAMMAS = 10.0 ** np.linspace(-4.0, -1.0, 13)
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


def _arrange_by_setting(values: Shaped[np.ndarray, "omegas runs"]) -> Shaped[np.ndarray, "settings gammas"]:
    grid = values.reshape(len(OMEGAS), len(LAMBDAS), len(GAMMAS), -1)
    return np.moveaxis(grid, 2, 3).reshape(-1, len(GAMMAS))
