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


class Agreement(Enum):
    """Whether ytheta confirms what a paper prints."""

    YES = "yes"
    NO = "no"
    OPEN = "open"  # the paper does not give the result, or settings on which it depends; or the scan has lost a part

    @staticmethod
    def of(agrees: bool) -> Agreement:
        return Agreement.YES if agrees else Agreement.NO


@dataclass(frozen=True)
class PrintedResult:
    """One printed value or statement next to the result of ytheta; ``note`` explains a difference or a choice."""

    name: str
    paper: Value
    ytheta: Value
    agrees: Agreement
    note: str = ""


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
    def agrees(self) -> Agreement:
        """NO if one comparison disagrees; else OPEN if one is open; else YES."""
        agreements = {comparison.agrees for comparison in self.comparisons}
        return next(a for a in (Agreement.NO, Agreement.OPEN, Agreement.YES) if a in agreements)


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

    def count(self, agreement: Agreement) -> int:
        """Return the number of comparisons with this agreement."""
        return sum(comparison.agrees is agreement for exhibit in self.exhibits for comparison in exhibit.comparisons)


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
    return PrintedResult(name, shown, value, Agreement.of(agrees), note)
