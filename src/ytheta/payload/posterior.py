"""The payload and the errors of the model, given what logs say about both and what is known of them before.

Identity      H = Mᵀ J M + Lambda,   H x = Mᵀ J M x_hat + Lambda x0,   x = (theta_p, z),   M = diag(1, B)
Notation      code      meaning
              J, x_hat  information of the logs and their least-squares estimate, in the columns of ``columns``
              B, z      errors of the model, see ``model_errors``
              Lambda    precision of the prior: that of ``compact_body``, and one for z

The covariance of the payload is its block of H⁻¹: it contains the errors of the model, because z is estimated together
with the payload. A known mass is not an unknown of the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.payload.compact_body import CENTER_STD, BodyPrior, make_body_prior
from ytheta.robot.inertia import Ten
from ytheta.shapes import Float

MAX_ROUNDS = 50  # of centring the prior on the estimate
MAX_CENTER_CHANGE = 1e-12  # m, from one round to the next

PerError = Float[np.ndarray, "errors"]


@dataclass(frozen=True, eq=False)
class LogInformation:
    """J and J x_hat of logs, for the payload and z: ``matrix`` and ``right_side``."""

    matrix: Float[np.ndarray, "unknown unknown"]
    right_side: Float[np.ndarray, "unknown"]

    def __add__(self, other: LogInformation) -> LogInformation:
        return LogInformation(self.matrix + other.matrix, self.right_side + other.right_side)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution of the payload and of the errors of the model.

    Attributes
    ----------
    theta       ten parameters of the payload, in the frame of its link
    z           errors of the model
    covariance  covariance of theta and z
    prior       the prior of the payload
    mass        the known mass in kg, or None
    """

    theta: Ten
    z: PerError
    covariance: Float[np.ndarray, "unknown unknown"]
    prior: BodyPrior
    mass: float | None

    @property
    def theta_covariance(self) -> Float[np.ndarray, "10 10"]:
        return self.covariance[:10, :10]


def compute_posterior(information: LogInformation, *, arm_mass: float, mass: float | None) -> Posterior:
    """Return the posterior; ``mass``: the known mass of the payload in kg, or None."""
    prior = make_wide_prior(arm_mass)
    x, covariance = _solve(information, prior, mass)
    for _ in range(MAX_ROUNDS):
        center = _find_center(x)
        prior = make_body_prior(float(x[0]), center, arm_mass)
        x, covariance = _solve(information, prior, mass)
        if abs(_find_center(x) - center).max() <= MAX_CENTER_CHANGE:
            break
    return Posterior(x[:10], x[10:], covariance, prior, mass)


def make_wide_prior(arm_mass: float) -> BodyPrior:
    """Return a prior of a payload of which not even mass and centre are known."""
    scale = np.array([1.0, *[CENTER_STD] * 3, *[CENTER_STD**2] * 6]) * max(arm_mass, 1.0)
    return BodyPrior(np.diag(scale**-2.0), np.zeros(10), np.eye(4))


def _find_center(x: Float[np.ndarray, "unknown"]) -> Float[np.ndarray, "3"]:
    return x[1:4] / x[0] if x[0] > 0.0 else np.zeros(3)


def _solve(
    information: LogInformation, prior: BodyPrior, mass: float | None
) -> tuple[Float[np.ndarray, "unknown"], Float[np.ndarray, "unknown unknown"]]:
    """Return mean and covariance; a known mass has no variance."""
    H, b = information.matrix.copy(), information.right_side.copy()
    H[:10, :10] += prior.precision
    b[:10] += prior.pull
    H[range(10, len(H)), range(10, len(H))] += 1.0
    free = np.arange(len(H)) if mass is None else np.arange(1, len(H))
    x = np.zeros(len(H))
    if mass is not None:
        x[0] = mass
    H_free, b_free = H[np.ix_(free, free)], (b - H @ x)[free]
    scale = 1.0 / np.sqrt(np.diag(H_free))
    inverse = np.linalg.inv(H_free * np.outer(scale, scale)) * np.outer(scale, scale)
    x[free] = inverse @ b_free
    x[free] += inverse @ (b_free - H_free @ x[free])  # one step of refinement
    covariance = np.zeros_like(H)
    covariance[np.ix_(free, free)] = (inverse + inverse.T) / 2.0
    return x, covariance
