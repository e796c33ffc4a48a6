"""Trajectory: periodic motion of all actuated coordinates, which starts and ends at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from scipy.interpolate import BSpline as SplineFunction
from scipy.interpolate import make_interp_spline
from scipy.linalg import null_space

from ytheta.arguments import check_number, is_positive
from ytheta.errors import InputError
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
        return self.derive(np.zeros(1), POSITION)[0]

    def evaluate(self, t: PerInstant | float) -> SampledTrajectory:
        """Return position, velocity, acceleration and jerk at these times, s; one time gives one row."""
        times = np.atleast_1d(np.asarray(t, dtype=float))
        moves = ((times >= 0.0) & (times <= self.seconds))[:, None]
        inside = np.where(moves[:, 0], times, 0.0)
        q = self.derive(inside, POSITION)
        qd, qdd, jerk = (np.where(moves, self.derive(inside, order), 0.0) for order in (VELOCITY, ACCELERATION, JERK))
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

    def derive(self, t: PerInstant, order: int) -> InstantsByJoint:
        """Return the derivative of this order at times during the motion."""
        basis: Basis = self.basis
        return basis.evaluate(t, order) @ self.coefficients


# Trajectories that start and end at rest: linear maps from free unknowns to motion.
#
# Identity      coefficients = origin + (Z x) · scale,   qd(0) = qdd(0) = 0 for every x, and q(0) = start if it is given
# Notation      code     meaning                                                                 shape
#               x        unknowns, one column per joint                                          unknowns joints
#               Z        null space of the conditions of rest, orthonormal columns               coefficients unknowns
#               origin   coefficients of a motionless joint at ``center``, or at the start pose  coefficients joints
#               scale    half the range of each joint, so that all unknowns have similar sizes   joints
#
# With a period that ends where it began, rest at the start is rest at the end. A Fourier series with n harmonics has
# 2 n - 1 unknowns per joint, and 2 n - 2 with a given start pose.


Unknowns = Float[np.ndarray, "unknowns joints"]
Motion = Float[np.ndarray, "4 instants joints"]


# The interface of a family of periodic functions of time: values and derivatives are linear in coefficients.


POSITION, VELOCITY, ACCELERATION, JERK = range(4)  # Orders of derivatives. Fixed by: mathematics.

ORDERS = (POSITION, VELOCITY, ACCELERATION, JERK)


@dataclass(frozen=True, eq=False)
class RestToRest:
    """All trajectories of one basis that start and end at rest.

    Attributes
    ----------
    joints   names of the actuated coordinates
    basis    Fourier series or B-splines
    periods  number of periods
    center   the pose about which trajectories shrink; the start pose if that is given
    scale    typical size of the motion of each joint
    starts_at_center
             whether all trajectories start at ``center``
    points   number of samples per period at which ``maps`` evaluate the motion
    """

    joints: tuple[str, ...]
    basis: Fourier | BSpline
    periods: int
    center: PerJoint
    scale: PerJoint
    starts_at_center: bool
    points: int

    @property
    def unknowns(self) -> int:
        """Number of unknowns per joint."""
        return int(self.null_space.shape[1])

    @cached_property
    def null_space(self) -> Float[np.ndarray, "coefficients unknowns"]:
        zero, w = np.zeros(1), 2.0 * np.pi / self.basis.period
        orders = (POSITION, VELOCITY, ACCELERATION) if self.starts_at_center else (VELOCITY, ACCELERATION)
        conditions = [self.basis.evaluate(zero, order) / w**order for order in orders]
        return np.asarray(null_space(np.concatenate(conditions)))

    @cached_property
    def origin(self) -> Float[np.ndarray, "coefficients joints"]:
        """Coefficients of rest at ``center``."""
        ones = np.linalg.lstsq(self.basis.evaluate(self._grid, POSITION), np.ones(self.points), rcond=None)[0]
        return np.outer(ones, self.center)

    @cached_property
    def maps(self) -> Float[np.ndarray, "4 instants unknowns"]:
        """Position, velocity, acceleration and jerk of one period per unit of each unknown of a joint of scale 1."""
        return self.evaluate_maps(self._grid)

    def evaluate_maps(self, t: np.ndarray) -> Float[np.ndarray, "4 instants unknowns"]:
        """Return ``maps`` at other times."""
        return np.stack([self.basis.evaluate(t, order) @ self.null_space for order in ORDERS])

    def move(self, x: Unknowns) -> Motion:
        """Return position, velocity, acceleration and jerk at the samples of one period."""
        motion: Motion = self.maps @ (x * self.scale)
        motion[POSITION] += self.center
        return motion

    def pull_back(self, gradient: Motion) -> Unknowns:
        """Return the gradient with respect to x, from that with respect to the motion."""
        rows = self.maps.reshape(-1, self.unknowns)
        return (rows.T @ gradient.reshape(len(rows), -1)) * self.scale

    def build(self, x: Unknowns) -> Trajectory:
        """Return the trajectory of these unknowns."""
        return Trajectory(self.joints, self.basis, self.periods, self.origin + self.null_space @ (x * self.scale))

    @property
    def _grid(self) -> Float[np.ndarray, " instants"]:
        return np.arange(self.points) * (self.basis.period / self.points)


# s; periods beyond these are refused, because derivatives could exceed the range of numbers. Chosen on: rule of
# thumb.
MIN_PERIOD, MAX_PERIOD = 1e-6, 1e9


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

    def bound(self, coefficients: Float[np.ndarray, "coefficients joints"], order: int) -> Float[np.ndarray, " joints"]:
        """Return upper bounds, for all times, of the absolute derivative of this order of each joint's motion."""

    def retime(self, period: float) -> Basis:
        """Return the same functions of the phase with another period."""


# Finite Fourier series.
#
# Identity      q(t) = c_0 + sum_k (a_k sin(k w t) + b_k cos(k w t)),  w = 2 pi / period,  k = 1 … harmonics
# Notation      coefficients   (c_0, a_1 … a_n, b_1 … b_n), one column per joint


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
    def _frequencies(self) -> Float[np.ndarray, " harmonics"]:
        return 2.0 * np.pi / self.period * np.arange(1.0, self.harmonics + 1.0)


# Periodic quintic B-splines through via-points.
#
# Identity      q(t_k) = c_k,  t_k = k period / n,  k = 0 … n - 1;  four continuous derivatives everywhere
# Notation      coefficients   the via-points c_k, one column per joint


# Degree of the splines; jerk, the third derivative, is smooth. Chosen on: reasoning, the smallest odd degree with
# this property.
DEGREE = 5


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
