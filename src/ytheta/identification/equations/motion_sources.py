"""Where motion comes from, in samples at equal steps: a log that is prepared piece by piece, or finished arrays.

A piece is wanted by segment and range of samples; it is the same whatever other pieces are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.filters import Span
from ytheta.logs.preparing.prepared_log import MotionSamples, prepare_span
from ytheta.logs.preparing.preparation import Preparation
from ytheta.shapes import Bool


@runtime_checkable
class Source(Protocol):
    """Segments of motion; nothing is known of what happened between them."""

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
    """A log and the preparation of its preparation; ``drive_directions`` are the drives whose directions are wanted.

    ``still`` is true for joints that are held: what their encoders show is noise, and no motion to learn from.
    """

    preparation: Preparation
    drive_directions: DriveDirections | None = None
    still: Bool[np.ndarray, "joints"] | None = None

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
        """Kept samples of every segment; none where a segment is shorter than what is cut off at its ends."""
        preparation = self.preparation
        usable = (preparation.grid.length(preparation.log, segment) - 2 * preparation.trimmed for segment in preparation.log.segments)
        return tuple(max(0, -(-length // preparation.decimate)) for length in usable)

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        preparation, step = self.preparation, self.preparation.decimate
        rows = preparation.log.segments[segment]
        length = preparation.grid.length(preparation.log, rows)
        begin, end = preparation.trimmed + first * step, min(preparation.trimmed + last * step, length - preparation.trimmed)
        margin = preparation.smoother.memory * (1 if self.drive_directions is None else 2)
        span = Span(begin, end, max(0, begin - margin), min(length, end + margin))
        motion = prepare_span(preparation, rows, span, self._turning)
        if self.still is None or not self.still.any():
            return motion
        moves = ~self.still
        return replace(motion, qd=motion.qd * moves, qdd=motion.qdd * moves)

    @cached_property
    def _turning(self) -> DriveDirections | None:
        if self.drive_directions is None or self.still is None:
            return self.drive_directions
        return replace(self.drive_directions, rates=self.drive_directions.rates * ~self.still)


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Motion that needs no preparation: simulated, or prepared elsewhere. ``segments`` are ranges of its samples."""

    whole: MotionSamples
    rate: float
    segments: tuple[tuple[int, int], ...] = ()
    name: str = "motion"

    def __post_init__(self) -> None:
        if not self.segments:
            object.__setattr__(self, "segments", ((0, len(self.whole)),))
        for array in (self.whole.q, self.whole.qd, self.whole.qdd, self.whole.tau):
            if array is not None and not np.isfinite(array).all():
                raise InputError(f"{self.name}: there are values that are not finite; drop those samples")

    @property
    def has_torque(self) -> bool:
        return self.whole.tau is not None

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(last - first for first, last in self.segments)

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        start = self.segments[segment][0]
        return self.whole.select(start + first, start + last)
