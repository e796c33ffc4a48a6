"""Integral form: the equations of motion integrated over time windows, so that no accelerations are needed.

Identity      ([W] from t0 to t + ∫ Yhat dt) beta / (t - t0) = ∫ tau dt / (t - t0)   one equation per joint and window
Reference     [ha1989] (36), Theorem 3 ii; W and Yhat are those of [lu1993] (30), (47)
Accepts       the robots that ``windows`` accepts
Notation      code      paper                      meaning                                      shape
              W         ∂F/∂qd                     momentum per unit of beta                    joints x base
              Yhat      -∂F/∂q, q, ∫ sgn(qd)       the rest of (36), under one integral         joints x base
              window    t - t0                     length of a window, in seconds
Window        In the paper t0 is fixed and t grows: a constant error of tau then accumulates in later equations, and
              each equation repeats the data of the equation before. Here windows follow each other: t of one window
              is t0 of the next. Every torque is used once, so white torque noise leaves the equations independent.
              Neighbouring windows share the momentum at their common end; its noise enters both equations with
              opposite signs. An equation contains the noise of W divided by the length of the window, and motion of
              frequency f multiplied by sin(x) / x, x = pi·f·window. By default a window lasts a tenth of a second:
              motion up to 3 Hz keeps 85 % of its amplitude, and the noise of W has the effect of a difference quotient
              with a step of a tenth of a second. A window has at least 12 steps, because logs are decimated to 8 to 16
              samples per period of the cut-off, and a window should cover about one period.
Quadrature    Trapezoidal rule with the end corrections of Euler and Maclaurin. The derivatives at an end are computed
              from ``END_REACH`` samples on each side of the end. The rule is exact for polynomials of degree 9, and its
              weights are almost equal, so that noise is averaged well. The weights of Newton-Cotes rules of that
              degree differ by a factor of 10.
Differs from  the paper in: windows; equations divided by the window, so that residuals are torques; the quadrature
              uses ``END_REACH`` samples beyond the window, which are lost at the ends of a segment
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.windows import Stencil, Terms, Windows
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import PerSample

# Length of the windows in s. Chosen on: rule of thumb.
DEFAULT_WINDOW = 0.1
# Smallest number of steps in a window of default length. Chosen on: rule of thumb.
MIN_STEPS = 12
# Number of samples on each side of a window's end that the end correction uses. Chosen on: rule of thumb.
END_REACH = 4
# Bernoulli numbers B_2, …, B_(2 END_REACH). Fixed by: the Euler-Maclaurin formula.
BERNOULLI = np.array([1 / 6, -1 / 30, 1 / 42, -1 / 30])


@dataclass(frozen=True, eq=False)
class Integral:
    """The integral form; ``window`` is in seconds. The module docstring describes the default window."""

    base: ModelParameters
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
        return self._make_windows(rate).split(segment, length, size)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        hop = self.count_steps(rate)
        ends = Stencil(np.array([-1.0, 1.0]) * rate / hop, hop=1, start=END_REACH, step=hop)
        inside = Stencil(compute_quadrature_weights(hop) / hop, hop=hop)
        yield self._terms.rows(motion, self._make_windows(rate), ends, inside)

    def count_steps(self, rate: float) -> int:
        """Return the number of sampling steps in a window."""
        if self.window is None:
            return max(MIN_STEPS, round(DEFAULT_WINDOW * rate))
        steps = round(self.window * rate)
        if steps < 1:
            raise InputError(f"a window of {self.window:g} s is shorter than the {1.0 / rate:.3g} s between samples")
        return steps

    def _make_windows(self, rate: float) -> Windows:
        hop = self.count_steps(rate)
        return Windows(span=hop + 1 + 2 * END_REACH, hop=hop)

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.base, self.name)


def compute_quadrature_weights(steps: int) -> PerSample:
    """Return the weights of samples -END_REACH, …, steps + END_REACH for the integral from 0 to ``steps``."""
    weights = np.zeros(steps + 1 + 2 * END_REACH)
    inside = weights[END_REACH : len(weights) - END_REACH]
    inside += 1.0
    inside[[0, -1]] -= 0.5
    # ∫ f = trapezoids - sum_i B_2i / (2i)! (f^(2i-1)(end) - f^(2i-1)(start)), with f^(2i-1) computed from f(j) - f(-j)
    distance, order = np.arange(1, END_REACH + 1), np.arange(1, END_REACH + 1)
    correction = np.linalg.solve(2.0 * distance ** (2.0 * order[:, None] - 1), -BERNOULLI / (2 * order))
    for end, sign in ((END_REACH, -1.0), (END_REACH + steps, 1.0)):
        weights[end + distance] += sign * correction
        weights[end - distance] -= sign * correction
    return weights


# Cumulative form: the equations of motion integrated from a fixed time t0, the start of a segment, to growing times t.
#
# Identity      ([W] from t0 to t_k + ∫ Yhat dt) beta = ∫ tau dt   one equation per joint and time t_k = t0 + k · window
# Reference     [ha1989] (36) as printed; in sec. III, t0 = 0 and t_k - t_{k-1} = 0.5 s
# Accepts       the robots that ``windows`` accepts
# Notation      as in ``integral``, whose quadrature is used: the integral to t_k is that to t_{k-1} plus one window
# Noise         An error of tau accumulates: equation k contains the noise of all samples before t_k, so the equations
#               are strongly correlated, and a constant error of tau grows with t. ``integral`` avoids both. Residuals
#               are in Nm s or N s, and standard deviations are only approximate.
# Memory        The motion of a whole segment is prepared at once, because its first sample is part of every equation.
# Differs from  the paper in: the quadrature uses ``END_REACH`` samples before t0 and after t, which are lost at the
#               ends of a segment; the integral of viscous friction is that of b qd, not b (q(t) - q(t0)), see
#               ``regrouping``


@dataclass(frozen=True, eq=False)
class Cumulative:
    """The cumulative form; ``window`` is the time in seconds between the ends of two integrals.

    The default is that of ``Integral``.
    """

    base: ModelParameters
    window: float | None = None

    def __post_init__(self) -> None:
        _ = Terms(self.base, self.name), self._integral  # both check the robot, the first one with the right name

    @property
    def name(self) -> str:
        return "cumulative"

    @property
    def layout(self) -> RegressorLayout:
        return self._integral.layout

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        """Yield the whole segment, if it is as long as a window."""
        del size
        ranges = list(self._integral.split(segment, length, rate, length))
        if ranges:
            yield SampleRange(segment, ranges[0].first, ranges[-1].last)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        seconds = self._integral.count_steps(rate) / rate  # the rows of ``integral`` are divided by this time
        for rows in self._integral.rows(motion, rate):
            values, tau = (seconds * np.cumsum(array, axis=1) for array in (rows.values, rows.tau))
            yield EquationRows(values, tau, hop=rows.hop)

    @cached_property
    def _integral(self) -> Integral:
        return Integral(self.base, self.window)
