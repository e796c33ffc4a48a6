"""A prediction for a terminal, as the output of ``ytheta predict --json``, and as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.identification.model_table import summarize_errors
from ytheta.plots import Axis, Line
from ytheta.report.figure import line_plot
from ytheta.report.html_page import render_page, write_page
from ytheta.report.identification import describe_torque_scale, print_joint_errors
from ytheta.report.identification_plots import continuous_time, plot_torque
from ytheta.report.log import describe_preparation, format_cutoff
from ytheta.report.numbers import (
    NO_VALUE,
    format_count,
    format_number,
    format_percent,
    format_plain,
    get_torque_unit,
    replace_nonfinite,
)
from ytheta.report.terminal import TerminalColumn, fit_table, print_table, safe_text, safe_texts
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console

    from ytheta.identification.predict import Prediction


def print_prediction(console: Console, prediction: Prediction, *, verbose: bool = False) -> None:  # noqa: ARG001
    """Print the errors of each joint and of all joints together; without measured torques, the predicted ones."""
    errors, rate, samples = prediction.errors, prediction.preparation.rate, len(prediction.t)
    low_pass = f"low-pass {float(prediction.preparation.settings.cutoff):.3g} Hz"
    size = f"{samples / rate:.4g} s, {samples} samples at {rate:.4g} Hz"
    log = Path(prediction.source).name or "log"
    if (recorded := prediction.recorded) is not None:
        size = (
            f"{recorded.seconds:.4g} s, {recorded.samples} samples at {recorded.rate:.4g} Hz, of which {samples} at "
            f"{rate:.4g} Hz are predicted"
        )
    console.print(safe_text(f"{prediction.robot.name} on {log}: {size}, {low_pass}"))
    if prediction.torque_scale is not None:
        console.print(safe_text(describe_torque_scale(prediction.torque_scale)))
    if errors is None:
        _print_predicted(console, prediction)
        console.print(
            safe_text("torques were predicted (-o or save writes them); the log has none to compare them with")
        )
        return
    print_joint_errors(console, prediction.robot, errors, None, std=prediction.rms_std)
    percent, raw = format_plain(errors.relative_percent), format_plain(errors.raw_relative_percent)
    console.print(safe_text(f"torque error {percent} % ({raw} % against the unfiltered torque)"))


def _print_predicted(console: Console, prediction: Prediction) -> None:
    """Print the root mean square and the range of the predicted torque of each joint."""
    robot, predicted = prediction.robot, prediction.predicted
    units = ["N" if name in robot.prismatic_joints else "Nm" for name in robot.actuated]
    columns = [TerminalColumn("joint", safe_texts(robot.actuated), align_left=True)]
    for heading, values in (
        ("predicted RMS", (predicted**2).mean(axis=0) ** 0.5),
        ("lowest", predicted.min(axis=0)),
        ("highest", predicted.max(axis=0)),
    ):
        cells = [f"{format_plain(value)} {unit}" for value, unit in zip(values.tolist(), units, strict=True)]
        columns.append(TerminalColumn(heading, safe_texts(cells)))
    print_table(console, fit_table(columns, console.width))


# A prediction as plain data: the output of ``ytheta predict --json``, also embedded in the page.


ERROR_KEYS = (
    "relative_error_percent",
    "per_joint_percent",
    "raw_relative_error_percent",
    "raw_per_joint_percent",
    "of_variation_percent",
    "nrmse",
    "nrmse_mean",
    "rms",
    "torque_rms",
    "used_share",
)


def summarize_prediction(prediction: Prediction) -> dict[str, Any]:
    """Return the errors of a prediction; they are None if the log has no measured torques."""
    size = {"samples": len(prediction.t), "seconds": len(prediction.t) / prediction.preparation.rate}
    errors = dict.fromkeys(ERROR_KEYS) | size if prediction.errors is None else summarize_errors(prediction.errors)
    data: dict[str, Any] = replace_nonfinite(
        {
            "robot": prediction.robot.name,
            "joints": list(prediction.robot.actuated),
            "log": prediction.source,
            "cutoff": float(prediction.preparation.settings.cutoff),
            "derivative": prediction.preparation.settings.derivative,
            "torque_delay": float(prediction.preparation.settings.torque_delay),
            **errors,
            "recorded": None if prediction.recorded is None else asdict(prediction.recorded),
            "prediction_std": None if prediction.rms_std is None else prediction.rms_std.tolist(),
            "noise": None if prediction.noise is None else prediction.noise.tolist(),
            "between_logs": None if prediction.between_logs is None else prediction.between_logs.tolist(),
            "torque_scale": None if prediction.torque_scale is None else prediction.torque_scale.tolist(),
        }
    )
    return data | {"findings": [finding.data for finding in prediction.findings]}


# The report of a prediction: a self-contained HTML file.


def write_prediction_report(prediction: Prediction, path: str | Path) -> Path:
    """Write the report of a prediction; the file is written atomically."""
    return write_page(path, lambda: prediction_html(prediction))


def prediction_html(prediction: Prediction) -> str:
    """Return the page as text."""
    log = Path(prediction.source).name or "log"
    preparation = describe_preparation(prediction.preparation.settings, prediction.robot.actuated)
    content = {
        "prediction": prediction,
        "log": log,
        "summary": summarize_prediction(prediction),
        "torque_figures": plot_torques(prediction),
        "preparation_rows": [[log, *preparation]],
    }
    functions = (list_joint_headings, list_joint_rows, list_key_numbers)
    return render_page("prediction.html", content, functions)


# Rows of the tables on the page of a prediction: texts, and the numbers by which rows are sorted.


RAW = "Error against the torque before the low-pass"
USED = (
    "Share of the samples of which these errors are computed; the others are left out, since the joint rests or is slow"
)
VARIATION = "Residual relative to the torque without its mean: so that a large constant torque does not hide errors"


def list_key_numbers(prediction: Prediction) -> Iterator[tuple[str, str, str]]:
    """Yield label, value and explanation of each key number."""
    errors = prediction.errors
    if errors is None:
        yield "torque error", NO_VALUE, "the log has no torques"
    else:
        yield "torque error", format_percent(errors.relative_percent), "relative to the torque"
        yield "against raw torque", format_percent(errors.raw_relative_percent), "before the low-pass"
    seconds = len(prediction.t) / prediction.preparation.rate
    recorded = "" if prediction.recorded is None else f", of {format_count(prediction.recorded.samples)} in the log"
    yield "samples", format_count(len(prediction.t)), f"{format_number(seconds)} s of motion{recorded}"
    yield "low-pass", format_cutoff(prediction.preparation.settings), "cut-off"


def list_joint_headings(prediction: Prediction) -> list[tuple[str, str]]:
    """Return heading and explanation of the columns of ``list_joint_rows``."""
    if prediction.errors is None:
        return [("predicted RMS", ""), ("lowest", ""), ("highest", "")]
    return [
        ("error", ""),
        ("torque RMS", ""),
        ("raw", RAW),
        ("residual RMS", ""),
        ("used", USED),
        ("NRMSE", VARIATION),
    ]


def list_joint_rows(prediction: Prediction) -> Iterator[dict[str, Any]]:
    """Yield the errors of each joint; without measured torques, the size of the predicted torque."""
    errors, predicted = prediction.errors, prediction.predicted
    columns: list[tuple[PerJoint, Callable[[float], str]]]
    if errors is None:
        columns = [
            (np.sqrt(np.mean(predicted**2, axis=0)), format_number),
            (predicted.min(axis=0), format_number),
            (predicted.max(axis=0), format_number),
        ]
    else:
        columns = [
            (errors.per_joint_percent, format_percent),
            (errors.torque_rms, format_number),
            (errors.raw_per_joint_percent, format_percent),
            (errors.rms, format_number),
            (100.0 * errors.used_share, format_percent),
            (errors.of_variation_percent, format_percent),
        ]
    for j, name in enumerate(prediction.robot.actuated):
        cells = [(write(float(values[j])), float(values[j])) for values, write in columns]
        yield {"name": name, "unit": get_torque_unit(prediction.robot, name), "cells": cells}


# Plots of a prediction: the torque of each joint, measured and predicted.


# Time between two samples divided by the sampling time above which the line of a plot has a gap. Chosen on: reasoning;
# half a sample more than one.
MAX_STEP_RATIO = 1.5


def make_prediction_figures(prediction: Prediction) -> dict[str, go.Figure]:
    """Return the figures of the page by name: the torque of each joint."""
    return {f"torque of {name}": figure for name, figure in plot_torques(prediction)}


def plot_torques(prediction: Prediction) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of each joint: measured and predicted torque above the residual, or the predicted torque alone."""
    robot, errors = prediction.robot, prediction.errors
    seconds = continuous_time(prediction.t)
    is_gap = np.diff(prediction.t, prepend=prediction.t[0]) * prediction.preparation.rate > MAX_STEP_RATIO
    for j, name in enumerate(robot.actuated):
        unit = get_torque_unit(robot, name)
        if errors is not None:
            yield name, plot_torque(errors.trace, j, unit)
        else:
            line = Line("predicted", np.where(is_gap, np.nan, prediction.predicted[:, j]), colour=1)
            axis = Axis("force" if name in robot.prismatic_joints else "torque", unit)
            yield name, line_plot(seconds, [line], [axis], legend=False)
