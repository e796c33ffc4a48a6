"""The parts of a robot: links, joints, drives, couplings, loops, motors, forces, markers, collision shapes.

Geometry of one joint, from the parent's link frame to the child's::

    parent ──placement──▶ joint frame ──turn or slide along axis by q──▶ moved frame ──seat──▶ child

The seat is the identity in URDF and in modified DH. In standard DH, the link frame is at the far end of the link; in
MJCF, the joint anchor can be anywhere in the body. Both need a seat, so that the link frames are those of the file.

A loop is given by its cut joint, whose parent and child are both links of the tree. The loop is closed if
``T_parent placement motion(q) seat = T_child`` for a position q of the cut joint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ytheta.conventions import JOINT_PARAMETERS, OPTIONAL_JOINT_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.frame import IDENTITY, Frame, Vector
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float

BASIC_FRICTION = ("viscous", "coulomb", "offset")  # kinds of friction that every drive has unless declared absent


def parameter_name(owner: str, parameter: str) -> str:
    """The name of one standard parameter, such as ``link3.mx`` or ``joint2.fv``."""
    return f"{owner}.{parameter}"


class JointKind(StrEnum):
    """The kinds of joints.

    POINT (equal positions, any orientation) is allowed only for cut joints. FREE (any position and orientation) is
    allowed only between the world, which is the first link, and a floating base. SENSOR does not move, like FIXED, but
    measures the wrench that it transmits: the wrench of the parent on the child, in the joint frame.
    """

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    FIXED = "fixed"
    POINT = "point"
    FREE = "free"
    SENSOR = "sensor"


@dataclass(frozen=True)
class Limits:
    """Limits of a joint or motor in SI units; infinite if the description does not give them."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    acceleration: float = math.inf
    effort: float = math.inf
    jerk: float = math.inf


@dataclass(frozen=True)
class Drive:
    """Rotor inertia, gear and friction of a joint or motor.

    Rotor inertia is given at the motor, before the gear; friction and offset are given at the joint. ``coulomb_speed``
    is the speed s of smooth Coulomb friction, ``coulomb * v / sqrt(v^2 + s^2)`` at velocity v. If s is 0, Coulomb
    friction is ``coulomb * sign(v)``. s belongs to the description, like geometry, and is not a parameter.

    Two laws are optional. None means that the drive does not have the law, and then there is no parameter either.
    ``root`` is friction that grows with the root of the speed, ``root * sign(v) * sqrt(|v|)``. ``load`` is friction in
    proportion to the torque that the drive transmits, ``load * sign(v) * |torque|``; this is the torque of links, rotor
    inertias, declared forces and external wrenches, without friction and offset. The sign is smoothed as that of
    Coulomb friction.

    ``friction_speed`` is the largest speed at which friction was measured. If it is not 0 and the drive has a ``root``,
    viscous and root friction keep the values of this speed at higher speeds: a sum of both that was fitted up to this
    speed may be far off beyond it. Like ``coulomb_speed``, it belongs to the description.

    ``has_rotor`` says whether the drive has a rotor, whose inertia can be identified. None means that motors
    and actuated joints have one, and that other joints (passive, coupled or cut) have none unless ``rotor_inertia`` is
    given.
    ``absent_friction`` are the kinds of friction that the drive does not have: viscous, coulomb, offset. What is absent
    is zero, and is not identified; see ``parameters.find_absent_parameters``.
    """

    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    coulomb_speed: float = 0.0
    root: float | None = None
    load: float | None = None
    friction_speed: float = 0.0
    has_rotor: bool | None = None
    absent_friction: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[float, ...]:
        """Ia, fv, fc and fo at the joint, then fs and fl if the drive has these laws."""
        inertia = self.rotor_inertia * (self.gear_ratio * self.gear_ratio)
        optional = (value for value in (self.root, self.load) if value is not None)
        return inertia, self.viscous, self.coulomb, self.offset, *optional

    @property
    def parameter_symbols(self) -> tuple[str, ...]:
        """The symbols of ``parameters``: ``conventions.JOINT_PARAMETERS``, and those of the optional laws."""
        pairs = zip(OPTIONAL_JOINT_PARAMETERS, (self.root, self.load), strict=True)
        return *JOINT_PARAMETERS, *(symbol for symbol, value in pairs if value is not None)

    @property
    def is_frictionless(self) -> bool:
        """Whether viscous friction, Coulomb friction and offset are all declared absent."""
        return set(BASIC_FRICTION) <= set(self.absent_friction)

    @property
    def max_curve_speed(self) -> float:
        """The speed beyond which viscous and root friction are constant; infinite if they are not bounded."""
        return self.friction_speed if self.root is not None and self.friction_speed else math.inf


@dataclass(frozen=True, repr=False)
class Link:
    """A rigid body. If ``load`` is true, the link keeps its own ten parameters when fixed joints are merged.

    If ``has_inertia`` is false, the link has no mass and no moments of inertia, and they are not identified. ``zero``
    are the inertial parameters that are zero by symmetry, such as "mx", in the frame of the link. They are not
    identified either. A link whose frame changes, or to which a body is added, has none.
    """

    name: str
    inertia: Inertia = Inertia()
    load: bool = False
    source: str = ""
    has_inertia: bool = True
    zero: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Link({self.name!r}, {self.inertia.mass:.4g} kg{', load' if self.load else ''})"


@dataclass(frozen=True, repr=False)
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
        """Whether the joint is revolute or prismatic."""
        return self.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.kind}, {self.parent!r} → {self.child!r})"


@dataclass(frozen=True)
class Loop:
    """A closed kinematic loop, given by its cut joint; both links of this joint belong to the tree."""

    joint: Joint

    @property
    def name(self) -> str:
        return self.joint.name


@dataclass(frozen=True)
class Coupling:
    """A joint position as a linear function of other positions: ``q = sum(factor * position) + offset``.

    Examples are ``mimic`` of URDF, geared wrists, and parallelograms with equal sides.
    """

    joint: str
    terms: tuple[tuple[str, float], ...]
    offset: float = 0.0


@dataclass(frozen=True)
class Motor:
    """A coordinate that is not the position of a single joint, such as one motor of a differential wrist.

    A motor with ``turns_with`` is not a coordinate: its position is ``sum(factor * joint position)``, and its drive
    acts on all of these joints. Logged positions and torques then belong to the joints, not to the motor. An example
    is the wrist of a Staubli TX40.
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
    """A declared force, such as a spring or a counterbalance: a known function of positions times a parameter k.

    ``torque`` contains the names of joints or motors and, for each, the shape of the force: an expression in positions
    (see ``files.expressions``). The force adds ``k * shape`` to the actuator torque of the joint, or to the actuator
    force if the joint is prismatic. ``value`` is the value of k. ``where`` defines names for the expressions; each
    definition may use the names before it. A spring with rest position 0.3 rad has the torque
    ``(("joint5", "joint5 - 0.3"),)``.
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


# Collision shapes: the volume of a link, as simple shapes or as the name of a mesh file.
#
# A shape is data: no mesh is opened here. ``excitation.clearance`` encloses the shapes in capsules.


class ShapeKind(StrEnum):
    """The kinds of shapes; ``SIZE_NAMES`` lists the sizes of each kind."""

    SPHERE = "sphere"
    CAPSULE = "capsule"
    CYLINDER = "cylinder"
    BOX = "box"
    ELLIPSOID = "ellipsoid"
    MESH = "mesh"


# In metres, but the scale of a mesh has no unit. The axis of a capsule or cylinder is z, its centre is the origin. The
# length of a capsule is that of its axis, without the two half-spheres.
SIZE_NAMES = {
    ShapeKind.SPHERE: ("radius",),
    ShapeKind.CAPSULE: ("radius", "length"),
    ShapeKind.CYLINDER: ("radius", "length"),
    ShapeKind.BOX: ("x", "y", "z"),
    ShapeKind.ELLIPSOID: ("semi-axis x", "semi-axis y", "semi-axis z"),
    ShapeKind.MESH: ("scale x", "scale y", "scale z"),
}


@dataclass(frozen=True)
class CollisionShape:
    """One shape of a link.

    Attributes
    ----------
    link    name of the link
    kind    kind of the shape
    size    sizes of the shape, see ``SIZE_NAMES``
    frame   frame of the shape, seen from the link
    file    path of the mesh; if it may not be opened, the reference in the description (``package://…``) or the reason
    source  origin of the numbers
    """

    link: str
    kind: ShapeKind
    size: tuple[float, ...]
    frame: Frame = IDENTITY
    file: str = ""
    source: str = ""


def describe_mesh(file: Path | None, reference: str) -> str:
    """Return the ``file`` of a mesh: its path, or the reference or the reason if it may not be opened."""
    if file is not None:
        return str(file)
    if reference.startswith(("package://", "model://")):
        return reference
    return f"the path {reference!r} leaves the robot's folder and is not opened; allow its folder with --allow-path"


def make_capsule(link: str, start: Vector, end: Vector, radius: float, *, source: str = "") -> CollisionShape:
    """Return the capsule around the segment from ``start`` to ``end``, or a sphere if both are the same point."""
    along = (end[0] - start[0], end[1] - start[1], end[2] - start[2])
    length = math.hypot(*along)
    if not math.isfinite(length):
        raise InputError(f"the ends {start} and {end} of a capsule are not finite; correct them")
    if length == 0.0:
        return CollisionShape(link, ShapeKind.SPHERE, (radius,), Frame(start), source=source)
    direction = (along[0] / length, along[1] / length, along[2] / length)
    center = (start[0] + along[0] / 2, start[1] + along[1] / 2, start[2] + along[2] / 2)
    frame = Frame(center, Frame.align_z(direction).rotation)
    return CollisionShape(link, ShapeKind.CAPSULE, (radius, length), frame, source=source)


# The friction curve of a drive: friction as a function of speed, in NumPy.
#
# Identity      friction = fv c + fc d + fs d sqrt(|c|) + fl d |torque|
# Notation      code     meaning
#               speeds   v, the velocity of the drive, in rad/s or m/s
#               d        sign(v), or v / sqrt(v^2 + s^2) if the drive has a ``coulomb_speed`` s
#               c        v, bounded by the drive's ``friction_speed`` if it has one and a ``root``
#               torque   the torque that the drive transmits, without friction and offset
#
# The offset of a drive does not change its sign with the velocity and is not part of the curve. The kernels compute the
# same laws in symbols, see ``dynamics.constraint``.


CURVE_PARAMETERS = ("fv", "fc", "fs", "fl")
# Largest negative sum of friction terms that counts as zero, relative to the sum of their sizes. Chosen on:
# reasoning, far above rounding errors.
FRICTION_TOLERANCE = 1e-9


def compute_friction(drive: Drive, speeds: ArrayLike, *, load_torque: ArrayLike = 0.0) -> Float[np.ndarray, "*shape"]:
    """Return the friction of a drive at these speeds, in Nm or N; positive friction brakes positive speeds.

    ``load_torque`` is the torque that the drive transmits, on which load-dependent friction depends: one number, or one
    for each speed.
    """
    values = np.array([drive.viscous, drive.coulomb, drive.root or 0.0, drive.load or 0.0])
    return np.asarray(compute_friction_factors(drive, speeds, load_torque=load_torque) @ values)


def compute_friction_factors(
    drive: Drive, speeds: ArrayLike, *, load_torque: ArrayLike = 0.0
) -> Float[np.ndarray, "*shape 4"]:
    """Return the factors of fv, fc, fs and fl in the friction of a drive; friction is linear in these parameters.

    Of the drive, only ``coulomb_speed``, ``friction_speed`` and whether it has a ``root`` matter.
    """
    v, torque = np.broadcast_arrays(np.asarray(speeds, dtype=float), np.asarray(load_torque, dtype=float))
    direction = v / np.hypot(v, drive.coulomb_speed) if drive.coulomb_speed else np.sign(v)
    bounded = np.clip(v, -drive.max_curve_speed, drive.max_curve_speed)
    return np.stack([bounded, direction, direction * np.sqrt(np.abs(bounded)), direction * np.abs(torque)], axis=-1)


def find_lowest_friction(drive: Drive) -> tuple[float, float]:
    """Return the speed at which viscous, Coulomb and root friction together are smallest, and their value there.

    Up to ``friction_speed``, the sum of the three is a polynomial of degree two in the root of the speed, whose
    smallest value is at an end or at its vertex. The transition of smooth Coulomb friction is not considered.
    """
    fv, fc, fs = drive.viscous, drive.coulomb, drive.root or 0.0
    end = math.sqrt(drive.max_curve_speed)
    if math.isinf(end):  # a root r of the polynomial is at most 1 + max(...) / |fv|; beyond it, the sign is constant
        leading = fv or fs
        end = 2.0 * (1.0 + max(abs(fs), abs(fc)) / abs(leading)) if leading else 1.0
    vertex = -fs / (2.0 * fv) if fv > 0.0 else 0.0
    candidates = [u for u in (0.0, vertex, end) if 0.0 <= u <= end]
    lowest = min(candidates, key=lambda u: fc + fs * u + fv * u * u)
    return lowest * lowest, fc + fs * lowest + fv * lowest * lowest


def find_driving_speed(drive: Drive) -> float | None:
    """Return the speed at which viscous, Coulomb and root friction drive instead of braking, or None if they brake."""
    speed, friction = find_lowest_friction(drive)
    size = abs(drive.viscous) * speed + abs(drive.coulomb) + abs(drive.root or 0.0) * math.sqrt(speed)
    return speed if friction < -FRICTION_TOLERANCE * size else None
