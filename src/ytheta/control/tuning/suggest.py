"""Suggested gains: the settings of a controller for a robot, a motion and a rate.

The gains are computed from the inertias of the robot description, at samples of the reference trajectory. The rules are
in ``feedback_gains`` and ``adaptation_gains``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ytheta.arguments import check_number, is_positive
from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.registry import find_controller
from ytheta.control.settings import DEFAULT_ADAPTATION, DEFAULT_FEEDBACK
from ytheta.control.tuning.adaptation_gains import ErrorDynamics, suggest_adaptation
from ytheta.control.tuning.feedback_gains import ReferenceSamples, TuningTask, suggest_feedback
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float

MAX_SAMPLES = 300


def suggest_gains(
    name: str,
    robot: Robot,
    base: BaseParameters | None = None,
    *,
    learn: Sequence[str] | None = None,
    motion: ReferenceSamples,
    rate: float = 1000.0,
    adaptation: str = DEFAULT_ADAPTATION,
    feedback: str = DEFAULT_FEEDBACK,
) -> dict[str, Any]:
    """Return the gains of a controller, given by its name: arguments for its class, such as ``SlotineLi``.

    ``motion`` contains samples of the reference trajectory: q, qd and qdd with one row per sample. ``rate`` is the
    number of controller steps per second. ``adaptation`` is gradient, natural or composite; the returned setting
    ``adaptation`` is the gain of the gradient, or the adaptation law itself. ``feedback`` is the feedback law of
    walker, inertial, pd or pid; other laws ignore it. Laws without adaptation ignore ``base`` and ``learn``; walker
    ignores ``base``.
    """
    law = find_controller(name)
    check_is_robot(robot)
    refuse_floating_base(robot, "a controller")
    check_number("rate", rate, "a positive number of Hz, such as 1000", allow=is_positive)
    q, qd, qdd = _select_samples(robot, motion)
    task = TuningTask(robot, (q, qd, qdd), 1.0 / rate)
    settings, K_D = suggest_feedback(law, task, feedback)
    if issubclass(law, AdaptiveLaw):
        unknowns = law.select_unknowns(robot, base, learn)
        settings["adaptation"] = suggest_adaptation(adaptation, ErrorDynamics.of(law, task, unknowns, K_D))
    return settings


def _select_samples(robot: Robot, motion: ReferenceSamples) -> tuple[Float[np.ndarray, "kept joints"], ...]:
    """Return at most MAX_SAMPLES samples, evenly spaced."""
    if callable(motion):
        raise InputError(
            "motion is a function of time; give its values at some times, such as "
            "motion=reference(np.linspace(0.0, 10.0, 500))"
        )
    try:
        q, qd, qdd = (np.asarray(values, dtype=float) for values in motion)
    except (TypeError, ValueError):
        raise InputError("motion is not (q, qd, qdd); give three arrays with one row for each sample") from None
    shape = (len(q), len(robot.actuated))
    if not len(q) or not (q.shape == qd.shape == qdd.shape == shape):
        raise InputError(
            f"motion has shapes {q.shape}, {qd.shape} and {qdd.shape}; give q, qd and qdd with one row for each sample "
            f"and {shape[1]} columns"
        )
    kept = np.unique(np.linspace(0, len(q) - 1, min(len(q), MAX_SAMPLES)).round().astype(int))
    return q[kept], qd[kept], qdd[kept]
