"""Integral form: the equations of motion integrated over windows of time, so that nothing need be differentiated twice.

Identity      ([W] from t0 to t + ∫ Yhat dt) beta / (t - t0) = ∫ tau dt / (t - t0)   one equation per joint and window
Reference     [ha1989] (36), Theorem 3 ii; W and Yhat are those of [lu1993] (30), (47)
Accepts       what ``windows`` accepts
Notation      code      paper                      meaning                                      shape
              W         ∂F/∂qd                     momentum per unit of beta                    joints x base
              Yhat      -∂F/∂q, q, ∫ sgn(qd)       all else of (36) under one integral          joints x base
              window    t - t0                     seconds
Window        The paper lets t0 stand and t grow; an error of tau that lasts then grows in all later equations, and each
              of them repeats the one before. Here windows follow each other, t of one being t0 of the next: every
              torque is used once, so white torque noise leaves the equations independent. Neighbours share the momentum
              between them; its noise counts once with either sign, which is the least that consecutive windows allow.
              Noise of W is divided by the length of a window, and motion of frequency f by sin(x) / x, x = pi f window.
              Unless given, a window lasts a tenth of a second: motion up to 3 Hz keeps 85 %, and noise of velocities is
              that of differences over a tenth of a second. It has 12 samples at least: logs are kept at 8 to 16 samples
              per period of their low-pass, and over less than about one period there is nothing to average.
Quadrature    Trapezoids with the end corrections of Euler and Maclaurin, their derivatives from ``REACH`` samples to
              either side of an end: exact for polynomials of degree 9, with almost equal weights, so that noise is
              averaged as well as can be. Newton-Cotes rules of that degree weigh neighbours 1 to 10.
Differs from  the paper in: windows; equations divided by their length, so that residuals are torques; quadrature
              looks at ``REACH`` samples beyond the window, which costs as many at the ends of a segment
"""

from __future__ import annotations

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
from ytheta.shapes import Float

SECONDS = 0.1
FEWEST = 12
REACH = 4
BERNOULLI = np.array([1 / 6, -1 / 30, 1 / 42, -1 / 30])  # B_2, …, B_(2 REACH)


@dataclass(frozen=True, eq=False)
class Integral:
    """The form that needs no accelerations; ``window`` in seconds, or chosen as the module docstring says."""

    base: BaseParameters
    window: float | None = None

    def __post_init__(self) -> None:
        if self.window is not None and not 0.0 < self.window < np.inf:
            raise InputError(f"a window of {self.window} s; give its length in seconds, such as {SECONDS}")
        _ = self._terms

    @property
    def name(self) -> str:
        return "integral"

    @property
    def layout(self) -> RegressorLayout:
        return self._terms.layout

    def pieces(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        return self._windows(rate).pieces(segment, length, size)

    def rows(self, motion: MotionSamples, piece: SampleRange, rate: float) -> Iterator[EquationRows]:
        del piece
        hop = self.steps(rate)
        ends = Stencil(np.array([-1.0, 1.0]) * rate / hop, hop=1, start=REACH, step=hop)
        inside = Stencil(quadrature(hop) / hop, hop=hop)
        yield self._terms.rows(motion, self._windows(rate).count(len(motion)), ends, inside)

    def steps(self, rate: float) -> int:
        """Sampling steps in a window."""
        if self.window is None:
            return max(FEWEST, round(SECONDS * rate))
        steps = round(self.window * rate)
        if steps < 1:
            raise InputError(f"a window of {self.window:g} s is shorter than the {1.0 / rate:.3g} s between samples")
        return steps

    def _windows(self, rate: float) -> Windows:
        hop = self.steps(rate)
        return Windows(span=hop + 1 + 2 * REACH, hop=hop)

    @cached_property
    def _terms(self) -> Terms:
        return Terms(self.base, self.name)


def quadrature(steps: int) -> Float[np.ndarray, "samples"]:
    """Weights of samples -REACH, …, steps + REACH whose sum is the integral from 0 to ``steps``."""
    weights = np.zeros(steps + 1 + 2 * REACH)
    inside = weights[REACH : len(weights) - REACH]
    inside += 1.0
    inside[[0, -1]] -= 0.5
    # ∫ f = trapezoids - sum_i B_2i / (2i)! (f^(2i-1)(end) - f^(2i-1)(start)), and f^(2i-1) from f(j) - f(-j)
    distance, order = np.arange(1, REACH + 1), np.arange(1, REACH + 1)
    correction = np.linalg.solve(2.0 * distance ** (2.0 * order[:, None] - 1), -BERNOULLI / (2 * order))
    for at, sign in ((REACH, -1.0), (REACH + steps, 1.0)):
        weights[at + distance] += sign * correction
        weights[at - distance] -= sign * correction
    return weights
