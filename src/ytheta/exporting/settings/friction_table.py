"""Friction of all joints and motors as a CSV table, one row each, with the units of every value."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ytheta.errors import InputError
from ytheta.exporting.source import ExportSource
from ytheta.robot.parts import Drive

SUFFIX = ".csv"
COLUMNS = (
    *("joint", "force_unit", "position_unit", "viscous", "coulomb", "offset", "coulomb_speed"),
    *("root", "load", "friction_speed", "rotor_inertia_at_joint"),
)


@dataclass(frozen=True)
class Options:
    """Friction tables have no settings."""


def render(source: ExportSource, path: Path, *, options: Options) -> Mapping[Path, bytes]:
    """Return the table as CSV."""
    del options
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"{path}: this file must have the extension {SUFFIX}; change its name")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name, drive in source.robot.drives:
        prismatic = name in source.robot.prismatic_joints
        writer.writerow([_protect(name), *(("N", "m") if prismatic else ("N m", "rad")), *_list_values(drive)])
    return {path: text.getvalue().encode("utf-8")}


def _list_values(drive: Drive) -> Iterator[str]:
    inertia, viscous, coulomb, offset, *_ = drive.parameters
    values = (viscous, coulomb, offset, drive.coulomb_speed, drive.root, drive.load, drive.friction_speed, inertia)
    return ("" if value is None else repr(float(value)) for value in values)


def _protect(name: str) -> str:
    """Return a name that spreadsheets do not take for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name
