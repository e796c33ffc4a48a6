"""Standard parameters of a model: the most likely bodies, and what determines each parameter.

Motion determines base parameters beta = K theta. The prior says which standard parameters are likely among all that
give beta. The model consists of bodies: the physically consistent standard parameters that are most likely after the
data,

Identity      minimize ½ (theta - target)ᵀ H (theta - target),   H = Kᵀ N K + Sigma⁻¹,
              target = H⁻¹ (Kᵀ b + Sigma⁻¹ mean)
Notation      N, b          normal equations, weighted by the information per equation of each joint. For estimators
                            without a prior b is N beta: their estimate counts, such as that of Huber's weights
              mean, Sigma   prior of theta: that of the estimator or, for estimators without one, the prior around the
                            description with ten times its usual widths
              width         factor of the prior's standard deviations of the links. If the evidence chose them, other
                            widths are tried: bodies are fitted to a part of the data and predict the rest. The evidence
                            knows nothing of the constraints, nor of what the model lacks

The standard deviations are those of theta given beta and its covariance:

Identity      B = Sigma Kᵀ (K Sigma Kᵀ)⁻¹,   cov(theta) = Sigma - B K Sigma + B cov(beta) Bᵀ
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.consistency.bounds import (
    BodyBounds,
    Inequalities,
    make_drive_limits,
    raise_coulomb_friction,
)
from ytheta.identification.consistency.nearest import NearestBodies, prepare_body_program, solve_body_program
from ytheta.identification.consistency.program import BodyProgram
from ytheta.identification.consistency.reference import PlausibleReference, make_plausible_reference
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.identification.estimators.empirical_bayes import make_prior, select_columns
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.priors.noise import PREPARATION_ERROR
from ytheta.identification.priors.prior import Family, Prior, PriorSettings, invert_rows
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive, find_driving_speed, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    BaseByBase,
    BaseBySelected,
    Bool,
    Float,
    PerBase,
    PerCoordinate,
    PerJoint,
    PerParameter,
    PerSelected,
    freeze,
)

# Widths of the prior around the description for estimators without prior, relative to the usual ones. Chosen on:
# reasoning; it only decides between parameters among which the data hardly decide.
WEAK_PRIOR_FACTOR = 10.0
# Factors of the prior's widths with which bodies are fitted: that of the evidence first, then a prior that hardly
# counts, and tighter ones. Chosen on: reasoning; on the recorded logs of the shared data, the choice among them gave
# errors on other motion of 0.97 times those of the first alone (geometric mean), at worst 1.02 times.
WIDTHS = (1.0, 10.0, 0.5, 0.25)
# Reduction of the error on parts of the data that were not fitted, from which another width is taken than that of the
# evidence. Chosen on: the same logs; results are the same from 0 to 0.1.
MIN_WIDTH_GAIN = 0.05
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
    std, prior_std   their standard deviations after and before the data
    base_prior_std   standard deviations of the base parameters before the data
    fit              the bodies of the model, and how they were found
    """

    names: tuple[str, ...]
    std: PerSelected
    prior_std: PerSelected
    base_prior_std: PerBase
    fit: BodyFit

    @property
    def theta(self) -> PerParameter:
        """All standard parameters of the bodies, in the order of ``robot.parameter_names``."""
        return self.fit.theta

    @property
    def bodies(self) -> NearestBodies:
        """How the bodies were found."""
        return self.fit.bodies

    @cached_property
    def marks(self) -> dict[str, Mark]:
        """What determines each selected standard parameter."""
        return dict(zip(self.names, mark_parameters(self.std, self.prior_std), strict=True))

    @property
    def data_shares(self) -> PerSelected:
        """Share of the prior's variance of each selected standard parameter that the data have removed."""
        return compute_data_shares(self.std, self.prior_std)


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


@dataclass(frozen=True, eq=False)
class BodyFit:
    """The most likely bodies.

    Attributes
    ----------
    theta    all standard parameters of the robot, in the order of ``robot.parameter_names``
    width    factor of the prior's widths of the links, see the module docstring
    bodies   the solution of the program
    program  the cone program
    """

    theta: PerParameter
    width: float
    bodies: NearestBodies
    program: BodyProgram


@dataclass(frozen=True, eq=False)
class BodyProblem:
    """What bodies are fitted with, beside data.

    Attributes
    ----------
    base           the base parameters
    prior, scales  the prior of the selected standard parameters, and its scales
    is_prior_of_estimate
                   whether the estimate has this prior too
    may_choose     whether other widths than that of the scales may be taken: the evidence chose them
    bounds         bounds of masses and centres of mass
    highest_speeds the highest speed of each drive in the logs, up to which friction must brake
    """

    base: BaseParameters
    prior: Prior
    scales: PerCoordinate
    is_prior_of_estimate: bool
    may_choose: bool
    bounds: BodyBounds
    highest_speeds: Mapping[str, float]

    @classmethod
    def of(
        cls,
        base: BaseParameters,
        estimate: Estimate,
        equations: NormalEquations,
        *,
        settings: PriorSettings,
        bounds: BodyBounds,
        highest_speeds: Mapping[str, float],
    ) -> BodyProblem:
        """Return the problem of an estimate."""
        if estimate.posterior is not None and not settings.flat:
            posterior, may_choose = estimate.posterior, settings.is_chosen_by_data
            return cls(base, posterior.prior, posterior.scales, True, may_choose, bounds, highest_speeds)
        prior = make_prior(base, equations, PriorSettings(description=settings.description))
        scales = WEAK_PRIOR_FACTOR * prior.compute_scales(np.array([hyper.mean for hyper in prior.hyper]))
        return cls(base, prior, scales, False, False, bounds, highest_speeds)

    def fit(self, N: BaseByBase, b: PerBase, width: float) -> BodyFit:
        """Return the most likely bodies for weighted normal equations."""
        program = self._make_program(N, b, width)
        bodies = solve_body_program(program)
        theta = raise_coulomb_friction(self.base.robot, bodies.theta, set(self.base.selected))
        return BodyFit(freeze(theta), width, bodies, program)

    def release(self, N: BaseByBase, b: PerBase, width: float, links: Sequence[str]) -> PerParameter:
        """Return the most likely standard parameters if these links need not be bodies; nothing is expected of them."""
        program = self._make_program(N, b, width, released=links)
        fewer = program.without([each.label for each in program.constraints if each.link in links])
        return fewer.compute_theta(fewer.solve().v if fewer.constraints else np.zeros(fewer.W.shape[1]))

    def _make_program(self, N: BaseByBase, b: PerBase, width: float, released: Sequence[str] = ()) -> BodyProgram:
        robot, names = self.base.robot, self.base.selected
        links = self.prior.belongs_to((Family.LINK, Family.ADDED_LOAD))
        scales = np.where(links, width * self.scales, self.scales)
        rows = [k for k, name in enumerate(names) if name.rpartition(".")[0] in released]
        scales = np.where(links & self.prior.axes[rows].any(axis=0), RELEASED_WIDTH * scales, scales)
        inverse = np.linalg.inv(self.prior.axes * scales)
        precision = inverse.T @ inverse
        metric = self._columns.T @ N @ self._columns + precision
        places = [robot.parameter_names.index(name) for name in names]
        target, full = robot.theta.copy(), np.zeros((len(robot.theta),) * 2)
        target[places] = np.linalg.solve(metric, self._columns.T @ b + precision @ self.prior.mean)
        full[np.ix_(places, places)] = metric
        # Drives without any equation keep their described values; links may have to change to be bodies.
        has_effect = np.einsum("bk,bc,ck->k", self._columns, N, self._columns) > 0.0
        link_names = {parameter_name(link.name, each) for link in robot.merged.links for each in LINK_PARAMETERS}
        free = [name for name, moves in zip(names, has_effect, strict=True) if moves or name in link_names]
        return prepare_body_program(
            robot,
            target,
            full,
            reference=self._reference,
            free=free,
            bounds=self.bounds,
            inequalities=self._drive_limits,
        )

    def choose_width(self, parts: Sequence[NormalEquations], weights: PerJoint) -> float:
        """Return the width with which bodies predict best the parts of the data that were not fitted."""
        first, *others = WIDTHS
        limit = (1.0 - MIN_WIDTH_GAIN) ** 2 * self._cross_validate(parts, weights, first)
        if limit <= sum(compute_least_squares(part, weights > 0.0) for part in parts):
            return first  # no parameters at all predict the parts so well
        squares = {width: self._cross_validate(parts, weights, width) for width in others}
        best = min(squares, key=lambda width: squares[width])
        return best if squares[best] < limit else first

    def _cross_validate(self, parts: Sequence[NormalEquations], weights: PerJoint, width: float) -> float:
        """Return the sum of the squared errors of every part, predicted by bodies that were fitted to the others."""
        total = 0.0
        for k, part in enumerate(parts):
            others = reduce(operator.add, (*parts[:k], *parts[k + 1 :]))
            theta = self.fit(others.matrix(weights), others.right_side(weights), width).theta
            total += float(part.residual_squares(self.base.K @ theta) @ (weights > 0.0))
        return total

    @cached_property
    def _columns(self) -> BaseBySelected:
        return select_columns(self.base)

    @cached_property
    def _drive_limits(self) -> Inequalities:
        return make_drive_limits(self.base.robot, set(self.base.selected), self.highest_speeds)

    @cached_property
    def _reference(self) -> PlausibleReference:
        return make_plausible_reference(self.base.robot)


def compute_least_squares(equations: NormalEquations, is_used: Bool[np.ndarray, " joints"]) -> float:
    """Return the sum of the squared errors of these joints that no parameters make smaller."""
    ones = is_used.astype(float)
    beta = NormalDecomposition.of(equations.matrix(ones)).solve(equations.right_side(ones))
    return float(equations.residual_squares(beta) @ ones)


def fit_bodies(
    problem: BodyProblem,
    estimate: Estimate,
    equations: NormalEquations,
    weights: PerJoint,
    parts: Sequence[NormalEquations],
) -> BodyFit:
    """Return the bodies of a model; see the module docstring.

    ``weights``: information per equation of each joint. ``parts``: the equations of parts of the data, at least two, of
    which each is predicted from the others; fewer if the prior has the width that was given.
    """
    N = equations.matrix(weights)
    width = problem.choose_width(parts, weights) if len(parts) > 1 else WIDTHS[0]
    return problem.fit(N, N @ estimate.beta if estimate.posterior is None else equations.right_side(weights), width)


def describe_standard_parameters(
    problem: BodyProblem, fit: BodyFit, estimate: Estimate, covariance: BaseByBase
) -> StandardParameters:
    """Return the standard parameters of a model with their standard deviations; ``covariance`` is that of beta."""
    columns, axes = select_columns(problem.base), problem.prior.axes * problem.scales
    effect = columns @ axes
    B = axes @ invert_rows(effect)
    rest = axes - B @ effect
    total = covariance
    if not problem.is_prior_of_estimate:  # an estimate without prior says nothing about these directions
        unseen = _project_on(estimate.unidentified) @ effect
        total = covariance + unseen @ unseen.T
    variance = np.sum(rest**2, axis=1) + np.sum((B @ total) * B, axis=1)
    return StandardParameters(
        names=problem.base.selected,
        std=freeze(np.sqrt(variance)),
        prior_std=freeze(np.linalg.norm(axes, axis=1)),
        base_prior_std=freeze(np.linalg.norm(effect, axis=1)),
        fit=fit,
    )


def _project_on(directions: Float[np.ndarray, "base directions"]) -> BaseByBase:
    """Return the projection on the space that these directions span."""
    Q = np.linalg.qr(directions)[0]
    return np.asarray(Q @ Q.T)


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


# Links at which a description lacks something: those that would fit the data better if they were free.
#
# If the bodies are far from what the data want, some link has to carry what the description lacks, such as a load or a
# counterbalance. A link is released: it need not be a body, and nothing is expected of it. The other bodies are fitted
# again, and the reduction of the squared errors is the gain of this link. The gains of several links do not add up:
# neighbours can carry the same deviation.


# Factor of the prior's widths of a link that is released. Chosen on: reasoning; so large that the data decide alone.
RELEASED_WIDTH = 1e3
# Reduction of the squared errors by releasing a link, relative to what releasing all links gives, from which it is
# named. Chosen on: rule of thumb.
MIN_LACKING_SHARE = 0.3


def find_lacking_links(
    problem: BodyProblem, fit: BodyFit, equations: NormalEquations, weights: PerJoint
) -> dict[str, float]:
    """Return the links that would fit clearly better if they were free, the best first, with shares of the gain."""
    N, b = equations.matrix(weights), equations.right_side(weights)

    def compute_cost(theta: PerParameter) -> float:
        return float(equations.residual_squares(problem.base.K @ theta) @ weights)

    links = tuple(fit.program.indices)
    cost = compute_cost(fit.theta)
    gain = cost - compute_cost(problem.release(N, b, fit.width, links))
    shares = {
        link: (cost - compute_cost(problem.release(N, b, fit.width, (link,)))) / gain for link in links if gain > 0.0
    }
    ranked = sorted(shares.items(), key=lambda pair: -pair[1])
    return {link: share for link, share in ranked if share >= MIN_LACKING_SHARE}


# What physical consistency costs: torque errors of the free estimate and of the bodies, which are the model.


# Error of the bodies divided by that of the estimate, above which a finding names the links. Chosen on: rule of thumb.
MAX_CONSISTENCY_COST = 1.1
# Error of the bodies in percent, up to which its ratio to that of the estimate does not matter. Chosen on: reasoning;
# twenty times the error that the preparation leaves in the torques, and a hundredth of what a good model may have.
MAX_NEGLIGIBLE_ERROR = 2000.0 * PREPARATION_ERROR


@dataclass(frozen=True)
class ConsistencyCost:
    """Torque errors in percent of the free estimate and of the bodies; None without validation logs."""

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
    def is_high(self) -> bool:
        """Whether consistency costs so much that the links that lack something are looked for."""
        return self.ratio > MAX_CONSISTENCY_COST and not self.is_negligible

    @property
    def worst(self) -> tuple[float, float]:
        """Errors of the estimate and of the bodies, on the logs of the fit or validation where they differ more."""
        pairs = [(self.estimate_percent, self.bodies_percent)]
        if self.validation_estimate_percent is not None and self.validation_bodies_percent is not None:
            pairs.append((self.validation_estimate_percent, self.validation_bodies_percent))
        return max(pairs, key=lambda pair: _divide(*pair))


def _divide(estimate: float, bodies: float) -> float:
    return bodies / estimate if estimate > 0.0 else 1.0
