"""The coordinates of exported C functions: what the arguments are, and constants for their places.

A floating base has six entries before those of the joints in qd, qdd and tau. How many it has in q depends on the form
of its orientation; see ``base_orientation``. Sensors have rows behind those of the joints, only in results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ytheta.conventions import BASE_COORDINATES
from ytheta.exporting.base_orientation import GRAVITY, QUATERNION, ROTATION_VECTOR
from ytheta.exporting.c.names import clean_comment, make_constants
from ytheta.exporting.functions import RobotFunctions
from ytheta.robot.floating.base import find_floating_link

BASE_POSITIONS = {ROTATION_VECTOR: 6, QUATERNION: 7, GRAVITY: 0}  # entries of q before those of the joints
_BASE = {
    ROTATION_VECTOR: (
        "q       position of its origin in the world in m, and the rotation vector of its axes: axis times angle, rad",
    ),
    QUATERNION: (
        "q       position of its origin in the world in m, and the quaternion x, y, z, w of its axes in the world,",
        "        which may have any length but zero; q has one entry more than qd",
    ),
    GRAVITY: (
        "g       gravitational acceleration in its axes in m/s^2: (0, 0, -9.81) if it is upright. An accelerometer at",
        "        rest measures -g",
        "q       no entries: q has only those of the joints",
    ),
}
_TWIST = (
    "qd      its twist: velocity of its origin in m/s and angular velocity in rad/s, both in its own axes",
    "qdd     the derivatives of these six numbers. With v, w and the acceleration a of the origin in base axes, the",
    "        first three are a - w x v",
    "tau     the wrench of the surroundings on it, in its own axes: force in N, moment about its origin in N m; zero",
    "        if nothing touches the robot",
)


def describe_arguments(functions: RobotFunctions) -> list[str]:
    """Return the lines of the header about the arguments of functions."""
    robot = functions.robot
    lines = [
        "   q, qd, qdd   position, velocity and acceleration of every joint: rad, rad/s, rad/s^2, or m, m/s, m/s^2",
        "   tau          torque of every joint in N m, or force in N, at the joint side of the gear",
    ]
    if robot.floating:
        link = clean_comment(find_floating_link(robot))
        lines += [f"   The base floats: link {link}. Its entries come before those of the joints:"]
        lines += [f"     {line}" for line in (*_BASE[functions.base_orientation], *_TWIST)]
    if robot.sensor_coordinates:
        lines += [
            "   tau of inverse_dynamics and gravity, and rows of Y, have six entries more for each sensor: force in N",
            "   and moment in N m of its parent on its child, in the frame of the sensor.",
        ]
    return lines


def format_places(functions: RobotFunctions, prefix: str, taken: set[str]) -> str:
    """Return the numbers of entries, and one constant for the place of every entry."""
    robot, upper = functions.robot, prefix.upper()
    base = len(robot.base_coordinates)
    joints, sensors = robot.actuated[base : functions.size], robot.sensor_coordinates
    lines = [f"#define {upper}_JOINTS {len(joints)}"]
    places = "q, qd, qdd and tau"
    if base:
        first = BASE_POSITIONS[functions.base_orientation]
        lines += [
            f"#define {upper}_COORDINATES {functions.size} /* entries of qd, qdd and tau */",
            f"#define {upper}_POSITIONS {first + len(joints)} /* entries of q */",
            "",
            f"/* Places of the base in qd, qdd and tau; in q, it has {f'the first {first}' if first else 'none'}. */",
            *_format_enumeration(make_constants(prefix, BASE_COORDINATES, taken), _describe_base(), start=0),
        ]
        places = _describe_joint_places(base, first)
    if joints:
        lines += ["", f"/* Places of the joints in {places}. */"]
        units = [f"{clean_comment(name)}, {'m' if name in robot.prismatic_joints else 'rad'}" for name in joints]
        lines += _format_enumeration(make_constants(f"{prefix}_joint", joints, taken), units, start=base)
    if sensors:
        units = [f"{clean_comment(name)}, {'N' if name in robot.prismatic_joints else 'N m'}" for name in sensors]
        lines += [
            "",
            f"#define {upper}_SENSOR_ROWS {len(sensors)}",
            "",
            "/* Places of the sensors in tau of inverse_dynamics and gravity, and rows of Y. */",
            *_format_enumeration(make_constants(f"{prefix}_sensor", sensors, taken), units, start=functions.size),
        ]
    return "\n".join([*lines, ""])


def _describe_joint_places(base: int, first: int) -> str:
    if first == base:
        return "q, qd, qdd and tau"
    return f"qd, qdd and tau; in q, the places are {abs(first - base)} {'higher' if first > base else 'lower'}"


def _describe_base() -> list[str]:
    axes = ("x", "y", "z")
    linear = [f"velocity along {axis} in m/s, force in N" for axis in axes]
    return linear + [f"angular velocity about {axis} in rad/s, moment in N m" for axis in axes]


def _format_enumeration(constants: Sequence[str], comments: Sequence[str], *, start: int) -> Iterator[str]:
    yield "enum {"
    for k, (constant, comment) in enumerate(zip(constants, comments, strict=True)):
        comma = "," if k < len(constants) - 1 else ""
        yield f"    {constant} = {start + k}{comma} /* {comment} */"
    yield "};"
