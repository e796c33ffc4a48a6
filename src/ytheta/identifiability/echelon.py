"""From any basis of the row space to the one K: which parameters are independent, and the others in terms of them.

Columns are looked at in a fixed order and kept where they are independent of those kept before. The order goes from
the base to the tips, and within a link from what a motion about its own axis reveals best to what it reveals worst;
for z axes this leaves what textbooks leave: Ixx, Ixy, Ixz, Iyz, Izz, mx, my of a turning link, and m, mx, my, mz of a
sliding one. Joint parameters come after them, sizes of declared forces last.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ytheta.conventions import FORCE_PARAMETER, JOINT_PARAMETERS, LINK_PARAMETERS, parameter_name
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

AXES = "xyz"
DEPENDENT = 1e-7  # far above rounding, far below what geometry brings
ROUNDING = 1e-10


def looking_order(robot: Robot, asked: Sequence[str]) -> list[int]:
    """Places in theta of the parameters asked about, in the order in which columns are looked at."""
    index = {name: k for k, name in enumerate(robot.parameter_names)}
    wanted = set(asked)
    names = [parameter_name(joint.child, p) for joint in robot.merged.joints for p in _best_first(joint)]
    links = len(names)
    others = robot.parameter_names[links:]
    for parameter in (*JOINT_PARAMETERS, FORCE_PARAMETER):
        names += [name for name in others if name.rpartition(".")[2] == parameter]
    return [index[name] for name in names if name in wanted]


def reduced(
    rows: Float[np.ndarray, "rows params"], order: Sequence[int], rank: int, *, dependent: float = DEPENDENT
) -> tuple[list[int], Float[np.ndarray, "rank params"]]:
    """Independent columns of a matrix of known rank, and K with K[:, independent] = 1.

    Independent are the first ones in the order given; the list of them rises. Columns of ``rows`` should be of
    comparable size. One whose part outside those kept before is as small as ``dependent``, of the largest column,
    depends on them. Entries of K that are rounding become zero.
    """
    independent: list[int] = []
    smallest = dependent * float(np.linalg.norm(rows, axis=0).max(initial=0.0))
    basis = np.zeros((len(rows), 0))
    for k in order:
        if len(independent) == rank:
            break
        rest = rows[:, k] - basis @ (basis.T @ rows[:, k])
        rest -= basis @ (basis.T @ rest)  # twice is enough
        size = np.linalg.norm(rest)
        if size > smallest:
            independent.append(k)
            basis = np.column_stack([basis, rest / size])
    if len(independent) < rank:
        raise ArithmeticError(f"only {len(independent)} of {rank} independent columns found: badly scaled geometry")
    independent.sort()
    reached = basis.T @ rows
    K = np.linalg.solve(reached[:, independent], reached)
    outside = np.setdiff1d(np.arange(rows.shape[1]), order)
    K[:, outside] = 0.0
    K[np.abs(K) < ROUNDING * np.abs(K).max(axis=1, keepdims=True, initial=1.0)] = 0.0
    K[:, independent] = np.eye(rank)
    return independent, K


def _best_first(joint: Joint) -> list[str]:
    """The ten parameters of the link behind a joint, best known first."""
    if joint.kind is not JointKind.REVOLUTE:
        return ["m", "mx", "my", "mz", *LINK_PARAMETERS[4:]]
    axis = np.abs(np.array(joint.seat.rotation).T @ np.array(joint.axis))
    along = AXES[int(np.argmax(axis))]
    across = max(other for other in AXES if other != along)
    last = [f"m{along}", f"I{across}{across}", "m"]
    first = [f"I{along}{along}"]
    return first + [p for p in (*LINK_PARAMETERS[4:], *LINK_PARAMETERS[1:4]) if p not in (*first, *last)] + last
