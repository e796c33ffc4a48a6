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

from ytheta.errors import InputError, suggest_names
from ytheta.files.bounded import locate_reference
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.checks import check_shape
from ytheta.robot.floating import WORLD, list_home
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.locking import fix_joint
from ytheta.robot.parts import CollisionShape, Coupling, Drive, Joint, JointKind, Limits, Link, ShapeKind, describe_mesh
from ytheta.robot.reading.ros_packages import SCHEME, list_packages, locate_in_package
from ytheta.robot.reading.snap import Snapper, normalize_axis
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


# Checks of a URDF document before it is read: it is not a template, has links, and is a tree.


def check_document(root: Node) -> None:
    """Raise RobotFileError if a document with the root ``<robot>`` is not the description of a robot."""
    _refuse_xacro(root)
    if root.first("link") is None:
        raise root.error(
            "there is no <link>, so this is not the description of a robot, but perhaps an SRDF or a xacro file that "
            "only defines macros; give the file of the whole robot"
        )
    _refuse_loops(root)


def _refuse_xacro(root: Node) -> None:
    for node in (root, *root.descendants()):
        if node.tag.startswith("xacro:"):
            raise node.error("this is a xacro file, a template; rename it to .xacro, so that it is expanded")


def _refuse_loops(root: Node) -> None:
    """Raise an error if two joints have the same child: URDF describes trees only."""
    above: dict[str, str] = {}
    for node in root.all("joint"):
        for child in node.all("child"):
            link, name = child.get("link", ""), node.get("name", "")
            if link in above:
                raise node.error(
                    f"link {link!r} is the child of two joints, {above[link]!r} and {name!r}, but URDF has no closed "
                    "loops; remove one of them, and close the loop in a robot.yaml or a TOML file that extends this one"
                )
            above[link] = name


# Elements of other programs in a URDF that change the dynamics: rotors of Drake are read, the others are reported.
#
# URDF has neither springs nor closed loops nor rotors. Gazebo and Drake add them with elements of their own::
#
#     <gazebo><joint …>                                     a joint of SDF, which may close a loop
#     <gazebo reference="q1"><springStiffness>              a spring; in some files <dynamics spring_stiffness="…">
#     <transmission><actuator><drake:rotor_inertia value>   the inertia of a rotor, with <drake:gear_ratio value>
#     <drake:linear_bushing_rpy>, <loop_joint> …            forces and constraints of Drake


EXTRAS = "extras"  # code of the findings
_FORCES_OF_DRAKE = ("loop_joint", "force_element")  # in old files, without a namespace
_HARMLESS = ("drake:collision_filter_group",)
_SPRINGS = ("springStiffness", "spring_stiffness")


def report_extras(root: Node) -> list[Finding]:
    """Return warnings about elements of other programs that are ignored but may change the dynamics."""
    for node in root.all("drake:joint"):
        raise node.error(
            f"joints of Drake, such as this one of type {node.get('type', '')!r}, are not supported; write the motion "
            "as a chain of prismatic and revolute joints, with links without <inertial> between them"
        )
    loops = [child.get("name", "") for node in root.all("gazebo") for child in node.all("joint")]
    springs = [node.get("reference", "") for node in root.all("gazebo") if _has_spring(node)]
    springs += [
        node.get("name", "")
        for node in root.all("joint")
        if any(dynamics.number("spring_stiffness", 0.0) for dynamics in node.all("dynamics"))
    ]
    others = [
        f"<{node.tag}> (line {node.line})"
        for node in root.children
        if (":" in node.tag and node.tag not in _HARMLESS) or node.tag in _FORCES_OF_DRAKE
    ]
    findings = []
    for names, statement, remedy in (
        (
            loops,
            "joints in <gazebo>, which may close loops, are ignored",
            "a TOML file that extends this one can add them",
        ),
        (springs, "springs of joints are ignored", "a TOML file that extends this one can add them as forces"),
        (others, "elements that URDF does not define are ignored, although they may change the dynamics", ""),
    ):
        if names:
            text = f"{statement}: {', '.join(dict.fromkeys(names))}"
            findings.append(Finding(EXTRAS, Severity.WARNING, text, remedy, tuple(names)))
    return findings


def add_world(links: tuple[Link, ...], root: Node, findings: list[Finding]) -> tuple[Link, ...]:
    """Return the links with one for the world, if a joint is on it but the file does not have it: Drake adds it."""
    parents = {parent.get("link", "") for joint in root.all("joint") for parent in joint.all("parent")}
    if WORLD not in parents or any(link.name == WORLD for link in links):
        return links
    statement = f"the link {WORLD!r} is not in the file; a link without mass is added, as Drake does"
    findings.append(Finding(EXTRAS, Severity.NOTE, statement, names=(WORLD,)))
    return (Link(WORLD), *links)


def add_rotors(joints: tuple[Joint, ...], root: Node) -> tuple[Joint, ...]:
    """Return the joints with the rotors that files for Drake give their drives."""
    drives: dict[str, tuple[float, float]] = {}
    for transmission in root.all("transmission"):
        for actuator in transmission.all("actuator"):
            inertia, ratio = (actuator.first(f"drake:{key}") for key in ("rotor_inertia", "gear_ratio"))
            joint = transmission.first("joint")
            if inertia is not None and joint is not None:
                drives[joint.get("name", "")] = (
                    inertia.number("value"),
                    1.0 if ratio is None else ratio.number("value"),
                )
    return tuple(
        replace(joint, drive=_add_rotor(joint.drive, *drives[joint.name]))
        if joint.name in drives and joint.moves
        else joint
        for joint in joints
    )


def _add_rotor(drive: Drive, inertia: float, ratio: float) -> Drive:
    return replace(drive, rotor_inertia=inertia, gear_ratio=ratio) if inertia else drive


def _has_spring(gazebo: Node) -> bool:
    texts = [node.content for tag in _SPRINGS for node in gazebo.all(tag)]
    try:
        return any(float(text) != 0.0 for text in texts)
    except ValueError:  # a number that Gazebo would not read either
        return True


# Joints of a URDF that follow a fixed joint.
#
# A fixed joint has the position zero, so that a joint that follows it stays at its offset. Such files exist because
# somebody fixed the drive of a gripper, but not the joints that follow it.


def fix_followers(
    joints: Sequence[Joint], couplings: Sequence[Coupling]
) -> tuple[tuple[Joint, ...], tuple[Coupling, ...], tuple[Finding, ...]]:
    """Return the joints, of which those that follow fixed joints are fixed; the other couplings; and a note."""
    positions = {joint.name: 0.0 for joint in joints if joint.kind is JointKind.FIXED}
    fixed: dict[str, float] = {}
    waiting = list(couplings)
    while ready := [coupling for coupling in waiting if all(name in positions for name, _ in coupling.terms)]:
        for coupling in ready:
            fixed[coupling.joint] = coupling.offset + sum(factor * positions[name] for name, factor in coupling.terms)
        positions |= fixed
        waiting = [coupling for coupling in waiting if coupling not in ready]
    if not fixed:
        return tuple(joints), tuple(couplings), ()
    places = ", ".join(f"{name} at {position:g}" for name, position in fixed.items())
    statement = f"joints that follow a fixed joint are fixed as well: {places}"
    finding = Finding("followers", Severity.NOTE, statement, names=tuple(fixed))
    changed = tuple(fix_joint(joint, fixed[joint.name]) if joint.name in fixed else joint for joint in joints)
    return changed, tuple(waiting), (finding,)


# The element ``<ytheta>`` of a URDF: what URDF has no words for. Other programs ignore it, as they do ``<gazebo>``.
#
# ::
#
#     <ytheta floating_base="true">                   the root link floats; there is no joint to the world
#       <link name="hip.x" inertia="false"/>          a link without inertia, such as one between two axes of a ball
#       joint <joint name="wrist_sensor" type="sensor"/>    a fixed joint that measures the wrench that it transmits
#     </ytheta>


EXTENSION = "ytheta"
FLOATING_BASE = "floating_base"


def apply_extension(robot: Robot, root: Node, *, fix_base: bool) -> Robot:
    """Return the robot of a URDF with what its elements ``<ytheta>`` declare. ``fix_base``: the base does not float."""
    for node in root.all(EXTENSION):
        links = {child.text("name"): child for child in node.all("link")}
        joints = {child.text("name"): child for child in node.all("joint")}
        _check_names(links, [link.name for link in robot.links])
        _check_names(joints, [joint.name for joint in robot.joints])
        robot = replace(
            robot,
            links=tuple(_declare_link(link, links.get(link.name)) for link in robot.links),
            joints=tuple(_declare_joint(joint, joints.get(joint.name)) for joint in robot.joints),
        )
        if _read_flag(node, FLOATING_BASE, default=False) and not fix_base:
            from ytheta.robot.floating import float_base  # imported here, since few robots need it

            try:
                robot = float_base(robot)
            except InputError as error:
                raise node.error(str(error)) from None
    return robot


def _check_names(named: dict[str, Node], known: list[str]) -> None:
    for name, node in named.items():
        if name not in known:
            raise node.error(f"the file has no {node.tag} {name!r}{suggest_names(name, known)}")


def _declare_link(link: Link, node: Node | None) -> Link:
    if node is None or _read_flag(node, "inertia", default=True):
        return link
    if not link.inertia.massless:
        raise node.error("the link is declared to have no inertia, but has one; remove one of the two")
    return replace(link, has_inertia=False)


def _declare_joint(joint: Joint, node: Node | None) -> Joint:
    if node is None:
        return joint
    if node.text("type") != JointKind.SENSOR.value or joint.kind is not JointKind.FIXED:
        raise node.error(f"only a fixed joint can be declared as 'sensor', but this is {joint.kind}; remove it")
    return replace(joint, kind=JointKind.SENSOR)


def _read_flag(node: Node, key: str, *, default: bool) -> bool:
    text = node.get(key, str(default).lower())
    if text not in ("true", "false"):
        raise node.error(f"'{key}' is {text!r}; write true or false")
    return text == "true"
