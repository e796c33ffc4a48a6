"""What lu1993 V-B leaves open, tried: which scheme is faster over a grid of settings, and what noise does to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np

from examples.lu1993_schemes import (
    LINK4,
    OFFSET,
    OMEGA,
    SECONDS,
    TOTAL,
    Batch,
    Settings,
    course,
    craig,
    modified,
    simulated,
)
from examples.redrawn import rms, settled
from ytheta.control.laws.law import Law
from ytheta.shapes import Float, Shaped
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.sensors.sensors import Sensor, Sensors

DEGREE = np.pi / 180.0
OMEGAS = (1.0, 2.0, np.pi, 2.0 * np.pi, 4.0 * np.pi)
LAMBDAS = (10.0, 15.0, 20.0, 30.0, 40.0)
STARTS = (0.0, 1.0)  # of the reference's velocity
OFFSETS = (OFFSET, -OFFSET)
GAMMAS = 10.0 ** np.linspace(-4.0, -1.0, 13)
FILTERINGS = {"Craig": 1.0, "Craig, Psi = 1.5 lambda": 1.5}
ALIKE = 5e-3  # s between settling times that count as one
NEAR = 0.05  # kg between m4 and its estimate
GOOD = 1.5  # times the best settling time

NOISES = (0.0, 50.0, 100.0, 200.0, 400.0)  # rad/s²; the reference's own accelerations are 80 in the mean
BIASES = (0.0, 10.0, 20.0, 40.0)
SEEDS = 16
PERIOD = 5e-4  # s, of a controller that measures

Times = Float[np.ndarray, "settings gammas"]


@dataclass(frozen=True, eq=False)
class Settling:
    """Settling times of one scheme over the grid: one row for each of 100 settings, one column for each Gamma."""

    degree: Times
    degrees: Times  # to two degrees
    m4: Times
    lost: Shaped[np.ndarray, "settings gammas"]


@dataclass(frozen=True, eq=False)
class Count:
    """Of how many cases each scheme is the faster one."""

    modified: int
    craig: int
    alike: int
    neither: int

    @staticmethod
    def of(modified: np.ndarray, craig: np.ndarray) -> Count:
        ours, theirs = modified < craig - ALIKE, craig < modified - ALIKE
        neither = np.isinf(modified) & np.isinf(craig)
        return Count(ours.sum(), theirs.sum(), (~(ours | theirs | neither)).sum(), neither.sum())


@dataclass(frozen=True, eq=False)
class Study:
    """Both schemes over the grid, Craig's with either filter of the error."""

    times: dict[str, Settling]

    def count(self, measure: str, other: str = "Craig", *, tuned: bool) -> Count:
        """Over settings with the best Gamma of each scheme, or over all runs with the same number as Gamma."""
        pair = (getattr(self.times[scheme], measure) for scheme in ("modified", other))
        return Count.of(*(times.min(axis=1) if tuned else times for times in pair))

    def fitting(self, measure: str) -> int:
        """Settings that fit all the text says at once, with some Gamma for either scheme."""
        ours, theirs = self.times["modified"], self.times["Craig"]
        a, b = getattr(ours, measure), getattr(theirs, measure)
        in_time = ((a >= 0.25) & (a < 0.3))[:, :, None] & ((b >= 0.33) & (b < 0.37))[:, None, :]
        return int((in_time & (ours.m4[:, :, None] < theirs.m4[:, None, :])).any(axis=(1, 2)).sum())

    def lost(self, scheme: str) -> int:
        return int(self.times[scheme].lost.sum())

    def width(self, scheme: str) -> float:
        """How many of the Gammas settle nearly as soon as the best, in the mean over settings where any does."""
        times = self.times[scheme].degree
        best = times.min(axis=1, keepdims=True)
        return float((times <= GOOD * best)[np.isfinite(best[:, 0])].sum(axis=1).mean())

    @cached_property
    def size(self) -> tuple[int, int]:
        """Settings, and runs of each scheme."""
        shape = self.times["modified"].m4.shape
        return shape[0], shape[0] * shape[1]


def study() -> Study:
    schemes = {"modified": ("modified", 1.0)} | {name: ("Craig", psi) for name, psi in FILTERINGS.items()}
    return Study({name: _scanned(scheme, psi) for name, (scheme, psi) in schemes.items()})


def _scanned(scheme: str, filtering: float) -> Settling:
    lam, gamma, offset, moving = np.array(list(product(LAMBDAS, GAMMAS, OFFSETS, STARTS))).T
    batches = (simulated(scheme, Settings(omega, lam, gamma, offset, moving, filtering)) for omega in OMEGAS)
    parts = [_times(batch) for batch in batches]
    return Settling(*(_by_setting(np.array(part)) for part in zip(*parts, strict=True)))


def _times(batch: Batch) -> tuple[np.ndarray, ...]:
    far, wrong = batch.farthest, np.abs(batch.m4 - TOTAL)
    outside = (far > DEGREE, far > 2.0 * DEGREE, wrong > NEAR)
    return (*(settled(batch.t, each) for each in outside), batch.lost)


def _by_setting(values: Shaped[np.ndarray, "omegas runs"]) -> Times:
    grid = values.reshape(len(OMEGAS), len(LAMBDAS), len(GAMMAS), -1)
    return np.moveaxis(grid, 2, 3).reshape(-1, len(GAMMAS))


def lines(found: Study) -> Iterator[str]:
    """The study as text."""
    settings, runs = found.size
    yield f"Which scheme is faster? {settings} settings: omega 1, 2, pi, 2 pi, 4 pi; lambda 10, 15, 20, 30, 40; at rest"
    yield "or with the reference's velocity at the start; 20 % too far or too near; each with"
    yield f"{len(GAMMAS)} Gammas from 1e-4 to 0.1. Their units differ: one number for both means little."
    yield f"{'':28}{'Gamma':14}{'modified':>9}{'Craig':>7}{'alike':>7}{'neither':>9}{'of':>6}"
    measures = (
        ("degree", "tracking within 1 degree"),
        ("degrees", "tracking within 2 degrees"),
        ("m4", "m4 within 5 %"),
    )
    for measure, words in measures:
        for tuned in (True, False):
            gammas = "best of each" if tuned else "the same"
            yield _counted(words, gammas, found.count(measure, tuned=tuned), settings if tuned else runs)
    other = next(name for name in FILTERINGS if name != "Craig")
    yield "with Psi = 1.5 lambda in Craig's scheme instead of lambda:"
    for measure, words in measures[::2]:
        yield _counted(words, "best of each", found.count(measure, other, tuned=True), settings)
    lost = ", ".join(f"{scheme} {found.lost(scheme)}" for scheme in found.times)
    yield f"runs lost, of {runs} each: {lost}"
    width = ", ".join(f"{scheme} {found.width(scheme):.1f}" for scheme in ("modified", "Craig"))
    yield f"Gammas within {GOOD} times the best settling time, of {len(GAMMAS)}: {width}"
    fits = f"{found.fitting('degree')} with 1 degree as the tolerance, {found.fitting('degrees')} with 2"
    yield f"settings that fit all the text says at once, with some Gamma for either scheme: {fits}"


def _counted(words: str, gammas: str, count: Count, total: int) -> str:
    figures = f"{count.modified:9}{count.craig:7}{count.alike:7}{count.neither:9}{total:6}"
    return f"{words:28}{gammas:14}{figures}"


# --- noise ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Misled:
    """A scheme with a period whose readings of accelerations have errors, one row per size of the error."""

    sizes: tuple[float, ...]
    t: Float[np.ndarray, "instants"]
    m4: Float[np.ndarray, "sizes runs instants"]
    tracking: Float[np.ndarray, "sizes runs"]  # rms over all joints, rad, and
    wrong: Float[np.ndarray, "sizes runs"]  # rms of m4, kg, both while the arm settles: from 0.1 to 0.5 s


def misled(law: Law, kind: str, sizes: tuple[float, ...], runs: int) -> Misled:
    """Runs that begin alike, some for every size of the noise or the bias, in rad/s²."""
    rows = np.repeat(sizes, runs)
    wrong = np.tile(rows[:, None], (1, len(law.robot.actuated)))
    sensors = Sensors(qdd=Sensor(noise=wrong) if kind == "noise" else Sensor(bias=wrong))
    loop = ClosedLoop(plant=law.robot, controller=law, period=PERIOD, sensors=sensors)
    wanted = course(OMEGA)
    q, qd, _ = (np.repeat(part, len(rows), axis=0) for part in wanted(np.zeros(1)))
    start = loop.init((1.0 + OFFSET) * q, qd, estimate=np.zeros((len(rows), 1)))
    done = loop.run(start, wanted, SECONDS, rng=np.random.default_rng(1), every=2)
    error, m4 = done.q - wanted(done.t)[0], LINK4 + done.estimate[:, :, 0]
    early, shape = (done.t >= 0.1) & (done.t < 0.5), (len(sizes), runs)
    tracking = np.where(done.finished, rms(error[:, early], (1, 2)), np.inf)
    off = np.where(done.finished, rms(m4[:, early] - TOTAL, 1), np.inf)
    return Misled(sizes, done.t, m4.reshape(*shape, -1), tracking.reshape(shape), off.reshape(shape))


@cache
def both_misled(kind: str) -> dict[str, Misled]:
    """With noise or with a bias."""
    sizes, runs = (NOISES, SEEDS) if kind == "noise" else (BIASES, 1)
    return {"modified": misled(modified(), kind, sizes, runs), "Craig": misled(craig(), kind, sizes, runs)}
