"""Motion: positions, velocities and accelerations as vectors of whatever scalar a formulation is to run on.

Formulations are NumPy code on object arrays. Fed with CasADi scalars they trace a graph, with SymPy symbols they print
equations, with floats they compute. Sines and cosines are taken here, once, since each kind of scalar has its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.vectors import array, zeros
from ytheta.shapes import AnyPerJoint

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class Motion:
    """q with its sines and cosines, qd, and the two vectors v, vd that take the place of qd and qdd.

    The ordinary regressor is Y(q, qd, v = qd, vd = qdd); controllers of the Slotine-Li kind need Y(q, qd, v, vd) with a
    reference velocity v. Where v *is* qd (the same object) the formulas are the shorter ones.
    """

    q: AnyPerJoint
    cos: AnyPerJoint
    sin: AnyPerJoint
    qd: AnyPerJoint
    v: AnyPerJoint
    vd: AnyPerJoint

    @property
    def ordinary(self) -> bool:
        return self.v is self.qd

    @property
    def at_rest(self) -> Motion:
        """The same position without velocity and acceleration."""
        nothing = zeros(len(self.q))
        return replace(self, qd=nothing, v=nothing, vd=nothing)


def numeric_motion(q: Any, qd: Any, qdd: Any, v: Any = None) -> Motion:
    """Floats: the formulation computes."""
    q, qd, vd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    return Motion(q, np.cos(q), np.sin(q), qd, qd if v is None else np.asarray(v, dtype=float), vd)


def sympy_motion(joints: int, *, reference: bool = False) -> Motion:
    """SymPy symbols q1, qd1, qdd1 …: the formulation prints equations. ``reference``: v and vd are symbols too."""
    import sympy

    def symbols(name: str) -> np.ndarray:
        return array([sympy.Symbol(f"{name}{k}", real=True) for k in range(1, joints + 1)])

    q, qd = symbols("q"), symbols("qd")
    cos, sin = (array([f(x) for x in q]) for f in (sympy.cos, sympy.sin))
    v, vd = (symbols("v"), symbols("vd")) if reference else (qd, symbols("qdd"))
    return Motion(q, cos, sin, qd, v, vd)


def casadi_motion(q: casadi.SX, qd: casadi.SX, vd: casadi.SX, v: casadi.SX | None = None) -> Motion:
    """CasADi vectors: the formulation traces a graph."""
    import casadi

    first, rate = scalars(q), scalars(qd)
    cos, sin = scalars(casadi.cos(q)), scalars(casadi.sin(q))
    return Motion(first, cos, sin, rate, rate if v is None else scalars(v), scalars(vd))


def scalars(vector: casadi.SX) -> np.ndarray:
    """The entries of a CasADi vector as an object array."""
    return array([vector[k] for k in range(vector.numel())])
