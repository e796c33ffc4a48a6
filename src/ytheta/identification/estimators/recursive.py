"""Recursive least squares with exponential forgetting: on-line, sample by sample, and over whole logs.

Identity      beta_t = argmin  f^t |beta - beta_0|² / initial_spread + sum_{k<=t} f^(t-k) |tau_k - Y_k beta|²
Reference     L. Ljung, "System Identification: Theory for the User", 2nd ed., Prentice Hall 1999, sec. 11.2;
              A. Andrews, "A square root formulation of the Kalman covariance equations", AIAA J. 6 (1968) 1165-1166
Accepts       every robot and form
Notation      code       meaning                                                          shape
              root       S of the covariance P = S Sᵀ, in units of the columns            base x base
              F          Y S                                                              joints x base
              V          roots of the eigenvalues of f + F Fᵀ, the innovation             joints
              G          F turned to the innovation's principal axes, over V              joints x base
              J          information: the inverse of P                                    base x base
Differs from  them in: all joints of a sample at once; the root of P is updated, so that P can never lose its symmetry
              or a positive eigenvalue; where nothing has moved for so long that P has grown to ``largest_spread``,
              forgetting pauses until something moves again

``RecursiveLeastSquares`` is for use on-line, 6 joints base² operations a step. ``Recursive`` is the same estimate of
a whole log, in information form: sums over blocks, older ones discounted. Its numbers are those of the steps;
``initial_spread`` = inf means that nothing of the start is believed where the data show anything. With forgetting, P is
no covariance of beta; the spread of the estimate is, which counts every equation by the square of its weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations, summed
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.rows import EquationRows
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.estimate import Estimate
from ytheta.shapes import BaseByBase, Float, PerBase


@dataclass(frozen=True, eq=False)
class State:
    """What is known so far: beta, and the root of its covariance in units of the columns."""

    beta: PerBase
    units: PerBase
    root: BaseByBase

    @property
    def covariance(self) -> BaseByBase:
        """Of beta, for noise of variance one."""
        scaled = self.units[:, None] * self.root
        return scaled @ scaled.T


@dataclass(frozen=True)
class RecursiveLeastSquares:
    """``forgetting``: what an equation counts one sample later. Spreads are variances, for noise of variance one."""

    forgetting: float = 1.0
    initial_spread: float = 1e6
    largest_spread: float = 1e12

    def __post_init__(self) -> None:
        _check_forgetting(self.forgetting)
        if not 0.0 < self.initial_spread <= self.largest_spread < math.inf:
            raise InputError(
                f"initial_spread is {self.initial_spread} and largest_spread {self.largest_spread}; on-line both are "
                "positive and finite, the second not below the first"
            )

    def init(self, beta: PerBase, columns: PerBase | None = None) -> State:
        """The start: beta as far as it is known, and typical sizes of the columns of Y, ones where not given."""
        sizes = np.ones(len(beta)) if columns is None else columns
        if not (np.isfinite(sizes) & (sizes > 0.0)).all():
            raise InputError("the sizes of columns must be positive; give 1 for a column that is always zero")
        root = math.sqrt(self.initial_spread) * np.eye(len(beta))
        return State(np.array(beta, dtype=float), 1.0 / sizes, root)

    def step(
        self, state: State, Y: Float[np.ndarray, "joints base"], tau: Float[np.ndarray, "joints"]
    ) -> tuple[Float[np.ndarray, "joints"], State]:
        """What tau is off the prediction, and what is known after it."""
        root = state.root
        full = float(np.vdot(root, root)) > self.largest_spread * len(state.beta)
        f = 1.0 if full else self.forgetting
        residual = tau - Y @ state.beta
        F = (Y * state.units) @ root
        values, turn = np.linalg.eigh(F @ F.T)
        V = np.sqrt(np.maximum(values, 0.0) + f)
        G = turn.T @ F / V[:, None]
        SG = root @ G.T
        beta = state.beta + state.units * (SG @ (turn.T @ residual / V))
        root = root - (SG * (V / (V + math.sqrt(f)))) @ G  # Andrews
        return residual, State(beta, state.units, root / math.sqrt(f) if f < 1.0 else root)


@dataclass(frozen=True)
class Recursive:
    """The estimate at the end of a log."""

    forgetting: float = 1.0
    initial_spread: float = math.inf

    def __post_init__(self) -> None:
        _check_forgetting(self.forgetting)
        if not self.initial_spread > 0.0:
            raise InputError(f"initial_spread is {self.initial_spread}; it is a variance, and inf for no start at all")

    @property
    def name(self) -> str:
        return "recursive"

    def fit(self, problem: EstimationProblem) -> Estimate:
        if self.forgetting == 1.0:
            sums = squared = problem.sums()
        else:
            sums, squared = self._discounted(problem)
        start, ones = problem.base.beta, np.ones(len(sums.joints))
        left = sums.moment(ones) - sums.normal(ones) @ start
        J = sums.normal(ones) + math.pow(self.forgetting, problem.samples) / self.initial_spread * np.eye(len(start))
        normal = NormalDecomposition.of(J)
        spread = np.zeros((len(ones), len(start), len(start)))
        used = np.zeros(len(ones))
        for j, (joint, twice) in enumerate(zip(sums.joints, squared.joints, strict=True)):
            gain = normal.inverse[:, joint.columns]
            spread[j] = gain @ twice.gram @ gain.T
            used[j] = float(np.sum(gain[joint.columns] * joint.gram))
        return Estimate(start + normal.solve(left), spread, used, ones, normal.unseen)

    def _discounted(self, problem: EstimationProblem) -> tuple[NormalEquations, NormalEquations]:
        """NormalEquations in which an equation counts f^age, and f^(2 age) for the covariance."""
        once = twice = NormalEquations.empty(problem.layout)
        for rows in problem.rows():
            count = rows.tau.shape[1]
            ages = np.arange(count)[::-1]
            f = math.pow(self.forgetting, count)
            once = _faded(once, f) + _block(problem, rows, self.forgetting**ages)
            twice = _faded(twice, f * f) + _block(problem, rows, self.forgetting ** (2 * ages))
        return once, twice


def _check_forgetting(forgetting: float) -> None:
    if not 0.0 < forgetting <= 1.0:
        raise InputError(f"forgetting is {forgetting}; it is above 0, and 1 where nothing is forgotten")


def _block(problem: EstimationProblem, rows: EquationRows, weights: Float[np.ndarray, "samples"]) -> NormalEquations:
    kept = np.ones_like(rows.tau) if rows.kept is None else rows.kept
    return summed(problem.layout, [replace(rows, kept=kept * weights)])


def _faded(sums: NormalEquations, f: float) -> NormalEquations:
    joints = (JointNormalEquations(j.columns, f * j.gram, f * j.moment, f * j.square, f * j.count) for j in sums.joints)
    return NormalEquations(sums.base, tuple(joints))
