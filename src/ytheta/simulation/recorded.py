"""A reference read from a log: positions at stamps, made smooth.

Identity      q(t) = the least-squares spline of degree 5 through the samples; qd and qdd are its own derivatives

Knots are no denser than ``KNOTS``: a reference that was recorded has steps of an encoder in it, and two derivatives of
an interpolation would be nothing else. At 20 ms motion of 5 Hz is followed to 1e-5 of its size. Logs with longer steps
are interpolated. Time begins with the first sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import Float
from ytheta.signal.log import Log
from ytheta.simulation.course import Columns

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

DEGREE = 5
KNOTS = 0.02  # s
LATE = 0.5  # of a step: how far outside an instant may be, for rounding


@dataclass(frozen=True, eq=False)
class Recorded:
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
        position, velocity, acceleration = self._splines
        return position(inside), velocity(inside), acceleration(inside)

    @cached_property
    def _splines(self) -> tuple[BSpline, BSpline, BSpline]:
        from scipy.interpolate import make_interp_spline, make_lsq_spline

        t = self.t - self.t[0]
        every = np.linspace(0.0, self.seconds, max(1, round(self.seconds / KNOTS)) + 1)
        # Two samples between knots determine the spline; where steps are longer, all samples are knots.
        if len(every) > DEGREE + 1 and float(np.diff(t).max()) <= 0.5 * float(every[1]):
            knots = np.concatenate([np.full(DEGREE, 0.0), every, np.full(DEGREE, self.seconds)])
            spline = make_lsq_spline(t, self.q, knots, DEGREE)
        else:
            spline = make_interp_spline(t, self.q, DEGREE)
        return spline, spline.derivative(1), spline.derivative(2)


def from_log(log: Log) -> Recorded:
    """The motion of a log as a reference."""
    source = log.source or "the log"
    if len(log.segments) != 1:
        raise InputError(
            f"{source}: {log.in_pieces or 'there is nothing in it; '}a reference must be of one piece; choose one with "
            "log.between(start, end), or repair the file"
        )
    first, last = log.segments[0]
    return Recorded(np.asarray(log.t[first:last], dtype=float), np.asarray(log.q[first:last], dtype=float), source)
