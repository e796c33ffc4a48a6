"""The tables of an identification for a terminal of any width."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ytheta.identifiability.standard_parameters import sliding_joints
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.assessment.residuals import TorqueErrors
from ytheta.report.terminal import Column, Fitted, fitted
from ytheta.report.numbers import digits_beside, plain, share
from ytheta.report.printable import printable
from ytheta.robot.robot import Robot

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

MARKS = {
    Certainty.DETERMINED: ("yes", "green"),
    Certainty.SMALL: ("small", "dim"),
    Certainty.WEAK: ("weak", "yellow"),
    Certainty.UNSEEN: ("no", "red"),
}
NARROW = 20  # columns in which no expression can be read
BETWEEN = 3  # spaces between columns


def print_parameters(out: Console, found: Identification, *, verbose: bool) -> None:
    """Values and certainty, and what else is in a parameter: as far as there is room, or in full below if asked for."""
    numbers = list(zip(found.beta, found.std, found.relative_std_percent, strict=True))
    columns = [
        Column("base parameter", _texts(found.names), short="parameter", words=True),
        Column("value", _texts(plain(value, digits_beside(value, std), zeros=True) for value, std, _ in numbers)),
        Column("± std", _texts(plain(std, 2) for _, std, _ in numbers)),
        Column("std %", _texts(share(percent) for *_, percent in numbers), spare=1),
        Column("seen", [Text(*MARKS[seen]) for seen in found.seen], words=True),
    ]
    table = fitted(columns, out.width)
    room = out.width - table.width - BETWEEN
    terms = [re.split(r" (?=[+-] )", expression)[1:] for expression in found.base.expressions]
    whole = all(len(" ".join(pieces)) <= room for pieces in terms)
    if whole or (room >= NARROW and not verbose):
        beside = Column("* with", _texts(_terms(pieces, room) for pieces in terms), words=True)
        table = fitted([*columns, beside], out.width)
    _print(out, table)
    if verbose and not whole:
        for name, expression in zip(found.names, found.base.expressions, strict=True):
            if name.endswith("*"):
                out.print(Text(printable(f"{name} = {expression}")), soft_wrap=True)
    elif not whole:
        out.print(Text("what the stars stand for, in full: --verbose, or base.expressions in Python", style="dim"))


def print_joints(
    out: Console, robot: Robot, fit: TorqueErrors, validation: TorqueErrors | None, *, correlated: Sequence[str] = ()
) -> None:
    """TorqueErrors per joint; where there is a validation, all columns after the percentages are of it."""
    judged = fit if validation is None else validation
    sliding = sliding_joints(robot)
    units = ["N" if name in sliding else "Nm" for name in robot.actuated]

    def percents(values: Iterable[float], total: float | None = None) -> list[Text]:
        return _texts([*map(_percent, values), "" if total is None else _percent(total)])

    def with_units(values: Iterable[float]) -> list[Text]:
        return _texts([*(f"{plain(value)} {unit}" for value, unit in zip(values, units, strict=True)), ""])

    columns = [
        Column("joint", _texts([*robot.actuated, "all joints"]), words=True),
        Column("torque RMS", with_units(judged.torque_rms), short="torque", spare=2),
        Column(
            "fit %" if correlated else "error %",
            percents(fit.per_joint_percent, fit.relative_percent),
            spare=0 if validation is None else 1,
        ),
    ]
    if validation is not None:
        cells = percents(validation.per_joint_percent, validation.relative_percent)
        columns.append(Column("validation %", cells, short="valid. %"))
    columns += [
        Column("raw %", percents(judged.raw_per_joint_percent, judged.raw_relative_percent), spare=5),
        Column("of variation %", percents(judged.of_variation_percent), short="var. %", spare=6),
        Column("error RMS", with_units(judged.rms), short="error", spare=3),
    ]
    if correlated:
        columns.append(Column("correlated", _texts([*correlated, ""]), short="corr.", spare=4))
    _print(out, fitted(columns, out.width, total=True))


def _print(out: Console, shown: Fitted) -> None:
    out.print(shown.table, crop=False)
    if shown.left_out:
        text = f"no room for {', '.join(shown.left_out)}: widen the terminal, or see --json"
        out.print(Text(text, style="dim"))


def _terms(pieces: Sequence[str], room: int) -> str:
    """As many whole terms of an expression as there is room for."""
    if len(" ".join(pieces)) <= room:
        return " ".join(pieces)
    line = ""
    for piece in pieces:
        if len(line) + len(piece) + 3 > room:
            break
        line += f"{piece} "
    return f"{line}…"


def _percent(value: float) -> str:
    return plain(value) if value < 100.0 else f"{value:.0f}" if value < 1e6 else "> 999999"


def _texts(words: Iterable[str]) -> list[Text]:
    return [Text(printable(each)) for each in words]
