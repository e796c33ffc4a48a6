"""Lin's own recursion: all groups of joints, force and torque at the end effector, graphs, twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.driven_robots import coupled_robot, driven_robot, evaluate
from tests.support.formulation_cases import fork, load, robot_without_joints, state
from tests.support.lin_chains import agree, build_chain, composite_torque, expected_torque, without_drives
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.formulations.composite_bodies import CompositeBodies, find_composite_bodies
from ytheta.dynamics.formulations.composite_newton_euler import EndEffectorWrench
from ytheta.dynamics.formulations.registry import RECURSIONS
from ytheta.dynamics.graphs import inverse_dynamics_graph
from ytheta.dynamics.vectors import array
from ytheta.native.graph import count_operations
from ytheta.robot.frame import Frame
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.robot.robot import Robot


@settings(max_examples=15)
@given(
    st.text("RP", min_size=1, max_size=6),
    st.sets(st.integers(2, 6)),
    st.sampled_from([(0.0, 0.0, -9.81), (3.0, -2.0, 7.0), (0.0, 0.0, 0.0)]),
)
def test_equals_newton_euler_on_chains_with_parallel_axes(
    kinds: str, parallel: set[int], gravity: tuple[float, ...]
) -> None:
    """The groups i < r, r <= i < s and i >= s of all lengths."""
    robot = build_chain(kinds, parallel=tuple(parallel), gravity=gravity, seed=len(kinds))
    assert agree(composite_torque(robot), expected_torque(robot))


def make_wrench(body: int) -> EndEffectorWrench:
    point, force, torque = np.random.default_rng(5).normal(size=(3, 3))
    return EndEffectorWrench(body, array(point), array(force), array(torque))


def compute_expected_torque(robot: Robot, wrench: EndEffectorWrench, *, sign: float = 1.0) -> np.ndarray:
    """Pinocchio's torque with the wrench as an external force; its sign is that of a force on the robot."""
    table, oracle = to_modified_dh(robot), peer(robot)
    joint = [joint for joint in table.original.joints if joint.moves][wrench.body]
    frames = dict(zip((link.name for link in table.original.links), table.frames, strict=True))
    pose: Frame = joint.seat @ frames[joint.child]
    point, f, t = (np.array(x, dtype=float) for x in (wrench.point, wrench.force, wrench.torque))
    force = pin.SE3(np.array(pose.rotation), pose.matrix[:3, 3]).act(pin.Force(f, t + np.cross(point, f)))
    external = pin.StdVec_Force()
    external.extend([pin.Force.Zero() for _ in range(oracle.model.njoints)])
    external[oracle.model.getJointId(joint.name)] = sign * force
    q, qd, qdd, _ = state(oracle.model.nq)
    return pin.rnea(oracle.model, oracle.model.createData(), q, qd, qdd, external)


@pytest.mark.parametrize(
    "robot",
    [
        *(load(name) for name in ("stanford", "panda", "ha-scara", "tiago_no_hand.urdf")),
        build_chain("PPRPRR", parallel=(5,)),
        build_chain("RPPR"),
        build_chain("PP"),
        fork(),
    ],
    ids=lambda robot: robot.name,
)
def test_force_and_torque_at_the_end_effector(robot: Robot) -> None:
    """f_E and t_E on the last body and on one before it equal external forces of Pinocchio, with the same sign."""
    count = len(robot.merged.movable)
    for body in {count - 1, count // 2}:
        wrench = make_wrench(body)
        tau = composite_torque(robot, wrench=wrench)
        assert agree(tau, compute_expected_torque(robot, wrench))
        assert not agree(tau, compute_expected_torque(robot, wrench, sign=-1.0))


@pytest.mark.parametrize("robot", [load("ha-scara"), build_chain("RPRRP")], ids=lambda robot: robot.name)
def test_end_effector_wrenches_are_wrenches_at_a_frame(robot: Robot) -> None:
    """f_E and t_E in the recursion, and the same wrench as the input ``wrench_at``, which every formulation has."""
    table = to_modified_dh(robot)
    last = table.original.links[-1].name
    frame = table.frames[-1]  # of the last joint, in the frame of the last link
    wrench = make_wrench(len(robot.merged.movable) - 1)
    rotation, origin = np.array(frame.rotation), frame.matrix[:3, 3]
    point, f, t = (rotation @ np.array(x, dtype=float) for x in (wrench.point, wrench.force, wrench.torque))
    at_link = np.concatenate([f, t + np.cross(origin + point, f)])
    q, qd, qdd, _ = state(len(robot.merged.movable))
    robot = without_drives(robot)
    for name in RECURSIONS:
        graph = inverse_dynamics_graph(robot, wrench_at=last, formulation=name)
        tau = evaluate(graph, q, qd, qdd, at_link)
        assert agree(tau, composite_torque(robot, wrench=wrench)), name
        assert not agree(tau, composite_torque(robot)), name


@pytest.mark.parametrize(
    "robot",
    [fork(), robot_without_joints(), driven_robot("ur10"), coupled_robot(), driven_robot("stanford")],
    ids=lambda robot: robot.name,
)
def test_graphs_with_drives_couplings_and_loads(robot: Robot) -> None:
    x, xd, xdd = np.random.default_rng(4).uniform(-1.5, 1.5, (3, len(robot.actuated)))
    standard, composite = (
        inverse_dynamics_graph(robot, formulation=name) for name in ("newton_euler", "composite_newton_euler")
    )
    assert agree(evaluate(composite, x, xd, xdd), evaluate(standard, x, xd, xdd))
    assert (composite.inputs, composite.shape) == (standard.inputs, standard.shape)


def test_needs_more_operations_than_equivalent_bodies_and_fewer_than_newton_euler() -> None:
    """Compiled, without operations that no torque needs; 4 n multiplications of the rotation matrices are included."""
    names = ("minimal_newton_euler", "composite_newton_euler", "newton_euler")
    for robot in (build_chain("RRRRRR"), load("stanford"), load("panda")):
        totals = [count_operations(inverse_dynamics_graph(robot, formulation=name)).total for name in names]
        assert totals == sorted(totals)
        assert len({*totals}) == 3


def test_twins_that_must_fail() -> None:
    robot = build_chain("RPRRPPRR", parallel=(3,))
    right = find_composite_bodies(robot)

    def agrees(arm: CompositeBodies) -> bool:
        return agree(composite_torque(robot, arm=arm), expected_torque(robot))

    def change(i: int, **fields: object) -> CompositeBodies:
        bodies = list(right.bodies)
        bodies[i] = replace(bodies[i], **fields)  # type: ignore[arg-type]
        return replace(right, bodies=tuple(bodies))

    assert agrees(right)
    assert len(right.bodies[3].slides) == 2
    assert not agrees(change(3, slides=()))  # without d_k W_k of (91)
    assert not agrees(change(0, slides=()))  # without 2 kappa_2 d_k of (93)
    assert not agrees(change(1, kappa=(0.0, right.bodies[1].kappa[1])))
    assert not agrees(change(1, kappa=(right.bodies[1].kappa[0], 0.0)))
    assert not agrees(change(5, k=right.bodies[5].k * [1.0, 1.0, 0.0]))
    assert not agrees(change(6, fixed=right.bodies[6].fixed + np.diag([1e-6, 0.0, 0.0])))
    assert not agrees(replace(right, axes=tuple(replace(axis, d=0.0) for axis in right.axes)))
