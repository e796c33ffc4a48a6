"""An identification for people: base parameters, joints, what is missing, the verdict."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ytheta.identification.excitation import SURE, Seen
from ytheta.identification.residuals import Errors
from ytheta.identification.verdict import Grade
from ytheta.minimal.standard_parameters import sliding_joints
from ytheta.report.printable import printable
from ytheta.robot.robot import Robot

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

YES, SMALL = ("yes", "green"), ("small", "dim")  # small: uncertain beside its value, but too small to matter
MARKS = {Seen.DETERMINED: YES, Seen.WEAK: ("weak", "yellow"), Seen.UNSEEN: ("no", "red")}
COLOURS = {Grade.GOOD: "green", Grade.USABLE: "yellow", Grade.POOR: "red", Grade.NOT_EXCITING: "red"}
FEW = 6  # names in a line
NARROW = 20  # columns in which no expression can be read
NUMBERS = 44  # columns for values, their standard deviations and the space between


def identification_text(found: Identification, *, width: int = 120) -> str:
    """The same without colours, as ``print(found)`` shows it."""
    out = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, color_system=None)
    print_identification(out, found, verbose=False)
    assert isinstance(out.file, io.StringIO)
    return "\n".join(line.rstrip() for line in out.file.getvalue().splitlines())


def print_identification(out: Console, found: Identification, *, verbose: bool) -> None:
    """Everything worth reading at once; the verdict is the last line."""
    for line in _header(found):
        out.print(line)
    out.print(_parameters(found, room=None if verbose else out.width))
    out.print(joint_table(found.base.robot, found.fit, found.validation, white=_whiteness(found)))
    if found.validation is not None:
        out.print(Text("fit % and correlated: of the logs learnt from; all else: of the logs judged by", style="dim"))
    for line in _last_words(found):
        out.print(line)
    verdict = Text(printable(found.verdict.sentence), style=f"bold {COLOURS[found.verdict.grade]}")
    out.print(verdict, soft_wrap=True)  # one line, for whoever looks for it


def _header(found: Identification) -> Iterator[Text]:
    origin = found.origin
    robot = found.base.robot
    yield _text(
        f"{robot.name}: {len(robot.actuated)} joints, {len(found.base)} base parameters; "
        f"estimator {origin.estimator}, {origin.form} form, low-pass {float(origin.settings[0].cutoff):.3g} Hz"
    )
    yield _text(f"learnt from {_files(origin.logs)}: {_size(found.fit)}")
    if found.validation is not None:
        yield _text(f"judged by   {_files(origin.validation_logs)}: {_size(found.validation)}")


def _parameters(found: Identification, *, room: int | None) -> Table:
    """Values and certainty; expressions shortened where only so many columns have room."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("base parameter", no_wrap=True)
    for name in ("value", "± std", "std %"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("seen", no_wrap=True)
    left = None if room is None else room - max(map(len, found.names)) - NUMBERS
    wide = left is None or left >= NARROW
    if wide:
        table.add_column("* with", overflow="fold")
    rows = zip(
        found.names, found.beta, found.std, found.relative_std_percent, found.seen, found.base.expressions, strict=True
    )
    for name, value, std, percent, seen, expression in rows:
        words, style = SMALL if seen is Seen.DETERMINED and percent > 100.0 * SURE else MARKS[seen]
        table.add_row(
            _text(name),
            _rounded(value, std),
            _plain(f"{std:.2g}") if math.isfinite(std) else "∞",
            _percent(percent),
            Text(words, style=style),
            *([_text(_rest(expression, left))] if wide else []),
        )
    return table


def joint_table(robot: Robot, fit: Errors, validation: Errors | None, *, white: Sequence[str] | None = None) -> Table:
    """Errors per joint; where there is a validation, all columns after the percentages are of it."""
    judged = fit if validation is None else validation
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("joint", no_wrap=True)
    percents = [("fit %" if white else "error %", fit.per_joint_percent)]
    if validation is not None:
        percents.append(("validation %", validation.per_joint_percent))
    sliding = sliding_joints(robot)
    for name in (
        "torque RMS",
        *(name for name, _ in percents),
        "raw %",
        "of variation %",
        "error RMS",
        *(["correlated"] if white else []),
    ):
        table.add_column(name, justify="right", no_wrap=True)
    for k, name in enumerate(robot.actuated):
        unit = "N" if name in sliding else "Nm"
        table.add_row(
            _text(name),
            f"{_plain(f'{judged.torque_rms[k]:.3g}')} {unit}",
            *(_percent(values[k]) for _, values in percents),
            _percent(judged.raw_per_joint_percent[k]),
            _percent(judged.of_variation_percent[k]),
            f"{_plain(f'{judged.rms[k]:.3g}')} {unit}",
            *([white[k]] if white else []),
        )
    table.add_section()
    table.add_row(
        "all joints",
        "",
        *(_percent(errors.relative_percent) for errors in (fit, validation) if errors is not None),
        _percent(judged.raw_relative_percent),
    )
    return table


def _whiteness(found: Identification) -> list[str]:
    """How many times more correlated the residuals are than white noise after the low-pass."""
    return [f"×{c / found.origin.expected_correlation:.2g}" for c in found.fit.correlated]


def _last_words(found: Identification) -> Iterator[Text]:
    counts = {kind: found.seen.count(kind) for kind in MARKS}
    condition = _plain(f"{found.condition_number:.3g}") if math.isfinite(found.condition_number) else "infinite"
    small = sum(
        seen is Seen.DETERMINED and percent > 100.0 * SURE
        for seen, percent in zip(found.seen, found.relative_std_percent, strict=True)
    )
    yield _text(
        f"{counts[Seen.DETERMINED]} of {len(found.seen)} base parameters determined"
        f"{f' ({small} of them only as too small to matter)' if small else ''}, {counts[Seen.WEAK]} weakly, "
        f"{counts[Seen.UNSEEN]} not seen"
    )
    yield _text(f"condition number {condition}, {found.samples} equations per joint")
    for advice in found.missing:
        yield _text(f"missing motion: {advice.text} (for {_some(advice.parameters)})")
    if found.inconsistent:
        yield Text(
            printable(
                "no body can have the standard parameters nearest to the description for "
                f"{_some(tuple(found.inconsistent))}; the torques are those of the base parameters all the same"
            ),
            style="yellow",
        )


def _rounded(value: float, std: float) -> str:
    """A value with as many digits as its standard deviation leaves."""
    if not math.isfinite(std) or std <= 0.0 or value == 0.0:
        return f"{value:.4g}"
    digits = math.floor(math.log10(abs(value))) - math.floor(math.log10(std)) + 2
    return _plain(f"{value:#.{min(max(digits, 1), 7)}g}")


def _plain(number: str) -> str:
    """A rounded number without an exponent where a person would not write one."""
    number = number.rstrip(".").replace(".e", "e")
    return f"{float(number):.0f}" if "e+0" in number else number


def _rest(expression: str, room: int | None) -> str:
    """What an expression adds to its first parameter; as many whole terms as there is room for."""
    pieces = re.split(r" (?=[+-] )", expression)[1:]
    if room is None or sum(len(piece) + 1 for piece in pieces) <= room:
        return " ".join(pieces)
    line = ""
    for piece in pieces:
        if len(line) + len(piece) + 3 > room:
            break
        line += f"{piece} "
    return f"{line}…"


def _percent(value: float) -> str:
    return "∞" if value > 9999.0 or not math.isfinite(value) else f"{value:.3g}" if value < 100.0 else f"{value:.0f}"


def _files(paths: Sequence[str]) -> str:
    return ", ".join(Path(path).name for path in paths)


def _size(errors: Errors) -> str:
    rate = errors.samples / errors.seconds if errors.seconds > 0.0 else 0.0
    return f"{errors.seconds:.4g} s, {errors.samples} samples at {rate:.4g} Hz"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def _text(words: str) -> Text:
    return Text(printable(words))
