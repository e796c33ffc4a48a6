"""Comparison of mistakes: which single one, if any, explains what contradicts the description.

Gains are sums over the joints of log(error before / error after), with floors: errors below the floors are equally
good. A mistake is accepted in one of two ways:

fit            mending it divides the held-out error by 1.5, of all torques or with equal weights of the joints, and
               does not contradict the description more than before
description    mending it leaves the fit as good as before, and the described links, which explained less than drives
               alone or little more, explain the torques afterwards

Among accepted mistakes, the one with the largest gain is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.mistakes.errors import Errors
from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake
from ytheta.shapes import PerJoint

# Errors relative to a joint's torque. Complete models of recorded arms reach the first; descriptions the second.
FIT_FLOOR, DESCRIPTION_FLOOR = 0.05, 0.3
MAX_FIT_ERROR, MAX_DESCRIPTION_ERROR = 1.0, 10.0  # larger errors are equally bad; zero torque has an error of 1
MIN_IMPROVEMENT = 1.5  # error before divided by error after
MIN_GAIN = 0.7  # a factor of two in the error of one joint
MAX_LOSS = 0.2  # of the other gain
# Error of the described links divided by the error of drives alone, after mending: links explain 3/4 of the variance.
MAX_UNEXPLAINED = 0.5
MIN_DIFFERENCE = 0.05  # of gains; mistakes with smaller differences explain the log equally well


@dataclass(frozen=True, eq=False)
class Comparison:
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
        return float(np.sum(np.log(_bound_description(self.before) / _bound_description(self.after))))

    @property
    def gain(self) -> float:
        return self.fit_gain + self.description_gain

    @property
    def improvement(self) -> float:
        """Held-out error before divided by that after: of all torques, or of all joints with equal weights."""
        total = np.hypot(self.before.total, FIT_FLOOR / 2.0) / np.hypot(self.after.total, FIT_FLOOR / 2.0)
        joints = np.linalg.norm(_bound_fit(self.before)) / np.linalg.norm(_bound_fit(self.after))
        return float(max(total, joints))

    @property
    def unexplained(self) -> float:
        """Error of the described links after mending, relative to drives alone, for the joints concerned."""
        joints = self.interpretation.robot.actuated
        places = [joints.index(name) for name in self.mistake.names or joints]
        return self.after.compute_unexplained(np.array(places))

    @property
    def is_fit_accepted(self) -> bool:
        """Whether the fit speaks for the mistake."""
        return self.improvement >= MIN_IMPROVEMENT and self.fit_gain >= MIN_GAIN and self.description_gain > -MAX_LOSS

    @property
    def is_description_accepted(self) -> bool:
        """Whether the described links speak for the mistake."""
        return (
            self.interpretation.has_inertias
            and self.description_gain >= MIN_GAIN
            and self.fit_gain > -MAX_LOSS
            and self.unexplained <= MAX_UNEXPLAINED
        )

    @property
    def is_accepted(self) -> bool:
        return self.is_fit_accepted or self.is_description_accepted


def choose_mistake(interpretation: Interpretation, mistakes: Iterable[Mistake]) -> Comparison | None:
    """Return the accepted mistake with the largest gain; the first of those that explain the log equally well."""
    best: Comparison | None = None
    for mistake in mistakes:
        comparison = Comparison(interpretation, mistake, interpretation.errors)
        if comparison.is_accepted and (best is None or comparison.gain > best.gain + MIN_DIFFERENCE):
            best = comparison
    return best


def _bound_fit(errors: Errors) -> PerJoint:
    return np.hypot(np.minimum(errors.held_out, MAX_FIT_ERROR), FIT_FLOOR)


def _bound_description(errors: Errors) -> PerJoint:
    return np.hypot(np.minimum(errors.described, MAX_DESCRIPTION_ERROR), DESCRIPTION_FLOOR)
