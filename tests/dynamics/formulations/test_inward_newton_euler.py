"""The inward recursion of lu1993: forces and moments through every joint against Pinocchio, and its matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import ytheta
from tests.support.formulation_cases import fork, link_parameters, load
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from tests.support.states import close, state
from ytheta.dynamics.formulations import inward_newton_euler, lagrange, newton_euler
from ytheta.dynamics.formulations.inward_newton_euler import compute_B, compute_columns, compute_Psi
from ytheta.dynamics.formulations.newton_euler import BodyTwist, to_joint_frame
from ytheta.dynamics.formulations.sixteen import SYMMETRIC_ENTRIES, L, sixteen_parameters
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.dynamics.vectors import skew
from ytheta.robot.robot import Robot


def compute_joint_wrenches(robot: Robot) -> np.ndarray:
    """A tilde theta and Pi tilde theta (77)-(83) of every joint, with the paper's sixteen parameters."""
    mech = build_mechanism(robot)
    theta = [sixteen_parameters(link.inertia) for link in mech.robot.links[1:]]
    columns = compute_columns(mech, numeric_motion(*state(mech.joints)))
    wrenches = np.zeros((mech.joints, 6))
    for body, blocks in zip(mech.bodies, columns, strict=True):
        if body.joint is not None:
            f, n = (sum(block[part] @ theta[link] for link, block in blocks.items()) for part in (0, 1))
            wrenches[body.joint] = np.concatenate(to_joint_frame(body, f, n))
    return wrenches


def equals_pinocchio(robot: Robot) -> bool:
    return close(compute_joint_wrenches(robot), peer(robot).joint_wrenches(*state(len(robot.merged.movable))), 1e-9)


@pytest.mark.parametrize("name", ["panda", "stanford", "lu-two-link", "lu-puma4", "tiago_no_hand.urdf", "fork"])
def test_force_and_moment_through_every_joint(name: str) -> None:
    """Not only the components that the joints feel. Stanford and fork have prismatic joints; two of them hold loads."""
    assert equals_pinocchio(fork() if name == "fork" else load(name))


@settings(max_examples=25)
@given(robots(loops=False, symbols=False))
def test_force_and_moment_in_random_trees(robot: Robot) -> None:
    massless = any(link.inertia.mass == 0.0 and any(link.inertia.parameters[1:4]) for link in robot.merged.links)
    if robot.merged.movable and not massless:  # first moments without mass have no sixteen parameters
        assert equals_pinocchio(robot)


def compute_H_as_printed(twist: BodyTwist) -> np.ndarray:
    """(68) with the norm of the angular acceleration."""
    return skew(twist.wd) + np.outer(twist.w, twist.w) - np.eye(3) * (twist.wd @ twist.wd)


@pytest.mark.parametrize(
    ("place", "name", "wrong"),
    [
        (inward_newton_euler, "skew", lambda p: -skew(p)),  # in (70), (73) and (84)
        (inward_newton_euler, "compute_B", lambda d: -compute_B(d)),
        (inward_newton_euler, "compute_Psi", lambda H: compute_Psi(H.T)),
        (BodyTwist, "H", property(compute_H_as_printed)),
    ],
)
def test_twins_that_must_fail(monkeypatch: pytest.MonkeyPatch, place: object, name: str, wrong: object) -> None:
    monkeypatch.setattr(place, name, wrong)
    assert not equals_pinocchio(load("stanford"))
    assert not equals_pinocchio(fork())


def test_a_load_is_link_n_plus_one() -> None:
    """Every body has the blocks of itself and of all bodies behind it; a load has only its own (78), (80)."""
    mech = build_mechanism(fork())
    trunk, slider, arm, held = compute_columns(mech, numeric_motion(*state(mech.joints)))
    assert [set(blocks) for blocks in (trunk, slider, arm, held)] == [{0, 1, 2, 3}, {1}, {2, 3}, {3}]
    force, moment = held[3]
    assert not force[:, 4:].any()
    assert not moment[:, 0].any()


def test_the_matrices_of_the_appendix() -> None:
    rng = np.random.default_rng(3)
    p, d, H = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    theta_4 = np.array([p[i] * p[j] for i, j in SYMMETRIC_ENTRIES])
    assert close(compute_Psi(H.astype(object)) @ theta_4, np.cross(p, H @ p))  # (113)
    tensor = H + H.T
    theta_3 = np.array([tensor[i, j] if i == j else -tensor[i, j] for i, j in SYMMETRIC_ENTRIES])  # (105)
    assert close(compute_B(d) @ theta_3, tensor @ d)  # (107)


@pytest.mark.parametrize("name", ["panda", "stanford", "lu-two-link"])
def test_sixteen_parameters(name: str) -> None:
    """Y16 = Y10 L, and with theta_16 of every link the same torque; both velocities."""
    mech = build_mechanism(load(name))
    q, qd, qdd = state(mech.joints, seed=8)
    for v in (None, qdd[::-1]):
        motion = numeric_motion(q, qd, qdd, v)
        ten = newton_euler.regressor(mech, motion).astype(float)
        sixteen = inward_newton_euler.regressor_sixteen(mech, motion).astype(float)
        assert close(sixteen, (ten.reshape(-1, len(mech.bodies), 10) @ L).reshape(sixteen.shape))
        theta = np.concatenate([sixteen_parameters(link.inertia) for link in mech.robot.links[1:]])
        assert close(sixteen @ theta, ten @ link_parameters(mech))
        if v is None:
            assert close(sixteen, lagrange.regressor_sixteen(mech, motion))


@pytest.mark.parametrize("name", ["ur10", "stanford"])
def test_operations_are_counted(name: str) -> None:
    """More than with joint axes transformed outward, fewer than by the Lagrangian."""
    counts = ytheta.inspect(load(name)).operations
    axes, inward, closed = (counts[each] for each in ("newton_euler", "inward_newton_euler", "lagrange"))
    for kind in ("multiplications", "additions"):
        assert axes[kind] < inward[kind] < closed[kind]
