"""Friction curves of the drives: friction as a function of speed, with the recorded speeds and a 95 % band."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.identification.assessment.residual_analysis import FrictionPoints, compute_friction_points
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.plots import Axis, Band, Line
from ytheta.report.line_plot import FAINT_COLOUR, line_plot
from ytheta.report.numbers import format_number, parameter_unit
from ytheta.robot.friction_curve import CURVE_PARAMETERS, compute_friction, compute_friction_factors
from ytheta.robot.parts import Drive
from ytheta.shapes import Float

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.identification.result import Identification

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
    identification: Identification, name: str, drive: Drive, speeds: Float[np.ndarray, "points"]
) -> Float[np.ndarray, "points"] | None:
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
