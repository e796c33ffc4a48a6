"""The pose of an MJCF element: its position, and its orientation in one of five notations.

The poses of bodies and frames are snapped. The poses of geoms and inertials are not.
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
_MIN_LENGTH = 1e-14
_MAX_COORDINATE = 1e100  # metres; squares of smaller numbers do not overflow


def read_pose(node: Node, compiler: Compiler, snapper: Snapper) -> Frame:
    """Return the frame of a body, frame, geom, site or inertial seen from its parent element."""
    position = Frame.shift(*node.numbers("pos", 3, default=(0.0, 0.0, 0.0)))
    keys = [key for key in ORIENTATIONS if key in node.attributes]
    if not keys:
        return position
    if len(keys) > 1:
        raise node.error(f"the orientation is given twice, by '{keys[0]}' and '{keys[1]}'; keep one")
    if keys == ["euler"]:
        return position @ _read_euler(node, compiler, snapper)
    turn = _READERS[keys[0]](node, compiler)
    return position @ snapper.snap_rotation(turn, node.where)


def read_segment(node: Node) -> tuple[Frame, float]:
    """Return the frame at the middle of ``fromto``, with z along the segment, and half the length."""
    numbers = node.numbers("fromto", 6)
    if max(abs(entry) for entry in numbers) > _MAX_COORDINATE:
        raise node.error(f"fromto={node.text('fromto')!r} is too large; give smaller numbers")
    ends = np.array(numbers).reshape(2, 3)
    if any(node.numbers("pos", 3, default=(0.0, 0.0, 0.0))):
        raise node.error("'pos' and 'fromto' are both given; keep one")
    along = ends[0] - ends[1]  # z points from the second end to the first
    length = float(np.linalg.norm(along))
    if length < _MIN_LENGTH:
        raise node.error(f"the two ends of fromto={node.text('fromto')!r} coincide; move one of them")
    return Frame.shift(*to_vector(ends.mean(axis=0))) @ Frame.align_z(to_vector(along / length)), length / 2


def _read_quat(node: Node, _compiler: Compiler) -> Frame:
    w, x, y, z = node.numbers("quat", 4)
    try:
        return Frame.from_quaternion(w, x, y, z)
    except InputError as error:
        raise node.error(str(error)) from None


def _read_axisangle(node: Node, compiler: Compiler) -> Frame:
    *axis, angle = node.numbers("axisangle", 4)
    return Frame.turn(to_vector(_normalize(node, "axisangle", np.array(axis))), compiler.to_radians(angle))


def _read_euler(node: Node, compiler: Compiler, snapper: Snapper) -> Frame:
    rotation = IDENTITY
    for letter, angle in zip(compiler.eulerseq, node.numbers("euler", 3), strict=True):
        turn = Frame.turn(_AXES[letter.lower()], snapper.snap_angle(compiler.to_radians(angle), node.where))
        rotation = rotation @ turn if letter.islower() else turn @ rotation
    return rotation


def _read_xyaxes(node: Node, _compiler: Compiler) -> Frame:
    numbers = node.numbers("xyaxes", 6)
    x, y = (_normalize(node, "xyaxes", np.array(numbers[k : k + 3])) for k in (0, 3))
    y = _normalize(node, "xyaxes", y - (x @ y) * x)
    return Frame(rotation=to_rows(np.stack([x, y, np.cross(x, y)], axis=1)))


def _read_zaxis(node: Node, _compiler: Compiler) -> Frame:
    return Frame.align_z(to_vector(_normalize(node, "zaxis", np.array(node.numbers("zaxis", 3)))))


_READERS = {"quat": _read_quat, "axisangle": _read_axisangle, "xyaxes": _read_xyaxes, "zaxis": _read_zaxis}


def _normalize(node: Node, key: str, direction: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    if math.hypot(*direction) < _MIN_LENGTH:
        raise node.error(
            f"{key}={node.text(key)!r} does not define a direction; give vectors that are neither zero nor parallel"
        )
    scaled = np.array(scale_to_order_one(to_vector(direction)))
    return scaled / np.linalg.norm(scaled)
