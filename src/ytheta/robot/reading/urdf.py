"""URDF → Robot.

Follows the URDF specification as urdfdom reads it: default axis (1, 0, 0), ``continuous`` is revolute without position
limits, a link without ``inertial`` has no mass, ``mimic`` is a coupling. Elements that belong to others (``gazebo``,
``transmission``, ``ros2_control`` …), visuals and collisions are passed over; meshes are never opened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.files.bounded import resolve_reference
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits, Link
from ytheta.robot.reading.snap import Snapper, normalize_axis
from ytheta.robot.robot import Robot

KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
}
KNOWN = ", ".join(KINDS)
UNSUPPORTED = {
    "floating": "joints of type 'floating' are not supported, a robot needs a fixed base; read it with --fix-base or "
    "fix_base=True, which holds the link where the file puts it",
    "planar": "joints of type 'planar' are not supported; write the motion as a chain of prismatic and revolute joints",
}


def read_urdf(root: Node, path: Path, snap: float, *, fix_base: bool = False) -> Robot:
    """A robot from the root element of a URDF document. ``fix_base``: floating joints are held fixed."""
    _refuse_xacro(root)
    for node in root.descendants():
        if node.tag in ("mesh", "texture") and "filename" in node.attributes:
            resolve_reference(node.attributes["filename"], path, node.where)
    snapper = Snapper(snap)
    findings: list[Finding] = []
    joint_nodes = list(root.all("joint"))
    links = tuple(_link(node) for node in root.all("link"))
    kinds = KINDS | {"floating": JointKind.FIXED} if fix_base else KINDS
    joints = tuple(_joint(node, kinds, snapper, findings) for node in joint_nodes)
    couplings = tuple(
        _mimic(node, mimic)
        for node, joint in zip(joint_nodes, joints, strict=True)
        if joint.moves and (mimic := node.first("mimic")) is not None
    )
    return Robot(
        name=root.get("name", path.stem),
        links=links,
        joints=joints,
        couplings=couplings,
        findings=(*snapper.findings, *findings),
        source=path.name,
    )


def _refuse_xacro(root: Node) -> None:
    for node in (root, *root.descendants()):
        if node.tag.startswith("xacro:"):
            raise node.error("this is a xacro file, a template; expand it first: xacro robot.urdf.xacro > robot.urdf")


def _link(node: Node) -> Link:
    inertial = node.first("inertial")
    return Link(node.text("name"), Inertia() if inertial is None else _inertia(inertial))


def _inertia(node: Node) -> Inertia:
    mass_node, tensor_node = node.first("mass"), node.first("inertia")
    if mass_node is None or tensor_node is None:
        missing = "mass" if mass_node is None else "inertia"
        raise node.error(f"<{missing}> is missing; add it, or remove <inertial> if the link has no mass")
    mass = mass_node.number("value")
    if mass < 0.0:
        raise mass_node.error(f"the mass {mass:g} kg is negative; give a positive mass, or 0 for none")
    xx, xy, xz, yy, yz, zz = (tensor_node.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    frame = _origin(node)
    rotation = np.array(frame.rotation)
    tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return Inertia.about_center(mass, to_vector(frame.matrix[:3, 3]), to_rows(tensor))


def _joint(node: Node, kinds: Mapping[str, JointKind], snapper: Snapper, findings: list[Finding]) -> Joint:
    kind_name = node.text("type")
    if kind_name not in kinds:
        raise node.error(UNSUPPORTED.get(kind_name, f"the joint type '{kind_name}' is unknown; use one of {KNOWN}"))
    if kind_name == "floating":
        name = node.text("name")
        text = f"floating joint held fixed at its position in the file (fix_base): {name}"
        findings.append(Finding("fixed base", Severity.NOTE, text, names=(name,)))
    parent, child = node.first("parent"), node.first("child")
    if parent is None or child is None:
        raise node.error(f"<{'parent' if parent is None else 'child'}> is missing; name the link it joins")
    kind = kinds[kind_name]
    return Joint(
        name=node.text("name"),
        kind=kind,
        parent=parent.text("link"),
        child=child.text("link"),
        placement=_origin(node, snapper),
        axis=_axis(node, snapper) if kind is not JointKind.FIXED else (0.0, 0.0, 1.0),
        limits=_limits(node, findings, turns_freely=kind_name == "continuous") if kind_name != "floating" else Limits(),
        drive=_drive(node),
    )


def _origin(node: Node, snapper: Snapper | None = None) -> Frame:
    origin = node.first("origin")
    if origin is None:
        return IDENTITY
    place = Frame.shift(*origin.numbers("xyz", 3, default=(0.0, 0.0, 0.0)))
    if "quat_xyzw" in origin.attributes:  # urdfdom 5 and later
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        try:
            turn = Frame.from_quaternion(w, x, y, z)
        except InputError as error:
            raise origin.error(str(error)) from None
        return place @ (turn if snapper is None else snapper.rotation(turn, node.where))
    roll, pitch, yaw = origin.numbers("rpy", 3, default=(0.0, 0.0, 0.0))
    return place @ (Frame.from_rpy(roll, pitch, yaw) if snapper is None else snapper.rpy(roll, pitch, yaw, node.where))


def _axis(node: Node, snapper: Snapper) -> Vector:
    axis = node.first("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    try:
        unit = normalize_axis(to_vector(axis.numbers("xyz", 3)))
    except InputError as error:
        raise axis.error(f"joint {node.text('name')!r}: {error}") from None
    return snapper.axis(unit, node.where)


def _limits(node: Node, findings: list[Finding], *, turns_freely: bool) -> Limits:
    limit = node.first("limit")
    if limit is None:
        return Limits()
    bounded = not turns_freely and ("lower" in limit.attributes or "upper" in limit.attributes)
    if not bounded and not turns_freely and KINDS[node.text("type")] is not JointKind.FIXED:
        name = node.text("name")
        text = f"joint {name!r} has a <limit> without lower and upper: taken as unbounded"
        findings.append(Finding("limits", Severity.NOTE, text, names=(name,)))
    return Limits(
        lower=_number_or(-math.inf, limit, "lower", 0.0) if bounded else -math.inf,
        upper=_number_or(math.inf, limit, "upper", 0.0) if bounded else math.inf,
        velocity=_bound(limit, "velocity"),
        acceleration=_bound(limit, "acceleration"),
        effort=_bound(limit, "effort"),
    )


def _bound(limit: Node, key: str) -> float:
    value = _number_or(math.inf, limit, key, math.inf)
    if value < 0.0:
        raise limit.error(f"the {key} limit {value:g} is negative; give its magnitude")
    return value


def _number_or(unlimited: float, limit: Node, key: str, default: float) -> float:
    """A finite number, or the one infinity that means that there is no limit."""
    try:
        if float(limit.get(key, "nan")) == unlimited:
            return unlimited
    except ValueError:
        pass  # limit.number below says what is wrong
    return limit.number(key, default)


def _drive(node: Node) -> Drive:
    dynamics = node.first("dynamics")
    if dynamics is None:
        return Drive()
    return Drive(viscous=dynamics.number("damping", 0.0), coulomb=dynamics.number("friction", 0.0))


def _mimic(node: Node, mimic: Node) -> Coupling:
    factor, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    return Coupling(node.text("name"), ((mimic.text("joint"), factor),), offset)
