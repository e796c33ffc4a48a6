"""Momentum form: both sides of the equations of motion are low-passed; differentiating the filter replaces dW/dt.

Identity      ((g' * W) + (g * Yhat)) beta = g * tau   with g the low-pass, g' its derivative and * a convolution
Reference     [lu1993] (47), remark 2: the filtered regressor of adaptive control; Slotine and Li, "Composite adaptive
              control of robot manipulators", Automatica 25 (1989), with a / (s + a) instead of g
Accepts       the robots that ``windows`` accepts
Notation      code     meaning
              g        the low-pass: a Gaussian, truncated at ``TRUNCATION`` times its peak
              sigma    standard deviation of the Gaussian, in samples
              corner   the frequency in Hz at which the gain of g is one half
Filter        With a / (s + a), the derivative of W becomes a·(W - low-passed W): velocity noise of all frequencies
              passes with gain a, and the response of the filter decays so slowly that 28 / a seconds of past motion
              are needed. A cascade of many such filters approaches a Gaussian. The Gaussian used here has no delay,
              removes high frequencies, and is the shortest in time for its corner. Sums of the Gaussian over equal time
              steps equal its integral up to exp(-(2·pi·sigma)² / 2). Both sides are therefore discretized alike, and no
              initial values are needed.
Corner        The default is 6 Hz, or rate / 20 if that is lower; at rate / 20, sigma is 3.7 samples. At 6 Hz the gain
              of the default windows of ``integral`` is one half too.
Hop           Equations are ``HOP`` sigma apart. With 50 % more equations, results improve by less than 1 % (measured on
              a UR10); with a hop of two sigma, they are worse by up to a fifth. White torque noise gives neighbouring
              equations a correlation of exp(-HOP² / 4).
Differs from  the paper in: the filter, as described above. The filter is not causal: it suits logs, but not control
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.windows import Stencil, Terms, Windows
from ytheta.logs.preparing.prepared_log import MotionSamples

# Corner frequency of the low-pass in Hz. Chosen on: rule of thumb.
DEFAULT_CORNER = 6.0
# Samples per period of the default corner, which is lowered for logs with fewer. Chosen on: rule of thumb.
MIN_DEFAULT_SAMPLES_PER_PERIOD = 20.0
# Samples per period of the highest corner that is accepted. Chosen on: reasoning; there sigma is 1.5 samples, and
# sums are exact to 1e-15.
MIN_SAMPLES_PER_PERIOD = 8.0
# Distance of neighbouring equations, in units of sigma. Chosen on: rule of thumb.
HOP = 1.5
# Value of the Gaussian at which it is truncated, relative to its peak. Chosen on: reasoning; far below the noise of
# any log.
TRUNCATION = 1e-12
# Corner frequency of a Gaussian low-pass times its standard deviation. Fixed by: its gain of one half at the corner.
CORNER_TIMES_SIGMA = math.sqrt(2.0 * math.log(2.0)) / (2.0 * math.pi)


@dataclass(frozen=True, eq=False)
class Momentum:
    """The momentum form; ``corner`` is in Hz. The module docstring describes the default corner."""

    base: ModelParameters
    corner: float | None = None

    def __post_init__(self) -> None:
        if self.corner is not None and not 0.0 < self.corner < math.inf:
            raise InputError(f"corner is {self.corner} Hz; give a frequency above 0, such as {DEFAULT_CORNER:g}")
        _ = self._terms

    @property
    def name(self) -> str:
        return "momentum"

    @property
    def layout(self) -> RegressorLayout:
        return self._terms.layout

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        return self._make_windows(rate).split(segment, length, size)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        windows, sigma = self._make_windows(rate), self.compute_width(rate)
        k = np.arange(windows.span) - windows.span // 2
        g = np.exp(-0.5 * (k / sigma) ** 2)
        g /= g.sum()
        slope = Stencil(g * k * rate / sigma**2, hop=windows.hop)  # d/dt of g(t - s) at s = k
        yield self._terms.rows(motion, windows, slope, Stencil(g, hop=windows.hop))

    def compute_width(self, rate: float) -> float:
        """Return sigma, in samples."""
        default = min(DEFAULT_CORNER, rate / MIN_DEFAULT_SAMPLES_PER_PERIOD)
        corner = default if self.corner is None else self.corner
        if corner * MIN_SAMPLES_PER_PERIOD > rate:
            raise InputError(
                f"a corner at {corner:g} Hz is too high for {rate:g} samples per second; choose at most "
                f"{rate / MIN_SAMPLES_PER_PERIOD:g} Hz"
            )
        return CORNER_TIMES_SIGMA * rate / corner

    def _make_windows(self, rate: float) -> Windows:
        sigma = self.compute_width(rate)
        reach = math.ceil(sigma * math.sqrt(-2.0 * math.log(TRUNCATION)))
        return Windows(span=2 * reach + 1, hop=max(1, round(HOP * sigma)))

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.base, self.name)
