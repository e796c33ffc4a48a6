"""The motion of joints and drives that follows from the motion of the actuated coordinates.

Identity      qd = A E Qd, qdd = A (E Qdd + Edot Qd) for joints; likewise for moving cut joints and motors
Reference     [walker1988] sec. 2.3, (4)-(9)
Accepts       every robot; without loops and couplings no operation is added
Notation      code              meaning                                                       shape
              E                 dx/dQ of the constraint; identity without loops               coordinates x actuated
              joint_jacobian    dq/dQ = A E                                                   joints x actuated
              drive_jacobian    velocities of joints, moving cut joints, motors per unit Qd   drives x actuated

Control laws of the Slotine-Li kind need Y(x, Qd, V, Vd) with a reference velocity V. The joints then have v = A E V and
vd = A (E Vd + Edot V), where Edot is computed with the actual velocity Qd, not with V. The torque of a rotor inertia
uses the acceleration that follows from V and Vd, and viscous friction uses the *reference* velocity. Both torques are
then linear in V and Vd, like M vd + C v. Coulomb friction opposes the real motion and uses the *real* velocity.

The factor of Coulomb friction is the sign of the velocity qd of the drive. If the drive has a ``coulomb_speed`` s, the
factor is qd / sqrt(qd^2 + s^2) instead, a smooth function that approaches the sign at speeds far above s. Square root
and division are SIMD instructions, whereas tanh would need one function call per SIMD lane.

Friction that grows with the root of the speed has this factor too, times sqrt(|qd|): like Coulomb friction, it is not
linear in the velocity and uses the *real* velocity. If the drive has a ``friction_speed``, the velocities of viscous
friction and of the square root are clipped to it. Load-dependent friction needs a torque, see ``symbolic_model``.
``robot.friction_curve`` computes the same laws in NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.loops.constraint import Constraint, column, compute_joint_positions
from ytheta.dynamics.motion import Motion, casadi_base_rotation, scalars
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.robot.parts import Drive
from ytheta.shapes import AnyPerActuated, AnyPerDrive, Shaped


@dataclass(frozen=True, eq=False)
class DriveMotion:
    """The motion of the joints, and the real velocity, reference velocity and acceleration of every drive.

    Drives are in the order of ``robot.moving``: joints, moving cut joints, motors. ``driven`` are the rows of joints
    with drives; those of a floating base come before them, and those of sensors after them.
    """

    joints: Motion
    joint_jacobian: Shaped[np.ndarray, "joints actuated"]
    drive_jacobian: Shaped[np.ndarray, "drives actuated"]
    velocity: AnyPerDrive
    reference_velocity: AnyPerDrive
    acceleration: AnyPerDrive
    drives: tuple[Drive, ...]
    driven: slice

    @property
    def parameter_factors(self) -> Shaped[np.ndarray, "drives 4"]:
        """The factors of Ia, fv, fc, fo in the torque of each drive: acceleration, velocity, sign of velocity, 1."""
        factors = zeros(len(self.velocity), len(JOINT_PARAMETERS))
        factors[:, 0], factors[:, 3] = self.acceleration, 1
        factors[:, 1], factors[:, 2] = self.clip_velocities(self.reference_velocity), self.directions
        return factors

    @property
    def directions(self) -> AnyPerDrive:
        """The sign of the velocity of each drive, smoothed as its Coulomb friction."""
        pairs = zip(self.velocity, self.drives, strict=True)
        return array([compute_sign(velocity, drive.coulomb_speed) for velocity, drive in pairs])

    @property
    def root_factors(self) -> AnyPerDrive:
        """The factor of fs in the torque of each drive; 0 for drives without this law."""
        rows = zip(self.directions, self.clip_velocities(self.velocity), self.drives, strict=True)
        return array([0 if d.root is None else compute_root(sign, velocity) for sign, velocity, d in rows])

    def clip_velocities(self, velocity: AnyPerDrive) -> AnyPerDrive:
        """Return these velocities of the drives, clipped to the speeds up to which their friction was measured."""
        pairs = zip(velocity, self.drives, strict=True)
        return array([clip_velocity(entry, drive.max_curve_speed) for entry, drive in pairs])


def compute_drive_motion(
    constraint: Constraint, Qd: AnyPerActuated, Vd: AnyPerActuated, V: AnyPerActuated | None = None
) -> DriveMotion:
    """Compute the motion of joints and drives at the closed coordinates ``constraint.x``.

    Qd is the real velocity, V the reference velocity (None means Qd), and Vd the derivative of V.
    """
    A, E, cuts, motors = constraint.A, constraint.E, constraint.cut_rates, constraint.motors
    xd = dot(E, Qd)
    y = xd if V is None else dot(E, V)
    xdd = dot(E, Vd) + constraint.Edot_times(xd, y)
    qd, vd = dot(A, xd), dot(A, xdd)
    v = qd if V is None else dot(A, y)
    q, cos, sin = compute_joint_positions(constraint.robot, scalars(constraint.x))
    base = len(constraint.robot.base_coordinates)
    driven = slice(base, base + len(constraint.robot.movable))
    velocity = np.concatenate([qd[driven], dot(cuts, xd), dot(motors, xd)])
    joint_jacobian = dot(A, E)
    rotation = constraint.base_rotation
    if base and rotation is None:
        rotation = casadi_base_rotation(q)
    cut_acceleration = dot(cuts, xdd) + _compute_cut_bias(constraint, xd, y)
    return DriveMotion(
        joints=Motion(q, cos, sin, qd, v, vd, rotation),
        joint_jacobian=joint_jacobian,
        drive_jacobian=np.concatenate([joint_jacobian[driven], dot(cuts, E), dot(motors, E)]),
        velocity=velocity,
        reference_velocity=velocity if V is None else np.concatenate([v[driven], dot(cuts, y), dot(motors, y)]),
        acceleration=np.concatenate([vd[driven], cut_acceleration, dot(motors, xdd)]),
        drives=tuple(drive for _, drive in constraint.robot.drives),
        driven=driven,
    )


def compute_sign(velocity: Any, speed: float) -> Any:
    """The sign of a velocity, or the smooth function velocity / sqrt(velocity^2 + speed^2) if ``speed`` is not 0."""
    import casadi

    if type(velocity) is int:  # zero by structure: a drive at rest
        return velocity
    return velocity / casadi.sqrt(velocity * velocity + speed * speed) if speed else casadi.sign(velocity)


def clip_velocity(velocity: Any, max_speed: float) -> Any:
    """The velocity, at most ``max_speed`` in size."""
    import casadi

    if type(velocity) is int or math.isinf(max_speed):
        return velocity
    return casadi.fmin(casadi.fmax(velocity, -max_speed), max_speed)


def compute_root(sign: Any, velocity: Any) -> Any:
    """The root of the size of a velocity, times the sign of the motion."""
    import casadi

    if type(velocity) is int:
        return velocity
    return sign * casadi.sqrt(casadi.fabs(velocity))


def _compute_cut_bias(constraint: Constraint, xd: np.ndarray, y: np.ndarray) -> Shaped[np.ndarray, "cuts"]:
    """The time derivative of ``cut_rates`` along xd, times y. This product is zero in planar mechanisms."""
    import casadi

    rows = constraint.cut_rates
    constant = casadi.SX.sym("y", len(y))
    rates = column(dot(rows, scalars(constant)))
    change = casadi.jtimes(rates, constraint.x, column(xd))
    bias = casadi.densify(casadi.substitute(change, constant, column(y)))
    return array([0 if entry.is_zero() else entry for entry in scalars(bias)] or [0])[: len(rows)]
