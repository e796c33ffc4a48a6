"""Torques that a robot's own parameters predict for the motion of a log.

All standard parameters take part with the description's values, each as a parameter of its own, so nothing is
identified here and no rank is asked for. Coulomb friction passes the same low-pass as the measured torque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.assessment.residuals import TorqueErrors, judge
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.friction import drive_directions
from ytheta.identification.equations.known_torque import each_alone
from ytheta.identification.equations.estimation_problem import PIECE
from ytheta.identification.equations.motion_sources import LogSource
from ytheta.logs.log import Log
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, Preparation, PreparationSettings, choose_preparation
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, SamplesByJoint


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a robot's parameters say of a log; errors against its torques, None where it has none."""

    preparation: Preparation
    errors: TorqueErrors | None
    t: Float[np.ndarray, "samples"]
    measured: SamplesByJoint | None
    predicted: SamplesByJoint


def predict_torques(
    robot: Robot,
    log: Log,
    settings: PreparationSettings = DEFAULT_SETTINGS,
    *,
    min_speed: Float[np.ndarray, "joints"] | None = None,
    threads: int | None = None,
) -> Prediction:
    """Torques of all samples that are kept, and how far they are from the measured ones, both low-passed alike.

    ``min_speed``: joints that move more slowly do not count for the errors.
    """
    if not robot.theta.any():
        raise InputError(f"robot {robot.name!r} has no inertias, so its torques are unknown; take what identify wrote")
    chosen = choose_preparation(log, settings)
    source = LogSource(chosen, drive_directions(robot))
    form, theta = Differential(each_alone(robot, robot.parameter_names), min_speed), robot.theta
    errors = None if log.tau is None else judge(form, (source,), theta, threads=threads)
    if errors is not None and not errors.counts.any():
        raise InputError(f"{source.name}: no joint is ever as fast as 'min_speed' asks for; give lower speeds")
    parts = [(motion.t, motion.tau, form.torque(motion, theta).T) for motion in _motions(source)]
    return Prediction(
        chosen,
        errors,
        t=np.concatenate([t for t, _, _ in parts]),
        measured=None if log.tau is None else np.concatenate([tau for _, tau, _ in parts if tau is not None]),
        predicted=np.concatenate([predicted for _, _, predicted in parts]),
    )


def _motions(source: LogSource) -> Iterator[MotionSamples]:
    for segment, length in enumerate(source.lengths):
        for first in range(0, length, PIECE):
            yield source.motion(segment, first, min(first + PIECE, length))
