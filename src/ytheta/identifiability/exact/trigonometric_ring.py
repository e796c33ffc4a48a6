"""Polynomials in the cosine, sine (or position) and rate of every joint and in unknown constants, in normal form.

Unknown constants are lengths, and cosines and sines of unknown angles. The polynomials are SymPy's sparse ones with
rational coefficients. sin² is always replaced by 1 - cos², for joints and for unknown angles, so that equal functions
are equal polynomials, and different monomials are linearly independent functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.mechanism import PER_LINK, Mechanism, Motion
from ytheta.dynamics.vectors import dot
from ytheta.errors import InputError
from ytheta.identifiability.exact.energy import ONE, EnergyMaps, Powers, compute_energy_maps
from ytheta.identifiability.exact.geometry import to_fraction
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

Function: TypeAlias = Any  # a polynomial of the ring
Monomial: TypeAlias = tuple[int, ...]  # exponents of the generators

# Largest number of terms of the Lagrangian of one body with unknown constants. Chosen on: rule of thumb, after a 6R arm
# with five unknown twists ran out of memory.
MAX_TERMS = 300_000


@dataclass(frozen=True)
class TrigonometricRing:
    """A polynomial ring.

    Generators: c, s, qd of each revolute and q, qd of each prismatic joint; the lengths; c, s of each unknown angle.
    """

    revolute: tuple[bool, ...]
    lengths: tuple[str, ...] = ()
    angles: tuple[str, ...] = ()

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the unknown constants, such as ``l1``, ``cos(alpha1)`` and ``sin(alpha1)``."""
        return (*self.lengths, *(name for angle in self.angles for name in name_cosine_and_sine(angle)))

    def list_unknown(self) -> str:
        """Return the names of the unknown lengths and angles as text."""
        return ", ".join((*self.lengths, *self.angles))

    @cached_property
    def ring(self) -> Any:
        from sympy import QQ, Symbol
        from sympy.polys.rings import PolyRing

        of_revolute, of_prismatic = ("cos(q{})", "sin(q{})", "rate {}"), ("position {}", "rate {}")
        patterns = [of_revolute if revolute else of_prismatic for revolute in self.revolute]
        joints = [pattern.format(k) for k, names in enumerate(patterns, start=1) for pattern in names]
        # The prefix distinguishes the cosine of an angle named q1 from that of the first joint.
        return PolyRing([Symbol(name) for name in (*joints, *(f"constant {name}" for name in self.constants))], QQ)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The index of the first generator of each joint, and that of the first unknown constant."""
        starts = [0]
        for revolute in self.revolute:
            starts.append(starts[-1] + (3 if revolute else 2))
        return tuple(starts)

    def get_length(self, name: str) -> Function:
        """Return the generator of a length."""
        return self.ring.gens[self._starts[-1] + self.lengths.index(name)]

    def to_constant(self, value: float) -> Function:
        """Return a number as a polynomial."""
        return self.ring.ground_new(self.ring.domain.convert(to_fraction(value)))

    def get_cosine_and_sine(self, angle: str) -> tuple[Function, Function]:
        """Return the generators of the cosine and the sine of an unknown angle."""
        place = self._find_cosine(angle)
        return self.ring.gens[place], self.ring.gens[place + 1]

    def _find_cosine(self, angle: str) -> int:
        return self._starts[-1] + len(self.lengths) + 2 * self.angles.index(angle)

    def make_monomial(self, joint: int, powers: Powers, rate: int) -> Monomial:
        """Return the monomial cos^a sin^b (revolute) or q^c (prismatic) of a joint, times a power of its rate."""
        exponents = [0] * len(self.ring.gens)
        start = self._starts[joint]
        of_joint = (*powers[:2], rate) if self.revolute[joint] else (powers[2], rate)
        exponents[start : start + len(of_joint)] = of_joint
        return tuple(exponents)

    def split_monomial(self, monomial: Monomial) -> tuple[Monomial, Monomial]:
        """Return the exponents of the joint variables, and those of the unknown constants."""
        return monomial[: self._starts[-1]], monomial[self._starts[-1] :]

    def find_level(self, monomial: Monomial) -> int:
        """Return the last joint, counted from 1, on which a monomial depends; 0 if it depends on none."""
        last = max((k for k, exponent in enumerate(monomial[: self._starts[-1]]) if exponent), default=-1)
        return sum(start <= last for start in self._starts[:-1])

    def make_sort_key(self, monomial: Monomial) -> tuple[Any, ...]:
        """Return a key that sorts monomials by the number of factors that are not rates, then cosines before sines."""
        rates = {start - 1 for start in self._starts[1:]}
        return sum(m for k, m in enumerate(monomial) if k not in rates), tuple(-m for m in monomial)

    def from_terms(self, terms: dict[Monomial, Any]) -> Function:
        """Return the polynomial with these coefficients of monomials in the joint variables."""
        padding = (0,) * len(self.constants)
        return self.ring.from_dict({monomial + padding: value for monomial, value in terms.items() if value})

    def differentiate_by_position(self, function: Function, joint: int) -> Function:
        """Return the derivative with respect to q of a joint."""
        first = self.ring.gens[self._starts[joint]]
        if not self.revolute[joint]:
            return function.diff(first)
        c, s = first, self.ring.gens[self._starts[joint] + 1]
        return self._replace_squared_sine(function.diff(s) * c - function.diff(c) * s, self._starts[joint])

    def differentiate_by_rate(self, function: Function, joint: int) -> Function:
        """Return the derivative with respect to qd of a joint."""
        return function.diff(self.ring.gens[self._starts[joint + 1] - 1])

    def get_rate(self, joint: int) -> Function:
        """Return the generator qd of a joint."""
        return self.ring.gens[self._starts[joint + 1] - 1]

    def normalize(self, value: Any) -> Any:
        """Replace sin² of all unknown angles by 1 - cos², which products can introduce. Numbers stay as they are."""
        from sympy.polys.rings import PolyElement

        if isinstance(value, PolyElement):
            for angle in self.angles:
                value = self._replace_squared_sine(value, self._find_cosine(angle))
        return value

    def _replace_squared_sine(self, function: Function, cosine: int) -> Function:
        """Replace powers of one sine by powers of its cosine, which is the generator before the sine."""
        c, s = self.ring.gens[cosine], self.ring.gens[cosine + 1]
        while squared := {m: value for m, value in function.items() if m[cosine + 1] >= 2}:
            part = self.ring.from_dict(squared)
            function = function - part + part.quo(s**2) * (1 - c**2)
        return function

    def evaluate(self, functions: Sequence[Function], motion: Motion, number: Callable[[Any], Any]) -> list[Any]:
        """Evaluate functions on the scalars of a motion; ``number`` converts a rational number to such a scalar."""
        values: list[Any] = []
        for k, revolute in enumerate(self.revolute):
            values += [motion.cos[k], motion.sin[k], motion.qd[k]] if revolute else [motion.q[k], motion.qd[k]]
        products: dict[Monomial, Any] = {}

        def compute_product(monomial: Monomial) -> Any:
            """Compute each product of generators once: the last factor times the rest."""
            if monomial not in products:
                last = max(k for k, exponent in enumerate(monomial) if exponent)
                rest = (*monomial[:last], monomial[last] - 1, *monomial[last + 1 :])
                products[monomial] = compute_product(rest) * values[last] if any(rest) else values[last]
            return products[monomial]

        def compute_total(function: Function) -> Any:
            result: Any = 0
            for monomial, factor in function.terms():
                joints, _ = self.split_monomial(monomial)
                term = number(factor) * compute_product(joints) if any(joints) else number(factor)
                result = term if type(result) is int else result + term
            return result

        return [compute_total(function) for function in functions]


def make_ring(robot: Robot, lengths: Sequence[str], angles: Sequence[str]) -> TrigonometricRing:
    """Return the ring for the joints of a robot and these unknown lengths and angles."""
    revolute = tuple(joint.kind is JointKind.REVOLUTE for joint in robot.movable)
    return TrigonometricRing(revolute, tuple(lengths), tuple(angles))


def name_cosine_and_sine(angle: str) -> tuple[str, str]:
    """Return the names of the unknown constants that belong to an unknown angle."""
    return f"cos({angle})", f"sin({angle})"


def compute_lagrangians(mechanism: Mechanism, ring: TrigonometricRing) -> list[list[Function]]:
    """Return L_i of (3) for every body: the functions that multiply its ten parameters (see ``EnergyMaps``)."""
    zero = ring.ring.zero
    ground = [zero, *(ring.ring(x) for x in mechanism.gravity), *[zero] * 6]
    energies: list[list[Function]] = []
    twists: list[list[Function]] = []
    for body in mechanism.bodies:
        maps = _normalize_maps(compute_energy_maps(body), ring)
        h, V = (ground, [zero] * 6) if body.parent is None else (energies[body.parent], twists[body.parent])
        momentum = [_combine(column, V) for column in maps.G.T]
        energy, twist = [zero] * PER_LINK, [zero] * 6
        for powers, L in maps.Lambda.items():
            constant, linear = ([_combine(column, functions) for column in L.T] for functions in (h, momentum))
            quadratic = [ring.ring(0) + x for x in dot(maps.k, L)[0]]
            for rate, functions in enumerate((constant, linear, quadratic)):
                energy = _add_multiple(energy, functions, ring, body.joint, powers, rate)
            _check_terms(energy, mechanism.robot.name, ring)
        for powers, X in maps.X.items():
            twist = _add_multiple(twist, [_combine(row, V) for row in X], ring, body.joint, powers, 0)
        twist = _add_multiple(twist, [ring.ring(0) + x for x in maps.S], ring, body.joint, ONE, 1)
        energies.append([ring.normalize(function) for function in energy])
        twists.append([ring.normalize(function) for function in twist])
    return energies


def _check_terms(energy: Sequence[Function], robot: str, ring: TrigonometricRing) -> None:
    """Raise an InputError if unknown lengths and angles make the Lagrangian of a body too long."""
    if ring.constants and sum(len(function) for function in energy) > MAX_TERMS:
        raise InputError(
            f"the Lagrangian of robot {robot!r} has more than {MAX_TERMS} terms if {ring.list_unknown()} are unknown; "
            f"give values to some of {'the angles' if ring.angles else 'them'}"
        )


def _normalize_maps(maps: EnergyMaps, ring: TrigonometricRing) -> EnergyMaps:
    """Replace squared sines of unknown angles in all entries; without unknown angles there are none."""
    if not ring.angles:
        return maps
    normalize = np.vectorize(ring.normalize, otypes=[object])
    Lambda, X = ({powers: normalize(M) for powers, M in polynomial.items()} for polynomial in (maps.Lambda, maps.X))
    return EnergyMaps(Lambda, X, normalize(maps.S), normalize(maps.G), normalize(maps.k))


def _combine(factors: Shaped[np.ndarray, " n"], functions: Sequence[Function]) -> Function:
    """Return a linear combination of functions."""
    terms = [f if type(x) is int and x == 1 else f * x for x, f in zip(factors, functions, strict=True) if x and f]
    return sum(terms[1:], terms[0]) if terms else functions[0].ring.zero


def _add_multiple(
    functions: list[Function],
    more: list[Function],
    ring: TrigonometricRing,
    joint: int | None,
    powers: Powers,
    rate: int,
) -> list[Function]:
    """Add functions, each multiplied by the same monomial in the variables of one joint."""
    if joint is None:
        return [f + g for f, g in zip(functions, more, strict=True)]
    monomial = ring.make_monomial(joint, powers, rate)
    return [f + g.mul_monom(monomial) if g else f for f, g in zip(functions, more, strict=True)]
