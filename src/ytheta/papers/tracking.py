"""Figures of tracking simulations that several papers share: settling times, Lyapunov functions, plots of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ytheta.plots import Axis, Line, Plot
from ytheta.shapes import Float, Shaped

if TYPE_CHECKING:
    from ytheta.control.laws.law import Law
    from ytheta.simulation.runs import Runs


def plot_joints(
    title: str,
    t: Float[np.ndarray, " instants"],
    values: Float[np.ndarray, "instants joints"],
    names: Sequence[str],
    axis: Axis,
    *,
    caption: str = "",
    reference: Float[np.ndarray, "instants joints"] | None = None,
    below: tuple[Float[np.ndarray, "instants joints"], Axis] | None = None,
    marks: Sequence[float] = (),
) -> Plot:
    """Plot one line per joint, the reference dashed. The values of ``below`` are plotted below, on their own axis."""
    lines = [Line(name, values[:, k], colour=k) for k, name in enumerate(names)]
    if reference is not None:
        lines += [
            Line(f"{name}, reference", reference[:, k], colour=k, dashed=True, width=1.0, legend=k == 0)
            for k, name in enumerate(names)
        ]
    if below is not None:
        lines += [Line(name, below[0][:, k], axis=1, colour=k, legend=False) for k, name in enumerate(names)]
    axes = (axis,) if below is None else (axis, below[1])
    return Plot(title, t, tuple(lines), axes, caption=caption, marks=tuple(marks))


def compute_settling_times(
    t: Float[np.ndarray, " instants"], outside: Shaped[np.ndarray, "instants runs"]
) -> Float[np.ndarray, " runs"]:
    """Return the time after which each run is never ``outside`` its tolerance, or infinity if there is no such time."""
    later = np.append(t[1:], np.inf)
    last = len(t) - 1 - np.argmax(outside[::-1], axis=0)
    return np.where(outside.any(axis=0), later[last], 0.0)


def evaluate_lyapunov(law: Law, runs: Runs, reference: tuple[np.ndarray, ...]) -> Float[np.ndarray, " instants"]:
    """Return the Lyapunov function of the law along the first run; the true parameters are those of the description."""
    truth = np.tile(law.unknowns.nominal, (len(runs.t), 1))
    return law.compile(law.lyapunov_graph())(runs.q[0], runs.qd[0], *reference, runs.controller_state[0], truth)[:, 0]


def compute_rms(
    values: Float[np.ndarray, "*shape"], axis: int | tuple[int, ...] | None = None
) -> np.ndarray | np.floating:
    """Return the root mean square over an axis, or over all entries."""
    return np.sqrt(np.mean(np.square(values), axis=axis))
