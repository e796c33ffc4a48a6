"""A prediction as plain data: the output of ``ytheta predict --json``."""

from __future__ import annotations

from typing import Any

from ytheta.identification.model_file import summarize_errors
from ytheta.identification.predict import Prediction
from ytheta.report.numbers import replace_nonfinite
from ytheta.robot.robot import Robot

ERROR_KEYS = (
    "relative_error_percent",
    "per_joint_percent",
    "raw_relative_error_percent",
    "raw_per_joint_percent",
    "of_variation_percent",
    "rms",
    "torque_rms",
)


def summarize_prediction(robot: Robot, prediction: Prediction) -> dict[str, Any]:
    """Return the errors of a prediction; they are None if the log has no measured torques."""
    size = {"samples": len(prediction.t), "seconds": len(prediction.t) / prediction.preparation.rate}
    errors = dict.fromkeys(ERROR_KEYS) | size if prediction.errors is None else summarize_errors(prediction.errors)
    cutoff = float(prediction.preparation.settings.cutoff)
    data: dict[str, Any] = replace_nonfinite({"robot": robot.name, "cutoff": cutoff, **errors})
    return data
