"""Coulomb friction near rest: where its bare sign makes a sampled loop chatter, and a speed over which it changes.

A sign that is wrong for a period h changes the rate of a drive by h fc dᵀ M^-1 d, d being its rates per rate of the
coordinates (h fc / M_jj of a lone joint). The plant's steps and the controller's instants both do that, at each turn of
a joint; where it is much, joints do not come to rest. With a ``coulomb_speed`` both see a smooth law.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.dynamics import kernels
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import SamplesByJoint
from ytheta.simulation.plants.substeps import BACKEND, drive_jacobian

TURNING, SLIDING = 0.05, 0.02  # rad/s, m/s
MUCH = 0.01  # rad/s or m/s in a period


def with_smooth_friction(robot: Robot) -> Robot:
    """The robot with a ``coulomb_speed`` in drives that have Coulomb friction and none; itself if there are none."""
    if not find_nonsmooth_drives(robot):
        return robot

    def smooth(name: str, drive: Drive) -> Drive:
        return (
            replace(drive, coulomb_speed=SLIDING if name in robot.sliding_joints else TURNING)
            if _is_sharp(drive)
            else drive
        )

    return robot.with_drives(smooth)


def find_nonsmooth_drives(robot: Robot) -> tuple[str, ...]:
    """Drives with Coulomb friction that is the bare sign of the rate."""
    return tuple(name for name, drive in robot.drives if _is_sharp(drive))


def find_chattering_drives(robot: Robot, q: SamplesByJoint, period: float) -> tuple[str, ...]:
    """Those of them whose rate a wrong sign changes by much within a period, at some of these poses."""
    sharp = set(find_nonsmooth_drives(robot))
    if not sharp:
        return ()
    D, M = drive_jacobian(robot, q), kernels.mass_matrix(robot, backend=BACKEND)(q)
    coulomb = np.array([drive.coulomb for _, drive in robot.drives])
    try:
        alone = np.einsum("ska,sak->sk", D, np.linalg.solve(M, D.transpose(0, 2, 1))).max(axis=0)
    except np.linalg.LinAlgError:  # there is no mass that would keep the rate
        alone = np.full(len(coulomb), np.inf)
    much = dict(zip(robot.moving, period * np.abs(coulomb) * alone > MUCH, strict=True))
    return tuple(name for name in robot.moving if name in sharp and much[name])


def _is_sharp(drive: Drive) -> bool:
    return drive.coulomb != 0.0 and drive.coulomb_speed == 0.0
