"""A robot as a new URDF file: links, joints, mimics, limits, inertias, friction, simple collision shapes.

Markers become links without mass. A capsule, which URDF does not have, becomes a cylinder and two spheres.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import quoteattr

from ytheta.errors import InputError
from ytheta.exporting.losses import is_mimic
from ytheta.exporting.xml_edit import format_comment, format_number, format_numbers, list_moments, quote_name
from ytheta.findings import Finding
from ytheta.robot.floating import take_floating_part
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import CollisionShape, Coupling, Joint, JointKind, Limits, Link, ShapeKind
from ytheta.robot.reading.urdf import EXTENSION, FLOATING_BASE
from ytheta.robot.robot import Robot

WORLD = "world"
# SI units; URDF requires limits, and its parsers do not read "inf". Chosen on: reasoning, beyond any real joint.
UNLIMITED = 1e9


def format_robot(robot: Robot, losses: Iterable[Finding]) -> str:
    """Return a robot as URDF text; a comment names what URDF cannot express."""
    if robot.loops:
        raise InputError(
            f"{robot.name!r} has the loop {robot.loops[0].name!r}, and URDF describes trees only; export to mjcf or "
            "toml"
        )
    floating = robot.floating
    robot = take_floating_part(robot) if floating else robot
    robot = change_link_frames(robot, {joint.child: joint.seat.inverse() for joint in robot.joints})
    mimics = {coupling.joint: coupling for coupling in robot.couplings if is_mimic(coupling, robot)}
    parts = [
        *([] if floating else _format_mounting(robot)),
        *(_format_link(link, [s for s in robot.collision if s.link == link.name]) for link in robot.links),
        *(_format_joint(joint, mimics.get(joint.name)) for joint in robot.joints),
        *_format_markers(robot),
        *_format_extension(robot, floating=floating),
    ]
    comments = [format_comment(loss.text) for loss in losses]
    lines = [f"<robot name={quote_name(robot.name)}>", *comments, *parts, "</robot>", ""]
    return "\n".join(['<?xml version="1.0" encoding="utf-8"?>', *lines])


def format_inertial(inertia: Inertia) -> str:
    """Return an inertia about the centre of mass in link axes."""
    moments = " ".join(f'{key}="{format_number(value)}"' for key, value in list_moments(inertia).items())
    origin = f'<origin xyz="{format_numbers(inertia.center)}"/>' if any(inertia.center) else ""
    return f'<inertial>{origin}<mass value="{format_number(inertia.mass)}"/><inertia {moments}/></inertial>'


def format_origin(frame: Frame) -> str:
    """Return a frame as an origin; empty if it is the identity."""
    if frame == IDENTITY:
        return ""
    return f'<origin xyz="{format_numbers(to_vector(frame.matrix[:3, 3]))}" rpy="{format_numbers(frame.rpy)}"/>'


def _format_link(link: Link, shapes: Iterable[CollisionShape] = ()) -> str:
    name = quote_name(link.name)
    lines = [] if link.inertia.massless else [format_inertial(link.inertia)]
    lines += [line for shape in shapes for line in _format_shape(shape)]
    if not lines:
        return f"  <link name={name}/>"
    inside = "".join(f"\n    {line}" for line in lines)
    return f"  <link name={name}>{inside}\n  </link>"


def _format_shape(shape: CollisionShape) -> Iterator[str]:
    """Yield a shape as elements; none if URDF does not have it."""
    sizes = [format_number(size) for size in shape.size]
    match shape.kind:
        case ShapeKind.SPHERE:
            yield _format_collision(f'<sphere radius="{sizes[0]}"/>', shape.frame)
        case ShapeKind.BOX:
            yield _format_collision(f'<box size="{" ".join(sizes)}"/>', shape.frame)
        case ShapeKind.CYLINDER | ShapeKind.CAPSULE:
            yield _format_collision(f'<cylinder radius="{sizes[0]}" length="{sizes[1]}"/>', shape.frame)
    if shape.kind is ShapeKind.CAPSULE:
        for end in (-shape.size[1] / 2, shape.size[1] / 2):
            yield _format_collision(f'<sphere radius="{sizes[0]}"/>', shape.frame @ Frame.shift(z=end))


def _format_collision(geometry: str, frame: Frame) -> str:
    return f"<collision>{format_origin(frame)}<geometry>{geometry}</geometry></collision>"


def _format_joint(joint: Joint, mimic: Coupling | None) -> str:
    return _format_element(joint, _name_type(joint), list(_list_joint_content(joint, mimic)))


def _name_type(joint: Joint) -> str:
    if joint.kind is JointKind.SENSOR:
        return JointKind.FIXED.value
    if joint.kind is JointKind.REVOLUTE and not _is_bounded(joint.limits):
        return "continuous"
    return joint.kind.value


def _list_joint_content(joint: Joint, mimic: Coupling | None) -> Iterator[str]:
    if not joint.moves:
        return
    yield f'<axis xyz="{format_numbers(joint.axis)}"/>'
    yield from _format_limits(joint)
    if joint.drive.viscous or joint.drive.coulomb:
        damping, friction = format_number(joint.drive.viscous), format_number(joint.drive.coulomb)
        yield f'<dynamics damping="{damping}" friction="{friction}"/>'
    if mimic is not None:
        ((leader, factor),) = mimic.terms
        numbers = f'multiplier="{format_number(factor)}" offset="{format_number(mimic.offset)}"'
        yield f"<mimic joint={quote_name(leader)} {numbers}/>"


def _is_bounded(limits: Limits) -> bool:
    return math.isfinite(limits.lower) or math.isfinite(limits.upper)


def _format_limits(joint: Joint) -> Iterator[str]:
    """Yield the limits; a joint that turns without end and has no limits needs none."""
    limits, turns = joint.limits, _name_type(joint) == "continuous"
    if turns and math.isinf(limits.effort) and math.isinf(limits.velocity):
        return
    bounds = () if turns else (("lower", limits.lower), ("upper", limits.upper))
    named = (*bounds, ("effort", limits.effort), ("velocity", limits.velocity))
    yield f"<limit {' '.join(f'{key}={quoteattr(_format_bound(value))}' for key, value in named)}/>"


def _format_bound(value: float) -> str:
    return format_number(min(max(value, -UNLIMITED), UNLIMITED))


def _format_element(joint: Joint, kind: str, content: list[str]) -> str:
    ends = f"<parent link={quote_name(joint.parent)}/><child link={quote_name(joint.child)}/>"
    lines = [ends, *filter(None, [format_origin(joint.placement)]), *content]
    inside = "".join(f"\n    {line}" for line in lines)
    return f'  <joint name={quote_name(joint.name)} type="{kind}">{inside}\n  </joint>'


def _format_mounting(robot: Robot) -> Iterator[str]:
    """Yield a world link that carries the base, if gravity does not point along its negative z axis."""
    mounting = _turn_gravity_down(robot.gravity) @ robot.mounting
    if mounting == IDENTITY:
        return
    used = {*(x.name for x in robot.links), *(x.name for x in robot.joints), *(x.name for x in robot.markers)}
    world, joint = _make_unique(WORLD, used), _make_unique("mounting", used)
    yield _format_link(Link(world))
    yield _format_joint(Joint(joint, JointKind.FIXED, world, robot.base.name, placement=mounting), None)


def _format_extension(robot: Robot, *, floating: bool) -> Iterator[str]:
    """Yield an element that only ytheta reads: what URDF has no words for."""
    links = [link.name for link in robot.links if not link.has_inertia]
    sensors = [joint.name for joint in robot.joints if joint.kind is JointKind.SENSOR]
    if not (floating or links or sensors):
        return
    base = f' {FLOATING_BASE}="true"' if floating else ""
    lines = [
        *(f'<link name={quote_name(name)} inertia="false"/>' for name in links),
        *(f'<joint name={quote_name(name)} type="sensor"/>' for name in sensors),
    ]
    inside = "".join(f"\n    {line}" for line in lines)
    yield f"  <{EXTENSION}{base}>{inside}\n  </{EXTENSION}>" if lines else f"  <{EXTENSION}{base}/>"


def _turn_gravity_down(gravity: Vector) -> Frame:
    """Return a world in which this gravity points along the negative z axis, as in all simulators that read URDF."""
    x, y, z = gravity
    level = math.hypot(x, y)
    if level == 0.0:
        return Frame.turn((1.0, 0.0, 0.0), math.pi) if z > 0.0 else IDENTITY
    return Frame.turn((-y / level, x / level, 0.0), math.atan2(level, -z))


def _format_markers(robot: Robot) -> Iterator[str]:
    """Yield a link without mass and a fixed joint for every marker whose name is not that of a link."""
    links = {link.name for link in robot.links}
    used = {*links, *(joint.name for joint in robot.joints)}
    for marker in robot.markers:
        if marker.name not in links:
            joint = _make_unique(f"{marker.name}_fixed", used)
            yield _format_link(Link(marker.name))
            yield _format_joint(Joint(joint, JointKind.FIXED, marker.link, marker.name, placement=marker.frame), None)


def _make_unique(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    used.add(name)
    return name
