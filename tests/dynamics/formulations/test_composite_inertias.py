"""Composite bodies as constants and varying parts (lin1995): their inertias and the mass matrix against Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import ytheta
from tests.support.formulation_cases import fork, load
from tests.support.lin_chains import build_chain
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from tests.support.states import close, state
from ytheta.dynamics.formulations import composite_inertias
from ytheta.dynamics.formulations.composite_bodies import CompositeBodies, CompositeBody, find_composite_bodies
from ytheta.dynamics.formulations.composite_inertias import PLACES, compute_inertias, mass_matrix
from ytheta.dynamics.graphs import forward_dynamics_graph
from ytheta.dynamics.mechanism import Motion, numeric_motion
from ytheta.dynamics.operation_counts import count_composite_inertia_operations
from ytheta.native import count_operations
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.robot.robot import Robot

ROBOTS = ("panda", "stanford", "ha-scara", "lu-puma4", "tiago_no_hand.urdf", "baxter.urdf")
CHAINS = ("R", "P", "RPRR", "PPRPR", "RPPR", "RRPRPR")


def load_robot(name: str) -> Robot:
    return build_chain(name) if name in CHAINS else fork() if name == "fork" else load(name)


def rest(arm: CompositeBodies, q: np.ndarray) -> Motion:
    return numeric_motion(q + arm.offsets, 0 * q, 0 * q)


def equals_pinocchio(robot: Robot, change: Callable[[CompositeBody], CompositeBody] = lambda body: body) -> bool:
    """Whether c, J (8), (9) and M are right, with constants that ``change`` may have changed."""
    arm = find_composite_bodies(robot)
    arm = replace(arm, bodies=tuple(change(body) for body in arm.bodies))
    q, _, _ = state(len(arm.axes))
    expected = peer(robot).mass_matrix(q) if len(q) else np.zeros((0, 0))
    return has_right_inertias(robot, arm, q) and close(mass_matrix(arm, rest(arm, q)), expected)


def has_right_inertias(robot: Robot, arm: CompositeBodies, q: np.ndarray) -> bool:
    table = to_modified_dh(robot)
    frames = dict(zip((link.name for link in table.original.links), table.frames, strict=True))
    seats = [(joint.seat @ frames[joint.child]).matrix for joint in table.original.movable]
    oracle = peer(robot).composite_inertias(q)
    for seat, expected, inertia in zip(seats, oracle, compute_inertias(arm, rest(arm, q)), strict=True):
        R, p, m = seat[:3, :3], seat[:3, 3], expected.mass
        lever = R.T @ (expected.lever - p)
        about_origin = R.T @ expected.inertia @ R + m * (lever @ lever * np.eye(3) - np.outer(lever, lever))
        J = inertia.J[np.array(PLACES)]
        if not (close(inertia.c, m * lever) and close(J, about_origin)):
            return False
    return True


@pytest.mark.parametrize("name", [*ROBOTS, *CHAINS, "fork"])
def test_inertias_and_mass_matrix_equal_pinocchio(name: str) -> None:
    assert equals_pinocchio(load_robot(name))


@settings(max_examples=25)
@given(robots(loops=False, symbols=False))
def test_random_trees(robot: Robot) -> None:
    """Branches, loads, prismatic joints anywhere, links without mass."""
    arm = find_composite_bodies(robot)
    q, _, _ = state(len(arm.axes), seed=4)
    if len(q):
        assert close(mass_matrix(arm, rest(arm, q)), peer(robot).mass_matrix(q), 1e-9)


@pytest.mark.parametrize("name", ["RPRR", "fork", "stanford"])
def test_twins_that_must_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = load_robot(name)
    assert not equals_pinocchio(robot, lambda body: replace(body, k=body.k * (1.0 + 1e-6)))
    assert not equals_pinocchio(robot, lambda body: replace(body, U=body.U * (1.0 + 1e-6)))
    shift = composite_inertias._shift
    with monkeypatch.context() as patch:
        patch.setattr(composite_inertias, "_shift", lambda p, c: -shift(p, c))
        assert not equals_pinocchio(robot)
    with monkeypatch.context() as patch:
        patch.setattr(composite_inertias, "compute_displacement", lambda *_: 0)
        assert not equals_pinocchio(robot)


def test_the_mass_matrix_needs_minimal_combinations_only() -> None:
    """Theorem 2: kz, and U11 and U22 together, have no effect behind revolute joints; U11 alone has one."""
    robot = build_chain("RRPRR")
    arm = find_composite_bodies(robot)
    q, _, _ = state(len(arm.axes))
    expected = mass_matrix(arm, rest(arm, q))

    def compute_changed(k: np.ndarray, U: np.ndarray) -> np.ndarray:
        bodies = [
            replace(body, k=body.k + k, U=body.U + U) if axis.revolute else body
            for axis, body in zip(arm.axes, arm.bodies, strict=True)
        ]
        return mass_matrix(replace(arm, bodies=tuple(bodies)), rest(arm, q))

    assert close(compute_changed(np.array([0.0, 0.0, 0.7]), np.diag([0.4, 0.4, 0.0])), expected)
    assert not close(compute_changed(np.zeros(3), np.diag([0.4, 0.0, 0.0])), expected, 1e-3)
    assert not close(compute_changed(np.array([0.7, 0.0, 0.0]), np.zeros((3, 3))), expected, 1e-3)


def test_operations() -> None:
    """By hand. Joint 2 is prismatic; the last body has constants only, and the one before it no l_z.

    c: m d + l 1M1A (prismatic), R 8M4A, + k 3A.
    J of a prismatic joint: terms with d 3M6A, R V Rᵀ by two plane rotations 16M16A, terms with b 3M4A, + U 6A.
    J of a revolute joint: V + U 4A, R V Rᵀ 16M16A, terms with s 9M12A, + U 6A.
    """
    behind_prismatic, behind_revolute, next_to_last, last = count_composite_inertia_operations("RPRR")
    assert (behind_prismatic, behind_revolute) == ({"c": (9, 8), "J": (22, 32)}, {"c": (8, 7), "J": (25, 38)})
    assert next_to_last["c"] == (6, 5)
    assert not last


@pytest.mark.parametrize("name", ["ur10", "stanford", "puma560"])
def test_forward_dynamics_needs_fewer_operations_than_with_composite_bodies(name: str) -> None:
    robot = ytheta.load(name)
    constants, bodies = (
        count_operations(forward_dynamics_graph(robot, method=method)).total
        for method in ("inertia-constants", "composite-body")
    )
    assert constants < bodies
