"""The report of a designed trajectory: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.excitation.criteria.registry import CRITERIA
from ytheta.excitation.curves import compute_curves
from ytheta.report.excitation import plots, statistics, tables
from ytheta.report.excitation.summary import summarize_excitation
from ytheta.report.html_page import check_installed, render_page, write_page
from ytheta.report.identification.tables import sort_findings

if TYPE_CHECKING:
    from ytheta.excitation.result import Excitation

check_installed()


def write_excitation_report(excitation: Excitation, path: str | Path) -> Path:
    """Write the report of a designed trajectory; the file is written atomically."""
    return write_page(path, lambda: excitation_html(excitation))


def excitation_html(excitation: Excitation) -> str:
    """Return the page as text."""
    curves = compute_curves(excitation)
    content = {
        "excitation": excitation,
        "tables": tables,
        "statistics": statistics,
        "criterion": None if excitation.design is None else CRITERIA[excitation.design.criterion],
        "summary": summarize_excitation(excitation),
        "path_figure": plots.plot_path(curves),
        "deviation_figure": plots.plot_deviations(excitation),
        "joint_figures": [
            (name, motion, torque)
            for (name, motion), (_, torque) in zip(
                plots.plot_motion(excitation, curves), plots.plot_torque(excitation, curves), strict=True
            )
        ],
        "tools": ", ".join(curves.paths),
        "sort_findings": sort_findings,
    }
    return render_page("excitation.html", content)
