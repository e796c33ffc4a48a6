"""Fixed tendons: driven joints, couplings, and what is not modelled."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import GEOM, read_text
from ytheta.errors import RobotFileError

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
