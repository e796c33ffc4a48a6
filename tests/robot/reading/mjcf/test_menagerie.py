"""Samples of MuJoCo Menagerie: all of them load, and those with meshes agree with MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import TOLERANCE, inertia_error, joint_error, pose_error
from tests.support.paths import SHARED_ROBOTS
from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.reading.load import load

MENAGERIE = SHARED_ROBOTS / "menagerie"
pytestmark = pytest.mark.skipif(not MENAGERIE.is_dir(), reason="samples of Menagerie are not in ../shared/robots")

# Movable joints, actuated coordinates and loops, with a fixed base.
SAMPLES = {
    "agility_cassie/cassie.xml": (26, 16, 4),  # two rods spin about their own axes, and four springs are passive
    "franka_emika_panda/panda.xml": (9, 8, 0),
    "iit_softfoot/scene.xml": (93, 38, 5),
    "ms_human_700/MS-Human-700.xml": (85, 61, 0),
    "robotiq_2f85/2f85.xml": (8, 3, 2),
    "toddlerbot_2xc/toddlerbot_2xc.xml": (44, 32, 4),
    "trs_so_arm100/so_arm100.xml": (6, 6, 0),
    "ufactory_xarm7/xarm7.xml": (13, 8, 2),
    "unitree_go2/go2.xml": (12, 12, 0),
}


@pytest.mark.parametrize("file", SAMPLES)
def test_samples_load(file: str) -> None:
    robot = load(MENAGERIE / file, fix_base=True)
    assert (len(robot.movable), len(robot.actuated), len(robot.loops)) == SAMPLES[file]


def test_the_gripper_does_not_disable_the_arm() -> None:
    robot = load(MENAGERIE / "ufactory_xarm7" / "xarm7.xml")
    assert robot.actuated[:7] == tuple(f"joint{k}" for k in range(1, 8))
    locked = load(MENAGERIE / "ufactory_xarm7" / "xarm7.xml", lock={"*driver*": 0.3})
    assert locked.actuated == robot.actuated[:7]
    assert not locked.loops


def test_loops_close_to_the_digits_of_the_file() -> None:
    robot = load(MENAGERIE / "toddlerbot_2xc" / "toddlerbot_2xc.xml", fix_base=True)
    gap = max(loop.gap for loop in close_loops(robot).or_raise().loops)
    assert CLOSURE_TOLERANCE < gap <= robot.closure_tolerance <= 1e-5


@pytest.mark.parametrize("file", ["robotiq_2f85/2f85.xml", "trs_so_arm100/so_arm100.xml"])
def test_samples_with_meshes_are_those_of_mujoco(file: str) -> None:
    robot, model = load(MENAGERIE / file, snap=0.0), mujoco.MjModel.from_xml_path(str(MENAGERIE / file))
    assert inertia_error(robot, model) < TOLERANCE
    assert pose_error(robot, model) < TOLERANCE
    assert joint_error(robot, model) < TOLERANCE


def test_torques_of_the_gripper_at_rest_are_those_of_mujoco() -> None:
    file = MENAGERIE / "robotiq_2f85" / "2f85.xml"
    robot, model = load(file, snap=0.0), mujoco.MjModel.from_xml_path(str(file))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    home = close_loops(robot).or_raise()
    Q = np.array([home.coordinates[name] for name in robot.actuated]) + np.array([0.1, 0.02, -0.02])

    def close(positions: np.ndarray) -> np.ndarray:
        return close_loops(robot, dict(zip(robot.actuated, positions.tolist(), strict=True))).or_raise().q

    step = 1e-5
    E = np.column_stack([(close(Q + step * e) - close(Q - step * e)) / (2 * step) for e in np.eye(3)])
    data.qpos = close(Q)
    mujoco.mj_inverse(model, data)
    zeros = np.zeros(3)
    own = inverse_dynamics(robot).one(Q, zeros, zeros)
    np.testing.assert_allclose(own, E.T @ data.qfrc_inverse, rtol=1e-5, atol=1e-8)
    assert abs(own - E.T @ (data.qfrc_inverse + 1e-3)).max() > 1e-5
