"""Regrouping: a Lagrangian as a sum of products of a function of the motion and a combination of parameters.

Identity      L(q, qd) = sum_i F_iᵀ X_i, up to a constant
              U(q, qd, qdd) values = tau, with viscous and Coulomb friction
              boundary(t) - boundary(t0) + integral of integrand dt = integral of U dt, without accelerations
Reference     [ha1989] (20)-(25), (36)
Notation      code         paper           meaning                                              shape
              F[i], X[i]   F hat, X hat    functions of joints 1..i; combinations of V_i..V_n   p_i
              U            U               entries d/dt ∂F_j/∂qd_i - ∂F_j/∂q_i, then friction   joints x p
              values       X tilde         X_1, b_1, c_1, X_2, b_2, c_2, ...                    p
Differs from  the paper in: trees; optional rotor inertia. Joints are numbered as in ``robot.movable``, parents before
              children, independently of the order of ``robot.actuated``: this makes U block triangular.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.dynamics.motion import Motion, casadi_motion, scalars, sympy_motion
from ytheta.dynamics.vectors import array, zeros
from ytheta.identifiability.exact.trigonometric_ring import Function, TrigonometricRing
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped

Form: TypeAlias = Literal["differential", "boundary", "integrand"]
Scalars: TypeAlias = Shaped[np.ndarray, "joints"]
Columns: TypeAlias = Shaped[np.ndarray, "joints p"]
FRICTION_COLUMNS = 2  # per joint: viscous, Coulomb


@dataclass(frozen=True)
class Combination:
    """X_ij: a sum of terms. A term is the name of a standard parameter, powers of unknown lengths, and a factor."""

    terms: tuple[tuple[str, tuple[tuple[str, int], ...], Fraction], ...]

    def evaluate(self, theta: Mapping[str, Any], lengths: Mapping[str, Any]) -> Any:
        """Evaluate the combination for parameters and lengths that are numbers or symbols."""
        total: Any = 0
        for parameter, powers, factor in self.terms:
            term = factor * theta[parameter]
            for length, power in powers:
                term = term * lengths[length] ** power
            total = total + term
        return total


@dataclass(frozen=True, eq=False, repr=False)
class Regrouping:
    """A regrouped Lagrangian; see the module docstring.

    Attributes
    ----------
    robot         the robot
    ring          the polynomials in sines and cosines of which the functions consist
    functions     F_ij: functions of the motion, for each joint
    combinations  X_ij: combinations of standard parameters and unknown lengths, for each joint
    terms         the number n_i of terms of (12) for each body
    """

    robot: Robot
    ring: TrigonometricRing
    functions: tuple[tuple[Function, ...], ...]
    combinations: tuple[tuple[Combination, ...], ...]
    terms: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Regrouping({self.p} model parameters of {self.robot.name!r}, {sum(self.terms)} terms before)"

    @property
    def counts(self) -> tuple[int, ...]:
        """p_i: the number of terms per joint after regrouping."""
        return tuple(len(functions) for functions in self.functions)

    @property
    def p(self) -> int:
        """The number of model parameters, friction included."""
        return sum(self.counts) + FRICTION_COLUMNS * len(self.counts)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first column of each joint's block in U; the last entry is p."""
        starts = [0]
        for count in self.counts:
            starts.append(starts[-1] + count + FRICTION_COLUMNS)
        return tuple(starts)

    @cached_property
    def values(self) -> Float[np.ndarray, "p"]:
        """The model parameters of the robot description; raises UnsetLengthError if a length has no value."""
        _ = self.robot.numeric
        lengths = {name: value for name, value in self.robot.lengths if value is not None}
        theta = dict(zip(self.robot.parameter_names, self.robot.theta.tolist(), strict=True))
        values: list[float] = []
        for joint, combinations in zip(self.robot.movable, self.combinations, strict=True):
            values += [float(x.evaluate(theta, lengths)) for x in combinations]
            values += [theta[parameter_name(joint.name, p)] for p in ("fv", "fc")]
        return np.array(values, dtype=float)

    @cached_property
    def F(self) -> tuple[tuple[Any, ...], ...]:
        """The functions as SymPy expressions in q1, qd1, …"""
        motion = sympy_motion(len(self.counts))
        return tuple(tuple(self.ring.evaluate(functions, motion, _to_sympy)) for functions in self.functions)

    @cached_property
    def X(self) -> tuple[tuple[Any, ...], ...]:
        """The combinations as SymPy expressions in lengths and standard parameters, such as ``link2.mx``."""
        import sympy

        theta = {name: sympy.Symbol(name) for name in self.robot.parameter_names}
        lengths = {name: sympy.Symbol(name) for name, _ in self.robot.lengths}
        return tuple(tuple(x.evaluate(theta, lengths) for x in row) for row in self.combinations)

    def make_expressions(self, form: Form) -> Columns:
        """Return U of (25), or one of the two parts of (36), as SymPy expressions in q1, qd1, qdd1, …"""
        import sympy

        motion = sympy_motion(len(self.counts))
        return self.evaluate_columns(form, motion, array([sympy.sign(x) for x in motion.qd]), _to_sympy)

    def make_graph(self, form: Form) -> Graph:
        """Return the graph (q, qd, qdd) → U, or (q, qd) → a part of (36); joints in the order of ``robot.movable``."""
        import casadi

        size = len(self.counts)
        q, qd, qdd = (casadi.SX.sym(name, size) for name in ("q", "qd", "qdd"))
        signs = scalars(casadi.sign(qd))
        output = self.evaluate_columns(form, casadi_motion(q, qd, qdd), signs, float)
        inputs = [(Input("q", size), q), (Input("qd", size), qd)]
        if form == "differential":
            inputs.append((Input("qdd", size), qdd))
        return trace(f"{form} regrouping", inputs, output, made_from=f"regrouping of {self.robot.name}")

    def evaluate_columns(
        self, form: Form, motion: Motion, signs: Scalars, number: Callable[[Any], Any] = float
    ) -> Columns:
        """Evaluate U or a part of (36) on the scalars of a motion; ``signs`` are the signs of qd."""
        result = zeros(len(self.counts), self.p)
        for j, start in enumerate(self.starts[:-1]):
            for i in range(j + 1):  # (23): zeros below the diagonal
                entries = self._compute_entries(form, i, j, motion, number)
                result[i, start : start + len(entries)] = array(entries)
            friction = {
                "differential": (motion.qd[j], signs[j]),
                "boundary": (motion.q[j], 0),
                "integrand": (0, signs[j]),
            }[form]
            result[j, self.starts[j + 1] - FRICTION_COLUMNS : self.starts[j + 1]] = array(friction)
        return result

    def _compute_entries(self, form: Form, i: int, j: int, motion: Motion, number: Callable[[Any], Any]) -> list[Any]:
        """Return the entries of joint i and functions F_j in U or a part of (36), without friction."""
        ring, functions = self.ring, self.functions[j]
        if form == "integrand":
            return ring.evaluate([-ring.differentiate_by_position(f, i) for f in functions], motion, number)
        momenta = [ring.differentiate_by_rate(f, i) for f in functions]
        if form == "boundary":
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


def _to_sympy(value: Any) -> Any:
    """Convert a coefficient of the ring to a SymPy number."""
    from sympy import QQ

    return QQ.to_sympy(value)
