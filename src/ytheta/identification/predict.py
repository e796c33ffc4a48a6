"""Torques that the parameters of a robot description or model predict for the motion of a log.

All standard parameters contribute, with their values from the robot description. Nothing is estimated, so the
parameters need not be independent. The predicted Coulomb friction is low-passed like the measured torque.

The torques of an identified model have standard deviations: those that follow from the covariance of its base
parameters. A robot description has no covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ytheta.conventions import SNAP
from ytheta.display import Reported
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, refuse_to_overwrite, write_atomically
from ytheta.files.tables import write_table
from ytheta.findings import Finding, attach_findings
from ytheta.identifiability.base_parameters import BaseParameters, without_regrouping
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.arguments import check_min_speed, ignore_stage, is_auto
from ytheta.identification.assessment.prediction_std import ParameterUncertainty, compute_reversal_std
from ytheta.identification.assessment.residuals import TorqueErrors, compute_errors, predict_torque
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import PIECE_LENGTH
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.identification.equations.motion_sources import LogSource
from ytheta.identification.equations.stiction import find_sticking_rates, make_rest_rules
from ytheta.identification.fit_findings import find_resting_joints
from ytheta.identification.model_file import Model, find_earlier_model, read_identification_table, read_model
from ytheta.identification.preparing.plan import choose_judged_preparation
from ytheta.identification.result import Identification
from ytheta.identification.unknown_geometry import is_without_geometry
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.logs.preparing.settings import AUTO, DEFAULT_SETTINGS, PreparationSettings, merge_settings
from ytheta.logs.reading.read import LogInput, MappingInput, read_log
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase, PerJoint, PerSample, SamplesByJoint, freeze

if TYPE_CHECKING:
    ModelInput = str | Path | Robot | Identification | Model
else:  # a value of another type is refused with a sentence that says what is accepted
    ModelInput = Any

SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Reported):
    """The predicted torques of a log. Its arrays are read-only.

    Attributes
    ----------
    robot        the robot with the parameters that predict the torques
    source       name of the log
    preparation  how the log was prepared
    errors       torque errors; None if the log has no torques
    t            times of the kept samples
    measured     low-passed measured torques; None if the log has no torques
    predicted    predicted torques
    std          standard deviations of the predicted torques, from the covariance of the model's parameters; None if
                 the model was not identified
    noise        standard deviation of each joint's measured torques at the cut-off of the model's errors, from the logs
                 of its fit; None if it is not known. A new measurement at this cut-off differs from the prediction by
                 both: its variance is std² + noise²
    findings     findings about the log and its preparation
    """

    subject: ClassVar[str] = "prediction"

    robot: Robot
    source: str
    preparation: Preparation
    errors: TorqueErrors | None
    t: PerSample
    measured: SamplesByJoint | None
    predicted: SamplesByJoint
    findings: tuple[Finding, ...] = ()
    std: SamplesByJoint | None = None
    noise: PerJoint | None = None

    def __post_init__(self) -> None:
        for values in (self.t, self.measured, self.predicted, self.std, self.noise):
            if values is not None:
                freeze(values)

    @property
    def rms_std(self) -> PerJoint | None:
        """Root mean square of each joint's standard deviations; None if the model was not identified."""
        return None if self.std is None else np.sqrt(np.mean(self.std**2, axis=0))

    def save(self, path: str | Path) -> Path:
        """Write t, measured and predicted torques and ``std`` of every joint to a ``.csv`` or ``.parquet`` file."""
        path = check_writable(path, *SUFFIXES)
        refuse_to_overwrite(path, (self.source,))
        columns = {"t": self.t}
        for kind, torques in (("measured", self.measured), ("predicted", self.predicted), ("std", self.std)):
            if torques is not None:
                columns |= {f"{kind}_{joint}": torques[:, k] for k, joint in enumerate(self.robot.actuated)}
        with write_atomically(path) as file:
            write_table(columns, file, content="prediction")
        return path

    def __repr__(self) -> str:
        errors = "no measured torques" if self.errors is None else f"{self.errors.relative_percent:.2f} % error"
        return (
            f"Prediction({len(self.t)} samples of {Path(self.source).name or 'a log'} by {self.robot.name!r}, {errors})"
        )


def predict(
    model: ModelInput,
    log: LogInput,
    *,
    mapping: MappingInput = None,
    cutoff: float | str | None = None,
    derivative: str | None = None,
    velocity: str | None = None,
    settings: PreparationSettings | None = None,
    min_speed: float | Sequence[float] | PerJoint | str | None = None,
    threads: int | None = None,
    strict: bool = False,
    snap: float = SNAP,
    fix_base: bool = False,
    lengths: Mapping[str, float] | None = None,
    angles: Mapping[str, float] | None = None,
    report_stage: Callable[[str], None] | None = None,
) -> Prediction:
    """Predict the torques of a log from a model, and compare them with the measured torques after the same low-pass.

    Parameters
    ----------
    model       a file written by ``Identification.save``, an Identification, or any robot with inertias: a file, a
                catalog name or a Robot
    log         a file, a DataFrame of pandas or Polars, a dict of arrays, or a Log; ``read_log`` describes them
    mapping     the meaning of the columns, as for ``read_log``
    cutoff      cut-off of the low-pass in Hz. By default, and with "auto", that of the errors of the identification, if
                there was one, but at most what the log bears
    derivative  "central" or "spline"; by default that of the identification, if there was one
    velocity    "recorded", "position" (differentiated), or "auto", the default: the one with the smaller expected error
    settings    all settings of the preparation, in place of the three arguments above and those of the identification
    min_speed   which samples the errors omit because stiction dominates them. "auto": those of a joint with Coulomb
                friction while it rests; or a speed for all joints or one for each, in rad/s or m/s: those of a joint
                while it is slower. By default as in the identification, or "auto" if there was none
    threads     number of threads; None uses all cores
    strict      refuse a log with findings more serious than a note
    snap, fix_base, lengths, angles
                how a file is read, as for ``load``
    report_stage
                called with the name of each stage when it starts; None reports nothing
    """
    report = report_stage or ignore_stage
    report("reading the model")
    torque_model = _read_model(model, snap=snap, fix_base=fix_base, lengths=lengths or {}, angles=angles or {})
    robot, origin = torque_model.base.robot, torque_model.origin
    fitted = {name: origin[name] for name in ("derivative",) if name in origin}
    defaults = replace(DEFAULT_SETTINGS, **fitted)
    chosen = merge_settings(settings, defaults=defaults, cutoff=cutoff, derivative=derivative, velocity=velocity)
    if min_speed is None:
        min_speed = origin.get("min_speed") if origin else AUTO
    speeds = check_min_speed(robot, min_speed)
    report("reading the log")
    measured = read_log(log, robot, mapping=mapping, strict=strict)
    report("predicting")
    with attach_findings(measured.findings):
        return _predict_torques(
            torque_model, measured, chosen, speeds, leaves_out_rest=is_auto(min_speed), threads=threads
        )


def predict_torques(
    robot: Robot,
    log: Log,
    settings: PreparationSettings = DEFAULT_SETTINGS,
    *,
    min_speed: PerJoint | None = None,
    threads: int | None = None,
) -> Prediction:
    """Predict the torques of all kept samples of a log that was read, with the parameters of a robot.

    ``min_speed``: one speed per joint, in rad/s or m/s; the errors of a joint omit samples while the joint is slower.
    """
    model = _make_standard_model(robot)
    return _predict_torques(model, log, settings, min_speed, leaves_out_rest=False, threads=threads)


@dataclass(frozen=True, eq=False)
class _IdentifiedParameters:
    """Identified parameters with their uncertainty, and the noise of their fit if it is known."""

    base: ModelParameters
    beta: PerBase
    uncertainty: ParameterUncertainty
    noise: PerJoint | None

    def compute_std(self, motion: MotionSamples) -> SamplesByJoint:
        """Return the standard deviations of the torques of a motion."""
        blocks = self._form.compute_regressor_blocks(motion)
        parts = [self.uncertainty.compute_std(self._form.layout, values) for _, values in blocks]
        return np.hypot(np.concatenate(parts, axis=1), compute_reversal_std(self._form, motion, self.beta)).T

    @cached_property
    def _form(self) -> Differential:
        return Differential(self.base)


@dataclass(frozen=True, eq=False)
class _TorqueModel:
    """Parameters, their values, and the settings and covariance of their identification if there was one."""

    base: ModelParameters
    beta: PerBase
    origin: Mapping[str, Any]
    identified: _IdentifiedParameters | None = None


def _make_standard_model(
    robot: Robot, origin: Mapping[str, Any] | None = None, identified: _IdentifiedParameters | None = None
) -> _TorqueModel:
    """Return the model of all standard parameters of a robot."""
    if not robot.theta.any():
        raise InputError(f"robot {robot.name!r} has no inertias, so its torques are unknown; use an identified model")
    return _TorqueModel(without_regrouping(robot, robot.parameter_names), robot.theta, origin or {}, identified)


def _predict_torques(
    model: _TorqueModel,
    log: Log,
    settings: PreparationSettings,
    min_speed: PerJoint | None,
    *,
    leaves_out_rest: bool,
    threads: int | None,
) -> Prediction:
    base, beta, known = model.base, model.beta, KnownTorque(model.base)
    preparation = choose_judged_preparation(log, settings, model.origin.get("cutoff"))
    (rest,) = make_rest_rules((preparation,), find_sticking_rates(base.robot, ())) if leaves_out_rest else (None,)
    source = LogSource(preparation, make_drive_directions(base.robot), rest=rest)
    form = Differential(base, min_speed)
    errors = None if log.tau is None else compute_errors(form, (source,), beta, known=known, threads=threads)
    if errors is not None and not errors.counts.any():
        raise InputError(
            f"{source.name}: "
            + (
                "no joint ever moves; set min_speed to 0 to judge rest"
                if rest
                else "no joint ever reaches its min_speed; lower min_speed"
            )
        )
    resting = () if errors is None or rest is None else find_resting_joints(log.joints, errors, "the log")
    parts, deviations = [], []
    for motion in _iterate_motion(source):
        parts.append((motion.t, motion.tau, predict_torque(form, motion, beta, known=known).T))
        if model.identified is not None:
            deviations.append(model.identified.compute_std(motion))
    return Prediction(
        robot=base.robot,
        source=log.source,
        preparation=preparation,
        errors=errors,
        t=np.concatenate([t for t, _, _ in parts]),
        measured=None if log.tau is None else np.concatenate([tau for _, tau, _ in parts if tau is not None]),
        predicted=np.concatenate([predicted for _, _, predicted in parts]),
        findings=tuple(dict.fromkeys((*log.findings, *preparation.findings, *resting))),
        std=None if model.identified is None else np.concatenate(deviations),
        noise=None if model.identified is None else model.identified.noise,
    )


def _read_model(
    model: ModelInput, *, snap: float, fix_base: bool, lengths: Mapping[str, float], angles: Mapping[str, float]
) -> _TorqueModel:
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
        is_unchanged = bool(table) and (snap, fix_base) == (SNAP, False) and not (lengths or angles)
        return _make_standard_model(
            robot, table, _find_identified_parameters(read_model(model)) if is_unchanged else None
        )
    if (snap, fix_base) != (SNAP, False) or lengths or angles:
        raise InputError("snap, fix_base, lengths and angles apply to files, but the model is not a file; use load")
    if isinstance(model, Robot):
        return _make_standard_model(model)
    if isinstance(model, Identification):
        table = {"cutoff": model.origin.cutoff, "derivative": model.origin.settings[0].derivative}
        table |= {"min_speed": model.origin.min_speed}
        base = model.base.with_robot(model.robot)
        identified = _IdentifiedParameters(base, model.beta, model.uncertainty, model.torque_noise)
        if isinstance(base, BaseParameters):
            return _make_standard_model(model.robot, table, identified)
        return _TorqueModel(base, model.beta, table, identified)
    if isinstance(model, Model):
        if model.has_unknown_geometry:
            return _make_model_without_geometry(model)
        return _make_standard_model(model.robot, model.table, _find_identified_parameters(model))
    raise InputError(
        f"a value of type {type(model).__name__} is not a model; give a file, a catalog name, an Identification or a "
        "Robot"
    )


def _make_model_without_geometry(model: Model) -> _TorqueModel:
    return _TorqueModel(model.regroup(), model.beta, model.table, _find_identified_parameters(model))


def _find_identified_parameters(model: Model) -> _IdentifiedParameters:
    """Return the base parameters of a model file and their covariance.

    The file contains no directions that are not identified, but the parameters that have a component along them, whose
    standard deviation is infinite: all of them count as unknown.
    """
    base = model.regroup() if model.has_unknown_geometry else find_earlier_model(model).base
    infinite = np.array([not np.isfinite(row["std"]) for row in model.table["parameters"]], dtype=bool)
    noise = model.table.get("noise")  # files of older versions have none
    uncertainty = ParameterUncertainty(model.covariance, np.eye(len(base))[:, infinite])
    return _IdentifiedParameters(base, model.beta, uncertainty, None if noise is None else np.array(noise, dtype=float))


def _iterate_motion(source: LogSource) -> Iterator[MotionSamples]:
    for segment, length in enumerate(source.lengths):
        for first in range(0, length, PIECE_LENGTH):
            yield source.motion(segment, first, min(first + PIECE_LENGTH, length))
