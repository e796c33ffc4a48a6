"""Locked joints against Pinocchio's reduced models and against MuJoCo without the joint."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from tests.support.mjcf_models import read_text, world_text
from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.errors import ClosureError, InputError, RobotError
from ytheta.findings import Severity
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.locking import lock_joints
from ytheta.robot.parts import Coupling, Force, Joint, JointKind, Limits, Link, Motor
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

ARM_WITH_GRIPPER = """<robot name="arm">
<link name="base"/><link name="upper">{body}</link><link name="lower">{body}</link>
<link name="hand">{body}</link><link name="left">{body}</link><link name="right">{body}</link>
<joint name="q1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="9" velocity="2"/></joint>
<joint name="q2" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.1 0 0.3" rpy="0.3 1 0.2"/>
  <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="2"/></joint>
<joint name="wrist" type="fixed"><parent link="lower"/><child link="hand"/><origin xyz="0 0 0.4"/></joint>
<joint name="finger1" type="prismatic"><parent link="hand"/><child link="left"/><origin xyz="0 0.1 0.2" rpy="1 0 0"/>
  <axis xyz="0 0.6 0.8"/><limit lower="0" upper="0.04" effort="9" velocity="2"/></joint>
<joint name="finger2" type="revolute"><parent link="hand"/><child link="right"/><origin xyz="0 -0.1 0.2"/>
  <axis xyz="0.8 0.6 0"/><limit lower="-1" upper="1" effort="9" velocity="2"/>{mimic}</joint>
</robot>"""
BODY = (
    '<inertial><origin xyz="0.01 0.02 0.03"/><mass value="1.3"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial>'
)
MIMIC = '<mimic joint="finger1" multiplier="-5" offset="0.1"/>'


def write_arm(folder: Path, mimic: str = "") -> Path:
    path = folder / "arm.urdf"
    path.write_text(ARM_WITH_GRIPPER.format(body=BODY, mimic=mimic))
    return path


def reduced_torques(path: Path, positions: dict[str, float], motion: np.ndarray) -> np.ndarray:
    """Torques of Pinocchio's reduced model."""
    full = pin.buildModelFromUrdf(str(path))
    q = pin.neutral(full)
    for name, value in positions.items():
        q[full.joints[full.getJointId(name)].idx_q] = value
    model = pin.buildReducedModel(full, [full.getJointId(name) for name in positions], q)
    return np.array([pin.rnea(model, model.createData(), *sample) for sample in motion])


def own_torques(robot: Robot, motion: np.ndarray) -> np.ndarray:
    return inverse_dynamics(robot)(motion[:, 0], motion[:, 1], motion[:, 2])


MOTION = np.random.default_rng(3).normal(size=(6, 3, 2))


@pytest.mark.parametrize("positions", [{"finger1": 0.03, "finger2": -0.7}, {"finger1": 0.0, "finger2": 0.0}])
def test_locked_arm_has_the_torques_of_pinocchios_reduced_model(tmp_path: Path, positions: dict[str, float]) -> None:
    path = write_arm(tmp_path)
    robot = load(path, snap=0.0, lock=positions)
    assert robot.actuated == ("q1", "q2")
    np.testing.assert_allclose(own_torques(robot, MOTION), reduced_torques(path, positions, MOTION), rtol=1e-10)


def test_a_lock_at_another_position_has_other_torques(tmp_path: Path) -> None:
    path = write_arm(tmp_path)
    robot = load(path, snap=0.0, lock={"finger1": 0.03, "finger2": -0.69})
    other = reduced_torques(path, {"finger1": 0.03, "finger2": -0.7}, MOTION)
    assert abs(own_torques(robot, MOTION) - other).max() > 1e-4


def test_a_joint_that_mimics_a_locked_one_follows(tmp_path: Path) -> None:
    path = write_arm(tmp_path, MIMIC)
    robot = load(path, snap=0.0, lock={"finger1": 0.03})
    assert not robot.couplings
    plain = write_arm(tmp_path)
    expected = reduced_torques(plain, {"finger1": 0.03, "finger2": -5 * 0.03 + 0.1}, MOTION)
    np.testing.assert_allclose(own_torques(robot, MOTION), expected, rtol=1e-10)


def test_locking_the_mimicking_joint_locks_the_joint_that_it_follows(tmp_path: Path) -> None:
    robot = load(write_arm(tmp_path, MIMIC), lock={"finger2": -0.05})
    (note,) = [finding for finding in robot.findings if finding.code == "lock"]
    assert note.fields == pytest.approx({"finger1": 0.03, "finger2": -0.05})
    assert note.severity is Severity.NOTE


def test_masses_stay_and_mujoco_without_the_joints_agrees(tmp_path: Path) -> None:
    world = """<mujoco><compiler angle="radian"/><worldbody><body name="a"><joint name="q1" axis="0 1 0"/>
      <geom size="0.1"/><body name="b" pos="0.5 0 0"><joint name="q2" axis="1 0 0"/><geom size="0.08" pos="0 0.1 0"/>
      <body name="c" pos="0 0.3 0.1" quat="{quat}">{joint}<geom type="box" size="0.05 0.02 0.2" pos="0.1 0 0"/></body>
      </body></body></worldbody></mujoco>"""
    angle = 0.8
    path = tmp_path / "arm.xml"
    path.write_text(world.format(quat="1 0 0 0", joint='<joint name="q3" axis="0 0 1"/>'))
    robot = load(path, snap=0.0, lock={"q3": angle})
    without = world.format(quat=f"{math.cos(angle / 2)!r} 0 0 {math.sin(angle / 2)!r}", joint="")
    model = mujoco.MjModel.from_xml_string(without)
    data = mujoco.MjData(model)
    for q, qd, qdd in MOTION:
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mujoco.mj_inverse(model, data)
        np.testing.assert_allclose(inverse_dynamics(robot).one(q, qd, qdd), data.qfrc_inverse, rtol=1e-9)
    assert sum(link.inertia.mass for link in robot.links) == pytest.approx(model.body_mass.sum())


def test_a_pattern_locks_all_joints_that_match(tmp_path: Path) -> None:
    robot = load(write_arm(tmp_path), lock={"*finger*": 0.01})
    assert robot.actuated == ("q1", "q2")
    assert robot.findings[-1].fields == {"finger1": 0.01, "finger2": 0.01}


def test_a_pattern_leaves_joints_that_follow_to_their_coupling(tmp_path: Path) -> None:
    robot = load(write_arm(tmp_path, MIMIC), lock={"finger*": 0.01})
    assert robot.findings[-1].fields == pytest.approx({"finger1": 0.01, "finger2": 0.05})


def test_none_is_the_home_position(tmp_path: Path) -> None:
    robot = replace(load(write_arm(tmp_path)), home=(("finger1", 0.02), ("q1", 0.5)))
    locked = lock_joints(robot, {"finger1": None})
    assert locked.home == (("q1", 0.5),)
    assert locked.findings[-1].fields == {"finger1": 0.02}


def test_a_position_outside_of_the_limits_is_a_warning(tmp_path: Path) -> None:
    robot = load(write_arm(tmp_path), lock={"finger1": 0.5})
    assert robot.findings[-1].is_warning
    assert "locked at 0.5, outside of its limits 0 … 0.04" in robot.findings[-1].text


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ({"fingr1": 0.0}, "there is no movable joint 'fingr1'.*finger1"),
        ({"thumb*": 0.0}, r"no joint matches 'thumb\*'"),
        ({"wrist": 0.0}, "there is no movable joint 'wrist'"),
        ({"finger1": 0.03, "finger2": 0.7}, "follows other locked joints, which put it at -0.05, not at 0.7"),
        ({"finger1": math.nan}, "the position at which 'finger1' is locked"),
    ],
)
def test_wrong_locks_are_errors(tmp_path: Path, lock: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(write_arm(tmp_path, MIMIC), lock=lock)


@pytest.mark.parametrize(
    ("locked", "carrier", "count"),
    [(["ball.x"], "a", 9), (["ball.y"], "a", 9), (["ball.z"], "a.y", 9), (["ball.y", "ball.z"], "a.x", 3)],
)
def test_a_body_on_a_locked_hinge_of_a_ball_joint_is_identified(locked: list[str], carrier: str, count: int) -> None:
    """Its carrier has no inertia of its own; the count is the same if the mass of the body is not known.

    Two axes show all but the mass of a body, one horizontal axis its inertia and two first moments.
    """
    body = '<body name="a"><joint name="ball" type="ball"/><geom size="0.1" pos="0.1 0.2 0.3"/></body>'
    ball = read_text(world_text(body))
    unknown = ball.with_inertias({link.name: Inertia() for link in ball.links})
    positions = dict.fromkeys(locked, 0.3)
    base, other = (base_parameters(lock_joints(robot, positions)) for robot in (ball, unknown))
    assert {entry.rpartition(".")[0] for entry in base.selected} == {carrier}
    assert other.independent == base.independent
    assert len(base) == count


def make_wrist() -> Robot:
    """A differential wrist: two joints, driven by two motors."""
    inertia = Inertia.about_center(1.0, (0.1, 0.0, 0.2), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
    return Robot(
        "wrist",
        links=(Link("base"), Link("a", inertia), Link("b", inertia)),
        joints=(
            Joint("q1", JointKind.REVOLUTE, "base", "a", limits=Limits(-1, 1)),
            Joint("q2", JointKind.REVOLUTE, "a", "b", placement=Frame.shift(z=0.3), axis=(1.0, 0.0, 0.0)),
        ),
        motors=(Motor("m1"), Motor("m2")),
        couplings=(Coupling("q1", (("m1", 0.5), ("m2", 0.5))), Coupling("q2", (("m1", 0.5), ("m2", -0.5)), 0.1)),
        forces=(Force("spring", (("q2", "(q2 - q1)**2"),), value=3.0),),
    )


def test_a_locked_motor_leaves_its_position_as_offset() -> None:
    robot = lock_joints(make_wrist(), {"m1": 0.4})
    assert robot.actuated == ("m2",)
    factors, offset = robot.coupling_map
    np.testing.assert_allclose(factors, [[0.5], [-0.5]])
    np.testing.assert_allclose(offset, [0.2, 0.3])


def test_a_joint_of_two_motors_cannot_be_locked_alone() -> None:
    with pytest.raises(RobotError, match="depends on m1, m2 and cannot be locked alone"):
        lock_joints(make_wrist(), {"q1": 0.0})


def test_forces_keep_the_locked_position_as_a_number() -> None:
    robot = replace(make_wrist(), motors=(), couplings=(), actuated=())
    locked = lock_joints(robot, {"q1": -0.3})
    (force,) = locked.forces
    assert force.torque == (("q2", "(q2 - -0.3) ** 2"),)
    full, short = inverse_dynamics(robot), inverse_dynamics(locked)
    q2, qd2, qdd2 = MOTION[:, 0, :1], MOTION[:, 1, :1], MOTION[:, 2, :1]
    zeros = np.zeros_like(q2)
    at_lock = full(np.hstack([zeros - 0.3, q2]), np.hstack([zeros, qd2]), np.hstack([zeros, qdd2]))
    np.testing.assert_allclose(short(q2, qd2, qdd2), at_lock[:, 1:], rtol=1e-12)
    assert not lock_joints(robot, {"q2": 0.1}).forces


def test_locking_the_driver_of_a_loop_locks_the_loop() -> None:
    walker = load("walker")
    locked = lock_joints(walker, {"q5": 0.75})
    assert locked.actuated == ("q7", "q3")
    assert [loop.name for loop in locked.loops] == ["q9"]  # q5, q1 and q4 of the other loop cannot move
    motion = np.random.default_rng(5).uniform(-1.0, 1.0, (4, 3, 2))
    motion[:, 0] = np.array([1.2, -0.8]) + 0.05 * motion[:, 0]
    full = np.zeros((4, 3, 3))
    full[:, :, 1:], full[:, 0, 0] = motion, 0.75
    np.testing.assert_allclose(own_torques(locked, motion), own_torques(walker, full)[:, 1:], rtol=1e-6)
    full[:, 0, 0] = 0.76
    assert abs(own_torques(locked, motion) - own_torques(walker, full)[:, 1:]).max() > 1e-3


def test_a_loop_that_cannot_close_at_the_lock_is_an_error() -> None:
    walker = load("walker")
    in_loop = walker.coordinates_of(walker.joints_of(walker.loops[0]))
    chosen = next(name for name in walker.actuated if name in in_loop)
    with pytest.raises((ClosureError, RobotError), match="cannot close"):
        lock_joints(walker, {**dict.fromkeys(in_loop, 1.7), chosen: -2.0})


def find_elbows(left: float, right: float) -> dict[str, float]:
    """Return all angles of the five-bar: its tip is where two circles around the elbows meet above the base."""
    l0, l1, l2 = 0.30, 0.25, 0.45
    elbows = [x + l1 * complex(math.cos(q), math.sin(q)) for x, q in ((-l0 / 2, left), (l0 / 2, right))]
    middle, half = (elbows[0] + elbows[1]) / 2, (elbows[1] - elbows[0]) / 2
    tip = middle + 1j * half / abs(half) * math.sqrt(l2**2 - abs(half) ** 2)
    bends = [np.angle((tip - elbow) * np.exp(-1j * q)) for elbow, q in zip(elbows, (left, right), strict=True)]
    return {"left": left, "left_elbow": bends[0], "right": right, "right_elbow": bends[1]}


@pytest.mark.parametrize(
    ("lock", "left"),
    [({"*": None}, 2 * math.pi / 3), ({"*elbow": None, "left": 2.3}, 2.3), ({"left": 2.3, "*": None}, 2.3)],
)
def test_locks_without_a_position_close_the_loops(lock: dict[str, float | None], left: float) -> None:
    """Home is only a first guess for the joints of a loop that are not actuated."""
    locked = lock_joints(load("five-bar"), lock)
    assert locked.actuated == ()
    assert locked.locked == pytest.approx(find_elbows(left, math.pi / 3), abs=1e-8)


def test_the_home_of_a_passive_joint_is_not_where_its_loop_closes() -> None:
    robot = load("five-bar")
    assert dict(robot.home) != pytest.approx(find_elbows(2 * math.pi / 3, math.pi / 3), abs=1e-4)
    with pytest.raises(ClosureError, match=r"cannot close with left = 2.0944, .* locked"):
        lock_joints(robot, dict(robot.home))


def test_toml_locks_joints_of_the_robot_that_it_extends(tmp_path: Path) -> None:
    write_arm(tmp_path, MIMIC)
    path = tmp_path / "arm.toml"
    path.write_text('extends = "arm.urdf"\n[lock]\n"finger*" = 0.03\n')
    assert load(path).theta == pytest.approx(load(tmp_path / "arm.urdf", lock={"finger*": 0.03}).theta)
    path.write_text('extends = "arm.urdf"\n[lock]\nfinger1 = "home"\n')
    assert load(path).actuated == ("q1", "q2")
    path.write_text('extends = "arm.urdf"\n[lock]\nfinger1 = "open"\n')
    with pytest.raises(InputError, match=r"finger1 should be a number in rad or m, .* or 'home', not 'open'"):
        load(path)


def test_a_position_in_toml_may_be_an_expression(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text('extends = "ur10"\n[lock]\nwrist_3_joint = "-pi/2"\nwrist_2_joint = "pi/3"\n')
    expected = {"wrist_3_joint": -1.5707963267948966, "wrist_2_joint": 1.0471975511965976}
    assert load(path).locked == pytest.approx(expected, abs=1e-15)
    assert load(path).theta == pytest.approx(load("ur10", lock=expected).theta, abs=1e-12)
    for text in ("pi/", "tau", "l1", "__import__"):
        path.write_text(f'extends = "lu-two-link"\n[lock]\njoint2 = "{text}"\n')
        with pytest.raises(InputError, match="joint2 should be a number"):
            load(path)
