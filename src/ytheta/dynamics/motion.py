"""Motion: positions, velocities and accelerations as vectors of any scalar type.

Formulations are NumPy code on object arrays. With CasADi scalars they trace a graph, with SymPy symbols they derive
equations, and with floats they compute numbers. Sines and cosines are computed here, because each scalar type has its
own functions for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.vectors import array, inner, rotation_from_vector, zeros
from ytheta.shapes import AnyMatrix3, AnyPerJoint

if TYPE_CHECKING:
    import casadi

# Added to the square of the angle of a floating base, so that the angle is not zero; 1e-20 rad have no effect.
MIN_SQUARED_ANGLE = 1e-40


@dataclass(frozen=True, eq=False)
class Motion:
    """Positions q with their cosines and sines, velocities qd, and the reference velocity v with its derivative vd.

    The ordinary regressor is Y(q, qd, v = qd, vd = qdd). Control laws of the Slotine-Li kind need Y(q, qd, v, vd) with
    v different from qd. If v *is* qd (the same object), formulations use shorter formulas.

    If the base floats, the first six entries belong to it (see ``robot.robot``), and ``base_rotation`` is the rotation
    of its axes in the world; otherwise ``base_rotation`` is None.
    """

    q: AnyPerJoint
    cos: AnyPerJoint
    sin: AnyPerJoint
    qd: AnyPerJoint
    v: AnyPerJoint
    vd: AnyPerJoint
    base_rotation: AnyMatrix3 | None = None

    @property
    def ordinary(self) -> bool:
        """Whether v is qd, so that there is no separate reference velocity."""
        return self.v is self.qd

    @property
    def at_rest(self) -> Motion:
        """The same position without velocity and acceleration."""
        zero = zeros(len(self.q))
        return replace(self, qd=zero, v=zero, vd=zero)


def numeric_motion(q: Any, qd: Any, qdd: Any, v: Any = None, *, floating: bool = False) -> Motion:
    """A motion of floats, for computing numbers; ``floating``: whether its first six entries are those of the base."""
    q, qd, vd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    rotation = None
    if floating:
        angle = math.sqrt(MIN_SQUARED_ANGLE + float(q[3:6] @ q[3:6]))
        rotation = rotation_from_vector(q[3:6], angle, math.sin(angle), math.sin(0.5 * angle)).astype(float)
    return Motion(q, np.cos(q), np.sin(q), qd, qd if v is None else np.asarray(v, dtype=float), vd, rotation)


def sympy_motion(joints: int, *, reference: bool = False) -> Motion:
    """A motion of SymPy symbols q1, qd1, qdd1 …, for printing equations.

    If ``reference`` is true, the symbols v1, vd1 … replace qdd1 ….
    """
    import sympy

    def symbols(name: str) -> np.ndarray:
        return array([sympy.Symbol(f"{name}{k}", real=True) for k in range(1, joints + 1)])

    q, qd = symbols("q"), symbols("qd")
    cos, sin = (array([f(x) for x in q]) for f in (sympy.cos, sympy.sin))
    v, vd = (symbols("v"), symbols("vd")) if reference else (qd, symbols("qdd"))
    return Motion(q, cos, sin, qd, v, vd)


def casadi_base_rotation(q: AnyPerJoint) -> AnyMatrix3:
    """The rotation of a floating base, from joint positions that are CasADi scalars."""
    import casadi

    r = q[3:6]
    angle = casadi.sqrt(inner(r, r) + MIN_SQUARED_ANGLE)
    return rotation_from_vector(r, angle, casadi.sin(angle), casadi.sin(0.5 * angle))


def casadi_motion(q: casadi.SX, qd: casadi.SX, vd: casadi.SX, v: casadi.SX | None = None) -> Motion:
    """A motion of CasADi symbols, for tracing graphs."""
    import casadi

    velocity = scalars(qd)
    cos, sin = scalars(casadi.cos(q)), scalars(casadi.sin(q))
    return Motion(scalars(q), cos, sin, velocity, velocity if v is None else scalars(v), scalars(vd))


def scalars(vector: casadi.SX) -> np.ndarray:
    """The entries of a CasADi vector as an object array."""
    return array([vector[k] for k in range(vector.numel())])
