"""Plotly figures as JSON, without Plotly's theme: the style sheet sets lines, texts and background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MARGIN = {"l": 56, "r": 8, "t": 8, "b": 40}
TRANSPARENT = "rgba(0,0,0,0)"


def plot_json(traces: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> str:
    """Return a figure as JSON without ``<``, for a script element. Plotly rejects unknown property names."""
    import plotly.graph_objects as go

    figure = go.Figure([dict(trace) for trace in traces], _without_theme(layout))
    return str(figure.to_json()).replace("<", "\\u003c")


def _without_theme(layout: Mapping[str, object]) -> dict[str, object]:
    """Return the layout without Plotly's theme and background."""
    font = {"family": "system-ui, sans-serif", "size": 12}
    return {
        "template": {},
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "font": font,
        "autosize": True,
        **layout,
    }
