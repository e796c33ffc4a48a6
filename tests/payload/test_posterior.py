"""The posterior of payload and errors of the model, compared with one large least-squares problem."""

from __future__ import annotations

import numpy as np

from tests.support.payload_cases import BODY
from ytheta.payload.posterior import LogInformation, PayloadPosterior, compute_posterior, make_body_prior

ERRORS = np.array([0.5, -1.0, 0.3])


def _make_equations(rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(rows, 13))
    return A, A @ np.concatenate([BODY.vector, ERRORS]) + 1e-3 * rng.normal(size=rows)


def _solve(*, mass: float | None = None) -> tuple[PayloadPosterior, np.ndarray, np.ndarray]:
    A, b = _make_equations()
    weight = 1e6
    return compute_posterior(LogInformation(weight * A.T @ A, weight * A.T @ b), arm_mass=30.0, mass=mass), A, b


def _stack(posterior: PayloadPosterior, A: np.ndarray, b: np.ndarray, *, errors_std: float = 1.0) -> np.ndarray:
    """The least-squares solution of all equations: those of the logs and those of the priors."""
    values, vectors = np.linalg.eigh(posterior.prior.precision)
    root = np.hstack([(vectors * np.sqrt(values)).T, np.zeros((10, 3))])
    mean = np.linalg.solve(posterior.prior.precision, posterior.prior.pull)
    own = np.hstack([np.zeros((3, 10)), np.eye(3) / errors_std])
    rows, right = np.vstack([1e3 * A, root, own]), np.concatenate([1e3 * b, root[:, :10] @ mean, np.zeros(3)])
    return np.linalg.lstsq(rows, right, rcond=None)[0]


def test_it_solves_all_equations_at_once() -> None:
    posterior, A, b = _solve()
    x = np.concatenate([posterior.theta, posterior.z])
    np.testing.assert_allclose(x, _stack(posterior, A, b), atol=1e-9)
    assert abs(x - _stack(posterior, A, b, errors_std=1e-3)).max() > 1e-6  # the twin: errors of another size


def test_a_known_mass_is_kept_and_has_no_variance() -> None:
    posterior, A, b = _solve(mass=2.0)
    assert posterior.theta[0] == 2.0
    assert not posterior.covariance[0].any()
    values, vectors = np.linalg.eigh(posterior.prior.precision)
    root = np.hstack([(vectors * np.sqrt(values)).T, np.zeros((10, 3))])
    mean = np.linalg.solve(posterior.prior.precision, posterior.prior.pull)
    rows = np.vstack([1e3 * A, root, np.hstack([np.zeros((3, 10)), np.eye(3)])])
    right = np.concatenate([1e3 * b, root[:, :10] @ mean, np.zeros(3)]) - rows[:, 0] * 2.0
    rest = np.linalg.lstsq(rows[:, 1:], right, rcond=None)[0]
    np.testing.assert_allclose(np.concatenate([posterior.theta, posterior.z])[1:], rest, atol=1e-9)


def test_errors_of_the_model_make_the_payload_less_certain() -> None:
    A, b = _make_equations()
    joint, _, _ = _solve()
    alone = compute_posterior(
        LogInformation(1e6 * A[:, :10].T @ A[:, :10], 1e6 * A[:, :10].T @ b), arm_mass=30.0, mass=None
    )
    assert (np.diag(joint.theta_covariance) >= np.diag(alone.theta_covariance) * (1.0 - 1e-9)).all()


def test_the_prior_is_that_of_the_estimate() -> None:
    posterior, _, _ = _solve()
    mass, center = float(posterior.theta[0]), posterior.theta[1:4] / posterior.theta[0]
    expected, heavier = (make_body_prior(factor * mass, center, 30.0) for factor in (1.0, 2.0))
    np.testing.assert_allclose(posterior.prior.precision, expected.precision, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(posterior.prior.pull, expected.pull, rtol=1e-6, atol=1e-9)
    assert not np.allclose(posterior.prior.precision, heavier.precision, rtol=1e-2)  # the twin: of another mass
