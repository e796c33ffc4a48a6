"""Base parameters and regrouped Lagrangians for a terminal, and as the output of ``ytheta base --json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters, Identifiability
from ytheta.identifiability.regrouping import Regrouping
from ytheta.report.terminal import make_table, safe_text, safe_texts
from ytheta.shapes import Float

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Value of a combination divided by the sum of its absolute terms below which 0 is printed. Chosen on: reasoning; the
# rounding errors of a sum of up to a thousand terms.
MAX_RELATIVE_ROUNDING = 1e-13


def print_base_parameters(console: Console, base: BaseParameters, *, verbose: bool = False) -> None:
    """Print one row for each base parameter, then the standard parameters by kind.

    ``verbose`` also prints the combinations of Theorem 2 of Lin, if the method is lin.
    """
    data, known = summarize_base_parameters(base), not base.robot.unset_lengths
    console.print(_build_table("base parameter", data["parameters"], base, base.K if known else None))
    if verbose and base.combinations:
        console.print("minimal linear combinations of Theorem 2 of Lin 1995, in constants of composite bodies:")
        matrix = base.combination_matrix if known else None
        console.print(_build_table("combination", data["combinations"], base, matrix))
    for line in _summarize(base):
        console.print(safe_text(line))


def _build_table(
    first: str, rows: Sequence[Mapping[str, Any]], base: BaseParameters, matrix: Float[np.ndarray, "rows params"] | None
) -> Table:
    """One row for each combination; the items of Theorem 2 if the rows have them. ``matrix``: None if not known."""
    table = make_table()
    table.add_column(first, no_wrap=True)
    if any("item" in row for row in rows):
        table.add_column("item", justify="right", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("combination of standard parameters", overflow="fold")
    # The sum of the absolute terms of each combination, to distinguish rounding errors from values.
    sizes = [0.0] * len(rows) if matrix is None else (abs(matrix) @ abs(base.robot.theta)).tolist()
    for row, size in zip(rows, sizes, strict=True):
        item = [str(row["item"] or "")] if "item" in row else []
        table.add_row(*safe_texts((row["name"], *item, _format_value(row["value"], size), row["expression"])))
    return table


def _format_value(value: float | None, size: float) -> str:
    if value is None:
        return "?"
    return "0" if abs(value) < MAX_RELATIVE_ROUNDING * size else f"{value:.5g}"


def _summarize(base: BaseParameters) -> Iterator[str]:
    for identifiability in Identifiability:
        names = [name for name, parameter_kind in base.identifiability.items() if parameter_kind is identifiability]
        yield f"{identifiability.value}: {', '.join(names) or 'nothing'}"
    gap = ""
    if base.gap is not None:
        gap = f"; smallest singular value counted {base.gap[0]:.1e}, largest left out {base.gap[1]:.1e}"
    robot = base.robot.name
    yield f"{robot}: {len(base)} base parameters of {len(base.selected)} standard ones (method {base.method}{gap})"


# Base parameters as plain data: the output of ``ytheta base --json``.


def summarize_base_parameters(base: BaseParameters) -> dict[str, Any]:
    """Return names, expressions and values; values are those of the description, or None if a length is not set.

    ``combinations`` are those of Theorem 2 of Lin 1995, if the method is lin; else the list is empty.
    """
    known = not base.robot.unset_lengths
    values = base.beta.tolist() if known else [None] * len(base)
    combination_values = (
        (base.combination_matrix @ base.robot.theta).tolist() if known else [None] * len(base.combinations)
    )
    return {
        "name": base.robot.name,
        "count": len(base),
        "method": base.method,
        "standard_parameters": len(base.selected),
        "parameters": [
            {"name": name, "expression": expression, "value": value}
            for name, expression, value in zip(base.names, base.expressions, values, strict=True)
        ],
        "combinations": [
            {"name": each.name, "item": each.item, "expression": each.expression, "value": value}
            for each, value in zip(base.combinations, combination_values, strict=True)
        ],
        "verdicts": {name: verdict.value for name, verdict in base.identifiability.items()},
        "gap": list(base.gap) if base.gap else None,
        "findings": [finding.data for finding in base.findings],
    }


# A regrouped Lagrangian for a terminal.


def print_regrouping(console: Console, regrouping: Regrouping, *, verbose: bool = False) -> None:  # noqa: ARG001
    """Print one row for each model parameter: its value, its function of the motion, and its combination.

    ``verbose`` adds nothing.
    """
    data = summarize_regrouping(regrouping)
    table = make_table()
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("F: function of the motion", overflow="fold")
    table.add_column("X: combination of standard parameters", overflow="fold")
    for row in data["parameters"]:
        value = "?" if row["value"] is None else f"{row['value']:.5g}"
        table.add_row(*safe_texts((row["name"], value, row["F"], row["expression"])))
    console.print(table)
    unknown = ", ".join((*data["unknown_lengths"], *data["unknown_angles"])) or "nothing"
    console.print(safe_text("The Lagrangian is the sum of all F · X; q1, qd1 … are positions and velocities."))
    console.print(
        safe_text(
            f"{data['name']}: {sum(data['counts'])} of {data['terms']} terms of the Lagrangian, {data['count']} model "
            f"parameters (method ha); unknown: {unknown}"
        )
    )


# A regrouped Lagrangian as plain data: the output of ``ytheta base --json`` for a robot with unknown lengths.


def summarize_regrouping(regrouping: Regrouping) -> dict[str, Any]:
    """Return names, combinations X and functions F; values are None if a length or an angle is not set."""
    known = not regrouping.robot.unset_symbols
    rows = zip(regrouping.names, regrouping.expressions, regrouping.function_texts, regrouping.beta, strict=True)
    return {
        "name": regrouping.robot.name,
        "count": len(regrouping),
        "method": regrouping.method,
        "unknown_lengths": list(regrouping.ring.lengths),
        "unknown_angles": list(regrouping.ring.angles),
        "standard_parameters": len(regrouping.selected),
        "terms": sum(regrouping.terms),
        "counts": list(regrouping.counts),
        "parameters": [
            {"name": name, "expression": expression, "F": function, "value": value if known or not function else None}
            for name, expression, function, value in rows
        ],
        "verdicts": {name: verdict.value for name, verdict in regrouping.identifiability.items()},
        "findings": [finding.data for finding in regrouping.findings],
    }
