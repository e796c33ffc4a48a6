"""The header of an export: constants with names and units, structs, prototypes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ytheta.conventions import BASE_COORDINATES
from ytheta.exporting.c.controllers import ControllerCode
from ytheta.exporting.c.definitions import Definition, Style, clean_comment, make_constants
from ytheta.exporting.c.observer import format_prototypes, format_struct
from ytheta.exporting.functions import GRAVITY, OBSERVER, QUATERNION, ROTATION_VECTOR, RobotFunctions
from ytheta.robot.floating import find_floating_link
from ytheta.robot.parameters import LENGTH_EXPONENTS
from ytheta.robot.robot import Robot

_DRIVE_UNITS = {
    # parameter: (revolute, prismatic)
    "Ia": ("kg m^2", "kg"),
    "fv": ("N m s/rad", "N s/m"),
    "fc": ("N m", "N"),
    "fo": ("N m", "N"),
    "fs": ("N m/(rad/s)^0.5", "N/(m/s)^0.5"),
    "fl": ("1", "1"),
}
_LINK_UNITS = ("kg", "kg m", "kg m^2")


def format_header(
    functions: RobotFunctions,
    style: Style,
    definitions: Sequence[Definition],
    controllers: Sequence[ControllerCode],
    *,
    origin: str,
    library: Sequence[str],
) -> str:
    """Return the text of the header."""
    p = style.prefix
    guard = f"{p.upper()}_H"
    words = ("JOINTS", "COORDINATES", "POSITIONS", "SENSOR_ROWS", "BASE_PARAMETERS", "PAD")
    taken = {guard, *(f"{p.upper()}_{word}" for word in words)}
    sections = [
        _format_introduction(functions, style, origin=origin, library=library),
        f"#ifndef {guard}\n#define {guard}\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        format_places(functions, p, taken),
        _format_base_parameters(functions, style, taken),
    ]
    for definition in definitions:
        if definition.function.name == OBSERVER:
            sections += [
                format_struct(definition, functions.size),
                format_prototypes(definition, functions.size),
            ]
        else:
            comment = f"/* {definition.function.about}.\n   {definition.operations_text} */"
            sections.append(f"{comment}\n{definition.declaration};\n")
    for controller in controllers:
        sections += [controller.format_struct(), controller.format_prototypes()]
    return "\n".join([*sections, "#ifdef __cplusplus\n}\n#endif\n", "#endif\n"])


def _format_introduction(functions: RobotFunctions, style: Style, *, origin: str, library: Sequence[str]) -> str:
    robot = functions.robot
    needs = f"Needs from the C library: {', '.join(library)}." if library else "Needs no library."
    notes = [f"   {clean_comment(note)}." for note in functions.notes]
    lines = [
        f"/* Written by ytheta. Dynamics of the robot {clean_comment(robot.name)}.",
        f"   Source: {clean_comment(origin)}.",
        "",
        *describe_arguments(functions),
        f"   All numbers are of type {style.number.type}. Matrices are stored row by row.",
        "   Results must not overlap inputs.",
        f"   No function allocates memory or has a state of its own. {needs}",
        "   Operations count each sine and cosine; additions and multiplications are not fused.",
        *notes,
        "*/",
    ]
    return "\n".join([*lines, ""])


def _format_base_parameters(functions: RobotFunctions, style: Style, taken: set[str]) -> str:
    p, t, base = style.prefix, style.number.type, functions.base
    count = len(base)
    constants = make_constants(f"{p}_beta", base.independent, taken)
    lines = [
        f"#define {p.upper()}_BASE_PARAMETERS {count}",
        "",
        "/* Places of the base parameters in beta. */",
        "enum {",
    ]
    rows = zip(constants, base.independent, base.expressions, strict=True)
    for k, (constant, name, expression) in enumerate(rows):
        unit = find_unit(name, functions.robot)
        comma = "," if k < count - 1 else ""
        lines.append(f"    {constant} = {k}{comma} /* {unit}: {clean_comment(expression)} */")
    lines += ["};", ""]
    if functions.is_passed:
        lines += [
            "/* The parameters of the robot; they may be changed at any time. */",
            "typedef struct {",
            f"    {t} beta[{count}];",
            f"}} {style.parameters_type};",
            "",
        ]
        argument = f"{style.parameters_type} *parameters"
    else:
        argument = f"{t} beta[{count}]"
    lines += [f"/* Set the base parameters of this robot. */\nvoid {p}_get_parameters({argument});", ""]
    return "\n".join(lines)


def find_unit(name: str, robot: Robot) -> str:
    """Return the unit of a standard parameter, or of the base parameter of that name, in ASCII."""
    owner, _, kind = name.rpartition(".")
    if kind in _DRIVE_UNITS:
        return _DRIVE_UNITS[kind][owner in robot.prismatic_joints]
    if kind == "k":
        return "unit of the declared force"
    return _LINK_UNITS[int(LENGTH_EXPONENTS.get(kind, 2.0))]


# The coordinates of exported C functions: what the arguments are, and constants for their places.
#
# A floating base has six entries before those of the joints in qd, qdd and tau. How many it has in q depends on the
# form of its orientation; see ``exporting.functions``. Sensors have rows behind those of the joints, only in results.


# Entries of q before those of the joints. Fixed by: the forms of an orientation.
BASE_POSITIONS = {ROTATION_VECTOR: 6, QUATERNION: 7, GRAVITY: 0}
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
