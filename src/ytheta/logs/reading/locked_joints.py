"""Joints that the robot has locked and the log recorded: their positions should be those of the lock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.reading.columns.column_names import NameParser
from ytheta.logs.reading.conversions import find_conversion
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.table import ColumnTable
from ytheta.robot.locking.lock_joints import list_locked
from ytheta.robot.robot import Robot

MAX_STILL_RANGE = 0.1  # rad or m; a joint that moves farther is not one that rests with some play
MAX_OFFSET = 0.02  # rad or m, between the position of a lock and the mean recorded one


def check_locked_joints(
    table: ColumnTable, robot: Robot, mapping: ColumnMapping, rows: slice, source: str
) -> list[Finding]:
    """Return findings about locked joints that rest elsewhere; raise InputError if one moves.

    Only columns with the name of a joint can be those of a joint that the robot does not have any more.
    """
    locked = list_locked(robot)
    if not locked:
        return []
    parser = NameParser(tuple(locked))
    findings: list[Finding] = []
    for name, column in zip(table.names, table.columns, strict=True):
        parsed = parser.parse(name)
        if parsed is None or parsed.is_command or parsed.quantity != "q" or not isinstance(parsed.index, str):
            continue
        joint = parsed.index
        recorded = np.asarray(column[rows], dtype=np.float64) * _find_scale(parsed.unit, mapping)
        recorded = recorded[np.isfinite(recorded)]
        if not len(recorded):
            continue
        lowest, highest, mean = float(recorded.min()), float(recorded.max()), float(recorded.mean())
        if highest - lowest > MAX_STILL_RANGE:
            raise InputError(
                f"{source}: {joint!r} is locked at {locked[joint]:g}, but moves from {lowest:.4g} to {highest:.4g} in "
                f"the log (column {name!r}); do not lock it, or choose rows in which it rests (--rows)"
            )
        if abs(mean - locked[joint]) > MAX_OFFSET:
            findings.append(
                Finding(
                    LogFindingCode.LOCKED,
                    Severity.WARNING,
                    f"{joint!r} is locked at {locked[joint]:g}, but rests at {mean:.4g} in the log",
                    f"lock it there: --lock {joint}={mean:.4g}",
                    names=(joint,),
                    fields={"locked": locked[joint], "recorded": mean},
                )
            )
    return findings


def _find_scale(unit: str, mapping: ColumnMapping) -> float:
    """Return the factor of positions; if the joints in use have several, this joint has the usual one of files, 1."""
    scales = set(mapping.scale.get("q", ()))
    if len(scales) == 1:
        return float(scales.pop())
    return float(find_conversion("q", replace(mapping, scale={}), {"q": unit} if unit else {}, 1).scale[0])
