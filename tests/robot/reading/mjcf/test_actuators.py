"""Actuators of MJCF files against MuJoCo."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import (
    GEOM,
    body_tensor,
    check_agreement,
    check_refused,
    read_both,
    read_text,
)
from ytheta.errors import RobotFileError


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


# Fixed tendons: driven joints, couplings, and what is not modelled.


HAND = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a"><joint name="j1" ref="0.2"/>{geom}<body name="b" pos="1 0 0"><joint name="j2" axis="0 1 0"/>{geom}
<body name="c" pos="0 1 0"><joint name="j3" axis="1 0 0" ref="-0.1"/>{geom}</body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="j1" coef="2"/><joint joint="j2" coef="-0.5"/></fixed>
<fixed name="u"><joint joint="j3" coef="4"/></fixed>{tendon}</tendon>{rest}</mujoco>"""


def make_text(rest: str = "", tendon: str = "") -> str:
    return HAND.format(geom=GEOM, rest=rest, tendon=tendon)


def test_actuators_of_fixed_tendons_bound_the_torques_of_their_joints() -> None:
    actuators = '<motor tendon="t" gear="3" forcerange="-5 5"/><motor joint="j2" forcerange="-1 1"/>'
    robot = read_text(make_text(f"<actuator>{actuators}</actuator>"))
    assert [joint.limits.effort for joint in robot.movable] == pytest.approx([30.0, 7.5 + 1.0, math.inf])


@pytest.mark.parametrize(
    "equality",
    [
        '<tendon tendon1="t" tendon2="u" polycoef="0.3 0.7 0 0 0"/>',
        '<tendon tendon1="t" polycoef="0.3 0 0 0 0"/>',
        '<tendon tendon1="u" tendon2="t"/>',
    ],
)
def test_equalities_of_fixed_tendons_are_couplings(equality: str) -> None:
    text = make_text(f"<equality>{equality}</equality>")
    robot, model = read_text(text), mujoco.MjModel.from_xml_string(text)
    factors, offset = robot.coupling_map
    data = mujoco.MjData(model)
    rng = np.random.default_rng(2)
    for x in rng.uniform(-1.0, 1.0, (5, factors.shape[1])):
        data.qpos = factors @ x + offset
        mujoco.mj_forward(model, data)
        assert abs(data.efc_pos[0]) < 1e-12
        data.qpos = factors @ x + offset + [1e-3, 0.0, 1e-3]
        mujoco.mj_forward(model, data)
        assert abs(data.efc_pos[0]) > 1e-4


def test_spatial_tendons_and_forces_of_tendons_are_said() -> None:
    tendon = '<fixed name="spring" stiffness="3"><joint joint="j1" coef="1"/></fixed><spatial name="s"/>'
    texts = [finding.text for finding in read_text(make_text("", tendon)).findings]
    assert texts == [
        "springs, dampers, friction, rotor inertia and limits of tendons are ignored: spring",
        "spatial tendons are ignored, with their springs, dampers and actuators: s",
    ]


def test_a_tendon_of_an_unknown_joint_is_an_error() -> None:
    with pytest.raises(RobotFileError, match="the tendon moves 'j9', which is not a joint"):
        read_text(make_text("", '<fixed name="x"><joint joint="j9" coef="1"/></fixed>'))
