"""Plots of the parameters: values with error bars beside those of the description, and what determined them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.report.line_plot import COLOURS
from ytheta.report.numbers import parameter_unit
from ytheta.report.plotly_figure import MARGIN, make_figure

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
