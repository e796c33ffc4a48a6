"""Differential form: tau = Y(q, qd, qdd) beta, one equation per joint and kept sample; [ha1989] (24), (25)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.form import SampleRange
from ytheta.identification.equations.friction import FrictionEntries, friction_entries
from ytheta.identification.equations.rows import RegressorLayout, EquationRows
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import Float, JointsBySample, NonzerosBySample, PerBase


@dataclass(frozen=True, eq=False)
class Differential:
    """The form that needs accelerations.

    ``min_speed``: equations of a joint that moves more slowly than this are left out, since stiction rules there.
    """

    base: BaseParameters
    min_speed: Float[np.ndarray, "joints"] | None = None

    @property
    def name(self) -> str:
        return "differential"

    @cached_property
    def kernel(self) -> AnyKernel:
        return regressor(self.base.robot, self.base)

    @cached_property
    def layout(self) -> RegressorLayout:
        return RegressorLayout.of(self.kernel.indices, joints=len(self.base.robot.actuated), base=len(self.base))

    def pieces(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        del rate
        for first in range(0, length, size):
            yield SampleRange(segment, first, min(first + size, length))

    def rows(self, motion: MotionSamples, piece: SampleRange, rate: float) -> Iterator[EquationRows]:
        """The equations of one piece, in blocks that stay in the processor's cache."""
        del piece, rate
        assert motion.tau is not None
        tau = np.ascontiguousarray(motion.tau.T)
        kept = self.kept(motion)
        for first, values in self.blocks(motion):
            chosen = slice(first, first + values.shape[1])
            yield EquationRows(values, tau[:, chosen], None if kept is None else kept[:, chosen])

    def kept(self, motion: MotionSamples) -> JointsBySample | None:
        """One for every equation that counts, zero for the others; None where all do."""
        if self.min_speed is None:
            return None
        return np.ascontiguousarray((abs(motion.qd) >= self.min_speed).T, dtype=float)

    def blocks(self, motion: MotionSamples) -> Iterator[tuple[int, NonzerosBySample]]:
        """The first sample of each block and the entries of Y, with friction as soft as the low-pass leaves it."""
        directions = None if motion.direction is None else np.ascontiguousarray(motion.direction.T)
        for block in self.kernel.blocks(motion.q, motion.qd, motion.qdd):
            if directions is not None:
                self.friction.write(block.values, directions, block.first)
            yield block.first, block.values

    def torque(self, motion: MotionSamples, beta: PerBase) -> JointsBySample:
        """Y beta."""
        out = np.empty((len(self.layout.parts), len(motion)))
        for first, values in self.blocks(motion):
            out[:, first : first + values.shape[1]] = self.layout.torque(values, beta)
        return out

    @cached_property
    def friction(self) -> FrictionEntries:
        return friction_entries(self.base, self.kernel.indices)
