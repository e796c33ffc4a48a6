"""Equations of a log with a payload: the columns of the payload, and those of the errors of the model.

Identity      tau - tau_model = Y_p theta_p + Y_b delta + noise
Notation      code       meaning                                                              shape
              theta_p    ten parameters of the payload in the frame of its link               10
              delta      errors of the model's parameters, see ``estimation``                 errors
              tau_model  torque of the model without payload, but with the friction that depends on the torque that a
                         drive transmits, to which the payload contributes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.identifiability.base_parameters import ModelParameters, without_regrouping
from ytheta.identification.equations.differential import Differential, RigidTorque
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.friction_laws import is_rigid
from ytheta.logs.preparing.motion_sources import ChangedSource, Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.inertia import Ten
from ytheta.robot.robot import Robot
from ytheta.shapes import JointsBySample, NonzerosBySample, PerJoint


@dataclass(frozen=True, eq=False)
class JoinedForm:
    """The differential form with the columns of several sets of parameters, one after the other."""

    parts: tuple[Differential, ...]

    @property
    def base(self) -> ModelParameters:
        """The parameters of the first part."""
        return self.parts[0].base

    @property
    def name(self) -> str:
        return self.parts[0].name

    @cached_property
    def layout(self) -> RegressorLayout:
        joints, columns = self._indices
        count = sum(part.layout.base_count for part in self.parts)
        return RegressorLayout.of(
            (joints[self._order], columns[self._order]),
            joints=len(self.parts[0].layout.slices),
            base_count=count,
            wrench_rows=self.parts[0].layout.wrench_rows,
            sensor_rows=self.parts[0].layout.sensor_rows,
        )

    def split(self, segment: int, length: int, rate: float, size: int) -> Iterator[SampleRange]:
        return self.parts[0].split(segment, length, rate, size)

    def rows(self, motion: MotionSamples, rate: float) -> Iterator[EquationRows]:
        """Yield the equations of all samples."""
        del rate
        assert motion.tau is not None
        values = np.concatenate([_compute_values(part, motion) for part in self.parts])[self._order]
        yield EquationRows(values, np.ascontiguousarray(motion.tau.T), self.parts[0].mask(motion))

    @cached_property
    def _indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint and column of every non-zero, part by part."""
        joints, columns, first = [], [], 0
        for part in self.parts:
            for joint, own in enumerate(part.layout.columns):
                joints += [joint] * len(own)
                columns += [first + int(column) for column in own]
            first += part.layout.base_count
        return np.array(joints, dtype=int), np.array(columns, dtype=int)

    @cached_property
    def _order(self) -> np.ndarray:
        return np.argsort(self._indices[0], kind="stable")


def _compute_values(form: Differential, motion: MotionSamples) -> NonzerosBySample:
    values = np.zeros((form.layout.groups.row_count, len(motion)))
    for first, block in form.compute_regressor_blocks(motion):
        values[:, first : first + block.shape[1]] = block
    return values


@dataclass(frozen=True, eq=False)
class LoadedTorque:
    """The torque that drives transmit: that of the links, rotors and declared forces of a robot, and of a payload."""

    rigid: RigidTorque
    payload: Differential
    theta: Ten

    def torque(self, motion: MotionSamples) -> JointsBySample:
        return self.rigid.torque(motion) + self.payload.torque(motion, self.theta)


@dataclass(frozen=True, eq=False)
class PayloadEquations:
    """Makes the equations of logs for the parameters of a payload and the errors of a model.

    Attributes
    ----------
    robot      the robot whose parameters predict the torques
    payload    the form of the payload's ten columns
    errors     parameters of the model that may be wrong; None if there are none
    min_speed  one speed per joint, below which the equations of a joint are left out, or None
    """

    robot: Robot
    payload: Differential
    errors: ModelParameters | None
    min_speed: PerJoint | None = None

    @property
    def depends_on_load(self) -> bool:
        """Whether friction of the robot depends on the torque that its drives transmit."""
        return any(drive.load for _, drive in self.robot.drives)

    def make_form(self, theta: Ten) -> JoinedForm:
        """Return the form of both sets of columns; ``theta``: the payload that friction depends on."""
        parts = (self.payload,) if self.errors is None else (self.payload, self._make_errors_form(theta))
        return JoinedForm(parts)

    def make_unloaded_form(self) -> JoinedForm:
        """Return the form of the errors alone."""
        return JoinedForm((self._make_errors_form(np.zeros(10)),))

    def subtract_model(self, sources: tuple[Source, ...], theta: Ten) -> tuple[Source, ...]:
        """Return sources whose torques are those that the model does not explain; ``theta`` as in ``make_form``."""
        form = Differential(without_regrouping(self.robot, self.robot.parameter_names), load=self._find_load(theta))

        def subtract(motion: MotionSamples) -> MotionSamples:
            assert motion.tau is not None
            return replace(motion, tau=motion.tau - form.torque(motion, self.robot.theta).T)

        return tuple(ChangedSource(source, subtract) for source in sources)

    def _make_errors_form(self, theta: Ten) -> Differential:
        assert self.errors is not None
        return Differential(self.errors, self.min_speed, load=self._find_load(theta))

    def _find_load(self, theta: Ten) -> LoadedTorque | None:
        return LoadedTorque(self._rigid, self.payload, theta) if self.depends_on_load else None

    @cached_property
    def _rigid(self) -> RigidTorque:
        values = zip(self.robot.parameter_names, self.robot.theta, strict=True)
        return RigidTorque.of(
            without_regrouping(self.robot, [name for name, value in values if value and is_rigid(name)])
        )
