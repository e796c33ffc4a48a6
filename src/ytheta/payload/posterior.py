"""The payload and the errors of the model, given what logs say about both and what is known of them before.

Identity      H = Mᵀ J M + Lambda,   H x = Mᵀ J M x_hat + Lambda x0,   x = (theta_p, z),   M = diag(1, B)
Notation      code      meaning
              J, x_hat  information of the logs and their least-squares estimate, in the columns of ``columns``
              B, z      errors of the model, see ``estimation``
              Lambda    precision of the prior: that of the compact body below, and one for z

The covariance of the payload is its block of H⁻¹: it contains the errors of the model, because z is estimated together
with the payload. A known mass is not an unknown of the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia, Ten, transport_matrix
from ytheta.shapes import Float, Matrix4

# Largest number of rounds in which the prior is centred on the estimate. Chosen on: rule of thumb.
MAX_ROUNDS = 50
# Change of the centre in m from one round to the next, at which they end. Chosen on: reasoning; a rounding error.
MAX_CENTER_CHANGE = 1e-12

PerError = Float[np.ndarray, "errors"]


@dataclass(frozen=True, eq=False)
class LogInformation:
    """J and J x_hat of logs, for the payload and z: ``matrix`` and ``right_side``."""

    matrix: Float[np.ndarray, "unknown unknown"]
    right_side: Float[np.ndarray, " unknown"]

    def __add__(self, other: LogInformation) -> LogInformation:
        return LogInformation(self.matrix + other.matrix, self.right_side + other.right_side)


@dataclass(frozen=True, eq=False)
class PayloadPosterior:
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


def compute_posterior(information: LogInformation, *, arm_mass: float, mass: float | None) -> PayloadPosterior:
    """Return the posterior; ``mass``: the known mass of the payload in kg, or None."""
    prior = make_wide_prior(arm_mass)
    x, covariance = _solve(information, prior, mass)
    for _ in range(MAX_ROUNDS):
        center = _find_center(x)
        prior = make_body_prior(float(x[0]), center, arm_mass)
        x, covariance = _solve(information, prior, mass)
        if abs(_find_center(x) - center).max() <= MAX_CENTER_CHANGE:
            break
    return PayloadPosterior(x[:10], x[10:], covariance, prior, mass)


def make_wide_prior(arm_mass: float) -> BodyPrior:
    """Return a prior of a payload of which not even mass and centre are known."""
    scale = np.array([1.0, *[CENTER_STD] * 3, *[CENTER_STD**2] * 6]) * max(arm_mass, 1.0)
    return BodyPrior(np.diag(scale**-2.0), np.zeros(10), np.eye(4))


def _find_center(x: Float[np.ndarray, " unknown"]) -> Float[np.ndarray, "3"]:
    return x[1:4] / x[0] if x[0] > 0.0 else np.zeros(3)


def _solve(
    information: LogInformation, prior: BodyPrior, mass: float | None
) -> tuple[Float[np.ndarray, " unknown"], Float[np.ndarray, "unknown unknown"]]:
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


# What is known of a payload before the data: it is a compact body of moderate density, and not heavier than the arm.
#
# Identity      -2 log p = (m / M)² + |h|² / (m R)² + |S - S0|² / (s S0)²   up to a constant
#               S0 = sigma 1, sigma = m r² / 5, (4/3) pi r³ rho = m: a solid ball
# Reference     T. Lee, P. M. Wensing and F. C. Park, Geometric Robot Dynamic Identification: A Convex Programming
#               Approach, IEEE Transactions on Robotics 36(2), 2020: the metric tr(S0⁻¹ dS S0⁻¹ dS)
# Notation      code    meaning
#               M       mass of the arm in kg
#               h       first moments in the frame of the link
#               R       expected distance of the centre of mass from its origin, CENTER_STD
#               S       second moments about the centre of mass, S = tr(I)/2 1 - I, linear in the ten parameters if the
#                       centre is known: the prior is centred on the estimate, and computed again with the next one
#
# Mass and centre are practically free: their prior only keeps a payload that the motion does not show from being
# arbitrary. The prior of the moments of inertia is centred on a ball, three times as wide as its moments.


# Density of a payload in kg/m³. Chosen on: rule of thumb, for grippers and full boxes with their gaps; solid plastic
# has 1000, steel 7800.
DENSITY = 300.0
# Standard deviation of second moments, relative to those of the ball of this density. Chosen on: rule of thumb.
RELATIVE_WIDTH = 3.0
# Standard deviation in m of every coordinate of the centre of mass in the frame of the link. Chosen on: rule of
# thumb.
CENTER_STD = 0.5
# Largest coordinate in m of the centre on which the prior is centred. Chosen on: rule of thumb.
MAX_CENTER = 4.0 * CENTER_STD
# Smallest mass of the compact body, relative to the arm's; a lighter payload is taken to have this mass. Chosen on:
# rule of thumb.
MIN_MASS_SHARE = 1e-4
# Mass of the arm in kg, if the description has no masses. Chosen on: rule of thumb.
DEFAULT_ARM_MASS = 20.0

Precision = Float[np.ndarray, "10 10"]


@dataclass(frozen=True, eq=False)
class BodyPrior:
    """A normal distribution of the ten parameters of a payload, in the frame of its link.

    Attributes
    ----------
    precision  inverse covariance
    pull       precision times mean
    reference  pseudo-inertia of the ball at the centre of mass, in the frame of the link
    """

    precision: Precision
    pull: Ten
    reference: Matrix4


def make_body_prior(mass: float, center: Float[np.ndarray, "3"], arm_mass: float) -> BodyPrior:
    """Return the prior for an estimate of mass and centre of mass; a mass that is not positive is replaced."""
    arm_mass = arm_mass if arm_mass > 0.0 else DEFAULT_ARM_MASS
    is_light = not mass > MIN_MASS_SHARE * arm_mass
    mass = MIN_MASS_SHARE * arm_mass if is_light else mass
    center = np.zeros(3) if is_light else np.clip(center, -MAX_CENTER, MAX_CENTER)
    sigma = mass * compute_ball_radius(mass) ** 2 / 5.0
    to_center = transport_matrix(Frame.shift(*(-center).tolist()))[4:]
    moments = _SECOND_MOMENTS / (RELATIVE_WIDTH * sigma)
    ball = Inertia.about_center(mass, (0.0, 0.0, 0.0), tuple(map(tuple, 2.0 * sigma * np.eye(3))))  # type: ignore[arg-type]
    precision = np.diag([arm_mass**-2.0, *[(mass * CENTER_STD) ** -2.0] * 3, *[0.0] * 6])
    Q = moments.T @ moments
    precision += to_center.T @ Q @ to_center
    pull = to_center.T @ Q @ ball.vector[4:]
    return BodyPrior(precision, pull, ball.seen_from(Frame.shift(*center.tolist())).pseudo)


def compute_ball_radius(mass: float) -> float:
    """Return the radius in m of a ball of this mass."""
    return float((3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0))


def _make_second_moments() -> Float[np.ndarray, "9 6"]:
    """Return the matrix from the six moments of inertia to the entries of S = tr(I)/2 1 - I."""
    columns = []
    for row, column in INERTIA_ENTRIES:
        tensor = np.zeros((3, 3))
        tensor[row, column] = tensor[column, row] = 1.0
        columns.append((np.trace(tensor) / 2.0 * np.eye(3) - tensor).ravel())
    return np.stack(columns, axis=1)


_SECOND_MOMENTS = _make_second_moments()
