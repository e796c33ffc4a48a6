"""The reference of those who gave none, and references out of logs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.loop_robots import make_looped_robot
from ytheta.control.laws.registry import find_controller
from ytheta.control.tuning.suggest import suggest_gains
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.solver import solve
from ytheta.errors import ClosureError, InputError
from ytheta.logs.log import Log
from ytheta.robot.catalog import list_names
from ytheta.robot.parts import Coupling, Limits
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.references.fourier import SHARE, SINGULAR, default_reference
from ytheta.simulation.references.from_log import LoggedReference, reference_from_log
from ytheta.simulation.references.reference import ReferenceTrajectory, sample_reference

CATALOG = tuple(list_names())
EXCITING = 100.0  # condition number of scaled columns that identification calls good


@cache
def robot_of(name: str) -> Robot:
    return ytheta.load(name)


def limited(robot: Robot, limits: Limits) -> Robot:
    return replace(robot, joints=tuple(replace(joint, limits=limits) for joint in robot.joints))


def differenced(course: ReferenceTrajectory, t: np.ndarray, h: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    after, before = course(t + h), course(t - h)
    return (after[0] - before[0]) / (2.0 * h), (after[1] - before[1]) / (2.0 * h)


@pytest.mark.parametrize("name", CATALOG)
@pytest.mark.parametrize("seconds", [1.0, 12.0])
def test_it_stays_within_limits_and_comes_back_to_rest(name: str, seconds: float) -> None:
    robot = robot_of(name)
    course = default_reference(robot, seconds)
    t = np.linspace(0.0, seconds, 1500)
    wanted = sample_reference(course, robot, t)  # refuses what leaves the limits
    np.testing.assert_array_equal(wanted.q[-1], wanted.q[0])
    for values in (wanted.qd, wanted.qdd):
        np.testing.assert_allclose(values[[0, -1]], 0.0, atol=1e-12)
    for k, own in enumerate(robot.actuated_limits):
        assert abs(wanted.qd[:, k]).max() <= 1.01 * SHARE * min(own.velocity, 3.0 if own.velocity == np.inf else np.inf)
        if np.isfinite(own.lower):
            assert wanted.q[:, k].min() > own.lower + 0.09 * (own.upper - own.lower)
    inner = t[1:-1]
    for ours, theirs in zip(differenced(course, inner), course(inner)[1:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-3 * (1.0 + abs(theirs).max()))
    assert (np.ptp(wanted.q, axis=0) > (0.02 if seconds < 2.0 else 0.2)).all()


@pytest.mark.parametrize("name", ["walker", "five-bar", "palletiser", "ring", "ball", "slide"])
def test_loops_close_all_the_way_and_away_from_singular_poses(name: str) -> None:
    robot = make_looped_robot(name)
    Q = default_reference(robot, 8.0)(np.linspace(0.0, 8.0, 2000))[0]
    loops = build_constraint(robot)
    found, home = solve(loops, Q), solve(loops, loops.home[list(loops.actuated)][None])
    assert found.determined.all()
    assert found.condition.max() < 1.1 * SINGULAR * home.condition[0]
    assert (np.ptp(Q, axis=0) > 0.005).all()  # the ring's home is next to a singular pose


def test_no_two_joints_move_alike_and_another_generator_moves_otherwise() -> None:
    robot = robot_of("ur10")
    t = np.linspace(0.0, 20.0, 2000)
    q = default_reference(robot, 20.0)(t)[0]
    correlated = np.corrcoef(q.T) - np.eye(6)
    assert abs(correlated).max() < 0.7
    np.testing.assert_array_equal(default_reference(robot, 20.0)(t)[0], q)
    assert abs(default_reference(robot, 20.0, rng=np.random.default_rng(1))(t)[0] - q).max() > 0.5
    half = default_reference(robot, 20.0, size=0.5)(t)[0]
    np.testing.assert_allclose(half - half[0], 0.5 * (q - q[0]), atol=1e-12)


def test_slow_joints_move_slowly_rather_than_hardly() -> None:
    robot = limited(robot_of("lu-two-link"), Limits(velocity=0.1))
    course = default_reference(robot, 30.0)
    q, qd, _ = course(np.linspace(0.0, 30.0, 3000))
    assert abs(qd).max() <= 0.0601
    assert np.ptp(q, axis=0).min() > 0.09  # at the frequencies of others it would be 0.05
    fast = default_reference(robot_of("lu-two-link"), 30.0)
    assert course.frequencies.max() < 0.3 * fast.frequencies.max()


def test_a_home_outside_the_limits_is_left_for_the_nearest_pose_inside() -> None:
    """panda_joint4 goes from -3.07 to -0.07, and its home is 0."""
    robot = robot_of("panda")
    course = default_reference(robot, 10.0)
    q = course(np.array([-1.0, 0.0, 10.0, 1e6]))[0]
    np.testing.assert_array_equal(q, np.tile(q[0], (4, 1)))
    assert q[0, 3] == pytest.approx(-0.0698 - 0.1 * 3.002)
    assert q[0, 0] == 0.0


def test_joints_that_follow_keep_to_their_limits() -> None:
    """A finger that mimics another twice as far, within 0.4 rad."""
    robot = robot_of("lu-two-link")
    first, second = (joint.name for joint in robot.movable)
    tight = tuple(replace(joint, limits=Limits(-0.4, 0.4)) if joint.name == second else joint for joint in robot.joints)
    robot = replace(robot, joints=tight, couplings=(Coupling(second, ((first, 2.0),)),), actuated=())
    q = default_reference(robot, 10.0)(np.linspace(0.0, 10.0, 1000))[0]
    assert q.shape[1] == 1
    assert 0.1 < abs(2.0 * q).max() <= 0.4


@pytest.mark.parametrize(("name", "seconds", "every"), [("ur10", 10.0, 10), ("puma560", 15.0, 5), ("panda", 10.0, 10)])
def test_its_log_shows_all_base_parameters(name: str, seconds: float, every: int) -> None:
    robot = robot_of(name)
    course = default_reference(robot, seconds)
    motion = course(np.linspace(0.0, seconds, 300))
    law = find_controller("computed-torque")(robot, **suggest_gains("computed-torque", robot, motion=motion, period=1e-3))
    loop = ClosedLoop(plant=robot, controller=law)
    q = motion[0][:1]
    log = loop.run(loop.init(q, np.zeros_like(q)), course, seconds, every=every).log(0)
    rubs = name == "puma560"
    fit = ytheta.identify(robot, log, friction=("viscous", "coulomb", "offset") if rubs else (), rotor_inertia=rubs)
    assert fit.condition_number < EXCITING
    assert fit.verdict.sentence.startswith("Good")


def test_limits_of_zero_are_placeholders() -> None:
    robot = robot_of("lu-two-link")
    t = np.linspace(0.0, 5.0, 300)
    free = default_reference(robot, 5.0)(t)[0]
    blank = limited(robot, Limits(velocity=0.0, acceleration=0.0, effort=0.0))
    np.testing.assert_array_equal(sample_reference(default_reference(blank, 5.0), blank, t).q, free)
    first = robot.actuated[0]
    still = tuple(replace(j, limits=Limits(0.3, 0.3, velocity=0.0)) if j.name == first else j for j in robot.joints)
    one = replace(robot, joints=still)
    q = sample_reference(default_reference(one, 5.0), one, t).q
    np.testing.assert_array_equal(q[:, 0], 0.3)
    assert np.ptp(q[:, 1]) > 0.2


def test_refusals() -> None:
    robot = robot_of("lu-two-link")
    for seconds in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="positive number of seconds"):
            default_reference(robot, seconds)
    for size in (0.0, 1.5):
        with pytest.raises(InputError, match="between 0 and 1"):
            default_reference(robot, 5.0, size=size)
    with pytest.raises(InputError, match=r"no joint of robot 'lu-two-link' can move: .* 0 … 0, .*<limit>.* reference"):
        default_reference(limited(robot, Limits(0.0, 0.0, velocity=0.0, effort=0.0)), 5.0)
    first, second = (joint.name for joint in robot.movable)
    stuck = tuple(replace(j, limits=Limits(0.0, 0.0)) if j.name == second else j for j in robot.joints)
    coupled = replace(robot, joints=stuck, couplings=(Coupling(second, ((first, 1.0),)),), actuated=())
    with pytest.raises(ClosureError, match="can hardly leave its home"):
        default_reference(coupled, 5.0)


def test_a_recorded_reference_is_followed() -> None:
    """A log of 1 kHz with the steps of an encoder: positions to a step, accelerations without its noise."""
    robot = robot_of("ur10")
    course = default_reference(robot, 6.0)
    t = 1e-3 * np.arange(6001)
    q, _, _ = course(t)
    count = 2.0 * np.pi / 2**17
    log = Log(robot.actuated, 1e9 + t, count * np.round(q / count), source="run.csv")
    found = reference_from_log(log)
    assert found.seconds == pytest.approx(6.0)
    inner = t[100:-100] + 3e-4
    exact = course(inner)
    sizes = [count, 0.01, 0.5]  # an interpolation would have counts per ms², 48 rad/s²
    for ours, theirs, size in zip(found(inner), exact, sizes, strict=True):
        assert abs(ours - theirs).max() < size
    sample_reference(found, robot, 1e-3 * np.arange(6001))


def test_a_recorded_reference_of_few_samples_is_followed() -> None:
    t = np.sort(np.concatenate([np.linspace(0.0, 5.0, 101), [0.013, 2.221]]))
    found = LoggedReference(t, np.stack([np.sin(t), np.cos(2.0 * t)], axis=1))
    at = np.linspace(0.0, 5.0, 333)
    q, qd, qdd = found(at)
    np.testing.assert_allclose(found(t)[0], found.q, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(q, np.stack([np.sin(at), np.cos(2.0 * at)], axis=1), atol=1e-6)
    np.testing.assert_allclose(qd, np.stack([np.cos(at), -2.0 * np.sin(2.0 * at)], axis=1), atol=1e-4)
    np.testing.assert_allclose(qdd, np.stack([-np.sin(at), -4.0 * np.cos(2.0 * at)], axis=1), atol=2e-2)


def test_knots_of_20_ms_follow_5_hertz() -> None:
    t = 1e-3 * np.arange(2001)
    found = LoggedReference(t, np.sin(2.0 * np.pi * 5.0 * t)[:, None])
    inner = t[200:-200]
    w = 2.0 * np.pi * 5.0
    q, _, qdd = found(inner)
    assert abs(q[:, 0] - np.sin(w * inner)).max() < 1e-5
    assert abs(qdd[:, 0] + w**2 * np.sin(w * inner)).max() < 1e-2 * w**2


def test_few_samples_of_quick_motion_are_interpolated() -> None:
    """Four samples a period: a spline with half as many knots would lose the motion."""
    t = 0.05 * np.arange(101)
    found = LoggedReference(t, np.stack([np.sin(30.0 * t), np.sin(t)], axis=1))
    assert found.apart[0] == 0.0
    assert found.apart[1] == pytest.approx(0.1)
    np.testing.assert_allclose(found(t)[0], found.q, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("samples", [6, 7, 9, 12, 13, 20])
def test_hardly_any_samples_do(samples: int) -> None:
    rng = np.random.default_rng(samples)
    for _ in range(20):
        t = np.cumsum(rng.uniform(0.05, 0.1, samples))
        found = LoggedReference(t, np.sin(t)[:, None])
        np.testing.assert_allclose(found(t - t[0])[0], found.q, rtol=0.0, atol=1e-4)


RECORDINGS = {  # rate in Hz, noise, steps of the encoder in rad
    "slow": (100.0, 1e-4, 0.0),
    "fast": (1000.0, 1e-4, 0.0),
    "steps": (1000.0, 0.0, 1e-3),
    "camera": (30.0, 0.0, 1e-3),
}


@pytest.mark.parametrize("seconds", [3.0, 20.0])
@pytest.mark.parametrize("kind", RECORDINGS)
def test_accelerations_are_those_of_the_motion_and_not_of_noise(kind: str, seconds: float) -> None:
    """Of the peak: knots of 20 ms made 3 to 45 % inside and 1 to 7 times it at the ends."""
    rate, noise, step = RECORDINGS[kind]
    t = np.arange(0.0, seconds + 1e-9, 1.0 / rate)
    q = np.sin(3.0 * t) + noise * np.random.default_rng(0).standard_normal(len(t))
    found = reference_from_log(Log(("joint",), t, (step * np.round(q / step) if step else q)[:, None]))
    at = np.linspace(0.0, found.seconds, 3001)
    q, _, qdd = (values[:, 0] for values in found(at))
    wrong = np.abs(qdd + 9.0 * np.sin(3.0 * at)) / 9.0
    inside = (at > 0.3) & (at < found.seconds - 0.3)
    assert wrong[inside].max() < 0.01
    assert wrong.max() < 0.1
    assert abs(q - np.sin(3.0 * at)).max() < 0.5 * (step or 8.0 * noise)


def test_joints_are_smoothed_each_as_it_moves() -> None:
    """One is still, one slow, one quick for a moment: noise is taken out of all, motion of none."""
    t = 1e-2 * np.arange(3001)
    burst = np.exp(-(((t - 20.0) / 0.3) ** 2)) * np.sin(15.0 * (t - 20.0))
    true = np.stack([0.0 * t, np.sin(t), burst], axis=1)
    found = LoggedReference(t, true + 1e-4 * np.random.default_rng(0).standard_normal(true.shape))
    still, slow, quick = found.apart
    assert still >= slow > quick
    q, _, qdd = found(t)
    assert abs(q - true).max() < 4e-4  # noise has some 4e-4 at its largest
    assert abs(qdd[100:-100, :2] - [0.0, 1.0] * -true[100:-100, :2]).max() < 0.02


def test_what_has_no_noise_is_followed_closely() -> None:
    for rate in (100.0, 1000.0):
        t = np.arange(0.0, 5.0, 1.0 / rate)
        found = LoggedReference(t, np.sin(2.0 * np.pi * t)[:, None])
        at = np.linspace(0.0, t[-1], 999)
        q, _, qdd = (values[:, 0] for values in found(at))
        assert abs(q - np.sin(2.0 * np.pi * at)).max() < 1e-8
        assert abs(qdd + 4.0 * np.pi**2 * np.sin(2.0 * np.pi * at)).max() < 1e-3


def test_what_a_recorded_reference_does_not_say_is_refused() -> None:
    t = np.linspace(0.0, 1.0, 50)
    good = LoggedReference(t, np.sin(t)[:, None], "run.csv")
    for late in (-0.1, 1.1):
        with pytest.raises(InputError, match=r"run\.csv lasts from 0 to 1 s and says nothing of t = "):
            good(np.array([0.5, late]))
    good(np.array([0.0, 1.0 + 1e-9]))
    with pytest.raises(InputError, match="at least 6 instants"):
        LoggedReference(t[:5], np.zeros((5, 1)))
    with pytest.raises(InputError, match="time does not go on after t = 0 s"):
        LoggedReference(np.zeros(9), np.zeros((9, 1)))
    with pytest.raises(InputError, match="not finite"):
        LoggedReference(t, np.full((50, 1), np.nan))
    pieces = Log(("joint",), t, np.zeros((50, 1)), segments=((0, 20), (25, 50)), source="run.csv")
    with pytest.raises(InputError, match="a reference must be of one piece"):
        reference_from_log(pieces)
    robot = limited(robot_of("lu-two-link"), Limits(-1.0, 1.0))
    for size in (1.0 + 1e-6, 1.0 + 5e-4):  # a spline passes a limit that its samples touch
        sample_reference(LoggedReference(t, np.full((50, 2), size)), robot, t)
    with pytest.raises(InputError, match=r"is 1\.0011\d* at t = 0 s, outside its limits -1 … 1; choose"):
        sample_reference(LoggedReference(t, np.full((50, 2), 1.0011)), robot, t)
    robot = robot_of("panda")
    far = LoggedReference(t, np.full((50, 7), 3.0))
    with pytest.raises(InputError, match="outside its limits"):
        sample_reference(far, robot, t)
