"""Columns of joints in another order than the joints of the robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from ytheta.identification.assessment.mistakes.errors import Equations
from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.shapes import Int

MAX_JOINTS = 12  # of a robot whose joints are exchanged in pairs


def list_orders(joints: tuple[str, ...]) -> list[Int[np.ndarray, "joints"]]:
    """Return orders in which columns may have been recorded: exchanged pairs, reversed, shifted by one, by name."""
    n = len(joints)
    orders = []
    for i, j in combinations(range(n), 2) if n <= MAX_JOINTS else ():
        order = np.arange(n)
        order[[i, j]] = j, i
        orders.append(order)
    by_name = np.empty(n, dtype=int)
    by_name[np.argsort(np.array(joints), kind="stable")] = np.arange(n)
    candidates = [np.arange(n)[::-1], np.roll(np.arange(n), 1), np.roll(np.arange(n), -1), by_name]
    known = {tuple(order) for order in orders} | {tuple(range(n))}
    for order in candidates:
        if tuple(order) not in known:
            known.add(tuple(order))
            orders.append(order)
    return orders


def list_torque_orders(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield other orders of the columns of torques."""
    for order in list_orders(interpretation.robot.actuated):
        yield make_joint_order(interpretation, order, "tau", lambda: interpretation.equations)


def list_joint_orders(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield other orders of the columns of positions, and of positions and torques."""
    joints = interpretation.robot.actuated
    for order in list_orders(joints):
        equations = mend_once(interpretation, interpretation.samples.permute(order))
        yield make_joint_order(interpretation, order, "q and tau", equations)
        yield make_joint_order(interpretation, order, "q", equations)


def make_joint_order(
    interpretation: Interpretation,
    order: Int[np.ndarray, "joints"],
    quantities: str,
    find_equations: Callable[[], Equations],
) -> Mistake:
    """Return the mistake that joint j of these quantities was recorded in the columns of joint ``order[j]``."""
    joints = interpretation.robot.actuated
    moved = [j for j, source in enumerate(order) if j != source]
    names = tuple(joints[j] for j in moved)
    what = {"q": "the positions", "tau": "the torques", "q and tau": "the columns"}[quantities]
    if len(moved) == 2:
        statement = f"{what} of {names[0]} and {names[1]} are exchanged"
    else:
        statement = f"{what} of the joints are in another order, that of {', '.join(_invert(joints, order))}"
    entries = []
    for quantity in quantities.split(" and "):
        columns = [f'"{quantity}{source + 1}"' for source in order]
        entries.append(f"{quantity} = [{', '.join(columns)}]")
    torque = np.eye(len(joints))[order] if "tau" in quantities else None
    likewise = " and likewise for qd, if it is recorded" if "q" in quantities.split(" and ") else ""
    return Mistake(
        FitFindingCode.JOINT_ORDER,
        statement,
        f"write {', '.join(entries)} into [columns] of the mapping, with the names of your columns,{likewise}".rstrip(
            ","
        ),
        find_equations,
        torque,
        names,
        {"order": order.tolist(), "quantities": quantities.split(" and ")},
    )


def _invert(joints: tuple[str, ...], order: Int[np.ndarray, "joints"]) -> list[str]:
    """Return the joint whose values are in each recorded column."""
    recorded = [""] * len(joints)
    for joint, source in zip(joints, order, strict=True):
        recorded[source] = joint
    return recorded
