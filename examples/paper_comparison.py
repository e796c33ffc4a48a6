"""Comparison of a paper's simulations with those of ytheta: a table, and a page of figures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

import ytheta as yt
from ytheta.plots import Axis, Line
from ytheta.report.figures_page import Figure, write_figures
from ytheta.report.line_plot import HEIGHT, line_plot
from ytheta.shapes import Float, Shaped

TWO_PLOTS_HEIGHT = 420  # pixels, of a figure with two plots


class Agreement(Enum):
    """Whether ytheta confirms a statement of a paper."""

    AGREES = "yes"
    DIFFERS = "no"
    OPEN = "open"  # the paper does not give the settings on which the result depends

    @staticmethod
    def of(*, agrees: bool) -> Agreement:
        return Agreement.AGREES if agrees else Agreement.DIFFERS


@dataclass(frozen=True)
class Row:
    """One statement of a paper and the result here; ``note`` explains a difference or a missing setting."""

    statement: str
    paper: str
    ytheta: str
    agreement: Agreement
    note: str = ""


@dataclass(frozen=True, eq=False)
class PaperComparison:
    """The output of an example; the lines of ``study`` are printed after the table."""

    title: str
    about: str
    rows: tuple[Row, ...]
    figures: tuple[Figure, ...]
    study: tuple[str, ...] = ()


def format_table(comparison: PaperComparison) -> Iterator[str]:
    """Yield the lines of the table, the notes below it, and the study."""
    head = ("", "paper", "ytheta", "agrees")
    cells = [(row.statement, row.paper, row.ytheta, row.agreement.value) for row in comparison.rows]
    widths = [max(len(line[k]) for line in (head, *cells)) for k in range(len(head))]
    yield comparison.title
    for line in (head, *cells):
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
    for row in comparison.rows:
        if row.note:
            yield f"  {row.statement}: {row.note}"
    yield from comparison.study


def plot_joints(
    t: Float[np.ndarray, "instants"],
    values: Float[np.ndarray, "instants joints"],
    names: tuple[str, ...],
    axis: Axis,
    *,
    reference: Float[np.ndarray, "instants joints"] | None = None,
    below: tuple[Float[np.ndarray, "instants joints"], Axis] | None = None,
    marks: Sequence[float] = (),
) -> go.Figure:
    """Plot one line per joint, the reference dashed. The values of ``below`` are plotted below, on their own axis."""
    drawn = [Line(name, values[:, k], colour=k) for k, name in enumerate(names)]
    if reference is not None:
        drawn += [
            Line(f"{name}, reference", reference[:, k], colour=k, dashed=True, width=1.0, legend=k == 0)
            for k, name in enumerate(names)
        ]
    if below is not None:
        drawn += [Line(name, below[0][:, k], axis=1, colour=k, legend=False) for k, name in enumerate(names)]
    height = HEIGHT if below is None else TWO_PLOTS_HEIGHT
    return line_plot(t, drawn, [axis] if below is None else [axis, below[1]], height=height, marks=marks)


def compute_settling_times(
    t: Float[np.ndarray, "instants"], outside: Shaped[np.ndarray, "instants runs"]
) -> Float[np.ndarray, "runs"]:
    """Return the time after which each run is never ``outside`` its tolerance, or infinity if there is no such time."""
    later = np.append(t[1:], np.inf)
    last = len(t) - 1 - np.argmax(outside[::-1], axis=0)
    return np.where(outside.any(axis=0), later[last], 0.0)


def evaluate_lyapunov(
    law: yt.control.Law, runs: yt.Runs, reference: tuple[np.ndarray, ...]
) -> Float[np.ndarray, "instants"]:
    """Return the Lyapunov function of the law along the first run; the true parameters are those of the description."""
    truth = np.tile(law.unknowns.nominal, (len(runs.t), 1))
    return law.compile(law.lyapunov_graph())(runs.q[0], runs.qd[0], *reference, runs.controller_state[0], truth)[:, 0]


def rms(values: Float[np.ndarray, "*shape"], axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """Return the root mean square."""
    return np.sqrt(np.mean(np.square(values), axis=axis))


def main(compare: Callable[[], PaperComparison], file: str) -> None:
    """Print the table, and write the page of figures into the folder given on the command line."""
    parser = argparse.ArgumentParser(
        description=f"Compare ytheta with the paper in a table, and write the figures to {file}."
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("report"), metavar="FOLDER")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    comparison = compare()
    for line in format_table(comparison):
        print(line)
    print(f"figures: {write_page(comparison, folder / file)}")


def write_page(comparison: PaperComparison, path: Path) -> Path:
    return write_figures(comparison.title, comparison.figures, path, about=comparison.about)
