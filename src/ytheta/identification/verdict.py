"""What a model is worth, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ytheta.identification.excitation import Advice, Seen
from ytheta.identification.residuals import Errors

GOOD = 10.0  # percent of the torque: what careful studies of industrial arms reach on motion not used for the fit
USABLE = 25.0
OVERFITTED = 2.5  # validation error over fit error from which the model has learnt its log rather than the robot


class Grade(Enum):
    GOOD = "good"
    USABLE = "usable"
    POOR = "poor"
    NOT_EXCITING = "not exciting"


@dataclass(frozen=True)
class Verdict:
    """A grade and its reason; ``solved`` is False where the answer should not be used."""

    grade: Grade
    sentence: str

    @property
    def solved(self) -> bool:
        return self.grade in (Grade.GOOD, Grade.USABLE)


def verdict(
    *,
    fit: Errors,
    validation: Errors | None,
    repeated: bool,
    seen: Sequence[Seen],
    names: Sequence[str],
    missing: Sequence[Advice],
) -> Verdict:
    """The worst that is true comes first: what was not seen at all, then the errors."""
    unseen = [name for name, own in zip(names, seen, strict=True) if own is Seen.UNSEEN]
    if unseen:
        remedy = missing[0].text if missing else "move more"
        return Verdict(Grade.NOT_EXCITING, f"Not exciting: this motion says nothing of {_some(unseen)}; {remedy}.")
    judged = fit if validation is None else validation
    error = judged.relative_percent
    where = "its own log" if validation is None else "the same motion again" if repeated else "motion it has not seen"
    weak = sum(own is Seen.WEAK for own in seen)
    known = len(seen) - weak
    grade = Grade.GOOD if error <= GOOD else Grade.USABLE if error <= USABLE else Grade.POOR
    if grade is Grade.GOOD and weak > known:
        grade = Grade.USABLE  # other motion may show what this one left open
    sentence = f"{grade.value.capitalize()}: it predicts the torque on {where} to {error:.2g} %"
    sentence += f", {'but only' if weak > known else 'and'} {known} of {len(seen)} base parameters are determined"
    if validation is not None and error > OVERFITTED * fit.relative_percent:
        sentence += f"; on its own log it is {fit.relative_percent:.2g} %, so it has learnt the log more than the robot"
    elif validation is None or repeated:
        sentence += "; nothing is known of other motion until a log of such is given"
    return Verdict(grade, sentence + ".")


def _some(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
