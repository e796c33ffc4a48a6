"""Instrumental variables: a planted bias, dense matrices, simulated motion, forms, weak instruments."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import ytheta
from tests.support.estimation_cases import RATE, Case, make_case
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import FORMS, create_form
from ytheta.identification.estimators.estimator import Estimator
from ytheta.identification.estimators.instrumental_variables import InstrumentalVariables, smooth_motion
from ytheta.identification.estimators.least_squares import Weighted
from ytheta.logs.preparing.motion_sources import ArraySource

LOG_RATE = 125.0
FRICTION = """
[[joint]]
name = "{name}"
drive = {{ viscous = {viscous}, coulomb = {coulomb}, offset = 0.3 }}
"""


@cache
def scara() -> Case:
    return make_case(ytheta.load("ha-scara"), 1000)


@cache
def shaken(seed: int = 0) -> Case:
    """The same motion and torques, with noise in all measured quantities."""
    rng, motion = np.random.default_rng(seed), scara().motion
    noise = {name: size * rng.normal(size=(1000, 4)) for name, size in (("q", 1e-3), ("qd", 0.02), ("qdd", 2.0))}
    measured = {name: getattr(motion, name) + each for name, each in noise.items()}
    return replace(scara(), motion=replace(motion, **measured, tau=scara().tau + 0.3 * rng.normal(size=(1000, 4))))


def make_noisy_log(robot: ytheta.Robot, seed: int) -> dict[str, np.ndarray]:
    """A log of a UR10 with 0.5 mrad of noise in its positions and 0.5 Nm in its torques."""
    draw, noise = np.random.default_rng(5), np.random.default_rng(seed)
    t, shape = np.arange(int(30.0 * LOG_RATE)) / LOG_RATE, (4, 1, 6)
    w = 2.0 * np.pi * np.array([0.11, 0.23, 0.41, 0.67])[:, None, None] * draw.uniform(0.8, 1.2, shape)
    size, angle = draw.uniform(0.2, 0.5, shape), w * t[None, :, None] + draw.uniform(0.0, 6.28, shape)
    waves = ((size, np.sin(angle)), (size * w, np.cos(angle)), (-size * w * w, np.sin(angle)))
    q, qd, qdd = ((factor * wave).sum(axis=0) for factor, wave in waves)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd) + 0.5 * noise.normal(size=q.shape)
    return {"t": t, "q": q + 5e-4 * noise.normal(size=q.shape), "tau": tau}


def test_a_bias_of_least_squares_is_removed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The cut-off of 20 Hz leaves noise of the accelerations in the regressor."""
    described = ytheta.load("ur10")
    path = tmp_path_factory.mktemp("robot") / "true.toml"
    drives = (
        FRICTION.format(name=n, viscous=2.0 + 0.3 * k, coulomb=3.0 - 0.2 * k) for k, n in enumerate(described.actuated)
    )
    path.write_text('format = 1\nextends = "ur10"\n' + "".join(drives))
    true = ytheta.load(path)
    logs = [make_noisy_log(true, seed) for seed in range(3)]

    def compute_mean_errors(estimator: Estimator) -> np.ndarray:
        """Mean errors over the logs, in standard deviations of one estimate."""
        fits = [ytheta.identify(described, log, estimator=estimator, cutoff=20.0, threads=1) for log in logs]
        errors = []
        for fit in fits:
            assert isinstance(fit.base, ytheta.BaseParameters)
            errors.append((fit.beta - fit.base.K @ true.theta) / fit.std)
        return np.mean(errors, axis=0)

    assert abs(compute_mean_errors(Weighted())).max() > 10.0  # measured: 13
    assert abs(compute_mean_errors(InstrumentalVariables())).max() < 2.0  # measured: 1.3
    assert abs(compute_mean_errors(InstrumentalVariables(band=np.inf))).max() > 10.0  # the twin: noisy instruments


def test_instruments_that_are_the_measured_motion_give_weighted_least_squares() -> None:
    problem = shaken().problem()
    same, weighted = InstrumentalVariables(band=np.inf).fit(problem), Weighted().fit(problem)
    np.testing.assert_allclose(same.beta, weighted.beta, rtol=1e-8)
    np.testing.assert_allclose(same.spread, weighted.spread, rtol=1e-6, atol=1e-9 * abs(weighted.spread).max())
    np.testing.assert_allclose(same.degrees_of_freedom, weighted.degrees_of_freedom, rtol=1e-8)
    assert shaken().error(InstrumentalVariables().fit(problem).beta, weighted.beta) > 1e-3  # the twin


def test_the_estimate_is_that_of_dense_matrices() -> None:
    problem = shaken().problem()
    estimate = InstrumentalVariables(band=2.0).fit(problem)
    (segment,) = smooth_motion(problem, 2.0).values()
    smooth = segment.replace_motion(shaken().motion, 0)
    assert smooth.direction is not None
    Z = problem.form.kernel(smooth.q, smooth.qd, smooth.qdd)  # type: ignore[attr-defined]
    for k, name in enumerate(shaken().base.names):
        if name.endswith(".fc"):
            joint = problem.base.robot.actuated.index(name.removesuffix(".fc"))
            Z[:, joint, k] = smooth.direction[:, joint]
    root = np.sqrt(estimate.weights)[:, None]
    W, tau = (root * shaken().Y).reshape(4000, -1), (root[:, 0] * shaken().tau).ravel()
    Z = (root * Z).reshape(4000, -1)
    inverse = np.linalg.inv(Z.T @ W)
    np.testing.assert_allclose(estimate.beta, inverse @ (Z.T @ tau), rtol=1e-6, atol=1e-8)
    variances = np.array([1.0, 2.0, 0.5, 3.0])
    noise = np.tile(variances * estimate.weights, 1000)
    covariance = inverse @ (Z.T * noise) @ Z @ inverse.T
    np.testing.assert_allclose(estimate.covariance(variances), covariance, rtol=1e-5, atol=1e-8 * abs(covariance).max())
    assert shaken().error(np.linalg.lstsq(W, tau)[0], estimate.beta) > 1e-3  # the twin


@pytest.mark.parametrize("heavier", [False, True])
def test_the_smooth_motion_is_that_of_a_simulated_loop_with_any_model(heavier: bool) -> None:
    """Computed torque with the same model cancels the model: the loop follows the reference, whatever its masses."""
    arm = ytheta.load("lu-two-link")
    if heavier:
        arm = arm.with_inertias({link.name: link.inertia + link.inertia for link in arm.links[1:]})
    case = make_case(ytheta.load("lu-two-link"), 200)
    (segment,) = smooth_motion(case.problem(), None).values()
    reference = make_interp_spline(np.arange(200) / RATE, segment.q, k=5)
    forward, inverse = ytheta.forward_dynamics(arm).one, ytheta.inverse_dynamics(arm).one

    def accelerate(t: float, state: np.ndarray, feedforward: float) -> np.ndarray:
        r, rd, rdd = (reference(t, order) for order in range(3))
        q, qd = state
        command = feedforward * rdd + 40.0 * (rd - qd) + 400.0 * (r - q)
        return np.stack([qd, forward(q, qd, inverse(q, qd, command))])

    def simulate(feedforward: float) -> np.ndarray:
        step, state = 0.1 / RATE, np.stack([reference(0.0), reference(0.0, 1)])
        places = [state[0]]
        for k in range(1990):
            t = k * step
            a = accelerate(t, state, feedforward)
            b = accelerate(t + 0.5 * step, state + 0.5 * step * a, feedforward)
            c = accelerate(t + 0.5 * step, state + 0.5 * step * b, feedforward)
            d = accelerate(t + step, state + step * c, feedforward)
            state = state + step / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            places.append(state[0])
        return np.array(places[::10])

    np.testing.assert_allclose(simulate(1.0), segment.q, atol=1e-6)
    assert abs(simulate(0.0) - segment.q).max() > 1e-3  # the twin: another control law


@pytest.mark.parametrize("name", FORMS)
def test_every_form_and_several_segments_are_accepted(name: str) -> None:
    form = create_form(name, scara().base)
    motion = shaken().motion
    whole = ArraySource(motion, RATE)
    parts = tuple(ArraySource(motion, RATE, segments) for segments in (((0, 333), (340, 345)), ((345, 1000),)))
    for sources in ((whole,), parts):
        problem = EstimationProblem(form, sources, threads=1, piece_length=100)
        same, weighted = InstrumentalVariables(band=np.inf).fit(problem), Weighted().fit(problem)
        assert scara().error(same.beta, weighted.beta) < 1e-9
        errors = [scara().error(each.beta) for each in (InstrumentalVariables().fit(problem), weighted)]
        assert errors[0] < 0.2
        assert errors[0] < errors[1] or name != "differential"


def test_weak_instruments_give_a_finding_or_are_refused() -> None:
    assert not InstrumentalVariables().fit(shaken().problem()).findings
    (finding,) = InstrumentalVariables(band=0.1).fit(scara().problem()).findings
    assert (finding.code, finding.severity) == ("estimator", Severity.WARNING)
    assert finding.statement.startswith("the instruments are weak for ")
    assert "use the estimator weighted" in finding.text
    with pytest.raises(InputError, match="does not excite all parameters"):
        InstrumentalVariables(band=1e-3).fit(scara().problem())


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="band is 0"):
        InstrumentalVariables(band=0.0)
    with pytest.raises(InputError, match="band is nan"):
        InstrumentalVariables(band=np.nan)
    with pytest.raises(InputError, match="rounds is 0"):
        InstrumentalVariables(rounds=0)
