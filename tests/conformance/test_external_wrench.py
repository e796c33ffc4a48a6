"""External wrenches: every formulation and method, for all kinds of trees and frames, against Pinocchio's ``fext``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.support import example_robots
from tests.support.driven_robots import coupled_robot, driven_robot, evaluate, expected_torque
from tests.support.formulation_cases import fork, load
from tests.support.pinocchio_peer import Peer, peer, read_urdf
from tests.support.random_robots import robots
from tests.support.states import close, state
from ytheta.dynamics import graphs
from ytheta.dynamics.formulations.registry import FORMULATIONS, RECURSIONS, explain_recursion_refusals
from ytheta.errors import InputError
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

# Frames of links, of links behind fixed joints, of loads and of markers; prismatic joints, branches, couplings, motors.
CASES = (
    ("ur10", "tool0"),
    ("driven panda", "panda_link8"),
    ("stanford", "link6"),
    ("ha-scara", "link4"),
    ("lu-puma4", "load"),
    ("coupled puma560", "link6"),
    ("fork", "load"),
    ("fork", "slider"),
    ("ur10_robot.urdf", "ee_link"),
    ("xarm7.urdf", "link_eef"),
    ("solo12.urdf", "FL_FOOT"),
)
# Methods and formulations of forward dynamics; regressors take seconds to trace, so they are tried with fewer robots.
METHODS = (("composite-body", ""), ("inertia-constants", ""), *(("regressor", name) for name in FORMULATIONS))
FORWARD_CASES = [
    (*case, *method)
    for case in CASES
    for method in METHODS
    if method[0] != "regressor" or case[0] in ("ur10", "stanford", "coupled puma560", "fork")
]
TOLERANCE = 1e-10  # relative to the largest torque
ACCELERATION_TOLERANCE = 1e-8  # mass matrices have condition numbers up to 1e4


@cache
def load_robot(name: str) -> Robot:
    if name == "fork":
        return fork()
    kind, _, model = name.rpartition(" ")
    if kind:
        return driven_robot(model) if kind == "driven" else coupled_robot(model)
    return load(model)


@cache
def load_peer(name: str) -> Peer:
    """Pinocchio's own reading of a URDF if both readers order the joints in the same way."""
    if name in ("ur10_robot.urdf", "xarm7.urdf", "solo12.urdf"):
        return read_urdf(example_robots.urdf(name), load_robot(name))
    return peer(load_robot(name))


@dataclass(frozen=True, eq=False)
class Sample:
    """A motion, a wrench in the axes of a frame, and the same wrench in base axes."""

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray
    wrench: np.ndarray
    in_base: np.ndarray


def draw_sample(robot: Robot, pinocchio: Peer, frame: str, seed: int = 3) -> Sample:
    x, xd, xdd = state(len(robot.actuated), seed)
    wrench = np.random.default_rng(seed).uniform(-20.0, 20.0, 6)
    A, b = robot.coupling_map
    R = pinocchio.rotation(A @ x + b, frame)
    in_base = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    return Sample(x, xd, xdd, wrench, in_base)


def compute_expected(robot: Robot, pinocchio: Peer, s: Sample, frame: str, in_base: np.ndarray) -> np.ndarray:
    """tau by Pinocchio, with the drives by their definition."""
    A, b = robot.coupling_map
    q, qd, qdd = A @ s.x + b, A @ s.xd, A @ s.xdd
    external = pinocchio.torque(q, qd, qdd, {frame: in_base}) - pinocchio.torque(q, qd, qdd)
    return expected_torque(robot, s.x, s.xd, s.xdd) + A.T @ external


@pytest.mark.parametrize("formulation", RECURSIONS)
@pytest.mark.parametrize(("name", "frame"), CASES)
def test_inverse_dynamics(name: str, frame: str, formulation: str) -> None:
    robot, pinocchio = load_robot(name), load_peer(name)
    if explain_recursion_refusals(robot)[formulation] is not None:
        with pytest.raises(InputError, match=f"{formulation} cannot be used"):
            graphs.inverse_dynamics_graph(robot, wrench_at=frame, formulation=formulation)
        return
    s = draw_sample(robot, pinocchio, frame)
    expected = compute_expected(robot, pinocchio, s, frame, s.in_base)
    in_frame, in_base = (
        graphs.inverse_dynamics_graph(robot, wrench_at=frame, wrench_axes=axes, formulation=formulation)
        for axes in ("frame", "base")
    )
    assert close(evaluate(in_frame, s.x, s.xd, s.xdd, s.wrench), expected, TOLERANCE)
    assert close(evaluate(in_base, s.x, s.xd, s.xdd, s.in_base), expected, TOLERANCE)
    assert not close(evaluate(in_base, s.x, s.xd, s.xdd, s.wrench), expected, 1e-3)


@pytest.mark.parametrize(("name", "frame"), CASES)
def test_wrong_wrenches_are_noticed(name: str, frame: str) -> None:
    """The comparison fails for the opposite sign, for a point 1 mm off, and for moment and force exchanged."""
    robot, pinocchio = load_robot(name), load_peer(name)
    s = draw_sample(robot, pinocchio, frame)
    graph = graphs.inverse_dynamics_graph(robot, wrench_at=frame)
    tau = evaluate(graph, s.x, s.xd, s.xdd, s.wrench)
    force, moment = s.in_base[:3], s.in_base[3:]
    shifted = np.concatenate([force, moment + np.cross([1e-3, 1e-3, 1e-3], force)])
    for wrong in (-s.in_base, shifted, np.concatenate([moment, force]), 0 * s.in_base):
        assert not close(tau, compute_expected(robot, pinocchio, s, frame, wrong), 1e-6)


@pytest.mark.parametrize(("name", "frame", "method", "formulation"), FORWARD_CASES)
def test_forward_dynamics(name: str, frame: str, method: str, formulation: str) -> None:
    """qdd from the torques that Pinocchio computes for qdd."""
    robot, pinocchio = load_robot(name), load_peer(name)
    s = draw_sample(robot, pinocchio, frame)
    tau = compute_expected(robot, pinocchio, s, frame, s.in_base)
    graph = graphs.forward_dynamics_graph(robot, wrench_at=frame, method=method, formulation=formulation)
    assert close(evaluate(graph, s.x, s.xd, tau, s.wrench), s.xdd, ACCELERATION_TOLERANCE)
    assert not close(evaluate(graph, s.x, s.xd, tau, -s.wrench), s.xdd, 1e-3)


@pytest.mark.parametrize(
    ("name", "frame"), [("ur10", "tool0"), ("stanford", "link6"), ("fork", "load"), ("solo12.urdf", "HR_FOOT")]
)
def test_rnea_and_aba_of_rigid_links(name: str, frame: str) -> None:
    """Torques and accelerations by Pinocchio's own algorithms, for links without drives."""
    robot, pinocchio = load_robot(name).with_drives(lambda *_: Drive()), load_peer(name)
    s = draw_sample(robot, pinocchio, frame)
    motion = (s.x, s.xd, s.xdd)
    inverse = graphs.inverse_dynamics_graph(robot, wrench_at=frame)
    assert close(evaluate(inverse, *motion, s.wrench), pinocchio.torque(*motion, {frame: s.in_base}), TOLERANCE)
    forward = graphs.forward_dynamics_graph(robot, wrench_at=frame, wrench_axes="base")
    expected = pinocchio.acceleration(*motion, {frame: s.in_base})
    assert close(evaluate(forward, *motion, s.in_base), expected, ACCELERATION_TOLERANCE)
    assert not close(evaluate(forward, *motion, s.in_base), pinocchio.acceleration(*motion), 1e-3)


@settings(max_examples=15)
@given(robots(loops=False, symbols=False))
def test_random_trees(robot: Robot) -> None:
    """The wrench acts at a marker on the last link, which may be a load or a merged link."""
    assume(robot.movable)
    pinocchio, frame = peer(robot), robot.markers[0].name
    s = draw_sample(robot, pinocchio, frame)
    expected = compute_expected(robot, pinocchio, s, frame, s.in_base)
    tau = evaluate(graphs.inverse_dynamics_graph(robot, wrench_at=frame), s.x, s.xd, s.xdd, s.wrench)
    # A different order of summation may lose one digit of sixteen for random placements, axes and gravity.
    assert close(tau, expected, 10 * TOLERANCE)
