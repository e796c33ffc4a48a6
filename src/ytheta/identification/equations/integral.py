"""Integral form: the equations of motion integrated over time windows, so that no accelerations are needed.

Identity      ([W] from t0 to t + ∫ Yhat dt) beta / (t - t0) = ∫ tau dt / (t - t0)   one equation per joint and window
Reference     [ha1989] (36), Theorem 3 ii; W and Yhat are those of [lu1993] (30), (47)
Accepts       the robots that ``windows`` accepts
Notation      code      paper                      meaning                                      shape
              W         ∂F/∂qd                     momentum per unit of beta                    joints x base
              Yhat      -∂F/∂q, q, ∫ sgn(qd)       the rest of (36), under one integral         joints x base
              window    t - t0                     seconds
Window        In the paper t0 is fixed and t grows: a lasting error of tau then grows in all later equations, and each
              equation repeats the one before. Here windows follow each other, t of one being t0 of the next: every
              torque is used once, so that white torque noise leaves the equations independent. Neighbouring windows
              share one momentum; its noise enters both with opposite signs, the minimum for consecutive windows.
              A window divides the noise of W by its length, and multiplies motion of frequency f by sin(x) / x,
              x = pi f window. By default a window lasts a tenth of a second: motion up to 3 Hz keeps 85 %, and the
              noise of velocities is that of differences over a tenth of a second. It has at least 12 samples: logs
              are kept at 8 to 16 samples per period of their low-pass, and an average needs about one period.
Quadrature    Trapezoidal rule with the end corrections of Euler and Maclaurin, their derivatives from ``END_REACH``
              samples on either side of an end: exact for polynomials of degree 9, with almost equal weights, so that
              noise is averaged well. The weights of Newton-Cotes rules of that degree differ by a factor of 10.
Differs from  the paper in: windows; equations divided by their length, so that residuals are torques; the quadrature
              uses ``END_REACH`` samples beyond the window, which are lost at the ends of a segment
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.windows import Stencil, Terms, Windows
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import PerSample

DEFAULT_WINDOW = 0.1  # s
MIN_STEPS = 12  # of a window whose length is not given
END_REACH = 4
BERNOULLI = np.array([1 / 6, -1 / 30, 1 / 42, -1 / 30])  # B_2, …, B_(2 END_REACH)


@dataclass(frozen=True, eq=False)
class Integral:
    """The integral form; ``window`` in seconds, by default chosen as the module docstring says."""

    base: BaseParameters
    window: float | None = None

    def __post_init__(self) -> None:
        if self.window is not None and not 0.0 < self.window < np.inf:
            raise InputError(f"window is {self.window}; give its length in seconds, such as {DEFAULT_WINDOW}")
        _ = self._terms

    @property
    def name(self) -> str:
        return "integral"

    @property
    def layout(self) -> RegressorLayout:
        return self._terms.layout

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        return self._windows(rate).split(segment, length, size)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        hop = self.steps(rate)
        ends = Stencil(np.array([-1.0, 1.0]) * rate / hop, hop=1, start=END_REACH, step=hop)
        inside = Stencil(quadrature_weights(hop) / hop, hop=hop)
        yield self._terms.rows(motion, self._windows(rate).count(len(motion)), ends, inside)

    def steps(self, rate: float) -> int:
        """Sampling steps in a window."""
        if self.window is None:
            return max(MIN_STEPS, round(DEFAULT_WINDOW * rate))
        steps = round(self.window * rate)
        if steps < 1:
            raise InputError(f"a window of {self.window:g} s is shorter than the {1.0 / rate:.3g} s between samples")
        return steps

    def _windows(self, rate: float) -> Windows:
        hop = self.steps(rate)
        return Windows(span=hop + 1 + 2 * END_REACH, hop=hop)

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.base, self.name)


def quadrature_weights(steps: int) -> PerSample:
    """Weights of samples -END_REACH, …, steps + END_REACH for the integral from 0 to ``steps``."""
    weights = np.zeros(steps + 1 + 2 * END_REACH)
    inside = weights[END_REACH : len(weights) - END_REACH]
    inside += 1.0
    inside[[0, -1]] -= 0.5
    # ∫ f = trapezoids - sum_i B_2i / (2i)! (f^(2i-1)(end) - f^(2i-1)(start)), and f^(2i-1) from f(j) - f(-j)
    distance, order = np.arange(1, END_REACH + 1), np.arange(1, END_REACH + 1)
    correction = np.linalg.solve(2.0 * distance ** (2.0 * order[:, None] - 1), -BERNOULLI / (2 * order))
    for end, sign in ((END_REACH, -1.0), (END_REACH + steps, 1.0)):
        weights[end + distance] += sign * correction
        weights[end - distance] -= sign * correction
    return weights
