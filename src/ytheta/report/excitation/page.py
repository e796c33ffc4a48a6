"""The report of a designed trajectory: a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.excitation.criteria import CRITERIA
from ytheta.excitation.result import compute_curves
from ytheta.report.excitation.plots import plot_deviations, plot_motion, plot_path, plot_torque
from ytheta.report.excitation.statistics import (
    describe_motion,
    describe_noise,
    describe_origin,
    describe_reference,
    describe_search,
    describe_verdict,
)
from ytheta.report.excitation.summary import summarize_excitation
from ytheta.report.excitation.tables import (
    list_conditions,
    list_key_numbers,
    list_limit_headings,
    list_limits,
    list_margins,
    list_parameter_rows,
)
from ytheta.report.html_page import render_page, write_page

if TYPE_CHECKING:
    from ytheta.excitation.result import Excitation


def write_excitation_report(excitation: Excitation, path: str | Path) -> Path:
    """Write the report of a designed trajectory; the file is written atomically."""
    return write_page(path, lambda: excitation_html(excitation))


def excitation_html(excitation: Excitation) -> str:
    """Return the page as text."""
    curves = compute_curves(excitation)
    content = {
        "excitation": excitation,
        "criterion": None if excitation.design is None else CRITERIA[excitation.design.criterion],
        "summary": summarize_excitation(excitation),
        "path_figure": plot_path(curves),
        "deviation_figure": plot_deviations(excitation),
        "joint_figures": [
            (name, motion, torque)
            for (name, motion), (_, torque) in zip(
                plot_motion(excitation, curves), plot_torque(excitation, curves), strict=True
            )
        ],
        "tools": ", ".join(curves.paths),
    }
    functions = (
        *(describe_motion, describe_noise, describe_origin, describe_reference, describe_search, describe_verdict),
        *(list_conditions, list_key_numbers, list_limit_headings, list_limits, list_margins, list_parameter_rows),
    )
    return render_page("excitation.html", content, functions)
