"""Differential form: tau = Y(q, qd, qdd) beta, one equation per joint and kept sample; [ha1989] (24), (25).

The kernel computes Y, except for friction that changes its sign with the low-passed direction of a drive: the entries
of Coulomb friction are overwritten (``friction``), and the columns of friction laws are added (``friction_laws``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.dynamics.mechanism import scalars
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters, without_regrouping
from ytheta.identification.equations.form import EquationRows, KernelEquations, RegressorLayout, SampleRange
from ytheta.identification.equations.friction import FrictionEntries, find_friction_entries
from ytheta.identification.equations.friction_laws import (
    LawColumns,
    TorqueSource,
    find_law_columns,
    is_rigid,
    without_law_columns,
)
from ytheta.logs.preparing.motion_sources import ChangedSource, Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import compile_graph
from ytheta.native.graph import Graph, trace
from ytheta.native.kernel import Kernel
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, JointsBySample, NonzerosBySample, PerBase, PerJoint, SamplesByJointByBase


@dataclass(frozen=True, eq=False)
class Differential:
    """The form that uses accelerations.

    ``min_speed``: one speed per joint; equations of a joint are left out while the joint is slower, because stiction
    dominates these equations; those of joints that rest in the motion are left out too. ``load``: computes the torque
    that drives transmit, on which load-dependent friction depends; by default that of the robot's own parameters.
    """

    base: ModelParameters
    min_speed: PerJoint | None = None
    load: TorqueSource | None = None

    @property
    def name(self) -> str:
        return "differential"

    @cached_property
    def kernel(self) -> AnyKernel:
        """The kernel of Y without the columns of friction laws."""
        return regressor(self._kernel_base.robot, self._kernel_base)

    @cached_property
    def layout(self) -> RegressorLayout:
        rows, columns = self._indices
        order = np.argsort(rows, kind="stable")
        indices = (rows[order], columns[order])
        robot = self.base.robot
        return RegressorLayout.of(
            indices,
            joints=len(robot.actuated),
            base_count=len(self.base),
            wrench_rows=len(robot.base_coordinates),
            sensor_rows=len(robot.sensor_coordinates),
        )

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

    def kernel_equations(self, motion: MotionSamples) -> KernelEquations | None:
        """Return the equations of all samples; None if friction laws add columns, or if the robot has loops."""
        if self.laws is not None or not isinstance(self.kernel, Kernel):
            return None
        assert motion.tau is not None
        replaced = None if motion.direction is None else self.friction.replace_rows(motion.direction)
        inputs = (motion.q, motion.qd, motion.qdd)
        return KernelEquations(self.kernel, inputs, motion.tau, self.mask(motion), replaced)

    def mask(self, motion: MotionSamples) -> JointsBySample | None:
        """Return 1 for equations that are used and 0 for those of slow or resting joints; None if all are used."""
        if self.min_speed is not None:
            used = abs(motion.qd) >= self.min_speed
            if motion.resting is not None:
                used &= ~motion.resting
        elif motion.resting is not None and motion.resting.any():
            used = ~motion.resting
        else:
            return None
        return np.ascontiguousarray(used.T, dtype=float)

    def compute_regressor_blocks(self, motion: MotionSamples) -> Iterator[tuple[int, NonzerosBySample]]:
        """Yield for each block its first sample and the non-zeros of Y.

        The Coulomb friction columns contain the low-passed sign of the velocity.
        """
        directions = None if motion.direction is None else np.ascontiguousarray(motion.direction.T)
        laws = None if self.laws is None else self.laws.compute(motion, self._load)
        for block in self.kernel.blocks(motion.q, motion.qd, motion.qdd):
            if directions is not None:
                self.friction.write(block.values, directions, block.first)
            block_range = slice(block.first, block.first + block.values.shape[1])
            yield block.first, block.values if laws is None else self._insert(block.values, laws[:, block_range])

    def torque(self, motion: MotionSamples, beta: PerBase) -> JointsBySample:
        """Return Y beta."""
        tau = np.empty((len(self.layout.slices), len(motion)))
        for first, values in self.compute_regressor_blocks(motion):
            tau[:, first : first + values.shape[1]] = self.layout.torque(values, beta)
        return tau

    def compute_coulomb_torque(self, directions: Float[np.ndarray, "drives samples"], beta: PerBase) -> JointsBySample:
        """Return the torque of Coulomb friction for directions of the drives: the part of Y beta that they multiply."""
        values = np.zeros((len(self.kernel.indices[0]), directions.shape[1]))
        self.friction.write(values, directions, 0)
        if self.laws is not None:
            values = self._insert(values, np.zeros((len(self.laws.entries), directions.shape[1])))
        return self.layout.torque(values, beta)

    def compute_root_error(self, motion: MotionSamples, beta: PerBase) -> JointsBySample:
        """Return the error of low-passed root friction near reversals; zero if there is no such friction."""
        if self.laws is None:
            return np.zeros((len(self.layout.slices), len(motion)))
        kernel_values = np.zeros((len(self.kernel.indices[0]), len(motion)))
        return self.layout.torque(self._insert(kernel_values, self.laws.compute_root_errors(motion)), beta)

    def insert_zero_columns(self, Y: Float[np.ndarray, "samples joints kernel_base"]) -> SamplesByJointByBase:
        """Return Y of the kernel with zeros in the columns of friction laws: Y at rest, where friction is zero."""
        if self.laws is None:
            return Y
        full = np.zeros((*Y.shape[:2], len(self.base)))
        full[:, :, [self.base.independent.index(name) for name in self._kernel_base.independent]] = Y
        return full

    @cached_property
    def friction(self) -> FrictionEntries:
        return find_friction_entries(self._kernel_base, self.kernel.indices)

    @cached_property
    def laws(self) -> LawColumns | None:
        """The columns of friction laws, which the kernel does not compute; None if there are none."""
        base = self.base.standard_combinations
        return None if base is None else find_law_columns(base)

    @cached_property
    def _kernel_base(self) -> ModelParameters:
        base = self.base.standard_combinations
        return self.base if base is None or self.laws is None else without_law_columns(base, self.laws)

    @cached_property
    def _indices(self) -> tuple[Int[np.ndarray, " nonzeros"], Int[np.ndarray, " nonzeros"]]:
        """Joint and base parameter of every non-zero: those of the kernel, then those of the friction laws."""
        rows, columns = self.kernel.indices
        if self.laws is None:
            return rows, columns
        kept = np.array([self.base.independent.index(name) for name in self._kernel_base.independent], dtype=int)
        entries = self.laws.entries
        return (
            np.concatenate([rows, [entry.joint for entry in entries]]).astype(int),
            np.concatenate([kept[columns], [entry.column for entry in entries]]).astype(int),
        )

    @cached_property
    def _places(self) -> Int[np.ndarray, " nonzeros"]:
        """The position of every non-zero of ``_indices`` in the layout, whose rows are sorted by joint."""
        places = np.empty(len(self._indices[0]), dtype=int)
        places[np.argsort(self._indices[0], kind="stable")] = np.arange(len(places))
        return places

    def _insert(
        self, block: Float[np.ndarray, "kernel_nonzeros samples"], laws: Float[np.ndarray, "entries samples"]
    ) -> NonzerosBySample:
        """Return a block of the kernel with the entries of the friction laws at the same samples."""
        values = np.empty((len(self._places), block.shape[1]))
        values[self._places[: len(block)]] = block
        values[self._places[len(block) :]] = laws
        return values

    @cached_property
    def _load(self) -> TorqueSource | None:
        if self.load is not None or self.laws is None or not self.laws.needs_load:
            return self.load
        robot = self.base.robot
        names = [
            name for name, value in zip(robot.parameter_names, robot.theta, strict=True) if value and is_rigid(name)
        ]
        return RigidTorque.of(without_regrouping(robot, names))


@dataclass(frozen=True, eq=False)
class RigidTorque:
    """The torque of links, rotors and declared forces: that of ``beta`` in a form, without friction."""

    form: Differential
    beta: PerBase
    known: TorqueSource | None = None

    @classmethod
    def of(cls, base: BaseParameters) -> RigidTorque:
        """Return the torque of parameters with the values of their robot."""
        return cls(Differential(base), base.beta)

    @classmethod
    def from_estimate(cls, form: Differential, beta: PerBase, known: TorqueSource | None) -> RigidTorque:
        """Return the torque of the links, rotors and forces among estimated parameters, and the known torque."""
        kernel_base = form._kernel_base
        values = dict(zip(form.base.independent, beta.tolist(), strict=True))
        rigid = [values[name] if is_rigid(name) else 0.0 for name in kernel_base.independent]
        return cls(Differential(kernel_base), np.array(rigid), known)

    def torque(self, motion: MotionSamples) -> JointsBySample:
        torque = self.form.torque(motion, self.beta)
        return torque if self.known is None else torque + self.known.torque(motion)


# Known torque: the torque of the parameters that are not estimated and keep the values of the description.
#
# Identity      tau - Y_k theta_k = Y_u theta_u
# Reference     [lu1993] (15)-(18): known and unknown parameters
#
# Examples are the torques of a cable force that was measured separately, or of friction from a data sheet. The known
# torque is subtracted from the measured torque before the fit.


@dataclass(frozen=True, eq=False)
class KnownTorque:
    """The torque of the standard parameters that are not among ``base.selected``."""

    base: ModelParameters
    only_rigid: bool = False  # leave out friction and offsets

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters that are neither estimated nor zero."""
        robot, selected = self.base.robot, set(self.base.selected)
        values = zip(robot.parameter_names, robot.theta, strict=True)
        unknown = selected if not self.only_rigid else {*selected, *filter(_is_friction, robot.parameter_names)}
        return tuple(name for name, value in values if value and name not in unknown)

    def __bool__(self) -> bool:
        return bool(self.names)

    def torque(self, motion: MotionSamples) -> JointsBySample:
        """Return the known torque of a motion; its Coulomb friction is low-passed too."""
        return self._form.torque(motion, self.values)

    @property
    def values(self) -> PerBase:
        """The values of the known parameters, in the order of ``names``."""
        return self._form.base.beta

    def find_regressor_graph(self) -> Graph:
        """Return the graph (q, qd, qdd) → Y of the known parameters."""
        return self._form.base.find_graph("regressor_graph", self._robot, {"formulation": "", "reference": False})

    @cached_property
    def _form(self) -> Differential:
        return Differential(without_regrouping(self._robot, self.names))

    @property
    def _robot(self) -> Robot:
        """The robot, with arbitrary values of lengths and angles that have none.

        With unknown geometry, all link parameters are estimated. The known torque is that of drives, and does not
        depend on the geometry.
        """
        robot = self.base.robot
        if not robot.unset_symbols:
            return robot
        lengths, angles = (dict.fromkeys(names, 1.0) for names in (robot.unset_lengths, robot.unset_angles))
        return replace(robot, inertias_unknown=False).with_lengths(**lengths).with_angles(**angles)


def _is_friction(name: str) -> bool:
    return not is_rigid(name)


def subtract_known_torque(sources: tuple[Source, ...], known: KnownTorque) -> tuple[Source, ...]:
    """Return sources from whose torques the known torque is subtracted."""

    def subtract(motion: MotionSamples) -> MotionSamples:
        return motion if motion.tau is None else replace(motion, tau=motion.tau - known.torque(motion).T)

    return tuple(ChangedSource(source, subtract) for source in sources) if known else sources


def make_torque_kernel(base: ModelParameters, beta: PerBase) -> AnyKernel:
    """Return the kernel (q, qd, qdd) → Y beta, plus the torque of known drive parameters."""
    return compile_graph(make_torque_graph(base, beta))


def make_torque_graph(base: ModelParameters, beta: PerBase) -> Graph:
    """Return the graph (q, qd, qdd) → Y beta, plus the torque of known drive parameters."""
    import casadi

    known = KnownTorque(base)
    parts = [(base.find_graph("regressor_graph", base.robot, {}), beta)]
    if known:
        parts.append((known.find_regressor_graph(), known.values))
    inputs = parts[0][0].inputs
    symbols = [casadi.SX.sym(entry.name, entry.size) for entry in inputs]
    total = casadi.SX.zeros(len(base.robot.actuated))
    for graph, values in parts:
        Y = casadi.reshape(graph.apply(*symbols), len(values), -1).T  # the array is in C order
        total = total + casadi.mtimes(Y, casadi.DM(values.tolist()))
    pairs = list(zip(inputs, symbols, strict=True))
    return trace("inverse dynamics", pairs, scalars(total), made_from=f"model of {base.robot.name}")
