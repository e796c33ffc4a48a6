"""The parts of a robot: links, joints, drives, couplings, loops, motors, forces, markers.

Geometry of one joint, from the parent's link frame to the child's::

    parent ──placement──▶ joint frame ──turn or slide along axis by q──▶ moved frame ──seat──▶ child

URDF, modified DH and most descriptions have an identity seat. Standard DH (link frame at the far end) and MJCF (joint
anchor anywhere in the body) need it, and with it the link frames stay those of the file.

A loop is a joint whose child already hangs in the tree: the joint at which the loop was cut. Its closure says
``T_parent placement motion(q) seat = T_child``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from ytheta.robot.frame import IDENTITY, Frame, Vector
from ytheta.robot.inertia import Inertia


class JointKind(StrEnum):
    """How a joint lets its child move. POINT (positions meet, any orientation) exists only where a loop was cut."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    POINT = "point"


@dataclass(frozen=True)
class Limits:
    """What a joint can do; infinite where the description says nothing."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Drive:
    """Motor, gear and friction of one coordinate. Friction is felt at the joint, rotor inertia at the motor.

    ``coulomb_speed``: Coulomb friction changes sign gradually around rest, at 71 % of its size where the rate is this
    speed; 0 makes it the plain sign of the rate. It is part of the description, as geometry is, and no parameter.
    """

    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    coulomb_speed: float = 0.0

    @property
    def parameters(self) -> tuple[float, ...]:
        """Ia, fv, fc, fo at the joint, in the order of ``conventions.JOINT_PARAMETERS``."""
        return self.rotor_inertia * (self.gear_ratio * self.gear_ratio), self.viscous, self.coulomb, self.offset


@dataclass(frozen=True)
class Link:
    """One rigid body. A load keeps its own ten parameters when fixed joints are merged."""

    name: str
    inertia: Inertia = Inertia()
    load: bool = False
    source: str = ""


@dataclass(frozen=True)
class Joint:
    """A joint between two links; see the module docstring for its geometry. The axis is a unit vector."""

    name: str
    kind: JointKind
    parent: str
    child: str
    placement: Frame = IDENTITY
    axis: Vector = (0.0, 0.0, 1.0)
    seat: Frame = IDENTITY
    limits: Limits = Limits()
    drive: Drive = Drive()
    source: str = ""

    @property
    def moves(self) -> bool:
        return self.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)


@dataclass(frozen=True)
class Loop:
    """A closed kinematic loop, given by the joint at which it was cut: both its links hang in the tree already."""

    joint: Joint

    @property
    def name(self) -> str:
        return self.joint.name


@dataclass(frozen=True)
class Coupling:
    """A joint position as a linear function of coordinates: ``q = sum(factor * coordinate) + offset``.

    One row of q = A q_motor. URDF ``mimic``, geared wrists and parallelograms with equal sides are couplings.
    """

    joint: str
    terms: tuple[tuple[str, float], ...]
    offset: float = 0.0


@dataclass(frozen=True)
class Motor:
    """A coordinate that is no single joint's position, such as one motor of a differential wrist.

    One that says what it ``turns_with`` is no coordinate: its position is ``sum(factor * joint position)``, and its
    drive is felt at all of these joints. Logs and torques then belong to the joints, as on the wrist of a Staubli TX40.
    """

    name: str
    limits: Limits = Limits()
    drive: Drive = Drive()
    turns_with: tuple[tuple[str, float], ...] = ()

    @property
    def is_coordinate(self) -> bool:
        return not self.turns_with


@dataclass(frozen=True)
class Force:
    """A spring, a counterbalance: a force of known shape and one parameter k, its size, here ``value``.

    It adds ``k * shape`` to the torque (sliding joints: force) that the actuators must give at each joint or motor in
    ``torque``, where shape is an expression in positions; see ``force_expression``. ``where`` names parts of these
    expressions, each made from those before it. A spring that pulls back to q0 is ``(("joint5", "joint5 - q0"),)``.
    """

    name: str
    torque: tuple[tuple[str, str], ...]
    where: tuple[tuple[str, str], ...] = ()
    value: float = 0.0
    source: str = ""


@dataclass(frozen=True)
class Marker:
    """A named frame on a link: a flange, a tool, the frame of a link that was merged away."""

    name: str
    link: str
    frame: Frame = IDENTITY
