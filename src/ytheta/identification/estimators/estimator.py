"""Interface of the estimators, the result of a fit, and the registry of the estimators.

Every estimate is a linear function of the torques, beta = sum_j L_j tau_j; if the weights depend on residuals, this is
true only near the solution. If the noise of different joints is independent and has the variances v_j, the covariance
of beta is therefore sum_j v_j L_j L_jᵀ. Estimators return the matrices P_j = L_j L_jᵀ. The variances and
autocorrelation times of the noise are computed from the residuals afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.errors import UnknownNameError, suggest_names
from ytheta.findings import Finding
from ytheta.identification.equations.autocorrelation import PerLagAndJoint
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.priors.evidence import Posterior
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, freeze

# A parameter has an infinite standard deviation if its component of a unit vector along an unidentified direction
# exceeds this value. Chosen on: reasoning; smaller components are rounding errors.
MAX_UNIDENTIFIED_COMPONENT = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Estimated base parameters and the matrices of their covariance. The arrays are read-only.

    Attributes
    ----------
    beta                the estimated base parameters
    spread              P_j of the module docstring
    degrees_of_freedom  number of parameters that each joint's equations determine: trace of its part of the hat matrix
    weights             weights of the joints' equations
    unidentified        directions of beta that the data do not identify, one per column; along these directions beta
                        keeps the values of the description
    rounds              number of times that the equations were solved
    findings            findings about this fit
    joint_condition_numbers
                        estimator lin only: condition number of each joint's own equations A_i, columns scaled to length
                        one; infinite if they do not identify all of the joint's parameters
    prior_spread        covariance of beta that the prior leaves, for estimators with a prior; it does not depend on
                        the noise of the residuals
    posterior           the prior with its chosen scales and the distribution of the parameters, likewise
    gain                matrix with beta = sum_j w_j gain Y_jᵀ tau_j; None if the estimate is not linear in the torques
    hat                 autocovariances of the hat matrix, see ``autocorrelation``; None if they were not computed
    """

    beta: PerBase
    spread: Float[np.ndarray, "joints base base"]
    degrees_of_freedom: PerJoint
    weights: PerJoint
    unidentified: Float[np.ndarray, "base unidentified"]
    rounds: int = 1
    findings: tuple[Finding, ...] = ()
    joint_condition_numbers: PerJoint | None = None
    prior_spread: BaseByBase | None = None
    posterior: Posterior | None = None
    gain: BaseByBase | None = None
    hat: PerLagAndJoint | None = None

    def __post_init__(self) -> None:
        for name in ("beta", "spread", "degrees_of_freedom", "weights", "unidentified"):
            object.__setattr__(self, name, freeze(getattr(self, name).view()))
        for optional in (self.joint_condition_numbers, self.prior_spread, self.gain, self.hat):
            if optional is not None:
                freeze(optional)

    def __repr__(self) -> str:
        unidentified = self.unidentified.shape[1]
        return f"Estimate({len(self.beta)} base parameters, {unidentified} unidentified directions)"

    def covariance(self, variances: PerJoint) -> BaseByBase:
        """Return the covariance of beta for these noise variances of the joints."""
        total: np.ndarray = np.einsum("j,jab->ab", variances, self.spread)
        if self.prior_spread is not None:
            total = total + self.prior_spread
        return 0.5 * (total + total.T)


@runtime_checkable
class Estimator(Protocol):
    """An estimator; its settings are the fields of the class that implements it."""

    @property
    def name(self) -> str: ...
    def fit(self, problem: EstimationProblem) -> Estimate: ...


# Registry of the estimators: the name of each estimator and its class, which is imported on first use.


ESTIMATORS = {
    "evidence": "empirical_bayes.EmpiricalBayes",
    "least-squares": "least_squares.LeastSquares",
    "weighted": "least_squares.Weighted",
    "sequential": "sequential.Sequential",
    "huber": "huber.Huber",
    "recursive": "recursive.Recursive",
    "lin": "lin.Lin",
    "instrumental-variables": "instrumental_variables.InstrumentalVariables",
    "total-least-squares": "total_least_squares.TotalLeastSquares",
}
DEFAULT = "evidence"  # uses the description as far as the data allow


def get_estimator(name: str) -> Estimator:
    """Return the estimator with this name and default settings; "auto" means ``DEFAULT``."""
    chosen = DEFAULT if name == "auto" else name
    if chosen not in ESTIMATORS:
        raise UnknownNameError(f"there is no estimator {name!r}{suggest_names(name, ('auto', *ESTIMATORS))}")
    return _create_estimator(ESTIMATORS[chosen])


@cache
def _create_estimator(class_path: str) -> Estimator:
    module, _, class_name = class_path.rpartition(".")
    estimator: Estimator = getattr(import_module(f"ytheta.identification.estimators.{module}"), class_name)()
    return estimator
