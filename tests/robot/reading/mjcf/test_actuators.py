"""Actuators of MJCF files against MuJoCo."""

from __future__ import annotations

import math

import mujoco
import pytest

from tests.support.mjcf_models import (
    GEOM,
    body_tensor,
    check_agreement,
    check_refused,
    read_both,
)


def actuated_text(actuators: str, joint: str = "") -> str:
    return f'<mujoco><worldbody><body><joint name="j" {joint}/>{GEOM}</body></worldbody>{actuators}</mujoco>'


@pytest.mark.parametrize(
    ("joint", "actuators", "effort"),
    [
        ('actuatorfrcrange="-3 5"', '<motor joint="j" forcerange="-9 9"/>', 5.0),
        ("", '<motor joint="j" forcerange="-3 2" gear="-10"/>', 30.0),
        ("", '<position joint="j" forcerange="-3 2"/><motor jointinparent="j" ctrlrange="-1 1" gear="4"/>', 7.0),
        ("", '<motor joint="j" forcerange="-3 3" forcelimited="false"/>', math.inf),
        ("", '<position joint="j" ctrlrange="-3 3"/>', math.inf),
        ("", "", math.inf),
    ],
)
def test_effort(joint: str, actuators: str, effort: float) -> None:
    robot, model = read_both(actuated_text(f"<actuator>{actuators}</actuator>", joint))
    assert robot.joint("j").limits.effort == pytest.approx(effort)
    check_agreement(robot, model)


def test_actuators_add_rotor_inertia_and_damping_through_the_gear() -> None:
    top = '<default><motor gear="3" armature="2" damping="0.5"/></default>'
    text = actuated_text(f'{top}<actuator><motor joint="j"/><position joint="j" gear="2"/></actuator>', 'armature="1"')
    robot, model = read_both(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rotor, viscous, _, _ = robot.joint("j").drive.parameters
    assert rotor + body_tensor(model, 1)[2, 2] == pytest.approx(model.dof_M0[0])
    assert viscous == pytest.approx((3**2 + 2**2) * 0.5)


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ("<body/>", '<actuator><motor joint="jo"/></actuator>', "the actuator drives 'jo', which is not a joint"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)
