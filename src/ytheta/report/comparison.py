"""A comparison of models for a terminal, as the output of ``ytheta compare --json``, and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.comparison import MIN_NOTABLE_DIFFERENCE
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.plots import Axis, Band, Line
from ytheta.report.figure import COLOURS, MARGIN, line_plot, make_figure
from ytheta.report.html_page import render_page, write_page
from ytheta.report.identification_plots import continuous_time, make_left_out_areas
from ytheta.report.numbers import (
    NO_VALUE,
    format_beside,
    format_number,
    format_percent,
    format_plain,
    format_with_std,
    get_torque_unit,
    is_negligible,
    parameter_unit,
    replace_nonfinite,
    significant_digits,
)
from ytheta.report.terminal import TerminalColumn, fit_table, list_names, print_note, print_table, safe_text, safe_texts
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console

    from ytheta.comparison import Comparison, FrictionComparison, ParameterComparison

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
    columns = [TerminalColumn("base parameter", safe_texts(row.name for row in rows), align_left=True)]
    for k, label in enumerate(comparison.labels):
        cells = [_format_value(row.values[k], row.std[k]) for row in rows]
        columns.append(TerminalColumn(label, safe_texts(cells), short_heading=f"model {k + 1}"))
        if k:
            differences = [_format_optional(row.differences[k], 2) for row in rows]
            columns.append(TerminalColumn("difference / std", safe_texts(differences), short_heading="diff/std"))
    print_table(console, fit_table(columns, console.width))


def _print_friction(console: Console, comparison: Comparison) -> None:
    if not comparison.friction:
        return
    columns = [
        TerminalColumn("joint", safe_texts(row.joint for row in comparison.friction), align_left=True),
        TerminalColumn("friction", safe_texts(row.kind for row in comparison.friction), align_left=True),
    ]
    scales = find_friction_scales(comparison)
    for k, label in enumerate(comparison.labels):
        pairs = ((row.values[k], scales[row.kind]) for row in comparison.friction)
        cells = ["0" if value and is_negligible(value, scale) else _format_optional(value, 3) for value, scale in pairs]
        columns.append(TerminalColumn(label, safe_texts(cells), short_heading=f"model {k + 1}"))
    print_table(console, fit_table(columns, console.width))
    print_note(console, BODIES_NOTE)


def _print_torques(console: Console, comparison: Comparison) -> None:
    """Print the torque errors of all models, and how much their torques differ from those of the first."""
    robot = comparison.models[0].robot
    joints = robot.actuated
    units = ["N" if name in robot.prismatic_joints else "Nm" for name in joints]
    columns = [TerminalColumn("joint", safe_texts((*joints, "all")), align_left=True)]
    for k, (label, prediction) in enumerate(zip(comparison.labels, comparison.predictions, strict=True)):
        if prediction.errors is not None:
            errors = list_joint_errors(prediction.errors)
            cells = [NO_VALUE if math.isnan(error) else f"{format_plain(error)} %" for error in errors]
            columns.append(TerminalColumn(f"error of {label}", safe_texts(cells), short_heading=f"error {k + 1}"))
        if k:
            differences = zip(comparison.torque_differences[k].tolist(), units, strict=True)
            rms = [*(f"{format_plain(difference)} {unit}" for difference, unit in differences), ""]
            columns.append(TerminalColumn("RMS difference", safe_texts(rms), short_heading="RMS diff"))
    used = list_used_shares(comparison)
    for heading, shares in used:
        cells = [*(f"{format_plain(100.0 * share)} %" for share in shares.tolist()), ""]
        columns.append(TerminalColumn(heading, safe_texts(cells), short_heading="used", drop_priority=1))
    print_table(console, fit_table(columns, console.width, has_total_row=True))
    if used:
        print_note(console, f"used: {USED_NOTE}; RMS differences are those of all samples")


def _format_value(value: float | None, std: float | None) -> str:
    if value is None or std is None:
        return "–"
    return f"{format_plain(value, significant_digits(value, std), zeros=True)} ± {format_plain(std, 2)}"


def _format_optional(value: float | None, digits: int) -> str:
    return "–" if value is None else format_plain(value, digits)


# A comparison as plain data: the output of ``ytheta compare --json``.


def summarize_comparison(comparison: Comparison) -> dict[str, Any]:
    """Return parameters, friction and torques of all models; infinite numbers become None."""
    torques = None
    if comparison.predictions:
        errors = [each.errors for each in comparison.predictions]
        torques = {
            "log": comparison.predictions[0].source,
            "joints": list(comparison.models[0].robot.actuated),
            "relative_error_percent": [None if each is None else each.relative_percent for each in errors],
            "per_joint_percent": [None if each is None else each.per_joint_percent.tolist() for each in errors],
            "used_share": [None if each is None else each.used_share.tolist() for each in errors],
            "rms_difference": [each.tolist() for each in comparison.torque_differences],
        }
    data: dict[str, Any] = replace_nonfinite(
        {
            "robot": comparison.models[0].robot.name,
            "models": list(comparison.labels),
            "verdicts": [str(model.table.get("verdict", "unknown")) for model in comparison.models],
            "parameters": [_summarize_row(row) for row in comparison.parameters],
            "friction": [_summarize_row(row) for row in comparison.friction],
            "notable": [row.name for row in comparison.notable],
            "torques": torques,
        }
    )
    return data


def _summarize_row(row: ParameterComparison | FrictionComparison) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(row).items()}


# The report of a comparison: a self-contained HTML file.


def write_comparison_report(comparison: Comparison, path: str | Path) -> Path:
    """Write the report of a comparison; the file is written atomically."""
    return write_page(path, lambda: comparison_html(comparison))


def comparison_html(comparison: Comparison) -> str:
    """Return the page as text."""
    content = {
        "comparison": comparison,
        "BODIES_NOTE": BODIES_NOTE,
        "USED_NOTE": USED_NOTE,
        "summary": summarize_comparison(comparison),
        "parameter_figures": list(plot_parameters(comparison)),
        "changes": plot_changes(comparison),
        "friction_figures": list(plot_friction(comparison)),
        "torque_figures": list(plot_torques(comparison)),
    }
    functions = (
        *(describe_differences, list_changes, list_friction_rows, list_models),
        *(list_parameter_rows, list_torque_rows, list_used_shares, name_log),
    )
    return render_page("comparison.html", content, functions)


# Rows of the tables on the page of a comparison: texts, and the numbers by which rows are sorted.


MAX_NAMES = 8
MAX_SHOWN_CHANGES = 8  # parameters whose change is drawn; as many as there are colours
BODIES_NOTE = (
    "friction is that of the bodies in the model files, the most likely physically consistent ones; it may "
    "differ a little from the base parameters, which are the estimate"
)
USED_NOTE = (
    "share of the samples of which the errors are computed; they leave out those at which a joint rests or is slow"
)


def describe_differences(comparison: Comparison) -> str:
    """Return in one sentence without a full stop which parameters differ."""
    names = [row.name for row in comparison.notable]
    if not names:
        return "no parameter differs by more than 3 standard deviations"
    subject = f"{len(names)} parameters differ" if len(names) > 1 else "1 parameter differs"
    return f"{subject} by more than 3 standard deviations: {list_names(names, MAX_NAMES)}"


def list_changes(comparison: Comparison) -> list[ParameterComparison]:
    """Return the parameters whose change from model to model is drawn: those that differ most."""
    return sorted(comparison.parameters, key=lambda row: -row.largest_difference)[:MAX_SHOWN_CHANGES]


def list_models(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield label, verdict and logs of each model."""
    for label, model in zip(comparison.labels, comparison.models, strict=True):
        logs = ", ".join(Path(str(log)).name or "log" for log in model.table.get("logs", ()))
        yield label, str(model.table.get("verdict", "unknown")), logs


def name_log(comparison: Comparison) -> str:
    """Return the file name of the log whose torques are compared."""
    return Path(comparison.predictions[0].source).name or "a log"


def list_parameter_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield value, standard deviation and difference of each parameter; those that differ most first."""
    sliding = comparison.models[0].robot.prismatic_joints
    for row in sorted(comparison.parameters, key=lambda row: -row.largest_difference):
        cells: list[tuple[str, float]] = []
        for k, (value, std, difference) in enumerate(zip(row.values, row.std, row.differences, strict=True)):
            if value is None or std is None:
                cells.append((NO_VALUE, np.nan))
            else:
                cells.append((f"{format_with_std(value, std)} ± {format_number(std, 2)}", value))
            if k:
                cells.append(_make_cell(difference, 2))
        yield {"name": row.name, "unit": parameter_unit(row.name.rstrip("*"), sliding), "cells": cells}


def list_friction_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the friction parameters of each joint in each model."""
    sliding, scales = comparison.models[0].robot.prismatic_joints, find_friction_scales(comparison)
    for row in comparison.friction:
        unit = parameter_unit(f"{row.joint}.{FRICTION_PARAMETERS[row.kind]}", sliding)
        cells = [_make_cell(each, 3, scales[row.kind]) for each in row.values]
        yield {"name": f"{row.joint}, {row.kind}", "unit": unit, "cells": cells}


def find_friction_scales(comparison: Comparison) -> dict[str, float]:
    """Return the largest magnitude of each kind of friction, beside which values of a solver may be negligible."""
    scales: dict[str, float] = {}
    for row in comparison.friction:
        known = [abs(value) for value in row.values if value is not None]
        scales[row.kind] = max([scales.get(row.kind, 0.0), *known])
    return scales


def list_used_shares(comparison: Comparison) -> list[tuple[str, PerJoint]]:
    """Return heading and share of the samples of which the errors of each joint are computed.

    There is one entry for all models or, if they leave out different samples, one for each; none if none is left out.
    """
    shares = [
        (label, prediction.errors.used_share)
        for label, prediction in zip(comparison.labels, comparison.predictions, strict=False)
        if prediction.errors is not None
    ]
    if all((share == 1.0).all() for _, share in shares):
        return []
    if all(np.array_equal(share, shares[0][1]) for _, share in shares):
        return [("used", shares[0][1])]
    return [(f"used of {label}", share) for label, share in shares]


def list_joint_errors(errors: TorqueErrors) -> list[float]:
    """Return the relative error of each joint in percent, NaN if all its samples are left out; the last is of all."""
    percents = np.where(errors.counts > 0.0, errors.per_joint_percent, np.nan)
    return [*percents.tolist(), errors.relative_percent]


def list_torque_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the error of each joint in each model, and the difference from the first model; the last row is all.

    The last cells are those of ``list_used_shares``.
    """
    robot = comparison.models[0].robot
    for j, name in enumerate((*robot.actuated, "all joints")):
        cells: list[tuple[str, float]] = []
        is_total = j == len(robot.actuated)
        for k, prediction in enumerate(comparison.predictions):
            if prediction.errors is not None:
                error = list_joint_errors(prediction.errors)[j]
                cells.append((format_percent(error), error))
            if k:
                rms = None if is_total else float(comparison.torque_differences[k][j])
                cells.append(_make_cell(rms, 3))
        for _, shares in list_used_shares(comparison):
            share = np.nan if is_total else 100.0 * float(shares[j])
            cells.append((format_percent(share), share))
        unit = "" if is_total else parameter_unit(f"{name}.fc", robot.prismatic_joints)
        yield {"name": name, "unit": unit, "cells": cells}


def _make_cell(value: float | None, digits: int, scale: float = 0.0) -> tuple[str, float]:
    return (NO_VALUE, np.nan) if value is None else (format_beside(value, scale, digits), value)


# Plots of a comparison: parameters with intervals, their change, friction curves, predicted torques.


QUANTILE = 1.96  # half of a 95 % interval, in standard deviations
ROW_HEIGHT, FRAME_HEIGHT = 10, 70  # pixels; each model of a parameter has a row
FRICTION_HEIGHT, TORQUE_HEIGHT = 260, 340  # pixels


def make_comparison_figures(comparison: Comparison) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    figures = {f"parameters {title}": figure for title, figure in plot_parameters(comparison)}
    figures |= {f"friction of {name}": figure for name, figure in plot_friction(comparison)}
    figures |= {f"torque of {name}": figure for name, figure in plot_torques(comparison)}
    return figures | {"changes": plot_changes(comparison)}


def plot_parameters(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield for each unit a title and a figure with the values and 95 % intervals of all models."""
    sliding = comparison.models[0].robot.prismatic_joints
    groups: dict[str, list[ParameterComparison]] = {}
    for row in comparison.parameters:
        unit = parameter_unit(row.name.rstrip("*"), sliding)
        groups.setdefault("without unit" if unit in ("", "1") else f"in {unit}", []).append(row)
    for title, rows in groups.items():
        yield title, _plot_group(comparison, title.removeprefix("in "), rows)


def _plot_group(comparison: Comparison, unit: str, rows: list[ParameterComparison]) -> go.Figure:
    count = len(comparison.models)
    traces = []
    for k, label in enumerate(comparison.labels):
        kept = [(place, row) for place, row in enumerate(rows) if row.values[k] is not None]
        bars = [QUANTILE * (row.std[k] or 0.0) for _, row in kept]
        shift = (k - 0.5 * (count - 1)) * 0.7 / count
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [row.values[k] for _, row in kept],
                "y": [place + shift for place, _ in kept],
                "customdata": [escape(row.name) for _, row in kept],
                "name": escape(label),
                "marker": {"color": COLOURS[k % len(COLOURS)], "size": 5},
                "error_x": {
                    "type": "data",
                    "array": [bar if np.isfinite(bar) else 0.0 for bar in bars],
                    "thickness": 1.5,
                    "width": 2,
                    "color": COLOURS[k % len(COLOURS)],
                },
                "hovertemplate": f"%{{customdata}}: %{{x:.4~g}} ± %{{error_x.array:.2~g}} {unit}<extra>{escape(label)}"
                "</extra>",
            }
        )
    layout = {
        "height": FRAME_HEIGHT + ROW_HEIGHT * len(rows) * max(count, 2),
        "margin": MARGIN | {"l": 8},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": {"title": {"text": unit, "standoff": 6}, "nticks": 6},
        "yaxis": {
            "range": [len(rows) - 0.4, -0.6],
            "tickvals": list(range(len(rows))),
            "ticktext": [escape(row.name) for row in rows],
            "automargin": True,
            "tickfont": {"size": 10},
            "zeroline": False,
        },
    }
    return make_figure(traces, layout)


def plot_changes(comparison: Comparison) -> go.Figure:
    """Plot how the parameters that differ most change from model to model, in standard deviations.

    The models are in the order in which they were given, such as that of time.
    """
    x = np.arange(1.0, len(comparison.models) + 1.0)
    lines = [
        Line(row.name, np.array([np.nan if each is None else each for each in row.differences], dtype=float))
        for row in list_changes(comparison)
    ]
    bound = np.full(len(x), MIN_NOTABLE_DIFFERENCE)
    band = Band("3 standard deviations", -bound, bound, colour=7)
    figure = line_plot(x, lines, [Axis("difference", "std")], x_title="model", bands=[band])
    figure.update_traces(mode="lines+markers", selector=lambda trace: trace.fill is None)
    labels = [escape(label) for label in comparison.labels]
    figure.update_xaxes(tickvals=x.tolist(), ticktext=labels, title=None, range=[0.7, len(x) + 0.3])
    return figure


def plot_friction(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield name and figure of the friction of every drive in all models."""
    robot = comparison.models[0].robot
    for curves in comparison.friction_curves:
        lines = [
            Line(label, friction, colour=k)
            for k, (label, friction) in enumerate(zip(comparison.labels, curves.friction, strict=True))
            if friction is not None
        ]
        speed = "m/s" if curves.name in robot.prismatic_joints else "rad/s"
        axis = Axis("friction", get_torque_unit(robot, curves.name))
        yield (
            curves.name,
            line_plot(curves.speeds, lines, [axis], x_title=f"speed / {speed}", height=FRICTION_HEIGHT, legend=False),
        )


def plot_torques(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield name and figure of the torque of every joint, measured and predicted by each model; none without a log.

    Below are the residuals or, if the log has no torques, the differences from the first model. Areas behind the lines
    mark the time that is left out of the errors.
    """
    if not comparison.predictions:
        return
    first = comparison.predictions[0]
    seconds = first.t - first.t[0]
    reference, below = (first.predicted, "difference") if first.measured is None else (first.measured, "residual")
    for j, name in enumerate(first.robot.actuated):
        lines = []
        if first.measured is not None:
            lines.append(Line("measured", first.measured[:, j], faint=True, width=4.0))
        for k, (label, prediction) in enumerate(zip(comparison.labels, comparison.predictions, strict=True)):
            lines.append(Line(label, prediction.predicted[:, j], colour=k, width=1.3))
            rest = reference[:, j] - prediction.predicted[:, j]
            lines.append(Line(label, rest, axis=1, colour=k, width=1.0, legend=False))
        axes = [Axis("torque", get_torque_unit(first.robot, name)), Axis(below)]
        figure = line_plot(seconds, lines, axes, height=TORQUE_HEIGHT, legend=False)
        if first.errors is not None and comparison.left_out is not None:
            areas = make_left_out_areas(continuous_time(first.errors.trace.t), comparison.left_out[:, j])
            figure.update_layout(shapes=areas)
        yield name, figure
