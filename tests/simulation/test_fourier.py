"""The default reference: limits, rest at both ends, loops, excitation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.loop_robots import make_looped_robot
from ytheta.control.settings import find_controller
from ytheta.control.tuning import suggest_gains
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.errors import ClosureError, InputError
from ytheta.robot.parts import Coupling, Limits
from ytheta.robot.reading.catalog import list_names
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.references import (
    LIMIT_SHARE,
    MAX_CONDITION_RATIO,
    ReferenceTrajectory,
    default_reference,
    sample_reference,
)

CATALOG = tuple(list_names())
MAX_CONDITION_NUMBER = 100.0  # of the scaled columns; identification calls this good


@cache
def load_robot(name: str) -> Robot:
    return ytheta.load(name)


def with_limits(robot: Robot, limits: Limits) -> Robot:
    return replace(robot, joints=tuple(replace(joint, limits=limits) for joint in robot.joints))


def compute_central_differences(
    reference: ReferenceTrajectory, t: np.ndarray, h: float = 1e-4
) -> tuple[np.ndarray, np.ndarray]:
    after, before = reference(t + h), reference(t - h)
    return (after[0] - before[0]) / (2.0 * h), (after[1] - before[1]) / (2.0 * h)


@pytest.mark.parametrize("name", CATALOG)
@pytest.mark.parametrize("seconds", [1.0, 12.0])
def test_it_stays_within_limits_and_returns_to_rest(name: str, seconds: float) -> None:
    robot = load_robot(name)
    reference = default_reference(robot, seconds)
    t = np.linspace(0.0, seconds, 1500)
    samples = sample_reference(reference, robot, t)  # raises an error beyond the limits
    np.testing.assert_array_equal(samples.q[-1], samples.q[0])
    for values in (samples.qd, samples.qdd):
        np.testing.assert_allclose(values[[0, -1]], 0.0, atol=1e-12)
    for k, limit in enumerate(robot.actuated_limits):
        max_speed = 3.0 if limit.velocity == np.inf else limit.velocity
        assert abs(samples.qd[:, k]).max() <= 1.01 * LIMIT_SHARE * max_speed
        if np.isfinite(limit.lower):
            assert samples.q[:, k].min() > limit.lower + 0.09 * (limit.upper - limit.lower)
    inner = t[1:-1]
    for differences, derivative in zip(
        compute_central_differences(reference, inner), reference(inner)[1:], strict=True
    ):
        np.testing.assert_allclose(differences, derivative, rtol=0.0, atol=1e-3 * (1.0 + abs(derivative).max()))
    assert (np.ptp(samples.q, axis=0) > (0.02 if seconds < 2.0 else 0.2)).all()


@pytest.mark.parametrize("name", ["lu-puma4", "walker"])
@pytest.mark.parametrize("seconds", [0.01, 0.1])
def test_a_very_short_reference_stays_within_limits(name: str, seconds: float) -> None:
    robot = load_robot(name)
    _, qd, qdd = default_reference(robot, seconds)(np.linspace(0.0, seconds, 1500))
    for k, limit in enumerate(robot.actuated_limits):
        assert abs(qd[:, k]).max() <= 1.05 * LIMIT_SHARE * min(limit.velocity, 3.0)
        assert 0.0 < abs(qdd[:, k]).max() <= 1.05 * LIMIT_SHARE * min(limit.acceleration, 15.0)


@pytest.mark.parametrize("name", ["walker", "five-bar", "palletiser", "ring", "ball", "slide"])
def test_loops_close_away_from_singular_poses(name: str) -> None:
    robot = make_looped_robot(name)
    Q = default_reference(robot, 8.0)(np.linspace(0.0, 8.0, 2000))[0]
    loops = build_constraint(robot)
    solution, home = solve(loops, Q), solve(loops, loops.home[list(loops.actuated)][None])
    assert solution.determined.all()
    assert solution.condition.max() < 1.1 * MAX_CONDITION_RATIO * home.condition[0]
    assert (np.ptp(Q, axis=0) > 0.005).all()  # small, because the home of the ring is close to a singular pose


def test_joints_and_random_generators_give_different_motions() -> None:
    robot = load_robot("ur10")
    t = np.linspace(0.0, 20.0, 2000)
    q = default_reference(robot, 20.0)(t)[0]
    correlation = np.corrcoef(q.T) - np.eye(6)
    assert abs(correlation).max() < 0.7
    np.testing.assert_array_equal(default_reference(robot, 20.0)(t)[0], q)
    assert abs(default_reference(robot, 20.0, rng=np.random.default_rng(1))(t)[0] - q).max() > 0.5
    half = default_reference(robot, 20.0, scale=0.5)(t)[0]
    np.testing.assert_allclose(half - half[0], 0.5 * (q - q[0]), atol=1e-12)


def test_slow_joints_move_more_slowly_before_they_move_less() -> None:
    robot = with_limits(load_robot("lu-two-link"), Limits(velocity=0.1))
    reference = default_reference(robot, 30.0)
    q, qd, _ = reference(np.linspace(0.0, 30.0, 3000))
    assert abs(qd).max() <= 0.0601
    assert np.ptp(q, axis=0).min() > 0.09  # rad; it would be 0.05 at the usual frequencies
    fast = default_reference(load_robot("lu-two-link"), 30.0)
    assert reference.frequencies.max() < 0.3 * fast.frequencies.max()


def test_a_home_outside_the_limits_is_replaced_by_the_closest_pose_inside() -> None:
    """The limits of panda_joint4 are -3.07 and -0.07, and its home is 0."""
    robot = load_robot("panda")
    reference = default_reference(robot, 10.0)
    q = reference(np.array([-1.0, 0.0, 10.0, 1e6]))[0]
    np.testing.assert_array_equal(q, np.tile(q[0], (4, 1)))
    assert q[0, 3] == pytest.approx(-0.0698 - 0.1 * 3.002)
    assert q[0, 0] == 0.0


def test_passive_joints_stay_within_their_limits() -> None:
    """A coupled joint moves twice as far as the actuated joint, and its limits are ±0.4 rad."""
    robot = load_robot("lu-two-link")
    first, second = (joint.name for joint in robot.movable)
    joints = tuple(
        replace(joint, limits=Limits(-0.4, 0.4)) if joint.name == second else joint for joint in robot.joints
    )
    robot = replace(robot, joints=joints, couplings=(Coupling(second, ((first, 2.0),)),), actuated=())
    q = default_reference(robot, 10.0)(np.linspace(0.0, 10.0, 1000))[0]
    assert q.shape[1] == 1
    assert 0.1 < abs(2.0 * q).max() <= 0.4


@pytest.mark.parametrize(("name", "seconds", "every"), [("puma560", 15.0, 5), ("panda", 10.0, 10)])
def test_its_log_identifies_all_base_parameters(name: str, seconds: float, every: int) -> None:
    robot = load_robot(name)
    reference = default_reference(robot, seconds)
    motion = reference(np.linspace(0.0, seconds, 300))
    law = find_controller("computed-torque")(robot, **suggest_gains("computed-torque", robot, motion=motion))
    loop = ClosedLoop(plant=robot, controller=law)
    q = motion[0][:1]
    log = loop.run(loop.init(q, np.zeros_like(q)), reference, seconds, every=every).log(0)
    has_drives = name == "puma560"
    friction = ("viscous", "coulomb", "offset") if has_drives else ()
    fit = ytheta.identify(robot, log, friction=friction, rotor_inertia=has_drives)
    assert fit.condition_number < MAX_CONDITION_NUMBER
    assert fit.verdict.sentence.startswith("Good")


def test_limits_of_zero_are_placeholders() -> None:
    robot = load_robot("lu-two-link")
    t = np.linspace(0.0, 5.0, 300)
    free = default_reference(robot, 5.0)(t)[0]
    placeholder = with_limits(robot, Limits(velocity=0.0, acceleration=0.0, effort=0.0))
    np.testing.assert_array_equal(sample_reference(default_reference(placeholder, 5.0), placeholder, t).q, free)
    first = robot.actuated[0]
    joints = tuple(replace(j, limits=Limits(0.3, 0.3, velocity=0.0)) if j.name == first else j for j in robot.joints)
    one_fixed = replace(robot, joints=joints)
    q = sample_reference(default_reference(one_fixed, 5.0), one_fixed, t).q
    np.testing.assert_array_equal(q[:, 0], 0.3)
    assert np.ptp(q[:, 1]) > 0.2


def test_invalid_arguments_are_rejected() -> None:
    robot = load_robot("lu-two-link")
    for seconds in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="positive number of seconds"):
            default_reference(robot, seconds)
    for scale in (0.0, 1.5):
        with pytest.raises(InputError, match="above 0, at most 1"):
            default_reference(robot, 5.0, scale=scale)
    with pytest.raises(InputError, match=r"no joint of robot 'lu-two-link' can move: .* 0 … 0, .*<limit>.* reference"):
        default_reference(with_limits(robot, Limits(0.0, 0.0, velocity=0.0, effort=0.0)), 5.0)
    first, second = (joint.name for joint in robot.movable)
    joints = tuple(replace(j, limits=Limits(0.0, 0.0)) if j.name == second else j for j in robot.joints)
    coupled = replace(robot, joints=joints, couplings=(Coupling(second, ((first, 1.0),)),), actuated=())
    with pytest.raises(ClosureError, match="cannot move away from its home"):
        default_reference(coupled, 5.0)


def test_one_time_and_a_seed() -> None:
    robot = ytheta.load("lu-two-link")
    seed, generator, other = (ytheta.default_reference(robot, 1.0, rng=rng) for rng in (3, np.random.default_rng(3), 4))
    for one, many in zip(seed(0.5), generator(np.array([0.5])), strict=True):
        np.testing.assert_array_equal(one, many[0])
    assert abs(seed(0.5)[0] - other(0.5)[0]).max() > 1e-3
    t = np.linspace(0.0, 1.0, 100)
    logged = ytheta.LoggedReference(t, seed(t)[0])
    np.testing.assert_array_equal(logged(0.5)[1], logged(np.array([0.5]))[1][0])
