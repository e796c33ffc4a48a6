"""Small random problems of evidence, and their solution by formulas that need no factorisation."""

from __future__ import annotations

import numpy as np

from ytheta.identification.priors.evidence import DataInformation, Evidence, Posterior
from ytheta.identification.priors.prior import Family, Hyperparameter, Prior

HYPER = (
    Hyperparameter("description", -1.0, 0.8),
    Hyperparameter("link", 0.0, 1.0),
    Hyperparameter("rotor inertia", -2.0, 2.0),
)
FAMILIES = (*(Family.LINK,) * 5, *(Family.ROTOR,) * 2, Family.FLAT)
DESIGN = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=float)


def draw_prior(seed: int = 0) -> Prior:
    """A prior of eight parameters with three hyperparameters."""
    rng = np.random.default_rng(seed)
    names = tuple(f"p{k}" for k in range(8))
    axes = np.eye(8) + 0.3 * rng.normal(size=(8, 8))
    axes[5:, :5] = axes[:5, 5:] = 0.0  # families are independent
    axes[5:, 5:] = np.diag(rng.uniform(0.5, 2.0, 3))
    return Prior(names, rng.normal(size=8), axes, FAMILIES, HYPER, DESIGN, 0.1 * rng.normal(size=8))


def draw_evidence(seed: int = 0, *, rank: int = 6, strength: float = 3.0) -> Evidence:
    """Data about six base parameters of eight standard ones; ``rank`` of six directions are identified."""
    rng = np.random.default_rng(seed + 100)
    K = np.concatenate([np.eye(6), rng.normal(size=(6, 2))], axis=1)
    factor = strength * rng.normal(size=(6, rank))
    prior = draw_prior(seed)
    beta = K @ prior.mean + rng.normal(size=6)
    if rank < 6:  # like the solution of normal equations: as the prior expects along unidentified directions
        beta = K @ prior.mean + factor @ np.linalg.pinv(factor) @ (beta - K @ prior.mean)
    return Evidence(DataInformation(beta, factor), prior, K)


def make_posterior(evidence: Evidence, hyper: np.ndarray) -> Posterior:
    """The posterior for hyperparameters that are known exactly."""
    return Posterior(evidence, hyper, np.zeros((len(hyper), len(hyper))))


def compute_dense_posterior(posterior: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of theta by Bayesian linear regression, H = Kᵀ N K + Λ, on inverses of dense matrices."""
    evidence = posterior.evidence
    prior, K = evidence.prior, evidence.K
    axes = prior.axes * posterior.scales
    precision = np.linalg.inv(axes @ axes.T)
    N = evidence.information.factor @ evidence.information.factor.T
    H = K.T @ N @ K + precision
    right = K.T @ N @ evidence.information.beta + precision @ prior.mean
    return np.linalg.solve(H, right), np.linalg.inv(H)
