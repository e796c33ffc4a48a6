"""Smooth Coulomb friction: the drives that need it, and its addition to a robot.

Coulomb friction without a ``coulomb_speed`` is fc times the sign of the speed. Load-dependent friction has the same
sign, and root friction an infinite slope at rest; both are smoothed together with Coulomb friction. A sign that is
wrong for a period h changes the speed of a drive by h·fc·dᵀ M^-1 d, where d is the gradient of the drive's speed with
respect to the actuated velocities. For a single joint, this change is h·fc / M_jj. Both the integrator and the
controller make this error whenever a drive changes its direction. If the error is large, joints chatter instead of
coming to rest. With a ``coulomb_speed``, integrator and controller use a smooth law.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.dynamics import kernels
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import SamplesByJoint
from ytheta.simulation.plants.substeps import BACKEND, compute_drive_jacobian, compute_load_friction

REVOLUTE_COULOMB_SPEED, PRISMATIC_COULOMB_SPEED = 0.05, 0.02  # rad/s, m/s
MAX_SPEED_ERROR = 0.01  # rad/s or m/s; change of speed caused by a wrong sign during one period


def with_smooth_friction(robot: Robot) -> Robot:
    """Return the robot with a ``coulomb_speed`` in all nonsmooth drives; the robot itself if there are none."""
    check_is_robot(robot)
    if not find_nonsmooth_drives(robot):
        return robot

    def smooth(name: str, drive: Drive) -> Drive:
        speed = PRISMATIC_COULOMB_SPEED if name in robot.prismatic_joints else REVOLUTE_COULOMB_SPEED
        return replace(drive, coulomb_speed=speed) if _is_nonsmooth(drive) else drive

    return robot.with_drives(smooth)


def find_nonsmooth_drives(robot: Robot) -> tuple[str, ...]:
    """Return the names of drives with Coulomb, root or load-dependent friction but without a ``coulomb_speed``."""
    return tuple(name for name, drive in robot.drives if _is_nonsmooth(drive))


def find_chattering_drives(robot: Robot, q: SamplesByJoint, period: float) -> tuple[str, ...]:
    """Return the names of nonsmooth drives that chatter at one of these poses.

    A drive chatters if a wrong sign of its friction changes its speed by more than ``MAX_SPEED_ERROR`` in one period.
    """
    nonsmooth = set(find_nonsmooth_drives(robot))
    if not nonsmooth:
        return ()
    D, M = compute_drive_jacobian(robot, q), kernels.mass_matrix(robot, backend=BACKEND)(q)
    coulomb = np.array([drive.coulomb for _, drive in robot.drives]) + compute_load_friction(robot, q)
    try:
        mobility = np.einsum("ska,sak->sk", D, np.linalg.solve(M, D.transpose(0, 2, 1))).max(axis=0)
    except np.linalg.LinAlgError:  # M is singular, because there is a motion that moves no mass
        mobility = np.full(len(coulomb), np.inf)
    chatters = dict(zip(robot.moving, period * np.abs(coulomb) * mobility > MAX_SPEED_ERROR, strict=True))
    return tuple(name for name in robot.moving if name in nonsmooth and chatters[name])


def _is_nonsmooth(drive: Drive) -> bool:
    return bool(drive.coulomb or drive.root or drive.load) and drive.coulomb_speed == 0.0
