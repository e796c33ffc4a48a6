"""Torques that a robot's own parameters predict for the motion of a log.

All standard parameters take part with the description's values, each as a parameter of its own, so nothing is
identified here and no rank is asked for. Coulomb friction passes the same low-pass as the measured torque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.forms.differential import Differential
from ytheta.identification.forms.friction import turning
from ytheta.identification.known import each_alone
from ytheta.identification.problem import PIECE
from ytheta.identification.residuals import Errors, judge
from ytheta.identification.source import LogSource
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.signal.log import Log
from ytheta.signal.plan import AUTO, Plan, Settings, plan

Joints = Float[np.ndarray, "samples joints"]


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a robot's parameters say of a log; ``errors`` against its torques."""

    plan: Plan
    errors: Errors
    t: Float[np.ndarray, "samples"]
    measured: Joints
    predicted: Joints


def prediction(
    robot: Robot,
    log: Log,
    settings: Settings = AUTO,
    *,
    slowest: Float[np.ndarray, "joints"] | None = None,
    threads: int | None = None,
) -> Prediction:
    """Torques of all samples that are kept, and how far they are from the measured ones, both low-passed alike.

    ``slowest``: joints that move more slowly do not count for the errors.
    """
    if log.tau is None:
        raise InputError(f"{log.source or 'log'}: there are no torques to compare with; name their columns")
    chosen = plan(log, settings)
    source = LogSource(chosen, turning(robot))
    form, theta = Differential(each_alone(robot, robot.parameter_names), slowest), robot.theta
    errors = judge(form, (source,), theta, threads=threads)
    parts = list(_parts(form, source, theta))
    t, measured, predicted = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Prediction(chosen, errors, t, measured, predicted)


def _parts(
    form: Differential, source: LogSource, theta: Float[np.ndarray, "params"]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    for segment, length in enumerate(source.lengths):
        for first in range(0, length, PIECE):
            motion = source.motion(segment, first, min(first + PIECE, length))
            assert motion.tau is not None
            yield motion.t, motion.tau, form.torque(motion, theta).T
