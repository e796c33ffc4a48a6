"""Recursive least squares with exponential forgetting: on-line, sample by sample, or for whole logs.

Identity      beta_t = argmin  f^t |beta - beta_0|² / initial_spread + sum_{k<=t} f^(t-k) |tau_k - Y_k beta|²
Reference     L. Ljung, "System Identification: Theory for the User", 2nd ed., Prentice Hall 1999, sec. 11.2;
              Potter's square-root update, see ``native.products.root_assembly``
Accepts       every robot and form
Notation      code       meaning                                                          shape
              f          the factor ``forgetting``; 1 while forgetting pauses             scalar
              root       matrix S with P = S Sᵀ, P the covariance in units of the columns base x base
              J          information: the inverse of P                                    base x base
Differs from  them in: the joints of a sample are processed one after the other; the root of P is updated, so that P
              always stays symmetric and positive definite; forgetting pauses while P exceeds ``largest_spread``, as
              during a long rest

``RecursiveLeastSquares`` is for on-line use. A step needs about 6 · joints · base² operations, in machine code.
``Recursive`` computes the same estimate for a whole log in information form: it adds the normal equations of blocks and
reduces the weight of older blocks. If ``initial_spread`` is infinite, the initial values are kept only along directions
that the data do not identify. With forgetting, P is not the covariance of beta. The spread that ``Recursive`` returns
is the covariance, because it is computed with the squared weights of the equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import EquationRows
from ytheta.identification.equations.normal_equations import (
    JointNormalEquations,
    NormalDecomposition,
    NormalEquations,
    accumulate,
)
from ytheta.identification.estimators.estimator import Estimate
from ytheta.native.products.row_sums import update_root
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, PerSample

# Asymmetry of a covariance relative to its largest element, up to which it is accepted. Chosen on: reasoning; larger
# than its rounding errors.
MAX_ASYMMETRY = 1e-9


@dataclass(frozen=True, eq=False)
class RecursiveState:
    """beta, the root S of its scaled covariance, the factors ``units`` of this scaling, and the noise of every joint.

    Attributes
    ----------
    beta
        The estimate.
    units
        The unit in which each element of beta is measured by ``root``.
    root
        Matrix S; ``covariance`` is (units S)(units S)ᵀ.
    variances
        Variance of the torque noise of every joint; None if it is one.
    """

    beta: PerBase
    units: PerBase
    root: BaseByBase
    variances: PerJoint | None = None

    @property
    def covariance(self) -> BaseByBase:
        """The covariance of beta, if the variances of the noise are those of the state."""
        scaled = self.units[:, None] * self.root
        return scaled @ scaled.T


@dataclass(frozen=True)
class RecursiveLeastSquares:
    """The on-line estimator: ``init`` returns a state, and ``step`` updates it with the torques of one sample.

    ``forgetting``: factor by which the weight of an equation is multiplied at each new sample. ``initial_spread``:
    variance of the initial beta, if ``init`` gets no covariance. ``largest_spread``: mean variance above which
    forgetting pauses. Both spreads are in units of the columns, and assume noise of variance one.
    """

    forgetting: float = 1.0
    initial_spread: float = 1e6
    largest_spread: float = 1e12

    def __post_init__(self) -> None:
        check_forgetting(self.forgetting)
        if not 0.0 < self.initial_spread <= self.largest_spread < math.inf:
            raise InputError(
                f"initial_spread is {self.initial_spread} and largest_spread is {self.largest_spread}; both must be "
                "positive and finite, and largest_spread must not be below initial_spread"
            )

    def init(
        self,
        beta: PerBase,
        columns: PerBase | None = None,
        *,
        covariance: np.ndarray | None = None,
        variances: PerJoint | None = None,
    ) -> RecursiveState:
        """Return the initial state.

        Parameters
        ----------
        beta           initial values of the base parameters
        columns        typical magnitudes in the columns of Y; by default 1, or with a covariance the inverse standard
                       deviations
        covariance     covariance of the initial values, such as that of a model file; it replaces ``initial_spread``
        variances      variance of the torque noise of every joint; by default 1. With a covariance, give the variances
                       that belong to it
        """
        if columns is not None and not (np.isfinite(columns) & (columns > 0.0)).all():
            raise InputError("the sizes of columns must be positive and finite; give 1 for a zero column")
        if variances is not None and not (np.isfinite(variances) & (variances > 0.0)).all():
            raise InputError(f"the variances of the noise are {variances}; give positive and finite numbers")
        noise = None if variances is None else np.array(variances, dtype=float)
        values = np.array(beta, dtype=float)
        if covariance is None:
            units = np.ones(len(values)) if columns is None else 1.0 / columns
            return RecursiveState(values, units, math.sqrt(self.initial_spread) * np.eye(len(values)), noise)
        if covariance.shape != (len(values), len(values)):
            raise InputError(
                f"the covariance has shape {covariance.shape}, but there are {len(values)} parameters; give the "
                "covariance of the same base parameters"
            )
        if not np.isfinite(covariance).all():
            raise InputError("the covariance is not finite; give the covariance of identified parameters, or none")
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        units = np.where(deviations > 0.0, deviations, 1.0) if columns is None else 1.0 / columns
        return RecursiveState(values, units, _compute_root(covariance / units[:, None] / units), noise)

    def step(
        self, state: RecursiveState, Y: Float[np.ndarray, "joints base"], tau: PerJoint
    ) -> tuple[PerJoint, RecursiveState]:
        """Return the measured minus the predicted torque, and the state after this sample."""
        residual = tau - Y @ state.beta
        if not math.isfinite(residual.sum()):
            raise InputError("a torque or an entry of Y is not finite; leave out this sample")
        root = state.root.copy()
        if self.forgetting < 1.0 and float(np.vdot(root, root)) <= self.largest_spread * len(state.beta):
            root *= 1.0 / math.sqrt(self.forgetting)
        noise = np.ones(len(residual)) if state.variances is None else state.variances
        change = update_root(root, Y * state.units, noise, residual)
        return residual, RecursiveState(state.beta + state.units * change, state.units, root, state.variances)


def _compute_root(covariance: BaseByBase) -> BaseByBase:
    """Return S with S Sᵀ equal to a covariance, which may be singular."""
    if not np.allclose(covariance, covariance.T, rtol=0.0, atol=MAX_ASYMMETRY * abs(covariance).max(initial=0.0)):
        raise InputError("the covariance is not symmetric; give the covariance of the base parameters")
    values, vectors = np.linalg.eigh(covariance)
    if len(values) and values[0] < -MAX_ASYMMETRY * values[-1]:
        raise InputError("the covariance has a negative eigenvalue; give a positive semidefinite matrix")
    return vectors * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True)
class Recursive:
    """The recursive estimate at the end of a log."""

    forgetting: float = 1.0
    initial_spread: float = math.inf

    def __post_init__(self) -> None:
        check_forgetting(self.forgetting)
        if not self.initial_spread > 0.0:
            raise InputError(f"initial_spread is {self.initial_spread}; give a positive variance, or inf")

    @property
    def name(self) -> str:
        return "recursive"

    def fit(self, problem: EstimationProblem) -> Estimate:
        equations, squared = discount(problem, self.forgetting)
        start, ones = problem.base.beta, np.ones(len(equations.joints))
        residual = equations.right_side(ones) - equations.matrix(ones) @ start
        prior_weight = math.pow(self.forgetting, problem.sample_count) / self.initial_spread
        J = equations.matrix(ones) + prior_weight * np.eye(len(start))
        decomposition = NormalDecomposition.of(J)
        spread = np.zeros((len(ones), len(start), len(start)))
        degrees_of_freedom = np.zeros(len(ones))
        for j, (joint, joint_squared) in enumerate(zip(equations.joints, squared.joints, strict=True)):
            gain = decomposition.inverse[:, joint.columns]
            spread[j] = gain @ joint_squared.gram @ gain.T
            degrees_of_freedom[j] = float(np.sum(gain[joint.columns] * joint.gram))
        beta = start + decomposition.solve(residual)
        return Estimate(beta, spread, degrees_of_freedom, ones, decomposition.null_space)


def discount(problem: EstimationProblem, forgetting: float) -> tuple[NormalEquations, NormalEquations]:
    """Return the normal equations with weights f^age, and those with f^(2 age) for the covariance."""
    if forgetting == 1.0:
        return problem.normal_equations(), problem.normal_equations()
    once = twice = NormalEquations.empty(problem.layout)
    for rows in problem.rows():
        count = rows.tau.shape[1]
        ages = np.arange(count)[::-1]
        f = math.pow(forgetting, count)
        once = _scale(once, f) + _accumulate(problem, rows, forgetting**ages)
        twice = _scale(twice, f * f) + _accumulate(problem, rows, forgetting ** (2 * ages))
    return once, twice


def check_forgetting(forgetting: float) -> None:
    if not 0.0 < forgetting <= 1.0:
        raise InputError(f"forgetting is {forgetting}; give a factor above 0 and at most 1 (1 forgets nothing)")


def _accumulate(problem: EstimationProblem, rows: EquationRows, weights: PerSample) -> NormalEquations:
    mask = np.ones_like(rows.tau) if rows.mask is None else rows.mask
    return accumulate(problem.layout, [replace(rows, mask=mask * weights)])


def _scale(equations: NormalEquations, f: float) -> NormalEquations:
    joints = (
        JointNormalEquations(j.columns, f * j.gram, f * j.right_side, f * j.torque_squares, f * j.count, j.is_wrench)
        for j in equations.joints
    )
    return NormalEquations(equations.base_count, tuple(joints))
