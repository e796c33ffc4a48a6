"""Cumulative form: the equations of motion integrated from a fixed time t0, the start of a segment, to growing times t.

Identity      ([W] from t0 to t_k + ∫ Yhat dt) beta = ∫ tau dt   one equation per joint and time t_k = t0 + k · window
Reference     [ha1989] (36) as printed; in sec. III, t0 = 0 and t_k - t_{k-1} = 0.5 s
Accepts       the robots that ``windows`` accepts
Notation      as in ``integral``, whose quadrature is used: the integral to t_k is that to t_{k-1} plus one window
Noise         An error of tau accumulates: equation k contains the noise of all samples before t_k, so the equations are
              strongly correlated, and a constant error of tau grows with t. ``integral`` avoids both. Residuals are in
              Nm s or N s, and standard deviations are only approximate.
Memory        The motion of a whole segment is prepared at once, because its first sample is part of every equation.
Differs from  the paper in: the quadrature uses ``END_REACH`` samples before t0 and after t, which are lost at the ends
              of a segment; the integral of viscous friction is that of b qd, not b (q(t) - q(t0)), see ``regrouping``
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.windowed.integral import Integral
from ytheta.identification.equations.windowed.windows import Terms
from ytheta.logs.preparing.prepared_log import MotionSamples


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
