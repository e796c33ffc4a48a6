"""Filtered form: both sides of the equations of motion through one low-pass, which takes the derivative of W itself.

Identity      ((g' * W) + (g * Yhat)) beta = g * tau   with g the low-pass, g' its derivative and * a convolution
Reference     [lu1993] (47), remark 2: the filtered regressor of adaptive control; Slotine and Li, "Composite adaptive
              control of robot manipulators", Automatica 25 (1989), for a / (s + a) in the place of g
Accepts       what ``windows`` accepts
Notation      code     meaning
              g        the low-pass: a Gaussian, cut off where it has fallen to ``NEGLIGIBLE`` of its peak
              sigma    its width in samples
              corner   the frequency in Hz at which its gain is one half
Filter        a / (s + a) gives a (W - low-passed W) for the derivative: velocity noise of all frequencies passes with
              gain a, and the past fades so slowly that 28 / a seconds of it must be known. A Gaussian is what many such
              filters in a row become; it has no delay, passes no high frequencies at all, and is the shortest in time
              for its corner. NormalEquations over equal steps are exact for it, up to exp(-(2 pi sigma)² / 2): no scheme of
              discretisation stands between the two sides, and there is no recursion that would have to be started.
Corner        Unless given, 6 Hz, and at most rate / 20, that is sigma = 3.7 samples: the choice of ``integral``, whose
              windows of a tenth of a second, or 12 samples, have half their gain there.
Hop           Equations are kept every ``HOP`` sigma. Half as many again make results better by less than 1 % (measured
              on a UR10); two sigma lose up to a fifth. White torque noise correlates neighbours by exp(-HOP² / 4).
Differs from  the paper in: the filter, as said above; it looks to both sides, so it is for records and not for control
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.form import SampleRange
from ytheta.identification.equations.rows import RegressorLayout, EquationRows
from ytheta.identification.equations.windows import Stencil, Terms, Windows
from ytheta.logs.preparing.prepared_log import MotionSamples

CORNER = 6.0
FEWEST = 20.0  # samples per period of the corner, unless it is given
ENOUGH = 8.0  # samples per period of the corner, at least: sigma is then 1.5 samples, and sums are exact to 1e-15
HOP = 1.5
NEGLIGIBLE = 1e-12
_HALF = math.sqrt(2.0 * math.log(2.0)) / (2.0 * math.pi)  # corner times sigma


@dataclass(frozen=True, eq=False)
class Momentum:
    """The form that filters instead of differentiating; ``corner`` in Hz, or chosen as the module docstring says."""

    base: BaseParameters
    corner: float | None = None

    def __post_init__(self) -> None:
        if self.corner is not None and not 0.0 < self.corner < math.inf:
            raise InputError(f"a corner at {self.corner} Hz; give a frequency above 0, such as {CORNER:g}")
        _ = self._terms

    @property
    def name(self) -> str:
        return "momentum"

    @property
    def layout(self) -> RegressorLayout:
        return self._terms.layout

    def pieces(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        return self._windows(rate).pieces(segment, length, size)

    def rows(self, motion: MotionSamples, piece: SampleRange, rate: float) -> Iterator[EquationRows]:
        del piece
        windows, sigma = self._windows(rate), self.width(rate)
        k = np.arange(windows.span) - windows.span // 2
        g = np.exp(-0.5 * (k / sigma) ** 2)
        g /= g.sum()
        slope = Stencil(g * k * rate / sigma**2, hop=windows.hop)  # of g(t - s) by t, at s = k
        yield self._terms.rows(motion, windows.count(len(motion)), slope, Stencil(g, hop=windows.hop))

    def width(self, rate: float) -> float:
        """sigma in samples."""
        corner = min(CORNER, rate / FEWEST) if self.corner is None else self.corner
        if corner * ENOUGH > rate:
            raise InputError(
                f"a corner at {corner:g} Hz is too high for {rate:g} samples per second; choose at most "
                f"{rate / ENOUGH:g} Hz"
            )
        return _HALF * rate / corner

    def _windows(self, rate: float) -> Windows:
        sigma = self.width(rate)
        reach = math.ceil(sigma * math.sqrt(-2.0 * math.log(NEGLIGIBLE)))
        return Windows(span=2 * reach + 1, hop=max(1, round(HOP * sigma)))

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.base, self.name)
