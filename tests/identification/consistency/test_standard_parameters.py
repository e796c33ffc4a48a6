"""Standard parameters: their distribution against dense formulas, their marks, and their physical consistency."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.evidence_cases import compute_dense_posterior
from tests.support.known_arm import RATE, known_arm
from tests.support.wrong_descriptions import simulate_case
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import (
    WIDTHS,
    BodyFit,
    BodyProblem,
    Mark,
    StandardParameters,
    compute_least_squares,
    describe_standard_parameters,
    find_inconsistent_parts,
    find_lacking_links,
    fit_bodies,
    mark_parameters,
    with_friction,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import is_rigid
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes, estimate_noise
from ytheta.identification.priors.noise import compute_mean_inflation
from ytheta.identification.priors.prior import Family, PriorSettings, invert_rows
from ytheta.logs.preparing.motion_sources import ArraySource

NOISE = np.array([2.0, 0.3])  # Nm


@cache
def make_standard(factor: float = 1.0) -> tuple[StandardParameters, np.ndarray, np.ndarray]:
    """Standard parameters of an estimate, and mean and standard deviations of theta by Bayesian regression.

    ``factor`` is that of the covariance of beta, and of the variance of the noise with which bodies are fitted.
    """
    arm = known_arm()
    rng = np.random.default_rng(0)
    motion = arm.motion.select(0, 600)
    assert motion.tau is not None
    source = ArraySource(replace(motion, tau=motion.tau + NOISE * rng.normal(size=motion.tau.shape)), RATE)
    problem = EstimationProblem(arm.form, (source,), threads=1)
    estimate = EmpiricalBayes().fit(problem)
    assert estimate.posterior is not None
    noise = estimate_noise(problem)
    weights = noise.weights / compute_mean_inflation(noise.inflation)
    mean, covariance = compute_dense_posterior(estimate.posterior)
    K = estimate.posterior.evidence.K
    assert isinstance(arm.form.base, yt.BaseParameters)
    equations = problem.normal_equations()
    bodies = BodyProblem.of(
        arm.form.base, estimate, equations, settings=PriorSettings(), bounds=BodyBounds(), highest_speeds={}
    )
    fit = fit_bodies(bodies, estimate, equations, weights / factor, ())
    standard = describe_standard_parameters(bodies, fit, estimate, factor * K @ covariance @ K.T)
    return standard, mean, np.sqrt(np.diag(covariance))


def test_the_distribution_given_beta_is_the_posterior() -> None:
    """theta given beta, averaged over the distribution of beta, is theta given the data."""
    standard, _, std = make_standard()
    np.testing.assert_allclose(standard.std, std, rtol=1e-5)
    wider, *_ = make_standard(4.0)
    assert not np.allclose(wider.std, std, rtol=0.05)  # the twin


def test_bodies_are_the_most_likely_parameters() -> None:
    """With white noise, the target of the program is the mean of a Bayesian regression with the same noise."""
    standard, mean, std = make_standard()
    arm = known_arm()
    places = [arm.robot.parameter_names.index(name) for name in standard.names]
    assert (abs(standard.fit.program.center[places] - mean) < 0.2 * std).all()  # the noise of the estimate is coloured
    assert standard.fit.width == 1.0
    noisier, *_ = make_standard(400.0)
    assert not (abs(noisier.fit.program.center[places] - mean) < 0.2 * std).all()  # the twin


def make_body_problem(rng: np.random.Generator) -> tuple[BodyProblem, EstimationProblem, np.ndarray]:
    """Bodies of the known arm with the usual prior, its equations with noise, and their weights."""
    arm = known_arm()
    motion = arm.motion
    assert motion.tau is not None
    source = ArraySource(replace(motion, tau=motion.tau + NOISE * rng.normal(size=motion.tau.shape)), RATE)
    problem = EstimationProblem(arm.form, (source,), threads=1)
    assert isinstance(arm.form.base, yt.BaseParameters)
    bodies = BodyProblem.of(
        arm.form.base,
        EmpiricalBayes().fit(problem),
        problem.normal_equations(),
        settings=PriorSettings(),
        bounds=BodyBounds(),
        highest_speeds={},
    )
    return bodies, problem, NOISE**-2.0


def test_the_width_is_chosen_by_prediction(rng: np.random.Generator) -> None:
    """A prior that trusts a wrong description to a thousandth predicts worse than one that hardly counts."""
    bodies, problem, weights = make_body_problem(rng)
    parts = problem.split_normal_equations()
    assert len(parts) == 2
    links = bodies.prior.belongs_to((Family.LINK,))
    mean = bodies.prior.mean * np.where([is_rigid(name) for name in bodies.prior.names], rng.uniform(1.5, 3.0), 1.0)
    wrong = replace(bodies, prior=replace(bodies.prior, mean=mean), scales=np.where(links, 1e-3, bodies.scales))
    assert wrong.choose_width(parts, weights) == 10.0
    assert bodies.choose_width(parts, weights) != 10.0  # the twin: the usual prior around the description
    assert bodies.may_choose


def test_other_widths_are_tried_only_if_they_can_predict_better(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies, problem, weights = make_body_problem(rng)
    parts = problem.split_normal_equations()
    tried: list[float] = []
    fit = BodyProblem.fit

    def note(self: BodyProblem, N: np.ndarray, b: np.ndarray, width: float) -> BodyFit:
        tried.append(width)
        return fit(self, N, b, width)

    monkeypatch.setattr(BodyProblem, "fit", note)
    assert bodies.choose_width(parts, weights) == 1.0  # only noise is left
    assert set(tried) == {1.0}
    links = bodies.prior.belongs_to((Family.LINK,))
    wrong = replace(
        bodies,
        prior=replace(bodies.prior, mean=2.0 * bodies.prior.mean),
        scales=np.where(links, 1e-3, bodies.scales),
    )
    wrong.choose_width(parts, weights)  # the twin: the description is wrong, and trusted
    assert set(tried) == set(WIDTHS)


def test_no_parameters_have_smaller_errors(rng: np.random.Generator) -> None:
    """The oracle: least squares with all equations."""
    _, problem, _ = make_body_problem(rng)
    blocks = [(block.values.copy(), block.tau.copy()) for block in problem.rows()]
    values, tau = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    layout = problem.layout
    Y = np.zeros((*tau.shape, layout.base_count))
    for joint, (part, columns) in enumerate(zip(layout.slices, layout.columns, strict=True)):
        Y[joint][:, columns] = values[part].T
    equations = problem.normal_equations()
    for used in ([True, True], [False, True]):
        W, right = Y[used].reshape(-1, layout.base_count), tau[used].ravel()
        beta = np.linalg.lstsq(W, right, rcond=None)[0]
        least = float(np.sum((right - W @ beta) ** 2))
        assert compute_least_squares(equations, np.array(used)) == pytest.approx(least, rel=1e-6)
    assert compute_least_squares(equations, np.array([True, True])) != pytest.approx(least, rel=1e-3)  # the twin


def test_parts_of_the_equations_add_up(rng: np.random.Generator) -> None:
    _, problem, _ = make_body_problem(rng)
    first, second = problem.split_normal_equations()
    total = problem.normal_equations().matrix(np.ones(2))
    np.testing.assert_allclose((first + second).matrix(np.ones(2)), total, atol=1e-12 * abs(total).max())
    assert first.counts[0] == pytest.approx(second.counts[0], rel=0.3)
    several = replace(problem, sources=problem.sources * 5)
    parts = several.split_normal_equations()
    assert len(parts) == 4
    assert sum(part.counts[0] for part in parts) == several.normal_equations().counts[0]


def test_a_link_that_lacks_something_is_found(rng: np.random.Generator) -> None:
    """A prior that is certain of a wrong link: released, this link fits, and the other one does not."""
    bodies, problem, weights = make_body_problem(rng)
    links = bodies.prior.belongs_to((Family.LINK,))
    shift = {"link1": 0.0, "link2": rng.uniform(1.0, 2.0)}
    factor = np.array([1.0 + shift.get(name.rpartition(".")[0], 0.0) for name in bodies.prior.names])
    wrong = replace(
        bodies,
        prior=replace(bodies.prior, mean=bodies.prior.mean * factor),
        scales=np.where(links, 1e-3, bodies.scales),
    )
    equations = problem.normal_equations()
    fit = wrong.fit(equations.matrix(weights), equations.right_side(weights), 1.0)
    shares = find_lacking_links(wrong, fit, equations, weights)
    assert next(iter(shares)) == "link2"
    assert all(0.3 <= share <= 1.0 + 1e-6 for share in shares.values())


def test_marks_are_shares_of_the_variance() -> None:
    std = np.array([0.1, 0.6, 0.99, 1.0, np.inf])
    assert mark_parameters(std, np.ones(5)) == (Mark.DATA, Mark.SHARED, Mark.PRIOR, Mark.PRIOR, Mark.PRIOR)


def identify(*, rich: bool, **options: object) -> yt.Identification:
    case = simulate_case("ur10", 0, rich=rich)
    return yt.identify(case.description, case.fit, **options)  # type: ignore[arg-type]


def count_marks(identification: yt.Identification, mark: Mark) -> int:
    return sum(each is mark for each in identification.marks)


def test_marks_of_rich_and_poor_motion() -> None:
    options = {"rotor_inertia": False, "friction": ("viscous", "coulomb", "offset")}
    rich, poor = (identify(rich=rich, **options) for rich in (True, False))
    assert rich.names == poor.names
    assert count_marks(poor, Mark.DATA) < count_marks(rich, Mark.DATA) - 5
    assert count_marks(poor, Mark.PRIOR) > count_marks(rich, Mark.PRIOR) + 5
    assert set(poor.marks) == {Mark.DATA, Mark.SHARED, Mark.PRIOR}
    for fit in (rich, poor):
        assert fit.standard is not None
        assert fit.standard_marks["shoulder_pan_joint.fv"] is Mark.DATA
        assert fit.standard_marks["shoulder_link.m"] is Mark.PRIOR  # without effect on any torque
        # What the data leave is never more than what was there before, what consistency changed, and what the unknown
        # delay of the torques adds.
        change = fit.beta - fit.estimate.beta
        posterior = fit.estimate.posterior
        assert posterior is not None
        axes = posterior.prior.axes * posterior.scales
        to_standard = axes @ invert_rows(posterior.evidence.K @ axes)
        assert fit.nuisance_covariance is not None
        added = change**2 + np.diag(fit.nuisance_covariance)
        standard_added = (to_standard @ change) ** 2 + np.diag(to_standard @ fit.nuisance_covariance @ to_standard.T)
        assert (fit.standard.std <= 1.01 * np.sqrt(fit.standard.prior_std**2 + standard_added)).all()
        assert (fit.std <= 1.01 * np.sqrt(fit.standard.base_prior_std**2 + added)).all()
    # Parameters that are determined by the data have about the values that least squares gives.
    plain = identify(rich=True, estimator="weighted", **options)
    chosen = [mark is Mark.DATA for mark in rich.marks]
    assert (abs(rich.beta - plain.beta)[chosen] < 3.0 * plain.std[chosen]).all()


def test_marks_without_a_prior_say_what_the_motion_determines() -> None:
    case = simulate_case("lu-two-link", 0)
    plain = yt.identify(case.description, case.fit, estimator="weighted")
    assert set(plain.marks) == {Mark.DATA}
    held = yt.identify(known_arm().robot, known_arm().held_log(1e-5), estimator="weighted")
    assert Mark.PRIOR in held.marks


def test_inverse_of_rows_of_different_size() -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([[1e-9], [1.0], [1e9]])
    matrix = rng.normal(size=(3, 5)) * sizes
    np.testing.assert_allclose((matrix / sizes) @ invert_rows(matrix) * sizes.T, np.eye(3), atol=1e-9)
    plain = np.linalg.pinv(matrix)  # the twin: without scales, the smallest row is lost
    assert not np.allclose((matrix / sizes) @ plain * sizes.T, np.eye(3), atol=0.1)


def test_inconsistent_parts_have_reasons() -> None:
    robot = yt.load("lu-two-link").numeric
    assert find_inconsistent_parts(robot) == {}
    first, second = robot.actuated
    wrong = robot.with_drives(
        lambda name, drive: replace(drive, rotor_inertia=-0.1) if name == first else replace(drive, coulomb=-1.0)
    )
    reasons = find_inconsistent_parts(wrong)
    assert reasons[first] == "Ia is negative"
    assert reasons[second].startswith("friction accelerates it at")
    load = robot.with_drives(lambda name, drive: replace(drive, load=-0.1) if name == first else drive)
    assert find_inconsistent_parts(load) == {first: "fl is negative"}


def test_friction_by_name() -> None:
    robot = yt.load("lu-two-link").numeric
    changed = with_friction(robot, {"joint1.fv": 2.0, "joint2.fc": 3.0, "link1.m": 9.0})
    drives = dict(changed.drives)
    assert (drives["joint1"].viscous, drives["joint2"].coulomb) == (2.0, 3.0)
    assert changed.link("link1") == robot.link("link1")


@pytest.mark.parametrize("estimator", ["auto", "weighted", "least-squares", "huber", "recursive", "sequential"])
def test_every_estimator_gives_bodies(estimator: str) -> None:
    """Noise that makes the estimate inconsistent, as the twin shows."""
    arm = known_arm()
    rng = np.random.default_rng(1)
    tau = arm.tau + 8.0 * NOISE * rng.normal(size=arm.tau.shape)
    fit = yt.identify(arm.robot, arm.log(tau).select_rows(0, 500), estimator=estimator, rotor_inertia=True)
    assert fit.consistent
    assert fit.inconsistent == {}
    assert fit.standard is not None
    assert fit.standard.bodies.converged
    assert fit.consistency_cost is not None
    assert fit.consistency_cost.ratio < 1.5
