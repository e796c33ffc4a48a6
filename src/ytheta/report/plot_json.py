"""Plotly's figures as JSON, without its own theme: lines, texts and background follow the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MARGIN = {"l": 56, "r": 8, "t": 8, "b": 40}
CLEAR = "rgba(0,0,0,0)"


def plot_json(traces: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> str:
    """A figure for a script element: no ``<`` may stand in it. Names that Plotly does not know are refused."""
    import plotly.graph_objects as go

    figure = go.Figure([dict(trace) for trace in traces], _plain(layout))
    return str(figure.to_json()).replace("<", "\\u003c")


def _plain(layout: Mapping[str, object]) -> dict[str, object]:
    """Without Plotly's own theme and background."""
    font = {"family": "system-ui, sans-serif", "size": 12}
    return {"template": {}, "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR, "font": font, "autosize": True, **layout}
