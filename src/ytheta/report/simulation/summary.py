"""A simulation as plain data: what ``ytheta simulate --json`` prints, and what programs read beside the page.

``tracking_rms`` is the root mean square of q - qr over joints, control instants and finished runs: of a robot that
both turns and slides, rad and m mixed. ``parameter_error`` is |estimate - truth| / |truth| at the end, the median over
finished runs, None where nothing is learnt. Both are None where no run finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ytheta
from ytheta.report.identification.summary import finite
from ytheta.report.simulation.figures import QUANTILES, Figures

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation


def simulation_summary(found: Simulation) -> dict[str, Any]:
    """Everything worth knowing of a simulation. What is infinite or not defined is None."""
    figures = Figures(found)
    columns = (figures.units, figures.tracking, figures.last_tracking, figures.largest_torque, figures.limits)
    keys = ("name", "unit", "tracking_rms", "last_tracking_rms", "largest_torque", "torque_limit")
    rows = zip(found.robot.actuated, columns[0], *(column.tolist() for column in columns[1:]), strict=True)
    data = {
        "ytheta": ytheta.__version__,
        "robot": found.robot.name,
        "controller": found.controller.name,
        "plant": found.plant,
        "seconds": float(found.runs.seconds),
        "period": float(found.period),
        "runs": len(found),
        "finished": len(figures.finished),
        "tracking_rms": figures.total_tracking,
        "last_tracking_rms": figures.total_last_tracking,
        "parameter_error": figures.parameter_error,
        "initial_parameter_error": figures.initial_parameter_error,
        "joints": [dict(zip(keys, row, strict=True)) for row in rows],
        "shown_run": figures.shown,
        "parameters": [
            {"name": each.unknown, "truth": each.truth, "start": each.start, "end": each.end}
            for each in figures.parameters
        ],
        "parameter_changes": [{"t": float(change.t), "values": dict(change.values)} for change in found.parameter_changes],
        "quantiles": _quantiles(figures),
        "lost": [{"run": run, "t": t} for run, t in figures.lost],
        "advice": found.advice,
        "remarks": list(found.remarks),
    }
    return {key: finite(value) for key, value in data.items()}


def _quantiles(figures: Figures) -> dict[str, list[float]] | None:
    if not figures.quantiles:
        return None
    own = {name: values.tolist() for name, values in figures.quantiles.items()}
    return {"percent": [100.0 * level for level in QUANTILES]} | own
