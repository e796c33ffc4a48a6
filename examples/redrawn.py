"""What the examples share that do a paper's simulations again: a table beside the paper, and a page of figures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

from ytheta.control.laws.law import Law
from ytheta.report.figures_page import Figure, write_figures
from ytheta.report.line_plot import HEIGHT, Axis, Line, line_plot
from ytheta.shapes import Float, Shaped
from ytheta.simulation.runs import Runs

HIGHER = 420  # pixels, of a plot with another below


class Verdict(Enum):
    """How a row of the table came out."""

    AGREES = "yes"
    DIFFERS = "no"
    OPEN = "open"  # the paper leaves out what decides it


def verdict(agrees: bool) -> Verdict:
    return Verdict.AGREES if agrees else Verdict.DIFFERS


@dataclass(frozen=True)
class Row:
    """One statement of a paper, and what came out here; ``why`` says what keeps the two from being compared."""

    what: str
    paper: str
    found: str
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, eq=False)
class Redrawn:
    """All that an example shows; ``study`` are lines that are printed behind the table."""

    title: str
    about: str
    rows: tuple[Row, ...]
    figures: tuple[Figure, ...]
    study: tuple[str, ...] = ()


def lines(redrawn: Redrawn) -> Iterator[str]:
    """The table, the reasons below it, and the study."""
    head = ("", "paper", "ytheta", "agrees")
    cells = [(row.what, row.paper, row.found, row.verdict.value) for row in redrawn.rows]
    widths = [max(len(line[k]) for line in (head, *cells)) for k in range(len(head))]
    yield redrawn.title
    for line in (head, *cells):
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
    for row in redrawn.rows:
        if row.why:
            yield f"  {row.what}: {row.why}"
    yield from redrawn.study


def joint_lines(
    t: Float[np.ndarray, "instants"],
    values: Float[np.ndarray, "instants joints"],
    names: tuple[str, ...],
    axis: Axis,
    *,
    wanted: Float[np.ndarray, "instants joints"] | None = None,
    below: tuple[Float[np.ndarray, "instants joints"], Axis] | None = None,
    marks: Sequence[float] = (),
) -> str:
    """A plot with a line for every joint; what was wanted of it is dashed. What is ``below`` has an axis of its own."""
    drawn = [Line(name, values[:, k], colour=k) for k, name in enumerate(names)]
    if wanted is not None:
        drawn += [
            Line(f"{name}, wanted", wanted[:, k], colour=k, dashed=True, width=1.0, legend=k == 0)
            for k, name in enumerate(names)
        ]
    if below is not None:
        drawn += [Line(name, below[0][:, k], axis=1, colour=k, legend=False) for k, name in enumerate(names)]
    height = HEIGHT if below is None else HIGHER
    return line_plot(t, drawn, [axis] if below is None else [axis, below[1]], height=height, marks=marks)


def settled(
    t: Float[np.ndarray, "instants"], outside: Shaped[np.ndarray, "instants runs"]
) -> Float[np.ndarray, "runs"]:
    """For every run the time from which on it is no longer outside; infinite where it still is at the end."""
    later = np.append(t[1:], np.inf)
    last = len(t) - 1 - np.argmax(outside[::-1], axis=0)
    return np.where(outside.any(axis=0), later[last], 0.0)


def lyapunov(law: Law, runs: Runs, wanted: tuple[np.ndarray, ...]) -> Float[np.ndarray, "instants"]:
    """The law's function along the first run, where the description is the truth."""
    truth = np.tile(law.unknowns.nominal, (len(runs.t), 1))
    return law.compile(law.lyapunov_graph())(runs.q[0], runs.qd[0], *wanted, runs.controller_state[0], truth)[:, 0]


def rms(values: Float[np.ndarray, "*shape"], axis: int | tuple[int, ...] | None = None) -> np.ndarray:
    """Root mean square."""
    return np.sqrt(np.mean(np.square(values), axis=axis))


def main(make: Callable[[], Redrawn], file: str) -> None:
    """Print the table and write the page into a folder."""
    parser = argparse.ArgumentParser(description=f"Print a table beside the paper and write {file} with its figures.")
    parser.add_argument("-o", "--output", type=Path, default=Path("report"), metavar="FOLDER")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    redrawn = make()
    for line in lines(redrawn):
        print(line)
    print(f"figures: {write_page(redrawn, folder / file)}")


def write_page(redrawn: Redrawn, path: Path) -> Path:
    return write_figures(redrawn.title, redrawn.figures, path, about=redrawn.about)
