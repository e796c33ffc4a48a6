"""Periodic quintic B-splines through via-points.

Identity      q(t_k) = c_k,  t_k = k period / n,  k = 0 … n - 1;  four continuous derivatives everywhere
Notation      coefficients   the via-points c_k, one column per joint
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline as SplineFunction
from scipy.interpolate import make_interp_spline

from ytheta.shapes import Float, PerInstant, PerJoint

DEGREE = 5  # jerk, the third derivative, is smooth


@dataclass(frozen=True)
class BSpline:
    """B-splines through ``via_points`` equally spaced points per period."""

    period: float
    via_points: int

    @property
    def name(self) -> str:
        return "b-spline"

    @property
    def size(self) -> int:
        return self.via_points

    def evaluate(self, t: PerInstant, order: int) -> Float[np.ndarray, "instants coefficients"]:
        values = self._cardinal.derivative(order)(np.mod(np.asarray(t) / self.period, 1.0))
        return np.asarray(values) / self.period**order

    def bound(self, coefficients: Float[np.ndarray, "coefficients joints"], order: int) -> PerJoint:
        # A spline is a convex combination of its control points, and its derivatives are splines too.
        control_points = np.asarray(self._cardinal.derivative(order).c) @ coefficients
        return abs(control_points).max(axis=0) / self.period**order

    def retime(self, period: float) -> BSpline:
        return replace(self, period=period)

    @cached_property
    def _cardinal(self) -> SplineFunction:
        """The splines of the phase, from 0 to 1, that are one at one via-point and zero at all others."""
        phase = np.linspace(0.0, 1.0, self.via_points + 1)
        values = np.eye(self.via_points)[[*range(self.via_points), 0]]
        return make_interp_spline(phase, values, k=DEGREE, bc_type="periodic")
