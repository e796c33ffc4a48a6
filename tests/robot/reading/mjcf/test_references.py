"""Tendons, constraints and actuators of copies against MuJoCo."""

from __future__ import annotations

import mujoco
import pytest

from tests.support.mjcf_models import GEOM, read_both, read_text, world_text
from ytheta.errors import RobotFileError
from ytheta.robot.robot import Robot

PAIR = f"""<body name="a" pos="0 0 1"><joint name="j"/><site name="s" pos="0.2 0 0"/>{GEOM}
  <body name="b" pos="1 0 0"><joint name="k"/>{GEOM}</body></body>"""
BESIDE = f'<body name="other"><joint name="o"/>{GEOM}</body>'


def read_copies(sections: str, tree: str = "") -> tuple[Robot, mujoco.MjModel]:
    tree = tree or f'<replicate count="2" offset="0 2 0" sep="-">{PAIR}</replicate>'
    return read_both(f"<mujoco><worldbody>{BESIDE}{tree}</worldbody>{sections}</mujoco>")


def test_couplings_of_copies_are_copied() -> None:
    equality = '<equality><joint name="e" joint1="k" joint2="j" polycoef="0 2 0 0 0"/></equality>'
    robot, model = read_copies(equality)
    assert [(c.joint, c.terms) for c in robot.couplings] == [("k-0", (("j-0", 2.0),)), ("k-1", (("j-1", 2.0),))]
    assert [model.equality(i).name for i in range(model.neq)] == ["e-0", "e-1"]


def test_loops_of_copies_are_copied() -> None:
    robot, model = read_copies('<equality><connect name="e" body1="b" anchor="0 0 0"/></equality>')
    assert [(loop.name, loop.joint.parent, loop.joint.child) for loop in robot.loops] == [
        ("e-0", "b-0", "world"),
        ("e-1", "b-1", "world"),
    ]
    assert model.neq == 2


def test_actuators_and_tendons_of_copies_are_copied() -> None:
    """A tendon may also move a joint beside the copies, and actuators of other joints stay as they are."""
    tendon = '<fixed name="t"><joint joint="j" coef="1"/><joint joint="o" coef="3"/></fixed>'
    actuators = '<motor tendon="t" forcerange="-2 2"/><motor joint="k" forcerange="-5 5"/><motor joint="o"/>'
    robot, model = read_copies(f"<tendon>{tendon}</tendon><actuator>{actuators}</actuator>")
    effort = {joint.name: joint.limits.effort for joint in robot.movable}
    assert effort == {"o": float("inf"), "j-0": 2.0, "k-0": 5.0, "j-1": 2.0, "k-1": 5.0}
    assert (model.ntendon, model.nu) == (2, 5)


def test_a_constraint_between_a_copy_and_the_rest_is_dropped_as_by_mujoco() -> None:
    robot, model = read_copies('<equality><joint joint1="j" joint2="o"/><joint joint1="o"/></equality>')
    assert [coupling.joint for coupling in robot.couplings] == ["o"]
    assert model.neq == 1


def test_names_belong_to_kinds_of_elements() -> None:
    """A joint beside the copies has the name of a body in them."""
    tree = f'<body name="c"><joint name="a"/>{GEOM}</body><replicate count="2" offset="0 2 0">{PAIR}</replicate>'
    robot, model = read_copies('<actuator><motor joint="a" forcerange="-3 3"/></actuator>', tree)
    assert robot.joint("a").limits.effort == 3.0
    assert model.nu == 1


def test_actuators_of_nested_copies() -> None:
    inner = f'<replicate count="2" offset="0 1 0">{PAIR}</replicate>'
    outer = f'<replicate count="3" offset="1 0 0">{inner}</replicate>'
    robot, model = read_copies('<actuator><motor joint="j" forcerange="-3 3"/></actuator>', outer)
    names = {model.joint(int(k)).name for k in model.actuator_trnid[:, 0]}
    assert {joint.name for joint in robot.movable if joint.limits.effort == 3.0} == names
    assert len(names) == 6


def test_copies_of_what_refers_are_bounded() -> None:
    actuators = '<motor joint="j"/>' * 200
    text = world_text(f'<replicate count="1500">{PAIR}</replicate>', f"<actuator>{actuators}</actuator>")
    with pytest.raises(RobotFileError, match="makes more than 200000 elements"):
        read_text(text)
