"""A form of the model: how a stretch of motion becomes equations that are linear in beta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.rows import RegressorLayout, EquationRows
from ytheta.logs.preparing.prepared_log import MotionSamples


@dataclass(frozen=True)
class SampleRange:
    """Samples ``first:last`` of a segment; the first ``lead`` of them only serve those after them."""

    segment: int
    first: int
    last: int
    lead: int = 0


@runtime_checkable
class Form(Protocol):
    """Pieces are independent of each other: their rows, put together, are the same however a log is cut into them."""

    @property
    def base(self) -> BaseParameters: ...
    @property
    def name(self) -> str: ...
    @property
    def layout(self) -> RegressorLayout: ...
    def pieces(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        """What to work on in a segment of ``length`` samples, about ``size`` samples at a time."""

    def rows(self, motion: MotionSamples, piece: SampleRange, rate: float) -> Iterator[EquationRows]:
        """The equations of a piece."""
