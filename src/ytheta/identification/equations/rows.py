"""EquationRows: the equations tau = Y beta of a stretch of motion, with the zeros of Y left out.

Notation      values    entry k of all samples in row k: a structural non-zero of Y; those of one joint are adjacent
              columns   for every joint, the base parameters that its entries belong to
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ytheta.shapes import Float, Int, JointsBySample, NonzerosBySample, PerBase


@dataclass(frozen=True, eq=False)
class RegressorLayout:
    """Where the entries of Y stand: ``parts`` are each joint's rows of ``values``, ``columns`` its base parameters."""

    base: int
    parts: tuple[slice, ...]
    columns: tuple[Int[np.ndarray, "own"], ...]

    @classmethod
    def of(cls, indices: Sequence[Int[np.ndarray, "nonzeros"]], *, joints: int, base: int) -> RegressorLayout:
        """From the places of the non-zeros, sorted by joint as kernels give them."""
        rows, columns = indices
        ends = np.searchsorted(rows, np.arange(joints + 1))
        parts = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
        return cls(base, parts, tuple(columns[part] for part in parts))

    def torque(self, values: NonzerosBySample, beta: PerBase) -> JointsBySample:
        """Y beta."""
        tau = np.zeros((len(self.parts), values.shape[1]))
        for joint, (part, columns) in enumerate(zip(self.parts, self.columns, strict=True)):
            if len(columns):
                np.dot(beta[columns], values[part], out=tau[joint])
        return tau

    def dense(self, values: NonzerosBySample) -> Float[np.ndarray, "samples joints base"]:
        """Y of every sample, zeros included."""
        Y = np.zeros((values.shape[1], len(self.parts), self.base))
        for joint, (part, columns) in enumerate(zip(self.parts, self.columns, strict=True)):
            Y[:, joint, columns] = values[part].T
        return Y


@dataclass(frozen=True, eq=False)
class EquationRows:
    """Equations of some samples: their regressor, their torque and which of them count.

    ``kept`` is None where all do. ``values`` may be written again when the next rows are asked for.
    """

    values: NonzerosBySample
    tau: JointsBySample
    kept: JointsBySample | None = None
