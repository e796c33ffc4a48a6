"""Base parameters for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.identifiability.base_parameters import BaseParameters, Identifiability
from ytheta.report.base_parameters.summary import summarize_base_parameters
from ytheta.report.terminal import safe_text, safe_texts

MAX_RELATIVE_ROUNDING = 1e-13  # value divided by the sum of its absolute terms; below it, 0 is printed


def print_base_parameters(console: Console, base: BaseParameters) -> None:
    """Print one row for each base parameter, then the standard parameters by kind."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("base parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("combination of standard parameters", overflow="fold")
    for row, size in zip(summarize_base_parameters(base)["parameters"], _sum_sizes(base), strict=True):
        value = (
            "?"
            if row["value"] is None
            else "0"
            if abs(row["value"]) < MAX_RELATIVE_ROUNDING * size
            else f"{row['value']:.5g}"
        )
        table.add_row(*safe_texts((row["name"], value, row["expression"])))
    console.print(table)
    for line in _summarize(base):
        console.print(safe_text(line))


def _sum_sizes(base: BaseParameters) -> list[float]:
    """Return the sum of the absolute terms of each base parameter, to distinguish rounding errors from values."""
    if base.robot.unset_lengths:
        return [0.0] * len(base)
    sizes: list[float] = (abs(base.K) @ abs(base.robot.theta)).tolist()
    return sizes


def _summarize(base: BaseParameters) -> Iterator[str]:
    for identifiability in Identifiability:
        names = [name for name, parameter_kind in base.identifiability.items() if parameter_kind is identifiability]
        yield f"{identifiability.value}: {', '.join(names) or 'nothing'}"
    gap = ""
    if base.gap is not None:
        gap = f"; smallest singular value counted {base.gap[0]:.1e}, largest left out {base.gap[1]:.1e}"
    robot = base.robot.name
    yield f"{robot}: {len(base)} base parameters of {len(base.selected)} standard ones (method {base.method}{gap})"
