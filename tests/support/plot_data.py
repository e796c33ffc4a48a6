"""The data of the plots on a page."""

from __future__ import annotations

import base64
import json

import numpy as np

from tests.support.browser import Page


def plotted(plot: dict[str, object]) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """x and y of the lines by their names."""
    lines: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for trace in plot["data"]:  # type: ignore[attr-defined]
        pair = tuple(np.frombuffer(base64.b64decode(trace[k]["bdata"]), trace[k]["dtype"]) for k in "xy")
        lines.setdefault(trace["name"], []).append(pair)  # type: ignore[arg-type]
    return lines


def only(plot: dict[str, object], name: str) -> np.ndarray:
    ((_, y),) = plotted(plot)[name]
    return y


def plot_of(page: Page, name: str) -> dict[str, object]:
    data: dict[str, object] = json.loads(page.scripts[name])
    return data
