"""What each formulation costs on a robot: operations of its regressor and of inverse dynamics, or why not counted."""

from __future__ import annotations

from typing import Any

from ytheta.dynamics.formulations import minimal_newton_euler
from ytheta.dynamics.formulations.registry import acceptance
from ytheta.dynamics.graphs import inverse_dynamics_graph, regressor_graph
from ytheta.native import count_operations
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
            count = count_operations(regressor_graph(robot, formulation=name))
            found[name] = {"multiplications": count.multiplications, "additions": count.additions}
        else:
            found[name] = {"reason": reason}
    return found


def inverse_dynamics_costs(robot: Robot) -> dict[str, dict[str, int]]:
    """``multiplications`` and ``additions`` of inverse dynamics with the robot's own numbers, the cheapest first."""
    accepted = ["newton_euler"] + ["minimal_newton_euler"] * (minimal_newton_euler.accepts(robot) is None)
    counts = {name: count_operations(inverse_dynamics_graph(robot, formulation=name)) for name in accepted}
    cheapest = sorted(counts, key=lambda name: counts[name].multiplications + counts[name].additions)
    return {
        name: {"multiplications": counts[name].multiplications, "additions": counts[name].additions}
        for name in cheapest
    }
