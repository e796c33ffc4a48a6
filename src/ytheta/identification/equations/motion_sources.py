"""Sources of motion with equal time steps: logs that are prepared piece by piece, and arrays.

Motion is requested by segment and range of samples. The motion of a sample does not depend on the requested range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.prepared_log import MotionSamples, prepare_span
from ytheta.shapes import Bool


@runtime_checkable
class Source(Protocol):
    """Segments of motion, each without gaps."""

    @property
    def name(self) -> str: ...
    @property
    def rate(self) -> float: ...
    @property
    def lengths(self) -> tuple[int, ...]: ...
    @property
    def has_torque(self) -> bool: ...
    def motion(self, segment: int, first: int, last: int) -> MotionSamples: ...


@dataclass(frozen=True, eq=False)
class LogSource:
    """A log and its preparation.

    ``directions``: how the low-passed signs of the drive velocities are computed; None if they are not needed.
    ``held``: True for joints that do not move; the velocities and accelerations of these joints are only noise and are
    set to zero.
    """

    preparation: Preparation
    directions: DriveDirections | None = None
    held: Bool[np.ndarray, "joints"] | None = None

    @property
    def name(self) -> str:
        return self.preparation.log.source or "log"

    @property
    def rate(self) -> float:
        return self.preparation.rate

    @property
    def has_torque(self) -> bool:
        return self.preparation.log.tau is not None

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The number of kept samples of every segment; 0 if nothing remains after trimming the ends of the segment."""
        preparation = self.preparation
        lengths = (preparation.grid.count_samples(preparation.log, segment) for segment in preparation.log.segments)
        return tuple(
            max(0, -(-(length - 2 * preparation.trimmed_samples) // preparation.decimate)) for length in lengths
        )

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        preparation, step, trimmed = self.preparation, self.preparation.decimate, self.preparation.trimmed_samples
        rows = preparation.log.segments[segment]
        length = preparation.grid.count_samples(preparation.log, rows)
        begin, end = trimmed + first * step, min(trimmed + last * step, length - trimmed)
        margin = preparation.differentiator.memory * (1 if self.directions is None else 2)
        span = Span(begin, end, max(0, begin - margin), min(length, end + margin))
        motion = prepare_span(preparation, rows, span, self._moving_directions)
        if self.held is None or not self.held.any():
            return motion
        moves = ~self.held
        return replace(motion, qd=motion.qd * moves, qdd=motion.qdd * moves)

    @cached_property
    def _moving_directions(self) -> DriveDirections | None:
        if self.directions is None or self.held is None:
            return self.directions
        return replace(self.directions, rates=self.directions.rates * ~self.held)


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Motion that needs no preparation, such as simulated motion. ``segments`` are ranges of samples."""

    whole: MotionSamples
    rate: float
    segments: tuple[tuple[int, int], ...] = ()
    name: str = "motion"

    def __post_init__(self) -> None:
        if not self.segments:
            object.__setattr__(self, "segments", ((0, len(self.whole)),))
        for array in (self.whole.q, self.whole.qd, self.whole.qdd, self.whole.tau):
            if array is not None and not np.isfinite(array).all():
                raise InputError(f"{self.name}: some values are not finite; drop those samples")

    @property
    def has_torque(self) -> bool:
        return self.whole.tau is not None

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(last - first for first, last in self.segments)

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        start = self.segments[segment][0]
        return self.whole.select(start + first, start + last)
