"""A robot as a new MJCF file: bodies, joints, inertias, drives, loops, couplings, motors, markers, home, simple shapes.

Loops become equality constraints between sites, couplings become joint equalities or, with several terms, tendons of
fixed length. A cut revolute joint becomes two connected points on its axis. ``robot.mjcf_writer`` has the rules for
poses, joints, drives and cut joints.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.exporting.losses import is_mimic
from ytheta.exporting.xml_edit import format_comment, format_number, format_numbers, quote_name
from ytheta.findings import Finding
from ytheta.robot import mjcf_writer
from ytheta.robot.floating import WORLD, find_home_pose, quaternions_from_rotation_vectors
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import joint_pose
from ytheta.robot.parts import CollisionShape, Coupling, Joint, JointKind, Link, ShapeKind
from ytheta.robot.robot import Robot

UNLIMITED = 1e9  # rad or m; MJCF has no ranges with only one bound. Chosen on: reasoning, beyond any real joint.
# Relative to the largest moment; MuJoCo accepts smaller principal moments only if they are given in principal axes.
# Chosen on: rule of thumb.
MIN_RELATIVE_MOMENT = 1e-9
MIN_MOMENT = 1e-13  # kg m^2; smaller principal moments are given in principal axes, too. Chosen on: rule of thumb.


def format_robot(robot: Robot, losses: Iterable[Finding]) -> str:
    """Return a robot as MJCF text; a comment names what MJCF cannot express."""
    root = Element("mujoco", model=check_name(robot.name))
    SubElement(root, "compiler", mjcf_writer.COMPILER)
    SubElement(root, "option", gravity=format_numbers(robot.gravity_in_base))
    world = SubElement(root, "worldbody")
    bodies = {robot.base.name: world}
    for joint in robot.joints:
        bodies[joint.child] = _add_body(bodies[joint.parent], joint, robot)
    for marker in robot.markers:
        _add_site(bodies[marker.link], marker.name, marker.frame)
    sensors = [joint for joint in robot.joints if joint.kind is JointKind.SENSOR]
    for joint in sensors:
        _add_site(bodies[joint.child], joint.name, joint.seat.inverse())
    for shape in robot.collision:
        _add_geom(bodies[shape.link], shape)
    equality = Element("equality")
    for loop in robot.loops:
        _add_loop(equality, loop.joint, bodies)
    tendons = [tendon for coupling in robot.couplings for tendon in _add_coupling(equality, coupling, robot)]
    _append(root, "tendon", tendons)
    _append(root, "equality", list(equality))
    _append(root, "actuator", list(_list_motors(robot)))
    quantities = product((joint.name for joint in sensors), ("force", "torque"))
    _append(root, "sensor", [Element(tag, name=f"{name}_{tag}", site=name) for name, tag in quantities])
    if robot.home:
        qpos = _list_home(world, robot)
        SubElement(SubElement(root, "keyframe"), "key", name="home", qpos=format_numbers(qpos))
    indent(root)
    comments = [format_comment(loss.text) for loss in losses]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *comments, tostring(root, encoding="unicode"), ""])


def check_name(name: str) -> str:
    """Return a name; InputError if XML does not allow it."""
    quote_name(name)
    return name


def list_inertial_attributes(inertia: Inertia) -> dict[str, str]:
    """Return the attributes of ``<inertial>``."""
    attributes = {"pos": format_numbers(inertia.center), "mass": format_number(inertia.mass)}
    if inertia.massless:  # MuJoCo accepts bodies without mass if they do not move relative to their parent
        return {**attributes, "diaginertia": "0 0 0"}
    tensor = np.array(inertia.tensor_about_center)
    moments, axes = np.linalg.eigh(tensor)
    if moments[0] > max(MIN_MOMENT, MIN_RELATIVE_MOMENT * moments[2]):
        return {**attributes, "fullinertia": format_numbers(mjcf_writer.list_full_inertia(inertia))}
    axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
    principal = {"diaginertia": format_numbers(np.maximum(moments, 0.0))}
    return {**attributes, **principal, "xyaxes": format_numbers(axes[:, :2].T.ravel())}


def format_load(joint: Joint, link: Link) -> str:
    """Return a load as a body in one line."""
    body = Element("body", {"name": check_name(link.name), **_format_pose(joint.placement @ joint.seat)})
    SubElement(body, "inertial", list_inertial_attributes(link.inertia))
    return tostring(body, encoding="unicode")


def _add_body(parent: Element, joint: Joint, robot: Robot) -> Element:
    link = robot.link(joint.child)
    if link.name == WORLD:
        raise InputError(
            f"link {WORLD!r} is not the first link of {robot.name!r}, but MJCF reserves this name for it; rename the "
            "link, or export to toml"
        )
    is_free = joint.kind is JointKind.FREE
    pose = _format_pose(find_home_pose(robot) if is_free else Frame.from_matrix(joint_pose(joint, 0.0)))
    body = SubElement(parent, "body", {"name": check_name(link.name), **pose})
    if joint.moves or is_free:
        if not any(_is_accepted(member.inertia) for member in _list_rigid_links(robot, link)):
            raise InputError(
                f"link {link.name!r} moves, but its mass or a moment of inertia about its centre is zero, which MuJoCo "
                "does not accept; give it mass and moments of inertia, or export to toml"
            )
        if is_free:
            SubElement(body, "freejoint", name=check_name(joint.name))
        else:
            _add_joint(body, joint)
    SubElement(body, "inertial", list_inertial_attributes(link.inertia))
    return body


def _list_rigid_links(robot: Robot, link: Link) -> list[Link]:
    """Return a link and the links that fixed joints connect to it."""
    links = [link]
    for each in links:  # the list grows
        on_link = (joint for joint in robot.joints if joint.parent == each.name)
        links += [robot.link(joint.child) for joint in on_link if joint.kind in (JointKind.FIXED, JointKind.SENSOR)]
    return links


def _is_accepted(inertia: Inertia) -> bool:
    """Whether MuJoCo accepts a moving body with this inertia."""
    return bool(inertia.mass > MIN_MOMENT and np.linalg.eigvalsh(inertia.tensor_about_center)[0] > MIN_MOMENT)


def _add_joint(body: Element, joint: Joint) -> None:
    check_name(joint.name)
    element = SubElement(body, "joint", _format_attributes(mjcf_writer.describe_joint(joint)))
    bounds = (joint.limits.lower, joint.limits.upper)
    if any(map(math.isfinite, bounds)):
        element.set("range", format_numbers(min(max(bound, -UNLIMITED), UNLIMITED) for bound in bounds))
    element.attrib.update(_format_attributes(mjcf_writer.describe_drive(joint.drive)))


def _add_site(body: Element, name: str, frame: Frame) -> None:
    SubElement(body, "site", {"name": check_name(name), **_format_pose(frame)})


def _add_geom(body: Element, shape: CollisionShape) -> None:
    """Add a shape with half-lengths instead of lengths; a mesh is left out.

    Shapes collide with surroundings, whose ``conaffinity`` is 1 by default, but not with each other: they are larger
    than the links, so that they overlap at joints, and the torques of the model have no contacts.
    """
    match shape.kind:
        case ShapeKind.SPHERE | ShapeKind.ELLIPSOID:
            sizes: tuple[float, ...] = shape.size
        case ShapeKind.BOX:
            sizes = tuple(size / 2 for size in shape.size)
        case ShapeKind.CYLINDER | ShapeKind.CAPSULE:
            sizes = (shape.size[0], shape.size[1] / 2)
        case ShapeKind.MESH:
            return
    attributes = {"type": shape.kind.value, "size": format_numbers(sizes), "conaffinity": "0"}
    SubElement(body, "geom", {**attributes, **_format_pose(shape.frame)})


def _add_loop(equality: Element, joint: Joint, bodies: dict[str, Element]) -> None:
    """Add the sites and constraints of a cut joint."""
    if joint.kind is JointKind.PRISMATIC:
        raise InputError(
            f"loop {joint.name!r} is cut at a prismatic joint, which no constraint of MuJoCo replaces; "
            "cut the loop at a revolute joint, or export to toml"
        )
    kind = "weld" if joint.kind is JointKind.FIXED else "connect"
    for k, sides in enumerate(mjcf_writer.locate_cut_points(joint)):
        names = [f"{joint.name}.{k}.{side.link}" for side in sides]
        for name, side in zip(names, sides, strict=True):
            _add_site(bodies[side.link], name, side.frame)
        SubElement(equality, kind, name=f"{joint.name}.{k}" if k else joint.name, site1=names[0], site2=names[1])


def _add_coupling(equality: Element, coupling: Coupling, robot: Robot) -> Iterator[Element]:
    """Add a joint equality or, for several terms, an equality of a tendon, which is yielded."""
    joints = {joint.name for joint in robot.movable}
    if not coupling.terms or is_mimic(coupling, robot):
        ((leader, factor),) = coupling.terms or (("", 0.0),)
        attributes = {"joint1": coupling.joint, **({"joint2": leader} if leader else {})}
        SubElement(equality, "joint", attributes, polycoef=format_numbers((coupling.offset, factor, 0, 0, 0)))
    elif all(name in joints for name, _ in coupling.terms):
        tendon = Element("fixed", name=coupling.joint)
        for name, factor in mjcf_writer.list_tendon_terms(coupling):
            SubElement(tendon, "joint", joint=name, coef=format_number(factor))
        SubElement(equality, "tendon", tendon1=coupling.joint, polycoef=format_numbers((coupling.offset, 0, 0, 0, 0)))
        yield tendon


def _list_motors(robot: Robot) -> Iterator[Element]:
    """Yield a torque motor for every actuated joint."""
    joints = {joint.name: joint for joint in robot.movable}
    for name in robot.actuated:
        if name in joints:
            effort = joints[name].limits.effort
            limit = {} if math.isinf(effort) else {"forcerange": format_numbers((-effort, effort))}
            yield Element("motor", {"name": name, "joint": name, **limit})


def _list_home(world: Element, robot: Robot) -> list[float]:
    """Return the positions at home in MuJoCo's order, which is that of the file; a free joint has a quaternion."""
    factors, offset = robot.coupling_map
    positions = dict(zip(robot.position_names, factors @ robot.home_coordinates + offset, strict=True))
    home: list[float] = []
    for element in world.iter():
        if element.tag == "freejoint":
            x, y, z, rx, ry, rz = (float(positions[name]) for name in BASE_COORDINATES)
            qx, qy, qz, qw = quaternions_from_rotation_vectors(np.array([[rx, ry, rz]]))[0].tolist()
            home += [x, y, z, qw, qx, qy, qz]
        elif element.tag == "joint":
            home.append(float(positions[element.get("name", "")]))
    return home


def _format_pose(frame: Frame) -> dict[str, str]:
    return _format_attributes(mjcf_writer.describe_pose(frame))


def _format_attributes(attributes: mjcf_writer.Attributes) -> dict[str, str]:
    return {key: value if isinstance(value, str) else format_numbers(value) for key, value in attributes.items()}


def _append(root: Element, tag: str, elements: Sequence[Element]) -> None:
    if elements:
        SubElement(root, tag).extend(elements)
