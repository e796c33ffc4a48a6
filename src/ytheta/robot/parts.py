"""The parts of a robot: links, joints, drives, couplings, loops, motors, forces, markers.

Geometry of one joint, from the parent's link frame to the child's::

    parent ──placement──▶ joint frame ──turn or slide along axis by q──▶ moved frame ──seat──▶ child

The seat is the identity in URDF, in modified DH and in most other descriptions. Standard DH (link frame at the far end)
and MJCF (joint anchor anywhere in the body) need it, so that the link frames are those of the file.

A loop is given by its cut joint, whose parent and child both belong to the tree already. The loop is closed if
``T_parent placement motion(q) seat = T_child``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from ytheta.robot.frame import IDENTITY, Frame, Vector
from ytheta.robot.inertia import Inertia


class JointKind(StrEnum):
    """The kinds of joints. POINT (equal positions, any orientation) is allowed for cut joints only."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    POINT = "point"


@dataclass(frozen=True)
class Limits:
    """Limits of a joint or motor; infinite if the description gives none."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Drive:
    """Rotor inertia, gear and friction of a joint or motor. Friction is given at the joint, rotor inertia at the motor.

    ``coulomb_speed``: Coulomb friction changes sign gradually around rest and has 71 % of its size at this speed; 0
    makes it the sign of the velocity. It belongs to the description, like geometry, and is not a parameter.
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
    """A rigid body. A load keeps its own ten parameters when fixed joints are merged."""

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
    """A closed kinematic loop, given by its cut joint; both links of this joint belong to the tree already."""

    joint: Joint

    @property
    def name(self) -> str:
        return self.joint.name


@dataclass(frozen=True)
class Coupling:
    """A joint position as a linear function of coordinates: ``q = sum(factor * coordinate) + offset``.

    It is one row of q = A q_motor. Examples are URDF ``mimic``, geared wrists and parallelograms with equal sides.
    """

    joint: str
    terms: tuple[tuple[str, float], ...]
    offset: float = 0.0


@dataclass(frozen=True)
class Motor:
    """A coordinate that is not the position of a single joint, such as one motor of a differential wrist.

    A motor with ``turns_with`` is not a coordinate: its position is ``sum(factor * joint position)``, and its drive
    acts on all of these joints. Logs and torques then refer to the joints, as for the wrist of a Staubli TX40.
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
    """A declared force such as a spring or a counterbalance: a known shape times one parameter k, here ``value``.

    It adds ``k * shape`` to the actuator torque (sliding joints: force) of each joint or motor in ``torque``. The
    shape is an expression in positions; see ``files.expressions``. ``where`` defines names for these expressions, each
    in terms of those before it. A spring with rest position q0 is ``(("joint5", "joint5 - q0"),)``.
    """

    name: str
    torque: tuple[tuple[str, str], ...]
    where: tuple[tuple[str, str], ...] = ()
    value: float = 0.0
    source: str = ""


@dataclass(frozen=True)
class Marker:
    """A named frame on a link, such as a flange, a tool, or the frame of a merged link."""

    name: str
    link: str
    frame: Frame = IDENTITY
