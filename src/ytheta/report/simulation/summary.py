"""A simulation as plain data: the output of ``ytheta simulate --json``, also embedded in the page.

``tracking_rms`` is the root mean square of the tracking error q - qr of all joints, control instants and finished runs.
If a robot has both revolute and prismatic joints, ``tracking_rms`` mixes rad and m. ``parameter_error`` is the median
of |estimate - truth| / |truth| at the end of the finished runs; it is None if there are no unknown parameters. Both are
None if no run finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ytheta
from ytheta.report.numbers import replace_nonfinite
from ytheta.report.simulation.statistics import QUANTILES, SimulationStatistics

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation


def summarize_simulation(simulation: Simulation) -> dict[str, Any]:
    """Return the results of a simulation; infinite and undefined numbers become None."""
    statistics = SimulationStatistics(simulation)
    columns = (
        statistics.units,
        statistics.tracking,
        statistics.last_tracking,
        statistics.largest_torque,
        statistics.limits,
    )
    keys = ("name", "unit", "tracking_rms", "last_tracking_rms", "largest_torque", "torque_limit")
    rows = zip(simulation.robot.actuated, columns[0], *(column.tolist() for column in columns[1:]), strict=True)
    data = {
        "ytheta": ytheta.__version__,
        "robot": simulation.robot.name,
        "controller": simulation.controller.name,
        "plant": simulation.plant,
        "seconds": float(simulation.runs.seconds),
        "period": float(simulation.period),
        "runs": len(simulation),
        "finished": len(statistics.finished),
        "tracking_rms": statistics.total_tracking,
        "last_tracking_rms": statistics.total_last_tracking,
        "parameter_error": statistics.parameter_error,
        "initial_parameter_error": statistics.initial_parameter_error,
        "joints": [dict(zip(keys, row, strict=True)) for row in rows],
        "shown_run": statistics.shown,
        "parameters": [
            {"name": each.unknown, "truth": each.truth, "start": each.start, "end": each.end}
            for each in statistics.parameters
        ],
        "parameter_changes": [
            {"t": float(change.t), "values": dict(change.values)} for change in simulation.parameter_changes
        ],
        "quantiles": _quantiles(statistics),
        "diverged": [{"run": run, "t": t} for run, t in statistics.diverged],
        "advice": statistics.advice,
        "remarks": statistics.remarks,
        "findings": [finding.data for finding in simulation.findings],
    }
    return {key: replace_nonfinite(value) for key, value in data.items()}


def _quantiles(statistics: SimulationStatistics) -> dict[str, list[float]] | None:
    if not statistics.quantiles:
        return None
    quantiles = {name: values.tolist() for name, values in statistics.quantiles.items()}
    return {"percent": [100.0 * level for level in QUANTILES]} | quantiles
