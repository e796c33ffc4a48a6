"""Joints of SDF as chains of revolute, prismatic and fixed joints.

A joint frame moves with the child of the joint, and coincides with a frame on the parent if the position is zero, which
is the configuration of the file. Joints with several degrees of freedom become chains, whose links have no inertia:

    ball                  three hinges about the x, y and z axes of the joint frame, <joint>.x …
    universal, revolute2  two hinges about axis and axis2, <joint>.1 and <joint>.2
    screw                 a hinge <joint> and a slide <joint>.slide, which is coupled to it
    drake:planar          two slides along x and y and a hinge about z, <joint>.x, <joint>.y and <joint>.turn
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.files.xml_document import Node
from ytheta.robot.frame import AXES, IDENTITY, Frame, Vector, to_vector
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.sdf.document import DRAKE
from ytheta.robot.reading.sdf.elements import parse_numbers, read_bound, read_number, read_numbers
from ytheta.robot.reading.sdf.models import FrameGraph, Scope
from ytheta.robot.reading.snap import Snapper, normalize_axis

GEARBOX = "gearbox"
BALL = "ball"
UNIVERSAL = ("universal", "revolute2")
SINGLE = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}
PLANAR = f"{DRAKE}planar"  # <drake:joint type="planar">
TYPES = (*SINGLE, BALL, *UNIVERSAL, "screw", GEARBOX, PLANAR)
# Smallest position that means that there is no limit. Chosen on: the defaults of the SDF specification.
MIN_UNLIMITED = 1e16
_PLANAR_PARTS: tuple[tuple[str, JointKind, Vector], ...] = (
    ("x", JointKind.PRISMATIC, (1.0, 0.0, 0.0)),
    ("y", JointKind.PRISMATIC, (0.0, 1.0, 0.0)),
    ("turn", JointKind.REVOLUTE, (0.0, 0.0, 1.0)),
)


@dataclass(frozen=True)
class SdfJoint:
    """A joint of the file between two links, by key.

    ``placement`` and ``seat`` are those of ``Joint``: the joint frame seen from the parent, and the child seen from the
    joint frame.
    """

    key: str
    name: str
    kind: str
    node: Node
    scope: Scope
    parent: str
    child: str
    placement: Frame
    seat: Frame


@dataclass(frozen=True)
class Chain:
    """The joints that replace a joint of the file, from its parent to its child, and the couplings among them."""

    joints: tuple[Joint, ...]
    couplings: tuple[Coupling, ...] = ()

    def reverse(self) -> Chain:
        """Return the chain from the child to the parent. The positions stay the same, since the axes are reversed."""
        return replace(self, joints=tuple(_reverse(joint) for joint in reversed(self.joints)))


def _reverse(joint: Joint) -> Joint:
    x, y, z = (0.0 - entry for entry in joint.axis)
    return replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        placement=joint.seat.inverse(),
        seat=joint.placement.inverse(),
        axis=(x, y, z) if joint.moves else joint.axis,
    )


@dataclass(frozen=True)
class ChainReader:
    """Reads the axes, limits and drives of joints, and makes chains of them."""

    graph: FrameGraph
    snapper: Snapper
    findings: FindingCollector

    def make_chain(self, joint: SdfJoint, parent: str, child: str) -> Chain:
        """Return the chain between two links, which are given by their names in the robot."""
        if joint.kind == BALL:
            self.findings.note("ball joints become three hinges about x, y and z: {}", joint.name)
            self._report_drive(joint)
            hinges = [
                Joint(f"{joint.name}.{letter}", JointKind.REVOLUTE, "", "", axis=axis) for letter, axis in AXES.items()
            ]
            return Chain(_connect(hinges, joint, parent, child))
        if joint.kind in UNIVERSAL:
            self.findings.note("universal joints become two hinges: {}", joint.name)
            hinges = [
                self._read_single(joint, f"{joint.name}.{number}", tag, JointKind.REVOLUTE)
                for number, tag in (("1", "axis"), ("2", "axis2"))
            ]
            return Chain(_connect(hinges, joint, parent, child))
        if joint.kind == PLANAR:
            self.findings.note("planar joints become two slides and a hinge: {}", joint.name)
            damping = read_numbers(joint.node, f"{DRAKE}damping", 3, (0.0, 0.0, 0.0))
            parts = [
                Joint(f"{joint.name}.{part}", kind, "", "", axis=axis, drive=Drive(viscous=viscous))
                for (part, kind, axis), viscous in zip(_PLANAR_PARTS, damping, strict=True)
            ]
            return Chain(_connect(parts, joint, parent, child))
        if joint.kind == "screw":
            hinge = self._read_single(joint, joint.name, "axis", JointKind.REVOLUTE)
            slide = Joint(f"{joint.name}.slide", JointKind.PRISMATIC, "", "", axis=hinge.axis)
            coupling = Coupling(slide.name, ((joint.name, _read_pitch(joint.node) / (2.0 * math.pi)),))
            return Chain(_connect([hinge, slide], joint, parent, child), (coupling,))
        single = self._read_single(joint, joint.name, "axis", SINGLE[joint.kind])
        return Chain(_connect([single], joint, parent, child))

    def make_cut_joint(self, joint: SdfJoint, parent: str, child: str) -> Joint | None:
        """Return a joint that closes a loop; None if it needs a chain."""
        if joint.kind == BALL:
            self._report_drive(joint)
            return Joint(joint.name, JointKind.POINT, parent, child, placement=joint.placement, seat=joint.seat)
        if joint.kind not in SINGLE:
            return None
        return self.make_chain(joint, parent, child).joints[0]

    def _report_drive(self, joint: SdfJoint) -> None:
        for axis in joint.node.all("axis"):
            if _read_dynamics(axis) != Drive():
                self.findings.warn("damping and friction of ball joints are ignored: {}", joint.name)

    def _read_single(self, joint: SdfJoint, name: str, tag: str, kind: JointKind) -> Joint:
        if kind is JointKind.FIXED:
            return Joint(name, kind, "", "")
        node = joint.node.first(tag)
        drive = Drive() if node is None else _read_dynamics(node)
        if tag == "axis":
            drive = _add_rotor(drive, joint.node)
        limits = Limits() if node is None else _read_limits(node, continuous=joint.kind == "continuous")
        axis = self.read_axis(joint, tag)
        return Joint(
            name, kind, "", "", axis=self.snapper.snap_axis(axis, joint.node.where), limits=limits, drive=drive
        )

    def read_axis(self, joint: SdfJoint, tag: str) -> Vector:
        """Return an axis of a joint as a unit vector in the joint frame."""
        node = joint.node.first(tag)
        xyz = None if node is None else node.first("xyz")
        if xyz is None:
            if tag == "axis2":
                raise joint.node.error("<axis2> with <xyz> is missing; give the second axis of the joint")
            return (0.0, 0.0, 1.0)
        try:
            axis = normalize_axis(to_vector(parse_numbers(xyz, 3)))
        except InputError as error:
            raise xyz.error(f"joint {joint.name!r}: {error}") from None
        frame = xyz.get("expressed_in", "")
        if not frame:
            return axis
        turn = self.graph.relate(self.graph.find(frame, joint.scope, xyz), joint.key)
        return normalize_axis(to_vector(np.array(turn.rotation) @ np.array(axis)))


def _connect(joints: Sequence[Joint], joint: SdfJoint, parent: str, child: str) -> tuple[Joint, ...]:
    """Return the joints of a chain with their links, placement and seat."""
    chain: list[Joint] = []
    for k, part in enumerate(joints):
        last = k == len(joints) - 1
        link = child if last else f"{part.name}.link"
        placement, seat = IDENTITY if chain else joint.placement, joint.seat if last else IDENTITY
        chain.append(replace(part, parent=parent, child=link, placement=placement, seat=seat))
        parent = link
    return tuple(chain)


def _read_pitch(node: Node) -> float:
    """Return the distance that a screw travels in one revolution; a right-handed thread is positive."""
    if node.first("screw_thread_pitch") is not None or node.first("thread_pitch") is None:
        return read_number(node, "screw_thread_pitch", 1.0)
    pitch = read_number(node, "thread_pitch", 1.0)  # rad/m, a left-handed thread is positive
    if pitch == 0.0 or not math.isfinite(2.0 * math.pi / pitch):
        raise node.error("<thread_pitch> is zero; give <screw_thread_pitch>, the distance of one revolution in metres")
    return -2.0 * math.pi / pitch


def _read_limits(axis: Node, *, continuous: bool) -> Limits:
    limit = axis.first("limit")
    if limit is None:
        return Limits()
    lower, upper = read_bound(limit, "lower", -math.inf), read_bound(limit, "upper", math.inf)
    velocity, effort = read_bound(limit, "velocity", math.inf), read_bound(limit, "effort", math.inf)
    acceleration = read_bound(limit, "drake:acceleration", math.inf)
    return Limits(
        lower=-math.inf if continuous or lower <= -MIN_UNLIMITED else lower,
        upper=math.inf if continuous or upper >= MIN_UNLIMITED else upper,
        # SDF writes -1 for velocities and efforts without a limit.
        velocity=math.inf if velocity < 0.0 else velocity,
        acceleration=math.inf if acceleration < 0.0 else acceleration,
        effort=math.inf if effort < 0.0 else effort,
    )


def _read_dynamics(axis: Node) -> Drive:
    dynamics = axis.first("dynamics")
    if dynamics is None:
        return Drive()
    return Drive(viscous=read_number(dynamics, "damping", 0.0), coulomb=read_number(dynamics, "friction", 0.0))


def _add_rotor(drive: Drive, node: Node) -> Drive:
    """Return the drive with the rotor that files for Drake give."""
    inertia, ratio = read_number(node, "drake:rotor_inertia", 0.0), read_number(node, "drake:gear_ratio", 1.0)
    return replace(drive, rotor_inertia=inertia, gear_ratio=ratio) if inertia else drive
