"""Registry of the estimators: the name of each estimator and its class, which is imported on first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ytheta.errors import UnknownNameError, suggest_names
from ytheta.identification.estimators.estimate import Estimator

ESTIMATORS = {
    "evidence": "evidence.empirical_bayes.EmpiricalBayes",
    "least-squares": "least_squares.LeastSquares",
    "weighted": "weighted.Weighted",
    "sequential": "sequential.Sequential",
    "huber": "huber.Huber",
    "recursive": "recursive.Recursive",
    "lin": "lin.lin.Lin",
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
