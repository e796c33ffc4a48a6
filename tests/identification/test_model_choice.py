"""Choice of a model: planted friction laws and rotor inertias are found, absent ones are not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

import ytheta as yt
from tests.support.evidence_cases import draw_evidence, make_posterior
from tests.support.wrong_descriptions import Case, simulate_case
from ytheta.identification import model_choice
from ytheta.identification.model_choice import compute_error_percent, compute_sign_evidence
from ytheta.identification.priors.prior import Family

ARM = "lu-two-link"
LAWS = (Family.ROOT, Family.LOAD)
SYMBOLS = {Family.ROTOR: "Ia", Family.ROOT: "fs", Family.LOAD: "fl"}


def simulate(planted: Family | None, seed: int) -> Case:
    return simulate_case(
        ARM,
        seed,
        rotors=planted is Family.ROTOR,
        root=planted is Family.ROOT,
        load_friction=planted is Family.LOAD,
    )


@cache
def identify(planted: Family | None, seed: int) -> yt.Identification:
    case = simulate(planted, seed)
    return yt.identify(case.description, case.fit, validate=case.validation)


def find_z(identification: yt.Identification, case: Case, symbol: str) -> np.ndarray:
    """(estimate - truth) / std of the base parameters of one kind."""
    base = identification.base
    assert isinstance(base, yt.BaseParameters)
    chosen = [k for k, name in enumerate(base.independent) if name.endswith(f".{symbol}")]
    return np.asarray(((identification.beta - case.compute_true_base(base)) / identification.std)[chosen])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("planted", [Family.ROTOR, *LAWS])
def test_planted_families_are_found(planted: Family, seed: int) -> None:
    case, identification = simulate(planted, seed), identify(planted, seed)
    choice = identification.choice
    assert planted in choice.kept
    assert not {*LAWS, Family.ROTOR}.difference({planted, Family.ROTOR}) & set(choice.kept)
    z = find_z(identification, case, SYMBOLS[planted])
    assert len(z)
    assert abs(z).max() < 3.0
    removed = {each.change: each for each in choice.alternatives}[f"without {planted.value}"]
    assert removed.log_bayes_factor < -5.0
    assert removed.validation_percent is not None
    assert identification.validation is not None
    assert removed.validation_percent > 1.1 * identification.validation.relative_percent


@pytest.mark.parametrize("seed", range(2))
def test_absent_friction_laws_are_not_found(seed: int) -> None:
    """The twin of the planted laws."""
    choice = identify(None, seed).choice
    assert set(choice.considered) == {Family.ROTOR, *LAWS}
    assert not {*LAWS} & set(choice.kept)
    for law in LAWS:
        added = {each.change: each for each in choice.alternatives}[f"with {law.value}"]
        assert added.log_bayes_factor < 5.0


@pytest.mark.parametrize("seed", range(2))
def test_absent_rotor_inertias_do_no_harm(seed: int) -> None:
    """Rotor inertias are left out, or they are zero within their intervals."""
    case, identification = simulate(None, seed), identify(None, seed)
    assert (abs(find_z(identification, case, "Ia")) < 3.0).all()
    known = yt.identify(case.description, case.fit, validate=case.validation, rotor_inertia=False)
    assert case.compute_model_error(identification.robot) < 1.1 * case.compute_model_error(known.robot) + 0.05


def plant_negative_rotors(case: Case) -> yt.Log:
    """The log with torques that would need negative rotor inertias; a delay of torques looks like them."""
    t, q = case.fit.t, case.fit.q
    width = 9
    qdd = np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    kernel = np.hanning(width + 2)[1:-1] / np.hanning(width + 2).sum()
    qdd = np.stack([np.convolve(column, kernel, mode="same") for column in qdd.T], axis=1)
    inertias = np.diagonal(yt.mass_matrix(case.truth)(q), axis1=1, axis2=2).mean(axis=0)
    assert case.fit.tau is not None
    return replace(case.fit, tau=case.fit.tau - 0.4 * inertias * qdd)


def test_negative_rotor_inertias_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    case = simulate(None, 0)
    log = plant_negative_rotors(case)
    assert Family.ROTOR not in yt.identify(case.description, log).choice.kept
    monkeypatch.setattr(model_choice, "compute_sign_evidence", lambda _posterior: 0.0)  # the twin: without the term
    assert Family.ROTOR in yt.identify(case.description, log).choice.kept


def test_sign_evidence_is_that_of_a_half_normal_prior() -> None:
    """With independent parameters: the share of the posterior above zero, relative to that of the prior, one half."""
    evidence = draw_evidence()
    axes = np.diag(np.arange(1.0, 9.0))
    mean = np.zeros(8)
    prior = replace(evidence.prior, axes=axes, mean=mean)
    posterior = make_posterior(replace(evidence, prior=prior), np.array([-0.7, 0.4, -1.2]))
    expected = sum(np.log(norm.sf(0.0, posterior.theta[k], posterior.theta_std[k]) / 0.5) for k in (5, 6))
    assert compute_sign_evidence(posterior) == pytest.approx(expected, rel=1e-9)
    assert (
        compute_sign_evidence(
            make_posterior(replace(evidence, prior=prior.without([Family.ROTOR])), np.array([-0.7, 0.4]))
        )
        == 0.0
    )


def test_a_load_law_must_reproduce_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the torque of the estimate itself fits worse than the torque before it, the law is not considered."""
    case = simulate(Family.LOAD, 0)
    assert Family.LOAD in identify(Family.LOAD, 0).choice.kept
    monkeypatch.setattr(model_choice, "MAX_LOAD_ERROR_RATIO", 0.5)
    rejected = yt.identify(case.description, case.fit)
    assert Family.LOAD not in rejected.choice.considered
    assert not any(name.endswith(".fl") for name in rejected.base.selected)


def with_load_friction(case: Case, coefficient: float) -> tuple[yt.Robot, yt.Log]:
    """The true robot of a case with another load-dependent friction, and the log of its motion."""
    truth = case.truth.with_drives(
        lambda _name, drive: drive if drive.load is None else replace(drive, load=coefficient)
    )
    motion = case.motion
    tau = yt.inverse_dynamics(truth)(motion.q, motion.qd, motion.qdd)
    noise = 0.01 * tau.std(axis=0) * np.random.default_rng(0).normal(size=tau.shape)
    return truth, yt.Log(case.truth.actuated, motion.t, motion.q, tau + noise)


@pytest.mark.parametrize("coefficient", [0.2, 0.4])
def test_large_load_friction_is_found(coefficient: float) -> None:
    case = simulate(Family.LOAD, 0)
    _, log = with_load_friction(case, coefficient)
    identification = yt.identify(case.description, log)
    assert Family.LOAD in identification.choice.kept
    values = dict(zip(identification.base.independent, identification.beta, strict=True))
    for joint in case.truth.actuated:
        assert values[f"{joint}.fl"] == pytest.approx(coefficient, rel=0.1)
    assert identification.fit.relative_percent < 2.0


def test_forced_choices_are_kept() -> None:
    case = simulate(None, 0)
    forced = yt.identify(
        case.description, case.fit, friction=("viscous", "coulomb", "root", "load"), rotor_inertia=True
    )
    assert forced.choice.considered == ()
    kinds = {name.rpartition(".")[2] for name in forced.base.selected if "joint" in name}
    assert kinds == {"Ia", "fv", "fc", "fs", "fl"}
    assert all(
        drive.load is not None and drive.load >= 0.0 for _, drive in forced.robot.drives if drive.load is not None
    )
    plain = yt.identify(case.description, case.fit, estimator="weighted")
    assert not {name.rpartition(".")[2] for name in plain.base.selected} & {"Ia", "fs", "fl"}


def test_error_in_percent() -> None:
    equations = identify(None, 0).normal_equations
    assert compute_error_percent(equations, np.zeros(equations.base_count)) == pytest.approx(100.0)
    assert compute_error_percent(equations, identify(None, 0).beta) < 2.0
