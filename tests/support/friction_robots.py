"""Robots whose drives have root and load-dependent friction, and their torques by hand and by Pinocchio."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tests.support.pinocchio_peer import peer
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

COULOMB_SPEEDS = (0.02, 0.0, 0.3)
FRICTION_SPEEDS = (0.0, 0.7, 0.4)
ROOTS = (0.9, -0.4, 0.6)
LOADS = (0.25, 0.08, 0.6)


def add_friction_laws(robot: Robot, *, root: bool = True, load: bool = True) -> Robot:
    """The robot with both laws in its drives, and with different numbers in each of three neighbouring drives."""
    places = {name: k for k, name in enumerate(robot.moving)}

    def change(name: str, drive: Drive) -> Drive:
        if name not in places:
            return drive
        k = places[name] % 3
        return replace(
            drive,
            rotor_inertia=drive.rotor_inertia or 0.1,
            viscous=drive.viscous or 0.7,
            coulomb=drive.coulomb or 1.3,
            offset=drive.offset or -0.2,
            coulomb_speed=COULOMB_SPEEDS[k],
            root=ROOTS[k] if root else None,
            load=LOADS[k] if load else None,
            friction_speed=FRICTION_SPEEDS[k],
        )

    return robot.with_drives(change)


def compute_friction_by_hand(drive: Drive, v: float, rigid: float) -> float:
    """Friction and offset of one drive at one velocity, from the definitions of the laws."""
    if drive.coulomb_speed:
        sign = v / math.sqrt(v * v + drive.coulomb_speed * drive.coulomb_speed)
    else:
        sign = math.copysign(1.0, v) if v else 0.0
    size = abs(v)
    if drive.root is not None and drive.friction_speed:
        size = min(size, drive.friction_speed)
    friction = drive.viscous * math.copysign(size, v) + drive.coulomb * sign + drive.offset
    friction += (drive.root or 0.0) * sign * math.sqrt(size)
    return friction + (drive.load or 0.0) * sign * abs(rigid)


def compute_torque_by_hand(robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """tau of an arm without couplings at one state: links by Pinocchio, rotors and friction by their definitions."""
    drives = [joint.drive for joint in robot.movable]
    rotors = np.array([drive.rotor_inertia * drive.gear_ratio**2 for drive in drives])
    rigid = peer(robot).torque(q, qd, qdd) + rotors * qdd
    friction = [compute_friction_by_hand(d, v, r) for d, v, r in zip(drives, qd, rigid, strict=True)]
    return np.asarray(rigid + np.array(friction))
