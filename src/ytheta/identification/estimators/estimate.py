"""Estimate: what an estimator returns; Estimator: what it is.

Every estimate is linear in the torques (near its solution, where weights depend on residuals): beta = sum_j L_j tau_j.
With independent joints the covariance is therefore sum_j v_j L_j L_jᵀ for noise variances v_j. The estimator gives the
matrices P_j = L_j L_jᵀ; how large the noise is, and how far it is from white, is for the residuals to say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.shapes import Float


@dataclass(frozen=True, eq=False)
class Estimate:
    """beta with the matrices of its covariance; see the module docstring.

    ``used`` is the number of parameters that each joint's equations had to pay for (the trace of its part of the hat
    matrix), ``weights`` what its equations counted.
    """

    beta: Float[np.ndarray, "base"]
    spread: Float[np.ndarray, "joints base base"]
    used: Float[np.ndarray, "joints"]
    weights: Float[np.ndarray, "joints"]
    unseen: Float[np.ndarray, "base unseen"]
    rounds: int = 1
    notes: tuple[str, ...] = field(default=())

    def covariance(self, variances: Float[np.ndarray, "joints"]) -> Float[np.ndarray, "base base"]:
        """The covariance of beta for given noise variances of the joints."""
        total: np.ndarray = np.einsum("j,jab->ab", variances, self.spread)
        return 0.5 * (total + total.T)


@runtime_checkable
class Estimator(Protocol):
    """Settings are the fields of the class that implements it."""

    @property
    def name(self) -> str: ...
    def fit(self, problem: EstimationProblem) -> Estimate: ...
