"""Models that predict torques: parameters of a description or of an identification, with their covariance if known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters, without_regrouping
from ytheta.identification.assessment.torque_errors import ParameterUncertainty, compute_friction_std
from ytheta.identification.equations.differential import Differential
from ytheta.identification.model_file import (
    Model,
    find_earlier_model,
    is_without_geometry,
    read_identification_table,
    read_model,
)
from ytheta.identification.result import Identification
from ytheta.logs.preparing.preparation import AUTO, DEFAULT_SETTINGS, PreparationSettings
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parameters import check_inertias_are_complete
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import JointsBySample, PerBase, PerJoint, SamplesByJoint

if TYPE_CHECKING:
    ModelInput = str | Path | Robot | Identification | Model
else:  # a value of another type is refused with a sentence that says what is accepted
    ModelInput = Any


@dataclass(frozen=True, eq=False)
class IdentifiedParameters:
    """Identified parameters with their uncertainty, and the noise of their fit if it is known."""

    base: ModelParameters
    beta: PerBase
    uncertainty: ParameterUncertainty
    noise: PerJoint | None

    def compute_std(self, motion: MotionSamples, mask: JointsBySample | None) -> SamplesByJoint:
        """Return the standard deviations of the torques of a motion; ``mask`` is 0 where a joint rests or is slow."""
        blocks = self._form.compute_regressor_blocks(motion)
        parts = [self.uncertainty.compute_std(self._form.layout, values) for _, values in blocks]
        return np.hypot(np.concatenate(parts, axis=1), compute_friction_std(self._form, motion, self.beta, mask)).T

    @cached_property
    def _form(self) -> Differential:
        return Differential(self.base)


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """Parameters, their values, and the settings and covariance of their identification if there was one."""

    base: ModelParameters
    beta: PerBase
    origin: Mapping[str, Any]
    identified: IdentifiedParameters | None = None

    @property
    def torque_scale(self) -> PerJoint | None:
        """Standard deviation of the scale of each joint's torques; None if they are not known to be from currents."""
        scale = self.origin.get("torque_scale")
        return None if scale is None else np.array(scale, dtype=float)

    @property
    def default_settings(self) -> PreparationSettings:
        """The settings of the preparation of a log, with derivative and delay of the identification if there is one."""
        names = ("derivative", "torque_delay")  # older model files have no delay
        return replace(DEFAULT_SETTINGS, **{name: self.origin[name] for name in names if name in self.origin})

    @property
    def default_min_speed(self) -> float | Sequence[float] | PerJoint | str | None:
        """The ``min_speed`` of the identification; "auto" if there was none."""
        return self.origin.get("min_speed") if self.origin else AUTO  # an older model file may have none


def make_standard_model(
    robot: Robot, origin: Mapping[str, Any] | None = None, identified: IdentifiedParameters | None = None
) -> TorqueModel:
    """Return the model of all standard parameters of a robot."""
    if not robot.theta.any():
        raise InputError(f"robot {robot.name!r} has no inertias, so its torques are unknown; use an identified model")
    return TorqueModel(without_regrouping(robot, robot.parameter_names), robot.theta, origin or {}, identified)


def read_torque_model(
    model: ModelInput, *, snap: float, fix_base: bool, lengths: Mapping[str, float], angles: Mapping[str, float]
) -> TorqueModel:
    """Return a model, with cutoff, derivative and min_speed of its identification if there was one."""
    if isinstance(model, str | Path):
        table = read_identification_table(model) or {}
        if is_without_geometry(table):
            if lengths or angles:
                raise InputError(
                    f"{model} was identified with unknown geometry, and its torques do not depend on lengths and "
                    "angles; leave them out"
                )
            return _make_model_without_geometry(read_model(model))
        robot = load(model, snap=snap, fix_base=fix_base, lengths=lengths, angles=angles)
        check_inertias_are_complete(robot, "a prediction")
        is_unchanged = bool(table) and (snap, fix_base) == (SNAP, False) and not (lengths or angles)
        return make_standard_model(
            robot, table, _find_identified_parameters(read_model(model)) if is_unchanged else None
        )
    if (snap, fix_base) != (SNAP, False) or lengths or angles:
        raise InputError("snap, fix_base, lengths and angles apply to files, but the model is not a file; use load")
    if isinstance(model, Robot):
        check_inertias_are_complete(model, "a prediction")
        return make_standard_model(model)
    if isinstance(model, Identification):
        table = {"cutoff": model.origin.cutoff, "derivative": model.origin.settings[0].derivative}
        table |= {"min_speed": model.origin.min_speed, "log_digests": model.origin.log_digests}
        table |= {"log_rows": model.origin.log_rows, "torque_delay": model.origin.torque_delay.value}
        table |= {"torque_scale": model.torque_scale.tolist()} if model.torque_scale.any() else {}
        base = model.base.with_robot(model.robot)
        identified = IdentifiedParameters(base, model.beta, model.uncertainty, model.torque_noise)
        if base.standard_combinations is not None:
            return make_standard_model(model.robot, table, identified)
        return TorqueModel(base, model.beta, table, identified)
    if isinstance(model, Model):
        if model.has_unknown_geometry:
            return _make_model_without_geometry(model)
        return make_standard_model(model.robot, model.table, _find_identified_parameters(model))
    raise InputError(
        f"a value of type {type(model).__name__} is not a model; give a file, a catalog name, an Identification or a "
        "Robot"
    )


def _make_model_without_geometry(model: Model) -> TorqueModel:
    return TorqueModel(model.regroup(), model.beta, model.table, _find_identified_parameters(model))


def _find_identified_parameters(model: Model) -> IdentifiedParameters:
    """Return the base parameters of a model file and their covariance.

    The file contains no directions that are not identified, but the parameters that have a component along them, whose
    standard deviation is infinite: all of them count as unknown.
    """
    base = model.regroup() if model.has_unknown_geometry else find_earlier_model(model).base
    infinite = np.array([not np.isfinite(row["std"]) for row in model.table["parameters"]], dtype=bool)
    noise = model.table.get("noise")  # files of older versions have none
    between = model.table.get("between_logs")  # likewise
    uncertainty = ParameterUncertainty(
        model.covariance, np.eye(len(base))[:, infinite], None if between is None else np.array(between, dtype=float)
    )
    return IdentifiedParameters(base, model.beta, uncertainty, None if noise is None else np.array(noise, dtype=float))
