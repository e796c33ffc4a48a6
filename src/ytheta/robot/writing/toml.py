"""Robot → TOML, to the last digit: reading the text back gives an equal robot."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, InlineTable
from tomlkit.items import Table as TomlTable

from ytheta.conventions import LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.errors import InputError
from ytheta.files.atomic import write_atomically
from ytheta.files.lengths import Length, Scalar
from ytheta.robot import tree
from ytheta.robot.frame import IDENTITY, IDENTITY_ROTATION, ORIGIN, STEP, Frame
from ytheta.robot.parts import Drive, Force, Joint, Limits, Link, Motor
from ytheta.robot.reading.snap import format_angle
from ytheta.robot.reading.toml.reader import FORMAT, UNSET
from ytheta.robot.robot import Robot


def save_robot(robot: Robot, path: str | Path) -> Path:
    """Write a robot to a ``.toml`` file. The file appears whole or not at all."""
    path = Path(path)
    if path.suffix.lower() != ".toml":
        raise InputError(f"{path}: robots are written as TOML; let the name end in .toml")
    try:
        content = to_toml(robot).encode("utf-8")
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise InputError(f"{path}: the robot holds {wrong!r}, which is no character; correct that text") from None
    with write_atomically(path) as file:
        file.write_bytes(content)
    return path


def to_toml(robot: Robot) -> str:
    """A robot as TOML text."""
    document = tomlkit.document()
    document["format"] = FORMAT
    document["exact"] = True
    document["name"] = robot.name
    for key, text in (("about", robot.about), ("source", robot.source)):
        if text:
            document[key] = text
    if robot.gravity != STANDARD_GRAVITY:
        document["gravity"] = list(robot.gravity)
    if robot.actuated != tree.coordinates(robot.movable, robot.couplings, robot.motors):
        document["actuated"] = list(robot.actuated)
    if robot.mounting != IDENTITY:
        document["mounting"] = _frame(robot.mounting)
    if robot.lengths:
        document["lengths"] = _plain({name: UNSET if value is None else value for name, value in robot.lengths})
    if robot.home:
        document["home"] = _plain(dict(robot.home))
    _append(document, "link", [_link(link) for link in robot.links])
    _append(document, "joint", [_joint(joint) for joint in robot.joints])
    _append(document, "loop", [_joint(loop.joint) for loop in robot.loops])
    _append(
        document,
        "coupling",
        [
            {"joint": c.joint, "terms": _inline(dict(c.terms)), **({"offset": c.offset} if c.offset else {})}
            for c in robot.couplings
        ],
    )
    _append(
        document,
        "motor",
        [_motor(motor) for motor in robot.motors],
    )
    _append(document, "force", [_force(force) for force in robot.forces])
    _append(
        document,
        "marker",
        [{"name": m.name, "link": m.link, "frame": _frame(m.frame)} for m in robot.markers],
    )
    return tomlkit.dumps(document)


def _link(link: Link) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": link.name}
    if not link.inertia.massless:
        named = zip(LINK_PARAMETERS, link.inertia.parameters, strict=True)
        entry["parameters"] = _inline({name: value for name, value in named if value != 0.0})
    if link.load:
        entry["load"] = True
    if link.source:
        entry["source"] = link.source
    return entry


def _joint(joint: Joint) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": joint.name,
        "type": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
    }
    if joint.placement != IDENTITY:
        entry["frame"] = _frame(joint.placement)
    if joint.axis != (0.0, 0.0, 1.0):
        entry["axis"] = list(joint.axis)
    if joint.seat != IDENTITY:
        entry["seat"] = _frame(joint.seat)
    entry |= _limits(joint.limits) | _drive(joint.drive)
    if joint.source:
        entry["source"] = joint.source
    return entry


def _frame(frame: Frame) -> InlineTable:
    entry: dict[str, Any] = {}
    if frame.translation != ORIGIN:
        entry["xyz"] = [_scalar(value) for value in frame.translation]
    if frame.rotation != IDENTITY_ROTATION:
        rpy = frame.rpy
        # Three angles are what a person reads; the matrix is written only where they would lose a digit.
        if Frame.from_rpy(*rpy).rotation == frame.rotation:
            entry["rpy"] = [_angle(angle) for angle in rpy]
        else:
            entry["rotation"] = [list(row) for row in frame.rotation]
    return _inline(entry)


def _limits(limits: Limits) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if (limits.lower, limits.upper) != (-math.inf, math.inf):
        entry["position"] = [limits.lower, limits.upper]
    for key in ("velocity", "acceleration", "effort"):
        if (value := getattr(limits, key)) != math.inf:
            entry[key] = value
    return {"limits": _inline(entry)} if entry else {}


def _drive(drive: Drive) -> dict[str, Any]:
    changed = {f.name: value for f in fields(Drive) if (value := getattr(drive, f.name)) != f.default}
    return {"drive": _inline(changed)} if changed else {}


def _motor(motor: Motor) -> dict[str, Any]:
    turns_with = {"turns_with": _inline(dict(motor.turns_with))} if motor.turns_with else {}
    return {"name": motor.name, **turns_with, **_limits(motor.limits), **_drive(motor.drive)}


def _force(force: Force) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": force.name}
    if force.value:
        entry["value"] = force.value
    entry["torque"] = _inline(dict(force.torque))
    if force.where:
        entry["where"] = _inline(dict(force.where))
    if force.source:
        entry["source"] = force.source
    return entry


def _scalar(value: Scalar) -> str | float:
    return str(value) if isinstance(value, Length) else value


def _angle(angle: float) -> str | float:
    """Multiples of pi/6 as a person writes them, where that is the same number."""
    return format_angle(angle) if angle and round(angle / STEP) * STEP == angle else angle


def _append(document: tomlkit.TOMLDocument, key: str, entries: list[dict[str, Any]]) -> None:
    if entries:
        document[key] = AoT([_plain(entry) for entry in entries])


def _plain(entry: dict[str, Any]) -> TomlTable:
    table = tomlkit.table()
    table.update(entry)
    return table


def _inline(entry: dict[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update(entry)
    return table
