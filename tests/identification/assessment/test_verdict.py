"""Verdicts and their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.assessment.excitation import Certainty, MotionAdvice
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.assessment.verdict import Grade, PredictionQuality, Verdict, measure_quality, reach_verdict
from ytheta.identification.identify import identify
from ytheta.logs.check import check
from ytheta.logs.log import LogFindingCode, compute_highest_speeds
from ytheta.robot.parts import Limits

DETERMINED, SMALL, WEAK, UNSEEN = Certainty.DETERMINED, Certainty.SMALL, Certainty.WEAK, Certainty.UNSEEN


def test_the_verdict_names_its_reason() -> None:
    arm = known_arm()
    assert identify(arm.robot, arm.log()).verdict.grade.value == "good"
    wrong_sign = identify(arm.robot, arm.log(arm.tau * [1.0, -1.0]))
    assert wrong_sign.verdict.grade.value == "doubtful"
    assert "wrong sign" in wrong_sign.verdict.sentence
    poor = identify(arm.robot, arm.log(), validate=arm.log(arm.tau * [1.0, 0.2]))
    assert f"({arm.robot.actuated[1]}: " in poor.verdict.sentence
    assert not poor.verdict.solved


def make_errors(*percents: float) -> TorqueErrors:
    """Errors of joints with equal torques that vary about zero."""
    errors = known_arm().identify(known_arm().draw_source(np.random.default_rng(0), None)).fit
    count = len(percents)
    residual, torque = (np.array(percents) / 100.0) ** 2, np.ones(count)
    return replace(errors, residual=residual, torque=torque, counts=np.ones(count), mean=np.zeros(count), samples=1)


def make_quality(
    *percents: float, uncertainty: float = 0.0, scale: tuple[float, ...] | None = None
) -> PredictionQuality:
    count = len(percents)
    scales = np.ones(count) if scale is None else np.array(scale)
    return PredictionQuality(np.array(percents), np.full(count, uncertainty), scales, np.zeros(count))


def judge(
    fit: TorqueErrors,
    validation: TorqueErrors | None = None,
    *,
    certainty: tuple[Certainty, ...] = (DETERMINED,) * 5,
    contradiction: str = "",
    assumption: str = "",
    friction: float = 0.0,
    repeated: bool = False,
    missing: tuple[MotionAdvice, ...] = (),
    uncertainty: float = 0.0,
    other_motion: float | None = None,
    causes: Mapping[str, str] | None = None,
) -> Verdict:
    """Uncertainties are in percent, those of both joints on the judged logs and on other motion."""
    judged = fit if validation is None else validation
    quality = measure_quality(
        judged, np.full(2, uncertainty / 100.0), prismatic=(False, False), dry_friction=np.full(2, friction)
    )
    return reach_verdict(
        joints=("q1", "q2"),
        fit=fit,
        validation=validation,
        repeated=repeated,
        contradiction=contradiction,
        assumption=assumption,
        certainty=certainty,
        names=[f"p{k}" for k in range(len(certainty))],
        missing=missing,
        quality=quality,
        other_motion=None if other_motion is None else make_quality(0.0, 0.0, uncertainty=other_motion),
        causes=causes,
    )


@pytest.mark.parametrize(
    ("percents", "grade"),
    [
        ((9.9, 9.9), Grade.GOOD),
        ((10.1, 10.1), Grade.USABLE),
        ((19.9, 19.9), Grade.USABLE),
        ((20.1, 20.1), Grade.POOR),
        ((24.0, 24.0), Grade.POOR),
        ((np.nan, 1.0), Grade.POOR),
    ],
)
def test_grades_have_bounds(percents: tuple[float, float], grade: Grade) -> None:
    """An error of 10 % is good, one of 20 % usable; the validation decides if there is one."""
    verdict = judge(make_errors(*percents))
    assert verdict.grade is grade
    assert verdict.solved == (grade is not Grade.POOR)
    assert judge(make_errors(1.0, 1.0), make_errors(*percents)).grade is grade
    assert judge(make_errors(*percents), make_errors(1.0, 1.0)).grade is Grade.GOOD


@pytest.mark.parametrize(("percent", "grade"), [(24.0, Grade.GOOD), (26.0, Grade.USABLE), (51.0, Grade.POOR)])
def test_one_joint_can_spoil_a_model(percent: float, grade: Grade) -> None:
    """The joint has a fifth of the torque of the other, so that the error of both together is small."""
    errors = replace(make_errors(1.0, percent), torque=np.array([1.0, 0.04]))
    errors = replace(errors, residual=np.array([1e-4, 0.04 * (percent / 100.0) ** 2]))
    verdict = judge(errors, causes={"q2": "it is flexible"})
    assert verdict.grade is grade
    assert (f"(q2: {percent:.0f} %, it is flexible)" in verdict.sentence) == (grade is not Grade.GOOD)


def test_a_joint_with_hardly_any_torque_is_not_good_but_does_not_spoil_a_model() -> None:
    """Its error exceeds its own torque, but is small for the arm; twin: with five times the torque it is poor."""
    light = replace(make_errors(1.0, 1.0), torque=np.array([1.0, 1e-3]), residual=np.array([1e-4, 1.1e-3]))
    assert light.per_joint_percent[1] > 100.0
    verdict = judge(light)
    assert verdict.grade is Grade.USABLE
    assert "(q2: 105 % of its own torque)" in verdict.sentence
    assert judge(light, friction=0.1).grade is Grade.GOOD  # the error is small beside the friction of the joint
    heavier = replace(light, torque=np.array([1.0, 0.025]), residual=np.array([1e-4, 0.0275]))
    assert judge(heavier).grade is Grade.POOR


def test_a_joint_with_a_large_error_is_never_part_of_a_good_model(rng: np.random.Generator) -> None:
    """However small its torque is; the twin has a tenth of the error."""
    torque, percent = float(rng.uniform(1e-4, 1.0)), float(rng.uniform(51.0, 99.0))
    for factor, is_good in ((1.0, False), (0.1, True)):
        residual = torque * (factor * percent / 100.0) ** 2
        errors = replace(make_errors(1.0, 1.0), torque=np.array([1.0, torque]), residual=np.array([1e-4, residual]))
        assert (judge(errors).grade is Grade.GOOD) is is_good


def test_an_assumption_about_the_log_is_said_and_never_good() -> None:
    verdict = judge(make_errors(1.0, 1.0), make_errors(1.0, 1.0), assumption="the limits are wrong")
    assert verdict.grade is Grade.USABLE
    assert verdict.sentence.endswith("; this assumes that the limits are wrong.")
    assert judge(make_errors(30.0, 30.0), assumption="the limits are wrong").grade is Grade.POOR
    assert judge(make_errors(1.0, 1.0), make_errors(1.0, 1.0)).grade is Grade.GOOD  # the twin


@pytest.mark.parametrize("quantity", ["position", "speed", "torque"])
def test_limits_that_a_log_exceeds_make_it_doubtful(quantity: str, rng: np.random.Generator) -> None:
    """Limits that are exceeded by far speak of units; by less, they may be wrong. Twin: limits that hold."""
    arm = known_arm()
    log = arm.log()
    assert log.tau is not None
    largest = {
        "position": abs(log.q[:, 0]).max(),
        "speed": compute_highest_speeds(log)[0],
        "torque": np.quantile(abs(log.tau[:, 0]), 0.99),
    }[quantity]
    grades = []
    ratios = [rng.uniform(1.2, 1.8), rng.uniform(0.3, 0.9)]
    if quantity != "position":  # positions that are far out are refused
        ratios = [rng.uniform(2.2, 1000.0), *ratios]
    for ratio in ratios:
        limit = float(largest / ratio)
        limits = {
            "position": Limits(lower=-limit, upper=limit),
            "speed": Limits(velocity=limit),
            "torque": Limits(effort=limit),
        }[quantity]
        joints = tuple(replace(each, limits=limits) if k == 0 else each for k, each in enumerate(arm.robot.joints))
        robot = replace(arm.robot, joints=joints)
        table = {"t": log.t, "q": log.q, "tau": log.tau}
        fit = identify(robot, table, validate=table)
        grades.append(fit.verdict.grade)
        found = [finding for finding in fit.findings if finding.code == LogFindingCode.LIMITS]
        checked = [finding for one in check(robot, table).logs for finding in one.log.findings]
        assert bool(found) == (ratio > 1.0) == any(each.code == LogFindingCode.LIMITS for each in checked)
    assert grades == [Grade.DOUBTFUL, Grade.USABLE, Grade.GOOD][-len(ratios) :]


def test_weak_parameters_do_not_change_the_grade() -> None:
    """A prediction may be certain although most parameters are not."""
    verdict = judge(make_errors(1.0, 1.0), make_errors(1.0, 1.0), certainty=(WEAK, WEAK, WEAK, DETERMINED, SMALL))
    assert verdict.grade is Grade.GOOD
    assert "; 1 of 5 base parameters are determined, 1 more is too small to matter" in verdict.sentence
    weak = judge(make_errors(1.0, 1.0), make_errors(1.0, 1.0), certainty=(WEAK, WEAK))
    assert "; none of 2 base parameters are determined" in weak.sentence


def test_uncertain_parameters_are_the_reason_if_they_explain_the_error() -> None:
    """Twin: the same error with certain parameters has another reason."""
    fit, validation = make_errors(1.0, 1.0), make_errors(13.0, 13.0)
    advice = (MotionAdvice(("p0",), "swing joint q1"),)
    uncertain = judge(fit, validation, uncertainty=12.0, missing=advice)
    assert uncertain.grade is Grade.USABLE
    assert uncertain.sentence.endswith(
        "; the motion of the fit is too poor: uncertain parameters cause 12 % there; swing joint q1."
    )
    assert "its parameters are uncertain" in uncertain.sentence
    certain = judge(fit, validation, uncertainty=1.0, missing=advice)
    assert "too poor" not in certain.sentence
    assert "on the logs of the fit the error is 1 %: the logs differ" in certain.sentence


def test_without_validation_the_uncertainty_on_other_motion_counts() -> None:
    """Also for a repetition of the motion; twin: new motion was measured, and what is expected does not count."""
    errors = make_errors(3.0, 3.0)
    for verdict in (judge(errors, other_motion=12.0), judge(errors, errors, repeated=True, other_motion=12.0)):
        assert verdict.grade is Grade.USABLE
        assert "too poor: uncertain parameters cause 12 % on other motion" in verdict.sentence
    assert judge(errors, other_motion=30.0).grade is Grade.POOR
    certain = judge(errors, other_motion=2.0)
    assert certain.grade is Grade.GOOD
    assert certain.sentence.endswith(
        "; uncertain parameters add 2 % on other motion, for which there is no validation log."
    )
    assert judge(errors, errors, other_motion=12.0).grade is Grade.GOOD


def test_the_sentence_says_if_the_torque_hardly_varies() -> None:
    """A constant torque makes the relative error small; the grade follows from the variation."""
    errors = make_errors(13.0, 13.0)
    loaded = replace(errors, torque=errors.torque + 4.0, mean=np.full(2, 2.0))
    verdict = judge(errors, loaded)
    assert verdict.grade is Grade.USABLE
    assert (
        "the torque error is 5.8 % on motion not used for the fit, 13 % of the torque's variation" in verdict.sentence
    )


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
    assert "differ" not in judge(fit, make_errors(7.4, 7.4)).sentence
    assert "on the logs of the fit the error is 3 %: the logs differ, or" in judge(fit, make_errors(7.6, 7.6)).sentence
    assert "differ" not in judge(fit, make_errors(7.6, 7.6), uncertainty=3.0).sentence
    assert "differ" not in judge(fit, make_errors(7.6, 7.6), repeated=True).sentence


@pytest.mark.parametrize(
    ("percent", "text"),
    [(3.14, "3.1 %"), (99.4, "99 %"), (123.4, "123 %"), (9999.0, "9999 %"), (2e4, "more than 9999")],
)
def test_percentages_have_no_exponents(percent: float, text: str) -> None:
    assert f"the torque error is {text}" in judge(make_errors(percent, percent)).sentence
