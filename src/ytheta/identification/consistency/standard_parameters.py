"""Standard parameters: their distribution given the base parameters, and the bodies nearest to it.

Motion determines base parameters beta = K theta. The prior says which standard parameters are likely among all that
give beta:

Identity      E[theta | beta] = mean + B (beta - K mean),   B = Sigma Kᵀ (K Sigma Kᵀ)⁻¹
              cov(theta) = Sigma - B K Sigma + B cov(beta) Bᵀ
Notation      mean, Sigma   prior of theta: that of the estimator or, for estimators without one, the prior around the
                            description with ten times its usual widths
              H             metric of data and prior together: Kᵀ N K + Sigma⁻¹, N = cov of the noise alone, inverted

The model file contains bodies: the physically consistent parameters nearest to the most likely ones in the metric H.
With a prior in the estimator, these are E[theta | beta]. Without one, beta can be far from all bodies along directions
that the data hardly determine, and E[theta | beta] too; they are then H⁻¹ (Kᵀ N beta + Sigma⁻¹ mean).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.engine.local import limit_blas_threads
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.consistency.bounds import BodyBounds, make_drive_limits, raise_coulomb_friction
from ytheta.identification.consistency.nearest import NearestBodies, prepare_body_program, solve_body_program
from ytheta.identification.consistency.program import BodyProgram
from ytheta.identification.consistency.reference import PlausibleReference, make_plausible_reference
from ytheta.identification.consistency.solver import Solution
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.empirical_bayes import make_prior, select_columns
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.priors.noise import PREPARATION_ERROR
from ytheta.identification.priors.prior import Prior, PriorSettings, invert_rows
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive, find_driving_speed, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Float, PerBase, PerCoordinate, PerSelected, freeze

# Widths of the prior around the description for estimators without prior, relative to the usual ones. Chosen on:
# reasoning; it only decides between parameters among which the data hardly decide.
WEAK_PRIOR_FACTOR = 10.0
# Share of the prior's variance that the data have removed, from which on a parameter is determined by the data.
# Chosen on: rule of thumb.
MIN_DATA_SHARE = 0.9
# The same share, up to which a parameter is determined by the prior. Chosen on: rule of thumb.
MAX_PRIOR_SHARE = 0.1


class Mark(Enum):
    """What determines the value of a parameter."""

    DATA = "data"
    SHARED = "shared"
    PRIOR = "prior"


@dataclass(frozen=True, eq=False)
class StandardParameters:
    """Standard parameters of an identified model. The arrays are read-only.

    Attributes
    ----------
    names            names of the selected standard parameters
    mean             E[theta | beta] of the selected parameters: not always bodies
    std, prior_std   their standard deviations after and before the data
    base_prior_std   standard deviations of the base parameters before the data
    theta            all standard parameters of the bodies, in the order of ``robot.parameter_names``
    bodies           how the bodies were found
    reference        plausible bodies of the description
    program          the cone program whose solution the bodies are
    """

    names: tuple[str, ...]
    mean: PerSelected
    std: PerSelected
    prior_std: PerSelected
    base_prior_std: PerBase
    theta: Float[np.ndarray, " params"]
    bodies: NearestBodies
    reference: PlausibleReference
    program: BodyProgram

    @cached_property
    def marks(self) -> dict[str, Mark]:
        """What determines each selected standard parameter."""
        return dict(zip(self.names, mark_parameters(self.std, self.prior_std), strict=True))

    @property
    def data_shares(self) -> PerSelected:
        """Share of the prior's variance of each selected standard parameter that the data have removed."""
        return compute_data_shares(self.std, self.prior_std)

    def find_suspicious_links(self) -> tuple[SuspiciousLink, ...]:
        """Return the links whose physical consistency costs most: the description may lack something there."""
        return find_suspicious_links(self.program, self.bodies)


def mark_parameters(std: np.ndarray, prior_std: np.ndarray) -> tuple[Mark, ...]:
    """Mark parameters by the share of the prior's variance that the data have removed."""
    return tuple(
        Mark.DATA if share >= MIN_DATA_SHARE else Mark.PRIOR if share <= MAX_PRIOR_SHARE else Mark.SHARED
        for share in compute_data_shares(std, prior_std)
    )


def compute_data_shares(std: np.ndarray, prior_std: np.ndarray) -> np.ndarray:
    """Return the share of the prior's variance of each parameter that the data have removed."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isfinite(std), 1.0 - (std / prior_std) ** 2, 0.0)


def find_standard_parameters(
    base: BaseParameters,
    estimate: Estimate,
    equations: NormalEquations,
    covariance: BaseByBase,
    noise_weights: Float[np.ndarray, " joints"],
    *,
    settings: PriorSettings,
    bounds: BodyBounds,
    highest_speeds: Mapping[str, float],
) -> StandardParameters:
    """Return the standard parameters of an estimate; see the module docstring.

    ``covariance``: covariance of beta. ``noise_weights``: information per equation of each joint, which makes N.
    ``highest_speeds``: the highest speed of each drive in the logs, up to which friction must brake.
    """
    prior, scales = _find_prior(base, estimate, equations, settings)
    columns, axes = select_columns(base), prior.axes * scales
    effect = columns @ axes
    B = axes @ invert_rows(effect)
    mean = prior.mean + B @ (estimate.beta - columns @ prior.mean)
    rest = axes - B @ effect
    unseen = (
        _project_on(estimate.unidentified) @ effect
    )  # an estimate without prior says nothing about these directions
    has_prior = estimate.posterior is not None and not settings.flat
    total = covariance if has_prior else covariance + unseen @ unseen.T
    variance = np.sum(rest**2, axis=1) + np.sum((B @ total) * B, axis=1)
    inverse = np.linalg.inv(axes)
    N, precision = equations.matrix(noise_weights), inverse.T @ inverse
    metric = columns.T @ N @ columns + precision
    pull = columns.T @ N @ estimate.beta + precision @ prior.mean
    places = [base.robot.parameter_names.index(name) for name in base.selected]
    target = base.robot.theta.copy()
    target[places] = mean if has_prior else np.linalg.solve(metric, pull)
    full = np.zeros((len(target), len(target)))
    full[np.ix_(places, places)] = metric
    reference = make_plausible_reference(base.robot)
    program = prepare_body_program(
        base.robot,
        target,
        full,
        reference=reference,
        free=base.selected,
        bounds=bounds,
        inequalities=make_drive_limits(base.robot, set(base.selected), highest_speeds),
    )
    bodies = solve_body_program(program)
    return StandardParameters(
        names=base.selected,
        mean=freeze(mean),
        std=freeze(np.sqrt(variance)),
        prior_std=freeze(np.linalg.norm(axes, axis=1)),
        base_prior_std=freeze(np.linalg.norm(effect, axis=1)),
        theta=freeze(raise_coulomb_friction(base.robot, bodies.theta, set(base.selected))),
        bodies=bodies,
        reference=reference,
        program=program,
    )


def _project_on(directions: Float[np.ndarray, "base directions"]) -> BaseByBase:
    """Return the projection on the space that these directions span."""
    Q = np.linalg.qr(directions)[0]
    return np.asarray(Q @ Q.T)


def _find_prior(
    base: BaseParameters, estimate: Estimate, equations: NormalEquations, settings: PriorSettings
) -> tuple[Prior, PerCoordinate]:
    """Return the prior of the estimator and its scales or, without one, a weak prior around the description."""
    if estimate.posterior is not None and not settings.flat:
        return estimate.posterior.prior, estimate.posterior.scales
    prior = make_prior(base, equations, PriorSettings(description=settings.description))
    return prior, WEAK_PRIOR_FACTOR * prior.compute_scales(np.array([hyper.mean for hyper in prior.hyper]))


def with_friction(robot: Robot, values: Mapping[str, float]) -> Robot:
    """Return the robot with these friction parameters, given by name; others keep the values of the description."""

    def change(name: str, drive: Drive) -> Drive:
        identified: dict[str, Any] = {
            kind: values[parameter]
            for kind, symbol in FRICTION_PARAMETERS.items()
            if (parameter := parameter_name(name, symbol)) in values
        }
        return replace(drive, **identified)

    return robot.with_drives(change)


def find_inconsistent_parts(robot: Robot) -> dict[str, str]:
    """Return the links and drives whose parameters are not physically consistent, each with the reason."""
    links = {name: consistency.reason for name, consistency in robot.consistency.items() if not consistency}
    drives: dict[str, str] = {}
    for name, drive in robot.drives:
        speed = find_driving_speed(drive)
        if drive.rotor_inertia < 0.0:
            drives[name] = "Ia is negative"
        elif speed is not None:
            drives[name] = f"friction accelerates it at {speed:.3g} rad/s or m/s"
        elif drive.load is not None and drive.load < 0.0:
            drives[name] = "fl is negative"
    return links | drives


# Links at which a description lacks something: where physical consistency costs most.
#
# If the nearest bodies are far from the estimate, some link has to carry what the description lacks, such as a load or
# a counterbalance. The constraints on a link are dropped and the nearest bodies of all other links are computed again;
# the reduction of the distance is the cost of this link. Only constraints that hold with equality have a cost. Links
# are tried in the order of the forces of their constraints, which the solver returns with the solution.


# Largest number of links for which bodies are computed again without their constraints. It affects only the time of
# an explanation and the length of its list.
MAX_LINKS = 6
# Smallest cost of a link that is named, relative to the distance. Chosen on: reasoning; smaller costs are within the
# tolerance of the solver.
MIN_SHARE = 1e-6


@dataclass(frozen=True)
class SuspiciousLink:
    """A link whose constraints keep the bodies away from the estimate.

    Attributes
    ----------
    link   name of the link
    cost   reduction of the distance if the constraints on this link are dropped
    share  cost divided by the whole distance
    """

    link: str
    cost: float
    share: float


@limit_blas_threads()
def find_suspicious_links(
    program: BodyProgram, nearest: NearestBodies, *, max_links: int = MAX_LINKS
) -> tuple[SuspiciousLink, ...]:
    """Return the links whose constraints cost distance, the most expensive first.

    ``nearest`` is the solution of ``program``, see ``prepare_body_program``. The costs of several links do not add up
    to the distance: neighbours can carry the same deviation.
    """
    if not nearest.distance > 0.0:
        return ()
    labels: dict[str, set[str]] = {}
    for constraint in program.constraints:
        if constraint.link is not None:
            labels.setdefault(constraint.link, set()).add(constraint.label)
    forces = {link: max(nearest.forces.get(label, 0.0) for label in of_link) for link, of_link in labels.items()}
    links = [link for link in sorted(forces, key=lambda link: -forces[link]) if forces[link] > 0.0][:max_links]
    costs = [(link, compute_cost(program, nearest, labels[link])) for link in links]
    return tuple(
        SuspiciousLink(link, cost, cost / nearest.distance)
        for link, cost in sorted(costs, key=lambda pair: -pair[1])
        if cost > MIN_SHARE * nearest.distance
    )


@limit_blas_threads()
def compute_cost(program: BodyProgram, nearest: NearestBodies, labels: Collection[str]) -> float:
    """Return by how much the distance is reduced if the constraints of these labels are dropped, at least 0."""
    fewer = program.without(labels)
    if not fewer.constraints:
        return nearest.distance
    outcome = fewer.solve()
    if outcome.solution is Solution.INFEASIBLE:  # cannot be, since the bodies satisfy all constraints
        return 0.0
    return max(nearest.distance - fewer.compute_distance(outcome.v), 0.0)


# What physical consistency costs: torque errors of an estimate and of the bodies nearest to it.


# Error of the bodies in percent, up to which its ratio to that of the estimate does not matter. Chosen on: reasoning;
# twenty times the error that the preparation leaves in the torques, and a hundredth of what a good model may have.
MAX_NEGLIGIBLE_ERROR = 2000.0 * PREPARATION_ERROR


@dataclass(frozen=True)
class ConsistencyCost:
    """Torque errors in percent of the estimate and of the bodies nearest to it; None without validation logs."""

    estimate_percent: float
    bodies_percent: float
    validation_estimate_percent: float | None = None
    validation_bodies_percent: float | None = None

    @property
    def ratio(self) -> float:
        """Error of the bodies divided by the error of the estimate, on the logs where it is larger."""
        return _divide(*self.worst)

    @property
    def is_negligible(self) -> bool:
        """Whether the error of the bodies is so small that it does not matter how much smaller the estimate's is."""
        return max(self.bodies_percent, self.validation_bodies_percent or 0.0) <= MAX_NEGLIGIBLE_ERROR

    @property
    def worst(self) -> tuple[float, float]:
        """Errors of the estimate and of the bodies, on the logs of the fit or validation where they differ more."""
        pairs = [(self.estimate_percent, self.bodies_percent)]
        if self.validation_estimate_percent is not None and self.validation_bodies_percent is not None:
            pairs.append((self.validation_estimate_percent, self.validation_bodies_percent))
        return max(pairs, key=lambda pair: _divide(*pair))


def _divide(estimate: float, bodies: float) -> float:
    return bodies / estimate if estimate > 0.0 else 1.0
