"""The joints of one MJCF body as a chain of joints.

MuJoCo moves a body by its joints in order, each about an axis and anchor that are fixed in the body and carried along
by the joints before it::

    parent ── body's pose ──▶ J1 ──▶ J2 ──▶ … ──▶ body,      J = shift(anchor) turn(axis, q - ref) shift(-anchor)

Every J but the last leads to a massless link called ``<body>.<joint>``. Where q = ref, all J are identities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.files.expressions import format_position
from ytheta.files.xml_document import Node
from ytheta.robot.frame import Frame, Vector, to_vector
from ytheta.robot.parts import Drive, Force, Joint, JointKind, Limits
from ytheta.robot.reading.mjcf.actuators import Actuation
from ytheta.robot.reading.mjcf.bodies import Body, fresh
from ytheta.robot.reading.mjcf.compiler import Compiler, choice, leading, limits
from ytheta.robot.reading.mjcf.remarks import Remarks
from ytheta.robot.reading.snap import Snapper, normalize_axis

_KINDS = {"hinge": JointKind.REVOLUTE, "slide": JointKind.PRISMATIC}


@dataclass(frozen=True)
class Hinge:
    """A joint, its position ``ref`` in the pose of the file, and its springs."""

    joint: Joint
    ref: float = 0.0
    springs: tuple[Force, ...] = ()


@dataclass(frozen=True)
class JointReader:
    """Reads the joints of bodies; names that are not in the file are made up without meeting those that are."""

    compiler: Compiler
    snapper: Snapper
    actuation: Mapping[str, Actuation]
    link_names: set[str]
    joint_names: set[str]
    remarks: Remarks
    fix_base: bool

    def chain(self, body: Body) -> tuple[Hinge, ...]:
        """The joints from the parent to a body, each with its ``ref`` and its springs."""
        nodes = [(node, around) for node, around in body.joints if not self._fixed(node, body)]
        if not nodes:
            name = fresh(f"{body.name}.fixed", self.joint_names)
            return (Hinge(Joint(name, JointKind.FIXED, body.parent, body.name, placement=body.pose)),)
        chain: list[Hinge] = []
        parent, pose = body.parent, body.pose
        for node, around in nodes:
            given = node.get("name", "")
            name = given or fresh(f"{body.name}.joint", self.joint_names)
            last = len(chain) == len(nodes) - 1
            child = body.name if last else fresh(f"{body.name}.{given}" if given else name, self.link_names)
            chain.append(self._joint(node, around, name, parent, child, pose))
            parent, pose = child, Frame()
        return tuple(chain)

    def _fixed(self, node: Node, body: Body) -> bool:
        """Whether a joint is free and held fast; refuses joints that no robot has."""
        kind = "free" if node.tag == "freejoint" else choice(node, "type", "hinge", ("hinge", "slide", "ball", "free"))
        if kind == "ball":
            raise node.error(
                f"body {body.name!r} has a ball joint, which is not supported; write it as three hinges in one body"
            )
        if kind != "free":
            return False
        if not self.fix_base:
            raise node.error(
                f"body {body.name!r} moves freely, and a robot needs a fixed base; read it with --fix-base "
                "(fix_base=True), which holds the body where the file puts it"
            )
        self.remarks.tell("free bodies held fixed where the file puts them (fix_base): {}", body.name)
        return True

    def _joint(self, node: Node, around: Frame, name: str, parent: str, child: str, pose: Frame) -> Hinge:
        kind = _KINDS[node.get("type", "hinge")]
        turns = kind is JointKind.REVOLUTE
        axis = self._axis(node, around)
        anchor = Frame.shift(
            *to_vector((around @ Frame.shift(*node.numbers("pos", 3, default=(0.0, 0.0, 0.0)))).matrix[:3, 3])
        )
        ref = node.number("ref", 0.0)
        if turns:
            ref = self.snapper.angle(self.compiler.radians(ref), node.where)
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
            limits=self._limits(node, name, turns=turns),
            drive=self._drive(node, name),
        )
        return Hinge(joint, ref, self._springs(node, name, turns=turns))

    def _axis(self, node: Node, around: Frame) -> Vector:
        try:
            axis = normalize_axis(to_vector(node.numbers("axis", 3, default=(0.0, 0.0, 1.0))))
        except InputError as error:
            raise node.error(str(error)) from None
        return self.snapper.axis(normalize_axis(to_vector(np.array(around.rotation) @ axis)), node.where)

    def _limits(self, node: Node, name: str, *, turns: bool) -> Limits:
        lower, upper = limits(node, "", self.compiler) or (-math.inf, math.inf)
        if turns:
            lower, upper = self.compiler.radians(lower), self.compiler.radians(upper)
        force = limits(node, "actuatorfrc", self.compiler)
        if force is not None:
            effort = max(abs(force[0]), abs(force[1]))
        else:
            effort = self.actuation[name].effort if name in self.actuation else math.inf
        return Limits(lower, upper, effort=effort)

    def _drive(self, node: Node, name: str) -> Drive:
        actuation = self.actuation.get(name, Actuation())
        linear, higher = leading(node, "damping", 0.0)
        if any(higher):
            self.remarks.warn("the quadratic and cubic damping of joints is left out: {}", name)
        if _sprung_by_mujoco(node):
            self.remarks.warn("springs and dampers that MuJoCo computes (springdamper) are left out: {}", name)
            linear = 0.0
        return Drive(
            rotor_inertia=node.number("armature", 0.0) + actuation.rotor_inertia,
            viscous=linear + actuation.viscous,
            coulomb=node.number("frictionloss", 0.0),
        )

    def _springs(self, node: Node, name: str, *, turns: bool) -> tuple[Force, ...]:
        """The spring, a force; one more for every higher power of the deflection that its stiffness names."""
        if _sprung_by_mujoco(node):
            return ()
        rest = node.number("springref", 0.0)
        rest = self.compiler.radians(rest) if turns else rest
        deflection = (
            f"{format_position(name)} {'-' if rest > 0.0 else '+'} {abs(rest)!r}" if rest else format_position(name)
        )
        springs: list[Force] = []
        for power, stiffness in enumerate(node.numbers("stiffness", default=(0.0,)), start=1):
            shape, suffix = (deflection, "") if power == 1 else (f"({deflection})**{power}", str(power))
            if stiffness:
                springs.append(Force(self._force_name(f"{name}_spring{suffix}"), ((name, shape),), value=stiffness))
        return tuple(springs)

    def _force_name(self, wanted: str) -> str:
        """A name that no link and no joint has, nor those that are still to be made up."""
        name = fresh(wanted, self.link_names | self.joint_names)
        self.link_names.add(name)
        self.joint_names.add(name)
        return name


def _sprung_by_mujoco(node: Node) -> bool:
    """Whether MuJoCo computes stiffness and damping, whatever the file gives for them."""
    return all(number > 0.0 for number in node.numbers("springdamper", 2, default=(0.0, 0.0)))
