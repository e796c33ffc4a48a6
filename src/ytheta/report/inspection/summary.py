"""An inspected robot as plain data: the output of ``ytheta inspect --json``. Unknown values are None."""

from __future__ import annotations

from typing import Any

from ytheta.inspection.inspect import Inspection
from ytheta.report.numbers import replace_nonfinite
from ytheta.report.robot.summary import summarize_robot


def summarize_inspection(inspection: Inspection) -> dict[str, Any]:
    """Return the description of the robot, its operation counts, and its loops at the closed configuration."""
    data = summarize_robot(inspection.robot)
    return {
        **data,
        "formulations": dict(inspection.formulations),
        "operations": {name: dict(count) for name, count in inspection.operations.items()},
        "not_counted": dict(inspection.not_counted),
        "inverse_dynamics": {name: dict(count) for name, count in inspection.inverse_dynamics.items()},
        "lin1995_operations": None if inspection.lin1995_operations is None else dict(inspection.lin1995_operations),
        "base_parameters": inspection.base_count,
        "loop_table": [{**row, **_summarize_closure(inspection, row)} for row in data["loop_table"]],
        "findings": [replace_nonfinite(finding.data) for finding in inspection.findings],
    }


def _summarize_closure(inspection: Inspection, row: dict[str, Any]) -> dict[str, Any]:
    """Return gap and positions of one loop at the closed configuration."""
    closure = inspection.closure
    if closure is None:
        return {"gap": None, "position": None, "coordinates": {}, "freedom": None}
    state = next(state for state in closure.loops if state.name == row["name"])
    through = [name for name in closure.coordinates if name in (*row["actuated"], *row["passive"])]
    return {
        "gap": state.gap,
        "position": state.position,
        "coordinates": {name: closure.coordinates[name] for name in through},
        "freedom": closure.freedom,
    }
