"""Entries of U of a regrouped Lagrangian: derivatives of the functions of one joint by the motion of another.

Identity      U_i(F) = d/dt ∂F/∂qd_i - ∂F/∂q_i
Reference     [ha1989] (25), (36)
Forms         see ``regrouping``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from ytheta.dynamics.mechanism import Motion
from ytheta.identifiability.exact.trigonometric_ring import Function, TrigonometricRing

Form: TypeAlias = Literal["differential", "boundary", "integrand", "momentum", "remainder"]


def compute_entries(
    ring: TrigonometricRing,
    functions: Sequence[Function],
    form: Form,
    i: int,
    j: int,
    motion: Motion,
    number: Callable[[Any], Any],
) -> list[Any]:
    """Return the entries of joint i and functions F_j in U or a part of (36), without friction."""
    if form in ("integrand", "remainder"):
        return ring.evaluate([-ring.differentiate_by_position(f, i) for f in functions], motion, number)
    momenta = [ring.differentiate_by_rate(f, i) for f in functions]
    if form in ("boundary", "momentum"):
        return ring.evaluate(momenta, motion, number)
    rest = [
        sum(
            (ring.differentiate_by_position(g, k) * ring.get_rate(k) for k in range(j + 1)),
            -ring.differentiate_by_position(f, i),
        )
        for f, g in zip(functions, momenta, strict=True)
    ]
    total = ring.evaluate(rest, motion, number)
    for k in range(j + 1):
        inertia = ring.evaluate([ring.differentiate_by_rate(g, k) for g in momenta], motion, number)
        for n, m in enumerate(inertia):
            if type(m) is not int or m:
                total[n] = total[n] + m * motion.vd[k]
    return total
