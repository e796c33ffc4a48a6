"""Mistakes in torques: signs, units, gains of motor currents, and columns of joints in another order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from ytheta.identification.assessment.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.assessment.mistake_errors import Equations
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.shapes import Float, Int, PerJoint

# Factor of torques, or its inverse, from which a unit may be wrong. Chosen on: reasoning; smaller factors are those of
# descriptions: masses that are off, a missing load, a counterweight.
MIN_SCALE_FACTOR = 4.0
# Largest power of ten of a decimal prefix that is named; other factors are those of currents and gear ratios. Chosen
# on: reasoning; micro and mega.
MAX_PREFIX_EXPONENT = 6
# Factor that fits, relative to a power of ten. Chosen on: reasoning; the description may be off as well.
MAX_PREFIX_RATIO = 2.0


def list_torque_signs(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield reversed torques of each joint and of all joints."""
    joints = interpretation.robot.actuated
    patterns = [-np.ones(len(joints))]
    patterns += [1.0 - 2.0 * row for row in np.eye(len(joints))] if len(joints) > 1 else []
    for signs in patterns:
        yield make_torque_sign(interpretation, signs)


def list_pairs_of_torque_signs(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield reversed torques of two joints."""
    joints = interpretation.robot.actuated
    for pair in combinations(range(len(joints)), 2) if len(joints) > 2 else ():
        signs = np.ones(len(joints))
        signs[list(pair)] = -1.0
        yield make_torque_sign(interpretation, signs)


def make_torque_sign(interpretation: Interpretation, signs: PerJoint) -> Mistake:
    """Return the mistake that torques have to be multiplied by these signs."""
    joints = interpretation.robot.actuated
    wrong = tuple(name for name, sign in zip(joints, signs, strict=True) if sign < 0.0)
    subject = "all torques have" if len(wrong) == len(joints) else f"the torque of {', '.join(wrong)} has"
    row = ", ".join(f"{sign:.0f}" for sign in signs)
    return Mistake(
        FitFindingCode.TORQUE_SIGN,
        f"{subject} the wrong sign",
        f"write [sign] tau = [{row}] in the mapping, multiplied by any signs already there",
        lambda: interpretation.equations,
        np.diag(signs),
        wrong,
        {"signs": signs.tolist()},
        is_double=len(wrong) == 2 < len(joints),
    )


def list_torque_scales(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield factors of all torques and of the torque of each joint by which they differ from the description."""
    if not interpretation.has_inertias:
        return
    equations, joints = interpretation.equations, interpretation.robot.actuated
    ratios = equations.fit_described_scales()  # recorded relative to described torque
    # The ratio of a joint with a load or much friction says little; the other joints decide which of them is common.
    common = dict.fromkeys(factor for ratio in ratios for factor in _list_factors(abs(float(ratio))))
    for factor in common if len(joints) > 1 else ():
        yield _make_scale(interpretation, np.full(len(joints), factor))
    for j, ratio in enumerate(ratios):
        for factor in _list_factors(abs(float(ratio))):
            scale = np.ones(len(joints))
            scale[j] = factor
            yield _make_scale(interpretation, scale)


def _list_factors(ratio: float) -> Iterator[float]:
    """Yield factors that bring a ratio of recorded to described torque near 1: a power of ten, or the ratio itself."""
    if not ratio > 0.0 or not np.isfinite(ratio) or max(ratio, 1.0 / ratio) < MIN_SCALE_FACTOR:
        return
    exponent = round(float(np.log10(ratio)))
    if (
        exponent
        and abs(exponent) <= MAX_PREFIX_EXPONENT
        and max(ratio / 10.0**exponent, 10.0**exponent / ratio) < MAX_PREFIX_RATIO
    ):
        yield 10.0**-exponent
    else:
        yield float(f"{1.0 / ratio:.2g}")


def _make_scale(interpretation: Interpretation, factors: PerJoint) -> Mistake:
    joints = interpretation.robot.actuated
    wrong = tuple(name for name, factor in zip(joints, factors, strict=True) if factor != 1.0)
    everything = len(wrong) == len(joints)
    factor = float(factors[factors != 1.0][0])
    subject = "all torques are" if everything else f"the torque of {', '.join(wrong)} is"
    size = f"{format_factor(1.0 / factor)} times as large" if factor < 1.0 else f"{format_factor(factor)} times smaller"
    statement = f"{subject} about {size} as" if factor < 1.0 else f"{subject} about {size} than"
    unit = {1e-3: ", as if in Nmm", 1e3: ", as if in kNm"}.get(
        factor, ", as if of motors or in amperes" if factor > 1.0 else ""
    )
    value = format_factor(factor) if everything else _format_row(factors)
    return Mistake(
        FitFindingCode.TORQUE_SCALE,
        f"{statement} those of the described masses{unit}",
        f"write [scale] tau = {value} in the mapping, multiplied by any scale already there, or the gains of motor "
        "currents in [gain]",
        lambda: interpretation.equations,
        np.diag(factors),
        wrong,
        {"factors": factors.tolist()},
    )


def format_factor(value: float) -> str:
    """Return a number without exponent if it is not very small or large."""
    return f"{value:.10g}" if 1e-6 <= abs(value) < 1e7 else f"{value:.3g}"


def _format_row(values: Sequence[float] | Float[np.ndarray, " values"]) -> str:
    return f"[{', '.join(format_factor(float(value)) for value in values)}]"


# Columns of joints in another order than the joints of the robot.


# Joints of a robot up to which exchanges of pairs of joints are tried. Chosen on: rule of thumb.
MAX_JOINTS = 12


def list_orders(joints: tuple[str, ...]) -> list[Int[np.ndarray, " joints"]]:
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
    order: Int[np.ndarray, " joints"],
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


def _invert(joints: tuple[str, ...], order: Int[np.ndarray, " joints"]) -> list[str]:
    """Return the joint whose values are in each recorded column."""
    recorded = [""] * len(joints)
    for joint, source in zip(joints, order, strict=True):
        recorded[source] = joint
    return recorded
