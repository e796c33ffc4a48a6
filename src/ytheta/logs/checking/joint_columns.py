"""Iterating over the columns of a log; each column is one quantity of one joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ytheta.logs.log import Log
from ytheta.shapes import PerSample


@dataclass(frozen=True, eq=False)
class JointColumn:
    """A recorded column; ``quantity`` is "q", "qd" or "tau"."""

    quantity: str
    joint: str
    values: PerSample

    def __str__(self) -> str:
        return f"{self.quantity} of {self.joint}"


def iterate_columns(log: Log) -> Iterator[JointColumn]:
    """Yield every recorded column except time; the values are views, not copies."""
    for quantity, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            for k, joint in enumerate(log.joints):
                yield JointColumn(quantity, joint, values[:, k])
