"""Plots of identified parameters: values beside those of the description, what determined them, and friction curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.identification.assessment.residual_analysis import FrictionPoints, compute_friction_points
from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.plots import Axis, Band, Line
from ytheta.report.figure import COLOURS, FAINT_COLOUR, MARGIN, line_plot, make_figure
from ytheta.report.numbers import format_number, parameter_unit
from ytheta.robot.parts import CURVE_PARAMETERS, Drive, compute_friction, compute_friction_factors, parameter_name
from ytheta.shapes import Float

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.identification.result import Identification

QUANTILE = 1.96  # half of a 95 % interval, in standard deviations
ROW_HEIGHT, FRAME_HEIGHT = 17, 70  # pixels
CELL_HEIGHT = 26
MAX_BAR = 1.0  # half of an error bar relative to the largest value of the plot; longer bars leave the plot
MARK_SYMBOLS = {Mark.DATA: "●", Mark.SHARED: "◐", Mark.PRIOR: "○"}
# What determined a value: prior, both, data. The colours are transparent, so that they suit light and dark pages.
SHARE_COLOURS = ((0.0, "rgba(176, 125, 10, 0.55)"), (0.5, "rgba(128, 136, 148, 0.25)"), (1.0, "rgba(26, 127, 75, 0.6)"))


def plot_values(identification: Identification) -> Iterator[tuple[str, go.Figure]]:
    """Yield for each unit a title and a figure: base parameters with 95 % intervals, and values of the description.

    Parameters that the motion does not determine are left out.
    """
    base = identification.base
    groups: dict[str, list[int]] = {}
    for k, (term, power) in enumerate(base.leading_terms):
        if np.isfinite(identification.std[k]):
            unit = parameter_unit(term, base.robot.prismatic_joints, length_power=power)
            groups.setdefault("without unit" if unit in ("", "1") else f"in {unit}", []).append(k)
    for title, places in groups.items():
        yield title, _plot_group(identification, title.removeprefix("in "), places)


def _plot_group(identification: Identification, unit: str, places: Sequence[int]) -> go.Figure:
    names = [escape(identification.names[k]) for k in places]
    values, bars = identification.beta[places], QUANTILE * identification.std[places]
    described = None if identification.description_beta is None else identification.description_beta[places]
    traces: list[dict[str, object]] = []
    if described is not None:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": described,
                "y": names,
                "name": "description",
                "marker": {"color": COLOURS[1], "size": 9, "symbol": "line-ns-open", "line": {"width": 2}},
                "hovertemplate": f"%{{y}}: %{{x:.4~g}} {unit}<extra>description</extra>",
            }
        )
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": values,
            "y": names,
            "name": "identified",
            "error_x": {"type": "data", "array": bars, "thickness": 1.5, "width": 3, "color": COLOURS[0]},
            "marker": {"color": COLOURS[0], "size": 5},
            "hovertemplate": f"%{{y}}: %{{x:.4~g}} ± %{{error_x.array:.2~g}} {unit}<extra>identified</extra>",
        }
    )
    layout = {
        "height": FRAME_HEIGHT + ROW_HEIGHT * len(places),
        "margin": MARGIN | {"l": 8},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": {"title": {"text": unit, "standoff": 6}, "range": _find_range(values, bars, described), "nticks": 6},
        "yaxis": {
            "autorange": "reversed",
            "automargin": True,
            "tickfont": {"size": 10},
            "dtick": 1,
            "zeroline": False,
            "type": "category",
        },
    }
    return make_figure(traces, layout)


def _find_range(values: np.ndarray, bars: np.ndarray, described: np.ndarray | None) -> list[float]:
    """Return a range that contains all values; an error bar much longer than the largest value leaves it."""
    known = values if described is None else np.concatenate([values, described])
    bars = np.minimum(bars, MAX_BAR * float(abs(known).max()))
    low = min(float(known.min()), float((values - bars).min()), 0.0)
    high = max(float(known.max()), float((values + bars).max()), 0.0)
    margin = 0.04 * (high - low) or 1.0
    return [low - margin, high + margin]


def plot_origins(identification: Identification) -> Iterator[tuple[str, go.Figure]]:
    """Yield for links and for drives a table in colours: which parameters the data and which the prior determined."""
    if identification.standard is None:
        return
    standard = identification.standard
    shares = dict(zip(standard.names, standard.data_shares.tolist(), strict=True))
    symbols_of_marks = {name: MARK_SYMBOLS[mark] for name, mark in standard.marks.items()}
    for title, symbols in (("links", LINK_PARAMETERS), ("drives", ALL_JOINT_PARAMETERS)):
        kinds = [symbol for symbol in symbols if any(name.rpartition(".")[2] == symbol for name in shares)]
        owners = list(dict.fromkeys(name.rpartition(".")[0] for name in shares if name.rpartition(".")[2] in kinds))
        if not owners:
            continue
        values = np.array([[shares.get(f"{owner}.{kind}", np.nan) for kind in kinds] for owner in owners])
        texts = [[symbols_of_marks.get(f"{owner}.{kind}", "") for kind in kinds] for owner in owners]
        table = {
            "type": "heatmap",
            "z": values,
            "x": kinds,
            "y": [escape(owner) for owner in owners],
            "text": texts,
            "texttemplate": "%{text}",
            "textfont": {"size": 12},
            "zmin": 0.0,
            "zmax": 1.0,
            "colorscale": SHARE_COLOURS,
            "showscale": False,
            "xgap": 2,
            "ygap": 2,
            "hoverongaps": False,
            "hovertemplate": "%{y}.%{x}: the data removed %{z:.0%} of the variance<extra></extra>",
        }
        axis = {"showgrid": False, "ticks": "", "zeroline": False}
        layout = {
            "height": FRAME_HEIGHT + CELL_HEIGHT * len(owners),
            "margin": MARGIN | {"l": 8, "t": 24, "b": 8},
            "xaxis": axis | {"side": "top", "type": "category"},
            "yaxis": axis | {"autorange": "reversed", "automargin": True, "dtick": 1, "type": "category"},
        }
        yield title, make_figure([table], layout)


# Friction curves of the drives: friction as a function of speed, with the recorded speeds and a 95 % band.


SPEED_RANGE = 1.25  # highest speed of the plot, relative to the highest recorded speed
POINTS = 200  # even, so that no point is at speed zero, where friction jumps
NORMAL_95 = 1.96  # half of a 95 % interval, in standard deviations
HEIGHT = 260  # pixels
MAX_POINTS = 400  # measured points of a drive; each is an element of the page


@dataclass(frozen=True, eq=False)
class FrictionCurve:
    """The friction of a drive for a plot; ``std`` is None if the data do not say how certain the curve is.

    Attributes
    ----------
    name      name of the drive
    law       its terms, such as "viscous + Coulomb + root"
    speed     highest recorded speed
    speeds    speeds of the curve
    friction  friction without the offset, at zero transmitted torque
    loaded    friction at the torque ``load``; None if friction does not depend on it
    load      the RMS of the torque of the joint
    std       standard deviations of ``friction``
    points    friction measured on the logs of the fit; None for drives that share their torque with others
    """

    name: str
    law: str
    speed: float
    speeds: Float[np.ndarray, "points"]
    friction: Float[np.ndarray, "points"]
    loaded: Float[np.ndarray, "points"] | None
    load: float
    std: Float[np.ndarray, "points"] | None
    points: FrictionPoints | None = None


def compute_friction_curves(identification: Identification) -> Iterator[FrictionCurve]:
    """Yield the curve of every drive that has friction and that has moved."""
    robot = identification.robot
    recorded = _find_recorded_speeds(identification)
    torque = dict(zip(robot.actuated, identification.fit.torque_rms.tolist(), strict=True))
    for name, drive in robot.drives:
        speed = recorded.get(name, 0.0)
        if not speed > 0.0 or not any((drive.viscous, drive.coulomb, drive.root, drive.load)):
            continue
        speeds = np.linspace(-SPEED_RANGE * speed, SPEED_RANGE * speed, POINTS)
        load = torque.get(name, 0.0)
        yield FrictionCurve(
            name,
            describe_law(drive),
            speed,
            speeds,
            compute_friction(drive, speeds),
            compute_friction(drive, speeds, load_torque=load) if drive.load and load else None,
            load,
            _compute_std(identification, name, drive, speeds),
            compute_friction_points(robot, identification.fit, name, drive),
        )


def describe_law(drive: Drive) -> str:
    """Return the terms of a drive's friction, such as "viscous + Coulomb + root"."""
    terms = {"viscous": drive.viscous, "Coulomb": drive.coulomb, "root": drive.root, "load": drive.load}
    text = " + ".join(word for word, value in terms.items() if value)
    if np.isfinite(drive.max_curve_speed):
        text += f", constant beyond {format_number(drive.max_curve_speed)}"
    return text


def plot_friction(identification: Identification) -> Iterator[tuple[FrictionCurve, go.Figure]]:
    """Yield curve and figure of every drive; vertical lines mark the highest recorded speed."""
    sliding = identification.base.robot.prismatic_joints
    for curve in compute_friction_curves(identification):
        unit = parameter_unit(f"{curve.name}.fc", sliding)
        lines = [Line("friction" if curve.loaded is None else "without load", curve.friction, colour=0)]
        if curve.loaded is not None:
            lines.append(Line(f"with a load of {format_number(curve.load)} {unit}", curve.loaded, colour=1))
        bands = []
        if curve.std is not None:
            lower, upper = (curve.friction + sign * NORMAL_95 * curve.std for sign in (-1.0, 1.0))
            bands.append(Band("95 % interval", lower, upper))
        figure = line_plot(
            curve.speeds,
            lines,
            [Axis("friction", unit)],
            x_title=f"speed / {'m/s' if curve.name in sliding else 'rad/s'}",
            height=HEIGHT,
            bands=bands,
            marks=(-curve.speed, curve.speed),
            legend=curve.loaded is not None,
        )
        yield curve, figure if curve.points is None else _add_points(figure, curve.points)


def _add_points(figure: go.Figure, points: FrictionPoints) -> go.Figure:
    """Add measured points behind the lines of a figure; return the figure."""
    kept = slice(None, None, max(1, math.ceil(len(points.speeds) / MAX_POINTS)))
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": points.speeds[kept].astype(np.float32),
        "y": points.friction[kept].astype(np.float32),
        "name": "measured",
        "marker": {"color": FAINT_COLOUR, "size": 3},
        "showlegend": False,
        "hoverinfo": "skip",
    }
    figure.add_trace(trace)
    figure.data = (figure.data[-1], *figure.data[:-1])
    return figure


def _find_recorded_speeds(identification: Identification) -> dict[str, float]:
    """Return the highest recorded speed of every drive; in robots with loops, only of actuated joints."""
    robot, speeds = identification.base.robot, identification.fit.motion_range.speed
    if robot.loops:
        return dict(zip(robot.actuated, speeds.tolist(), strict=True))
    return dict(zip(robot.moving, (abs(compute_velocity_ratios(robot)) @ speeds).tolist(), strict=True))


def _compute_std(
    identification: Identification, name: str, drive: Drive, speeds: Float[np.ndarray, " points"]
) -> Float[np.ndarray, " points"] | None:
    """Return the standard deviations of a curve; None if its parameters are only known in combinations or not seen."""
    selected = [
        (k, parameter)
        for k, symbol in enumerate(CURVE_PARAMETERS)
        if (parameter := parameter_name(name, symbol)) in identification.base.selected
    ]
    places = [identification.names.index(each) for _, each in selected if each in identification.names]
    if not places or len(places) < len(selected) or not np.isfinite(identification.std[places]).all():
        return None
    factors = compute_friction_factors(drive, speeds)[:, [k for k, _ in selected]]
    covariance = identification.covariance[np.ix_(places, places)]
    return np.sqrt(np.maximum(np.sum((factors @ covariance) * factors, axis=1), 0.0))
