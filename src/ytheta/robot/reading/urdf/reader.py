"""Reads URDF, following the specification as implemented by urdfdom.

The default axis is (1, 0, 0), ``continuous`` is revolute without position limits, a link without ``inertial`` has no
mass, and ``mimic`` is a coupling. Visuals and elements of other tools (``gazebo``, ``transmission``, ``ros2_control``
…) are ignored, apart from rotors that Drake adds; a warning names those that may change the dynamics. Meshes are never
opened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.files.bounded import locate_reference
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.checks import check_shape
from ytheta.robot.collision import CollisionShape, ShapeKind, describe_mesh
from ytheta.robot.floating.base import list_home
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Limits, Link
from ytheta.robot.reading.ros_packages import SCHEME, list_packages, locate_in_package
from ytheta.robot.reading.snap import Snapper, normalize_axis
from ytheta.robot.reading.urdf.document import check_document
from ytheta.robot.reading.urdf.extension import apply_extension
from ytheta.robot.reading.urdf.extras import add_rotors, add_world, report_extras
from ytheta.robot.reading.urdf.followers import fix_followers
from ytheta.robot.robot import Robot

KINDS_BY_TYPE = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
    "floating": JointKind.FREE,
}
KNOWN_TYPES = ", ".join(KINDS_BY_TYPE)
UNSUPPORTED_TYPES = {
    "planar": "joints of type 'planar' are not supported; write the motion as a chain of prismatic and revolute joints",
    "spherical": "URDF has no joints of type 'spherical'; write three continuous joints about x, y and z, with links "
    "without <inertial> between them, or use MJCF",
}


def read_urdf(
    root: Node,
    path: Path,
    snap: float,
    *,
    fix_base: bool = False,
    package_paths: Sequence[Path] = (),
    allow_paths: Sequence[Path] = (),
) -> Robot:
    """Read a robot from the root element of a URDF document.

    A floating joint makes the base float, and its frame becomes the home of the base. ``fix_base``: floating joints
    become fixed.
    """
    check_document(root)
    snapper = Snapper(snap)
    findings: list[Finding] = []
    joint_nodes = list(root.all("joint"))
    links = add_world(tuple(_read_link(node) for node in root.all("link")), root, findings)
    kinds = KINDS_BY_TYPE | {"floating": JointKind.FIXED} if fix_base else KINDS_BY_TYPE
    joints = tuple(_read_joint(node, kinds, snapper, findings) for node in joint_nodes)
    couplings = tuple(
        _read_mimic(node, mimic)
        for node, joint in zip(joint_nodes, joints, strict=True)
        if joint.moves and (mimic := node.first("mimic")) is not None
    )

    joints, couplings, notes = fix_followers(add_rotors(joints, root), couplings)
    findings += [*_report_unbounded(joint_nodes), *notes, *report_extras(root)]

    @cache
    def find_packages() -> dict[str, Path]:
        return list_packages(path, package_paths)

    def locate_mesh(reference: str) -> Path | None:
        if reference.startswith(SCHEME):
            return locate_in_package(reference, find_packages())
        return locate_reference(reference, path, allow_paths)

    collision = tuple(
        shape
        for link in root.all("link")
        for node in link.all("collision")
        if (shape := _read_collision(link.text("name"), node, locate_mesh, findings)) is not None
    )
    poses = [joint.placement for joint in joints if joint.kind is JointKind.FREE]
    robot = Robot(
        name=root.get("name", path.stem),
        links=links,
        joints=tuple(replace(j, placement=IDENTITY) if j.kind is JointKind.FREE else j for j in joints),
        home=tuple(entry for pose in poses for entry in list_home(pose)),
        couplings=couplings,
        collision=collision,
        findings=(*snapper.findings, *findings),
        source=path.name,
    )
    return apply_extension(robot, root, fix_base=fix_base)


def _read_link(node: Node) -> Link:
    inertial = node.first("inertial")
    return Link(node.text("name"), Inertia() if inertial is None else _read_inertia(inertial))


def _read_inertia(node: Node) -> Inertia:
    mass_node, tensor_node = node.first("mass"), node.first("inertia")
    if mass_node is None or tensor_node is None:
        missing = "mass" if mass_node is None else "inertia"
        zeros = " (zeros for a point mass)" if tensor_node is None else ""
        raise node.error(f"<{missing}> is missing; add it{zeros}, or remove <inertial> if the link has no mass")
    mass = mass_node.number("value")
    if mass < 0.0:
        raise mass_node.error(f"the mass {mass:g} kg is negative; give a positive mass, or 0 for none")
    xx, xy, xz, yy, yz, zz = (tensor_node.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    frame = read_origin(node)
    rotation = np.array(frame.rotation)
    tensor = rotation @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ rotation.T
    return Inertia.about_center(mass, to_vector(frame.matrix[:3, 3]), to_rows(tensor))


def _read_collision(
    link: str, node: Node, locate_mesh: Callable[[str], Path | None], findings: list[Finding]
) -> CollisionShape | None:
    """Return the shape of a ``<collision>``. A faulty one is left out, with a warning: the dynamics do not need it."""
    try:
        shape = _read_shape(link, node, locate_mesh)
        check_shape(shape)
    except InputError as error:
        statement = f"a collision shape of link {link!r} is left out: {error}"
        findings.append(Finding("collision", Severity.WARNING, statement, names=(link,)))
        return None
    return shape


def _read_shape(link: str, node: Node, locate_mesh: Callable[[str], Path | None]) -> CollisionShape:
    """Read a shape; lengths are whole lengths, as in urdfdom."""
    geometry = node.first("geometry")
    if geometry is None or not geometry.children:
        raise node.error("<geometry> has no shape; add one, or remove <collision>")
    shape, frame = geometry.children[0], read_origin(node)
    match shape.tag:
        case "sphere":
            size: tuple[float, ...] = (shape.number("radius"),)
        case "cylinder" | "capsule" | "drake:capsule":
            size = (shape.number("radius"), shape.number("length"))
        case "box":
            size = shape.numbers("size", 3)
        case "drake:ellipsoid":
            size = (shape.number("a"), shape.number("b"), shape.number("c"))
        case "mesh":
            reference = shape.text("filename")
            file = locate_mesh(reference)
            scale = shape.numbers("scale", 3, default=(1.0, 1.0, 1.0))
            return CollisionShape(link, ShapeKind.MESH, scale, frame, describe_mesh(file, reference))
        case _:
            raise shape.error(f"<{shape.tag}> is not a shape; use box, cylinder, capsule, sphere or mesh")
    return CollisionShape(link, ShapeKind(shape.tag.removeprefix("drake:")), size, frame)


def _read_joint(node: Node, kinds: Mapping[str, JointKind], snapper: Snapper, findings: list[Finding]) -> Joint:
    kind_name = node.text("type")
    if kind_name not in kinds:
        raise node.error(
            UNSUPPORTED_TYPES.get(kind_name, f"the joint type '{kind_name}' is unknown; use one of {KNOWN_TYPES}")
        )
    if kind_name == "floating" and kinds[kind_name] is JointKind.FIXED:
        name = node.text("name")
        statement = f"the floating joint is fixed at its position in the file (fix_base): {name}"
        findings.append(Finding("fixed base", Severity.NOTE, statement, names=(name,)))
    parent, child = node.first("parent"), node.first("child")
    if parent is None or child is None:
        raise node.error(f"<{'parent' if parent is None else 'child'}> is missing; name the link that it connects")
    kind = kinds[kind_name]
    return Joint(
        name=node.text("name"),
        kind=kind,
        parent=parent.text("link"),
        child=child.text("link"),
        placement=read_origin(node, snapper),
        axis=_read_axis(node, snapper) if kind not in (JointKind.FIXED, JointKind.FREE) else (0.0, 0.0, 1.0),
        limits=_read_limits(node, continuous=kind_name == "continuous") if kind_name != "floating" else Limits(),
        drive=_read_drive(node),
    )


def read_origin(node: Node, snapper: Snapper | None = None) -> Frame:
    """Return the frame of the ``<origin>`` of an element; the identity if it has none."""
    origin = node.first("origin")
    if origin is None:
        return IDENTITY
    translation = Frame.shift(*origin.numbers("xyz", 3, default=(0.0, 0.0, 0.0)))
    if "quat_xyzw" in origin.attributes:  # supported by urdfdom 5 and later
        x, y, z, w = origin.numbers("quat_xyzw", 4)
        try:
            turn = Frame.from_quaternion(w, x, y, z)
        except InputError as error:
            raise origin.error(str(error)) from None
        return translation @ (turn if snapper is None else snapper.snap_rotation(turn, node.where))
    roll, pitch, yaw = origin.numbers("rpy", 3, default=(0.0, 0.0, 0.0))
    if snapper is None:
        return translation @ Frame.from_rpy(roll, pitch, yaw)
    return translation @ snapper.snap_rpy(roll, pitch, yaw, node.where)


def _read_axis(node: Node, snapper: Snapper) -> Vector:
    axis = node.first("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    try:
        unit = normalize_axis(to_vector(axis.numbers("xyz", 3)))
    except InputError as error:
        raise axis.error(f"joint {node.text('name')!r}: {error}") from None
    return snapper.snap_axis(unit, node.where)


def _read_limits(node: Node, *, continuous: bool) -> Limits:
    limit = node.first("limit")
    if limit is None:
        return Limits()
    bounded = not continuous and _has_bounds(limit)
    return Limits(
        lower=_read_limit(-math.inf, limit, "lower", 0.0) if bounded else -math.inf,
        upper=_read_limit(math.inf, limit, "upper", 0.0) if bounded else math.inf,
        velocity=_read_bound(limit, "velocity"),
        acceleration=_read_bound(limit, "acceleration" if "acceleration" in limit.attributes else "drake:acceleration"),
        effort=_read_bound(limit, "effort"),
    )


def _has_bounds(limit: Node) -> bool:
    return "lower" in limit.attributes or "upper" in limit.attributes


def _report_unbounded(nodes: Sequence[Node]) -> list[Finding]:
    """Return a note about joints with a <limit> that does not limit their positions, unless they are continuous."""
    names = tuple(
        node.text("name")
        for node in nodes
        if node.text("type") in ("revolute", "prismatic")
        and (limit := node.first("limit")) is not None
        and not _has_bounds(limit)
    )
    if not names:
        return []
    statement = "joints with a <limit> without lower and upper are treated as unbounded"
    return [Finding("limits", Severity.NOTE, f"{statement}: {', '.join(names)}", names=names)]


def _read_bound(limit: Node, key: str) -> float:
    value = _read_limit(math.inf, limit, key, math.inf)
    if value < 0.0:
        raise limit.error(f"the {key} limit {value:g} is negative; give its magnitude")
    return value


def _read_limit(unlimited: float, limit: Node, key: str, default: float) -> float:
    """Return a limit: a finite number, or the infinity ``unlimited``. The opposite infinity is an error."""
    try:
        if float(limit.get(key, "nan")) == unlimited:
            return unlimited
    except ValueError:
        pass  # limit.number below raises an error that names the place
    return limit.number(key, default)


def _read_drive(node: Node) -> Drive:
    dynamics = node.first("dynamics")
    if dynamics is None:
        return Drive()
    return Drive(viscous=dynamics.number("damping", 0.0), coulomb=dynamics.number("friction", 0.0))


def _read_mimic(node: Node, mimic: Node) -> Coupling:
    factor, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    return Coupling(node.text("name"), ((mimic.text("joint"), factor),), offset)
