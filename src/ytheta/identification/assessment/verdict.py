"""The verdict of an identification: a grade and its reason in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ytheta.identification.assessment.excitation import Certainty, MotionAdvice
from ytheta.identification.assessment.residuals import TorqueErrors

# Relative errors in percent.
MAX_GOOD_ERROR = 10.0  # careful studies of industrial arms reach this on motion not used for the fit
MAX_USABLE_ERROR = 25.0
ZERO_TORQUE_ERROR = 100.0  # of a joint that is predicted no better than by zero torque
# Ratios of errors.
OUTLIER_RATIO = 2.5  # of a joint over all joints, from which the sentence names the joint
OVERFITTING_RATIO = 2.5  # of the validation over the fit, from which the model is probably overfitted


class Grade(Enum):
    """What the model is worth."""

    GOOD = "good"
    USABLE = "usable"
    POOR = "poor"
    DOUBTFUL = "doubtful"
    NOT_EXCITING = "not exciting"


@dataclass(frozen=True)
class Verdict:
    """A grade and its reason; ``solved`` is False if the model should not be used."""

    grade: Grade
    sentence: str

    @property
    def solved(self) -> bool:
        return self.grade in (Grade.GOOD, Grade.USABLE)


def reach_verdict(
    *,
    joints: Sequence[str],
    fit: TorqueErrors,
    validation: TorqueErrors | None,
    repeated: bool,
    contradiction: str,
    certainty: Sequence[Certainty],
    names: Sequence[str],
    missing: Sequence[MotionAdvice],
) -> Verdict:
    """Grade a model by the worst fact: parameters that are not seen, then contradictions, then errors.

    ``contradiction``: how the log contradicts the description, or empty. ``repeated``: the validation log repeats the
    motion of the fit.
    """
    unseen = [name for name, own in zip(names, certainty, strict=True) if own is Certainty.UNSEEN]
    if unseen:
        remedy = missing[0].text if missing else "move more"
        sentence = f"Not exciting: the motion does not determine {_shorten(unseen)}; {remedy}."
        return Verdict(Grade.NOT_EXCITING, sentence)
    if contradiction:
        return Verdict(Grade.DOUBTFUL, f"Doubtful: {contradiction}.")
    judged = fit if validation is None else validation
    error = judged.relative_percent
    counts = {kind: sum(own is kind for own in certainty) for kind in Certainty}
    mostly_weak = counts[Certainty.WEAK] > len(certainty) - counts[Certainty.WEAK]
    worst = max(range(len(joints)), key=lambda j: judged.per_joint_percent[j])
    worst_error = judged.per_joint_percent[worst]
    grade = _grade(error, worst_error, mostly_weak=mostly_weak)
    motion = describe_motion(is_validation=validation is not None, repeated=repeated)
    sentence = f"{grade.value.capitalize()}: the torque error is {_percent(error)} on {motion}"
    if len(joints) > 1 and worst_error > max(MAX_GOOD_ERROR, OUTLIER_RATIO * error):
        sentence += f" ({joints[worst]}: {_percent(worst_error)})"
    determined = counts[Certainty.DETERMINED]
    how_many = f"only {determined}" if mostly_weak and determined else str(determined or "none")
    sentence += f"; {how_many} of {len(certainty)} base parameters are determined"
    if counts[Certainty.SMALL]:
        sentence += f", {counts[Certainty.SMALL]} more are too small to matter"
    if validation is not None and error > OVERFITTING_RATIO * fit.relative_percent:
        fit_error = _percent(fit.relative_percent)
        sentence += f"; on the logs of the fit the error is {fit_error}, so the model is overfitted or the logs differ"
    elif validation is None or repeated:
        sentence += "; without a validation log of other motion, the error there is unknown"
    return Verdict(grade, sentence + ".")


def describe_motion(*, is_validation: bool, repeated: bool) -> str:
    """The motion by which a model is judged, in words."""
    if not is_validation:
        return "the logs of the fit"
    return "a repetition of the same motion" if repeated else "motion not used for the fit"


def _grade(error: float, worst_error: float, *, mostly_weak: bool) -> Grade:
    if not error <= MAX_USABLE_ERROR or worst_error > ZERO_TORQUE_ERROR:
        return Grade.POOR
    if not error <= MAX_GOOD_ERROR or mostly_weak:  # weak parameters may cause errors on other motion
        return Grade.USABLE
    return Grade.GOOD


def _percent(value: float) -> str:
    """Two digits without exponents."""
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %" if value < 9999.5 else "more than 9999 %"


def _shorten(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
