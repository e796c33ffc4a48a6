"""Registry of the estimators."""

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
DEFAULT = "weighted"  # uses all equations at once, weighted by the noise of each joint


def get_estimator(name: str) -> Estimator:
    """Return the estimator with this name and default settings; "auto" means ``DEFAULT``."""
    chosen = DEFAULT if name == "auto" else name
    if chosen not in ESTIMATORS:
        raise UnknownNameError(f"there is no estimator {name!r}{suggest_names(name, ('auto', *ESTIMATORS))}")
    return ESTIMATORS[chosen]
