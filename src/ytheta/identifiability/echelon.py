"""Reduction of any basis of the row space to K, which is unique once the independent parameters are chosen.

Columns are visited in a fixed order, and a column is kept if it is independent of the columns kept before. The order
goes from the base to the tips. Within a link, the parameters that a motion of its joint identifies best come first. If
the joint axes are z axes, this order keeps the same parameters as textbooks: Ixx, Ixy, Ixz, Iyz, Izz, mx, my of a link
on a revolute joint, and m, mx, my, mz of a link on a prismatic joint. Joint parameters come after all link parameters,
and the magnitudes of declared forces come last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS, FORCE_PARAMETER, LINK_PARAMETERS, parameter_name
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

AXES = "xyz"
# Ratio of the independent component of a column to the norm of the largest column; up to it, the column is dependent.
# The value is far above rounding errors and far below the ratios of independent columns of real robots.
DEPENDENCE_TOLERANCE = 1e-7
ROUNDING_TOLERANCE = 1e-10  # ratio of a coefficient to the largest one of its row; below it, the coefficient becomes 0


def order_columns(robot: Robot, selected: Sequence[str]) -> list[int]:
    """Return the indices of the selected parameters in theta, in the order in which columns are visited."""
    index = {name: k for k, name in enumerate(robot.parameter_names)}
    joints = robot.numeric_in_angles.merged.joints
    names = [parameter_name(joint.child, p) for joint in joints for p in _order_parameters(joint)]
    links = len(names)
    others = robot.parameter_names[links:]
    for parameter in (*ALL_JOINT_PARAMETERS, FORCE_PARAMETER):
        names += [name for name in others if name.rpartition(".")[2] == parameter]
    selected_names = set(selected)
    return [index[name] for name in names if name in selected_names]


def reduce_to_independent(
    rows: Float[np.ndarray, "rows params"], order: Sequence[int], rank: int, *, tolerance: float = DEPENDENCE_TOLERANCE
) -> tuple[list[int], Float[np.ndarray, "rank params"]]:
    """Return the sorted indices of the independent columns, and K with an identity matrix in these columns.

    ``rank`` is the known rank of ``rows``, whose columns should have comparable norms. A column is dependent if its
    component orthogonal to the columns kept before is at most ``tolerance`` times the largest column. Entries of K
    that are rounding errors become zero.
    """
    independent: list[int] = []
    smallest = tolerance * float(np.linalg.norm(rows, axis=0).max(initial=0.0))
    basis = np.zeros((len(rows), 0))
    for k in order:
        if len(independent) == rank:
            break
        rest = rows[:, k] - basis @ (basis.T @ rows[:, k])
        rest -= basis @ (basis.T @ rest)  # a second Gram-Schmidt step, because one alone loses orthogonality
        size = np.linalg.norm(rest)
        if size > smallest:
            independent.append(k)
            basis = np.column_stack([basis, rest / size])
    if len(independent) < rank:
        raise ArithmeticError(
            f"only {len(independent)} of {rank} independent columns found; the geometry is badly scaled"
        )
    independent.sort()
    projected = basis.T @ rows
    K = np.linalg.solve(projected[:, independent], projected)
    not_selected = np.setdiff1d(np.arange(rows.shape[1]), order)
    K[:, not_selected] = 0.0
    K[np.abs(K) < ROUNDING_TOLERANCE * np.abs(K).max(axis=1, keepdims=True, initial=1.0)] = 0.0
    K[:, independent] = np.eye(rank)
    return independent, K


def _order_parameters(joint: Joint) -> list[str]:
    """Return the names of the ten parameters of the link behind a joint, the most identifiable first."""
    if joint.kind is not JointKind.REVOLUTE:
        return ["m", "mx", "my", "mz", *LINK_PARAMETERS[4:]]
    axis = np.abs(np.array(joint.seat.rotation).T @ np.array(joint.axis))
    along = AXES[int(np.argmax(axis))]
    across = max(other for other in AXES if other != along)
    last = [f"m{along}", f"I{across}{across}", "m"]
    first = [f"I{along}{along}"]
    return first + [p for p in (*LINK_PARAMETERS[4:], *LINK_PARAMETERS[1:4]) if p not in (*first, *last)] + last
