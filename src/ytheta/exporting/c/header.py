"""The header of an export: constants with names and units, structs, prototypes."""

from __future__ import annotations

from collections.abc import Sequence

from ytheta.exporting.c.controllers import ControllerCode
from ytheta.exporting.c.coordinates import describe_arguments, format_places
from ytheta.exporting.c.definitions import Definition, Style
from ytheta.exporting.c.names import clean_comment, make_constants
from ytheta.exporting.c.observer import format_prototypes, format_struct
from ytheta.exporting.functions import OBSERVER, RobotFunctions
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
