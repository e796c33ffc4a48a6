"""prior, prior_strength, bounds and add_load of ``identify``: what they do, and what is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.wrong_descriptions import Case, simulate_case
from ytheta.errors import InputError, MissingExtraError, UnknownNameError
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.identification.priors.prior import Family

PLAIN: dict[str, Any] = {"rotor_inertia": False, "friction": ("viscous", "coulomb", "offset")}


@cache
def get_case() -> Case:
    return simulate_case("ur10", 1, rich=False)


def identify(**options: Any) -> yt.Identification:
    case = get_case()
    return yt.identify(case.description, case.fit, validate=case.validation, **{**PLAIN, **options})


@cache
def identify_without_prior() -> yt.Identification:
    return identify(estimator="weighted")


def get_validation(fit: yt.Identification) -> float:
    assert fit.validation is not None
    return fit.validation.relative_percent


def test_no_prior_is_least_squares() -> None:
    without = identify(prior="none")
    plain = identify_without_prior()
    determined = plain.std < 0.05 * abs(plain.beta)
    assert determined.sum() > 10
    assert (abs(without.beta - plain.beta)[determined] < 0.5 * plain.std[determined]).all()
    assert get_validation(without) > 2.0 * get_validation(identify())  # the twin: the prior helps on this motion


def test_a_better_description_is_a_better_prior() -> None:
    """With the prior of the true robot, errors fall, though not those of friction; with twice its mass, they grow."""
    case = get_case()
    doubled = case.description.with_inertias(
        {link.name: link.inertia + link.inertia for link in case.description.links[1:]}
    )
    own, true, wrong = (identify(prior=prior) for prior in (None, case.truth, doubled))
    errors = [case.compute_model_error(fit.robot) for fit in (true, own, wrong)]
    assert errors[0] < errors[1] < errors[2]


def test_a_description_in_a_file_is_a_prior(tmp_path: Path) -> None:
    case = get_case()
    path = yt.save_robot(case.truth, tmp_path / "other.toml")
    np.testing.assert_allclose(identify(prior=path).beta, identify(prior=case.truth).beta, rtol=1e-6, atol=1e-9)


def test_a_strength_fixes_the_scale() -> None:
    # The simulated arm never sticks, so all samples are used: leaving out rests makes poor motion poorer.
    fit = identify(prior_strength=5.0, min_speed=0.0)
    posterior = fit.estimate.posterior
    assert posterior is not None
    np.testing.assert_allclose(posterior.scales[posterior.prior.belongs_to([Family.LINK])], 0.2)
    assert not any("link" in each.name for each in posterior.prior.hyper)
    strong = identify(prior_strength=1e4, min_speed=0.0)
    described = get_case().description
    total, before = (sum(link.inertia.mass for link in robot.merged.links[1:]) for robot in (strong.robot, described))
    assert total == pytest.approx(before, rel=1e-3)
    percents = [each.consistency_cost.validation_estimate_percent for each in (strong, fit)]  # type: ignore[union-attr]
    assert percents[0] > 2.0 * percents[1]  # type: ignore[operator]


def list_change(fit: yt.Identification) -> float:
    """The logarithm of the factor by which the robot has changed since the earlier model."""
    posterior = fit.estimate.posterior
    assert posterior is not None
    (hyper,) = posterior.prior.hyper
    assert hyper.name == "change since the earlier model"
    return float(posterior.hyper[0])


def test_last_years_model_is_a_prior(tmp_path: Path) -> None:
    """Identified again, deviations of what the data determine shrink; if the robot has changed, the prior lets go."""
    case = simulate_case("lu-two-link", 0, rich=False)
    first = yt.identify(case.description, case.fit, **PLAIN)
    path = first.save(tmp_path / "last_year.toml")
    rng = np.random.default_rng(8)
    assert case.fit.tau is not None
    noise = 0.01 * case.fit.tau.std(axis=0) * rng.normal(size=case.fit.tau.shape)
    this_year = replace(case.fit, tau=case.fit.tau + noise)
    alone = yt.identify(case.description, this_year, **PLAIN)
    again = yt.identify(case.description, this_year, prior=path, **PLAIN)
    assert again.names == first.names
    ratios = again.std / alone.std
    determined = np.array([mark is Mark.DATA for mark in alone.marks])
    assert determined.sum() >= 5
    assert np.median(ratios[determined]) < 0.85
    assert ratios.max() < 1.2  # what the prior determines stays as uncertain as it was
    assert (abs(again.beta - first.beta) < 5.0 * first.std).all()
    heavier = case.truth.with_inertias({"link2": case.truth.link("link2").inertia + case.truth.link("link2").inertia})
    motion = case.motion
    tau = yt.inverse_dynamics(heavier)(motion.q, motion.qd, motion.qdd)
    tau = tau + 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)
    changed = yt.identify(case.description, yt.Log(heavier.actuated, motion.t, motion.q, tau), prior=path, **PLAIN)
    assert list_change(changed) > list_change(again) + 1.0
    assert changed.fit.relative_percent < 2.0


def test_a_prior_of_another_robot_is_refused(tmp_path: Path) -> None:
    case = get_case()
    with pytest.raises(InputError, match=r"the prior belongs to another robot: only 'ur10' has elbow_joint.*joint1"):
        identify(prior=yt.load("puma560"))
    path = yt.save_robot(yt.load("puma560"), tmp_path / "puma.toml")
    with pytest.raises(InputError, match="belongs to another robot"):
        identify(prior=path)
    moved = replace(
        case.description,
        joints=tuple(
            replace(joint, placement=case.description.joints[0].placement) if joint.name == "elbow_joint" else joint
            for joint in case.description.joints
        ),
    )
    with pytest.raises(InputError, match="elbow_joint differ in kind, link, position or axis"):
        identify(prior=moved)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": "none", "estimator": "weighted"}, 'need the estimator "evidence"; "weighted" has no prior'),
        ({"prior_strength": 5.0, "estimator": "huber"}, 'need the estimator "evidence"; "huber" has no prior'),
        ({"prior_strength": 0.0}, "prior_strength is 0; give a positive number"),
        ({"prior_strength": -1.0}, "prior_strength is -1; give a positive number"),
        ({"prior": "none", "prior_strength": 5.0}, "remove prior='none'"),
        ({"bounds": BodyBounds(mass={"forearm_link": (5.0, 1.0)})}, "forearm_link"),
        (
            {"bounds": BodyBounds(mass={"forearm_link": (30.0, 40.0)}, total_mass=(1.0, 20.0))},
            r"(?s)forearm_link.*total mass|total mass.*forearm_link",
        ),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        identify(**options)


def test_a_model_has_its_own_strength(tmp_path: Path) -> None:
    case = simulate_case("lu-two-link", 0, rich=False)
    path = yt.identify(case.description, case.fit, **PLAIN).save(tmp_path / "model.toml")
    with pytest.raises(InputError, match="has a covariance of its own, which is the strength of the prior"):
        yt.identify(case.description, case.fit, prior=path, prior_strength=5.0)


def test_an_unknown_link_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="robot 'ur10' has no link 'forearm'; did you mean 'forearm_link'"):
        identify(add_load=("forearm",))
    with pytest.raises(InputError, match="list of names of links"):
        identify(add_load="forearm_link")


def test_without_the_solver_there_is_an_install_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    case = simulate_case("lu-two-link", 0)
    noisy = case.fit.select_rows(0, 300)
    with pytest.raises(MissingExtraError, match="pip install clarabel"):
        yt.identify(case.description, noisy, bounds=BodyBounds(mass={"link2": (0.0, 0.2)}))


def test_bounds_are_kept() -> None:
    fit = identify(bounds=BodyBounds(mass={"forearm_link": (5.0, 5.1)}, total_mass=(20.0, 21.0)))
    assert 5.0 - 1e-6 <= fit.robot.link("forearm_link").inertia.mass <= 5.1 + 1e-6
    assert 20.0 - 1e-6 <= sum(link.inertia.mass for link in fit.robot.merged.links[1:]) <= 21.0 + 1e-6
