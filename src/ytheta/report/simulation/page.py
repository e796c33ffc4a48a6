"""The report of a simulation: a self-contained HTML file.

If a library that reports need is missing, importing this module raises MissingExtraError, before any work is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.report.html_page import check_installed, render_page, write_page
from ytheta.report.simulation import plots, tables
from ytheta.report.simulation.settings import describe_settings
from ytheta.report.simulation.statistics import SimulationStatistics
from ytheta.report.simulation.summary import summarize_simulation

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation

check_installed()


def write_simulation_report(simulation: Simulation, path: str | Path, *, reference_note: str = "") -> Path:
    """Write the report of a simulation atomically; ``reference_note`` describes the reference."""
    return write_page(path, lambda: simulation_html(simulation, reference_note=reference_note))


def simulation_html(simulation: Simulation, *, reference_note: str = "") -> str:
    """Return the page as text."""
    statistics = SimulationStatistics(simulation)
    overviews = plots.make_overviews(statistics)
    content = {
        "simulation": simulation,
        "statistics": statistics,
        "tables": tables,
        "settings": list(describe_settings(statistics, reference_note)),
        "summary": summarize_simulation(simulation),
        "has_limits": bool(np.isfinite(statistics.limits).any()),
        "few": len(simulation.unknown_names) <= plots.MAX_PARAMETER_PLOTS,
        "tracking_plots": list(plots.plot_tracking(statistics)),
        "limits": any(plots.is_near_limit(statistics, j) for j in range(len(simulation.robot.actuated))),
        "torque_plots": list(plots.plot_torques(statistics)),
        "parameter_plots": list(plots.plot_parameters(statistics)),
        **{name.replace(" ", "_"): figure for name, figure in overviews.items()},
    }
    return render_page("simulation.html", content)
