"""Ball joints as three hinges, and home positions with ball joints, against MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import GEOM, read_both, read_text
from ytheta.dynamics.kernels import gravity, mass_matrix
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses

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
