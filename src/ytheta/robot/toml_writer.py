"""Writes a robot as TOML. Reading the text gives an equal robot, to the last digit.

Collision shapes are written too, but not meshes, because their paths are valid only in the folder of the description.
"""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, InlineTable
from tomlkit.items import Table as TomlTable

from ytheta.arguments import check_path
from ytheta.conventions import CLOSURE_TOLERANCE, LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.errors import InputError
from ytheta.files.atomic import write_atomically
from ytheta.files.symbols import Length, Scalar
from ytheta.robot.frame import ANGLE_STEP, IDENTITY, IDENTITY_ROTATION, ORIGIN, Frame
from ytheta.robot.parts import CollisionShape, Coupling, Drive, Force, Joint, Limits, Link, Marker, Motor, ShapeKind
from ytheta.robot.reading.snap import format_angle
from ytheta.robot.reading.toml import FORMAT, UNSET
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.robot.structure import list_coordinates


def save_robot(robot: Robot, path: str | Path) -> Path:
    """Write a robot to a ``.toml`` file, atomically."""
    check_is_robot(robot)
    path = check_path(path, "the file to write")
    if path.suffix.lower() != ".toml":
        raise InputError(f"{path}: robots are written as TOML; use the extension .toml")
    try:
        content = to_toml(robot).encode("utf-8")
    except UnicodeEncodeError as error:
        invalid = error.object[error.start : error.end]
        raise InputError(
            f"{path}: the robot contains {invalid!r}, which UTF-8 cannot encode; correct this text"
        ) from None
    with write_atomically(path) as file:
        file.write_bytes(content)
    return path


def to_toml(robot: Robot) -> str:
    """Return a robot as TOML text."""
    document = tomlkit.document()
    document["format"] = FORMAT
    document["exact"] = True
    document["name"] = robot.name
    for key, text in (("about", robot.about), ("source", robot.source)):
        if text:
            document[key] = text
    if robot.gravity != STANDARD_GRAVITY:
        document["gravity"] = list(robot.gravity)
    if robot.actuated != (
        *robot.base_coordinates,
        *list_coordinates(robot.movable, robot.couplings, robot.motors),
    ):
        document["actuated"] = list(robot.actuated)
    if robot.closure_tolerance != CLOSURE_TOLERANCE:
        document["closure_tolerance"] = robot.closure_tolerance
    if robot.mounting != IDENTITY:
        document["mounting"] = _format_frame(robot.mounting)
    if robot.lengths:
        document["lengths"] = _to_table({name: UNSET if value is None else value for name, value in robot.lengths})
    if robot.angles:
        document["angles"] = _to_table({name: UNSET if value is None else value for name, value in robot.angles})
    if robot.inertias_unknown:
        document["inertias_unknown"] = True
    if robot.home:
        document["home"] = _to_table(dict(robot.home))
    _append(document, "link", [_format_link(link) for link in robot.links])
    _append(document, "joint", [_format_joint(joint) for joint in robot.joints])
    _append(document, "loop", [_format_joint(loop.joint) for loop in robot.loops])
    _append(document, "coupling", [_format_coupling(coupling) for coupling in robot.couplings])
    _append(document, "motor", [_format_motor(motor) for motor in robot.motors])
    _append(document, "force", [_format_force(force) for force in robot.forces])
    _append(document, "marker", [_format_marker(marker) for marker in robot.markers])
    _append(document, "collision", [_format_collision(s) for s in robot.collision if s.kind is not ShapeKind.MESH])
    return tomlkit.dumps(document)


def _format_link(link: Link) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": link.name}
    if not link.inertia.massless:
        named = zip(LINK_PARAMETERS, link.inertia.parameters, strict=True)
        entry["parameters"] = _to_inline_table({name: value for name, value in named if value != 0.0})
    if not link.has_inertia:
        entry["inertia"] = False
    if link.zero:
        entry["zero"] = list(link.zero)
    if link.load:
        entry["load"] = True
    if link.source:
        entry["source"] = link.source
    return entry


def _format_joint(joint: Joint) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": joint.name,
        "type": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
    }
    if joint.placement != IDENTITY:
        entry["frame"] = _format_frame(joint.placement)
    if joint.axis != (0.0, 0.0, 1.0):
        entry["axis"] = list(joint.axis)
    if joint.seat != IDENTITY:
        entry["seat"] = _format_frame(joint.seat)
    entry |= _format_limits(joint.limits) | _format_drive(joint.drive)
    if joint.source:
        entry["source"] = joint.source
    return entry


def _format_frame(frame: Frame) -> InlineTable:
    entry: dict[str, Any] = {}
    if frame.translation != ORIGIN:
        entry["xyz"] = [_format_scalar(value) for value in frame.translation]
    if frame.rotation != IDENTITY_ROTATION:
        rpy = frame.start.rpy
        # Angles are easier to read than a matrix. The matrix is written only if the angles do not reproduce it exactly.
        if Frame.from_rpy(*rpy).rotation == frame.rotation:
            entry["rpy"] = [_format_angle(angle) for angle in rpy]
        else:
            entry["rotation"] = [list(row) for row in frame.rotation]
    if frame.twist is not None:
        entry["twist"] = str(frame.twist.angle)
        if frame.twist.after != IDENTITY:
            entry["then"] = _format_frame(frame.twist.after)
    return _to_inline_table(entry)


def _format_limits(limits: Limits) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if (limits.lower, limits.upper) != (-math.inf, math.inf):
        entry["position"] = [limits.lower, limits.upper]
    for key in ("velocity", "acceleration", "jerk", "effort"):
        if (value := getattr(limits, key)) != math.inf:
            entry[key] = value
    return {"limits": _to_inline_table(entry)} if entry else {}


def _format_drive(drive: Drive) -> dict[str, Any]:
    changed = {f.name: value for f in fields(Drive) if (value := getattr(drive, f.name)) != f.default}
    has_rotor, absent = changed.pop("has_rotor", None), changed.pop("absent_friction", ())
    changed |= {} if has_rotor is None else {"rotor": has_rotor}
    changed |= dict.fromkeys(absent, False)
    return {"drive": _to_inline_table(changed)} if changed else {}


def _format_coupling(coupling: Coupling) -> dict[str, Any]:
    entry: dict[str, Any] = {"joint": coupling.joint, "terms": _to_inline_table(dict(coupling.terms))}
    return entry | ({"offset": coupling.offset} if coupling.offset else {})


def _format_marker(marker: Marker) -> dict[str, Any]:
    return {"name": marker.name, "link": marker.link, "frame": _format_frame(marker.frame)}


def _format_collision(shape: CollisionShape) -> dict[str, Any]:
    entry: dict[str, Any] = {"link": shape.link, "type": shape.kind.value, "size": list(shape.size)}
    if shape.frame != IDENTITY:
        entry["frame"] = _format_frame(shape.frame)
    return entry | ({"source": shape.source} if shape.source else {})


def _format_motor(motor: Motor) -> dict[str, Any]:
    turns_with = {"turns_with": _to_inline_table(dict(motor.turns_with))} if motor.turns_with else {}
    return {"name": motor.name, **turns_with, **_format_limits(motor.limits), **_format_drive(motor.drive)}


def _format_force(force: Force) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": force.name}
    if force.value:
        entry["value"] = force.value
    entry["torque"] = _to_inline_table(dict(force.torque))
    if force.where:
        entry["where"] = _to_inline_table(dict(force.where))
    if force.source:
        entry["source"] = force.source
    return entry


def _format_scalar(value: Scalar) -> str | float:
    return str(value) if isinstance(value, Length) else value


def _format_angle(angle: float) -> str | float:
    """Return an exact multiple of pi/6 as text, and any other angle as a number."""
    return format_angle(angle) if angle and round(angle / ANGLE_STEP) * ANGLE_STEP == angle else angle


def _append(document: tomlkit.TOMLDocument, key: str, entries: list[dict[str, Any]]) -> None:
    if entries:
        document[key] = AoT([_to_table(entry) for entry in entries])


def _to_table(entry: dict[str, Any]) -> TomlTable:
    table = tomlkit.table()
    table.update(entry)
    return table


def _to_inline_table(entry: dict[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update(entry)
    return table
