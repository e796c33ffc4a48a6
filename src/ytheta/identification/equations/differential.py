"""Differential form: tau = Y(q, qd, qdd) beta, one equation per joint and kept sample; [ha1989] (24), (25)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.friction import FrictionEntries, find_friction_entries
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import JointsBySample, NonzerosBySample, PerBase, PerJoint


@dataclass(frozen=True, eq=False)
class Differential:
    """The form that uses accelerations.

    ``min_speed``: one speed per joint; equations of a joint are left out while the joint is slower, because stiction
    dominates these equations.
    """

    base: ModelParameters
    min_speed: PerJoint | None = None

    @property
    def name(self) -> str:
        return "differential"

    @cached_property
    def kernel(self) -> AnyKernel:
        return regressor(self.base.robot, self.base)

    @cached_property
    def layout(self) -> RegressorLayout:
        joints = len(self.base.robot.actuated)
        return RegressorLayout.of(self.kernel.indices, joints=joints, base_count=len(self.base))

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        del rate
        for first in range(0, length, size):
            yield SampleRange(segment, first, min(first + size, length))

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        """Yield the equations of all samples, in blocks that fit into the processor's cache."""
        del rate
        assert motion.tau is not None
        tau = np.ascontiguousarray(motion.tau.T)
        mask = self.mask(motion)
        for first, values in self.compute_regressor_blocks(motion):
            block = slice(first, first + values.shape[1])
            yield EquationRows(values, tau[:, block], None if mask is None else mask[:, block], first)

    def mask(self, motion: MotionSamples) -> JointsBySample | None:
        """Return 1 for equations that are used and 0 for equations of slow joints; None if all equations are used."""
        if self.min_speed is None:
            return None
        return np.ascontiguousarray((abs(motion.qd) >= self.min_speed).T, dtype=float)

    def compute_regressor_blocks(self, motion: MotionSamples) -> Iterator[tuple[int, NonzerosBySample]]:
        """Yield for each block its first sample and the non-zeros of Y.

        The Coulomb friction columns contain the low-passed sign of the velocity.
        """
        directions = None if motion.direction is None else np.ascontiguousarray(motion.direction.T)
        for block in self.kernel.blocks(motion.q, motion.qd, motion.qdd):
            if directions is not None:
                self.friction.write(block.values, directions, block.first)
            yield block.first, block.values

    def torque(self, motion: MotionSamples, beta: PerBase) -> JointsBySample:
        """Return Y beta."""
        tau = np.empty((len(self.layout.slices), len(motion)))
        for first, values in self.compute_regressor_blocks(motion):
            tau[:, first : first + values.shape[1]] = self.layout.torque(values, beta)
        return tau

    @cached_property
    def friction(self) -> FrictionEntries:
        return find_friction_entries(self.base, self.kernel.indices)
