"""The estimators by their names."""

from __future__ import annotations

from ytheta.errors import UnknownNameError, nearest
from ytheta.identify.estimate import Estimator
from ytheta.identify.huber import Huber
from ytheta.identify.least_squares import LeastSquares
from ytheta.identify.lin import Lin
from ytheta.identify.recursive import Recursive
from ytheta.identify.sequential import Sequential
from ytheta.identify.weighted import Weighted

ALL: tuple[Estimator, ...] = (LeastSquares(), Weighted(), Sequential(), Huber(), Recursive(), Lin())
ESTIMATORS: dict[str, Estimator] = {each.name: each for each in ALL}
AUTO = "weighted"  # all equations at once, each joint by its own noise


def estimator(name: str) -> Estimator:
    """An estimator with its usual settings; "auto" is ``AUTO``."""
    chosen = AUTO if name == "auto" else name
    if chosen not in ESTIMATORS:
        raise UnknownNameError(f"there is no estimator {name!r}{nearest(name, ('auto', *ESTIMATORS))}")
    return ESTIMATORS[chosen]
