"""A reference trajectory from a log: a smoothing spline through its positions.

Identity      q(t) = the least-squares spline of degree 5 through the samples; qd and qdd are its derivatives
Notation      code      meaning
              spacing   time between knots in s, one value per joint for the whole log
              finest    the smallest spacing: ``MIN_KNOT_SPACING`` or two sample intervals, whichever is longer
              variance  variance of the residuals with the finest spacing: noise, and motion faster than the spline

The second derivative of an interpolation would consist mainly of noise and encoder steps. The knots are therefore as
far apart as possible: the spacing is increased as long as noise explains the residuals of the spline. If the residuals
are noise only and k knots are removed, the sum of squared residuals grows by ``variance`` times a chi-square variable
with k degrees of freedom. This variable exceeds k + 2·sqrt(k·x) + 2·x with probability at most exp(-x) (B. Laurent and
P. Massart, Annals of Statistics 28(5), 2000, lemma 1). The growth is tested for the whole log and for each window of
``KNOTS_PER_WINDOW`` knots. The probability that pure noise fails the test in at least one window is at most
exp(-``RISK_EXPONENT``). If the positions are quantized, an RMS residual up to ``MAX_RMS_IN_STEPS`` encoder steps is
accepted as well. Samples without noise keep the finest spacing: with 20 ms, the spline follows a motion of 5 Hz with an
error of 1e-5 of its amplitude.

If there are too few samples for the smoothing spline, they are interpolated instead. This is the case for all joints if
the finest spacing exceeds ``MAX_KNOT_SPACING`` or gives fewer than ``DEGREE`` + 1 knot intervals. It is the case for
one joint if the finest spacing is at least ``SPACING_FACTOR`` times ``MIN_KNOT_SPACING`` and the RMS residual of the
joint exceeds ``MAX_RELATIVE_MISFIT`` times the largest joint range.

The first sample is at t = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.arguments import check_kind
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.shapes import Float, InstantsByJoint, PerInstant, PerJoint, Shaped
from ytheta.simulation.references import SampledMotion, evaluate_at_instant

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

DEGREE = 5  # Degree of the spline. Chosen on: reasoning, since its acceleration is smooth.
# s; smallest and largest distance of knots that is tried. Chosen on: rule of thumb.
MIN_KNOT_SPACING, MAX_KNOT_SPACING = 0.02, 1.0
SPACING_FACTOR = 1.5  # Ratio of each spacing that is tried to the previous one. Chosen on: rule of thumb.
RISK_EXPONENT = 7.0  # exp(-7) bounds the probability that noise is mistaken for motion. Chosen on: rule of thumb.
KNOTS_PER_WINDOW = 50  # Knots of a window in which the growth of the residuals is tested. Chosen on: rule of thumb.
# RMS residual in encoder steps; up to it, residuals are explained by rounding. Chosen on: reasoning, rounding alone
# causes 0.29.
MAX_RMS_IN_STEPS = 0.35
# RMS residual, relative to the largest range of a joint; above it, coarse samples are interpolated. Chosen on: rule
# of thumb.
MAX_RELATIVE_MISFIT = 1e-3
# In sample intervals; rounding may put a time this far outside the samples. Chosen on: reasoning, half an interval.
TIME_TOLERANCE = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class LoggedReference:
    """A reference through the samples of a log.

    Attributes
    ----------
    t       times of the samples, s
    q       positions, one row per sample
    source  name of the log in error messages
    """

    t: PerInstant
    q: InstantsByJoint
    source: str = "the reference"

    def __post_init__(self) -> None:
        if len(self.t) <= DEGREE or self.q.shape[:1] != self.t.shape:
            raise InputError(
                f"{self.source}: there are {len(self.t)} instants and positions of shape {self.q.shape}; a reference "
                f"needs at least {DEGREE + 1} instants and one row of positions for each"
            )
        if not (np.isfinite(self.t).all() and np.isfinite(self.q).all()):
            raise InputError(f"{self.source}: some times or positions are not finite; remove these rows")
        not_increasing = np.flatnonzero(np.diff(self.t) <= 0.0)
        if len(not_increasing):
            row = not_increasing[0]
            raise InputError(
                f"{self.source}: time does not increase after t = {self.t[row]:g} s (row {row}); repair the file"
            )

    def __repr__(self) -> str:
        return f"LoggedReference({self.source}: {self.seconds:g} s, {self.q.shape[1]} joints)"

    @property
    def seconds(self) -> float:
        """The duration in s."""
        return float(self.t[-1] - self.t[0])

    def __call__(self, t: PerInstant | float) -> tuple[SampledMotion, SampledMotion, SampledMotion]:
        """Return q, qd and qdd, with one row for each time, or one number per joint if t is one number.

        Raise an error for times before the first or after the last sample.
        """
        if not isinstance(t, np.ndarray) or not t.ndim:
            return evaluate_at_instant(self, t)
        tolerance = TIME_TOLERANCE * self.seconds / (len(self.t) - 1)
        outside = np.flatnonzero((t < -tolerance) | (t > self.seconds + tolerance))
        if len(outside):
            raise InputError(
                f"{self.source} covers 0 to {self.seconds:g} s, not t = {t[outside[0]]:g} s; choose at most "
                f"{self.seconds:g} s, or give a longer reference"
            )
        inside = np.clip(t, 0.0, self.seconds)
        values = np.empty((3, len(t), self.q.shape[1]))
        for joints, spline in self._splines:
            for order in range(3):
                values[order][:, joints] = spline(inside, nu=order)
        position, velocity, acceleration = values
        return position, velocity, acceleration

    @cached_property
    def knot_spacing(self) -> PerJoint:
        """The time between the knots of each joint in s; 0 if its samples are interpolated."""
        # A spline is determined if each knot interval has two samples, and the number of intervals exceeds the degree.
        t, coarsest = self.t - self.t[0], min(MAX_KNOT_SPACING, self.seconds / (DEGREE + 1))
        finest = max(MIN_KNOT_SPACING, 2.0 * float(np.diff(t).max()))
        spacings = np.zeros(self.q.shape[1])
        if finest > coarsest:
            return spacings
        finest_residuals = self._compute_residuals(finest)
        degrees_of_freedom = max(1.0, len(t) - DEGREE - self.seconds / finest)
        variance = (finest_residuals**2).sum(axis=0) / degrees_of_freedom
        max_misfit = MAX_RELATIVE_MISFIT * np.ptp(self.q, axis=0).max()
        is_followed = (finest_residuals**2).mean(axis=0) <= max_misfit**2
        spacings[is_followed | (finest < SPACING_FACTOR * MIN_KNOT_SPACING)] = finest
        growing, step, spacing = spacings > 0.0, _find_encoder_steps(self.q), SPACING_FACTOR * finest
        while growing.any() and spacing <= coarsest:
            residuals = self._compute_residuals(spacing)
            for window in (KNOTS_PER_WINDOW * finest, self.seconds):
                removed_knots = window * (1.0 / finest - 1.0 / spacing)
                growth = _sum_windows(t, residuals**2 - finest_residuals**2, window)
                squares = _sum_windows(t, residuals**2, window)
                samples = _sum_windows(t, np.ones((len(t), 1)), window)
                x = RISK_EXPONENT + np.log(len(growth))
                is_noise = growth <= variance * (removed_knots + 2.0 * np.sqrt(removed_knots * x) + 2.0 * x)
                is_rounding = squares <= samples * (MAX_RMS_IN_STEPS * step) ** 2
                growing = growing & (is_noise | is_rounding).all(axis=0)
            spacings[growing] = spacing
            spacing *= SPACING_FACTOR
        return spacings

    @cached_property
    def _splines(self) -> tuple[tuple[Shaped[np.ndarray, " some"], BSpline], ...]:
        """The splines, each with the indices of the joints that share its knots."""
        spacings = np.unique(self.knot_spacing)
        groups = ((np.flatnonzero(self.knot_spacing == spacing), float(spacing)) for spacing in spacings)
        return tuple((joints, self._fit_spline(joints, spacing)) for joints, spacing in groups)

    def _compute_residuals(self, spacing: float) -> InstantsByJoint:
        spline = self._fit_spline(np.arange(self.q.shape[1]), spacing)
        return self.q - spline(self.t - self.t[0])

    def _fit_spline(self, joints: Shaped[np.ndarray, " some"], spacing: float) -> BSpline:
        from scipy.interpolate import BSpline, make_interp_spline
        from scipy.linalg import solveh_banded

        t, q = self.t - self.t[0], self.q[:, joints]
        if not spacing:
            return make_interp_spline(t, q, DEGREE)
        inner = np.linspace(0.0, self.seconds, max(1, int(self.seconds / spacing)) + 1)
        knots = np.concatenate([np.full(DEGREE, 0.0), inner, np.full(DEGREE, self.seconds)])
        # The normal equations of splines are banded and well conditioned.
        A = BSpline.design_matrix(t, knots, DEGREE)
        N = A.T @ A
        bands = np.zeros((DEGREE + 1, A.shape[1]))
        for k in range(DEGREE + 1):
            bands[k, : A.shape[1] - k] = N.diagonal(-k)
        return BSpline(knots, solveh_banded(bands, A.T @ q, lower=True), DEGREE)


def reference_from_log(log: Log) -> LoggedReference:
    """Return the motion of a log as a reference."""
    check_kind("log", log, Log, "a Log, as read_log(path, robot) returns; simulate also takes a path as its reference")
    source = log.source or "the log"
    if len(log.segments) != 1:
        raise InputError(
            f"{source}: {log.describe_splits() or 'the log is empty; '}a reference must be one segment; choose one "
            "with log.select_times(start, end), or repair the file"
        )
    first, last = log.segments[0]
    t, q = log.t[first:last], log.q[first:last]
    return LoggedReference(np.asarray(t, dtype=float), np.asarray(q, dtype=float), source)


def _sum_windows(t: PerInstant, values: InstantsByJoint, seconds: float) -> Float[np.ndarray, "windows joints"]:
    """Return the sums of the values in successive windows of this duration; the last window may be shorter."""
    firsts = np.unique(np.searchsorted(t, np.arange(0.0, t[-1], seconds)))
    return np.add.reduceat(values, firsts, axis=0)


def _find_encoder_steps(q: InstantsByJoint) -> PerJoint:
    """Return the encoder step of each joint: all position differences are multiples of it; 0 if there is none."""
    differences = np.abs(np.diff(q, axis=0))
    smallest = np.where(differences > 0.0, differences, np.inf).min(axis=0)
    smallest = np.where(np.isfinite(smallest), smallest, 1.0)
    counts = differences / smallest
    return np.where((np.abs(counts - np.rint(counts)) < 1e-3).all(axis=0), smallest, 0.0)
