"""Plotly figures without Plotly's theme, and their JSON for a page, whose style sheet sets texts and background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ytheta.errors import MissingExtraError

if TYPE_CHECKING:
    import plotly.graph_objects as go

MARGIN = {"l": 56, "r": 8, "t": 8, "b": 40}
TRANSPARENT = "rgba(0,0,0,0)"


def make_figure(traces: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> go.Figure:
    """Return a figure; Plotly rejects unknown property names."""
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"figures are made with {error.name}, which is not installed; run: pip install 'ytheta[report]'"
        ) from None
    return go.Figure([dict(trace) for trace in traces], _without_theme(layout))


def figure_to_json(figure: go.Figure, *, legend: bool = True) -> str:
    """Return a figure as JSON without ``<``, for a script element; ``legend=False`` hides the figure's legend."""
    from plotly.io.json import to_json_plotly

    data = figure.to_plotly_json()
    layout = data["layout"] | {"paper_bgcolor": TRANSPARENT, "plot_bgcolor": TRANSPARENT}
    if not legend:
        layout["showlegend"] = False
    return str(to_json_plotly(data | {"layout": layout})).replace("<", "\\u003c")


def _without_theme(layout: Mapping[str, object]) -> dict[str, object]:
    font = {"family": "system-ui, sans-serif", "size": 12}
    return {"template": {}, "font": font, "autosize": True, **layout}
