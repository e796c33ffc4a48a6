"""Torques that the parameters of a robot description or model predict for the motion of a log.

All standard parameters contribute, with their values from the robot description. Nothing is estimated, so the
parameters need not be independent. The predicted Coulomb friction is low-passed like the measured torque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.assessment.residuals import TorqueErrors, compute_errors
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import PIECE_LENGTH
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.equations.known_torque import without_regrouping
from ytheta.identification.equations.motion_sources import LogSource
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, Preparation, PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, PerSample, SamplesByJoint


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predicted torques of a log.

    Attributes
    ----------
    preparation  how the log was prepared
    errors       torque errors; None if the log has no torques
    t            times of the kept samples
    measured     low-passed measured torques; None if the log has no torques
    predicted    predicted torques
    """

    preparation: Preparation
    errors: TorqueErrors | None
    t: PerSample
    measured: SamplesByJoint | None
    predicted: SamplesByJoint


def predict_torques(
    robot: Robot,
    log: Log,
    settings: PreparationSettings = DEFAULT_SETTINGS,
    *,
    min_speed: PerJoint | None = None,
    threads: int | None = None,
) -> Prediction:
    """Predict the torques of all kept samples, and compare them with the measured torques after the same low-pass.

    ``min_speed``: one speed per joint, in rad/s or m/s; the errors of a joint omit samples while the joint is slower.
    """
    if not robot.theta.any():
        raise InputError(f"robot {robot.name!r} has no inertias, so its torques are unknown; use an identified model")
    preparation = choose_preparation(log, settings)
    source = LogSource(preparation, make_drive_directions(robot))
    form, theta = Differential(without_regrouping(robot, robot.parameter_names), min_speed), robot.theta
    errors = None if log.tau is None else compute_errors(form, (source,), theta, threads=threads)
    if errors is not None and not errors.counts.any():
        raise InputError(f"{source.name}: no joint ever reaches its min_speed; lower min_speed")
    parts = [(motion.t, motion.tau, form.torque(motion, theta).T) for motion in _iterate_motion(source)]
    return Prediction(
        preparation,
        errors,
        t=np.concatenate([t for t, _, _ in parts]),
        measured=None if log.tau is None else np.concatenate([tau for _, tau, _ in parts if tau is not None]),
        predicted=np.concatenate([predicted for _, _, predicted in parts]),
    )


def _iterate_motion(source: LogSource) -> Iterator[MotionSamples]:
    for segment, length in enumerate(source.lengths):
        for first in range(0, length, PIECE_LENGTH):
            yield source.motion(segment, first, min(first + PIECE_LENGTH, length))
