"""Drives that can stick, and the fit of an arm that sticks: dry friction in MuJoCo, motion with rests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta as yt
from tests.support.known_arm import known_arm
from tests.support.sticking_arm import COULOMB, VISCOUS, make_arm, record_log
from ytheta.findings import Severity
from ytheta.identification.equations.friction import find_sticking_rates
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.fit_findings import find_resting_joints
from ytheta.identification.result import Identification

FRICTION = ("viscous", "coulomb")


def test_drives_with_coulomb_friction_stick() -> None:
    robot = make_arm(friction=True)
    np.testing.assert_array_equal(find_sticking_rates(robot, ()), np.eye(2))
    bare = make_arm(friction=False)
    assert find_sticking_rates(bare, ()).shape == (0, 2)
    np.testing.assert_array_equal(find_sticking_rates(bare, ("elbow.fc", "shoulder.fv")), [[0.0, 1.0]])


def test_drives_of_a_robot_with_loops_rest_with_its_coordinates() -> None:
    robot = yt.load("five-bar")
    rubbing = robot.with_drives(lambda _, drive: replace(drive, coulomb=1.0))
    np.testing.assert_array_equal(find_sticking_rates(rubbing, ()), np.eye(len(robot.actuated)))
    smooth = robot.with_drives(lambda _, drive: replace(drive, coulomb=0.0))
    assert not len(find_sticking_rates(smooth, ()))


def identify_arm(min_speed: str | float) -> Identification:
    return yt.identify(
        make_arm(friction=False), record_log(0), validate=record_log(1), friction=FRICTION, min_speed=min_speed
    )


def compare_friction(fit: Identification) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the friction parameters, and their standard deviations."""
    truth = {
        f"{joint}.{kind}": value
        for kind, values in (("fv", VISCOUS), ("fc", COULOMB))
        for joint, value in zip(("shoulder", "elbow"), values, strict=True)
    }
    places = [fit.names.index(name) for name in truth]
    return fit.beta[places] - list(truth.values()), fit.std[places]


def test_friction_of_an_arm_that_sticks_is_found() -> None:
    """With the rule, friction is found within its intervals; without it, errors are ten times larger."""
    fit = identify_arm("auto")
    errors, std = compare_friction(fit)
    assert (abs(errors) < 3.0 * std).all()
    assert (abs(errors) < 0.02 * np.array([*VISCOUS, *COULOMB])).all()
    assert fit.validation is not None
    assert fit.validation.relative_percent < 1.0
    (finding,) = [each for each in fit.findings if each.code == FitFindingCode.REST and "fit" in each.statement]
    assert finding.names == ("shoulder", "elbow")
    # The joints rest for 0.7 of 1.5 s, and 1.5 periods around each rest and most of the stops in between are left out.
    assert (fit.fit.used_share > 0.25).all()
    assert (fit.fit.used_share < 0.55).all()

    twin = identify_arm(0.0)
    twin_errors, _ = compare_friction(twin)
    assert abs(twin_errors)[2:].min() > 5.0 * abs(errors)[2:].max()
    assert twin.fit.relative_percent > 10.0 * fit.fit.relative_percent
    assert (twin.fit.used_share == 1.0).all()
    assert not [each for each in twin.findings if each.code == FitFindingCode.REST]


def test_a_model_is_judged_as_it_was_fitted() -> None:
    fit = identify_arm("auto")
    assert fit.origin.min_speed == "auto"
    again = yt.predict(fit, record_log(1)).errors
    assert again is not None
    assert fit.validation is not None
    np.testing.assert_allclose(again.used_share, fit.validation.used_share)
    all_samples = yt.predict(fit, record_log(1), min_speed=0.0).errors
    assert all_samples is not None
    assert all_samples.relative_percent > 5.0 * again.relative_percent


def test_joints_without_friction_keep_their_equations_at_rest() -> None:
    """If no Coulomb friction is estimated or described, a joint cannot stick."""
    fit = yt.identify(make_arm(friction=False), record_log(0), friction=("viscous",))
    assert (fit.fit.used_share == 1.0).all()


def test_a_joint_that_hardly_moves_in_the_validation_is_not_judged() -> None:
    """The elbow moves in the fit and is stuck in the validation, where its torque is anything: no verdict on it."""
    log = record_log(0)
    fit = yt.identify(make_arm(friction=False), log, friction=FRICTION)
    end = log.t[-1]
    last = log.select_times(end - 0.5, end)  # both joints rest at the last pose
    stuck = yt.Log(
        log.joints,
        log.t,
        np.stack([log.q[:, 0], np.full(len(log), last.q[-1, 1])], axis=1),
        log.tau,
    )
    errors = yt.predict(fit, stuck).errors
    assert errors is not None
    assert errors.used_share[1] == 0.0
    assert errors.judged.tolist() == [True, False]
    (finding,) = find_resting_joints(log.joints, errors, "the log")
    assert finding.severity is Severity.WARNING
    assert finding.fields["stuck"] == ["elbow"]
    assert "elbow hardly ever moves and cannot be judged" in finding.statement
    judged = yt.predict(fit, log).errors
    assert judged is not None
    (note,) = find_resting_joints(log.joints, judged, "the log")
    assert note.severity is Severity.NOTE
    assert note.fields["stuck"] == []


def test_resting_and_slow_equations_are_masked() -> None:
    arm = known_arm()
    assert arm.form.mask(arm.motion) is None
    resting = np.zeros(arm.motion.q.shape, dtype=bool)
    assert arm.form.mask(replace(arm.motion, resting=resting)) is None
    resting[10:50, 1] = True
    motion = replace(arm.motion, resting=resting)
    np.testing.assert_array_equal(arm.form.mask(motion), ~resting.T)
    speeds = np.array([0.3, 0.2])
    both = replace(arm.form, min_speed=speeds).mask(motion)
    np.testing.assert_array_equal(both, (~resting & (abs(motion.qd) >= speeds)).T)
