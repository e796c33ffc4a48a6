"""An identification for people: base parameters, joints, what is missing, the verdict."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.assessment.residuals import TorqueErrors
from ytheta.identification.assessment.verdict import Grade
from ytheta.report.identification.figures import correlated, counted, file_names, weaknesses
from ytheta.report.identification.text_tables import print_joints, print_parameters
from ytheta.report.numbers import plain
from ytheta.report.printable import printable

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

COLOURS = {Grade.GOOD: "green", Grade.USABLE: "yellow"}  # all others are red
FEW = 6  # names in a line


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
    print_parameters(out, found, verbose=verbose)
    ratios = [f"×{ratio:.2g}" for ratio in correlated(found)]
    print_joints(out, found.base.robot, found.fit, found.validation, correlated=ratios)
    if found.validation is not None:
        out.print(Text("fit % and correlated: of the logs learnt from; all else: of the logs judged by", style="dim"))
    for line in _last_words(found):
        out.print(line)
    verdict = Text(printable(found.verdict.sentence), style=f"bold {COLOURS.get(found.verdict.grade, 'red')}")
    out.print(verdict, soft_wrap=True)  # one line, for whoever looks for it


def _header(found: Identification) -> Iterator[Text]:
    origin = found.origin
    robot = found.base.robot
    yield _text(
        f"{robot.name}: {len(robot.actuated)} joints, {len(found.base)} base parameters; "
        f"estimator {origin.estimator}, {origin.form} form, low-pass {float(origin.settings[0].cutoff):.3g} Hz"
    )
    yield _text(f"learnt from {file_names(origin.logs)}: {_size(found.fit)}")
    if found.validation is not None:
        yield _text(f"judged by   {file_names(origin.validation_logs)}: {_size(found.validation)}")


def _last_words(found: Identification) -> Iterator[Text]:
    yield _text(
        f"{counted(found, Certainty.DETERMINED)} of {len(found.seen)} base parameters determined, "
        f"{counted(found, Certainty.SMALL)} too small to matter, {counted(found, Certainty.WEAK)} weak, "
        f"{counted(found, Certainty.UNSEEN)} not seen"
    )
    condition = plain(found.condition_number) if math.isfinite(found.condition_number) else "infinite"
    yield _text(f"condition number {condition}, {found.samples} equations per joint")
    for advice in found.missing:
        yield _text(f"missing motion: {advice.text} (for {_some(advice.parameters)})")
    for remark in weaknesses(found):
        yield _text(remark)
    if found.inconsistent:
        yield Text(
            printable(
                "no body can have the standard parameters nearest to the description for "
                f"{_some(tuple(found.inconsistent))}; the torques are those of the base parameters all the same"
            ),
            style="yellow",
        )


def _size(errors: TorqueErrors) -> str:
    rate = errors.samples / errors.seconds if errors.seconds > 0.0 else 0.0
    return f"{errors.seconds:.4g} s, {errors.samples} samples at {rate:.4g} Hz"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def _text(words: str) -> Text:
    return Text(printable(words))
