"""Exhibits: the tables, figures and equations of a paper, each compared with the result of ytheta."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ytheta.errors import InputError
from ytheta.plots import Plot

Value: TypeAlias = int | float | str
PRINTED_NUMBER = re.compile(r"[+-]?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?")


class State(Enum):
    """What a comparison of a print with the result of ytheta shows."""

    AGREES = "agrees"
    MISPRINT = "misprint"  # the paper contradicts its own print; ytheta has the result without the misprint
    DIFFERS = "differs"  # ytheta has another result, and nothing in the paper says that the print is wrong
    OPEN = "open"  # the paper does not give the result, or settings on which it depends; or the scan has lost a part

    @staticmethod
    def of(agrees: bool) -> State:
        return State.AGREES if agrees else State.DIFFERS

    @property
    def agrees(self) -> str:
        """ "yes", "no" or "open": whether ytheta has what is printed."""
        return {State.AGREES: "yes", State.OPEN: "open"}.get(self, "no")


@dataclass(frozen=True)
class PrintedResult:
    """One printed value or statement next to the result of ytheta.

    Attributes
    ----------
    name
        Name of the comparison, unique in its exhibit.
    paper, ytheta
        What the paper prints, and the result of ytheta.
    state
        What the comparison shows.
    note
        Explains a difference or a choice.
    contradiction
        The other equation, the dimension or the limit that contradicts a misprint; empty for all other states.
    """

    name: str
    paper: Value
    ytheta: Value
    state: State
    note: str = ""
    contradiction: str = ""

    def __post_init__(self) -> None:
        if (self.state is State.MISPRINT) != bool(self.contradiction):
            raise InputError(
                f"{self.name}: a misprint needs a contradiction, and only a misprint has one, but the state is "
                f"{self.state.value!r} and the contradiction is {self.contradiction!r}"
            )


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One table, figure or group of equations of a paper.

    Attributes
    ----------
    key
        Name in JSON, such as ``table_1``, ``figure_4`` or ``equation_58``.
    title
        Heading of the table on the page and in the terminal.
    comparisons
        The printed values and statements, each with a name of its own.
    plots
        The figures, drawn again.
    open
        What the paper does not say, and what was chosen here.
    """

    key: str
    title: str
    comparisons: tuple[PrintedResult, ...]
    plots: tuple[Plot, ...] = ()
    open: str = ""

    def __post_init__(self) -> None:
        names = [comparison.name for comparison in self.comparisons]
        if not names or len(set(names)) < len(names):
            raise InputError(f"the comparisons of {self.key} need names that differ, but they are {names}")

    @property
    def state(self) -> State:
        """DIFFERS if one comparison differs; else MISPRINT, OPEN or AGREES, whichever is the first that occurs."""
        states = {comparison.state for comparison in self.comparisons}
        return next(s for s in (State.DIFFERS, State.MISPRINT, State.OPEN, State.AGREES) if s in states)


@dataclass(frozen=True, eq=False)
class PaperReproduction:
    """All exhibits of one paper.

    Attributes
    ----------
    paper
        Name of the paper, such as ``lu1993``.
    citation
        Authors, title, journal and year.
    about
        One or two sentences: what the paper shows, and what is compared.
    exhibits
        The tables, figures and equations.
    """

    paper: str
    citation: str
    about: str
    exhibits: tuple[Exhibit, ...]

    def __getitem__(self, key: str) -> Exhibit:
        """Return the exhibit with this key."""
        for exhibit in self.exhibits:
            if exhibit.key == key:
                return exhibit
        raise KeyError(key)

    @property
    def is_reproduced(self) -> bool:
        """Whether nothing differs; misprints and what the paper leaves open do not count."""
        return self.count(State.DIFFERS) == 0

    def count(self, state: State) -> int:
        """Return the number of comparisons with this state."""
        return sum(comparison.state is state for exhibit in self.exhibits for comparison in exhibit.comparisons)


def compare_printed(name: str, printed: str, value: float, *, note: str = "") -> PrintedResult:
    """Compare a printed number with a value, which agrees if it rounds to the printed digits.

    A value exactly between two roundings agrees with both; so does one that differs from there by rounding errors.
    """
    match = PRINTED_NUMBER.fullmatch(printed)
    if match is None:
        raise InputError(f"{printed!r} is not a printed number; write it as in the paper, such as '0.250' or '-1.5e-3'")
    paper = float(printed)
    half_unit = 0.5 * 10.0 ** (int(match[2] or 0) - len(match[1] or ""))
    agrees = abs(value - paper) <= half_unit + 1e-12 * abs(paper)
    shown = int(paper) if printed.lstrip("+-").isdigit() else paper
    return PrintedResult(name, shown, value, State.of(agrees), note)


def compare_correction(
    name: str,
    printed: Value,
    result: Value,
    contradiction: str,
    *,
    is_printed: bool,
    is_correct: bool,
    note: str = "",
) -> PrintedResult:
    """Compare a result of ytheta with a print that other parts of the paper contradict.

    The row is a misprint only if ytheta has the result that the rest of the paper demands; with any other result, it
    differs.

    Parameters
    ----------
    name, printed, result, note
        As in ``PrintedResult``.
    contradiction
        The other equation, the dimension or the limit that contradicts the print.
    is_printed, is_correct
        Whether the result of ytheta is the printed one, and whether it is the one that the rest of the paper demands.
    """
    if is_correct and not is_printed:
        return PrintedResult(name, printed, result, State.MISPRINT, note, contradiction)
    return PrintedResult(name, printed, result, State.of(is_printed), note)
