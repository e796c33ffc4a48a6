"""Equivalent bodies: no more parameters than base parameters, and the same torques as the constants of the paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.formulation_cases import link_parameters, load, state
from tests.support.lin_chains import (
    agree,
    build_chain,
    expected_torque,
    minimal_torque,
    random_body,
    with_any_inertias,
)
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.formulations import equivalent_bodies
from ytheta.dynamics.formulations.composite_bodies import compute_inertia_constants, compute_joint_frames
from ytheta.dynamics.formulations.equivalent_bodies import EquivalentBodies, find_equivalent_bodies, find_minimal_bodies
from ytheta.dynamics.formulations.joint_axes import RotationKind
from ytheta.dynamics.mechanism import build_mechanism, exact_array
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


def collect_relevant_parameters(arm: EquivalentBodies) -> np.ndarray:
    """All parameters of the bodies that a torque can depend on."""
    values: list[float] = []
    for axis, P, foot_mass in zip(arm.axes, arm.P, arm.foot_masses, strict=True):
        S, k, m = P[:3, :3], P[:3, 3], P[3, 3]
        if axis.rotation is RotationKind.SPATIAL:
            values += [foot_mass, m, *k, *S[np.triu_indices(3)]]
        elif axis.rotation is RotationKind.NONE:
            values += [m]
        elif axis.u is not None:
            across = k - axis.u * (axis.u @ k)
            about_u = [np.trace(S) - axis.u @ S @ axis.u]
            values += [*about_u, *across[:2]] if axis.revolute else [m, across[2], np.cross(axis.u, k)[2]]
            if axis.revolute and not axis.accelerates_across:
                values[-2:] = [0.0, 0.0]
    return np.array(values)


def stack_regressors(robot: Robot) -> np.ndarray:
    oracle, joints = peer(robot), len(robot.merged.movable)
    return np.vstack([oracle.regressor(*state(joints, seed)[:3]) for seed in range(40)])


CHAINS = ("R", "P", "PRR", "RPR", "RRPRRR", "PPR", "RPRP")


@pytest.mark.parametrize("kinds", CHAINS)
def test_chains_have_no_more_parameters_than_base_parameters(kinds: str) -> None:
    robot = build_chain(kinds, gravity=(1.0, 2.0, -9.0))
    rank = np.linalg.matrix_rank(stack_regressors(robot), tol=1e-8)
    assert np.count_nonzero(collect_relevant_parameters(find_minimal_bodies(robot))) == rank
    # The angle of the tip's frame may replace one parameter.
    assert np.count_nonzero(collect_relevant_parameters(find_equivalent_bodies(robot))) <= rank


@pytest.mark.parametrize("name", ["ur10", "panda", "stanford", "ha-scara"])
def test_arms_have_no_more_parameters_than_base_parameters(name: str) -> None:
    robot = with_any_inertias(load(name))
    rank = np.linalg.matrix_rank(stack_regressors(robot), tol=1e-8)
    assert np.count_nonzero(collect_relevant_parameters(find_minimal_bodies(robot))) == rank
    assert np.count_nonzero(collect_relevant_parameters(find_equivalent_bodies(robot))) <= rank


@pytest.mark.parametrize("kinds", ["RRR", "RRPRRR", "PRPRR"])
def test_unidentifiable_changes_of_the_links_change_no_parameter(kinds: str) -> None:
    robot = build_chain(kinds, gravity=(1.0, 2.0, -9.0))
    _, values, V = np.linalg.svd(stack_regressors(robot))
    null_space = V[int((values > 1e-8).sum()) :]
    change = (np.random.default_rng(6).normal(size=len(null_space)) @ null_space).reshape(-1, 10)
    links = [
        replace(x, inertia=Inertia(tuple(x.inertia.vector + c))) for x, c in zip(robot.links[1:], change, strict=True)
    ]
    other = replace(robot, links=(robot.links[0], *links))
    for bodies in (find_minimal_bodies, find_equivalent_bodies):
        np.testing.assert_allclose(
            collect_relevant_parameters(bodies(other)), collect_relevant_parameters(bodies(robot)), rtol=1e-9, atol=1e-9
        )
    changed = replace(
        robot, links=(*robot.links[:-1], replace(robot.links[-1], inertia=random_body(np.random.default_rng(7))))
    )
    assert not np.allclose(
        collect_relevant_parameters(find_minimal_bodies(changed)),
        collect_relevant_parameters(find_minimal_bodies(robot)),
        atol=1e-3,
    )


def build_arm_with_a_short_lever() -> Robot:
    """Three axes, of which the last two are 2 % of the arm apart; the body between them has its mass far out."""
    body = Inertia.about_center(1.0, (0.9, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.3)))
    tip = Inertia.about_center(0.5, (0.1, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.3)))
    quarter_turn = Frame.turn((1.0, 0.0, 0.0), np.pi / 2)
    joints = (
        Joint("q1", JointKind.REVOLUTE, "base", "l1"),
        Joint("q2", JointKind.REVOLUTE, "l1", "l2", Frame.shift(x=1.0) @ quarter_turn),
        Joint("q3", JointKind.REVOLUTE, "l2", "l3", Frame.shift(x=0.02)),
    )
    return Robot("short lever", (Link("base"), Link("l1", body), Link("l2", body), Link("l3", tip)), joints)


def test_no_mass_far_above_that_of_the_links_is_moved_outward(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short lever would need a mass of 50 kg, whose torques cancel almost completely."""
    robot = build_arm_with_a_short_lever()
    total = sum(link.inertia.mass for link in robot.links)

    def find_largest_mass() -> float:
        arm = find_equivalent_bodies(robot)
        return max(abs(mass) for mass in (*arm.foot_masses, *(P[3, 3] for P in arm.P)))

    assert find_largest_mass() <= 10.0 * total
    assert agree(minimal_torque(robot), expected_torque(robot))
    monkeypatch.setattr(equivalent_bodies, "MAX_MASS_RATIO", 1e9)
    assert find_largest_mass() > 10.0 * total  # the twin: without the bound, it is moved


def make_printed_bodies(robot: Robot, sign: float = 1.0) -> EquivalentBodies:
    """The bodies of a chain of revolute joints from k_i and D_i of (38)-(43)."""
    arm = find_minimal_bodies(robot)
    mech = build_mechanism(to_modified_dh(robot).robot)
    constants = compute_inertia_constants(mech, exact_array(link_parameters(mech).tolist()))
    frames = compute_joint_frames(mech)
    bodies: list[np.ndarray] = []
    G = np.zeros((3, 3))
    for i in reversed(range(len(constants))):
        U = constants[i].U.astype(float)
        starred = U + sign * G  # (39)
        D = starred - np.diag([starred[1, 1], starred[1, 1], 0.0])  # (38)
        P = np.zeros((4, 4))
        P[:3, :3] = np.trace(D) / 2 * np.eye(3) - D
        P[:2, 3] = P[3, :2] = constants[i].k[:2].astype(float)
        bodies.insert(0, P)
        R = frames[i][0].astype(float)
        G = R @ np.diag([(starred - U)[1, 1], (starred - U)[1, 1], -U[2, 2]]) @ R.T  # (40)
    return replace(arm, P=tuple(bodies))


@pytest.mark.parametrize("robot", [load("puma560"), load("panda"), build_chain("RRRRRR")], ids=lambda r: r.name)
def test_constants_as_printed(robot: Robot) -> None:
    """k_i and D_i of the paper give the same torques; with the wrong sign of (40) they do not."""
    assert agree(minimal_torque(robot, bodies=make_printed_bodies), expected_torque(robot))
    assert not agree(minimal_torque(robot, bodies=lambda r: make_printed_bodies(r, -1.0)), expected_torque(robot))
