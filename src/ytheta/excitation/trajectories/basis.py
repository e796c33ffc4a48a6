"""The interface of a family of periodic functions of time: values and derivatives are linear in coefficients."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.shapes import Float, PerInstant

POSITION, VELOCITY, ACCELERATION, JERK = range(4)  # orders of derivatives
MIN_PERIOD, MAX_PERIOD = 1e-6, 1e9  # s; beyond, derivatives could exceed the range of numbers


@runtime_checkable
class Basis(Protocol):
    """Periodic functions of time, spanned by ``size`` functions.

    ``name`` is the name of the parametrisation, ``period`` is in s.
    """

    @property
    def name(self) -> str: ...
    @property
    def period(self) -> float: ...
    @property
    def size(self) -> int: ...

    def evaluate(self, t: PerInstant, order: int) -> Float[np.ndarray, "instants coefficients"]:
        """Return the derivative of this order of all functions at the times t, s."""

    def bound(self, coefficients: Float[np.ndarray, "coefficients joints"], order: int) -> Float[np.ndarray, "joints"]:
        """Return upper bounds, for all times, of the absolute derivative of this order of each joint's motion."""

    def retime(self, period: float) -> Basis:
        """Return the same functions of the phase with another period."""
