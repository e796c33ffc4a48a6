"""Robots whose drives have root and load-dependent friction, and their torques by hand and by Pinocchio."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.support.pinocchio_peer import peer
from ytheta.files.xml_document import parse_xml
from ytheta.robot.parts import Drive
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot

COULOMB_SPEEDS = (0.02, 0.0, 0.3)
FRICTION_SPEEDS = (0.0, 0.7, 0.4)
ROOTS = (0.9, -0.4, 0.6)
LOADS = (0.25, 0.08, 0.6)


def make_random_generator() -> np.random.Generator:
    """A generator with a new seed, which YTHETA_TEST_SEED replaces to repeat a failed test."""
    seed = int(os.environ.get("YTHETA_TEST_SEED", np.random.default_rng().integers(2**32)))
    print(f"YTHETA_TEST_SEED={seed}")  # noqa: T201  # pytest shows it if the test fails
    return np.random.default_rng(seed)


def make_branched_arm(rng: np.random.Generator) -> Robot:
    """An arm with a sliding joint and a branch, with random bodies."""
    kinds = [("q1", "base", "0 0 1", "revolute"), ("q2", "l1", "0 1 0", "revolute")]
    kinds += [("q3", "l2", "1 0 0", "prismatic"), ("q4", "l1", "1 1 0", "revolute")]
    parts = ['<link name="base"/>']
    for k, (name, parent, axis, kind) in enumerate(kinds, start=1):
        mass, x, y, z = rng.uniform(0.5, 3.0), *rng.uniform(-0.15, 0.15, 3)
        moments = (f'{key}="{0.02 * mass * rng.uniform(0.8, 1.2)}"' for key in ("ixx", "iyy", "izz"))
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{x} {y} {z}"/><mass value="{mass}"/>'
            f'<inertia {" ".join(moments)} ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/><axis xyz="{axis}"/>'
            '<origin xyz="0.1 0.05 0.2" rpy="0.2 0.1 0"/><limit lower="-1.5" upper="1.5" velocity="2" effort="90"/>'
            "</joint>"
        )
    return read_urdf(parse_xml(f'<robot name="branched">{"".join(parts)}</robot>'.encode(), Path("a")), Path("a"), 0.0)


def draw_drives(robot: Robot, rng: np.random.Generator, *, rotor_inertia: float = 0.0) -> Robot:
    """The robot with random values of all laws of friction, and rotor inertias of up to this value."""

    def draw(_: str, drive: Drive) -> Drive:
        viscous, coulomb, root, load, speed = rng.uniform(0.05, 0.4, 5).tolist()
        return replace(
            drive,
            rotor_inertia=rotor_inertia * rng.uniform(0.3, 1.0),
            viscous=viscous,
            coulomb=coulomb,
            offset=rng.uniform(-0.1, 0.1),
            root=3.0 * root,
            load=load,
            coulomb_speed=speed,
        )

    return robot.with_drives(draw)


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
