"""Trajectory: periodic motion of all actuated coordinates, which starts and ends at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.arguments import check_number, is_positive
from ytheta.errors import InputError
from ytheta.excitation.trajectories.b_spline import BSpline
from ytheta.excitation.trajectories.basis import ACCELERATION, JERK, MAX_PERIOD, MIN_PERIOD, POSITION, VELOCITY, Basis
from ytheta.excitation.trajectories.fourier import Fourier
from ytheta.shapes import Float, InstantsByJoint, PerInstant, PerJoint, freeze


@dataclass(frozen=True, eq=False)
class SampledTrajectory:
    """Motion at the times ``t``: one row per time and one column per actuated coordinate, in SI units."""

    t: PerInstant
    q: InstantsByJoint
    qd: InstantsByJoint
    qdd: InstantsByJoint
    jerk: InstantsByJoint


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Periodic motion. Before t = 0 and after the last period, it stays at the start pose.

    Attributes
    ----------
    joints        names of the actuated coordinates
    basis         Fourier series or B-splines, with the period in s
    periods       number of periods
    coefficients  coefficients of the basis, one column per joint; see ``fourier`` and ``b_spline``
    seconds       duration
    base_frequency
                  number of periods per second, Hz
    start         pose at the start and at the end
    """

    joints: tuple[str, ...]
    basis: Fourier | BSpline
    periods: int
    coefficients: Float[np.ndarray, "coefficients joints"]

    def __post_init__(self) -> None:
        freeze(self.coefficients)

    @property
    def seconds(self) -> float:
        return self.periods * self.basis.period

    @property
    def base_frequency(self) -> float:
        return 1.0 / self.basis.period

    @property
    def start(self) -> PerJoint:
        return self._derive(np.zeros(1), POSITION)[0]

    def evaluate(self, t: PerInstant | float) -> SampledTrajectory:
        """Return position, velocity, acceleration and jerk at these times, s; one time gives one row."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        moves = ((times >= 0.0) & (times <= self.seconds))[:, None]
        inside = np.where(moves[:, 0], times, 0.0)
        q = self._derive(inside, POSITION)
        qd, qdd, jerk = (np.where(moves, self._derive(inside, order), 0.0) for order in (VELOCITY, ACCELERATION, JERK))
        return SampledTrajectory(times, q, qd, qdd, jerk)

    def __call__(self, t: PerInstant | float) -> tuple[InstantsByJoint, InstantsByJoint, InstantsByJoint]:
        """Return q, qd and qdd, as reference trajectories of ``simulate`` do; t is an array of times, s."""
        motion = self.evaluate(t)
        return motion.q, motion.qd, motion.qdd

    def sample_period(self, points: int) -> SampledTrajectory:
        """Return ``points`` equally spaced samples of one period."""
        return self.evaluate(np.arange(points) * (self.basis.period / points))

    def slow_down(self, factor: float) -> Trajectory:
        """Return the same path, passed ``factor`` times as slowly: the period is multiplied by this number."""
        factor = check_number("factor", factor, "a positive number, such as 2 for half the speed", allow=is_positive)
        period = self.basis.period * factor
        if not MIN_PERIOD <= period <= MAX_PERIOD:
            raise InputError(
                f"factor is {factor:g}, with which a period takes {period:g} s; give a factor with which it takes "
                f"{MIN_PERIOD:g} to {MAX_PERIOD:g} s"
            )
        return replace(self, basis=self.basis.retime(period))

    def order_joints(self, joints: Sequence[str]) -> Trajectory:
        """Return the same motion with its joints in this order; they must be the same ones."""
        unknown = [name for name in self.joints if name not in joints]
        missing = [name for name in joints if name not in self.joints]
        if unknown or missing:
            parts = [f"moves {', '.join(unknown)}, which the robot does not actuate"] if unknown else []
            parts += [f"lacks {', '.join(missing)}"] if missing else []
            raise InputError(f"the trajectory {' and '.join(parts)}; name a trajectory of this robot")
        columns = [self.joints.index(name) for name in joints]
        return replace(self, joints=tuple(joints), coefficients=self.coefficients[:, columns])

    def bound(self, order: int) -> PerJoint:
        """Return upper bounds, for all times, of the absolute derivative of this order of each joint."""
        return self.basis.bound(self.coefficients, order)

    def __repr__(self) -> str:
        return (
            f"Trajectory({self.basis.name}, {self.seconds:g} s, {self.periods} × {self.basis.period:g} s, "
            f"{len(self.joints)} joints)"
        )

    def _derive(self, t: PerInstant, order: int) -> InstantsByJoint:
        basis: Basis = self.basis
        return basis.evaluate(t, order) @ self.coefficients
