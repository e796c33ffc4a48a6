"""Verdicts and their reasons."""

from __future__ import annotations

from tests.support.known_arm import known_arm
from ytheta.identification.identify import identify


def test_the_verdict_names_its_reason() -> None:
    arm = known_arm()
    assert identify(arm.robot, arm.log()).verdict.grade.value == "good"
    wrong_sign = identify(arm.robot, arm.log(arm.tau * [1.0, -1.0]))
    assert wrong_sign.verdict.grade.value == "doubtful"
    assert "wrong sign" in wrong_sign.verdict.sentence
    poor = identify(arm.robot, arm.log(), validate=arm.log(arm.tau * [1.0, 0.2]))
    assert f"({arm.robot.actuated[1]}: 400 %)" in poor.verdict.sentence
    assert not poor.verdict.solved
