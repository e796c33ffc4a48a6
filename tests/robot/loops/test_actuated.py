"""Actuated coordinates and home configurations of robots with loops."""

from __future__ import annotations

from dataclasses import replace

from tests.support.mjcf_models import read_text
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.loops.independent import choose_actuated
from ytheta.robot.reading.load import load

WALKER = replace(load("walker"), actuated=())


def test_driven_joints_are_actuated() -> None:
    robot = choose_actuated(WALKER, ("q5", "q7", "not a joint"))
    assert robot.actuated == ("q5", "q7", "q3")  # q3 is outside of the loops
    assert not robot.findings
    assert close_loops(robot).or_raise().closed


def test_added_and_dropped_coordinates_are_said() -> None:
    robot = choose_actuated(WALKER, ("q5", "q4"))
    texts = [finding.text for finding in robot.findings]
    assert any(
        "the loops leave coordinates free that no actuator drives; these count as actuated: q" in t for t in texts
    )
    assert "coordinates with actuators depend on others by the loops: q4" in texts
    assert close_loops(robot).or_raise().closed


def test_an_open_home_is_closed() -> None:
    far = replace(WALKER, home=(("q5", 0.2), ("q7", 0.5)))
    robot = choose_actuated(far, ("q5", "q7"))
    assert any("home was changed to close them" in finding.text for finding in robot.findings)
    assert close_loops(robot).or_raise().closed


def test_robots_without_loops_stay_as_they_are() -> None:
    arm = load("ur10")
    assert choose_actuated(arm, ()) is arm


def test_loops_that_allow_no_motion_are_said() -> None:
    """A parallelogram whose last hinge is welded; the twin, which is closed by a point, moves."""
    text = """<mujoco><worldbody><body name="a"><geom size="0.1"/>
        <body name="b"><joint axis="1 0 0"/><geom size="0.1"/>
          <body name="c" pos="0 4 0"><joint axis="1 0 0"/><geom size="0.1"/>
            <body name="d" pos="0 0 4"><joint axis="1 0 0"/><geom size="0.1"/></body></body></body></body></worldbody>
      <equality><{} body1="a" body2="d" anchor="0 0 4"/></equality></mujoco>"""
    statement = "the loops leave no coordinate free, so that the robot cannot move"
    rigid, moving = read_text(text.format("weld")), read_text(text.format("connect"))
    assert not rigid.actuated
    assert any(finding.is_warning and finding.text.startswith(statement) for finding in rigid.findings)
    assert len(moving.actuated) == 1
    assert not any(finding.text.startswith(statement) for finding in moving.findings)
