"""Rows of the table about the columns of checked logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ytheta.report.log.columns import describe_origin, get_si_unit
from ytheta.report.numbers import format_plain

if TYPE_CHECKING:
    from ytheta.logs.check import CheckedLog, LogCheck


def list_chosen_columns(check: LogCheck, checked: CheckedLog) -> list[tuple[str, ...]]:
    """Return quantity, joint, column, unit, conversion, range, plausibility and remark of each column.

    The range has a unit of its own if the column was converted to another one.
    """
    rows: list[tuple[str, ...]] = []
    for column in checked.columns:
        origin = column.origin
        unit = get_si_unit(origin, prismatic=origin.joint in check.robot.prismatic_joints)
        values = f"{format_plain(column.lowest)} … {format_plain(column.highest)}"
        values = values if unit == origin.unit else f"{values} {unit}"
        judgement = "ok" if column.is_plausible else "doubtful"
        rows.append((*describe_origin(origin), values, judgement, column.remark))
    return rows
