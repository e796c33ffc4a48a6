"""An estimated payload for a terminal, and as the output of ``ytheta payload --json``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.identification.model_table import summarize_errors
from ytheta.payload.result import PayloadEstimate
from ytheta.payload.verdict import QUANTITIES, UNITS
from ytheta.report.numbers import format_plain, replace_nonfinite, significant_digits
from ytheta.report.terminal import TerminalColumn, fit_table, print_note, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from rich.console import Console

KNOWN = "known"  # the mark of a mass that was given
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
    if not payload.consistent:
        distance = format_plain(payload.consistent_payload.distance, 2)
        text = f"physically consistent: the nearest body, {distance} standard deviations from the estimate"
        console.print(safe_text(text))
    before, after, corrected = (
        format_plain(value)
        for value in (payload.before.relative_percent, payload.after.relative_percent, payload.corrected_percent)
    )
    errors = f"{before} % without → {after} % with the payload ({corrected} % if the model is corrected too)"
    console.print(safe_text(f"torque error {errors}"))
    if verbose:
        _print_correlations(console, payload)
    console.print(safe_text(payload.verdict.sentence, GRADE_STYLES[payload.verdict.solved]), soft_wrap=True)


def _print_values(console: Console, payload: PayloadEstimate) -> None:
    pairs = list(zip(payload.values.tolist(), payload.std.tolist(), strict=True))
    values = [format_plain(value, significant_digits(value, std)) for value, std in pairs]
    columns = [
        TerminalColumn("", safe_texts(QUANTITIES), align_left=True),
        TerminalColumn("value", safe_texts(values)),
        TerminalColumn("std", safe_texts(format_plain(std, 2) for _, std in pairs)),
        TerminalColumn("unit", safe_texts(UNITS), align_left=True),
        TerminalColumn("from", safe_texts(ORIGINS[mark] for mark in payload.marks), align_left=True),
    ]
    print_table(console, fit_table(columns, console.width))


def _print_correlations(console: Console, payload: PayloadEstimate) -> None:
    columns = [TerminalColumn("correlation", safe_texts(QUANTITIES), align_left=True)]
    for name, row in zip(QUANTITIES, payload.correlation.tolist(), strict=True):
        columns.append(TerminalColumn(name, safe_texts(f"{value:.2f}" for value in row)))
    print_table(console, fit_table(columns, console.width))


def summarize_payload(payload: PayloadEstimate) -> dict[str, Any]:
    """Return the values with standard deviations and where they come from, torque errors and the verdict."""
    std = payload.std.tolist()
    moments = dict(zip(QUANTITIES[4:], std[4:], strict=True))
    rows = [[moments[f"I{min(a, b)}{max(a, b)}"] for b in "xyz"] for a in "xyz"]
    marks = [KNOWN if mark is None else mark.value for mark in payload.marks]
    data: dict[str, Any] = replace_nonfinite(
        {
            "robot": payload.attachment.robot.name,
            "link": payload.link,
            "frame": payload.frame,
            "mass": payload.mass,
            "center": payload.center.tolist(),
            "inertia": payload.inertia.tolist(),
            "std": {"mass": std[0], "center": std[1:4], "inertia": rows},
            "center_in_link": payload.center_in_link.tolist(),
            "units": dict(zip(("mass", "center", "inertia"), ("kg", "m", UNITS[-1]), strict=True)),
            "quantities": list(QUANTITIES),
            "marks": marks,
            "prior_std": payload.prior_std.tolist(),
            "correlation": payload.correlation.tolist(),
            "known_mass": payload.known_mass,
            "mass_from_torques": {
                "value": float(payload.fit.free.theta[0]),
                "std": float(payload.fit.free.theta_covariance[0, 0] ** 0.5),
            },
            "consistent": payload.consistent,
            "distance": payload.consistent_payload.distance,
            "torque_scale": payload.torque_scale,
            "mass_std_of_torque_scale": payload.scale_std,
            "verdict": payload.verdict.grade.value,
            "reason": payload.verdict.sentence,
            "samples": payload.before.samples,
            "seconds": payload.before.seconds,
            "cutoff": payload.cutoff,
            "model_has_covariance": payload.has_covariance,
            "relative_error_percent": {
                "before": payload.before.relative_percent,
                "after": payload.after.relative_percent,
                "corrected": payload.corrected_percent,
            },
            "noise_ratio": payload.noise_ratio,
            "before": summarize_errors(payload.before),
            "after": summarize_errors(payload.after),
            "logs": list(payload.logs),
            "unloaded": list(payload.unloaded),
        }
    )
    return data | {"findings": [finding.data for finding in payload.findings]}
