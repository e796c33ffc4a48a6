"""The report of a prediction: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import check_installed, render_page, write_page
from ytheta.report.identification.tables import describe_preparation, sort_findings
from ytheta.report.prediction import tables
from ytheta.report.prediction.plots import plot_torques
from ytheta.report.prediction.summary import summarize_prediction

if TYPE_CHECKING:
    from ytheta.identification.prediction.prediction import Prediction

check_installed()


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
        "tables": tables,
        "summary": summarize_prediction(prediction),
        "torque_figures": plot_torques(prediction),
        "sort_findings": sort_findings,
        "preparation_rows": [[log, *preparation]],
    }
    return render_page("prediction.html", content)
