"""Homogeneous transforms and their derivatives: against Pinocchio and finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from tests.support.formulation_cases import close, fork, load, state
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from ytheta.dynamics.formulations import kronecker
from ytheta.dynamics.mechanism import Mechanism, build_mechanism, numeric_motion
from ytheta.robot.robot import Robot

ROBOTS = ("stanford", "lu-puma4", "iiwa14", "fork", "tiago_no_hand.urdf")


def find(name: str) -> Robot:
    return fork() if name == "fork" else load(name)


def compute(mech: Mechanism, q: np.ndarray) -> list[kronecker.HomogeneousTransform]:
    return kronecker.compute_transforms(mech, numeric_motion(q, 0 * q, 0 * q))


def equals_pinocchio(robot: Robot, q: np.ndarray) -> bool:
    """Whether T of every body behind a joint is Pinocchio's: that of the joint's moved frame, and then the seat."""
    mech, model = build_mechanism(robot), peer(robot).model
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return all(
        close(transform.T, data.oMi[model.getJointId(joint.name)].homogeneous @ joint.seat.matrix)
        for joint, transform in zip(mech.robot.joints, compute(mech, q), strict=True)
        if joint.moves
    )


@pytest.mark.parametrize("name", ROBOTS)
def test_transforms_equal_pinocchio(name: str) -> None:
    q = state(build_mechanism(find(name)).joints)[0]
    assert equals_pinocchio(find(name), q)


def test_a_joint_that_turns_the_wrong_way_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = kronecker.make_generator
    monkeypatch.setattr(kronecker, "make_generator", lambda body: -generator(body))
    for name in ROBOTS:
        assert not equals_pinocchio(find(name), state(build_mechanism(find(name)).joints)[0])


@given(robots(loops=False, symbols=False))
def test_random_trees(robot: Robot) -> None:
    assert equals_pinocchio(robot, state(build_mechanism(robot).joints)[0])


@pytest.mark.parametrize("name", ["fork", "stanford"])
def test_derivatives_equal_differences(name: str) -> None:
    """U and UU by central differences of T and U; zero for joints that are not on the path."""
    mech = build_mechanism(find(name))
    q = state(mech.joints)[0]
    step, zero = 1e-6, np.zeros((4, 4))
    now = compute(mech, q)
    for j in range(mech.joints):
        ahead, behind = (compute(mech, q + sign * step * np.eye(mech.joints)[j]) for sign in (1, -1))
        for link, (body, a, b) in enumerate(zip(now, ahead, behind, strict=True)):
            # The truncation error is step² and the rounding error 1e-16 / step.
            assert close(body.U.get(j, zero), (a.T - b.T) / (2 * step), 1e-8)
            for k in range(mech.joints):
                slope = (a.U.get(k, zero) - b.U.get(k, zero)) / (2 * step)
                pair = (k, j) if (k, j) in body.UU else (j, k)
                assert close(body.UU.get(pair, zero), slope, 1e-8)
                assert (pair in body.UU) == ({j, k} <= {mech.bodies[i].joint for i in mech.path(link)})


@pytest.mark.parametrize("name", ["fork", "stanford"])
def test_the_generator_differentiates_the_transform_of_the_joint(name: str) -> None:
    """A' = P Q M S and A'' = P Q² M S, which is P Q P⁻¹ A and P Q² P⁻¹ A."""
    mech = build_mechanism(find(name))
    q = state(mech.joints)[0]
    for body in mech.bodies:
        A, dA, ddA = (x.astype(float) for x in kronecker.differentiate_joint_transform(body, numeric_motion(q, q, q)))
        P = kronecker.make_homogeneous(body.P, body.p).astype(float)
        if body.joint is None:
            assert not dA.any()
            assert not ddA.any()
            continue
        QA = P @ kronecker.make_generator(body).astype(float) @ np.linalg.inv(P)
        assert close(dA, QA @ A)
        assert close(ddA, QA @ QA @ A)
        assert not close(dA, -QA @ A)
