"""Regrouping: a Lagrangian as a sum of products of a function of the motion and a combination of parameters.

Identity      L(q, qd) = sum_i F_iᵀ X_i, up to a constant
              U(q, qd, qdd) values = tau, with viscous and Coulomb friction
              boundary(t) - boundary(t0) + integral of integrand dt = integral of U dt, without accelerations
Reference     [ha1989] (20)-(25), (36)
Notation      code         paper           meaning                                              shape
              F[i], X[i]   F hat, X hat    functions of joints 1..i; combinations of V_i..V_n   p_i
              U            U               entries d/dt ∂F_j/∂qd_i - ∂F_j/∂q_i, then friction   joints x p
              values       X tilde         X_1, b_1, c_1, X_2, b_2, c_2, ...                    p
              names        -               joint2.X1 is X_21, joint2.fv is b_2, joint2.fc is c_2
Forms         differential          U of (25)
              boundary, integrand   the two parts of (36), in which the integral of viscous friction is b (q(t) - q(t0))
              momentum, remainder   W and Yhat with U = dW/dt + Yhat: as above, but viscous friction b qd is in Yhat.
                                    A joint that does not move then has no column of position noise.
Differs from  the paper in: trees; optional rotor inertia; the kinds of friction are chosen, with a constant offset as a
              third one. Parameters are numbered by the joints as in ``robot.movable``, parents before children, which
              makes U block triangular. Rows of U and motions are in the order of ``robot.actuated``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from ytheta.display import Displayed
from ytheta.dynamics.constraint import clip_velocity, compute_root, compute_sign
from ytheta.dynamics.mechanism import Motion, casadi_motion, sympy_motion
from ytheta.dynamics.vectors import array, zeros
from ytheta.errors import InputError, UnsetAngleError, UnsetLengthError
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import (
    Identifiability,
    check_same_geometry,
    classify_standard_parameters,
    format_combination,
    format_expression,
)
from ytheta.identifiability.exact.trigonometric_ring import Function, TrigonometricRing, name_cosine_and_sine
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.frame import cos_sin
from ytheta.robot.parameters import FRICTION_PARAMETERS, find_absent_parameters, select_parameters
from ytheta.robot.parts import parameter_name
from ytheta.robot.reading.toml import UNKNOWN_ANGLES, UNKNOWN_LENGTHS
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerBase, Shaped, freeze

Scalars: TypeAlias = Shaped[np.ndarray, " joints"]
Columns: TypeAlias = Shaped[np.ndarray, "joints p"]
PRINTED_FRICTION = ("viscous", "coulomb")  # b_i and c_i of (21)
# The forms that the kernels of dynamics.kernels need, by the names of their graphs.
FORMS_OF_GRAPHS: Mapping[str, Form] = {
    "regressor_graph": "differential",
    "momentum_regressor_graph": "momentum",
    "remainder_graph": "remainder",
}


@dataclass(frozen=True, eq=False, repr=False)
class Regrouping(Displayed):
    """A regrouped Lagrangian: model parameters that need no geometry. ``len(regrouping)`` is their number.

    Attributes
    ----------
    robot            the robot
    ring             the polynomials in sines and cosines of which the functions consist
    functions        F_ij: functions of the motion, for each joint
    combinations     X_ij: combinations of standard parameters, unknown lengths and unknown angles, for each joint
    terms            the number n_i of terms of (12) for each body
    counts, starts   number p_i of combinations of each joint, and first column of its block in U; p is the number of
                     all parameters
    friction         the kinds of friction of each joint, after its combinations
    rotor_inertia    whether the rotor inertias are among the standard parameters
    noun, method     "model parameters" and "ha"
    names            names of the model parameters: joint2.X1 for X_21, joint2.fv for b_2, joint2.fc for c_2
    expressions      the model parameters as text, such as ``a1·link2.my``
    selected         the standard parameters of which the model parameters consist
    values           the model parameters of the robot description
    beta             the same; zero where the description lacks a length or an angle
    F, X             functions and combinations as SymPy expressions
    function_texts   the function of every model parameter as text; empty for friction
    identifiability  by standard parameter: known alone, only in combination, or no effect
    findings         empty
    """

    noun: ClassVar[str] = "model parameters"
    method: ClassVar[str] = "ha"
    findings: ClassVar[tuple[Finding, ...]] = ()
    standard_combinations: ClassVar[None] = None  # they depend on the geometry

    robot: Robot
    ring: TrigonometricRing
    functions: tuple[tuple[Function, ...], ...]
    combinations: tuple[tuple[LagrangianCombination, ...], ...]
    terms: tuple[int, ...]
    friction: tuple[str, ...] = PRINTED_FRICTION
    rotor_inertia: bool = False

    def __repr__(self) -> str:
        return f"Regrouping({self.p} model parameters of {self.robot.name!r}, {sum(self.terms)} terms before)"

    def __len__(self) -> int:
        return self.p

    @property
    def counts(self) -> tuple[int, ...]:
        """p_i: the number of terms per joint after regrouping."""
        return tuple(len(functions) for functions in self.functions)

    @property
    def p(self) -> int:
        """The number of model parameters, friction included."""
        return self.starts[-1]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first column of each joint's block in U; the last entry is p."""
        starts = [0]
        for count, kinds in zip(self.counts, self.joint_friction, strict=True):
            starts.append(starts[-1] + count + len(kinds))
        return tuple(starts)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the model parameters, in the order of the columns of U."""
        names: list[str] = []
        for joint, count, friction in zip(self.robot.movable, self.counts, self.joint_friction, strict=True):
            kinds = (*(f"X{k}" for k in range(1, count + 1)), *(FRICTION_PARAMETERS[kind] for kind in friction))
            names += [parameter_name(joint.name, kind) for kind in kinds]
        return tuple(names)

    @cached_property
    def joint_friction(self) -> tuple[tuple[str, ...], ...]:
        """The kinds of friction of every joint: ``friction``, without the laws that its drive does not have."""
        names = set(self.robot.parameter_names) - find_absent_parameters(self.robot)
        return tuple(
            tuple(kind for kind in self.friction if parameter_name(joint.name, FRICTION_PARAMETERS[kind]) in names)
            for joint in self.robot.movable
        )

    @property
    def independent(self) -> tuple[str, ...]:
        """The names: all model parameters are independent, and none is marked with a star."""
        return self.names

    @property
    def unknown_geometry(self) -> dict[str, list[str]]:
        """Lengths and angles that have no value, by the keys that they have in a model file."""
        return {UNKNOWN_LENGTHS: list(self.robot.unset_lengths), UNKNOWN_ANGLES: list(self.robot.unset_angles)}

    @cached_property
    def positive_names(self) -> tuple[str, ...]:
        """Names of the combinations that are sums of masses, moments and rotor inertias, which cannot be negative."""
        return tuple(
            parameter_name(joint.name, f"X{n}")
            for joint, combinations in zip(self.robot.movable, self.combinations, strict=True)
            for n, combination in enumerate(combinations, start=1)
            if combination.is_positive
        )

    @cached_property
    def selected(self) -> tuple[str, ...]:
        """The standard parameters of which the model parameters consist."""
        return select_parameters(self.robot, rotor_inertia=self.rotor_inertia, friction=self.friction)

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """Every model parameter as text, such as ``link4.Izz + a2^2·link3.m``, with six significant digits."""
        names, place = self.robot.parameter_names, {name: k for k, name in enumerate(self.robot.parameter_names)}
        return tuple(
            format_combination(row, names, head=int(np.flatnonzero(row != 0)[0]), digits=6)
            for row in self._make_rows(place)
        )

    @cached_property
    def leading_terms(self) -> tuple[tuple[str, int], ...]:
        """The first standard parameter of every model parameter, and the power of length that multiplies it."""
        terms: list[tuple[str, int]] = []
        for joint, combinations, kinds in zip(self.robot.movable, self.combinations, self.joint_friction, strict=True):
            first = (combination.terms[0] for combination in combinations)
            terms += [(parameter, self._sum_length_powers(powers)) for parameter, powers, _ in first]
            terms += [(parameter_name(joint.name, FRICTION_PARAMETERS[kind]), 0) for kind in kinds]
        return tuple(terms)

    @cached_property
    def values(self) -> Float[np.ndarray, "p"]:
        """The model parameters of the robot description; all its lengths and angles must have values."""
        _ = self.robot.numeric  # raises if a length or an angle has no value
        constants: dict[str, float] = {name: value for name, value in self.robot.lengths if value is not None}
        for name, value in self.robot.angles:
            if value is not None:
                constants |= zip(name_cosine_and_sine(name), cos_sin(value), strict=True)
        theta = dict(zip(self.robot.parameter_names, self.robot.theta.tolist(), strict=True))
        return self._join([[float(x.evaluate(theta, constants)) for x in row] for row in self.combinations])

    @cached_property
    def beta(self) -> PerBase:
        """The values of the description; if a length or an angle has no value, all combinations count as zero."""
        try:
            return freeze(self.values.view())
        except (UnsetLengthError, UnsetAngleError):
            return freeze(self._join([[0.0] * count for count in self.counts]))

    @cached_property
    def identifiability(self) -> Mapping[str, Identifiability]:
        """The identifiability of every selected standard parameter, by name."""
        place = {name: k for k, name in enumerate(self.robot.parameter_names)}
        rows = self._make_rows(place)
        alone = {int(np.flatnonzero(row != 0)[0]) for row in rows if [x for x in row if x != 0] == [1]}
        return classify_standard_parameters(self.robot, self.selected, np.array(rows) != 0, alone)

    def check_robot(self, robot: Robot) -> None:
        """Raise an InputError unless the robot has the same geometry; inertias and drive parameters may differ."""
        check_same_geometry(self.robot, robot, "this regrouped Lagrangian belongs", "regroup_lagrangian")

    def with_robot(self, robot: Robot) -> Regrouping:
        """Return the model parameters of a robot with the same geometry."""
        return replace(self, robot=robot)

    def find_graph(self, name: str, robot: Robot, options: Mapping[str, Any]) -> Graph:
        """Return the graph of U or of one of its parts for ``dynamics.kernels``."""
        if any(options.values()):
            raise InputError(
                "the regressor of a regrouped Lagrangian has one formulation and no reference velocity; leave "
                f"{' and '.join(option for option, value in options.items() if value)} out"
            )
        return self.with_robot(robot).make_graph(FORMS_OF_GRAPHS[name])

    @cached_property
    def F(self) -> tuple[tuple[Any, ...], ...]:
        """The functions as SymPy expressions in q1, qd1, …"""
        motion = sympy_motion(len(self.counts))
        return tuple(tuple(self.ring.evaluate(functions, motion, to_sympy)) for functions in self.functions)

    @cached_property
    def function_texts(self) -> tuple[str, ...]:
        """F_ij of every model parameter as text, with six significant digits; empty for friction, which has none."""
        texts: list[str] = []
        for functions, kinds in zip(self.F, self.joint_friction, strict=True):
            texts += [format_expression(function, digits=6) for function in functions]
            texts += ["" for _ in kinds]
        return tuple(texts)

    @cached_property
    def X(self) -> tuple[tuple[Any, ...], ...]:
        """The combinations as SymPy expressions in lengths, angles and standard parameters, such as ``link2.mx``."""
        return express_combinations(self.combinations, self.ring, self.robot.parameter_names)

    def make_expressions(self, form: Form) -> Columns:
        """Return U of (25), or one of the two parts of (36), as SymPy expressions in q1, qd1, qdd1, …"""
        import sympy

        motion = sympy_motion(len(self.counts))
        bounds = [to_sympy_bound(speed) for speed in self._max_curve_speeds]
        rates = array([sympy.Min(sympy.Max(x, -s), s) for x, s in zip(motion.qd, bounds, strict=True)])
        signs = array([sympy.sign(x) for x in motion.qd])
        roots = array([sign * sympy.sqrt(sympy.Abs(rate)) for sign, rate in zip(signs, rates, strict=True)])
        return self.evaluate_columns(form, motion, signs, to_sympy, rates=rates, roots=roots)

    def make_graph(self, form: Form) -> Graph:
        """Return the graph (q, qd, qdd) → U, or (q, qd) → a part of it; see the module docstring."""
        import casadi

        size = len(self.counts)
        q, qd, qdd = (casadi.SX.sym(name, size) for name in ("q", "qd", "qdd"))
        places = self._places
        motion = casadi_motion(*(vector[places.tolist()] for vector in (q, qd, qdd)))
        speeds = {name: drive.coulomb_speed for name, drive in self.robot.drives}
        signs = array(
            [compute_sign(x, speeds[joint.name]) for x, joint in zip(motion.qd, self.robot.movable, strict=True)]
        )
        rates = array([clip_velocity(x, s) for x, s in zip(motion.qd, self._max_curve_speeds, strict=True)])
        roots = array([compute_root(sign, rate) for sign, rate in zip(signs, rates, strict=True)])
        output = zeros(size, self.p)
        output[places] = self.evaluate_columns(form, motion, signs, float, rates=rates, roots=roots)
        inputs = [(Input("q", size), q), (Input("qd", size), qd)]
        if form == "differential":
            inputs.append((Input("qdd", size), qdd))
        return trace(f"{form} regrouping", inputs, output, made_from=f"regrouping of {self.robot.name}")

    def evaluate_columns(
        self,
        form: Form,
        motion: Motion,
        signs: Scalars,
        number: Callable[[Any], Any] = float,
        *,
        rates: Scalars | None = None,
        roots: Scalars | None = None,
    ) -> Columns:
        """Evaluate U or a part of it on the scalars of a motion; ``signs`` are the signs of qd.

        ``rates`` are the velocities of viscous friction, by default qd. ``roots`` are the factors of root friction,
        required if a joint has it. Motion, signs, rates, roots and rows are in the order of ``robot.movable``. Viscous
        friction whose velocity is bounded has no integral in closed form and is in the integrand of (36).
        """
        rates = motion.qd if rates is None else rates
        result = zeros(len(self.counts), self.p)
        for j, start in enumerate(self.starts[:-1]):
            for i in range(j + 1):  # (23): zeros below the diagonal
                entries = compute_entries(self.ring, self.functions[j], form, i, j, motion, number)
                result[i, start : start + len(entries)] = array(entries)
            viscous = {"boundary": motion.q[j], "integrand": 0, "momentum": 0}.get(form, rates[j])
            constant = form in ("boundary", "momentum")
            if math.isfinite(self._max_curve_speeds[j]):
                viscous = 0 if constant else rates[j]
            factors = {"viscous": viscous, "coulomb": 0 if constant else signs[j], "offset": 0 if constant else 1}
            if roots is not None:
                factors["root"] = 0 if constant else roots[j]
            for k, kind in enumerate(self.joint_friction[j], start=start + self.counts[j]):
                result[j, k] = factors[kind]
        return result

    @property
    def _places(self) -> Int[np.ndarray, " joints"]:
        """The index in ``robot.actuated`` of each joint of ``robot.movable``."""
        return np.array([self.robot.actuated.index(joint.name) for joint in self.robot.movable])

    @property
    def _max_curve_speeds(self) -> list[float]:
        """The speeds of the joints beyond which viscous and root friction are constant; infinite without a bound."""
        drives = dict(self.robot.drives)
        return [drives[joint.name].max_curve_speed for joint in self.robot.movable]

    def _sum_length_powers(self, powers: tuple[tuple[str, int], ...]) -> int:
        """Return the exponent of length of a product of unknown constants; cosines and sines have no unit."""
        return sum(power for name, power in powers if name in self.ring.lengths)

    def _join(self, combinations: list[list[float]]) -> Float[np.ndarray, "p"]:
        """Return values of the combinations, each joint's followed by its friction in the description."""
        drives, values = dict(self.robot.drives), []
        for joint, row, kinds in zip(self.robot.movable, combinations, self.joint_friction, strict=True):
            values += [*row, *(getattr(drives[joint.name], kind) for kind in kinds)]
        return np.array(values, dtype=float)

    def _make_rows(self, place: Mapping[str, int]) -> list[Shaped[np.ndarray, " params"]]:
        """Return the factors of the standard parameters in every model parameter: SymPy expressions in lengths."""
        rows: list[np.ndarray] = []
        for joint, combinations, kinds in zip(self.robot.movable, self.X, self.joint_friction, strict=True):
            rows += [find_factors(expression, place) for expression in combinations]
            for kind in kinds:
                rows.append(zeros(len(place)))
                rows[-1][place[parameter_name(joint.name, FRICTION_PARAMETERS[kind])]] = 1
        return rows


# Combinations X_ij of standard parameters and unknown constants in a regrouped Lagrangian, as terms and in SymPy.


POSITIVE_PARAMETERS = ("m", "Ixx", "Iyy", "Izz", "Ia")  # masses and moments of inertia, which cannot be negative


@dataclass(frozen=True)
class LagrangianCombination:
    """X_ij: a sum of terms. A term is the name of a standard parameter, powers of unknown constants, and a factor.

    Unknown constants are lengths, and cosines and sines of unknown angles, such as ``l1`` and ``cos(alpha1)``.
    """

    terms: tuple[tuple[str, tuple[tuple[str, int], ...], Fraction], ...]

    @property
    def is_positive(self) -> bool:
        """Whether all factors of masses, moments and rotor inertias are positive; lengths may be negative."""
        return all(
            parameter.rpartition(".")[2] in POSITIVE_PARAMETERS
            and factor > 0
            and all(power % 2 == 0 for _, power in powers)
            for parameter, powers, factor in self.terms
        )

    def evaluate(self, theta: Mapping[str, Any], constants: Mapping[str, Any]) -> Any:
        """Evaluate the combination for parameters and unknown constants that are numbers or symbols."""
        total: Any = 0
        for parameter, powers, factor in self.terms:
            term = factor * theta[parameter]
            for constant, power in powers:
                term = term * constants[constant] ** power
            total = total + term
        return total


def express_combinations(
    combinations: Sequence[Sequence[LagrangianCombination]], ring: TrigonometricRing, parameter_names: Sequence[str]
) -> tuple[tuple[Any, ...], ...]:
    """Return the combinations of every joint as SymPy expressions in lengths, angles and standard parameters."""
    import sympy

    theta = {name: sympy.Symbol(name) for name in parameter_names}
    constants: dict[str, Any] = {name: sympy.Symbol(name) for name in ring.lengths}
    for name in ring.angles:
        angle = sympy.Symbol(name)
        constants |= zip(name_cosine_and_sine(name), (sympy.cos(angle), sympy.sin(angle)), strict=True)
    return tuple(tuple(x.evaluate(theta, constants) for x in row) for row in combinations)


def find_factors(expression: Any, places: Mapping[str, int]) -> Shaped[np.ndarray, " params"]:
    """Return the factors of the standard parameters in a SymPy expression; ``places`` are their places by name."""
    import sympy

    factors = zeros(len(places))
    for parameter in sorted(expression.free_symbols & {sympy.Symbol(name) for name in places}, key=str):
        factors[places[parameter.name]] = sympy.expand(expression).coeff(parameter)
    return factors


def to_sympy_bound(value: float) -> Any:
    """Convert a number that may be infinite to a SymPy number."""
    import sympy

    return sympy.oo if math.isinf(value) else sympy.Float(value)


def to_sympy(value: Any) -> Any:
    """Convert a coefficient of the ring to a SymPy number."""
    from sympy import QQ

    return QQ.to_sympy(value)


# Entries of U of a regrouped Lagrangian: derivatives of the functions of one joint by the motion of another.
#
# Identity      U_i(F) = d/dt ∂F/∂qd_i - ∂F/∂q_i
# Reference     [ha1989] (25), (36)
# Forms         see ``regrouping``


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
