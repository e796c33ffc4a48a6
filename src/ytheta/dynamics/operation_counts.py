"""Operation counts of all formulations of the regressor and of inverse dynamics for one robot."""

from __future__ import annotations

from typing import Any

from ytheta.dynamics.formulations.composite.operation_table import count_operations as count_recursion_operations
from ytheta.dynamics.formulations.composite.operation_table import sum_operations
from ytheta.dynamics.formulations.registry import explain_recursion_refusals, formulations
from ytheta.dynamics.graphs import inverse_dynamics_graph, regressor_graph
from ytheta.native import count_operations
from ytheta.robot.robot import Robot

# Largest number of joints for which all formulations are counted. With more joints, only the first formulation that
# accepts the robot is counted, because the tracing time of the closed forms grows quadratically.
MAX_JOINTS_TO_COUNT_ALL = 12


def count_regressor_operations(robot: Robot) -> dict[str, dict[str, Any]]:
    """Return ``multiplications`` and ``additions`` of each formulation, or the ``reason`` why it is not counted."""
    counts: dict[str, dict[str, Any]] = {}
    for name, reason in formulations(robot).items():
        if reason is None and counts and len(robot.movable) > MAX_JOINTS_TO_COUNT_ALL:
            reason = f"accepted, but not counted for more than {MAX_JOINTS_TO_COUNT_ALL} joints"
        if reason is None:
            count = count_operations(regressor_graph(robot, formulation=name))
            counts[name] = {"multiplications": count.multiplications, "additions": count.additions}
        else:
            counts[name] = {"reason": reason}
    return counts


def count_operations_as_in_lin1995(robot: Robot) -> dict[str, int] | None:
    """Return ``multiplications`` and ``additions`` of Lin's recursion, counted as in Tables II and III of the paper.

    Operations without any use count too, those of rotation matrices do not. None if the recursion refuses the robot.
    """
    if explain_recursion_refusals(robot)["composite_newton_euler"] is not None:
        return None
    multiplications, additions = sum_operations(count_recursion_operations(robot))
    return {"multiplications": multiplications, "additions": additions}


def count_inverse_dynamics_operations(robot: Robot) -> dict[str, dict[str, int]]:
    """Return ``multiplications`` and ``additions`` of each formulation of inverse dynamics, fewest operations first.

    The parameters are constants.
    """
    accepted = [name for name, reason in explain_recursion_refusals(robot).items() if reason is None]
    counts = {name: count_operations(inverse_dynamics_graph(robot, formulation=name)) for name in accepted}
    order = sorted(counts, key=lambda name: counts[name].multiplications + counts[name].additions)
    return {
        name: {"multiplications": counts[name].multiplications, "additions": counts[name].additions} for name in order
    }
