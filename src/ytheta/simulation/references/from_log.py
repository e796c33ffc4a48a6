"""A reference read from a log: positions at stamps, made smooth.

Identity      q(t) = the least-squares spline of degree 5 through the samples; qd and qdd are its own derivatives
Notation      code      meaning
              apart     s between knots: the same all along, for each joint its own
              least     the shortest of these: ``KNOTS``, and no less than two samples
              variance  of the samples about the spline with knots ``least`` apart: noise, and what it cannot follow

Two derivatives of an interpolation are nothing but noise and steps of the encoder, so knots are as far apart as the
samples allow: farther and farther, as long as the spline misses them by no more than noise explains. With k knots less
the sum of squares grows by ``variance`` times a chi-square number of k degrees, which exceeds k + 2 sqrt(k x) + 2 x
with probability exp(-x) at most (B. Laurent and P. Massart, Annals of Statistics 28(5), 2000, lemma 1); that is asked
over all of time and over every ``STRETCH``, with x = ``DOUBT`` for all stretches together. Where positions come in
steps, the spline may miss by ``WITHIN`` of one instead. Samples without noise keep their knots: at 20 ms motion of 5 Hz
is followed to 1e-5 of its size. Samples are interpolated where they are so few that the spline misses them by more than
``COARSE`` of the largest range of a joint. Time begins with the first sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.shapes import Float, Shaped
from ytheta.simulation.references.reference import Columns

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

DEGREE = 5
KNOTS, FARTHER, FARTHEST = 0.02, 1.5, 1.0  # s between knots: the least, the factor from one try to the next, the most
DOUBT = 7.0
STRETCH = 50  # knots
WITHIN = 0.35  # rms; 0.29 is what rounding makes
COARSE = 1e-3
LATE = 0.5  # of a step: how far outside an instant may be, for rounding


@dataclass(frozen=True, eq=False)
class LoggedReference:
    """A course through samples; ``source`` says where they are from."""

    t: Float[np.ndarray, "samples"]
    q: Columns
    source: str = "the reference"

    def __post_init__(self) -> None:
        if len(self.t) <= DEGREE or self.q.shape[:1] != self.t.shape:
            raise InputError(
                f"{self.source}: {len(self.t)} instants and positions of shape {self.q.shape}; a reference needs one "
                f"row for each of at least {DEGREE + 1} instants"
            )
        if not (np.isfinite(self.t).all() and np.isfinite(self.q).all()):
            raise InputError(f"{self.source}: times or positions hold numbers that are not finite")
        back = np.flatnonzero(np.diff(self.t) <= 0.0)
        if len(back):
            raise InputError(f"{self.source}: time does not go on after t = {self.t[back[0]]:g} s (row {back[0]})")

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return float(self.t[-1] - self.t[0])

    def __call__(self, t: Float[np.ndarray, "instants"]) -> tuple[Columns, Columns, Columns]:
        """q, qd and qdd; refused before the first and after the last sample."""
        rounding = LATE * self.seconds / (len(self.t) - 1)
        out = np.flatnonzero((t < -rounding) | (t > self.seconds + rounding))
        if len(out):
            raise InputError(
                f"{self.source} lasts from 0 to {self.seconds:g} s and says nothing of t = {t[out[0]]:g} s; ask for "
                f"{self.seconds:g} s at most, or give a longer one"
            )
        inside = np.clip(t, 0.0, self.seconds)
        found = np.empty((3, len(t), self.q.shape[1]))
        for joints, spline in self._splines:
            for order in range(3):
                found[order][:, joints] = spline(inside, nu=order)
        position, velocity, acceleration = found
        return position, velocity, acceleration

    @cached_property
    def apart(self) -> Float[np.ndarray, "joints"]:
        """Seconds between knots, joint by joint; 0 where samples are interpolated."""
        # With two samples between knots, and more such stretches than the degree, they determine the spline.
        t, most = self.t - self.t[0], min(FARTHEST, self.seconds / (DEGREE + 1))
        least = max(KNOTS, 2.0 * float(np.diff(t).max()))
        chosen = np.zeros(self.q.shape[1])
        if least > most:
            return chosen
        finest = self._missed(least)
        freedom = max(1.0, len(t) - DEGREE - self.seconds / least)
        variance = (finest**2).sum(axis=0) / freedom
        followed = (finest**2).mean(axis=0) <= (COARSE * np.ptp(self.q, axis=0).max()) ** 2
        chosen[followed | (least < FARTHER * KNOTS)] = least
        going, step, apart = chosen > 0.0, _steps(self.q), FARTHER * least
        while going.any() and apart <= most:
            missed = self._missed(apart)
            for stretch in (STRETCH * least, self.seconds):
                fewer = stretch * (1.0 / least - 1.0 / apart)
                more, size = _sums(t, missed**2 - finest**2, stretch), _sums(t, missed**2, stretch)
                samples = _sums(t, np.ones((len(t), 1)), stretch)
                doubt = DOUBT + np.log(len(more))
                noise = more <= variance * (fewer + 2.0 * np.sqrt(fewer * doubt) + 2.0 * doubt)
                going = going & (noise | (size <= samples * (WITHIN * step) ** 2)).all(axis=0)
            chosen[going] = apart
            apart *= FARTHER
        return chosen

    @cached_property
    def _splines(self) -> tuple[tuple[Shaped[np.ndarray, "some"], BSpline], ...]:
        """Joints whose knots are equally far apart, and the spline through their samples."""
        groups = ((np.flatnonzero(self.apart == apart), float(apart)) for apart in np.unique(self.apart))
        return tuple((joints, self._spline(joints, apart)) for joints, apart in groups)

    def _missed(self, apart: float) -> Columns:
        spline = self._spline(np.arange(self.q.shape[1]), apart)
        return self.q - spline(self.t - self.t[0])

    def _spline(self, joints: Shaped[np.ndarray, "some"], apart: float) -> BSpline:
        from scipy.interpolate import BSpline, make_interp_spline
        from scipy.linalg import solveh_banded

        t, q = self.t - self.t[0], self.q[:, joints]
        if not apart:
            return make_interp_spline(t, q, DEGREE)
        every = np.linspace(0.0, self.seconds, max(1, int(self.seconds / apart)) + 1)
        knots = np.concatenate([np.full(DEGREE, 0.0), every, np.full(DEGREE, self.seconds)])
        # Normal equations: they are banded, and splines make them well conditioned.
        A = BSpline.design_matrix(t, knots, DEGREE)
        N = A.T @ A
        bands = np.zeros((DEGREE + 1, A.shape[1]))
        for k in range(DEGREE + 1):
            bands[k, : A.shape[1] - k] = N.diagonal(-k)
        return BSpline(knots, solveh_banded(bands, A.T @ q, lower=True), DEGREE)


def _sums(t: Float[np.ndarray, "instants"], values: Columns, stretch: float) -> Float[np.ndarray, "stretches joints"]:
    """Over stretches of time; the last may be shorter."""
    firsts = np.unique(np.searchsorted(t, np.arange(0.0, t[-1], stretch)))
    return np.add.reduceat(values, firsts, axis=0)


def _steps(q: Columns) -> Float[np.ndarray, "joints"]:
    """Of the encoder: what all differences are multiples of; 0 where there is no such."""
    differences = np.abs(np.diff(q, axis=0))
    least = np.where(differences > 0.0, differences, np.inf).min(axis=0)
    least = np.where(np.isfinite(least), least, 1.0)
    counts = differences / least
    return np.where((np.abs(counts - np.rint(counts)) < 1e-3).all(axis=0), least, 0.0)


def reference_from_log(log: Log) -> LoggedReference:
    """The motion of a log as a reference."""
    source = log.source or "the log"
    if len(log.segments) != 1:
        raise InputError(
            f"{source}: {log.describe_cuts() or 'there is nothing in it; '}a reference must be of one piece; choose one with "
            "log.between(start, end), or repair the file"
        )
    first, last = log.segments[0]
    return LoggedReference(np.asarray(log.t[first:last], dtype=float), np.asarray(log.q[first:last], dtype=float), source)
