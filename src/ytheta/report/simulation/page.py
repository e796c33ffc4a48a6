"""The report of a simulation: a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.report.html_page import render_page, write_page
from ytheta.report.simulation.plots import (
    MAX_PARAMETER_PLOTS,
    is_near_limit,
    make_overviews,
    plot_parameters,
    plot_torques,
    plot_tracking,
)
from ytheta.report.simulation.settings import describe_settings
from ytheta.report.simulation.statistics import SimulationStatistics
from ytheta.report.simulation.summary import summarize_simulation
from ytheta.report.simulation.tables import (
    describe_diverged_runs,
    describe_outcome,
    describe_shown_run,
    list_joint_rows,
    list_key_numbers,
    list_parameter_rows,
    list_quantile_headings,
    list_quantile_rows,
)

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation


def write_simulation_report(simulation: Simulation, path: str | Path, *, reference_note: str = "") -> Path:
    """Write the report of a simulation atomically; ``reference_note`` describes the reference."""
    return write_page(path, lambda: simulation_html(simulation, reference_note=reference_note))


def simulation_html(simulation: Simulation, *, reference_note: str = "") -> str:
    """Return the page as text."""
    statistics = SimulationStatistics(simulation)
    overviews = make_overviews(statistics)
    content = {
        "simulation": simulation,
        "statistics": statistics,
        "settings": list(describe_settings(statistics, reference_note)),
        "summary": summarize_simulation(simulation),
        "has_limits": bool(np.isfinite(statistics.limits).any()),
        "few": len(simulation.unknown_names) <= MAX_PARAMETER_PLOTS,
        "tracking_plots": list(plot_tracking(statistics)),
        "limits": any(is_near_limit(statistics, j) for j in range(len(simulation.robot.actuated))),
        "torque_plots": list(plot_torques(statistics)),
        "parameter_plots": list(plot_parameters(statistics)),
        **{name.replace(" ", "_"): figure for name, figure in overviews.items()},
    }
    functions = (
        *(describe_diverged_runs, describe_outcome, describe_shown_run, list_joint_rows, list_key_numbers),
        *(list_parameter_rows, list_quantile_headings, list_quantile_rows),
    )
    return render_page("simulation.html", content, functions)
