"""The estimators by their names."""

from __future__ import annotations

from ytheta.errors import UnknownNameError, suggest_names
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.huber import Huber
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.lin.lin import Lin
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.estimators.sequential import Sequential
from ytheta.identification.estimators.weighted import Weighted

ALL: tuple[Estimator, ...] = (LeastSquares(), Weighted(), Sequential(), Huber(), Recursive(), Lin())
ESTIMATORS: dict[str, Estimator] = {each.name: each for each in ALL}
AUTO = "weighted"  # all equations at once, each joint by its own noise


def estimator(name: str) -> Estimator:
    """An estimator with its usual settings; "auto" is ``AUTO``."""
    chosen = AUTO if name == "auto" else name
    if chosen not in ESTIMATORS:
        raise UnknownNameError(f"there is no estimator {name!r}{suggest_names(name, ('auto', *ESTIMATORS))}")
    return ESTIMATORS[chosen]
