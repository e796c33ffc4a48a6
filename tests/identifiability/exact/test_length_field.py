"""Base parameters with symbolic lengths."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

import ytheta
from tests.support.lin_checks import is_complete_and_minimal_lin
from tests.support.random_robots import robots
from tests.support.serial_arms import NO_GRAVITY, P, R, X, Y, Z
from ytheta.errors import UnsetLengthError
from ytheta.files.symbols import Scalar, symbol
from ytheta.identifiability import lin
from ytheta.identifiability.base_parameters import ROUNDING_TOLERANCE
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, Link
from ytheta.robot.robot import Robot


def test_expressions_of_the_two_link_arm() -> None:
    robot = ytheta.load("lu-two-link")
    base = lin.base_parameters(robot)
    assert set(base.expressions) == {
        "link1.Izz + l1^2·link2.m + l1^2·load.m",
        "link1.mx + l1·link2.m + l1·load.m",
        "link1.my",
        "link2.Izz + l2^2·load.m + 2·l2·load.mx + load.Izz",
        "link2.mx + l2·load.m + load.mx",
        "link2.my + load.my",
    }


def test_expressions_of_the_scara_arm() -> None:
    robot = ytheta.load("ha-scara")
    base = lin.base_parameters(robot)
    assert set(base.expressions) == {
        "link1.Izz + a1^2·link1.m + 2·a1·link1.mx + a1^2·link2.m",
        "link2.mx + a2·link2.m + link3.mx",
        "link2.my + link3.my",
        "link2.Izz - a2^2·link2.m + link3.Izz",
        "link3.m + link4.m",
        "link4.mx",
        "link4.my",
        "link4.Izz",
    }


def without_values(robot: Robot) -> Robot:
    return replace(robot, lengths=tuple((name, None) for name, _ in robot.lengths))


@pytest.mark.parametrize("name", ["lu-two-link", "ha-scara"])
def test_lengths_without_values_stay_symbols(name: str) -> None:
    known = ytheta.load(name)
    base = lin.base_parameters(without_values(known))
    assert base.expressions == lin.base_parameters(known).expressions
    with pytest.raises(UnsetLengthError):
        _ = base.K


def symbolic_arm() -> Robot:
    """An arm with general angles, a prismatic joint, seats, and symbolic lengths everywhere."""
    a, b, c = symbol("a"), symbol("b"), symbol("c")
    placements: list[Frame] = [
        Frame.shift(a, 0.0, b),
        Frame.turn(X, 0.7) @ Frame.shift(b + 0.2, a, c * 0.3),
        Frame.turn(Y, math.pi / 3) @ Frame.shift(c, 0.1, a - b),
        Frame.turn(X, -math.pi / 2) @ Frame.shift(a * 2.0, c, 0.0),
    ]
    seats = [Frame(), Frame.shift(0.0, c, 0.1) @ Frame.turn(X, 0.3), Frame(), Frame.shift(a, b, c)]
    joints = tuple(
        Joint(f"joint{k}", kind, f"link{k - 1}" if k > 1 else "base", f"link{k}", placement, Z, seat)
        for k, (kind, placement, seat) in enumerate(zip((R, R, P, R), placements, seats, strict=True), start=1)
    )
    links = (Link("base"), *(Link(f"link{k}") for k in range(1, 5)))
    return Robot("symbolic_arm", links, joints, lengths=(("a", 0.4), ("b", -0.3), ("c", 0.9)))


def agree(symbols: ytheta.BaseParameters, numbers: ytheta.BaseParameters) -> bool:
    """Whether both have the same independent parameters and the same K."""
    return symbols.independent == numbers.independent and np.allclose(symbols.K, numbers.K, rtol=0.0, atol=1e-12)


def test_symbols_and_numbers_agree() -> None:
    for robot in (symbolic_arm(), ytheta.load("ha-scara"), ytheta.load("lu-two-link")):
        base = lin.base_parameters(robot, rotor_inertia=True)
        assert any(isinstance(entry, sympy.Expr) for entry in base.entries.ravel())
        assert agree(base, lin.base_parameters(robot.numeric, rotor_inertia=True))
        assert is_complete_and_minimal_lin(robot)
        longer = robot.with_lengths(**{robot.lengths[0][0]: 1.3})
        assert not agree(base, lin.base_parameters(longer.numeric, rotor_inertia=True))  # the twin


def test_a_length_of_zero_is_zero() -> None:
    """A length with the value zero counts as zero; a length without a value does not."""
    robot = ytheta.load("ha-scara")
    folded = robot.with_lengths(a1=0.0)
    assert (
        len(lin.base_parameters(folded)) == len(lin.base_parameters(folded.numeric)) < len(lin.base_parameters(robot))
    )
    assert agree(lin.base_parameters(folded), lin.base_parameters(folded.numeric))


def test_axes_that_meet_at_a_symbolic_height() -> None:
    robot = symbolic_wrist()
    base = lin.base_parameters(robot)
    assert len(base) == 6
    assert agree(base, lin.base_parameters(robot.numeric))
    assert is_complete_and_minimal_lin(robot)
    assert any("h·link2.m" in text for text in base.expressions)


def symbolic_wrist() -> Robot:
    h: Scalar = symbol("h")
    joints = (
        Joint("joint1", R, "base", "link1", Frame.shift(0.1, 0.2, 0.3)),
        Joint("joint2", R, "link1", "link2", Frame.shift(h, 0.0, 0.5), X),
    )
    links = (Link("base"), Link("link1"), Link("link2"))
    return Robot("wrist", links, joints, gravity=NO_GRAVITY, lengths=(("h", 0.4),))


@given(robots(loops=False))
@settings(max_examples=15)
def test_random_robots_with_symbolic_lengths(robot: Robot) -> None:
    """Symbols everywhere: in placements of fixed and moving joints, in sums with numbers, at general angles."""
    robot = replace(robot, couplings=(), motors=(), actuated=(), home=())
    if not robot.symbolic_lengths or lin.explain_refusal(robot) is not None:
        return
    known = robot.with_lengths(**{name: 0.3 + 0.2 * k for k, (name, _) in enumerate(robot.lengths)})
    base, numbers = (lin.base_parameters(each, rotor_inertia=True) for each in (known, known.numeric))
    assert base.independent == numbers.independent
    # A frame tilted by 1e-5 has factors near 1e-10, the bound below which factors become zero: either is right.
    at_bound = np.maximum(abs(base.K), abs(numbers.K)) < 10.0 * ROUNDING_TOLERANCE
    np.testing.assert_allclose(
        np.where(at_bound, 0.0, base.K), np.where(at_bound, 0.0, numbers.K), rtol=0.0, atol=1e-12
    )
    unknown = lin.base_parameters(without_values(robot), rotor_inertia=True)
    assert unknown.expressions == base.expressions


def parse_expression(text: str, base: ytheta.BaseParameters) -> np.ndarray:
    """The coefficients of an expression, with the values of the lengths."""
    names = base.robot.parameter_names
    parameters = {name: sympy.Symbol(f"p{k}") for k, name in enumerate(names)}
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, parameters[name].name)
    form = sympy.sympify(text.replace("·", "*").replace("^", "**")).subs(dict(base.robot.lengths))
    polynomial = sympy.Poly(form, *parameters.values())
    return np.array([float(polynomial.coeff_monomial(symbol)) for symbol in parameters.values()])


@pytest.mark.parametrize("name", ["lu-puma4", "ha-scara", "lu-two-link"])
def test_expressions_evaluate_to_k(name: str) -> None:
    base = lin.base_parameters(ytheta.load(name), rotor_inertia=True)
    rows = [parse_expression(text, base) for text in base.format_expressions(digits=17)]
    np.testing.assert_allclose(rows, base.K, rtol=1e-14)
