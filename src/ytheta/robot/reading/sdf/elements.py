"""Values of SDF elements. SDF writes them as the text of child elements, with a default for each of them."""

from __future__ import annotations

import math

from ytheta.errors import InputError
from ytheta.files.xml_document import Node
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.reading.snap import Snapper

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def parse_numbers(node: Node, count: int) -> tuple[float, ...]:
    """Return the text of an element, which is a list of ``count`` finite numbers."""
    shown = repr(node.content[:60])
    try:
        values = tuple(float(word) for word in node.content.split())
    except ValueError:
        raise node.error(f"{shown} should be {_describe_numbers(count)}") from None
    if len(values) != count or not all(map(math.isfinite, values)):
        raise node.error(f"{shown} should be {_describe_numbers(count)}")
    return values


def read_numbers(node: Node, tag: str, count: int, default: tuple[float, ...]) -> tuple[float, ...]:
    """Return the numbers of a child element, or the default if there is no such child."""
    child = node.first(tag)
    return default if child is None else parse_numbers(child, count)


def read_number(node: Node, tag: str, default: float) -> float:
    """Return the number of a child element, or the default if there is no such child."""
    return read_numbers(node, tag, 1, (default,))[0]


def read_bound(node: Node, tag: str, unlimited: float) -> float:
    """Return the number of a child element, which may be infinite; without the child, the infinity ``unlimited``."""
    child = node.first(tag)
    if child is None:
        return unlimited
    try:
        value = float(child.content)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise child.error(f"{child.content[:60]!r} should be a number, or inf for none")
    return value


def read_text(node: Node, tag: str) -> str:
    """Return the text of a child element; empty if there is no such child."""
    child = node.first(tag)
    return "" if child is None else child.content


def require_text(node: Node, tag: str) -> str:
    """Return the text of a child element that must not be missing or empty."""
    text = read_text(node, tag)
    if not text:
        raise node.error(f"<{tag}> is missing or empty; add it")
    return text


def read_flag(node: Node, tag: str, *, default: bool) -> bool:
    """Return the text of a child element as true or false."""
    child = node.first(tag)
    return default if child is None else parse_flag(child, child.content, default=default)


def read_flag_attribute(node: Node, key: str) -> bool:
    """Return an attribute as true or false; false if there is no such attribute."""
    return parse_flag(node, node.get(key, ""), default=False)


def parse_flag(node: Node, text: str, *, default: bool) -> bool:
    """Return a text as true or false; an empty text is the default."""
    if not text:
        return default
    if text.lower() not in _FLAGS:
        raise node.error(f"{text[:40]!r} should be true or false")
    return _FLAGS[text.lower()]


def read_pose(node: Node, snapper: Snapper | None = None) -> Frame:
    """Return the frame of the ``<pose>`` of an element; the identity if it has none, or an empty one."""
    pose = node.first("pose")
    if pose is None or not pose.content:
        return IDENTITY
    form = pose.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        raise pose.error(f"rotation_format={form[:40]!r} is unknown; use euler_rpy or quat_xyzw")
    if form == "quat_xyzw":
        x, y, z, *(qx, qy, qz, qw) = parse_numbers(pose, 7)
        try:
            turn = Frame.from_quaternion(qw, qx, qy, qz)
        except InputError as error:
            raise pose.error(str(error)) from None
        return Frame.shift(x, y, z) @ (turn if snapper is None else snapper.snap_rotation(turn, node.where))
    x, y, z, *angles = parse_numbers(pose, 6)
    if read_flag_attribute(pose, "degrees"):
        angles = [math.radians(angle) for angle in angles]
    roll, pitch, yaw = angles
    if snapper is None:
        return Frame.shift(x, y, z) @ Frame.from_rpy(roll, pitch, yaw)
    return Frame.shift(x, y, z) @ snapper.snap_rpy(roll, pitch, yaw, node.where)


def _describe_numbers(count: int) -> str:
    return "a finite number" if count == 1 else f"{count} finite numbers separated by spaces"
