"""What each formulation costs on a robot: operations of its regressor, or why they are not counted."""

from __future__ import annotations

from typing import Any

from ytheta.formulation.choice import acceptance
from ytheta.formulation.graphs import regressor_graph
from ytheta.native import operations
from ytheta.robot.robot import Robot

# Tracing grows with the square of the joints in the closed forms; beyond this only the first that accepts is counted.
MANY_JOINTS = 12


def costs(robot: Robot) -> dict[str, dict[str, Any]]:
    """For every formulation ``multiplications`` and ``additions``, or the ``reason`` why they are not counted."""
    found: dict[str, dict[str, Any]] = {}
    for name, reason in acceptance(robot).items():
        if reason is None and found and len(robot.movable) > MANY_JOINTS:
            reason = f"accepted, but not counted: {len(robot.movable)} joints"
        if reason is None:
            count = operations(regressor_graph(robot, formulation=name))
            found[name] = {"multiplications": count.multiplications, "additions": count.additions}
        else:
            found[name] = {"reason": reason}
    return found
