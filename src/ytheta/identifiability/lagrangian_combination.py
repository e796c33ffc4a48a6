"""Combinations X_ij of standard parameters and unknown constants in a regrouped Lagrangian, as terms and in SymPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ytheta.dynamics.vectors import zeros
from ytheta.identifiability.exact.trigonometric_ring import TrigonometricRing, name_cosine_and_sine
from ytheta.shapes import Shaped


@dataclass(frozen=True)
class Combination:
    """X_ij: a sum of terms. A term is the name of a standard parameter, powers of unknown constants, and a factor.

    Unknown constants are lengths, and cosines and sines of unknown angles, such as ``l1`` and ``cos(alpha1)``.
    """

    terms: tuple[tuple[str, tuple[tuple[str, int], ...], Fraction], ...]

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
    combinations: Sequence[Sequence[Combination]], ring: TrigonometricRing, parameter_names: Sequence[str]
) -> tuple[tuple[Any, ...], ...]:
    """Return the combinations of every joint as SymPy expressions in lengths, angles and standard parameters."""
    import sympy

    theta = {name: sympy.Symbol(name) for name in parameter_names}
    constants: dict[str, Any] = {name: sympy.Symbol(name) for name in ring.lengths}
    for name in ring.angles:
        angle = sympy.Symbol(name)
        constants |= zip(name_cosine_and_sine(name), (sympy.cos(angle), sympy.sin(angle)), strict=True)
    return tuple(tuple(x.evaluate(theta, constants) for x in row) for row in combinations)


def find_factors(expression: Any, places: Mapping[str, int]) -> Shaped[np.ndarray, "params"]:
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
