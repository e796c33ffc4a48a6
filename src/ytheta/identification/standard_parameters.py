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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.bodies.bounds import BodyBounds
from ytheta.identification.bodies.drive_limits import make_drive_limits, raise_coulomb_friction
from ytheta.identification.bodies.nearest import NearestBodies, prepare_body_program, solve_body_program
from ytheta.identification.bodies.program import BodyProgram
from ytheta.identification.bodies.reference import PlausibleReference, make_plausible_reference
from ytheta.identification.bodies.suspicious import SuspiciousLink, find_suspicious_links
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.estimators.evidence.empirical_bayes import make_prior, select_columns
from ytheta.identification.priors.prior import Prior, invert_rows
from ytheta.identification.priors.settings import PriorSettings
from ytheta.robot.friction_curve import find_driving_speed
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Float, PerBase, PerCoordinate, PerSelected, freeze

# Widths of the prior around the description for estimators without prior, relative to the usual ones. It only decides
# between parameters among which the data hardly decide.
WEAK_PRIOR_FACTOR = 10.0
# Share of the prior's variance that the data have removed.
MIN_DATA_SHARE = 0.9  # from this share on, a parameter is determined by the data
MAX_PRIOR_SHARE = 0.1  # up to this share, it is determined by the prior


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
    theta: Float[np.ndarray, "params"]
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
    noise_weights: Float[np.ndarray, "joints"],
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
