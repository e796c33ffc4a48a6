"""The joints of an MJCF body as a chain of joints, and their home configuration.

The joints of a body move it one after the other, in the order of the file. The axis and the anchor of a joint are given
in the frame of the body. The joints before this joint also move its axis and anchor::

    parent ── body's pose ──▶ J1 ──▶ J2 ──▶ … ──▶ body,      J = shift(anchor) turn(axis, q - ref) shift(-anchor)

Each J except the last moves a link called ``<body>.<joint>``, which is declared to have no inertia. If q = ref, J is
the identity.

A ball joint becomes three hinges about the x, y and z axes of the body, called ``<joint>.x``, ``<joint>.y`` and
``<joint>.z``. Its orientation is singular if the second one is at a quarter turn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.files.expressions import format_position
from ytheta.files.xml_document import Node
from ytheta.robot.checks import make_unique
from ytheta.robot.floating import list_home
from ytheta.robot.frame import AXES, Frame, Vector, to_vector
from ytheta.robot.parts import Drive, Force, Joint, JointKind, Limits
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.mjcf.actuators import Actuation
from ytheta.robot.reading.mjcf.attributes import Compiler, read_choice, read_leading, read_limits
from ytheta.robot.reading.mjcf.bodies import MjcfBody
from ytheta.robot.reading.snap import Snapper, normalize_axis

_KINDS = {"hinge": JointKind.REVOLUTE, "slide": JointKind.PRISMATIC}


# Numbers of joints that a ball or a floating base cannot have.
JOINT_FORCES = ("damping", "armature", "frictionloss", "stiffness", "springdamper")
BALL_POSITIONS, FREE_POSITIONS = 4, 7  # numbers in qpos: a quaternion; a position and a quaternion


@dataclass(frozen=True)
class MjcfJoint:
    """A joint, its position ``ref`` in the initial configuration, and its springs.

    ``positions`` is the number of entries of qpos that begin at this joint: one of a hinge or slide. The first hinge of
    a ball joint has all entries of the ball joint, the others have none.
    The initial position of a free joint is ``base_pose`` instead.
    """

    joint: Joint
    ref: float = 0.0
    springs: tuple[Force, ...] = ()
    base_pose: Frame | None = None
    positions: int = 1


@dataclass(frozen=True)
class JointReader:
    """Reads the joints of bodies. A joint without a name gets a name that does not occur in the file.

    ``props`` are bodies of free parts that are not the robot; these parts stay at their positions in the file.
    """

    compiler: Compiler
    snapper: Snapper
    actuation: Mapping[str, Actuation]
    link_names: set[str]
    joint_names: set[str]
    findings: FindingCollector
    fix_base: bool
    props: frozenset[str] = frozenset()

    def read_chain(self, body: MjcfBody) -> tuple[MjcfJoint, ...]:
        """Return the joints between a body and its parent."""
        free = [node for node, _ in body.joints if self._is_free(node, body)]
        if free and not self._stays(body):
            name = free[0].get("name", "") or make_unique(f"{body.name}.free", self.joint_names)
            if any(any(free[0].numbers(key, default=(0.0,))) for key in JOINT_FORCES):
                self.findings.warn(
                    "damping, friction, springs and rotor inertia of the floating base are ignored: {}", name
                )
            joint = Joint(name, JointKind.FREE, body.parent, body.name)
            return (MjcfJoint(joint, base_pose=body.start, positions=FREE_POSITIONS),)
        nodes = [(node, around) for node, around in body.joints if node not in free]
        if not nodes:
            name = make_unique(f"{body.name}.fixed", self.joint_names)
            joint = Joint(name, JointKind.FIXED, body.parent, body.name, placement=body.pose)
            return (MjcfJoint(joint, positions=FREE_POSITIONS if body.joints else 0),)
        chain: list[MjcfJoint] = []
        parent, pose = body.parent, body.pose
        for k, (node, around) in enumerate(nodes):
            name_in_file = node.get("name", "")
            name = name_in_file or make_unique(f"{body.name}.joint", self.joint_names)
            if k == len(nodes) - 1:
                child = body.name
            else:
                child = make_unique(f"{body.name}.{name_in_file}" if name_in_file else name, self.link_names)
            if node.get("type", "hinge") == "ball":
                chain += self._read_ball(node, around, name, parent, child, pose)
            else:
                chain.append(self._read_joint(node, around, name, parent, child, pose))
            parent, pose = child, Frame()
        return tuple(chain)

    def _read_ball(self, node: Node, around: Frame, name: str, parent: str, child: str, pose: Frame) -> list[MjcfJoint]:
        """Return three hinges in place of a ball joint."""
        if any(any(node.numbers(key, default=(0.0,))) for key in JOINT_FORCES):
            self.findings.warn("damping, friction, springs and rotor inertia of ball joints are ignored: {}", name)
        self.findings.note("ball joints become three hinges about x, y and z: {}", name)
        position = around @ Frame.shift(*node.numbers("pos", 3, default=(0.0, 0.0, 0.0)))
        anchor = Frame(position.translation)
        hinges: list[MjcfJoint] = []
        for letter, axis in AXES.items():
            last = letter == "z"
            joint = Joint(
                make_unique(f"{name}.{letter}", self.joint_names),
                JointKind.REVOLUTE,
                parent,
                child if last else make_unique(f"{child}.{letter}", self.link_names),
                placement=Frame() if hinges else pose @ anchor,
                axis=axis,
                seat=anchor.inverse() if last else Frame(),
            )
            hinges.append(MjcfJoint(joint, positions=0 if hinges else BALL_POSITIONS))
            parent = joint.child
        return hinges

    def _is_free(self, node: Node, body: MjcfBody) -> bool:
        """Whether this is a free joint, even if it becomes fixed. Raises an error if it is not supported."""
        if node.tag != "freejoint":
            read_choice(node, "type", "hinge", ("hinge", "slide", "ball", "free"))
        if not _is_free_joint(node):
            return False
        if self.fix_base:
            self.findings.note("free bodies are fixed at their positions in the file (fix_base): {}", body.name)
        elif body.name in self.props:
            self.findings.note("free bodies beside the robot are left at their positions in the file: {}", body.name)
        return True

    def _stays(self, body: MjcfBody) -> bool:
        return self.fix_base or body.name in self.props

    def _read_joint(self, node: Node, around: Frame, name: str, parent: str, child: str, pose: Frame) -> MjcfJoint:
        kind = _KINDS[node.get("type", "hinge")]
        revolute = kind is JointKind.REVOLUTE
        axis = self._read_axis(node, around)
        position = around @ Frame.shift(*node.numbers("pos", 3, default=(0.0, 0.0, 0.0)))
        anchor = Frame(position.translation)
        ref = node.number("ref", 0.0)
        if revolute:
            ref = self.snapper.snap_angle(self.compiler.to_radians(ref), node.where)
            placement, seat = pose @ anchor, anchor.inverse()
            if ref != 0.0:
                seat = Frame.turn(axis, -ref) @ seat
        else:
            placement, seat = pose, Frame.shift(*(-ref * entry if ref else 0.0 for entry in axis))
        joint = Joint(
            name,
            kind,
            parent,
            child,
            placement=placement,
            axis=axis,
            seat=seat,
            limits=self._read_limits(node, name, revolute=revolute),
            drive=self._read_drive(node, name),
        )
        return MjcfJoint(joint, ref, self._read_springs(node, name, revolute=revolute))

    def _read_axis(self, node: Node, around: Frame) -> Vector:
        try:
            axis = normalize_axis(to_vector(node.numbers("axis", 3, default=(0.0, 0.0, 1.0))))
        except InputError as error:
            raise node.error(str(error)) from None
        return self.snapper.snap_axis(normalize_axis(to_vector(np.array(around.rotation) @ axis)), node.where)

    def _read_limits(self, node: Node, name: str, *, revolute: bool) -> Limits:
        lower, upper = read_limits(node, "", self.compiler) or (-math.inf, math.inf)
        if revolute:
            lower, upper = self.compiler.to_radians(lower), self.compiler.to_radians(upper)
        force = read_limits(node, "actuatorfrc", self.compiler)
        if force is not None:
            effort = max(abs(force[0]), abs(force[1]))
        else:
            effort = self.actuation[name].effort if name in self.actuation else math.inf
        return Limits(lower, upper, effort=effort)

    def _read_drive(self, node: Node, name: str) -> Drive:
        actuation = self.actuation.get(name, Actuation())
        linear, higher = read_leading(node, "damping", 0.0)
        if any(higher):
            self.findings.warn("the quadratic and cubic damping of joints is ignored: {}", name)
        if _has_springdamper(node):
            self.findings.warn("springs and dampers that MuJoCo computes (springdamper) are ignored: {}", name)
            linear = 0.0
        return Drive(
            rotor_inertia=node.number("armature", 0.0) + actuation.rotor_inertia,
            viscous=linear + actuation.viscous,
            coulomb=node.number("frictionloss", 0.0),
        )

    def _read_springs(self, node: Node, name: str, *, revolute: bool) -> tuple[Force, ...]:
        """Return the forces of the spring, one for each power of the deflection whose stiffness is not zero."""
        if _has_springdamper(node):
            return ()
        rest = node.number("springref", 0.0)
        rest = self.compiler.to_radians(rest) if revolute else rest
        deflection = (
            f"{format_position(name)} {'-' if rest > 0.0 else '+'} {abs(rest)!r}" if rest else format_position(name)
        )
        springs: list[Force] = []
        for power, stiffness in enumerate(node.numbers("stiffness", default=(0.0,)), start=1):
            shape, suffix = (deflection, "") if power == 1 else (f"({deflection})**{power}", str(power))
            if stiffness:
                springs.append(
                    Force(self._make_force_name(f"{name}_spring{suffix}"), ((name, shape),), value=stiffness)
                )
        return tuple(springs)

    def _make_force_name(self, proposal: str) -> str:
        """Return a name that no link, joint or force has."""
        name = make_unique(proposal, self.link_names | self.joint_names)
        self.link_names.add(name)
        self.joint_names.add(name)
        return name


def _has_springdamper(node: Node) -> bool:
    """Whether MuJoCo computes stiffness and damping from ``springdamper`` and ignores their values in the file."""
    return all(number > 0.0 for number in node.numbers("springdamper", 2, default=(0.0, 0.0)))


def find_props(bodies: Sequence[MjcfBody], driven: Collection[str] = ()) -> frozenset[str]:
    """Return the bodies of free parts that are not the robot. ``driven`` are the joints that actuators drive.

    These are free bodies without further joints beside something that moves by joints, such as a cube to be held; if
    nothing else moves, the first one is the robot. They are also free parts with joints but without actuators, such as
    a pot with a lid, beside something that actuators drive.
    """
    roots: dict[str, str] = {}  # of each body, the body of its tree that the world carries
    joints: dict[str, list[Node]] = {}
    for body in bodies[1:]:
        roots[body.name] = roots.get(body.parent, body.name)
        joints.setdefault(roots[body.name], []).extend(node for node, _ in body.joints)
    moving = {root: nodes for root, nodes in joints.items() if nodes}
    bare = [root for root, nodes in moving.items() if len(nodes) == 1 and _is_free_joint(nodes[0])]
    props = set(bare if len(bare) < len(moving) else bare[1:])
    passive = {root for root, nodes in moving.items() if not any(node.get("name", "") in driven for node in nodes)}
    if len(passive) < len(moving):
        props |= {root for root in passive if any(map(_is_free_joint, moving[root]))}
    return frozenset(name for name, root in roots.items() if root in props)


def _is_free_joint(node: Node) -> bool:
    return node.tag == "freejoint" or node.get("type", "hinge") == "free"


# The home configuration of an MJCF robot, from a keyframe.


HOME_KEY = "home"


def read_home(keyframe: Node, joints: Sequence[MjcfJoint]) -> dict[str, float]:
    """Return the positions of the keyframe ``home`` by joint, if it has as many positions as the joints need."""
    for key in keyframe.all("key"):
        if key.get("name", "") == HOME_KEY and "qpos" in key.attributes:
            qpos = key.numbers("qpos")
            if len(qpos) == sum(joint.positions for joint in joints):
                return _assign(qpos, joints)
    return {}


def _assign(qpos: Sequence[float], joints: Sequence[MjcfJoint]) -> dict[str, float]:
    home: dict[str, float] = {}
    start = 0
    for k, joint in enumerate(joints):
        values = qpos[start : start + joint.positions]
        start += joint.positions
        if len(values) == 1:
            home[joint.joint.name] = values[0]
        elif len(values) == BALL_POSITIONS:
            names = (hinge.joint.name for hinge in joints[k : k + len(AXES)])
            home |= dict(zip(names, _compute_angles(values), strict=True))
        elif joint.base_pose is not None:
            home |= dict.fromkeys(BASE_COORDINATES, 0.0) | dict(list_home(_read_pose(values)))
    return home


def _read_pose(values: Sequence[float]) -> Frame:
    """Return the pose of a floating base from its position and its quaternion w, x, y, z."""
    position = Frame.shift(*values[:3])
    try:
        return position @ Frame.from_quaternion(*values[3:])
    except InputError:
        return position


def _compute_angles(quaternion: Sequence[float]) -> tuple[float, float, float]:
    """Return the angles of successive turns about x, y and z."""
    try:
        rotation = Frame.from_quaternion(*quaternion).rotation
    except InputError:
        return 0.0, 0.0, 0.0
    return (
        math.atan2(-rotation[1][2], rotation[2][2]),
        math.asin(max(-1.0, min(1.0, rotation[0][2]))),
        math.atan2(-rotation[0][1], rotation[0][0]),
    )
