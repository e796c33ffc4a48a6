"""A prediction as plain data: the output of ``ytheta predict --json``, also embedded in the page."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ytheta.identification.model_table import summarize_errors
from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.identification.predict import Prediction

ERROR_KEYS = (
    "relative_error_percent",
    "per_joint_percent",
    "raw_relative_error_percent",
    "raw_per_joint_percent",
    "of_variation_percent",
    "nrmse",
    "nrmse_mean",
    "rms",
    "torque_rms",
    "used_share",
)


def summarize_prediction(prediction: Prediction) -> dict[str, Any]:
    """Return the errors of a prediction; they are None if the log has no measured torques."""
    size = {"samples": len(prediction.t), "seconds": len(prediction.t) / prediction.preparation.rate}
    errors = dict.fromkeys(ERROR_KEYS) | size if prediction.errors is None else summarize_errors(prediction.errors)
    data: dict[str, Any] = replace_nonfinite(
        {
            "robot": prediction.robot.name,
            "joints": list(prediction.robot.actuated),
            "log": prediction.source,
            "cutoff": float(prediction.preparation.settings.cutoff),
            "derivative": prediction.preparation.settings.derivative,
            **errors,
            "recorded": None if prediction.recorded is None else asdict(prediction.recorded),
            "prediction_std": None if prediction.rms_std is None else prediction.rms_std.tolist(),
            "noise": None if prediction.noise is None else prediction.noise.tolist(),
        }
    )
    return data | {"findings": [finding.data for finding in prediction.findings]}
