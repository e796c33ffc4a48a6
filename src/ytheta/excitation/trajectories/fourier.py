"""Finite Fourier series.

Identity      q(t) = c_0 + sum_k (a_k sin(k w t) + b_k cos(k w t)),  w = 2 pi / period,  k = 1 … harmonics
Notation      coefficients   (c_0, a_1 … a_n, b_1 … b_n), one column per joint
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ytheta.shapes import Float, PerInstant, PerJoint


@dataclass(frozen=True)
class Fourier:
    """Fourier series with ``harmonics`` multiples of the base frequency 1 / ``period``."""

    period: float
    harmonics: int

    @property
    def name(self) -> str:
        return "fourier"

    @property
    def size(self) -> int:
        return 2 * self.harmonics + 1

    def evaluate(self, t: PerInstant, order: int) -> Float[np.ndarray, "instants coefficients"]:
        w = self._frequencies
        # The derivative of order n of sin(x) is sin(x + n pi / 2), and that of cos(x) is sin(x + (n + 1) pi / 2).
        waves = [w**order * np.sin(np.outer(t, w) + 0.5 * np.pi * (order + shift)) for shift in (0, 1)]
        constant = np.full((len(t), 1), 0.0 if order else 1.0)
        return np.concatenate([constant, *waves], axis=1)

    def bound(self, coefficients: Float[np.ndarray, "coefficients joints"], order: int) -> PerJoint:
        sines, cosines = np.split(coefficients[1:], 2)
        waves = self._frequencies**order @ np.hypot(sines, cosines)
        return waves if order else waves + abs(coefficients[0])

    def retime(self, period: float) -> Fourier:
        return replace(self, period=period)

    @property
    def _frequencies(self) -> Float[np.ndarray, "harmonics"]:
        return 2.0 * np.pi / self.period * np.arange(1.0, self.harmonics + 1.0)
