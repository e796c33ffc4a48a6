"""A paper that does not exist, with one table and one figure."""

from __future__ import annotations

import numpy as np

from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State, compare_printed
from ytheta.plots import Axis, Line, Plot

TABLE = Exhibit(
    "table_1",
    "Table I: lengths <of> links",
    (compare_printed("a1", "0.25", 0.2531), compare_printed("a2", "12", 12)),
)
PLOT = Plot(
    "Fig. 2: a line", np.arange(3.0), (Line("x", np.arange(3.0) ** 2),), (Axis("x", "m"),), caption="A caption."
)
FIGURE = Exhibit(
    "figure_2",
    "Fig. 2: motion",
    (
        PrintedResult("settles", "in less than 1 s", "0.5 s", State.AGREES),
        PrintedResult("is faster", "yes", 3.25, State.OPEN, "the gain is not given"),
    ),
    (PLOT,),
    "the gain; 3 was chosen",
)
MISPRINT = Exhibit(
    "equation_4", "(4)", (PrintedResult("(4)", "2 a", "a", State.MISPRINT, "read twice", "(3), which has a"),)
)
MADE_UP_PAPER = PaperReproduction("doe1900", "J. Doe, A paper, 1900", "Shows nothing.", (TABLE, FIGURE, MISPRINT))
WRONG_TABLE = Exhibit("table_3", "Table III", (*FIGURE.comparisons, compare_printed("a3", "0.25", 0.2551)))
WRONG_PAPER = PaperReproduction("roe1901", "J. Roe, Another, 1901", "Is wrong.", (WRONG_TABLE,))
