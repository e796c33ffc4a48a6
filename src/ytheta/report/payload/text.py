"""An estimated payload for a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.payload.result import PayloadEstimate
from ytheta.payload.verdict import QUANTITIES, UNITS
from ytheta.report.numbers import format_plain, significant_digits
from ytheta.report.payload.summary import KNOWN
from ytheta.report.terminal import Column, fit_table, print_note, print_table, safe_text, safe_texts

ORIGINS = {
    None: KNOWN,
    Mark.DATA: "data",
    Mark.SHARED: "data and prior",
    Mark.PRIOR: "prior: a compact body of this mass",
}
GRADE_STYLES = {True: "bold green", False: "bold red"}


def print_payload(console: Console, payload: PayloadEstimate, *, verbose: bool = False) -> None:
    """Print values, standard deviations and origins; then torque errors and the verdict. ``verbose``: correlations."""
    logs = ", ".join(Path(name).name or "log" for name in payload.logs)
    size = f"{payload.before.seconds:.4g} s, {payload.before.samples} samples, low-pass {payload.cutoff:.3g} Hz"
    robot = payload.attachment.robot.name
    console.print(safe_text(f"{robot} with a payload on {payload.link}, from {logs}: {size}"))
    _print_values(console, payload)
    axes = f"centre of mass in the frame {payload.frame}, moments about the centre of mass in its axes"
    print_note(console, safe_text(axes).plain)
    if payload.frame != payload.link:
        center = ", ".join(f"{value:.4g}" for value in payload.center_in_link)
        console.print(safe_text(f"centre of mass in the frame {payload.link}: ({center}) m"))
    if not payload.consistent and payload.consistent_payload is not None:
        distance = format_plain(payload.consistent_payload.distance, 2)
        text = f"physically consistent: the nearest body, {distance} standard deviations from the estimate"
        console.print(Text(text))
    before, after, corrected = (
        format_plain(value)
        for value in (payload.before.relative_percent, payload.after.relative_percent, payload.corrected_percent)
    )
    errors = f"{before} % without → {after} % with the payload ({corrected} % if the model is corrected too)"
    console.print(Text(f"torque error {errors}"))
    if verbose:
        _print_correlations(console, payload)
    console.print(safe_text(payload.verdict.sentence, GRADE_STYLES[payload.verdict.solved]), soft_wrap=True)


def _print_values(console: Console, payload: PayloadEstimate) -> None:
    pairs = list(zip(payload.values.tolist(), payload.std.tolist(), strict=True))
    values = [format_plain(value, significant_digits(value, std)) for value, std in pairs]
    columns = [
        Column("", safe_texts(QUANTITIES), align_left=True),
        Column("value", safe_texts(values)),
        Column("std", safe_texts(format_plain(std, 2) for _, std in pairs)),
        Column("unit", safe_texts(UNITS), align_left=True),
        Column("from", safe_texts(ORIGINS[mark] for mark in payload.marks), align_left=True),
    ]
    print_table(console, fit_table(columns, console.width))


def _print_correlations(console: Console, payload: PayloadEstimate) -> None:
    columns = [Column("correlation", safe_texts(QUANTITIES), align_left=True)]
    for name, row in zip(QUANTITIES, payload.correlation.tolist(), strict=True):
        columns.append(Column(name, safe_texts(f"{value:.2f}" for value in row)))
    print_table(console, fit_table(columns, console.width))
