"""Contradictions between log and description, and the single mistake that explains them.

Least squares fits any data: a wrong unit of torques gives wrong masses, and exchanged joints only a larger error.
Mistakes of all usual kinds are mended one by one at selected samples, and compared by ``choose_mistake``. Mistakes in
torques need no new regressor and are always compared; the others only if the log looks wrong: if the held-out error
is larger than that of complete models, or if the described links do not explain the torques.

A contradiction without such a mistake is not reported here: descriptions may be placeholders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.description_mistakes import is_on_earth, list_gravities, list_length_units
from ytheta.identification.assessment.mistake import Interpretation, Mistake
from ytheta.identification.assessment.mistake_errors import Errors
from ytheta.identification.assessment.position_mistakes import (
    list_orientations,
    list_position_offsets,
    list_position_signs,
    list_slide_scales,
)
from ytheta.identification.assessment.time_mistakes import (
    USUAL_FACTORS,
    list_delays,
    list_recorded_time_scales,
    list_time_scales,
)
from ytheta.identification.assessment.torque_mistakes import (
    list_joint_orders,
    list_pairs_of_torque_signs,
    list_torque_orders,
    list_torque_scales,
    list_torque_signs,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.log import Log
from ytheta.shapes import Int, PerJoint

# Held-out errors, relative to all torques and to a joint's own torque, above which a log looks wrong. Chosen on:
# recorded arms, of which complete models have errors of 1 to 4 % and of 5 to 20 %.
MAX_PLAUSIBLE_ERROR, MAX_PLAUSIBLE_JOINT_ERROR = 0.04, 0.2
# Share of the torque that the description leaves unexplained, above which a log looks wrong. Chosen on: reasoning;
# descriptions that are off by half leave half of the torque unexplained.
MAX_PLAUSIBLE_UNEXPLAINED = 0.6
# Error after mending a mistake divided by the error before, above which nothing is said about them. Chosen on: rule of
# thumb.
MAX_SMALLER_RATIO = 0.9


def diagnose(problem: EstimationProblem, logs: Sequence[Log] = ()) -> tuple[Finding, ...]:
    """Return a finding about the mistake that explains a contradiction between log and description, if there is one.

    ``logs`` are those of the problem as they were read; their velocities show the unit of time.
    """
    interpretation = Interpretation.of(problem)
    # Masses can hide wrong lengths, and other mistakes may seem to explain the rest; the size of a robot is certain.
    comparison = choose_mistake(interpretation, list_length_units(interpretation))
    comparison = comparison or choose_mistake(interpretation, list_recorded_time_scales(interpretation, logs))
    comparison = comparison or choose_mistake(interpretation, _list_mistakes(interpretation, logs))
    return () if comparison is None else (make_finding(comparison),)


def looks_wrong(interpretation: Interpretation) -> bool:
    """Whether errors are so large that mistakes which need new regressors are worth a comparison."""
    errors = interpretation.errors
    unexplained = errors.compute_unexplained(np.arange(len(errors.described)))
    return (
        errors.total > MAX_PLAUSIBLE_ERROR
        or _compute_mean(errors) > MAX_PLAUSIBLE_JOINT_ERROR
        or not is_on_earth(interpretation.robot)
        or (interpretation.has_inertias and unexplained > MAX_PLAUSIBLE_UNEXPLAINED)
    )


def _list_mistakes(interpretation: Interpretation, logs: Sequence[Log]) -> Iterator[Mistake]:
    """Yield mistakes; frequent ones come first, since they win if others explain a log equally well."""
    yield from list_torque_signs(interpretation)
    yield from list_torque_scales(interpretation)
    yield from list_torque_orders(interpretation)
    yield from list_time_scales(interpretation, logs, USUAL_FACTORS)
    if looks_wrong(interpretation):
        yield from list_pairs_of_torque_signs(interpretation)
        yield from list_gravities(interpretation)
        yield from list_joint_orders(interpretation)
        yield from list_time_scales(interpretation, logs)
        yield from list_orientations(interpretation)
        yield from list_position_signs(interpretation)
        yield from list_slide_scales(interpretation)
        yield from list_position_offsets(interpretation)
        yield from list_delays(interpretation)


def make_finding(comparison: MistakeComparison) -> Finding:
    """Return the finding that names a mistake, with the error that mending it would give."""
    mistake, before, after = comparison.mistake, comparison.before, comparison.after
    if comparison.is_fit_accepted:
        pair, subject = (before.total, after.total), "the error on samples that were not fitted"
        if _compute_mean(before) / _compute_mean(after) > before.total / after.total:
            pair, subject = (_compute_mean(before), _compute_mean(after)), "the mean error of the joints' torques"
    elif comparison.is_description_accepted:
        pair = _take_median(before.described, after.described, comparison)
        subject = "the error of the described masses"
    elif comparison.is_friction_accepted:
        pair = _take_median(before.drives, after.drives, comparison)
        subject = "the error of friction that brakes"
    else:
        pair, subject = (before.total, after.total), "the error on samples that were not fitted"
    reason = f"if that is mended, {subject} falls from {_format_percent(pair[0])} to {_format_percent(pair[1])}"
    if comparison.is_only_evidence_accepted:
        reason = f"{mistake.find_evidence()}{f', and {reason}' if pair[1] < MAX_SMALLER_RATIO * pair[0] else ''}"
    fields = {**mistake.fields, "mistake": str(mistake.code)}
    fields |= {"error_percent": 100.0 * pair[0], "mended_error_percent": 100.0 * pair[1]}
    return Finding(
        mistake.code,
        Severity.WARNING,
        f"{mistake.statement}: {reason}",
        mistake.remedy,
        mistake.names,
        fields=fields,
    )


def _compute_mean(errors: Errors) -> float:
    """Return the RMS over the joints of their held-out errors; zero torque has an error of 1."""
    return float(np.sqrt(np.mean(np.minimum(errors.held_out, 1.0) ** 2)))


def _take_median(before: PerJoint, after: PerJoint, comparison: MistakeComparison) -> tuple[float, float]:
    """Return the median over the joints concerned of errors before and after."""
    places = comparison.places
    return float(np.median(before[places])), float(np.median(after[places]))


def _format_percent(error: float) -> str:
    return f"{100.0 * error:.2g} %" if error < 0.995 else "100 % or more"


# Comparison of mistakes: which single one, if any, explains what contradicts the description.
#
# Gains are sums over the joints of log(error before / error after), with floors: errors below the floors are equally
# good. A mistake is accepted in one of four ways:
#
# fit            mending it divides the held-out error by 1.5, of all torques or with equal weights of the joints, and
#                does not contradict the description more than before
# description    mending it leaves the fit as good as before, and the described links, which explained less than drives
#                alone or little more, explain the torques afterwards
# evidence       of time and lengths only: recorded velocity, errors lower than with smaller and larger changes, or
#                a robot of impossible size speak for the mistake, and mending it leaves fit and description as good
# friction       of torque signs only: mending leaves the fit as good as before, and friction, which must brake,
#                explains the torques of the joints concerned, and much better than before
#
# Among accepted mistakes, the one with the largest gain is named.


# Errors of a fit and of a description, relative to a joint's torque, below which they are equally good. Chosen on:
# recorded arms; complete models reach the first, descriptions the second.
FIT_FLOOR, DESCRIPTION_FLOOR = 0.05, 0.3
# The same errors above which they are equally bad. Chosen on: reasoning; zero torque has an error of 1.
MAX_FIT_ERROR, MAX_DESCRIPTION_ERROR = 1.0, 10.0
# Error before mending a mistake divided by the error after, from which the mistake can be named. Chosen on: recorded
# arms with right descriptions, where other signs or directions reach 1.15 at most.
MIN_IMPROVEMENT = 1.5
# Gain in the logarithms of the errors of all joints, from which a mistake can be named. Chosen on: reasoning; a factor
# of two in the error of one joint.
MIN_GAIN = 0.7
# Improvement of drives without links, as a geometric mean over the joints concerned. Chosen on: rule of thumb.
MIN_FRICTION_IMPROVEMENT = 1.5
# Errors of drives and of the fit in the joints concerned, above which friction says nothing: drives explain half of the
# variance of the torque, or 7/8 if the torque varies little. Chosen on: reasoning.
MAX_FRICTION_ERROR, MAX_FRICTION_ERROR_OF_SMALL, MAX_EXPLAINED_FIT_ERROR = 0.7, 0.35, 0.3
# Variation of a torque, relative to the largest of all joints, below which it varies little. Chosen on: reasoning;
# torques of the last joint of a light arm may be lost in noise.
MIN_TORQUE_SHARE = 0.02
# Loss of one gain, that of the fit or that of the description, up to which a mistake can be named for the other. Chosen
# on: rule of thumb.
MAX_LOSS = 0.2
# Error of the described links divided by the error of drives alone, after mending, as a geometric mean: links explain
# half of the variance of all joints, some of which may carry a load, or 3/4 of that of the joints concerned. Chosen on:
# reasoning, and a recorded robot with placeholders for its masses, where the ratio is above 1 with any scale.
MAX_UNEXPLAINED, MAX_UNEXPLAINED_OF_NAMED = 0.7, 0.5
# The same, if the described links explained nothing before: drives alone were better. Chosen on: rule of thumb.
MAX_UNEXPLAINED_AFTER_NONE = 0.85
# Difference of gains below which two mistakes explain the log equally well. Chosen on: rule of thumb.
MIN_DIFFERENCE = 0.05


@dataclass(frozen=True, eq=False)
class MistakeComparison:
    """What mending a mistake changes."""

    interpretation: Interpretation
    mistake: Mistake
    before: Errors

    @property
    def after(self) -> Errors:
        return self.mistake.errors

    @property
    def fit_gain(self) -> float:
        """Gain of the held-out errors."""
        return float(np.sum(np.log(_bound_fit(self.before) / _bound_fit(self.after))))

    @property
    def description_gain(self) -> float:
        """Gain of the errors of the described links."""
        floor = DESCRIPTION_FLOOR * np.clip(np.maximum(self.before.drives, self.after.drives), FIT_FLOOR, 1.0)
        before, after = (
            np.hypot(np.minimum(errors.described, MAX_DESCRIPTION_ERROR), floor) for errors in (self.before, self.after)
        )
        return float(np.sum(np.log(before / after)))

    @property
    def gain(self) -> float:
        """Both gains, minus what the mistake must gain more than simpler ones."""
        return self.fit_gain + self.description_gain - (2.0 * MIN_GAIN if self.mistake.is_double else 0.0)

    @property
    def improvement(self) -> float:
        """Held-out error before divided by that after: of all torques, or of all joints with equal weights."""
        total = np.hypot(self.before.total, FIT_FLOOR / 2.0) / np.hypot(self.after.total, FIT_FLOOR / 2.0)
        joints = np.linalg.norm(_bound_fit(self.before)) / np.linalg.norm(_bound_fit(self.after))
        return float(max(total, joints))

    @property
    def unexplained(self) -> float:
        """Error of the described links after mending, relative to drives alone, for the joints concerned."""
        return self.after.compute_unexplained(self.places)

    @cached_property
    def places(self) -> Int[np.ndarray, " chosen"]:
        """Numbers of the joints concerned."""
        joints = self.interpretation.robot.actuated
        return np.array([joints.index(name) for name in self.mistake.names or joints])

    @property
    def _concerns_all(self) -> bool:
        return len(self.mistake.names) in (0, len(self.interpretation.robot.actuated))

    @property
    def is_fit_accepted(self) -> bool:
        """Whether the fit speaks for the mistake."""
        return self.improvement >= MIN_IMPROVEMENT and self.fit_gain >= MIN_GAIN and self.description_gain > -MAX_LOSS

    @property
    def is_description_accepted(self) -> bool:
        """Whether the described links speak for the mistake."""
        limit = MAX_UNEXPLAINED if self._concerns_all else MAX_UNEXPLAINED_OF_NAMED
        return (
            self.interpretation.has_inertias
            and self.description_gain >= MIN_GAIN
            and self.fit_gain > -MAX_LOSS
            and (self.unexplained <= limit or self._explains_instead_of_contradicting)
        )

    @property
    def _explains_instead_of_contradicting(self) -> bool:
        """Whether the described links of all joints were worse than none before, and are better than none after."""
        joints = np.arange(len(self.before.described))
        before, after = (errors.compute_unexplained(joints) for errors in (self.before, self.after))
        return before >= 1.0 and after <= MAX_UNEXPLAINED_AFTER_NONE

    @property
    def is_friction_accepted(self) -> bool:
        """Whether friction that brakes speaks for other torque signs."""
        variation = self.interpretation.samples.tau.std(axis=0)
        is_small = variation < MIN_TORQUE_SHARE * variation.max()
        limits = np.where(is_small, MAX_FRICTION_ERROR_OF_SMALL, MAX_FRICTION_ERROR)
        ratios = np.maximum(self.before.drives, FIT_FLOOR) / np.maximum(self.after.drives, FIT_FLOOR)
        improvement = float(np.exp(np.log(ratios[self.places]).mean()))
        return (
            self.mistake.code is FitFindingCode.TORQUE_SIGN
            and improvement >= MIN_FRICTION_IMPROVEMENT
            and bool((self.after.drives <= limits)[self.places].all())
            and float(self.after.held_out[self.places].max()) <= MAX_EXPLAINED_FIT_ERROR
            and self.fit_gain > -MAX_LOSS
            and self.description_gain > -MAX_LOSS
        )

    @property
    def is_evidence_accepted(self) -> bool:
        """Whether the log itself speaks for the mistake, and neither fit nor description speaks against it."""
        return self.fit_gain > -MAX_LOSS and self.description_gain > -MAX_LOSS and bool(self.mistake.find_evidence())

    @property
    def is_only_evidence_accepted(self) -> bool:
        """Whether no error speaks for the mistake, but evidence does."""
        return not self._is_error_accepted and self.is_evidence_accepted

    @property
    def is_accepted(self) -> bool:
        return self._is_error_accepted or self.is_evidence_accepted

    @property
    def _is_error_accepted(self) -> bool:
        return self.is_fit_accepted or self.is_description_accepted or self.is_friction_accepted


def choose_mistake(interpretation: Interpretation, mistakes: Iterable[Mistake]) -> MistakeComparison | None:
    """Return the accepted mistake with the largest gain; the first of those that explain the log equally well."""
    best: MistakeComparison | None = None
    for mistake in mistakes:
        comparison = MistakeComparison(interpretation, mistake, interpretation.errors)
        if not mistake.is_possible:
            continue
        if comparison.is_accepted and (best is None or comparison.gain > best.gain + MIN_DIFFERENCE):
            best = comparison
    return best


def _bound_fit(errors: Errors) -> PerJoint:
    return np.hypot(np.minimum(errors.held_out, MAX_FIT_ERROR), FIT_FLOOR)
