"""Kernels with external wrenches: loops against MuJoCo's ``xfrc_applied``, power, several frames, wrong arguments."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot
from tests.support.formulation_cases import fork
from tests.support.kernel_calls import draw_samples
from tests.support.loop_motion import close_pose, draw_motion, get_constraint
from tests.support.loop_robots import make_looped_robot
from tests.support.mujoco_peer import Pushed, push
from tests.support.states import close
from ytheta.errors import InputError
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

LOOPS = (("walker", "connector13"), ("five-bar", "tip_point"), ("palletiser", "tool"), ("ball", "c"))
TREES = (("ur10", "tool0"), ("stanford", "link6"), ("ha-scara", "link4"), ("coupled", "link6"))
WRENCH = np.array([12.0, -7.0, 20.0, 3.0, 5.0, -2.0])


def load(name: str) -> Robot:
    if name in ("coupled", "fork"):
        return coupled_robot() if name == "coupled" else fork()
    return make_looped_robot(name) if name in dict(LOOPS) else ytheta.load(name)


def close_joints(name: str, robot: Robot, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Closed coordinates and joint positions at the actuated coordinates Q."""
    x = close_pose(get_constraint(name), Q) if robot.loops else Q
    A, b = robot.coupling_map
    return x, A @ x + b


def solve_constrained(robot: Robot, pushed: Pushed, tau: np.ndarray) -> np.ndarray:
    """Accelerations of the actuated coordinates at rest, from MuJoCo's matrices and Lagrange multipliers."""
    A, _ = robot.coupling_map
    M, J = A.T @ pushed.mass_matrix @ A, pushed.jacobian @ A
    actuated = [robot.coordinates.index(name) for name in robot.actuated]
    right = A.T @ pushed.torque
    right[actuated] += tau
    matrix = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    solution, *_ = np.linalg.lstsq(matrix, np.concatenate([right, np.zeros(len(J))]), rcond=1e-12)
    return solution[: len(M)][actuated]


@pytest.mark.parametrize(("name", "frame"), [*LOOPS, ("fork", "slider"), ("ha-scara", "link4")])
def test_accelerations_by_mujoco(name: str, frame: str) -> None:
    """Links without drives start to move under torques, weight and a wrench; loops, prismatic joints."""
    robot = load(name).with_drives(lambda *_: Drive())
    rng = np.random.default_rng(5)
    Q = draw_motion(name, 1)[0] if robot.loops else rng.uniform(-1.0, 1.0, len(robot.actuated))
    tau, zero = rng.uniform(-5.0, 5.0, len(Q)), 0 * Q
    _, q = close_joints(name, robot, Q)
    expected = solve_constrained(robot.numeric.merged, push(robot, q, frame, WRENCH), tau)
    R = link_poses(robot, q)[frame][:3, :3]
    in_frame = np.concatenate([R.T @ WRENCH[:3], R.T @ WRENCH[3:]])
    forward = ytheta.forward_dynamics(robot, wrench_at=frame, wrench_axes="base", backend="interpreter")
    tolerance = 1e-8  # relative; MuJoCo stores poses as quaternions of doubles
    assert close(forward.one(Q, zero, tau, WRENCH), expected, tolerance)
    inverse = ytheta.inverse_dynamics(robot, wrench_at=frame, backend="interpreter")
    assert close(inverse.one(Q, zero, expected, in_frame), tau, tolerance)
    # The twins: the opposite sign, the force of frame axes in base axes, and a point 1 cm off.
    shifted = np.concatenate([WRENCH[:3], WRENCH[3:] + np.cross([0.01, 0.01, 0.01], WRENCH[:3])])
    for wrong in (-WRENCH, in_frame, shifted):
        if not np.allclose(wrong, WRENCH):
            assert not close(forward.one(Q, zero, tau, wrong), expected, 1e-5)


@pytest.mark.parametrize(("name", "frame"), [*LOOPS, ("slide", "tool"), *TREES])
def test_the_wrench_has_the_power_of_its_velocity(name: str, frame: str) -> None:
    """(tau without wrench - tau with wrench)ᵀ qd = wrenchᵀ twist, with the twist from differences of closed poses."""
    robot = make_looped_robot(name) if name == "slide" else load(name)
    Q, Qd, Qdd = draw_motion(name, 2) if robot.loops else (a[0] for a in draw_samples(robot, 1, seed=2))
    h = 1e-5
    poses = [link_poses(robot, close_joints(name, robot, Q + t * Qd)[1])[frame] for t in (-h, 0.0, h)]
    rate, R = (poses[2] - poses[0]) / (2 * h), poses[1][:3, :3]
    spin = rate[:3, :3] @ R.T
    twist = np.array([*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
    external = ytheta.inverse_dynamics(robot, wrench_at=frame, wrench_axes="base", backend="interpreter")
    tau = external.one(Q, Qd, Qdd, 0 * WRENCH) - external.one(Q, Qd, Qdd, WRENCH)
    assert tau @ Qd == pytest.approx(WRENCH @ twist, rel=1e-6)
    assert tau @ Qd != pytest.approx(np.concatenate([WRENCH[3:], WRENCH[:3]]) @ twist, rel=1e-3)
    J = ytheta.jacobian(robot, frame, axes="base", backend="interpreter").one(Q)
    assert close(J @ Qd, twist, 1e-7)
    assert close(J.T @ WRENCH, tau)


@pytest.mark.parametrize(("name", "frame"), [("five-bar", "tip_point"), ("ur10", "tool0")])
def test_machine_code_inverts_itself(name: str, frame: str) -> None:
    """Forward dynamics of inverse dynamics is qdd, by machine code, in batches, with drives and loops."""
    robot = load(name)
    q, qd, qdd = draw_samples(robot, 9, seed=4)
    wrench = np.random.default_rng(0).uniform(-10.0, 10.0, (9, 6))
    inverse, forward = ytheta.inverse_dynamics(robot, wrench_at=frame), ytheta.forward_dynamics(robot, wrench_at=frame)
    tau = inverse(q, qd, qdd, wrench)
    reference = ytheta.inverse_dynamics(robot, wrench_at=frame, backend="interpreter")
    assert close(tau, reference(q, qd, qdd, wrench), 1e-11)
    assert close(forward(q, qd, tau, wrench), qdd, 1e-8)
    assert not close(forward(q, qd, tau, 0 * wrench), qdd, 1e-2)
    assert close(ytheta.bias(robot, wrench_at=frame)(q, qd, wrench), inverse(q, qd, 0 * qdd, wrench))


def test_several_frames_add_up() -> None:
    robot = ytheta.load("ur10")
    q, qd, qdd = draw_samples(robot, 3)
    tool, elbow = np.random.default_rng(1).uniform(-9.0, 9.0, (2, 3, 6))
    plain = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    both = ytheta.inverse_dynamics(robot, wrench_at=["tool0", "forearm_link"])
    assert [entry.name for entry in both.graph.inputs[3:]] == ["wrench at tool0", "wrench at forearm_link"]
    parts = [ytheta.inverse_dynamics(robot, wrench_at=frame)(q, qd, qdd, w) - plain
             for frame, w in (("tool0", tool), ("forearm_link", elbow))]  # fmt: skip
    assert close(both(q, qd, qdd, tool, elbow), plain + parts[0] + parts[1])
    assert not close(both(q, qd, qdd, elbow, tool), plain + parts[0] + parts[1], 1e-3)


def test_theta_is_the_last_argument() -> None:
    robot = ytheta.load("stanford")
    q, qd, qdd = draw_samples(robot, 3)
    wrench = np.random.default_rng(1).uniform(-9.0, 9.0, (3, 6))
    kernel = ytheta.inverse_dynamics(robot, wrench_at="link6", theta_input=True)
    expected = ytheta.inverse_dynamics(robot, wrench_at="link6")(q, qd, qdd, wrench)
    assert close(kernel(q, qd, qdd, wrench, robot.theta), expected)


def test_wrong_frames_axes_and_shapes_are_explained() -> None:
    robot = ytheta.load("ur10")
    q, qd, qdd = draw_samples(robot, 2)
    with pytest.raises(InputError, match="robot 'ur10' has no link or marker 'tool'; did you mean 'tool0'"):
        ytheta.inverse_dynamics(robot, wrench_at="tool")
    with pytest.raises(InputError, match="wrench_at names 'tool0' more than once; add up"):
        ytheta.forward_dynamics(robot, wrench_at=("tool0", "tool0"))
    with pytest.raises(InputError, match="wrench_axes is 'world'; choose from: base, frame"):
        ytheta.bias(robot, wrench_at="tool0", wrench_axes="world")
    for make in (ytheta.inverse_dynamics, ytheta.forward_dynamics, ytheta.bias):
        with pytest.raises(InputError, match="wrench_axes is 'base', but no wrench acts; give wrench_at"):
            make(robot, wrench_axes="base")
    with pytest.raises(InputError, match="axes is 'local'; choose from: base, frame"):
        ytheta.jacobian(robot, "tool0", axes="local")
    kernel = ytheta.inverse_dynamics(robot, wrench_at="tool0")
    with pytest.raises(InputError, match=r"input 'wrench at tool0' has shape \(2, 3\), but needs \(samples, 6\)"):
        kernel(q, qd, qdd, np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"takes 4 arrays \(q, qd, qdd, wrench at tool0\), not 3"):
        kernel(q, qd, qdd)
