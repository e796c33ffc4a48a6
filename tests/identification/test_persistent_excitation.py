"""Persistent excitation: the condition numbers of Lin's matrices A_i, for logs, trajectories and arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ytheta as yt
from tests.support.estimation_cases import smooth_motion
from tests.support.known_arm import FRICTION, known_arm
from ytheta.errors import InputError
from ytheta.identification.persistent_excitation import PersistentExcitation

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def stanford() -> yt.Robot:
    return yt.load("stanford")


@pytest.fixture(scope="module")
def motion(stanford: yt.Robot) -> Arrays:
    samples = smooth_motion(len(stanford.actuated), 300)
    return samples.q, samples.qd, samples.qdd


def compute_columns(robot: yt.Robot, motion: Arrays, joint: int) -> np.ndarray:
    """A_i from the regressor: the row of joint i, for the combinations that no outer joint determines."""
    base = yt.base_parameters(robot)
    W = yt.regressor(robot)(*motion)
    owner = [each.link for each in base.combinations]
    # theta per unit of every combination: Y theta is the same for all solutions.
    solutions = np.linalg.pinv(base.combination_matrix)
    return W[:, joint] @ solutions[:, [k for k, link in enumerate(owner) if link == f"link{joint + 1}"]]


def test_condition_numbers_equal_those_of_the_regressor(stanford: yt.Robot, motion: Arrays) -> None:
    """The columns of A_i are the derivatives of tau_i by the combinations of joint i, which the regressor gives too."""
    excitation = yt.assess_persistent_excitation(stanford, motion)
    assert excitation.exciting
    for k, joint in enumerate(excitation.joints):
        A = compute_columns(stanford, motion, k)
        assert joint.rank == len(joint.parameters) == A.shape[1]
        assert joint.unscaled_condition_number == pytest.approx(np.linalg.cond(A), rel=1e-6)
        scaled = np.linalg.cond(A / np.linalg.norm(A, axis=0))
        assert joint.condition_number == pytest.approx(scaled, rel=1e-6)
        halved = A.copy()
        halved[:, 0] *= 0.5  # the twin: another column
        if A.shape[1] > 1:
            assert joint.unscaled_condition_number != pytest.approx(np.linalg.cond(halved), rel=1e-6)


def test_a_joint_that_stands_still_is_not_excited(stanford: yt.Robot, motion: Arrays) -> None:
    """Joints behind a still joint 6 move, but its own combinations have no effect on its torque, or a constant one."""
    q, qd, qdd = (x.copy() for x in motion)
    q[:, 4:], qd[:, 4:], qdd[:, 4:] = 0.3, 0.0, 0.0
    q[:, :3], qd[:, :3], qdd[:, :3] = 0.1, 0.0, 0.0
    excitation = yt.assess_persistent_excitation(stanford, (q, qd, qdd))
    assert not excitation.exciting
    assert excitation.condition_number == np.inf
    last = excitation.joints[-1]
    assert last.rank < len(last.parameters)
    assert excitation.to_dict()["condition_number"] is None
    assert "not persistently exciting" in str(excitation)


def test_the_estimator_reports_the_same_numbers() -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(5), None)
    fit = arm.identify(source, "lin")
    motion = (arm.motion.q, arm.motion.qd, arm.motion.qdd)
    excitation = yt.assess_persistent_excitation(arm.robot, motion, friction=FRICTION)
    expected = {joint.joint: joint.condition_number for joint in excitation.joints}
    numbers = fit.estimate.joint_condition_numbers
    assert numbers is not None
    assert numbers.tolist() == pytest.approx(list(expected.values()), rel=1e-9)
    assert arm.identify(source, "sequential").estimate.joint_condition_numbers is None


def test_the_command_prints_the_numbers() -> None:
    robot = yt.load("lu-two-link")
    log = yt.simulate(robot, seconds=6.0).log()
    fit, other = (yt.identify(robot, log, estimator=name, friction=()) for name in ("lin", "weighted"))
    assert fit.to_dict()["joint_condition_numbers"].keys() == {"joint1", "joint2"}
    assert "condition numbers of the joints' own equations: joint1 " in str(fit)
    assert other.to_dict()["joint_condition_numbers"] is None
    assert "own equations" not in str(other)


def test_logs_references_and_objects(stanford: yt.Robot) -> None:
    simulation = yt.simulate(stanford, seconds=6.0)
    excitation = yt.assess_persistent_excitation(stanford, simulation.log())
    assert isinstance(excitation, PersistentExcitation)
    assert excitation.exciting
    reference = yt.default_reference(stanford, 6.0)
    t = np.linspace(0.0, 6.0, 400)
    q, qd, qdd = reference(t)
    sampled = yt.SampledReference(t, q, qd, qdd)
    assert yt.assess_persistent_excitation(stanford, sampled).to_dict() == (
        yt.assess_persistent_excitation(stanford, (q, qd, qdd)).to_dict()
    )
    as_list = yt.assess_persistent_excitation(stanford, [q, qd, qdd])
    assert as_list.to_dict() == yt.assess_persistent_excitation(stanford, sampled).to_dict()
    json.dumps(excitation.to_dict(), allow_nan=False)
    assert "joint6" in str(excitation)
    assert repr(excitation).startswith("PersistentExcitation(6 joints, condition number ")


def test_wrong_motions_and_robots(stanford: yt.Robot, motion: Arrays) -> None:
    q, qd, qdd = motion
    with pytest.raises(InputError, match=r"motion: qd has the shape \(300, 5\)"):
        yt.assess_persistent_excitation(stanford, (q, qd[:, :5], qdd))
    with pytest.raises(InputError, match="q, qd and qdd have 300, 300, 299 rows; give equal numbers"):
        yt.assess_persistent_excitation(stanford, (q, qd, qdd[1:]))
    with pytest.raises(InputError, match="motion: q is not an array of numbers"):
        yt.assess_persistent_excitation(stanford, ("a", qd, qdd))
    with pytest.raises(InputError, match=r"motion has 2 entries; give \(q, qd, qdd\), or a log"):
        yt.assess_persistent_excitation(stanford, [q, qd])
    with pytest.raises(InputError, match="motion: qdd contains numbers that are not finite"):
        yt.assess_persistent_excitation(stanford, (q, qd, np.full_like(q, np.nan)))
    with pytest.raises(InputError, match=r"need a serial arm: .* has closed loops"):
        yt.assess_persistent_excitation(yt.load("walker"), (q, qd, qdd))
