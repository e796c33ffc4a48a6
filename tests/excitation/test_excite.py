"""excite: designs of whole trajectories, what they predict, and wrong input."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.design_cases import Floor
from tests.support.pinocchio_peer import peer
from ytheta.errors import InputError, UnknownNameError
from ytheta.excitation.result import DesignFindingCode
from ytheta.excitation.solver import Ending, Progress
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot

# The base of this arm is in its shoulder, so that a floor at its height would leave little room.
SMALL: dict[str, Any] = {"starts": 1, "polished": 1, "floor": None, "self_collision": False}
QUICK: dict[str, Any] = {**SMALL, "seconds": 10.0, "criterion": "plain"}


@cache
def arm() -> Robot:
    """The four-joint arm of Lu and Meng with limits."""
    limits = Limits(-1.5, 1.5, velocity=2.0, acceleration=10.0, effort=60.0, jerk=100.0)
    robot = yt.load("lu-puma4")
    return replace(robot, joints=tuple(replace(joint, limits=limits) for joint in robot.joints))


@cache
def design() -> yt.Excitation:
    return yt.excite(arm(), seconds=10.0, **SMALL)


def test_the_trajectory_keeps_all_limits_and_beats_random_motion() -> None:
    result = design()
    assert result.violations == ()
    assert {use.quantity for use in result.uses} == {"position", "velocity", "acceleration", "jerk", "torque"}
    assert result.design is not None
    assert result.design.statistics.ending is Ending.COMPLETE
    motion = result.trajectory.evaluate(np.arange(0.0, 10.0, 0.01))
    W = yt.regressor(arm(), result.base)(motion.q, motion.qd, motion.qdd).reshape(-1, len(result.base))
    assert result.condition_number == pytest.approx(np.linalg.cond(W), rel=1e-4)
    assert result.scaled_condition_number == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-4)
    reference = yt.default_reference(arm(), 10.0)(np.arange(0.0, 10.0, 0.01))
    random = np.linalg.cond(yt.regressor(arm(), result.base)(*reference).reshape(-1, len(result.base)))
    assert result.condition_number < 0.5 * random
    assert [each.speed for each in result.slowed] == [0.5, 0.25]
    slow = result.trajectory.slow_down(2.0).evaluate(np.arange(0.0, 20.0, 0.02))
    W = yt.regressor(arm(), result.base)(slow.q, slow.qd, slow.qdd).reshape(-1, len(result.base))
    assert result.slowed[0].condition_number == pytest.approx(np.linalg.cond(W), rel=1e-4)
    assert result.slowed[0].condition_number > result.condition_number
    assert "no friction" in result.columns


def test_the_same_seed_gives_the_same_trajectory() -> None:
    first, again = (yt.excite(arm(), threads=threads, **QUICK) for threads in (1, 2))
    other = yt.excite(arm(), rng=1, **QUICK)
    assert (again.trajectory.coefficients == first.trajectory.coefficients).all()
    assert (other.trajectory.coefficients != first.trajectory.coefficients).any()


def test_predicted_deviations_are_those_of_50_noisy_measurements() -> None:
    result = design()
    motion = result.trajectory.evaluate(np.arange(0.0, result.seconds, 1.0 / result.rate))
    oracle = peer(arm())
    tau = np.array([oracle.torque(*rows) for rows in zip(motion.q, motion.qd, motion.qdd, strict=True)])
    weights = 1.0 / result.noise[:, None]
    W = (yt.regressor(arm(), result.base)(motion.q, motion.qd, motion.qdd) * weights).reshape(-1, len(result.base))
    rng = np.random.default_rng(11)
    draws = (tau + result.noise * rng.normal(size=(50, *tau.shape))) / result.noise
    estimates = np.linalg.lstsq(W, draws.reshape(50, -1).T, rcond=None)[0]
    obtained = estimates.std(axis=1, ddof=1)
    assert estimates.mean(axis=1) == pytest.approx(result.base.beta, abs=5.0 * float(obtained.max()) / math.sqrt(50))
    ratio = obtained / result.std
    # The standard deviation of 50 draws is off by 10 %: factors of 1.3 for single parameters, 1.1 for their mean.
    assert np.exp(np.log(ratio).mean()) == pytest.approx(1.0, abs=0.1)
    assert np.mean((ratio > 1 / 1.3) & (ratio < 1.3)) > 0.9
    twice = yt.excite(arm(), noise=2.0, **QUICK)
    assert np.exp(np.log(obtained / twice.std).mean()) < 0.5  # other noise predicts other deviations


def compute_criterion(result: yt.Excitation, criterion: str) -> float:
    """Return the value of a criterion from the regressor, by the formulas of textbooks."""
    motion = result.trajectory.sample_period(1000)
    if criterion == "lin":
        return math.log(yt.assess_persistent_excitation(arm(), motion).condition_number)
    Y = yt.regressor(arm(), result.base)(motion.q, motion.qd, motion.qdd)
    if criterion in ("plain", "scaled"):
        W = Y.reshape(-1, len(result.base))
        return math.log(np.linalg.cond(W if criterion == "plain" else W / np.linalg.norm(W, axis=0)))
    samples = result.seconds * result.rate / len(Y)
    W = (Y / result.noise[:, None]).reshape(-1, len(result.base)) * math.sqrt(samples)
    axes = 1.0 / np.linalg.svd(W, compute_uv=False)  # of the confidence ellipsoid
    means = {"d": np.log(axes).mean(), "a": 0.5 * math.log((axes**2).mean()), "e": math.log(axes.max())}
    return float(means[criterion])


@pytest.mark.parametrize("criterion", ["plain", "scaled", "d", "a", "e", "lin"])
def test_each_criterion_is_best_at_its_own_value(criterion: str) -> None:
    result = yt.excite(arm(), seconds=10.0, criterion=criterion, **SMALL)
    assert result.violations == ()
    assert result.design is not None
    assert result.design.criterion == criterion
    value = compute_criterion(result, criterion)
    assert result.design.value == pytest.approx(value, abs=2e-3)  # the search samples a period ten times as coarsely
    assert value < compute_criterion(design(), criterion) - 0.01


def test_b_splines_and_a_start_pose() -> None:
    start = dict.fromkeys(arm().actuated, 0.2)
    result = yt.excite(arm(), parametrisation="b-spline", start=start, **QUICK)
    assert result.violations == ()
    assert result.trajectory.start == pytest.approx(np.full(4, 0.2), abs=1e-9)
    assert design().trajectory.start != pytest.approx(np.full(4, 0.2), abs=1e-3)
    ends = result.trajectory.evaluate(np.array([0.0, 10.0]))
    assert abs(ends.qd).max() < 1e-9
    assert abs(ends.qdd).max() < 1e-9


def test_friction_columns_on_request() -> None:
    result = yt.excite(arm(), friction=("viscous", "coulomb"), **QUICK)
    assert len(result.base) == len(design().base) + 8
    assert "8 of them friction" in result.columns
    assert np.isfinite(result.std).all()


def test_speed_without_limit() -> None:
    """Coulomb friction is smoothed over a share of the lowest limit that is finite."""
    names = arm().actuated
    for velocity in (math.inf, {**dict.fromkeys(names, math.inf), names[1]: 2.0}):
        result = yt.excite(arm(), friction=("coulomb",), **(QUICK | {"velocity": velocity}))
        assert result.violations == ()
        assert np.isfinite(result.std).all()
        assert abs(result.trajectory.sample_period(1000).qd[:, 0]).max() > 1.9


def test_a_payload_design_reveals_the_load_only() -> None:
    result = yt.excite(arm(), payload=2.0, criterion="plain", **SMALL)
    assert result.seconds == 12.0
    assert {name.partition(".")[0] for name in result.base.independent} == {"load"}
    assert result.robot.link("load").inertia == Inertia.point_mass(2.0, (0.0, 0.0, 0.0))
    motion = result.trajectory.sample_period(2000)
    oracles = peer(result.robot), peer(arm().with_inertias({"load": Inertia()}))
    rows = list(zip(motion.q, motion.qd, motion.qdd, strict=True))
    loaded, empty = (np.array([oracle.torque(*row) for row in rows]) for oracle in oracles)
    assert (abs(loaded).max(axis=0) <= result.bounds.effort).all()
    assert abs(loaded - empty).max() > 1.0


def test_a_load_is_added_at_the_last_link() -> None:
    result = yt.excite(yt.load("panda"), payload=1.0, criterion="d", **SMALL)
    assert result.robot.links[-1].name == "load"
    assert len(result.base) == 10
    assert result.violations == ()


def test_a_design_after_earlier_logs_adds_what_is_weak() -> None:
    robot, t = arm(), np.arange(0.0, 10.0, 0.01)
    rng = np.random.default_rng(2)
    q = np.zeros((len(t), 4))
    q[:, 3] = np.sin(2.0 * t)  # only the last joint moves
    log = yt.Log(t=t, q=q, tau=rng.normal(size=q.shape), joints=robot.actuated)
    result = yt.excite(robot, seconds=10.0, logs=[log], criterion="d", **SMALL)
    assert result.std_before is not None
    assert (result.std <= result.std_before).all()
    weak = next(each for each in result.findings if each.code == DesignFindingCode.WEAK)
    assert set(weak.names) <= set(result.base.names)
    without = yt.excite(robot, seconds=10.0, criterion="d", **SMALL)
    assert without.std_before is None
    assert (result.trajectory.coefficients != without.trajectory.coefficients).any()


def test_an_earlier_log_without_torques_is_no_measurement() -> None:
    t = np.arange(0.0, 10.0, 0.01)
    log = yt.Log(t=t, q=np.sin(np.outer(t, [1.0, 2.0, 3.0, 4.0])), joints=arm().actuated, source="run1.csv")
    with pytest.raises(InputError, match=r"run1\.csv: the log has no torques"):
        yt.excite(arm(), logs=[log], **QUICK)


def test_a_design_after_an_identification_uses_its_covariance() -> None:
    robot, trajectory = arm(), design().trajectory
    t = np.arange(0.0, trajectory.seconds, 0.01)
    motion, oracle = trajectory.evaluate(t), peer(arm())
    rows = zip(motion.q, motion.qd, motion.qdd, strict=True)
    noise = 0.6 * np.random.default_rng(5).normal(size=motion.q.shape)
    tau = np.array([oracle.torque(*row) for row in rows]) + noise
    fit = yt.identify(robot, yt.Log(t=t, q=motion.q, tau=tau, joints=robot.actuated), friction=(), rotor_inertia=False)
    result = yt.excite(robot, model=fit, noise=0.6, criterion="d", seconds=10.0, **SMALL)
    assert result.base.names == fit.names
    assert result.std_before == pytest.approx(fit.std, rel=1e-6)
    assert (result.std < fit.std).all()
    with pytest.raises(InputError, match="an earlier model determines the parameters"):
        yt.excite(robot, model=fit, friction=("viscous",))


def test_progress_and_interruption() -> None:
    seen: list[Progress] = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        if progress.stage == "starts":
            raise KeyboardInterrupt

    result = yt.excite(arm(), seconds=10.0, progress=stop, threads=1, **SMALL)
    assert result.violations == ()
    assert result.design is not None
    assert result.design.statistics.ending is Ending.INTERRUPTED
    assert seen[0].stage == "first trajectory within all limits"
    assert DesignFindingCode.STOPPED in {each.code for each in result.findings}
    assert DesignFindingCode.STOPPED not in {each.code for each in design().findings}


def test_path_constraints_are_kept() -> None:
    floor = Floor(4, 0.9)
    result = yt.excite(arm(), paths=[floor], **QUICK)
    assert result.violations == ()
    assert floor.compute_margins(result.trajectory.sample_period(20000).q).min() >= 0.0
    assert floor.compute_margins(design().trajectory.sample_period(1000).q).min() < 0.0


def test_a_robot_with_loops_keeps_its_limits() -> None:
    result = yt.excite(yt.load("five-bar"), velocity=2.0, effort=20.0, **QUICK)
    assert result.violations == ()
    assert result.trajectory.joints == ("left", "right")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": 0.0}, "seconds is 0; give a positive number"),
        ({"seconds": 10.0, "base_frequency": 0.17}, "are 1.7 periods; .* such as 0.2"),
        ({"harmonics": 1}, "harmonics is 1; give a whole number from 2"),
        ({"effort_margin": 1.0}, "effort_margin is 1; give a share"),
        ({"velocity": -1.0}, "velocity is -1.0; give a positive number"),
        ({"position": {"joint1": (1.0, 1.0)}}, "position limits of 'joint1', 1 and 1, contradict"),
        ({"start": [0.0]}, "one finite position for each of joint1"),
        ({"start": {"joint1": 0.0}}, "start lacks the position of 'joint2'"),
        ({"start": [9.0, 0.0, 0.0, 0.0]}, "does not keep position of joint1"),
        ({"effort": 1e-6}, "contradict each other: no pose keeps all.*torque of"),
        ({"payload": 1.0, "friction": ("viscous",)}, "only its parameters are unknown"),
        ({"noise": 0.0}, "noise of 'joint1' is 0; give a positive"),
        ({"noise": 1e-300}, "noise of 'joint1' is 1e-300; give .* from 1e-09"),
        ({"noise": 1e300}, "noise of 'joint1' is 1e\\+300; give"),
        ({"seconds": 1e-300}, "seconds is 1e-300; give"),
        ({"seconds": 1e300}, "seconds is 1e\\+300; give"),
        ({"base_frequency": 1e300}, "base_frequency is 1e\\+300; give"),
        ({"rate": 1e300}, "rate is 1e\\+300; give"),
        ({"logs": "a.csv"}, "logs is 'a.csv'; give a list of logs"),
        ({"starts": 0}, "starts is 0"),
    ],
)
def test_wrong_values_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        yt.excite(arm(), **(SMALL | options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "ballanced"}, "did you mean 'balanced'"),
        ({"parametrisation": "spline"}, "did you mean 'b-spline'"),
        ({"velocity": {"joint9": 1.0}}, "no actuated joint 'joint9'"),
        ({"noise": {"joint9": 1.0}}, "no joint 'joint9'"),
        ({"start": {"jont1": 0.0}}, "no actuated joint 'jont1'"),
    ],
)
def test_wrong_names_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        yt.excite(arm(), **(SMALL | options))


def test_missing_limits_are_asked_for_by_name() -> None:
    with pytest.raises(InputError, match=r"velocity of joint1, .*velocity=\{'joint1': 1.5, …\}.*effort of joint1, "):
        yt.excite(yt.load("lu-puma4"))
    with pytest.raises(InputError, match="effort of yaw"):
        yt.excite(yt.load("palletiser"))


def test_a_robot_without_unknown_parameters_is_refused() -> None:
    with pytest.raises(InputError, match="every parameter of robot 'lu-puma4' is already known"):
        yt.excite(arm(), parameters=["link1.m"])


def test_the_criterion_of_lin_needs_a_serial_arm() -> None:
    with pytest.raises(InputError, match="needs a serial arm"):
        yt.excite(yt.load("five-bar"), criterion="lin", velocity=2.0, effort=20.0)
