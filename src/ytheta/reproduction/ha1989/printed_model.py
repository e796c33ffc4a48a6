"""The printed formulas of ha1989 sec. III: (57), (58), (60) and (61), and the symmetry (50) of the links.

m_i x_i and m_i y_i of the paper are the first moments ``link<i>.mx`` and ``link<i>.my`` here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

JOINTS = (1, 2, 3, 4)
# (50): the pseudo-inertia of a link has Izz, m, and first moments along x and y; x3 = x4 = y1 = y3 = y4 = 0.
SYMMETRIC = (
    *(f"link{i}.{p}" for i in JOINTS for p in ("mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz")),
    *("link3.mx", "link4.mx", "link1.my", "link3.my", "link4.my"),
)


@dataclass(frozen=True, eq=False)
class PrintedModel:
    """The printed formulas as SymPy expressions.

    Attributes
    ----------
    F          (57), by joint
    X          (58), by joint
    U          (59), (60): the differential form
    boundary   (61): the terms that are differences between t0 and t
    integrand  (61): the terms under the integral; -g (t - t0) is the integral of -g
    """

    F: tuple[tuple[Any, ...], ...]
    X: tuple[tuple[Any, ...], ...]
    U: list[list[Any]]
    boundary: list[list[Any]]
    integrand: list[list[Any]]


def make_gravity() -> tuple[Any, Any]:
    """Return the symbol g of the printed formulas, and its value for the arm of the catalog."""
    import sympy

    return sympy.Symbol("g"), sympy.Rational(98, 10)


@cache
def make_printed_model() -> PrintedModel:
    """Return the printed formulas."""
    import sympy

    sgn = sympy.sign
    q1, q2, q3, q4 = sympy.symbols("q1:5", real=True)
    qd1, qd2, qd3, qd4 = sympy.symbols("qd1:5", real=True)
    qdd1, qdd2, qdd3, qdd4 = sympy.symbols("qdd1:5", real=True)
    a1, a2 = sympy.symbols("a1 a2")
    m1, m2, m3, m4 = (sympy.Symbol(f"link{i}.m") for i in JOINTS)
    I1, I2, I3, I4 = (sympy.Symbol(f"link{i}.Izz") for i in JOINTS)
    mx1, mx2, my2 = (sympy.Symbol(name) for name in ("link1.mx", "link2.mx", "link2.my"))
    C2, S2, (g, _) = sympy.cos(q2), sympy.sin(q2), make_gravity()
    # fmt: off
    return PrintedModel(
        F=(
            (qd1**2 / 2,),
            (qd2**2 / 2 + qd1*qd2, qd1**2*C2 + qd1*qd2*C2, -(qd1**2*S2 + qd1*qd2*S2)),
            (qd3**2 / 2 + q3*g,),
            (qd4**2 / 2 + qd1*qd4 + qd2*qd4,),
        ),
        X=(
            (I1 + m1*a1**2 + 2*mx1*a1 + I2 + m2*a1**2 + m2*a2**2 + 2*mx2*a2 + I3
             + m3*a1**2 + m3*a2**2 + I4 + m4*a1**2 + m4*a2**2,),
            (I2 + m2*a2**2 + 2*mx2*a2 + I3 + m3*a2**2 + I4 + m4*a2**2,
             m2*a1*a2 + mx2*a1 + m3*a1*a2 + m4*a1*a2,
             my2*a1),
            (m3 + m4,),
            (I4,),
        ),
        U=[
            [qdd1, qd1, sgn(qd1), qdd2,
             -2*qd1*qd2*S2 - qd2**2*S2 + (2*qdd1 + qdd2)*C2, -2*qd1*qd2*C2 - qd2**2*C2 - (2*qdd1 + qdd2)*S2, 0, 0,
             0, 0, 0, qdd4, 0, 0],
            [0, 0, 0, qdd1 + qdd2, qdd1*C2 + qd1**2*S2, -qdd1*S2 + qd1**2*C2, qd2, sgn(qd2), 0, 0, 0, qdd4, 0, 0],
            [0]*8 + [qdd3 - g, qd3, sgn(qd3), 0, 0, 0],
            [0]*11 + [qdd1 + qdd2 + qdd4, qd4, sgn(qd4)],
        ],
        boundary=[
            [qd1, q1, 0, qd2, (2*qd1 + qd2)*C2, -(2*qd1 + qd2)*S2, 0, 0, 0, 0, 0, qd4, 0, 0],
            [0, 0, 0, qd1 + qd2, qd1*C2, -qd1*S2, q2, 0, 0, 0, 0, qd4, 0, 0],
            [0]*8 + [qd3, q3, 0, 0, 0, 0],
            [0]*11 + [qd1 + qd2 + qd4, q4, 0],
        ],
        integrand=[
            [0, 0, sgn(qd1)] + [0]*11,
            [0]*4 + [(qd1*qd2 + qd1**2)*S2, (qd1*qd2 + qd1**2)*C2, 0, sgn(qd2)] + [0]*6,
            [0]*8 + [-g, 0, sgn(qd3), 0, 0, 0],
            [0]*13 + [sgn(qd4)],
        ],
    )
    # fmt: on
