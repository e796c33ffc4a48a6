"""Payloads of simulated arms: Pinocchio and MuJoCo make the torques, and the truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.payload_cases import (
    BODY,
    compute_mujoco_torque,
    compute_pinocchio_torque,
    make_log,
    make_motion,
)
from ytheta.errors import InputError
from ytheta.identification.assessment.verdict import Grade
from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.payload.posterior import CENTER_STD
from ytheta.payload.result import PayloadEstimate
from ytheta.payload.verdict import compute_quantities
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Marker
from ytheta.robot.robot import Robot

TRUTH = compute_quantities(BODY.vector)
NOISE = np.array([1.0, 1.0, 0.7, 0.3, 0.3, 0.2])  # Nm
DRAWS = 8
VISCOUS, COULOMB, OFFSETS = (
    (10.0, 9.0, 6.0, 2.0, 2.0, 1.5),
    (8.0, 8.0, 5.0, 2.0, 1.5, 1.0),
    (0.5, -0.4, 0.3, 0.1, -0.1, 0.05),
)


@pytest.fixture(scope="module")
def arm() -> Robot:
    """The UR10 of the catalog, without friction."""
    return yt.load("ur10")


@pytest.fixture(scope="module")
def true_arm(arm: Robot) -> Robot:
    """An arm whose links differ by 10 % from those of the catalog, with friction."""
    rng = np.random.default_rng(5)
    places = {name: k for k, name in enumerate(arm.actuated)}
    scaled = {link.name: (link.inertia.vector * (1.0 + 0.1 * rng.normal())).tolist() for link in arm.links}
    heavier = arm.with_inertias({name: yt.Inertia(tuple(values)) for name, values in scaled.items()})
    return heavier.with_drives(
        lambda name, drive: replace(
            drive, viscous=VISCOUS[places[name]], coulomb=COULOMB[places[name]], offset=OFFSETS[places[name]]
        )
    )


@pytest.fixture(scope="module")
def exact_log(arm: Robot) -> Log:
    motion = make_motion(6, seed=3)
    return make_log(arm, compute_pinocchio_torque(arm, motion, BODY), motion)


@pytest.fixture(scope="module")
def torques(true_arm: Robot) -> tuple[tuple[np.ndarray, ...], np.ndarray, tuple[np.ndarray, ...], np.ndarray]:
    """Motion and torques without and with the payload, without noise, by MuJoCo."""
    unloaded, loaded = make_motion(6, seed=10, seconds=16.0), make_motion(6, seed=11, seconds=10.0)
    return (
        unloaded,
        compute_mujoco_torque(true_arm, unloaded),
        loaded,
        compute_mujoco_torque(true_arm, loaded, BODY),
    )


@pytest.fixture(scope="module")
def logs(true_arm: Robot, torques: tuple[np.ndarray, ...]) -> tuple[Log, Log]:
    """One log without and one with the payload, both with noise."""
    rng, (unloaded, empty, loaded, full) = np.random.default_rng(1), torques
    return (
        make_log(true_arm, empty + NOISE * rng.normal(size=empty.shape), unloaded, source="empty"),  # type: ignore[arg-type]
        make_log(true_arm, full + NOISE * rng.normal(size=full.shape), loaded, source="full"),  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def fit(arm: Robot, logs: tuple[Log, Log]) -> Identification:
    return yt.identify(arm, logs[0])


def _compute_scores(estimate: PayloadEstimate) -> np.ndarray:
    """Errors in standard deviations."""
    return (estimate.values - TRUTH) / estimate.std


def test_exact_torques_give_the_payload(arm: Robot, exact_log: Log) -> None:
    """What remains are errors of the low-pass and of differences, 1e-5 of the torques."""
    estimate = yt.identify_payload(arm, exact_log, torque_scale=0.0)
    np.testing.assert_allclose(estimate.values, TRUTH, atol=2e-4 * 2.4)
    assert (abs(_compute_scores(estimate)) < 3.0).all()
    assert estimate.after.relative_percent < 1e-3 * estimate.before.relative_percent
    assert estimate.consistent
    assert estimate.verdict.grade is Grade.GOOD
    assert estimate.robot.link("payload").load


def test_twin_a_payload_on_another_link_leaves_torques_unexplained(fit: Identification, logs: tuple[Log, Log]) -> None:
    right, wrong = (
        yt.identify_payload(fit, logs[1], link=link, torque_scale=0.01) for link in (None, fit.robot.links[3].name)
    )
    assert right.verdict.grade is Grade.GOOD
    assert right.noise_ratio == pytest.approx(1.0, abs=0.2)
    assert wrong.verdict.grade is Grade.DOUBTFUL
    assert "times the noise" in wrong.verdict.sentence


def test_standard_deviations_hold_what_they_promise(arm: Robot, true_arm: Robot) -> None:
    """The short log of the model is drawn anew too, so that its errors count. The twin states a third of the std."""
    unloaded, loaded = make_motion(6, seed=10, seconds=6.0), make_motion(6, seed=11, seconds=12.0)
    empty, full = compute_mujoco_torque(true_arm, unloaded), compute_mujoco_torque(true_arm, loaded, BODY)
    drawn = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(100 + seed)
        first = make_log(true_arm, empty + NOISE * rng.normal(size=empty.shape), unloaded)
        second = make_log(true_arm, full + NOISE * rng.normal(size=full.shape), loaded)
        model = yt.identify(arm, first, friction=["viscous", "coulomb", "offset"], rotor_inertia=False)
        estimate = yt.identify_payload(model, second, friction_drift=0.0, torque_scale=0.0)
        drawn.append(_compute_scores(estimate))
    scores = np.abs(drawn)
    # 95 % are expected within two standard deviations; of 80 correlated ones, 85 % are well within chance.
    assert np.mean(scores < 2.0) > 0.85
    assert 0.4 < np.sqrt(np.mean(scores**2)) < 1.4
    assert np.mean(3.0 * scores < 2.0) < 0.85
    exact = yt.identify_payload(model.robot, second, friction_drift=0.0, torque_scale=0.0)  # takes the model for exact
    assert (exact.std[:4] < estimate.std[:4]).all()


def test_a_log_without_payload_corrects_a_model_of_another_day(
    true_arm: Robot, fit: Identification, torques: tuple[np.ndarray, ...]
) -> None:
    """Friction is a third higher than when the model was identified."""
    unloaded, empty, loaded, full = torques
    rng = np.random.default_rng(7)
    rates = [np.array(VISCOUS) * motion[2] + np.array(COULOMB) * np.sign(motion[2]) for motion in (unloaded, loaded)]
    changed = [torque + 0.33 * rate for torque, rate in zip((empty, full), rates, strict=True)]
    new_empty, new_full = (
        make_log(true_arm, torque + NOISE * rng.normal(size=torque.shape), motion)  # type: ignore[arg-type]
        for torque, motion in zip(changed, (unloaded, loaded), strict=True)
    )
    rigid = yt.identify_payload(fit, new_full, friction_drift=0.0)
    drifting = yt.identify_payload(fit, new_full)
    both = yt.identify_payload(fit, new_full, unloaded=new_empty)
    assert both.std[0] < drifting.std[0]
    assert drifting.corrected_percent < 0.7 * rigid.corrected_percent
    assert np.abs(_compute_scores(both)[:4]).max() < 3.0
    assert both.unloaded == ("made",)


def test_a_description_is_identified_from_the_log_without_payload(arm: Robot, logs: tuple[Log, Log]) -> None:
    empty, full = logs
    estimate = yt.identify_payload(arm, full, unloaded=empty)
    assert np.abs(_compute_scores(estimate)).max() < 4.0
    assert estimate.has_covariance
    alone = yt.identify_payload(arm, full)  # the twin: a description with links and friction that are wrong
    assert abs(alone.mass - 2.4) > 10.0 * abs(estimate.mass - 2.4)
    assert not alone.verdict.solved
    assert "identify the robot first" in " ".join(finding.text for finding in alone.findings)


def test_a_known_mass_is_kept_and_compared_with_the_torques(fit: Identification, logs: tuple[Log, Log]) -> None:
    known = yt.identify_payload(fit, logs[1], mass=2.4)
    assert known.mass == pytest.approx(2.4, rel=1e-12)
    assert known.std[0] == 0.0
    assert known.marks[0] is None
    assert (np.abs(known.values - TRUTH)[1:] < 4.0 * known.std[1:]).all()
    assert not [finding for finding in known.findings if finding.code == "mass"]
    wrong = yt.identify_payload(fit, logs[1], mass=3.0)
    (finding,) = [finding for finding in wrong.findings if finding.code == "mass"]
    assert finding.fields["mass"] == pytest.approx(2.4, abs=0.1)


def test_values_are_stated_in_the_frame_that_is_asked_for(arm: Robot, exact_log: Log) -> None:
    tool = Frame((0.1, 0.0, 0.2), ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    robot = replace(arm, markers=(*arm.markers, Marker("tool", arm.links[-1].name, tool)))
    estimate = yt.identify_payload(robot, exact_log, frame="tool")
    plain = yt.identify_payload(robot, exact_log)
    rotation = np.array(tool.rotation, dtype=float)
    np.testing.assert_allclose(estimate.center, rotation.T @ (plain.center - [0.1, 0.0, 0.2]), atol=1e-9)
    np.testing.assert_allclose(estimate.inertia, rotation.T @ plain.inertia @ rotation, atol=1e-9)
    np.testing.assert_allclose(estimate.center_in_link, plain.center, atol=1e-9)
    np.testing.assert_allclose(estimate.std[1:4], plain.std[[2, 1, 3]], rtol=1e-6)  # the axes x and y change places


def test_slow_motion_shows_mass_and_centre_alone(arm: Robot) -> None:
    motion = make_motion(6, seed=3, seconds=40.0, speed=0.04)
    torque = compute_pinocchio_torque(arm, motion, BODY)
    log = make_log(arm, torque + NOISE * np.random.default_rng(0).normal(size=torque.shape), motion)
    estimate = yt.identify_payload(arm, log)
    assert all(mark is Mark.DATA for mark in estimate.marks[:4])
    assert all(mark is Mark.PRIOR for mark in estimate.marks[4:])
    assert np.abs(_compute_scores(estimate)[:4]).max() < 3.0
    assert "compact body" in estimate.verdict.sentence
    assert estimate.verdict.solved


def test_motion_that_shows_no_mass_is_not_exciting(arm: Robot) -> None:
    """Only the first joint moves, slowly and about the vertical."""
    t, q, qd, qdd = make_motion(6, seed=3, speed=0.2)
    moves = np.eye(6)[0]
    motion = (t, q * moves + 0.3 * (1.0 - moves), qd * moves, qdd * moves)
    torque = compute_pinocchio_torque(arm, motion, None)
    log = make_log(arm, torque * moves + 0.5 * np.random.default_rng(0).normal(size=torque.shape) * moves, motion)
    assert not yt.identify_payload(replace(arm), log, min_speed=0.0).verdict.solved


def test_no_payload_is_not_found(fit: Identification, logs: tuple[Log, Log]) -> None:
    estimate = yt.identify_payload(fit, logs[0].select_rows(0, 1600))
    assert abs(estimate.fit.posterior.theta[0]) < 0.1
    assert not estimate.verdict.solved
    assert "no payload is seen" in estimate.verdict.sentence


def test_the_model_with_payload_can_be_exported_and_predicts(
    fit: Identification, logs: tuple[Log, Log], tmp_path: Path
) -> None:
    estimate = yt.identify_payload(fit, logs[1])
    path = estimate.save(tmp_path / "loaded.toml")
    robot = yt.load(path)
    np.testing.assert_allclose(robot.link("payload").inertia.vector, estimate.robot.link("payload").inertia.vector)
    prediction = yt.predict(path, logs[1], cutoff=estimate.cutoff)
    assert prediction.errors is not None
    assert prediction.errors.relative_percent == pytest.approx(estimate.after.relative_percent, rel=0.05)
    options = yt.PayloadOptions(flange=estimate.link)
    (script,) = yt.export(path, to="ur-payload", path=tmp_path / "p.script", options=options)
    number = script.read_text().partition("set_target_payload(")[2].partition(",")[0]
    assert float(number) == pytest.approx(estimate.mass, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mass": -1.0}, "mass is -1; give the mass of the payload in kg"),
        ({"mass": 1e300}, "positive and at most 1e"),
        ({"friction_drift": -0.1}, "friction_drift is -0.1"),
        ({"friction_drift": math.nan}, "friction_drift is nan"),
        ({"friction_drift": 1e300}, "friction_drift is 1e"),
        ({"torque_scale": -0.1}, "torque_scale is -0.1; give a standard deviation relative to the torques"),
        ({"torque_scale": math.inf}, "torque_scale is inf"),
        ({"min_speed": 100.0}, "no joint ever reaches its min_speed"),
        ({"name": " "}, "name is empty"),
        ({"name": "\udcff"}, "not a text that can be printed"),
        ({"link": "nothing"}, "no link or marker 'nothing'"),
        ({"cutoff": -3.0}, "cutoff"),
    ],
)
def test_wrong_arguments_are_refused(arm: Robot, exact_log: Log, arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        yt.identify_payload(arm, exact_log, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loaded", "unloaded", "words"),
    [
        ((1, 1), None, "full is given twice"),
        ((1,), (0, 0), "empty is given twice"),
        ((1,), (0, 1), "full is given both as a log with and as one without the payload"),
        ((), None, "there is no log with the payload"),
    ],
)
def test_a_log_is_given_once(
    fit: Identification, logs: tuple[Log, Log], loaded: tuple[int, ...], unloaded: tuple[int, ...] | None, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        yt.identify_payload(
            fit,
            [replace(logs[k]) for k in loaded],
            unloaded=None if unloaded is None else [replace(logs[k]) for k in unloaded],
        )


def test_logs_with_gaps_or_without_torques_are_refused(arm: Robot, exact_log: Log) -> None:
    assert exact_log.tau is not None
    q = exact_log.q.copy()
    q[5, 2] = np.nan
    with pytest.raises(InputError, match="made: q in row 5 is not a finite number"):
        yt.identify_payload(arm, replace(exact_log, q=q))
    with pytest.raises(InputError, match="made: all torques are zero"):
        yt.identify_payload(arm, replace(exact_log, tau=np.zeros_like(exact_log.tau)))


def test_joints_without_torque_are_left_out(fit: Identification, logs: tuple[Log, Log]) -> None:
    """As if the last joint did not report its torque, which is not the same as a torque of zero."""
    assert logs[1].tau is not None
    estimate = yt.identify_payload(fit, replace(logs[1], tau=logs[1].tau * [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]))
    assert estimate.fit.counts[-1] == 0.0
    assert (estimate.fit.counts[:-1] > 0.0).all()
    assert estimate.verdict.solved
    assert np.abs(_compute_scores(estimate)[:4]).max() < 3.0
    assert "the torque of wrist_3_joint is always zero" in " ".join(finding.text for finding in estimate.findings)


def test_the_mass_of_the_torques_is_as_certain_as_without_a_known_mass(arm: Robot, exact_log: Log) -> None:
    """Errors of the preparation count in both; in a log without noise there are no others."""
    free, known = (yt.identify_payload(arm, exact_log, mass=mass) for mass in (None, 2.4))
    std = [np.sqrt(each.fit.free.theta_covariance[0, 0]) for each in (free, known)]
    assert std[1] == pytest.approx(std[0], rel=0.01)


@pytest.mark.parametrize("mass", [None, 2.4])
def test_a_centre_that_no_data_show_comes_from_the_prior(arm: Robot, exact_log: Log, mass: float | None) -> None:
    """The prior as posterior, if the mass is known to 1 g; the twin has a tenth of its standard deviations."""
    estimate = yt.identify_payload(arm, exact_log, mass=mass)
    posterior = estimate.fit.posterior
    covariance = np.zeros((10, 10))
    covariance[1:, 1:] = np.linalg.inv(posterior.prior.precision[1:, 1:])
    covariance[0, 0] = 0.0 if mass else 1e-6
    prior, twin = (
        replace(estimate, fit=replace(estimate.fit, posterior=replace(posterior, covariance=each)))
        for each in (covariance, 0.01 * covariance)
    )
    assert all(mark is Mark.PRIOR for mark in prior.marks[1:])
    assert all(mark is Mark.DATA for mark in twin.marks[1:])
    assert prior.prior_std[1:4] == pytest.approx([CENTER_STD] * 3)


def test_a_measured_wrench_does_not_count_in_errors_of_all_joints(arm: Robot, exact_log: Log) -> None:
    """Two joints of an arm stand for a wrench; the twin: without a wrench, all of them count."""
    found = yt.identify_payload(arm, exact_log)
    wrench = replace(found, before=replace(found.before, wrench_rows=2))
    expected = 100.0 * np.sqrt(found.fit.residual[2:].sum() / found.before.torque[2:].sum())
    assert wrench.corrected_percent == pytest.approx(expected, rel=1e-12)
    assert found.corrected_percent != pytest.approx(expected, rel=0.01)
    assert wrench.quality.joint_rows.start == 2
    assert found.quality.joint_rows.start == 0
