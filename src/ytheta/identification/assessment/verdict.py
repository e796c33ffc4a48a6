"""What a model is worth, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ytheta.identification.assessment.excitation import MotionAdvice, Certainty
from ytheta.identification.assessment.residuals import TorqueErrors

GOOD = 10.0  # percent of the torque: what careful studies of industrial arms reach on motion not used for the fit
USABLE = 25.0
NOTHING = 100.0  # percent: a joint is predicted no better than by no torque at all
UNLIKE = 2.5  # times the error of all joints: a joint that is worth a word of its own
OVERFITTED = 2.5  # validation error over fit error from which the model has learnt its log rather than the robot


class Grade(Enum):
    GOOD = "good"
    USABLE = "usable"
    POOR = "poor"
    DOUBTFUL = "doubtful"
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
    joints: Sequence[str],
    fit: TorqueErrors,
    validation: TorqueErrors | None,
    repeated: bool,
    contradiction: str,
    seen: Sequence[Certainty],
    names: Sequence[str],
    missing: Sequence[MotionAdvice],
) -> Verdict:
    """The worst that is true comes first: what was not seen at all, what contradicts the description, the errors.

    ``contradiction``: what the log says against the description, if it does. ``repeated``: the validation repeats the
    motion of the fit.
    """
    unseen = [name for name, own in zip(names, seen, strict=True) if own is Certainty.UNSEEN]
    if unseen:
        remedy = missing[0].text if missing else "move more"
        return Verdict(Grade.NOT_EXCITING, f"Not exciting: this motion says nothing of {_some(unseen)}; {remedy}.")
    if contradiction:
        return Verdict(Grade.DOUBTFUL, f"Doubtful: {contradiction}.")
    judged = fit if validation is None else validation
    error = judged.relative_percent
    counts = {kind: sum(own is kind for own in seen) for kind in Certainty}
    few = counts[Certainty.WEAK] > len(seen) - counts[Certainty.WEAK]
    worst = max(range(len(joints)), key=lambda j: judged.per_joint_percent[j])
    grade = Grade.GOOD if error <= GOOD else Grade.USABLE if error <= USABLE else Grade.POOR
    if grade is Grade.GOOD and few:
        grade = Grade.USABLE  # other motion may show what this one left open
    if judged.per_joint_percent[worst] > NOTHING:
        grade = Grade.POOR
    where = "its own log" if validation is None else "the same motion again" if repeated else "motion it has not seen"
    sentence = f"{grade.value.capitalize()}: it predicts the torque on {where} to {percent(error)}"
    if len(joints) > 1 and judged.per_joint_percent[worst] > max(GOOD, UNLIKE * error):
        sentence += f" ({joints[worst]} only to {percent(judged.per_joint_percent[worst])})"
    sure = counts[Certainty.DETERMINED]
    how_many = f"{'but only' if few else 'and'} {sure}" if sure else "but none"
    sentence += f", {how_many} of {len(seen)} base parameters are determined"
    if counts[Certainty.SMALL]:
        sentence += f", {counts[Certainty.SMALL]} more are too small to matter"
    if validation is not None and error > OVERFITTED * fit.relative_percent:
        own = percent(fit.relative_percent)
        sentence += f"; on its own log it is {own}, so it has learnt that log more than the robot, or the logs differ"
    elif validation is None or repeated:
        sentence += "; nothing is known of other motion until a log of such is given"
    return Verdict(grade, sentence + ".")


def percent(value: float) -> str:
    """Two digits, and no exponents."""
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %" if value < 9999.5 else "more than 9999 %"


def _some(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
