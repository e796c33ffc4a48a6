"""The verdict of an identification: a grade and its reason in one sentence, and the quality by which it is graded.

A model is graded by what it is for: the error of the torque that it predicts for new motion, relative to what the
torque of each joint varies. Every joint that moves counts. Parameters may be uncertain if the prediction is not.

A model is never better than what is known about its log: findings that contradict the description make it doubtful, and
assumptions about the log that nothing but the model confirms make it usable at best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from ytheta.findings import Finding
from ytheta.identification.assessment.excitation import Certainty, MotionAdvice
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.finding_codes import CONTRADICTIONS
from ytheta.logs.log import LogFindingCode
from ytheta.shapes import PerJoint, freeze

# Error of all joints together, in percent of the scales of ``PredictionQuality``, up to which a model is good. Chosen
# on: careful studies of industrial arms, which reach 5 to 10 % on motion not used for the fit.
MAX_GOOD_ERROR = 10.0
# The same error up to which a model is usable. Chosen on: reasoning; twice that, since a larger error exceeds that of a
# rough description with friction.
MAX_USABLE_ERROR = 20.0
# Errors of a single joint, likewise. Chosen on: reasoning; 25 % leave 6 % of the torque's variance unexplained, 50 %
# leave a quarter of it.
MAX_GOOD_JOINT_ERROR, MAX_USABLE_JOINT_ERROR = 25.0, 50.0
# Error of a single joint in percent of its own torque, however small that is, up to which a model is good. Chosen on:
# reasoning; 50 % leave a quarter of its variance unexplained. A larger error does not make a model poor by itself: the
# torque of a wrist without load can be noise.
MAX_GOOD_OWN_ERROR = 50.0
# Value in a log divided by its limit in the description, up to which the limit may be wrong; beyond it, units are more
# likely to be. Chosen on: reasoning; units differ by a factor of 9.8 at least.
MAX_WRONG_LIMIT_RATIO = 2.0
# Validation error divided by the error that fit and uncertainty let expect; above it, the logs differ. Chosen on: rule
# of thumb.
MIN_SURPRISE_RATIO = 2.5
# Share of the squared error that uncertain parameters explain; above it, the motion of the fit is too poor. Chosen on:
# rule of thumb.
MIN_EXPLAINED_SHARE = 0.5
# Error relative to the scales divided by the error relative to the torque; above it, the sentence contains both.
# Affects only a message.
MAX_SCALE_RATIO = 1.5
MAX_NAMES = 4  # parameters that the sentence names; affects only the length of a message
MAX_JOINTS = 3  # joints that the sentence names; affects only the length of a message


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
    assumption: str = "",
    certainty: Sequence[Certainty],
    names: Sequence[str],
    missing: Sequence[MotionAdvice],
    quality: PredictionQuality,
    other_motion: PredictionQuality | None = None,
    causes: Mapping[str, str] | None = None,
    noun: str = "base parameters",
) -> Verdict:
    """Grade a model by its most serious defect: parameters that are not seen, then a contradiction, then errors.

    ``contradiction``: statement of how the log contradicts the description; empty if there is no contradiction.
    ``assumption``: correction of the log that nothing but the model confirms; empty if there is none.
    ``repeated``: whether a validation log repeats the motion of the fit. ``missing``: motion that would determine more
    parameters. ``quality``: that of the prediction on the validation logs, or on those of the fit if there are none.
    ``other_motion``: the uncertainty for other motion, where nothing was measured. ``causes``: why the torque of a
    joint is not predicted better, if that is known. ``noun``: what the parameters are called.
    """
    unseen = [name for name, kind in zip(names, certainty, strict=True) if kind is Certainty.UNSEEN]
    if unseen:
        remedy = missing[0].text if missing else "move more"
        sentence = f"Not exciting: the motion does not determine {_shorten(unseen)}; {remedy}."
        return Verdict(Grade.NOT_EXCITING, sentence)
    if contradiction:
        return Verdict(Grade.DOUBTFUL, f"Doubtful: {contradiction}.")
    judged = fit if validation is None else validation
    is_new = validation is not None and not repeated
    expected = quality if is_new or other_motion is None else quality.add_uncertainty(other_motion)
    grade = choose_grade(expected)
    if assumption and grade is Grade.GOOD:
        grade = Grade.USABLE
    motion = describe_motion(is_validation=validation is not None, repeated=repeated)
    sentence = f"{grade.value.capitalize()}: the torque error is {_format_percent(judged.relative_percent)} on {motion}"
    if quality.total_error > max(MAX_GOOD_ERROR, MAX_SCALE_RATIO * judged.relative_percent):
        sentence += f", {_format_percent(quality.total_error)} of the torque's variation"
    sentence += _name_joints(joints, expected, causes or {})
    remedy = f"; {missing[0].text}" if missing else ""
    if expected.total_uncertainty**2 > MIN_EXPLAINED_SHARE * expected.total_error**2 and grade is not Grade.GOOD:
        where = "there" if is_new else "on other motion"
        uncertainty = _format_percent(expected.total_uncertainty)
        sentence += f"; the motion of the fit is too poor: uncertain parameters cause {uncertainty} {where}{remedy}"
    elif is_new and _is_surprising(fit, judged, quality):
        sentence += (
            f"; on the logs of the fit the error is {_format_percent(fit.relative_percent)}: the logs differ, or their "
            "motion shows an effect that the model lacks"
        )
    elif is_new:
        sentence += f"; {_count_parameters(certainty, noun)}"
    elif other_motion is None:
        sentence += "; without a validation log of other motion, the error there is unknown"
    else:
        uncertainty = _format_percent(other_motion.total_uncertainty)
        sentence += f"; uncertain parameters add {uncertainty} on other motion, for which there is no validation log"
    if assumption:
        sentence += f"; this assumes that {assumption}"
    return Verdict(grade, sentence + ".")


def find_contradictions(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield statements of how a log contradicts the description."""
    for finding in findings:
        if finding.code in CONTRADICTIONS or (
            finding.code == LogFindingCode.LIMITS and finding.fields["largest_ratio"] > MAX_WRONG_LIMIT_RATIO
        ):
            yield finding.statement


def find_assumptions(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield what a model assumes about its logs without any other evidence, as the end of a sentence."""
    for finding in findings:
        if finding.code == LogFindingCode.LIMITS:
            yield f"the limits of {', '.join(finding.names)} in the description are wrong"
        elif finding.code == LogFindingCode.CORRECTED:
            yield f"the corrections are right ({finding.statement})"
        elif finding.code == LogFindingCode.TORQUE and finding.is_warning:
            yield f"the torques are right although {finding.statement}"
        elif finding.code == LogFindingCode.COMPUTED_TORQUE:
            yield "the log is simulated: its torques were computed, and if a controller did so, the model is its own"


def choose_grade(quality: PredictionQuality) -> Grade:
    """Return GOOD, USABLE or POOR: by the error of all joints together, and by that of the worst joint."""
    total, worst = quality.total_error, float(np.max(quality.error, initial=0.0))
    is_own_good = float(np.max(quality.own_error, initial=0.0)) <= MAX_GOOD_OWN_ERROR
    if total <= MAX_GOOD_ERROR and worst <= MAX_GOOD_JOINT_ERROR and is_own_good:
        return Grade.GOOD
    if total <= MAX_USABLE_ERROR and worst <= MAX_USABLE_JOINT_ERROR:
        return Grade.USABLE
    return Grade.POOR  # also if an error is not a number


def list_bad_joints(quality: PredictionQuality) -> list[int]:
    """Return the joints that spoil a prediction, the worst first: none if it is good."""
    if choose_grade(quality) is Grade.GOOD:
        return []
    limit = min(MAX_GOOD_JOINT_ERROR, max(MAX_GOOD_ERROR, quality.total_error))
    bad = (quality.error > limit) | (quality.own_error > MAX_GOOD_OWN_ERROR)
    excess = np.maximum(quality.error / MAX_GOOD_JOINT_ERROR, quality.own_error / MAX_GOOD_OWN_ERROR)
    return sorted(np.flatnonzero(bad).tolist(), key=lambda j: -excess[j])


def describe_motion(*, is_validation: bool, repeated: bool) -> str:
    """Describe the motion on which the error of a model was computed."""
    if not is_validation:
        return "the logs of the fit"
    return "a repetition of the same motion" if repeated else "motion not used for the fit"


def _is_surprising(fit: TorqueErrors, validation: TorqueErrors, quality: PredictionQuality) -> bool:
    """Return whether the validation error is larger than error and uncertainty of the fit explain."""
    relative = validation.relative_percent
    uncertainty = quality.total_uncertainty * relative / quality.total_error if quality.total_error > 0.0 else 0.0
    return bool(relative > MIN_SURPRISE_RATIO * np.hypot(fit.relative_percent, uncertainty))


def _name_joints(joints: Sequence[str], quality: PredictionQuality, causes: Mapping[str, str]) -> str:
    """Return the joints that spoil a prediction, in parentheses; empty if there are none or there is only one joint."""
    bad = list_bad_joints(quality)[:MAX_JOINTS] if len(joints) > 1 else []
    texts = []
    for j in bad:
        is_uncertain = quality.uncertainty[j] ** 2 > MIN_EXPLAINED_SHARE * quality.error[j] ** 2
        cause = "its parameters are uncertain" if is_uncertain else causes.get(joints[j], "")
        percent = _format_percent(quality.error[j])
        if quality.error[j] <= MAX_GOOD_JOINT_ERROR and quality.own_error[j] > MAX_GOOD_OWN_ERROR:
            percent = f"{_format_percent(quality.own_error[j])} of its own torque"
        texts.append(f"{joints[j]}: {percent}{f', {cause}' if cause else ''}")
    return f" ({'; '.join(texts)})" if texts else ""


def _count_parameters(certainty: Sequence[Certainty], noun: str) -> str:
    determined, small = certainty.count(Certainty.DETERMINED), certainty.count(Certainty.SMALL)
    text = f"{determined or 'none'} of {len(certainty)} {noun} are determined"
    return f"{text}, {small} more {'is' if small == 1 else 'are'} too small to matter" if small else text


def _format_percent(value: float) -> str:
    """Return a percentage with two digits and without exponents."""
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %" if value < 9999.5 else "more than 9999 %"


def _shorten(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


# How well a model predicts torques: errors and standard deviations relative to what the torque of each joint varies.
#
# Notation      code         meaning                                                                       per joint
#               scale        standard deviation of the torque, at least MIN_SCALE_RATIO times the torque
#                            RMS of the strongest joint                                                    Nm or N
#               error        RMS of the residual / scale                                                   percent
#               own_error    RMS of the residual / standard deviation of the torque, or its dry friction
#                            if that is larger                                                             percent
#               uncertainty  RMS of the standard deviation of the predicted torque / scale                 percent
#
# The lower bound of the scale is what the drive of a joint is built for: noise and friction are most of the torque of a
# wrist without load, but drives of wrists have about this share of the torque of the shoulder. A controller feels an
# error of a joint beside its own torque, too. It does not feel one that is small beside the dry friction of the joint.


# Smallest scale to which the error of a joint is relative, divided by the torque of the strongest joint of its kind.
# Chosen on: the effort limits in URDFs; those of the last joint of the Panda, UR10e, LWR4+, TX40 and KR300 are 0.14,
# 0.16, 0.22, 0.23 and 0.60 times those of the first joint.
MIN_SCALE_RATIO = 0.15


@dataclass(frozen=True, eq=False)
class PredictionQuality:
    """Errors and uncertainties in percent of the scales; see the module docstring. The arrays are read-only.

    ``joint_rows`` are the rows that count in the errors of all joints together, see ``TorqueErrors``.
    """

    error: PerJoint
    uncertainty: PerJoint
    scale: PerJoint
    own_error: PerJoint
    joint_rows: slice = field(default_factory=lambda: slice(None))

    def __post_init__(self) -> None:
        for values in (self.error, self.uncertainty, self.scale, self.own_error):
            freeze(values)

    @classmethod
    def without_errors(cls, std: PerJoint, scale: PerJoint, *, joint_rows: slice) -> PredictionQuality:
        """Return the quality for motion whose torques were not measured; its errors are zero."""
        return cls(np.zeros(len(scale)), _divide(std, scale), scale, np.zeros(len(scale)), joint_rows)

    @property
    def total_error(self) -> float:
        """Error of all joints together, in percent."""
        return self._combine(self.error)

    @property
    def total_uncertainty(self) -> float:
        """Uncertainty of all joints together, in percent."""
        return self._combine(self.uncertainty)

    def add_uncertainty(self, other: PredictionQuality) -> PredictionQuality:
        """Return the quality that is expected on the motion of ``other``, where nothing was measured.

        The error is that of this motion, which the model lacks or which is noise, and the uncertainty there.
        """
        error = np.hypot(self.error, other.uncertainty)
        return PredictionQuality(error, other.uncertainty, self.scale, self.own_error, self.joint_rows)

    def _combine(self, percents: PerJoint) -> float:
        joints = self.joint_rows if self.scale[self.joint_rows].any() else slice(None)
        percents, scale = percents[joints], self.scale[joints]
        total = np.linalg.norm(scale)
        return float(np.linalg.norm(percents * scale) / total if total > 0.0 else np.max(percents, initial=0.0))


def measure_quality(
    errors: TorqueErrors, std: PerJoint, *, prismatic: Sequence[bool], dry_friction: PerJoint
) -> PredictionQuality:
    """Return errors and uncertainties of a model on a motion.

    ``std``: RMS of the standard deviation of each joint's predicted torque. ``prismatic``: which joints have forces
    instead of torques. ``dry_friction``: Coulomb friction of each joint. A joint that does not move does not count.
    """
    scale = find_scales(errors.variation, errors.torque_rms, prismatic=prismatic)
    judged = errors.judged if errors.judged.any() else np.ones(len(scale), dtype=bool)
    error, own = _divide(errors.rms, scale), _divide(errors.rms, np.maximum(errors.variation, dry_friction))
    is_joint = np.zeros(len(scale), dtype=bool)
    is_joint[errors.joint_rows] = True  # wrenches have no torque of their own
    return PredictionQuality(
        error * judged, _divide(std, scale), scale * judged, np.where(judged & is_joint, own, 0.0), errors.joint_rows
    )


def find_scales(variation: PerJoint, torque_rms: PerJoint, *, prismatic: Sequence[bool]) -> PerJoint:
    """Return the scale of each joint; torques are compared with torques, and forces with forces."""
    slides = np.array(prismatic, dtype=bool)
    strongest = np.zeros(len(variation))
    for kind in (slides, ~slides):
        strongest[kind] = torque_rms[kind].max(initial=0.0)
    return np.maximum(variation, MIN_SCALE_RATIO * strongest)


def _divide(values: PerJoint, scale: PerJoint) -> PerJoint:
    """Return percentages; zero relative to zero is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((scale > 0.0) | (values != 0.0), 100.0 * values / scale, 0.0)
