"""Joints of MJCF files against MuJoCo."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import (
    GEOM,
    TOLERANCE,
    check_agreement,
    check_refused,
    pose_error,
    read_both,
    read_text,
    spring_text,
    world_text,
)
from ytheta.dynamics.kernels import gravity, inverse_dynamics, mass_matrix
from ytheta.errors import RobotError
from ytheta.robot.floating import fix_base
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.reading.load import load

SEVERAL_JOINTS = world_text(
    f"""
    <body name="a" pos="0.1 0.2 0.3" euler="10 20 30">
      <joint name="one" pos="0.3 -0.1 0.2" axis="1 2 3" ref="25" range="-30 60"/>
      <joint name="two" type="slide" pos="1 1 1" axis="0 1 1" ref="0.4" range="-1 2" armature="0.1"/>
      <joint name="three" pos="-0.2 0.5 0.1" axis="3 -1 0.5" ref="-70" damping="0.3" frictionloss="0.2"/>
      {GEOM}
      <body name="b" pos="0 0 1" quat="1 2 3 4"><joint axis="0 1 0" pos="0 0 0.1"/>{GEOM}</body>
      <body pos="0 1 0">{GEOM}</body>
    </body>"""
)


def test_several_joints_in_one_body_move_in_order() -> None:
    robot, model = read_both(SEVERAL_JOINTS)
    check_agreement(robot, model)
    assert [link.name for link in robot.links] == ["world", "a.one", "a.two", "a", "b", "body3"]
    assert [joint.name for joint in robot.joints] == ["one", "two", "three", "b.joint", "body3.fixed"]
    assert robot.link("a.one").inertia.massless
    assert [link.name for link in robot.links if not link.has_inertia] == ["a.one", "a.two"]


def test_swapped_joints_are_detected() -> None:
    robot, model = read_both(SEVERAL_JOINTS)
    swapped = SEVERAL_JOINTS.replace('"one"', '"x"').replace('"three"', '"one"').replace('"x"', '"three"')
    lines = swapped.splitlines()
    lines[2], lines[4] = lines[4], lines[2]
    assert pose_error(read_text("\n".join(lines)), model) > 1e-3
    assert pose_error(robot, model) < TOLERANCE


def test_initial_positions_are_the_home_configuration() -> None:
    robot, model = read_both(SEVERAL_JOINTS)
    assert robot.home_coordinates == pytest.approx(model.qpos0)


@pytest.mark.parametrize("free", ["<freejoint/>", '<joint type="free"/>', '<joint class="floating"/>'])
def test_fix_base_fixes_free_bodies(free: str) -> None:
    top = '<default><default class="floating"><joint type="free"/></default></default>'
    text = world_text(f'<body name="a" pos="1 2 3" euler="40 0 0">{free}{GEOM}<body><joint/>{GEOM}</body></body>', top)
    floating = read_text(text)
    assert floating.floating
    home = dict(floating.home)
    assert [home[name] for name in ("base_x", "base_y", "base_z")] == [1.0, 2.0, 3.0]
    assert home["base_rx"] == pytest.approx(np.radians(40.0), rel=1e-12)
    robot, model = read_both(text, fix_base=True)
    assert pose_error(robot, model) < TOLERANCE
    assert pose_error(fix_base(floating), model) < TOLERANCE
    assert any("free bodies are fixed" in note.text and not note.is_warning for note in robot.findings)


@pytest.mark.parametrize(
    ("compiler", "joint"),
    [
        ("", 'range="-90 45"'),
        ('angle="radian"', 'range="-1 2"'),
        ("", 'range="-90 45" limited="false"'),
        ("", 'range="-90 45" limited="true"'),
        ("", 'range="0 0"'),
        ("", 'type="slide" range="-0.2 0.5"'),
        ('autolimits="false"', 'range="-90 45" limited="true"'),
        ('autolimits="false"', 'type="slide" range="0 1" limited="false"'),
    ],
)
def test_limits(compiler: str, joint: str) -> None:
    check_agreement(*read_both(world_text(f"<body><joint {joint}/>{GEOM}</body>", f"<compiler {compiler}/>")))


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ('<body><joint type="screw"/></body>', "", r"type='screw' is unknown; use one of hinge, slide, ball, free"),
        ('<body><joint axis="0 0 0"/></body>', "", "the axis is zero; give a direction such as 0 0 1"),
        ('<body><joint range="1 2"/></body>', '<compiler autolimits="false"/>', "no 'limited', and autolimits is off"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)


def test_springs_of_mujoco_have_names(tmp_path: Path) -> None:
    (tmp_path / "spring.xml").write_text(
        spring_text(
            '<joint name="j" stiffness="2 0 1"/><joint name="j_spring" axis="1 0 0" stiffness="3" springref="90"/>'
        )
    )
    robot = load(tmp_path / "spring.xml")
    assert [(force.name, force.value) for force in robot.forces] == [
        ("j_spring_2", 2.0),
        ("j_spring3", 1.0),
        ("j_spring_spring", 3.0),
    ]
    assert robot.forces[-1].torque == (("j_spring", f"j_spring - {np.pi / 2!r}"),)
    computed = spring_text('<joint name="j" stiffness="5" springdamper="0.1 1"/>')
    (tmp_path / "spring.xml").write_text(computed)
    assert load(tmp_path / "spring.xml").forces == ()


ARM = f"""<body name="arm"><joint name="j1" axis="0 0 1"/>{GEOM}
    <body name="hand" pos="0.3 0 0"><joint name="j2" axis="0 1 0"/>{GEOM}</body></body>"""
CUBE = f'<body name="cube" pos="1 0 0"><freejoint/>{GEOM}</body>'
DOG = f'<body name="dog"><freejoint/>{GEOM}<body name="leg"><joint name="hip" axis="0 1 0"/>{GEOM}</body></body>'


@pytest.mark.parametrize("content", [ARM + CUBE, CUBE + ARM])
def test_a_free_body_beside_an_arm_is_not_part_of_it(content: str) -> None:
    cube = "1 2 3 1 0 0 0"
    qpos = f"0.2 0.4 {cube}" if content.startswith(ARM) else f"{cube} 0.2 0.4"
    robot, model = read_both(world_text(content, f'<keyframe><key name="home" qpos="{qpos}"/></keyframe>'))
    assert not robot.floating
    assert robot.coordinates == ("j1", "j2")
    np.testing.assert_allclose(robot.home_coordinates, [0.2, 0.4])  # the cube has positions of its own in the keyframe
    assert model.nv == 8
    assert any("beside the robot" in finding.text and "cube" in finding.text for finding in robot.findings)


def test_what_has_joints_is_the_robot() -> None:
    """The twins: a free body alone floats, the one with legs floats beside another, and two robots are refused."""
    assert read_text(world_text(CUBE)).floating
    robot = read_text(world_text(CUBE + DOG))
    assert robot.floating
    assert robot.coordinates[6:] == ("hip",)
    assert read_text(world_text(CUBE + CUBE.replace("cube", "ball"))).floating
    with pytest.raises(RobotError, match=r"several parts move on the world 'world' \('arm', 'dog'\).*--fix-base"):
        read_text(world_text(ARM + DOG))
    assert read_text(world_text(ARM + DOG), fix_base=True).coordinates == ("j1", "j2", "hip")


POT = f"""<body name="pot"><freejoint/>{GEOM}<body name="lid"><joint name="hinge" axis="0 1 0"/>{GEOM}</body></body>"""


def test_a_free_part_that_nothing_drives_is_not_the_robot() -> None:
    """The pot stays where it is; its lid, like a door, is a coordinate. Constraints between pot and arm are ignored."""
    top = '<actuator><motor joint="j1"/></actuator><equality><{} body1="hand" body2="{}" anchor="0 0 0"/></equality>'
    for child in ("pot", "lid"):
        robot = read_text(world_text(ARM + POT, top.format("connect", child)))
        assert not robot.floating
        assert not robot.loops
        assert robot.coordinates == ("j1", "j2", "hinge")
        assert any("beside the robot" in finding.text and "pot" in finding.text for finding in robot.findings)
        assert any("constraints to free bodies beside the robot" in finding.text for finding in robot.findings)


def test_loops_inside_a_free_part_that_nothing_drives_stay() -> None:
    flap = POT.replace(
        "</body></body>", "</body><body name='flap'><joint axis='0 1 0'/><geom size='0.1'/></body></body>"
    )
    top = '<actuator><motor joint="j1"/></actuator><equality><weld body1="lid" body2="flap"/></equality>'
    assert len(read_text(world_text(ARM + flap, top)).loops) == 1


@pytest.mark.parametrize("actuator", ['<motor joint="hinge"/>', '<general site="s"/>', ""])
def test_a_free_part_that_may_be_driven_is_not_left_out(actuator: str) -> None:
    """An actuator of a site may drive the pot, and without actuators nobody knows which part is the robot."""
    content = ARM.replace('<body name="hand"', '<site name="s"/><body name="hand"', 1) + POT
    motor = '<motor joint="j1"/>' if actuator else ""
    with pytest.raises(RobotError, match="several parts move on the world"):
        read_text(world_text(content, f"<actuator>{motor}{actuator}</actuator>"))


def test_forces_and_armature_of_a_floating_base_are_said(tmp_path: Path) -> None:
    """MuJoCo applies them, so its inverse dynamics differ from those of the robot; without them, they agree."""
    text = (
        "<mujoco><default><joint {}/></default><worldbody><body name='a' pos='0 0 1'><joint name='f' type='free'/>"
        "<geom type='box' size='0.1 0.2 0.3'/></body></worldbody></mujoco>"
    )
    path = tmp_path / "free.xml"
    springs = (("stiffness='5'", True), ("springdamper='0.1 1'", True))
    for numbers, warned in (("armature='1'", True), ("damping='2'", True), *springs, ("", False)):
        path.write_text(text.format(numbers))
        robot = load(path, snap=0.0)
        texts = [finding.text for finding in robot.findings if finding.is_warning]
        assert (
            any("damping, friction, springs and rotor inertia of the floating base are ignored: f" in t for t in texts)
            == warned
        )
        model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        data.qvel[:], data.qacc[:] = np.arange(6.0), np.arange(6.0) + 1.0
        data.qpos[0] = 0.2  # away from the rest of the springs
        mujoco.mj_inverse(model, data)
        q = np.array([0.2, 0.0, 1.0, 0.0, 0.0, 0.0])
        rates, rates_of_rates = data.qvel.copy(), data.qacc.copy()
        rates_of_rates[:3] -= np.cross(rates[3:], rates[:3])  # MuJoCo differentiates the velocity in axes of the world
        torques = inverse_dynamics(robot)(q[None], rates[None], rates_of_rates[None])[0]
        agrees = np.allclose(torques, data.qfrc_inverse, atol=1e-9 * np.abs(data.qfrc_inverse).max())
        assert agrees != warned


# Ball joints as three hinges, and home positions with ball joints, against MuJoCo.


BALL = """<mujoco><worldbody><body name="a" pos="0 0 1" euler="10 20 30"><joint name="h" axis="0 1 0"/>{geom}
<body name="b" pos="0.3 0.1 0" euler="30 0 50"><joint name="ball" type="ball" pos="0.05 0 0.1"/>
<geom type="box" size="0.1 0.2 0.3" pos="0.1 0.2 0"/><body name="c" pos="0 0 0.4"><joint name="k"/>{geom}</body>
</body></body></worldbody>{rest}</mujoco>"""
X, Y, Z = np.eye(3)


def make_text(rest: str = "") -> str:
    return BALL.format(geom=GEOM, rest=rest)


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    return np.array(Frame.turn((float(axis[0]), float(axis[1]), float(axis[2])), angle).rotation)


def set_pose(model: mujoco.MjModel, q: np.ndarray) -> tuple[mujoco.MjData, np.ndarray]:
    """MuJoCo at our joint positions, and the map from our velocities to those of MuJoCo, which are in body axes."""
    data = mujoco.MjData(model)
    h, x, y, z, k = q
    rotation = turn(X, x) @ turn(Y, y) @ turn(Z, z)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, rotation.ravel())
    data.qpos = np.concatenate([[h], quaternion, [k]])
    mujoco.mj_forward(model, data)
    E = np.eye(5)
    E[1:4, 1:4] = np.column_stack([turn(Z, z).T @ turn(Y, y).T @ X, turn(Z, z).T @ Y, Z])
    return data, E


@pytest.mark.parametrize("seed", range(3))
def test_a_ball_joint_is_three_hinges(seed: int) -> None:
    robot, model = read_both(make_text())
    assert [joint.name for joint in robot.movable] == ["h", "ball.x", "ball.y", "ball.z", "k"]
    q = np.random.default_rng(seed).uniform(-1.2, 1.2, 5)
    data, E = set_pose(model, q)
    poses = link_poses(robot, q)
    for name in ("a", "b", "c"):
        np.testing.assert_allclose(poses[name][:3, 3], data.body(name).xpos, atol=1e-12)
        np.testing.assert_allclose(poses[name][:3, :3], data.body(name).xmat.reshape(3, 3), atol=1e-12)
    inertia = np.zeros((5, 5))
    mujoco.mj_fullM(model, data, inertia)
    np.testing.assert_allclose(mass_matrix(robot).one(q), E.T @ inertia @ E, atol=1e-10)
    np.testing.assert_allclose(gravity(robot).one(q), E.T @ data.qfrc_bias, atol=1e-10)
    assert abs(mass_matrix(robot).one(q + 1e-4) - E.T @ inertia @ E).max() > 1e-6


def test_home_of_a_ball_joint() -> None:
    q = np.array([0.3, 0.4, -0.7, 0.9, -0.2])
    _, model = read_both(make_text())
    data, _ = set_pose(model, q)
    key = f'<keyframe><key name="home" qpos="{" ".join(repr(float(x)) for x in data.qpos)}"/></keyframe>'
    np.testing.assert_allclose(read_text(make_text(key)).home_coordinates, q, atol=1e-12)
    short = '<keyframe><key name="home" qpos="1 2 3"/></keyframe>'
    assert read_text(make_text(short)).home == ()


@pytest.mark.parametrize("numbers", ['damping="2"', 'stiffness="3"', 'springdamper="0.1 1"'])
def test_what_a_ball_joint_loses_is_said(numbers: str) -> None:
    text = make_text().replace('type="ball"', f'type="ball" {numbers}')
    (note, warning) = sorted(read_text(text).findings, key=lambda finding: finding.is_warning)
    assert note.text == "ball joints become three hinges about x, y and z: ball"
    assert warning.text == "damping, friction, springs and rotor inertia of ball joints are ignored: ball"
