"""Verdicts and their reasons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.assessment.excitation import Certainty, MotionAdvice
from ytheta.identification.assessment.residuals import TorqueErrors
from ytheta.identification.assessment.verdict import Grade, Verdict, reach_verdict
from ytheta.identification.identify import identify

DETERMINED, SMALL, WEAK, UNSEEN = Certainty.DETERMINED, Certainty.SMALL, Certainty.WEAK, Certainty.UNSEEN


def test_the_verdict_names_its_reason() -> None:
    arm = known_arm()
    assert identify(arm.robot, arm.log()).verdict.grade.value == "good"
    wrong_sign = identify(arm.robot, arm.log(arm.tau * [1.0, -1.0]))
    assert wrong_sign.verdict.grade.value == "doubtful"
    assert "wrong sign" in wrong_sign.verdict.sentence
    poor = identify(arm.robot, arm.log(), validate=arm.log(arm.tau * [1.0, 0.2]))
    assert f"({arm.robot.actuated[1]}: 400 %)" in poor.verdict.sentence
    assert not poor.verdict.solved


def make_errors(*percents: float) -> TorqueErrors:
    """Errors of joints with equal torques."""
    errors = known_arm().identify(known_arm().draw_source(np.random.default_rng(0), None)).fit
    return replace(errors, residual=(np.array(percents) / 100.0) ** 2, torque=np.ones(len(percents)))


def judge(
    fit: TorqueErrors,
    validation: TorqueErrors | None = None,
    *,
    certainty: tuple[Certainty, ...] = (DETERMINED,) * 5,
    contradiction: str = "",
    repeated: bool = False,
    missing: tuple[MotionAdvice, ...] = (),
) -> Verdict:
    return reach_verdict(
        joints=("q1", "q2"),
        fit=fit,
        validation=validation,
        repeated=repeated,
        contradiction=contradiction,
        certainty=certainty,
        names=[f"p{k}" for k in range(len(certainty))],
        missing=missing,
    )


@pytest.mark.parametrize(
    ("percents", "grade"),
    [
        ((9.9, 9.9), Grade.GOOD),
        ((10.1, 10.1), Grade.USABLE),
        ((24.9, 24.9), Grade.USABLE),
        ((25.1, 25.1), Grade.POOR),
        ((np.nan, 1.0), Grade.POOR),
    ],
)
def test_grades_have_bounds(percents: tuple[float, float], grade: Grade) -> None:
    """An error of 10 % is good, one of 25 % usable; the validation decides if there is one."""
    verdict = judge(make_errors(*percents))
    assert verdict.grade is grade
    assert verdict.solved == (grade is not Grade.POOR)
    assert judge(make_errors(1.0, 1.0), make_errors(*percents)).grade is grade
    assert judge(make_errors(*percents), make_errors(1.0, 1.0)).grade is Grade.GOOD


def test_one_joint_that_is_worse_than_no_model_makes_the_model_poor() -> None:
    """The joint has little torque, so the error of all joints together is small."""
    for percent, grade in ((101.0, Grade.POOR), (99.0, Grade.GOOD)):
        errors = replace(make_errors(1.0, percent), torque=np.array([1.0, 1e-3]))
        errors = replace(errors, residual=np.array([1e-4, 1e-3 * (percent / 100.0) ** 2]))
        verdict = judge(errors)
        assert verdict.grade is grade
        assert f"(q2: {percent:.0f} %)" in verdict.sentence
    assert "(q2" not in judge(make_errors(1.0, 9.0)).sentence  # not worth a word
    assert "(q2" not in judge(make_errors(20.0, 22.0)).sentence


def test_mostly_weak_parameters_are_usable_at_best() -> None:
    errors = make_errors(1.0, 1.0)
    half = judge(errors, certainty=(WEAK, WEAK, DETERMINED, DETERMINED))
    assert half.grade is Grade.GOOD
    assert "; 2 of 4 base parameters are determined" in half.sentence
    most = judge(errors, certainty=(WEAK, WEAK, WEAK, DETERMINED, SMALL))
    assert most.grade is Grade.USABLE
    assert "; only 1 of 5 base parameters are determined, 1 more is too small to matter" in most.sentence
    assert "; none of 2 base parameters are determined" in judge(errors, certainty=(WEAK, WEAK)).sentence


def test_parameters_that_are_not_seen_come_first_and_are_named() -> None:
    advice = (MotionAdvice(("p0",), "swing joint q1"), MotionAdvice(("p1",), "raise the arm"))
    verdict = judge(make_errors(1.0, 1.0), certainty=(UNSEEN,) * 6, contradiction="gravity", missing=advice)
    assert verdict.grade is Grade.NOT_EXCITING
    assert not verdict.solved
    assert verdict.sentence == "Not exciting: the motion does not determine p0, p1, p2, p3 and 2 more; swing joint q1."
    four = judge(make_errors(1.0, 1.0), certainty=(UNSEEN,) * 4 + (DETERMINED,))
    assert four.sentence == "Not exciting: the motion does not determine p0, p1, p2, p3; move more."
    doubtful = judge(make_errors(1.0, 1.0), contradiction="gravity points up")
    assert (doubtful.grade, doubtful.sentence) == (Grade.DOUBTFUL, "Doubtful: gravity points up.")


def test_the_sentence_says_on_which_motion_the_error_was_computed() -> None:
    fit, validation = make_errors(3.0, 3.0), make_errors(5.0, 5.0)
    unknown = "; without a validation log of other motion, the error there is unknown."
    assert "3 % on the logs of the fit" in judge(fit).sentence
    assert judge(fit).sentence.endswith(unknown)
    assert "5 % on motion not used for the fit" in judge(fit, validation).sentence
    assert "unknown" not in judge(fit, validation).sentence
    assert "5 % on a repetition of the same motion" in judge(fit, validation, repeated=True).sentence
    assert judge(fit, validation, repeated=True).sentence.endswith(unknown)
    assert "overfitted" not in judge(fit, make_errors(7.4, 7.4)).sentence
    overfitted = judge(fit, make_errors(7.6, 7.6)).sentence
    assert "on the logs of the fit the error is 3 %, so the model is overfitted or the logs differ" in overfitted


@pytest.mark.parametrize(
    ("percent", "text"),
    [(3.14, "3.1 %"), (99.4, "99 %"), (123.4, "123 %"), (9999.0, "9999 %"), (2e4, "more than 9999")],
)
def test_percentages_have_no_exponents(percent: float, text: str) -> None:
    assert f"the torque error is {text}" in judge(make_errors(percent, percent)).sentence
