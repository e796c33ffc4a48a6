"""Polynomials in the cosine, sine (or position) and rate of every joint and in unknown lengths, in normal form.

They are SymPy's sparse polynomials over the rationals. sin² is always written 1 - cos²: so equal functions are equal
polynomials, and different monomials are linearly independent functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import dot
from ytheta.identifiability.exact.energy_maps import ONE, TEN, Powers, energy_maps
from ytheta.identifiability.exact.geometry import fraction
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

Function: TypeAlias = Any  # a polynomial of the ring
Monomial: TypeAlias = tuple[int, ...]  # exponents of the generators


@dataclass(frozen=True)
class TrigonometricRing:
    """The ring for joints that turn or slide. Generators: c, s, qd or q, qd of each joint; then the lengths."""

    turns: tuple[bool, ...]
    lengths: tuple[str, ...] = ()

    @cached_property
    def ring(self) -> Any:
        from sympy import QQ, Symbol
        from sympy.polys.rings import PolyRing

        own = (("cos(q{})", "sin(q{})", "rate {}") if turns else ("slide {}", "rate {}") for turns in self.turns)
        joints = [name.format(k) for k, names in enumerate(own, start=1) for name in names]  # no length has such a name
        return PolyRing([Symbol(name) for name in (*joints, *self.lengths)], QQ)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """Where the generators of each joint start, and those of the lengths."""
        starts = [0]
        for turns in self.turns:
            starts.append(starts[-1] + (3 if turns else 2))
        return tuple(starts)

    def length(self, name: str) -> Function:
        return self.ring.gens[self._starts[-1] + self.lengths.index(name)]

    def rounded(self, value: Any) -> Any:
        """A number, or a linear form in lengths, with coefficients as ``exact_geometry.fraction`` makes them."""
        if isinstance(value, int | float):
            return fraction(value)
        return self.ring.from_dict({m: self.ring.domain.convert(fraction(x)) for m, x in value.items()})

    def monomial(self, joint: int, powers: Powers, rate: int) -> Monomial:
        """cos^a sin^b or q^c of a joint, times a power of its rate."""
        exponents = [0] * len(self.ring.gens)
        start = self._starts[joint]
        own = (*powers[:2], rate) if self.turns[joint] else (powers[2], rate)
        exponents[start : start + len(own)] = own
        return tuple(exponents)

    def split(self, monomial: Monomial) -> tuple[Monomial, Monomial]:
        """The exponents of what joints do, and those of the lengths."""
        return monomial[: self._starts[-1]], monomial[self._starts[-1] :]

    def level(self, monomial: Monomial) -> int:
        """The last joint (from 1) on which a monomial depends; 0 if on none."""
        last = max((k for k, exponent in enumerate(monomial[: self._starts[-1]]) if exponent), default=-1)
        return sum(start <= last for start in self._starts[:-1])

    def order(self, monomial: Monomial) -> tuple[Any, ...]:
        """For sorting: rates alone first, then few factors of position, cosines before sines."""
        rates = {start - 1 for start in self._starts[1:]}
        return sum(m for k, m in enumerate(monomial) if k not in rates), tuple(-m for m in monomial)

    def from_terms(self, terms: dict[Monomial, Any]) -> Function:
        """The polynomial with these coefficients of monomials in what joints do."""
        padding = (0,) * len(self.lengths)
        return self.ring.from_dict({monomial + padding: value for monomial, value in terms.items() if value})

    def by_position(self, function: Function, joint: int) -> Function:
        """The derivative with respect to q of a joint."""
        first = self.ring.gens[self._starts[joint]]
        if not self.turns[joint]:
            return function.diff(first)
        c, s = first, self.ring.gens[self._starts[joint] + 1]
        return self._reduced(function.diff(s) * c - function.diff(c) * s, joint)

    def by_rate(self, function: Function, joint: int) -> Function:
        """The derivative with respect to qd of a joint."""
        return function.diff(self.ring.gens[self._starts[joint + 1] - 1])

    def rate(self, joint: int) -> Function:
        """qd of a joint."""
        return self.ring.gens[self._starts[joint + 1] - 1]

    def _reduced(self, function: Function, joint: int) -> Function:
        """sin² of one joint, which a derivative made, is 1 - cos²."""
        c, s = self.ring.gens[self._starts[joint]], self.ring.gens[self._starts[joint] + 1]
        place = self._starts[joint] + 1
        squared = {m: value for m, value in function.items() if m[place] >= 2}
        if not squared:
            return function
        part = self.ring.from_dict(squared)
        return function - part + part.quo(s**2) * (1 - c**2)

    def evaluate(self, functions: Sequence[Function], motion: Motion, number: Callable[[Any], Any]) -> list[Any]:
        """Functions of joints on the scalars of a motion; ``number`` makes such a scalar of a rational number."""
        values: list[Any] = []
        for k, turns in enumerate(self.turns):
            values += [motion.cos[k], motion.sin[k], motion.qd[k]] if turns else [motion.q[k], motion.qd[k]]
        known: dict[Monomial, Any] = {}

        def product(monomial: Monomial) -> Any:
            """Each product of generators once: the last factor times the rest."""
            if monomial not in known:
                place = max(k for k, exponent in enumerate(monomial) if exponent)
                rest = (*monomial[:place], monomial[place] - 1, *monomial[place + 1 :])
                known[monomial] = product(rest) * values[place] if any(rest) else values[place]
            return known[monomial]

        def total(function: Function) -> Any:
            result: Any = 0
            for monomial, factor in function.terms():
                joints, _ = self.split(monomial)
                term = number(factor) * product(joints) if any(joints) else number(factor)
                result = term if type(result) is int else result + term
            return result

        return [total(function) for function in functions]


def ring_of(robot: Robot, lengths: Sequence[str]) -> TrigonometricRing:
    """The ring for the joints of a robot and some unknown lengths."""
    return TrigonometricRing(tuple(j.kind is JointKind.REVOLUTE for j in robot.movable), tuple(lengths))


def lagrangians(mechanism: Mechanism, ring: TrigonometricRing) -> list[list[Function]]:
    """L_i of (3) for every body: the functions that multiply its ten parameters, joint by joint (``energy_maps``)."""
    nothing = ring.ring.zero
    ground = [nothing, *(ring.ring(x) for x in mechanism.gravity), *[nothing] * 6]
    energies: list[list[Function]] = []
    twists: list[list[Function]] = []
    for body in mechanism.bodies:
        maps = energy_maps(body)
        h, V = (ground, [nothing] * 6) if body.parent is None else (energies[body.parent], twists[body.parent])
        momentum = [_combined(column, V) for column in maps.G.T]
        energy, twist = [nothing] * TEN, [nothing] * 6
        for powers, L in maps.Lambda.items():
            at_rest, linear = ([_combined(column, of) for column in L.T] for of in (h, momentum))
            squared = [ring.ring(0) + x for x in dot(maps.k, L)[0]]
            for rate, own in enumerate((at_rest, linear, squared)):
                energy = _added(energy, own, ring, body.joint, powers, rate)
        for powers, X in maps.X.items():
            twist = _added(twist, [_combined(row, V) for row in X], ring, body.joint, powers, 0)
        twist = _added(twist, [ring.ring(0) + x for x in maps.S], ring, body.joint, ONE, 1)
        energies.append(energy)
        twists.append(twist)
    return energies


def _combined(factors: Shaped[np.ndarray, "n"], functions: Sequence[Function]) -> Function:
    """A linear combination of functions."""
    pieces = [f if type(x) is int and x == 1 else f * x for x, f in zip(factors, functions, strict=True) if x and f]
    return sum(pieces[1:], pieces[0]) if pieces else functions[0].ring.zero


def _added(
    functions: list[Function],
    more: list[Function],
    ring: TrigonometricRing,
    joint: int | None,
    powers: Powers,
    rate: int,
) -> list[Function]:
    """Functions plus more functions, these times powers of what one joint does."""
    if joint is None:
        return [f + g for f, g in zip(functions, more, strict=True)]
    monomial = ring.monomial(joint, powers, rate)
    return [f + g.mul_monom(monomial) if g else f for f, g in zip(functions, more, strict=True)]
