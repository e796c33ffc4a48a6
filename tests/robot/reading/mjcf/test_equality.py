"""Loops and couplings of MJCF files against MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
from jaxtyping import Float

from tests.support.mjcf_models import (
    GEOM,
    TOLERANCE,
    mechanism_text,
    read_both,
    read_text,
)
from ytheta.errors import RobotFileError
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot


def compute_residuals(text: str) -> Iterator[tuple[Robot, Float[np.ndarray, " joints"], Float[np.ndarray, " rows"]]]:
    """The robot, joint positions, and MuJoCo's residual of the constraint; the initial configuration comes first."""
    robot, model = read_both(text)
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    for k in range(5):
        q = model.qpos0 if k == 0 else rng.uniform(-1.0, 1.0, model.nq)
        data.qpos[:] = q
        mujoco.mj_fwdPosition(model, data)
        yield robot, q, data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY].copy()


LOOPS = [
    '<connect name="loop" body1="b" body2="d" anchor="0.1 0.2 0.3"/>',
    '<connect name="loop" body1="b" anchor="0.1 0.2 0.3"/>',
    '<connect name="loop" site1="tip" site2="end"/>',
    '<connect name="loop" site1="end" site2="post"/>',
    '<weld name="loop" body1="b" body2="d"/>',
    '<weld name="loop" body1="b" body2="d" anchor="0.3 0.2 0.1"/>',
    '<weld name="loop" body1="b" body2="d" relpose="0.1 0.2 0.3 1 2 3 4" anchor="0.3 0.2 0.1"/>',
    '<weld name="loop" body1="d" relpose="0.1 0.2 0.3 0 0 0 0"/>',
    '<weld name="loop" site1="end" site2="tip"/>',
]


@pytest.mark.parametrize("equality", LOOPS)
def test_loop_residuals_are_those_of_mujoco(equality: str) -> None:
    for robot, q, residual in compute_residuals(mechanism_text(equality)):
        cut = robot.loops[0].joint
        assert (cut.name, cut.kind) == ("loop", JointKind.POINT if "connect" in equality else JointKind.FIXED)
        poses = link_poses(robot, q)
        on_parent, on_child = poses[cut.parent] @ cut.placement.matrix, poses[cut.child] @ cut.seat.inverse().matrix
        assert on_parent[:3, 3] - on_child[:3, 3] == pytest.approx(residual[:3], abs=TOLERANCE)
        if cut.kind is JointKind.FIXED:
            rotation = on_parent[:3, :3].T @ on_child[:3, :3]
            half_angle = math.acos(min(1.0, max(-1.0, (np.trace(rotation) - 1.0) / 2.0))) / 2.0
            assert math.sin(half_angle) == pytest.approx(np.linalg.norm(residual[3:]), abs=1e-7)


@pytest.mark.parametrize("equality", [loop for loop in LOOPS if "site" not in loop and "1 2 3 4" not in loop])
def test_loops_between_bodies_close_in_the_initial_configuration(equality: str) -> None:
    robot, q, residual = next(compute_residuals(mechanism_text(equality)))
    assert residual == pytest.approx(0.0, abs=TOLERANCE)
    cut, poses = robot.loops[0].joint, link_poses(robot, q)
    closed = poses[cut.parent] @ cut.placement.matrix @ cut.seat.matrix
    assert closed == pytest.approx(poses[cut.child], abs=TOLERANCE)


def test_a_slightly_wrong_loop_is_detected() -> None:
    robot, q, residual = next(compute_residuals(mechanism_text(LOOPS[0])))
    cut, poses = robot.loops[0].joint, link_poses(robot, q)
    wrong = Frame.shift(1e-6) @ cut.placement
    difference = (poses[cut.parent] @ wrong.matrix @ cut.seat.matrix - poses[cut.child])[:3, 3]
    assert abs(difference - residual).max() > 100 * TOLERANCE


def test_a_four_bar_linkage_closes_in_other_configurations() -> None:
    text = (
        f'<mujoco><worldbody><body name="crank"><joint name="crank" axis="0 1 0" ref="30"/>{GEOM}'
        f'<body name="rod" pos="0 0 1"><joint name="rod" axis="0 1 0" ref="-10"/>{GEOM}</body></body>'
        f'<body name="rocker" pos="2 0 0"><joint name="rocker" axis="0 1 0" ref="15"/>{GEOM}</body></worldbody>'
        '<equality><connect body1="rod" body2="rocker" anchor="1.9 0 0.3"/></equality>'
        '<actuator><motor joint="crank"/></actuator></mujoco>'
    )
    robot, model = read_both(text)
    assert robot.actuated == ("crank",)
    closure = close_loops(robot, {"crank": math.radians(30) + 0.4}).or_raise()
    data = mujoco.MjData(model)
    data.qpos[:] = closure.q
    mujoco.mj_fwdPosition(model, data)
    assert data.efc_pos[:3] == pytest.approx(0.0, abs=1e-8)
    assert abs(closure.q - model.qpos0).min() > 0.1


def test_a_weld_without_torque_is_a_point_joint() -> None:
    robot = read_text(mechanism_text('<weld body1="b" body2="d" torquescale="0"/>'))
    assert robot.loops[0].joint.kind is JointKind.POINT
    assert robot.loops[0].name == "weld.b.d"


@pytest.mark.parametrize(
    "equality",
    [
        '<joint joint1="a1" joint2="c1"/>',
        '<joint joint1="c1" joint2="a1" polycoef="0.2 -3"/>',
        '<joint joint1="a1" polycoef="0.4 5 6 7 8"/>',
        '<joint joint1="b1" joint2="d1" polycoef="-0.2 0.5 0 0 0"/>',
    ],
)
def test_joint_equalities_are_couplings(equality: str) -> None:
    for robot, q, residual in compute_residuals(mechanism_text(equality)):
        factors, offset = robot.coupling_map
        positions = {joint.name: value for joint, value in zip(robot.movable, q, strict=True)}
        x = np.array([positions[name] for name in robot.coordinates])
        coupled = robot.couplings[0].joint
        row = [joint.name for joint in robot.movable].index(coupled)
        assert positions[coupled] - float(factors[row] @ x + offset[row]) == pytest.approx(residual[0], abs=TOLERANCE)


def test_inactive_equalities_are_ignored() -> None:
    inactive = read_text(mechanism_text('<connect name="x" body1="b" body2="d" anchor="0 0 0" active="false"/>'))
    assert not inactive.loops
    assert any("inactive equality constraints are ignored: x" in note.text for note in inactive.findings)
    by_class = "<default><equality active='false'/></default>"
    assert not read_text(mechanism_text('<weld body1="b" body2="d"/>', by_class)).loops
    flags = '<option><flag equality="disable"/></option>'
    assert not read_text(mechanism_text('<weld body1="b" body2="d"/>', flags)).loops


def test_constraints_without_a_loop_are_ignored() -> None:
    text = (
        f'<mujoco><worldbody><body name="hand" mocap="true"/><body name="shelf">{GEOM}</body>'
        f'<body name="a"><joint/>{GEOM}<body name="b">{GEOM}</body></body></worldbody><equality>'
        '<weld body1="hand" body2="a"/><weld body1="shelf"/><weld body1="a" body2="b"/></equality></mujoco>'
    )
    robot = read_text(text)
    assert not robot.loops
    assert any(note.is_warning and "mocap" in note.text for note in robot.findings)
    assert any(
        "cannot move relative to each other are ignored: <weld> in line 1, <weld> in line 1" in note.text
        for note in robot.findings
    )


@pytest.mark.parametrize(
    ("equality", "message"),
    [
        ('<connect body1="bb" anchor="0 0 0"/>', r"body1='bb' is not a body; did you mean"),
        ('<weld body1="b" body2="q"/>', r"body2='q' is not a body; choose from"),
        ('<connect body1="b"/>', "the attribute 'anchor' is missing"),
        ("<weld/>", "the attribute 'body1' is missing"),
        ('<weld site1="tip"/>', "the attribute 'site2' is missing"),
        ('<weld site1="tip" site2="tap"/>', r"site2='tap' is not a site; did you mean 'tip'"),
        ('<joint joint1="a1" joint2="zz"/>', "joint2='zz' is not a hinge or slide joint"),
    ],
)
def test_mistakes(equality: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=message):
        read_text(mechanism_text(equality))


def test_constraints_to_objects_beside_the_robot_do_not_hold_it() -> None:
    hand = f'<body name="hand"><joint name="j"/>{GEOM}</body>'
    text = (
        f'<mujoco><worldbody><body name="cube"><freejoint/>{GEOM}</body>{hand}</worldbody>'
        '<equality><weld name="grasp" body1="cube" body2="hand"/></equality></mujoco>'
    )
    robot = read_text(text)
    assert (robot.loops, robot.coordinates) == ((), ("j",))
    (warning,) = (finding for finding in robot.findings if finding.is_warning)
    assert warning.names == ("grasp",)
    carried = read_text(text.replace("<freejoint/>", '<joint name="k" axis="1 0 0"/>'))  # a part of the robot
    assert [loop.joint.name for loop in carried.loops] == ["grasp"]
