"""Torques that the parameters of a robot description or model predict for the motion of a log.

All standard parameters contribute, with their values from the robot description. Nothing is estimated, so the
parameters need not be independent. The predicted Coulomb friction is low-passed like the measured torque.

The torques of an identified model have standard deviations: those that follow from the covariance of its base
parameters, from friction near reversals and at rest, and from the variation between logs. A robot description has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ytheta.conventions import SNAP
from ytheta.display import Reported
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, refuse_to_overwrite, write_atomically, write_table
from ytheta.findings import Finding, attach_findings
from ytheta.identification.assessment.residuals import compute_errors, predict_torque
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.equations.differential import Differential, KnownTorque
from ytheta.identification.equations.estimation_problem import PIECE_LENGTH
from ytheta.identification.equations.friction import (
    check_min_speed,
    find_sticking_rates,
    is_auto,
    make_drive_directions,
    make_rest_rules,
)
from ytheta.identification.fit_findings import find_resting_joints
from ytheta.identification.torque_model import ModelInput, TorqueModel, make_standard_model, read_torque_model
from ytheta.logs.log import Log, LogSize
from ytheta.logs.preparing.motion_sources import LogSource
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, Preparation, PreparationSettings
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.logs.reading.read import GainInput, LogInput, MappingInput, RowsInput, read_log
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, PerSample, SamplesByJoint, freeze


def predict(
    model: ModelInput,
    log: LogInput,
    *,
    mapping: MappingInput = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
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
    degrees, rows, rate, gain, topic
                how the log is read, as for ``read_log``
    cutoff      cut-off of the low-pass in Hz. By default, and with "auto", that which was given to the identification
                or, if it chose, that of its errors, but at most what the log bears
    derivative  "central" or "spline"; by default that of the identification, if there was one
    velocity    "recorded" or "position" (differentiated). By default, and with "auto", that which was given to the
                identification or which its torques decided; else the one with the smaller expected error
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
    report = report_stage or (lambda _: None)
    report("reading the model")
    torque_model = read_torque_model(model, snap=snap, fix_base=fix_base, lengths=lengths or {}, angles=angles or {})
    robot = torque_model.base.robot
    min_speed = torque_model.default_min_speed if min_speed is None else min_speed
    speeds = check_min_speed(robot, min_speed)
    report("reading the log")
    measured = read_log(
        log, robot, mapping=mapping, degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic, strict=strict
    )
    report("predicting")
    with attach_findings(measured.findings):
        preparation = torque_model.choose_preparation(
            measured, settings, cutoff=cutoff, derivative=derivative, velocity=velocity
        )
        return _predict_torques(
            torque_model, measured, preparation, speeds, leaves_out_rest=is_auto(min_speed), threads=threads
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
    model = make_standard_model(robot)
    preparation = model.choose_preparation(log, settings)
    return _predict_torques(model, log, preparation, min_speed, leaves_out_rest=False, threads=threads)


def _predict_torques(
    model: TorqueModel,
    log: Log,
    preparation: Preparation,
    min_speed: PerJoint | None,
    *,
    leaves_out_rest: bool,
    threads: int | None,
) -> Prediction:
    base, beta, known = model.base, model.beta, KnownTorque(model.base)
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
            deviations.append(model.identified.compute_std(motion, form.mask(motion)))
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
        between_logs=None if model.identified is None else model.identified.uncertainty.between_logs,
        torque_scale=model.torque_scale,
        recorded=log.size,
    )


def _iterate_motion(source: LogSource) -> Iterator[MotionSamples]:
    for segment, length in enumerate(source.lengths):
        for first in range(0, length, PIECE_LENGTH):
            yield source.motion(segment, first, min(first + PIECE_LENGTH, length))


# The predicted torques of a log.


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
    std          standard deviations of the predicted torques: from the covariance of the model's parameters, friction
                 near reversals and at rest, and the variation between logs; None if the model was not identified
    between_logs the part of ``std`` that is the variation between logs, the same for all samples of a joint; None if it
                 is not known
    noise        standard deviation of each joint's measured torques at the cut-off of the model's errors, from the logs
                 of its fit; None if it is not known. A new measurement at this cut-off differs from the prediction by
                 both: its variance is std² + noise²
    torque_scale standard deviation of the scale of each joint's torques, which ``std`` does not contain, since the same
                 drives measure other logs; None if the model was not identified from currents
    findings     findings about the log and its preparation
    recorded     size of the log before its preparation, which keeps fewer samples; None if it is not known
    """

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
    between_logs: PerJoint | None = None
    torque_scale: PerJoint | None = None
    recorded: LogSize | None = None

    def __post_init__(self) -> None:
        optional = (self.measured, self.std, self.noise, self.between_logs, self.torque_scale)
        for values in (self.t, self.predicted, *optional):
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
            write_table(columns, file, suffix=path.suffix, content="prediction")
        return path

    def __repr__(self) -> str:
        errors = "no measured torques" if self.errors is None else f"{self.errors.relative_percent:.2f} % error"
        return (
            f"Prediction({len(self.t)} samples of {Path(self.source).name or 'a log'} by {self.robot.name!r}, {errors})"
        )
