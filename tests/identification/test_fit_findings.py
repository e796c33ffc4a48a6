"""Findings about bodies: the guard against missing loads, masses, descriptions without inertias, bounded friction."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.wrong_descriptions import Case, simulate_case
from ytheta.findings import Finding
from ytheta.identification.assessment.verdict import Grade
from ytheta.identification.consistency import solver
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import ConsistencyCost
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.fit_findings import find_body_findings, find_other_robot
from ytheta.identification.model_table import summarize_prior
from ytheta.robot.inertia import Inertia

LOADED = "wrist_3_link"
STRONG = 20.0  # a prior that trusts the description to 5 %


def list_findings(fit: yt.Identification, code: FitFindingCode) -> list[Finding]:
    return [finding for finding in fit.findings if finding.code == code]


@cache
def simulate_loaded() -> Case:
    return simulate_case("ur10", 0, missing_load=LOADED)


@cache
def identify_case(name: str, seed: int = 0) -> yt.Identification:
    """The model of a case without a missing load, which several tests compare with."""
    case = simulate_case(name, seed)
    return yt.identify(case.description, case.fit)


def list_link_factors(fit: yt.Identification) -> dict[str, float]:
    """The logarithm by which each link's own scale has grown."""
    posterior = fit.estimate.posterior
    assert posterior is not None
    changes = {each.name: h - each.mean for each, h in zip(posterior.prior.hyper, posterior.hyper, strict=True)}
    return {name.removeprefix("link "): h for name, h in changes.items() if name.startswith("link ")}


@pytest.mark.parametrize("link", [LOADED, "forearm_link"])
def test_a_missing_load_releases_its_link(link: str) -> None:
    case = simulate_case("ur10", 0, missing_load=link)
    fit = yt.identify(case.description, case.fit, validate=case.validation)
    factors = list_link_factors(fit)
    assert max(factors, key=lambda name: factors[name]) == link
    assert factors[link] > 1.0
    others = [factor for name, factor in factors.items() if name != link]
    assert max(others) < 0.5  # the other links are trusted as before
    assert summarize_prior(fit)["relative_deviation"] < 0.4  # type: ignore[index]
    without_load = list_link_factors(identify_case("ur10"))
    assert without_load[link] < factors[link] - 0.5  # the twin
    # The link is free, so that the prior costs nothing: least squares is not better.
    plain = yt.identify(case.description, case.fit, validate=case.validation, estimator="weighted")
    assert fit.validation is not None
    assert plain.validation is not None
    assert fit.validation.relative_percent < 1.05 * plain.validation.relative_percent


def test_a_prior_that_cannot_let_go_names_the_link_and_a_load_mends_it() -> None:
    case = simulate_loaded()
    options = {"validate": case.validation, "prior_strength": STRONG, "rotor_inertia": False}
    fit = yt.identify(case.description, case.fit, **options)  # type: ignore[arg-type]
    (finding,) = list_findings(fit, FitFindingCode.CONSISTENCY)
    assert LOADED in finding.names
    assert finding.is_warning
    assert "the description may lack something there" in finding.statement
    assert "--add-load" in finding.remedy
    mended = yt.identify(case.description, case.fit, add_load=(LOADED,), **options)  # type: ignore[arg-type]
    assert list_findings(mended, FitFindingCode.CONSISTENCY) == []
    mass = mended.robot.link(f"{LOADED}_load").inertia.mass
    true_mass = case.truth.link(LOADED).inertia.mass - case.description.link(LOADED).inertia.mass
    assert mass == pytest.approx(true_mass, rel=0.1)
    assert case.compute_model_error(mended.robot) < 0.2 * case.compute_model_error(fit.robot)


def test_the_cost_of_bounds_names_them() -> None:
    case = simulate_case("lu-two-link", 0)
    box = ((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))  # what link 2 weighs too much, link 1 cannot balance
    bounds = BodyBounds(mass={"link1": (0.0, 5.0), "link2": (50.0, 100.0)}, center={"link1": box})
    fit = yt.identify(case.description, case.fit, bounds=bounds)
    (finding,) = list_findings(fit, FitFindingCode.CONSISTENCY)
    assert fit.consistency_cost is not None
    assert fit.consistency_cost.ratio > 1.1
    assert finding.fields["bodies_percent"] == fit.consistency_cost.bodies_percent
    assert list_findings(identify_case("lu-two-link"), FitFindingCode.CONSISTENCY) == []


def test_a_solver_that_stops_early_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    case = simulate_case("lu-two-link", 0)
    bounds = BodyBounds(mass={"link2": (0.0, 0.2)})  # without it, the estimate is consistent and nothing is solved
    fit = yt.identify(case.description, case.fit, bounds=bounds)
    monkeypatch.setattr(solver, "MAX_ITERATIONS", 2)
    stopped = yt.identify(case.description, case.fit, bounds=bounds)
    text = "the solver stopped before it found"
    assert any(text in each.statement for each in list_findings(stopped, FitFindingCode.CONSISTENCY))
    assert not any(text in each.statement for each in list_findings(fit, FitFindingCode.CONSISTENCY))  # the twin
    assert stopped.consistent
    assert stopped.consistency_cost is not None
    assert stopped.consistency_cost.bodies_percent < 150.0  # without a model, it would be 100 %


def test_unexpected_mass_is_said() -> None:
    case = simulate_case("lu-two-link", 0)
    described = sum(link.inertia.mass for link in case.description.merged.links[1:])
    fit = yt.identify(case.description, case.fit, bounds=BodyBounds(total_mass=(1.5 * described, 1.6 * described)))
    (finding,) = list_findings(fit, FitFindingCode.MASS)
    assert finding.fields["described_mass"] == pytest.approx(described)
    assert finding.fields["mass"] == pytest.approx(1.5 * described, rel=1e-3)
    assert "the motion does not determine this mass" in finding.statement
    assert list_findings(identify_case("lu-two-link"), FitFindingCode.MASS) == []


@pytest.mark.parametrize("seed", range(2))
def test_a_link_with_another_mass_is_named(seed: int) -> None:
    """The described mass of one link is wrong by a random factor; the twin has the described masses."""
    case, rng = simulate_case("ur10", seed), np.random.default_rng(seed)
    link, factor = "upper_arm_link", float(rng.uniform(4.0, 8.0)) ** (-1) ** seed
    own = case.description.link(link).inertia
    wrong = case.description.with_inertias({link: Inertia(tuple((factor * own.vector).tolist()))})
    named = {
        name: finding
        for finding in list_findings(yt.identify(wrong, case.fit), FitFindingCode.MASS)
        for name in finding.names
        if finding.is_warning
    }
    assert named[link].fields["described_mass"] == pytest.approx(factor * own.mass)
    assert f"instead of the described {factor * own.mass:.3g} kg" in named[link].statement
    assert not any(each.is_warning for each in list_findings(identify_case("ur10", seed), FitFindingCode.MASS))


def test_placeholders_are_expected_to_be_wrong() -> None:
    case = simulate_case("ur10", 0)
    ball = Inertia.about_center(0.1, (0.0, 0.0, 0.0), ((1e-3, 0.0, 0.0), (0.0, 1e-3, 0.0), (0.0, 0.0, 1e-3)))
    fit = yt.identify(case.description.with_inertias({"upper_arm_link": ball}), case.fit)
    assert not any(
        "upper_arm_link" in each.names for each in list_findings(fit, FitFindingCode.MASS) if each.is_warning
    )
    assert fit.robot.link("upper_arm_link").inertia.mass > 1.0


def test_a_description_without_inertias_has_a_flat_prior() -> None:
    case = simulate_case("lu-two-link", 0)
    bare = case.description.with_inertias({link.name: Inertia() for link in case.description.links[1:]})
    fit = yt.identify(bare, case.fit, validate=case.validation)
    (finding,) = list_findings(fit, FitFindingCode.PRIOR)
    assert "no inertias, so the prior of the links is flat" in finding.statement
    assert fit.consistent
    plain = yt.identify(case.description, case.fit, validate=case.validation, estimator="weighted")
    assert fit.validation is not None
    assert plain.validation is not None
    assert fit.validation.relative_percent == pytest.approx(plain.validation.relative_percent, rel=0.05)
    assert list_findings(identify_case("lu-two-link"), FitFindingCode.PRIOR) == []


def test_friction_that_would_fall_is_constant_beyond_the_recorded_speed() -> None:
    """A root fits the torque of a friction that saturates, with a negative viscous term beside it."""
    case = simulate_case("lu-two-link", 0)
    motion = case.motion
    speeds = abs(motion.qd)
    friction = 8.0 * np.sign(motion.qd) * np.tanh(speeds / (0.3 * speeds.max(axis=0))) * [5.0, 1.0]
    links = case.truth.with_drives(lambda _name, _drive: type(_drive)())
    tau = yt.inverse_dynamics(links)(motion.q, motion.qd, motion.qdd) + friction
    tau = tau + 0.01 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    log = yt.Log(case.truth.actuated, motion.t, motion.q, tau)
    fit = yt.identify(case.description, log, friction=("viscous", "coulomb", "root"))
    notes = [f for f in list_findings(fit, FitFindingCode.FRICTION) if "constant beyond it" in f.statement]
    (note,) = notes
    assert not note.is_warning
    drives = dict(fit.robot.drives)
    for joint, highest in zip(case.truth.actuated, speeds.max(axis=0), strict=True):
        assert (joint in note.names) == (drives[joint].viscous < 0.0)
        if joint in note.names:
            assert drives[joint].friction_speed == pytest.approx(highest, rel=0.05)
    assert fit.consistent


def test_a_cost_of_consistency_that_does_not_matter_is_not_reported() -> None:
    """Without noise, the error of the estimate is so small that a ratio to it says nothing."""
    case = simulate_loaded()
    fit = yt.identify(case.description, case.fit)
    assert fit.standard is not None
    for bodies, count in ((0.09, 0), (0.11, 1)):
        cost = ConsistencyCost(0.001, bodies)
        findings = find_body_findings(fit.base.robot, fit.standard, cost, (), fit.estimate, fit.origin.prior)
        assert len([each for each in findings if "physical consistency costs" in each.text]) == count


@pytest.mark.parametrize("missing_load", ["", LOADED])
def test_a_log_of_another_robot_is_doubtful(missing_load: str, rng: np.random.Generator) -> None:
    """Every link weighs a multiple of what is described, and no verdict is better than doubtful.

    The twins are a description that is off by 20 %, and one that lacks a load: they are of this robot.
    """
    case = simulate_case("ur10", int(rng.integers(1000)), missing_load=missing_load)
    right = yt.identify(case.description, case.fit)
    assert not list_findings(right, FitFindingCode.OTHER_ROBOT)
    # All links are too light: where light and heavy links alternate, their torques partly cancel, and so do deviations.
    factors = {link.name: 1.0 / rng.uniform(4.0, 10.0) for link in case.description.links}
    other = case.description.with_inertias(
        {
            link.name: Inertia.from_pseudo(factors[link.name] * link.inertia.pseudo)
            for link in case.description.links[1:]
        }
    )
    wrong = yt.identify(other, case.fit)
    assert wrong.verdict.grade is Grade.DOUBTFUL
    combinations, posterior = wrong.base.standard_combinations, wrong.estimate.posterior
    assert combinations is not None
    assert posterior is not None
    assert wrong.standard is not None
    # If a mistake explains the log, too, identify names that instead.
    (finding,) = find_other_robot(combinations, wrong.standard, wrong.normal_equations, posterior.prior)
    assert finding.fields["deviations"] > 2.0
    assert "is this log of this robot?" in finding.statement
    assert not list_findings(yt.identify(other, case.fit, prior="none"), FitFindingCode.OTHER_ROBOT)
