"""The report of a prediction: a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import render_page, write_page
from ytheta.report.log.columns import describe_preparation
from ytheta.report.prediction.plots import plot_torques
from ytheta.report.prediction.summary import summarize_prediction
from ytheta.report.prediction.tables import list_joint_headings, list_joint_rows, list_key_numbers

if TYPE_CHECKING:
    from ytheta.identification.predict import Prediction


def write_prediction_report(prediction: Prediction, path: str | Path) -> Path:
    """Write the report of a prediction; the file is written atomically."""
    return write_page(path, lambda: prediction_html(prediction))


def prediction_html(prediction: Prediction) -> str:
    """Return the page as text."""
    log = Path(prediction.source).name or "log"
    preparation = describe_preparation(prediction.preparation.settings, prediction.robot.actuated)
    content = {
        "prediction": prediction,
        "log": log,
        "summary": summarize_prediction(prediction),
        "torque_figures": plot_torques(prediction),
        "preparation_rows": [[log, *preparation]],
    }
    functions = (list_joint_headings, list_joint_rows, list_key_numbers)
    return render_page("prediction.html", content, functions)
