"""Where an MJCF element is: position and the five ways to write an orientation, as one Frame.

Bodies and frames pass a Snapper and get rounded angles snapped; geoms and inertials pass none and stay as written.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.errors import InputError
from ytheta.files.xml_document import Node
from ytheta.robot.frame import IDENTITY, Frame, Vector, scale_to_order_one, to_rows, to_vector
from ytheta.robot.reading.mjcf.compiler import Compiler
from ytheta.robot.reading.mjcf.defaults import ORIENTATIONS
from ytheta.robot.reading.snap import Snapper
from ytheta.shapes import Float

_AXES: dict[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_TINY = 1e-14
_FAR = 1e100  # squares of what is nearer do not overflow


def pose(node: Node, compiler: Compiler, snapper: Snapper) -> Frame:
    """The frame of a body, frame, geom, site or inertial seen from what it stands in."""
    place = Frame.shift(*node.numbers("pos", 3, default=(0.0, 0.0, 0.0)))
    given = [key for key in ORIENTATIONS if key in node.attributes]
    if not given:
        return place
    if len(given) > 1:
        raise node.error(f"the orientation is given twice, by '{given[0]}' and '{given[1]}'; keep one")
    if given == ["euler"]:
        return place @ _euler(node, compiler, snapper)
    turn = {"quat": _quat, "axisangle": _axisangle, "xyaxes": _xyaxes, "zaxis": _zaxis}[given[0]](node, compiler)
    return place @ snapper.rotation(turn, node.where)


def segment(node: Node) -> tuple[Frame, float]:
    """Of an element with ``fromto``: the frame in the middle, z along the segment, and half its length."""
    numbers = node.numbers("fromto", 6)
    if max(abs(entry) for entry in numbers) > _FAR:
        raise node.error(f"fromto={node.text('fromto')!r} lies too far away; give smaller numbers")
    ends = np.array(numbers).reshape(2, 3)
    if any(node.numbers("pos", 3, default=(0.0, 0.0, 0.0))):
        raise node.error("'pos' and 'fromto' are both given; keep one")
    along = ends[0] - ends[1]  # z points from the second end to the first
    length = float(np.linalg.norm(along))
    if length < _TINY:
        raise node.error(f"the two ends of fromto={node.text('fromto')!r} coincide; move one of them")
    return Frame.shift(*to_vector(ends.mean(axis=0))) @ _z_onto(along / length), length / 2


def _quat(node: Node, _compiler: Compiler) -> Frame:
    w, x, y, z = node.numbers("quat", 4)
    try:
        return Frame.from_quaternion(w, x, y, z)
    except InputError as error:
        raise node.error(str(error)) from None


def _axisangle(node: Node, compiler: Compiler) -> Frame:
    *axis, angle = node.numbers("axisangle", 4)
    return Frame.turn(to_vector(_unit(node, "axisangle", np.array(axis))), compiler.radians(angle))


def _euler(node: Node, compiler: Compiler, snapper: Snapper) -> Frame:
    turned = IDENTITY
    for letter, angle in zip(compiler.eulerseq, node.numbers("euler", 3), strict=True):
        turn = Frame.turn(_AXES[letter.lower()], snapper.angle(compiler.radians(angle), node.where))
        turned = turned @ turn if letter.islower() else turn @ turned
    return turned


def _xyaxes(node: Node, _compiler: Compiler) -> Frame:
    numbers = node.numbers("xyaxes", 6)
    x, y = (_unit(node, "xyaxes", np.array(numbers[k : k + 3])) for k in (0, 3))
    y = _unit(node, "xyaxes", y - (x @ y) * x)
    return Frame(rotation=to_rows(np.stack([x, y, np.cross(x, y)], axis=1)))


def _zaxis(node: Node, _compiler: Compiler) -> Frame:
    return _z_onto(_unit(node, "zaxis", np.array(node.numbers("zaxis", 3))))


def _z_onto(direction: Float[np.ndarray, "3"]) -> Frame:
    """The smallest rotation that takes the z axis to a direction; about x where it is half a turn."""
    x, y, z = to_vector(direction)
    sine = math.hypot(x, y)
    axis = (-y / sine, x / sine, 0.0) if sine > 1e-10 else _AXES["x"]
    return Frame.turn(axis, math.atan2(sine, z))


def _unit(node: Node, key: str, direction: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    if math.hypot(*direction) < _TINY:
        raise node.error(f"{key}={node.text(key)!r} holds no direction; give vectors that are not zero or parallel")
    near = np.array(scale_to_order_one(to_vector(direction)))
    return near / np.linalg.norm(near)
