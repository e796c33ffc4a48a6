"""Reads the TOML format of ytheta: DH tables, symbolic lengths and angles, loops, couplings, drives and forces.

The page on the robot format of the documentation describes the keys. ``exact = true``, which the writer sets, disables
snapping. A file may extend another robot; see ``extension``. Of ``[identification]``, only two facts matter here: its
presence means that the parameters were identified, so masses may be negative; unknown lengths or angles mean that the
inertias are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from ytheta.conventions import CLOSURE_TOLERANCE, STANDARD_GRAVITY
from ytheta.errors import InputError, RobotFileError
from ytheta.files.symbols import SymbolKind, is_length_name, parse_scalar, to_number
from ytheta.files.toml import Table, describe_value, parse_toml, to_finite_number
from ytheta.robot.floating.base import float_base
from ytheta.robot.frame import to_vector
from ytheta.robot.locking.lock_joints import lock_joints
from ytheta.robot.parts import Loop
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml.extension import Symbols, extend_robot
from ytheta.robot.reading.toml.parts import (
    read_collision,
    read_coupling,
    read_force,
    read_frame,
    read_joint,
    read_link,
    read_marker,
    read_motor,
)
from ytheta.robot.robot import Robot

FORMAT = 1
UNSET = "unset"
HOME = "home"
IDENTIFICATION = "identification"
NO_XACRO_ARGS = "xacro_args: this is not a .xacro file, so it has no arguments; leave them out"
UNKNOWN_LENGTHS, UNKNOWN_ANGLES = "unknown_lengths", "unknown_angles"  # keys of identifications with unknown geometry

ExtendedReader: TypeAlias = Callable[[str, Mapping[str, str]], Robot]


def read_toml(
    content: bytes,
    path: Path,
    snap: float,
    extended: ExtendedReader | None = None,
    *,
    has_xacro_args: bool = False,
) -> Robot:
    """Read a robot from the content of a TOML file.

    ``extended`` reads the robot that the file extends, with the xacro arguments of the file.
    ``has_xacro_args``: the user gives xacro arguments, which is an error if the file does not extend another robot.
    """
    top = Table(_parse(content, path), path.name)
    if (number := top.number("format", FORMAT)) != FORMAT:
        raise top.error(f"format {number:g} is unknown, since this version reads format {FORMAT}; update ytheta")
    xacro_args = _read_xacro_args(top.table("xacro_args"))
    if (xacro_args or has_xacro_args) and not top.has("extends"):
        raise top.error(NO_XACRO_ARGS)
    base = _read_base(top, extended, xacro_args) if top.has("extends") else None
    snapper = Snapper(0.0 if top.flag("exact", default=False) else snap)
    symbols = _read_symbols(top, snapper)
    top.lengths = frozenset(dict(symbols.lengths)) | frozenset(dict(base.lengths) if base else ())
    top.angles = frozenset(dict(symbols.angles)) | frozenset(dict(base.angles) if base else ())
    robot = extend_robot(base, top, snapper, symbols) if base else _read_robot(top, path, snapper, symbols)
    positions = _read_locks(top.table("lock"))
    floating = top.flag("floating", default=False)
    top.finish()
    robot = float_base(robot) if floating and not robot.floating else robot
    return lock_joints(robot, positions) if positions else robot


def _read_locks(table: Table) -> dict[str, float | None]:
    """Read the positions of locked joints by name or pattern; None for the home position."""
    positions: dict[str, float | None] = {}
    for name, value in table.items():
        try:
            positions[name] = None if value == HOME else table.parse_number(name, value)
        except RobotFileError:
            raise table.error(
                f"{name} should be a number in rad or m, an expression such as 'pi/2', or {HOME!r}, not "
                f"{describe_value(value)}"
            ) from None
    return positions


def _read_xacro_args(table: Table) -> dict[str, str]:
    """Read the arguments of an extended xacro file; numbers and flags become the texts that xacro reads."""
    arguments: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise table.error(f"{name} should be a string, a number, or true or false, not {describe_value(value)}")
        arguments[name] = str(value)
    return arguments


def _read_base(top: Table, extended: ExtendedReader | None, xacro_args: Mapping[str, str]) -> Robot:
    reference = top.text("extends")
    if extended is None:
        raise top.error(f"the robot extends another file, {reference!r}; read it with load")
    return extended(reference, xacro_args)


def _read_robot(top: Table, path: Path, snapper: Snapper, symbols: Symbols) -> Robot:
    """Read a robot that does not extend another one."""
    identified, identification = top.has(IDENTIFICATION), top.table(IDENTIFICATION)
    without_geometry = identification.has(UNKNOWN_LENGTHS) or identification.has(UNKNOWN_ANGLES)
    robot = Robot(
        name=top.text("name", path.stem),
        about=top.text("about", ""),
        source=top.text("source", ""),
        gravity=to_vector(top.numbers("gravity", 3, STANDARD_GRAVITY)),
        mounting=read_frame(top.table("mounting"), snapper),
        closure_tolerance=top.number("closure_tolerance", CLOSURE_TOLERANCE),
        lengths=symbols.lengths,
        angles=symbols.angles,
        inertias_unknown=top.flag("inertias_unknown", default=without_geometry),
        links=tuple(read_link(table, identified=identified) for table in top.tables("link")),
        joints=tuple(read_joint(table, snapper) for table in top.tables("joint")),
        loops=tuple(Loop(read_joint(table, snapper)) for table in top.tables("loop")),
        couplings=tuple(read_coupling(table) for table in top.tables("coupling")),
        motors=tuple(read_motor(table) for table in top.tables("motor")),
        forces=tuple(read_force(table) for table in top.tables("force")),
        actuated=top.texts("actuated"),
        markers=tuple(read_marker(table, snapper) for table in top.tables("marker")),
        home=top.table("home").named_numbers(),
        collision=tuple(read_collision(table, snapper) for table in top.tables("collision")),
        findings=snapper.findings,
    )
    if robot.inertias_unknown and not robot.unset_symbols:
        symbols_of_robot = [name for name, _ in (*symbols.lengths, *symbols.angles)]
        robot.check_symbols_may_be_set(symbols_of_robot)
    return robot


def _parse(content: bytes, path: Path) -> dict[str, object]:
    try:
        return parse_toml(content, path.name)
    except InputError as error:
        raise RobotFileError(str(error)) from None


def _read_symbols(top: Table, snapper: Snapper) -> Symbols:
    """Read the symbolic lengths and angles. The value of an angle may contain pi and is snapped."""
    lengths, angles = top.table("lengths"), top.table("angles")

    def read_length(name: str, value: object) -> float:
        metres = to_finite_number(value)
        if metres is None:
            raise lengths.error(f"{name} should be a number in metres, or 'unset', not {describe_value(value)}")
        return metres

    def read_angle(name: str, value: object) -> float:
        radians = to_finite_number(value)
        if isinstance(value, str):
            try:
                radians = to_number(parse_scalar(value, frozenset(), kind=SymbolKind.ANGLE), {})
            except RobotFileError:
                radians = None
        if radians is None:
            raise angles.error(
                f"{name} should be a number in radians, a multiple of pi such as 'pi/2', or 'unset', "
                f"not {describe_value(value)}"
            )
        return snapper.snap_angle(radians, f"{angles.where}, {name}")

    return Symbols(_read_values(lengths, "a length", read_length), _read_values(angles, "an angle", read_angle))


def _read_values(table: Table, what: str, read: Callable[[str, object], float]) -> tuple[tuple[str, float | None], ...]:
    """Read a table of named values, some of which may be unset."""
    values: list[tuple[str, float | None]] = []
    for name, value in table.items():
        if not is_length_name(name):
            raise table.error(
                f"{name!r} cannot name {what}; use ASCII letters, digits and _ (but not 'pi' or a Python keyword)"
            )
        values.append((name, None if value == UNSET else read(name, value)))
    return tuple(values)
