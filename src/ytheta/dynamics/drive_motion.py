"""The motion of joints and drives that follows from the motion of the actuated coordinates.

Identity      qd = A E Qd, qdd = A (E Qdd + Edot Qd) for joints; likewise for moving cut joints and motors
Reference     [walker1988] sec. 2.3, (4)-(9)
Accepts       every robot; without loops and couplings no operation is added
Notation      code              meaning                                                       shape
              E                 dx/dQ of the constraint; 1 without loops                      coordinates x actuated
              joint_jacobian    dq/dQ = A E                                                   joints x actuated
              drive_jacobian    velocities of joints, moving cut joints and motors per Qd     drives x actuated

Two velocities: controllers of the Slotine-Li kind need Y(x, Qd, V, Vd). Joints then have v = E V and
vd = E Vd + Edot V, where Edot belongs to the real motion Qd. Rotor inertia takes the acceleration that follows from V
and Vd, viscous friction the *reference* velocity, so that both are linear in the reference as M vd + C v is. Coulomb
friction takes the sign of the *real* velocity, smooth or not, because it opposes the real motion.

A drive with a ``coulomb_speed`` s has qd / sqrt(qd^2 + s^2) instead of the sign: odd, smooth, and 1 far from rest.
Root and division are SIMD instructions; tanh would be a function call per lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics.loops.constraint import Constraint, column, compute_joint_positions
from ytheta.dynamics.motion import Motion, scalars
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.shapes import AnyPerActuated, AnyPerDrive, Shaped


@dataclass(frozen=True, eq=False)
class DriveMotion:
    """The motion of the joints, and real and reference velocity and acceleration of every drive.

    Drives are in the order of ``robot.moving``: joints, moving cut joints, motors.
    """

    joints: Motion
    joint_jacobian: Shaped[np.ndarray, "joints actuated"]
    drive_jacobian: Shaped[np.ndarray, "drives actuated"]
    velocity: AnyPerDrive
    reference_velocity: AnyPerDrive
    acceleration: AnyPerDrive
    coulomb_speeds: tuple[float, ...]

    @property
    def parameter_factors(self) -> Shaped[np.ndarray, "drives 4"]:
        """The factors of Ia, fv, fc and fo in the torque of each drive: acceleration, velocity, its sign, and one."""
        factors = zeros(len(self.velocity), len(JOINT_PARAMETERS))
        factors[:, 0], factors[:, 1], factors[:, 3] = self.acceleration, self.reference_velocity, 1
        for k, (velocity, speed) in enumerate(zip(self.velocity, self.coulomb_speeds, strict=True)):
            factors[k, 2] = _sign(velocity, speed)
        return factors


def compute_drive_motion(
    constraint: Constraint, Qd: AnyPerActuated, Vd: AnyPerActuated, V: AnyPerActuated | None = None
) -> DriveMotion:
    """The motion of joints and drives at the closed coordinates ``constraint.x``; without V the reference is Qd."""
    A, E, cuts, motors = constraint.A, constraint.E, constraint.cut_rates, constraint.motors
    xd = dot(E, Qd)
    y = xd if V is None else dot(E, V)
    xdd = dot(E, Vd) + constraint.Edot_times(xd, y)
    qd, vd = dot(A, xd), dot(A, xdd)
    v = qd if V is None else dot(A, y)
    q, cos, sin = compute_joint_positions(constraint.robot, scalars(constraint.x))
    velocity = np.concatenate([qd, dot(cuts, xd), dot(motors, xd)])
    joint_jacobian = dot(A, E)
    cut_acceleration = dot(cuts, xdd) + _cut_bias(constraint, xd, y)
    return DriveMotion(
        joints=Motion(q, cos, sin, qd, v, vd),
        joint_jacobian=joint_jacobian,
        drive_jacobian=np.concatenate([joint_jacobian, dot(cuts, E), dot(motors, E)]),
        velocity=velocity,
        reference_velocity=velocity if V is None else np.concatenate([v, dot(cuts, y), dot(motors, y)]),
        acceleration=np.concatenate([vd, cut_acceleration, dot(motors, xdd)]),
        coulomb_speeds=tuple(drive.coulomb_speed for _, drive in constraint.robot.drives),
    )


def _sign(velocity: Any, speed: float) -> Any:
    """The sign of a velocity; if ``speed`` is not 0, it changes gradually over about that speed."""
    import casadi

    if type(velocity) is int:  # zero by structure: a drive at rest
        return velocity
    return velocity / casadi.sqrt(velocity * velocity + speed * speed) if speed else casadi.sign(velocity)


def _cut_bias(constraint: Constraint, xd: np.ndarray, y: np.ndarray) -> Shaped[np.ndarray, "cuts"]:
    """(d/dt cut_rates) y along xd; zero if the rates are constant, as in planar mechanisms."""
    import casadi

    rows = constraint.cut_rates
    constant = casadi.SX.sym("y", len(y))
    rates = column(dot(rows, scalars(constant)))
    change = casadi.jtimes(rates, constraint.x, column(xd))
    bias = casadi.densify(casadi.substitute(change, constant, column(y)))
    return array([0 if entry.is_zero() else entry for entry in scalars(bias)] or [0])[: len(rows)]
