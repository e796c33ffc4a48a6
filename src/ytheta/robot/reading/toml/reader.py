"""TOML → Robot: our own format, for DH tables, symbolic lengths, loops, couplings, drives and forces.

docs/robot-format.md describes it key by key. ``exact = true`` says that angles and axes are meant to the last digit;
then nothing is snapped (the writer sets it). A file may extend another robot; see ``toml_extension``. What stands under
``[identification]`` is not read here, but says that the figures were measured: least squares may find negative masses.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

from ytheta.conventions import STANDARD_GRAVITY
from ytheta.errors import RobotFileError
from ytheta.files.lengths import is_length_name
from ytheta.files.toml_table import Table, describe_value, to_finite_number
from ytheta.robot.frame import to_vector
from ytheta.robot.parts import Loop
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml.extension import extend_robot
from ytheta.robot.reading.toml.parts import (
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
IDENTIFICATION = "identification"


def read_toml(content: bytes, path: Path, snap: float, extended: Callable[[str], Robot] | None = None) -> Robot:
    """A robot from the content of a TOML file. ``extended`` reads the robot that a file names under ``extends``."""
    top = Table(_parsed(content, path), path.name)
    if (number := top.number("format", FORMAT)) != FORMAT:
        raise top.error(f"format {number:g} is not known here; this version reads format {FORMAT}: update ytheta")
    base = _base(top, extended) if top.has("extends") else None
    lengths = _lengths(top.table("lengths"))
    top.lengths = frozenset(name for name, _ in (*lengths, *(base.lengths if base else ())))
    snapper = Snapper(0.0 if top.flag("exact", False) else snap)
    robot = extend_robot(base, top, snapper, lengths=lengths) if base else _whole(top, path, snapper, lengths)
    top.finish()
    return robot


def _base(top: Table, extended: Callable[[str], Robot] | None) -> Robot:
    reference = top.text("extends")
    if extended is None:
        raise top.error(f"it extends {reference!r}, another file, and was not read from one; use load")
    return extended(reference)


def _whole(top: Table, path: Path, snapper: Snapper, lengths: tuple[tuple[str, float | None], ...]) -> Robot:
    """A robot that stands in one file."""
    measured = top.has(IDENTIFICATION)
    top.table(IDENTIFICATION)
    return Robot(
        name=top.text("name", path.stem),
        about=top.text("about", ""),
        source=top.text("source", ""),
        gravity=to_vector(top.numbers("gravity", 3, STANDARD_GRAVITY)),
        mounting=read_frame(top.table("mounting"), snapper),
        lengths=lengths,
        links=tuple(read_link(table, measured=measured) for table in top.tables("link")),
        joints=tuple(read_joint(table, snapper) for table in top.tables("joint")),
        loops=tuple(Loop(read_joint(table, snapper)) for table in top.tables("loop")),
        couplings=tuple(read_coupling(table) for table in top.tables("coupling")),
        motors=tuple(read_motor(table) for table in top.tables("motor")),
        forces=tuple(read_force(table) for table in top.tables("force")),
        actuated=top.texts("actuated"),
        markers=tuple(read_marker(table, snapper) for table in top.tables("marker")),
        home=top.table("home").named_numbers(),
        findings=snapper.findings,
    )


def _parsed(content: bytes, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RobotFileError(f"{path.name}: this is not text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise RobotFileError(f"{path.name}: this is not TOML: {error}; correct it there") from None
    except RecursionError:
        raise RobotFileError(f"{path.name}: lists or tables are nested too deeply; flatten them") from None
    except (ValueError, OverflowError):
        raise RobotFileError(f"{path.name}: a number has too many digits; write it as a float such as 1.5e3") from None


def _lengths(table: Table) -> tuple[tuple[str, float | None], ...]:
    lengths: list[tuple[str, float | None]] = []
    for name, value in table.items():
        if not is_length_name(name):
            raise table.error(
                f"{name!r} cannot name a length; use ASCII letters, digits and _ (but not 'pi' or a word of Python)"
            )
        if value == UNSET:
            lengths.append((name, None))
        elif (metres := to_finite_number(value)) is not None:
            lengths.append((name, metres))
        else:
            raise table.error(f"{name} should be a number in metres, or 'unset', not {describe_value(value)}")
    return tuple(lengths)
