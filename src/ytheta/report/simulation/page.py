"""The report of a simulation: one HTML file that needs nothing else.

Where a library that makes reports is missing, importing this module says so: before anything is worked out for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.report.html_page import check_installed, rendered, write_page
from ytheta.report.simulation import plots, tables
from ytheta.report.simulation.figures import Figures
from ytheta.report.simulation.settings import settings
from ytheta.report.simulation.summary import simulation_summary

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation

check_installed()


def write_simulation_report(found: Simulation, path: str | Path, *, course_note: str = "") -> Path:
    """Write the report of a simulation; ``course_note`` says what the reference is. It appears whole or not at all."""
    return write_page(path, lambda: simulation_html(found, course_note=course_note))


def simulation_html(found: Simulation, *, course_note: str = "") -> str:
    """The page as text."""
    figures = Figures(found)
    many, learns = len(figures.finished) > 1, bool(found.unknown_names)
    content = {
        "found": found,
        "figures": figures,
        "tables": tables,
        "settings": list(settings(figures, course_note)),
        "summary": simulation_summary(found),
        "has_limits": bool(np.isfinite(figures.limits).any()),
        "few": len(found.unknown_names) <= plots.FEW,
        "tracking_plots": list(plots.tracking_plots(figures)),
        "limits": any(plots.near(figures, j) for j in range(len(found.robot.actuated))),
        "torque_plots": list(plots.torque_plots(figures)),
        "parameter_plots": list(plots.parameter_plots(figures)),
        "parameter_error": plots.parameter_error_plot(figures) if len(found.unknown_names) > (0 if many else 1) else None,
        "lyapunov": plots.lyapunov_plot(figures),
        "tracking_histogram": plots.tracking_histogram(figures) if many else None,
        "parameter_histogram": plots.parameter_histogram(figures) if many and learns else None,
        "tracking_error": plots.tracking_error_plot(figures) if many else None,
    }
    return rendered("simulation.html", content)
