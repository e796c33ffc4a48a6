"""A comparison for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console

from ytheta.report.comparison.tables import (
    BODIES_NOTE,
    USED_NOTE,
    describe_differences,
    find_friction_scales,
    list_joint_errors,
    list_used_shares,
)
from ytheta.report.numbers import NO_VALUE, format_plain, is_negligible, significant_digits
from ytheta.report.terminal import Column, fit_table, print_note, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from ytheta.comparison.compare import Comparison, ParameterComparison

MAX_LISTED_PARAMETERS = 20


def print_comparison(console: Console, comparison: Comparison, *, verbose: bool = False) -> None:
    """Print parameters, friction and torque errors; without ``verbose``, only the parameters that differ most."""
    count = len(comparison.parameters)
    robot = comparison.models[0].robot.name
    console.print(safe_text(f"{robot}: {len(comparison.models)} models, {count} base parameters"))
    rows = sorted(comparison.parameters, key=lambda row: -row.largest_difference)
    _print_parameters(console, comparison, rows if verbose else rows[:MAX_LISTED_PARAMETERS])
    if not verbose and count > MAX_LISTED_PARAMETERS:
        print_note(console, f"{count - MAX_LISTED_PARAMETERS} more parameters differ less; --verbose prints them")
    _print_friction(console, comparison)
    if comparison.predictions:
        _print_torques(console, comparison)
    console.print(safe_text(describe_differences(comparison)))


def _print_parameters(console: Console, comparison: Comparison, rows: Iterable[ParameterComparison]) -> None:
    rows = list(rows)
    columns = [Column("base parameter", safe_texts(row.name for row in rows), align_left=True)]
    for k, label in enumerate(comparison.labels):
        cells = [_format_value(row.values[k], row.std[k]) for row in rows]
        columns.append(Column(label, safe_texts(cells), short_heading=f"model {k + 1}"))
        if k:
            differences = [_format_optional(row.differences[k], 2) for row in rows]
            columns.append(Column("difference / std", safe_texts(differences), short_heading="diff/std"))
    print_table(console, fit_table(columns, console.width))


def _print_friction(console: Console, comparison: Comparison) -> None:
    if not comparison.friction:
        return
    columns = [
        Column("joint", safe_texts(row.joint for row in comparison.friction), align_left=True),
        Column("friction", safe_texts(row.kind for row in comparison.friction), align_left=True),
    ]
    scales = find_friction_scales(comparison)
    for k, label in enumerate(comparison.labels):
        pairs = ((row.values[k], scales[row.kind]) for row in comparison.friction)
        cells = ["0" if value and is_negligible(value, scale) else _format_optional(value, 3) for value, scale in pairs]
        columns.append(Column(label, safe_texts(cells), short_heading=f"model {k + 1}"))
    print_table(console, fit_table(columns, console.width))
    print_note(console, BODIES_NOTE)


def _print_torques(console: Console, comparison: Comparison) -> None:
    """Print the torque errors of all models, and how much their torques differ from those of the first."""
    robot = comparison.models[0].robot
    joints = robot.actuated
    units = ["N" if name in robot.prismatic_joints else "Nm" for name in joints]
    columns = [Column("joint", safe_texts((*joints, "all")), align_left=True)]
    for k, (label, prediction) in enumerate(zip(comparison.labels, comparison.predictions, strict=True)):
        if prediction.errors is not None:
            errors = list_joint_errors(prediction.errors)
            cells = [NO_VALUE if math.isnan(error) else f"{format_plain(error)} %" for error in errors]
            columns.append(Column(f"error of {label}", safe_texts(cells), short_heading=f"error {k + 1}"))
        if k:
            differences = zip(comparison.torque_differences[k].tolist(), units, strict=True)
            rms = [*(f"{format_plain(difference)} {unit}" for difference, unit in differences), ""]
            columns.append(Column("RMS difference", safe_texts(rms), short_heading="RMS diff"))
    used = list_used_shares(comparison)
    for heading, shares in used:
        cells = [*(f"{format_plain(100.0 * share)} %" for share in shares.tolist()), ""]
        columns.append(Column(heading, safe_texts(cells), short_heading="used", drop_priority=1))
    print_table(console, fit_table(columns, console.width, has_total_row=True))
    if used:
        print_note(console, f"used: {USED_NOTE}; RMS differences are those of all samples")


def _format_value(value: float | None, std: float | None) -> str:
    if value is None or std is None:
        return "–"
    return f"{format_plain(value, significant_digits(value, std), zeros=True)} ± {format_plain(std, 2)}"


def _format_optional(value: float | None, digits: int) -> str:
    return "–" if value is None else format_plain(value, digits)
