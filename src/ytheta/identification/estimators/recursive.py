"""Recursive least squares with exponential forgetting: on-line, sample by sample, or for whole logs.

Identity      beta_t = argmin  f^t |beta - beta_0|² / initial_spread + sum_{k<=t} f^(t-k) |tau_k - Y_k beta|²
Reference     L. Ljung, "System Identification: Theory for the User", 2nd ed., Prentice Hall 1999, sec. 11.2;
              A. Andrews, "A square root formulation of the Kalman covariance equations", AIAA J. 6 (1968) 1165-1166
Accepts       every robot and form
Notation      code       meaning                                                          shape
              f          the factor ``forgetting``; 1 while forgetting pauses             scalar
              root       matrix S with P = S Sᵀ, P the covariance in units of the columns base x base
              F          Y S                                                              joints x base
              V          roots of the eigenvalues of f + F Fᵀ, the innovation             joints
              G          F rotated to the innovation's principal axes, divided by V       joints x base
              J          information: the inverse of P                                    base x base
Differs from  them in: each update uses all joints of a sample; the root of P is updated, so that P always stays
              symmetric and positive definite; forgetting pauses while P exceeds ``largest_spread``, as during a long
              rest

``RecursiveLeastSquares`` is for on-line use and needs about 6 · joints · base² operations per step. ``Recursive``
computes the same estimate for a whole log in information form: it adds the normal equations of blocks and reduces the
weight of older blocks. If ``initial_spread`` is infinite, the initial values are kept only along directions that the
data do not identify. With forgetting, P is not the covariance of beta. The spread that ``Recursive`` returns is the
covariance, because it is computed with the squared weights of the equations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import EquationRows
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations, accumulate
from ytheta.identification.estimators.estimate import Estimate
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, PerSample


@dataclass(frozen=True, eq=False)
class State:
    """beta, the root S of its scaled covariance, and the factors ``units`` of this scaling."""

    beta: PerBase
    units: PerBase
    root: BaseByBase

    @property
    def covariance(self) -> BaseByBase:
        """The covariance of beta for noise of variance one."""
        scaled = self.units[:, None] * self.root
        return scaled @ scaled.T


@dataclass(frozen=True)
class RecursiveLeastSquares:
    """The on-line estimator.

    ``forgetting``: factor by which the weight of an equation is multiplied at each new sample. ``initial_spread``:
    variance of the initial beta. ``largest_spread``: mean variance above which forgetting pauses. Both spreads assume
    noise of variance one.
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

    def init(self, beta: PerBase, columns: PerBase | None = None) -> State:
        """Return the initial state; ``columns`` are typical magnitudes in the columns of Y, by default 1."""
        sizes = np.ones(len(beta)) if columns is None else columns
        if not (np.isfinite(sizes) & (sizes > 0.0)).all():
            raise InputError("the sizes of columns must be positive and finite; give 1 for a zero column")
        root = math.sqrt(self.initial_spread) * np.eye(len(beta))
        return State(np.array(beta, dtype=float), 1.0 / sizes, root)

    def step(self, state: State, Y: Float[np.ndarray, "joints base"], tau: PerJoint) -> tuple[PerJoint, State]:
        """Return the measured minus the predicted torque, and the state after this sample."""
        root = state.root
        saturated = float(np.vdot(root, root)) > self.largest_spread * len(state.beta)
        f = 1.0 if saturated else self.forgetting
        residual = tau - Y @ state.beta
        F = (Y * state.units) @ root
        values, rotation = np.linalg.eigh(F @ F.T)
        V = np.sqrt(np.maximum(values, 0.0) + f)
        G = rotation.T @ F / V[:, None]
        SG = root @ G.T
        beta = state.beta + state.units * (SG @ (rotation.T @ residual / V))
        root = root - (SG * (V / (V + math.sqrt(f)))) @ G  # Andrews
        return residual, State(beta, state.units, root / math.sqrt(f) if f < 1.0 else root)


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
        JointNormalEquations(j.columns, f * j.gram, f * j.right_side, f * j.torque_squares, f * j.count)
        for j in equations.joints
    )
    return NormalEquations(equations.base_count, tuple(joints))
