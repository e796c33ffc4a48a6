"""Torques of models without geometry: kernels and model files, against Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.form_cases import torque
from tests.support.unknown_lengths import FRICTION, forget_lengths, make_arm, make_case
from ytheta.errors import InputError, RobotError, UnsetAngleError, UnsetLengthError
from ytheta.files.symbols import Angle
from ytheta.identification.assessment.verdict import Grade
from ytheta.identification.equations.differential import make_torque_kernel
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.fit_findings import find_driving_friction
from ytheta.robot.frame import Frame


def test_torque_of_the_true_parameters() -> None:
    case = make_case("PRR")
    kernel = make_torque_kernel(case.base, case.truth)
    tau = kernel(case.motion.q, case.motion.qd, case.motion.qdd)
    assert case.motion.tau is not None
    np.testing.assert_allclose(tau, case.motion.tau, rtol=1e-9, atol=1e-9)
    wrong = make_torque_kernel(case.base, 1.001 * case.truth)(case.motion.q, case.motion.qd, case.motion.qdd)
    assert abs(wrong - tau).max() > 1e-3


def test_known_drive_parameters_contribute() -> None:
    """Friction that is not estimated keeps the value of the description, which needs no lengths."""
    robot = make_arm("RPR")
    base = yt.model_parameters(robot, friction=("viscous",), unknown_geometry=True)
    assert isinstance(base, yt.Regrouping)
    values = replace(base, robot=robot).values
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 20, 3))
    expected = torque(robot.numeric, q, qd, qdd)
    np.testing.assert_allclose(make_torque_kernel(base, values)(q, qd, qdd), expected, rtol=1e-9, atol=1e-9)
    without = base.with_robot(base.robot.with_drives(lambda _, drive: replace(drive, coulomb=0.0)))
    assert abs(make_torque_kernel(without, values)(q, qd, qdd) - expected).max() > 0.1


def test_model_file(tmp_path: Path) -> None:
    case, robot = make_case("RPR"), forget_lengths(make_arm("RPR"))
    fit = yt.identify(robot, case.make_log(noise=0.1), friction=FRICTION)
    model = yt.read_model(fit.save(tmp_path / "arm.model.toml"))
    assert (model.names, model.noun, model.has_unknown_geometry) == (fit.names, "model parameters", True)
    np.testing.assert_array_equal(model.beta, fit.beta)
    np.testing.assert_array_equal(model.covariance, fit.covariance)
    assert model.table["unknown_lengths"] == ["a2", "a3", "d2", "d3"]
    arrays = case.motion.q, case.motion.qd, case.motion.qdd
    np.testing.assert_allclose(model.inverse_dynamics()(*arrays), fit.inverse_dynamics()(*arrays), rtol=1e-12)
    other = make_case("RPR", seed=1).make_log()
    predictions = [yt.predict(each, other) for each in (fit, model, tmp_path / "arm.model.toml")]
    for prediction in predictions:
        np.testing.assert_array_equal(prediction.predicted, predictions[0].predicted)
        assert prediction.errors is not None
        assert prediction.errors.relative_percent < 0.1
    with pytest.raises(InputError, match="was identified with unknown geometry, and its torques do not depend"):
        yt.predict(tmp_path / "arm.model.toml", other, lengths={"a2": 0.3})
    loaded = yt.load(tmp_path / "arm.model.toml")
    assert all(link.inertia.massless for link in loaded.links)  # with lengths, it must not pass for a complete model
    assert dict(loaded.drives)["joint1"].viscous == fit.beta[fit.names.index("joint1.fv")]


def test_a_file_of_another_robot_is_refused(tmp_path: Path) -> None:
    fit = yt.identify(forget_lengths(make_arm("RPR")), make_case("RPR").make_log())
    path = fit.save(tmp_path / "arm.model.toml")
    path.write_text(path.read_text().replace("joint2.X1", "joint2.X9"))
    with pytest.raises(InputError, match="are not those of its regrouped Lagrangian; identify the robot again"):
        yt.predict(path, make_case("RPR").make_log())


def make_twisted_arm() -> tuple[yt.Robot, yt.Log]:
    """An arm whose twist angle alpha2 has no value, and a log of its motion with alpha2 = 0.7."""
    arm, case = make_arm("RPR"), make_case("RPR")
    turn = Frame.turn((1.0, 0.0, 0.0), Angle("alpha2"))
    joints = tuple(replace(joint, placement=turn) if joint.name == "joint2" else joint for joint in arm.joints)
    robot = replace(arm, joints=joints, angles=(("alpha2", None),)).with_lengths(a2=0.3)
    tau = torque(robot.with_angles(alpha2=0.7).numeric, case.motion.q, case.motion.qd, case.motion.qdd)
    return robot, replace(case.make_log(), tau=tau)


def test_unknown_angles(tmp_path: Path) -> None:
    """A twist angle is unknown: X contains its cosine and sine, and everything else is as with unknown lengths."""
    robot, log = make_twisted_arm()
    fit = yt.identify(robot, log, friction=FRICTION)
    assert fit.base.robot.unset_symbols == ("alpha2",)
    assert any("cos(alpha2)" in expression for expression in fit.base.expressions)
    assert fit.fit.relative_percent < 0.05
    model = yt.read_model(fit.save(tmp_path / "arm.model.toml"))
    assert (model.table["unknown_lengths"], model.table["unknown_angles"]) == ([], ["alpha2"])
    prediction = yt.predict(tmp_path / "arm.model.toml", log)
    np.testing.assert_array_equal(prediction.predicted, yt.predict(fit, log).predicted)
    with pytest.raises(UnsetAngleError, match="need 'alpha2', which has no value; without it, beta"):
        _ = fit.theta
    with pytest.raises(InputError, match="its torques do not depend on lengths and angles; leave them out"):
        yt.predict(tmp_path / "arm.model.toml", log, angles={"alpha2": 0.7})


def test_the_description_predicts_with_a_given_angle(tmp_path: Path) -> None:
    """The twin has another angle."""
    robot, log = make_twisted_arm()
    yt.save_robot(robot, tmp_path / "arm.toml")
    errors = [yt.predict(tmp_path / "arm.toml", log, angles={"alpha2": angle}).errors for angle in (0.7, 0.9)]
    assert errors[0] is not None
    assert errors[1] is not None
    assert errors[0].relative_percent < 0.05 < 1.0 < errors[1].relative_percent


def test_what_needs_geometry_says_so() -> None:
    fit = yt.identify(forget_lengths(make_arm("RPR")), make_case("RPR").make_log())
    with pytest.raises(UnsetLengthError, match="need 'a2', which has no value; without it, beta, inv"):
        _ = fit.theta
    for function in (yt.mass_matrix, yt.forward_dynamics, yt.simulate, yt.gravity):
        with pytest.raises(UnsetLengthError, match=r"so its links have no inertias; for torques, use predict, or inv"):
            function(fit.robot)
    assert fit.inconsistent == {}
    assert fit.consistent is None
    assert fit.to_dict()["consistent"] is None


def test_a_model_without_geometry_is_not_taken_for_a_complete_robot(tmp_path: Path) -> None:
    """Its links have no inertias: lengths cannot be set in any way, and loading and inspecting it say so."""
    fit = yt.identify(forget_lengths(make_arm("RPR")), make_case("RPR").make_log())
    path, lengths = fit.save(tmp_path / "arm.model.toml"), {"a2": 0.3, "a3": 0.2, "d2": 0.1, "d3": 0.1}
    assert "consistent" not in yt.read_model(path).table
    robot = yt.load(path)
    assert [finding.code for finding in robot.findings] == ["geometry"]
    assert yt.inspect(robot).to_dict()["consistent"] is None
    assert "moving mass unknown" in str(yt.inspect(robot))
    assert "physically consistent" not in str(yt.inspect(robot))
    assert "not known: the model was identified without a2, a3, d2, d3" in str(yt.inspect(robot))
    extension, edited, alone = (tmp_path / name for name in ("extension.toml", "edited.toml", "alone.toml"))
    extension.write_text('extends = "arm.model.toml"\n[lengths]\na2 = 0.3\n')
    text = path.read_text()
    for name in lengths:
        text = text.replace(f'{name} = "unset"', f"{name} = 0.3")
    edited.write_text(text)
    assert yt.load(yt.save_robot(fit.robot, alone)) == fit.robot  # also without its identification
    refused = r"'a2'.* cannot be set: robot .* was identified with unknown geometry, so its links have no inertias"
    ways: tuple[Callable[[], yt.Robot], ...] = (
        lambda: fit.robot.with_lengths(**lengths),
        lambda: yt.load(path, lengths=lengths),
        lambda: yt.load(alone, lengths=lengths),
        lambda: yt.load(extension),
        lambda: yt.load(edited),
    )
    for load in ways:
        with pytest.raises(RobotError, match=refused):
            load()
    with pytest.raises(RobotError, match="'alpha2' cannot be set"):
        yt.identify(*make_twisted_arm()).robot.with_angles(alpha2=0.7)


def test_results_contain_the_functions(tmp_path: Path) -> None:
    """Data, model file, page and table name F of every X, and the table the command that prints both."""
    fit = yt.identify(forget_lengths(make_arm("RPR")), make_case("RPR").make_log(), rotor_inertia=True)
    assert isinstance(fit.base, yt.Regrouping)
    expected = [str(function).replace("**", "^").replace("*", "·") for function in fit.base.F[2]]
    names = [f"joint3.X{k}" for k in range(1, len(expected) + 1)]
    in_data, in_file = (
        {row["name"]: row["function"] for row in rows}
        for rows in (fit.to_dict()["parameters"], yt.read_model(fit.save(tmp_path / "arm.toml")).table["parameters"])
    )
    assert [in_data[name] for name in names] == [in_file[name] for name in names] == expected
    assert in_data["joint3.fv"] == in_file["joint3.fv"] == ""
    page = fit.report(tmp_path / "arm.html").read_text("utf-8")
    assert all(f'<td class="expression">{function}</td>' in page for function in expected)
    text = " ".join(str(fit).split())
    assert "ytheta base ROBOT --method ha --unknown-geometry --friction viscous,coulomb,offset --rotor-inertia" in text


def test_negative_masses_and_moments_are_found() -> None:
    """With the signs of all torques reversed, sums of masses and moments are negative; the twin has right torques."""
    log = make_case("RPR").make_log(noise=0.1)
    assert log.tau is not None
    right, wrong = (
        yt.identify(forget_lengths(make_arm("RPR")), replace(log, tau=sign * log.tau)) for sign in (1.0, -1.0)
    )
    assert "negative" not in [finding.code for finding in right.findings]
    finding, friction = (finding for finding in wrong.findings if finding.code == "negative")
    assert friction.names == ("joint1", "joint2", "joint3")
    values = dict(zip(wrong.names, wrong.beta, strict=True))
    expressions = dict(zip(wrong.names, wrong.base.expressions, strict=True))
    masses = [name for name, text in expressions.items() if text in ("link2.m + link3.m", "link3.Izz")]
    assert masses
    assert set(masses) <= set(finding.fields["parameters"])
    for name in finding.fields["parameters"]:
        assert values[name] < 0.0
        assert "mx" not in expressions[name]
    assert "base parameters" not in str(wrong)
    assert "sums of masses or moments of inertia are negative" in finding.statement
    assert "Doubtful: all torques have the wrong sign" in " ".join(str(wrong).split())  # which explains them


def test_a_window_that_is_too_long() -> None:
    log = make_case("RPR").make_log()
    with pytest.raises(InputError, match="no segment is as long as a window of the cumulative form; use a shorter win"):
        yt.identify(forget_lengths(make_arm("RPR")), log, form="cumulative", window=1000.0)
    fit = yt.identify(forget_lengths(make_arm("RPR")), log, form="cumulative")
    assert [finding.text for finding in fit.findings if finding.code == "standard deviations"]


def test_friction_that_drives_is_not_a_good_model() -> None:
    """If all torques have the wrong sign, all parameters have it too, and the error is as small as before."""
    robot, log = forget_lengths(make_arm("RPR")), make_case("RPR").make_log(noise=0.1)
    assert log.tau is not None
    right, wrong = (yt.identify(robot, replace(log, tau=sign * log.tau), friction=FRICTION) for sign in (1.0, -1.0))
    assert wrong.fit.relative_percent == pytest.approx(right.fit.relative_percent, rel=1e-6)
    assert [finding.code for finding in right.findings if finding.code == FitFindingCode.NEGATIVE] == []
    assert right.verdict.grade is Grade.GOOD
    assert wrong.verdict.grade is Grade.DOUBTFUL
    findings = [finding for finding in wrong.findings if finding.code == FitFindingCode.NEGATIVE]
    assert any("drives instead of braking" in finding.text for finding in findings)


def test_only_significant_friction_is_reported() -> None:
    """At rest only Coulomb friction counts; at the highest speed viscous friction may outweigh it."""
    base = make_case("RPR").base
    place = {name: k for k, name in enumerate(base.names)}
    covariance, std = 0.01 * np.eye(len(base.names)), np.full(len(base.names), 0.1)
    speeds = dict.fromkeys(base.robot.moving, 2.0)
    for fc, fv, expected in ((1.0, -0.2, False), (1.0, -1.0, True), (-0.2, 1.0, False), (-0.5, 1.0, True)):
        beta = np.ones(len(base.names))
        beta[[place["joint2.fc"], place["joint2.fv"]]] = fc, fv
        found = list(find_driving_friction(base, beta, covariance, std, speeds))
        assert [finding.names for finding in found] == [("joint2",)] * expected, (fc, fv)
    assert list(find_driving_friction(base, -np.ones(len(std)), covariance, np.full(len(std), np.inf), speeds)) == []
