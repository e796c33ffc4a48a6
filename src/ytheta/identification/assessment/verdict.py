"""The verdict of an identification: a grade and its reason in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ytheta.identification.assessment.excitation import Certainty, MotionAdvice
from ytheta.identification.assessment.residuals import TorqueErrors

# Relative errors in percent.
MAX_GOOD_ERROR = 10.0  # careful studies of industrial arms reach this error on motion not used for the fit
MAX_USABLE_ERROR = 25.0
ZERO_TORQUE_ERROR = 100.0  # error if zero torque is predicted; no joint may have a larger error
# Ratios of errors.
MIN_OUTLIER_RATIO = 2.5  # error of the worst joint / error of all joints; above it, the sentence names the joint
MIN_OVERFITTING_RATIO = 2.5  # validation error / fit error; above it, the model is probably overfitted
MAX_NAMES = 4  # number of parameters that the sentence names


class Grade(Enum):
    """The quality of a model."""

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
    noun: str = "base parameters",
) -> Verdict:
    """Grade a model by its most serious defect: parameters that are not seen, then a contradiction, then errors.

    ``contradiction``: statement of how the log contradicts the description; empty if there is no contradiction.
    ``repeated``: whether a validation log repeats the motion of the fit. ``missing``: motion that would determine more
    parameters. ``noun``: what the parameters are called.
    """
    unseen = [name for name, kind in zip(names, certainty, strict=True) if kind is Certainty.UNSEEN]
    if unseen:
        remedy = missing[0].text if missing else "move more"
        sentence = f"Not exciting: the motion does not determine {_shorten(unseen)}; {remedy}."
        return Verdict(Grade.NOT_EXCITING, sentence)
    if contradiction:
        return Verdict(Grade.DOUBTFUL, f"Doubtful: {contradiction}.")
    judged = fit if validation is None else validation
    error = judged.relative_percent
    counts = {kind: certainty.count(kind) for kind in Certainty}
    mostly_weak = counts[Certainty.WEAK] > len(certainty) - counts[Certainty.WEAK]
    moving = [j for j in range(len(joints)) if judged.judged[j]] or range(len(joints))
    worst = max(moving, key=lambda j: judged.per_joint_percent[j])
    worst_error = judged.per_joint_percent[worst]
    grade = _choose_grade(error, worst_error, mostly_weak=mostly_weak)
    motion = describe_motion(is_validation=validation is not None, repeated=repeated)
    sentence = f"{grade.value.capitalize()}: the torque error is {_format_percent(error)} on {motion}"
    if len(joints) > 1 and worst_error > max(MAX_GOOD_ERROR, MIN_OUTLIER_RATIO * error):
        sentence += f" ({joints[worst]}: {_format_percent(worst_error)})"
    determined = counts[Certainty.DETERMINED]
    how_many = f"only {determined}" if mostly_weak and determined else str(determined or "none")
    sentence += f"; {how_many} of {len(certainty)} {noun} are determined"
    if counts[Certainty.SMALL]:
        small = counts[Certainty.SMALL]
        sentence += f", {small} more {'is' if small == 1 else 'are'} too small to matter"
    if validation is not None and error > MIN_OVERFITTING_RATIO * fit.relative_percent:
        fit_error = _format_percent(fit.relative_percent)
        sentence += f"; on the logs of the fit the error is {fit_error}, so the model is overfitted or the logs differ"
    elif validation is None or repeated:
        sentence += "; without a validation log of other motion, the error there is unknown"
    return Verdict(grade, sentence + ".")


def describe_motion(*, is_validation: bool, repeated: bool) -> str:
    """Describe the motion on which the error of a model was computed."""
    if not is_validation:
        return "the logs of the fit"
    return "a repetition of the same motion" if repeated else "motion not used for the fit"


def _choose_grade(error: float, worst_error: float, *, mostly_weak: bool) -> Grade:
    if not error <= MAX_USABLE_ERROR or worst_error > ZERO_TORQUE_ERROR:
        return Grade.POOR
    if not error <= MAX_GOOD_ERROR or mostly_weak:  # weak parameters may cause errors on other motion
        return Grade.USABLE
    return Grade.GOOD


def _format_percent(value: float) -> str:
    """Return a percentage with two digits and without exponents."""
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %" if value < 9999.5 else "more than 9999 %"


def _shorten(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
