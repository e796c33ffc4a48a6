"""SIMD operations against CasADi, one by one and in random graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel_graphs import EPS, draw_inputs, elementwise
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.native.graph import Input, trace

# Operations of random graphs: the CasADi function, and the derivatives by which errors of the arguments propagate.
# Arguments are restricted to ranges in which the operation is defined and its derivatives are small.
SMOOTH: dict[str, tuple[Callable[..., Any], Callable[..., tuple[Any, ...]]]] = {
    "add": (lambda a, b: a + b, lambda _a, _b: (1, 1)),
    "sub": (lambda a, b: a - b, lambda _a, _b: (1, 1)),
    "mul": (lambda a, b: a * b, lambda a, b: (b, a)),
    "div": (lambda a, b: a / b, lambda a, b: (1 / b, a / b**2)),
    "fmin": (casadi.fmin, lambda _a, _b: (1, 1)),
    "fmax": (casadi.fmax, lambda _a, _b: (1, 1)),
    "atan2": (casadi.atan2, lambda a, b: (b / (a * a + b * b), a / (a * a + b * b))),
    "hypot": (casadi.hypot, lambda _a, _b: (1, 1)),
    "neg": (lambda a: -a, lambda _: (1,)),
    "sq": (lambda a: a * a, lambda a: (2 * a,)),
    "twice": (lambda a: a + a, lambda _: (2,)),
    "inv": (lambda a: 1 / a, lambda a: (1 / a**2,)),
    "sqrt": (lambda a: casadi.sqrt(casadi.fabs(a)), lambda a: (0.5 / np.sqrt(abs(a)),)),
    "fabs": (casadi.fabs, lambda _: (1,)),
    "sin": (casadi.sin, lambda _: (1,)),
    "cos": (casadi.cos, lambda _: (1,)),
    "tan": (lambda a: casadi.tan(casadi.tanh(a)), lambda _: (4,)),
    "asin": (lambda a: casadi.asin(0.9 * casadi.tanh(a)), lambda _: (4,)),
    "acos": (lambda a: casadi.acos(0.9 * casadi.tanh(a)), lambda _: (4,)),
    "atan": (casadi.atan, lambda _: (1,)),
    "tanh": (casadi.tanh, lambda _: (1,)),
    "sinh": (lambda a: casadi.sinh(casadi.sin(a)), lambda _: (2,)),
    "cosh": (lambda a: casadi.cosh(casadi.sin(a)), lambda _: (2,)),
    "asinh": (casadi.asinh, lambda _: (1,)),
    "acosh": (lambda a: casadi.acosh(2 + casadi.fabs(a)), lambda _: (1,)),
    "atanh": (lambda a: casadi.atanh(0.9 * casadi.sin(a)), lambda _: (10,)),
    "exp": (lambda a: casadi.exp(casadi.sin(a)), lambda _: (3,)),
    "expm1": (lambda a: casadi.expm1(casadi.sin(a)), lambda _: (3,)),
    "log": (lambda a: casadi.log(2 + casadi.fabs(a)), lambda _: (1,)),
    "log1p": (lambda a: casadi.log1p(casadi.fabs(a)), lambda _: (1,)),
    "erf": (casadi.erf, lambda _: (2,)),
    "pow": (lambda a: (2 + casadi.sin(a)) ** 1.7, lambda _: (6,)),
    "power": (lambda a, b: (2 + casadi.sin(a)) ** casadi.sin(b), lambda _a, _b: (4, 4)),
    "copysign": (lambda a: casadi.copysign(a, casadi.SX(-0.0)), lambda _: (1,)),
}
# Functions with jumps are applied to inputs only, which are exact: a rounding error of an argument could cause a jump.
JUMPS: dict[str, Callable[..., Any]] = {
    "sign": lambda a, _: casadi.sign(a),
    "floor": lambda a, b: casadi.floor(a) - casadi.ceil(b),
    "less": lambda a, b: casadi.if_else(a < b, a, b),
    "at most": lambda a, b: a <= b,
    "equal": lambda a, b: casadi.if_else(casadi.eq(a, b), 2.0, a),
    "differs": lambda a, b: casadi.ne(a, b),
    "logic": lambda a, b: casadi.logic_or(casadi.logic_and(a < 1, b < 1), casadi.logic_not(a < b)),
    "mod": lambda a, b: casadi.fmod(a, b) + casadi.remainder(a, b),
}


@st.composite
def random_graphs(draw_from: st.DrawFn) -> tuple[list[tuple[str, tuple[int, ...]]], int]:
    steps: list[tuple[str, tuple[int, ...]]] = []
    inputs = 3
    for k in range(draw_from(st.integers(1, 25))):
        name = draw_from(st.sampled_from([*SMOOTH, *JUMPS]))
        known = inputs if name in JUMPS else inputs + k
        chosen = (draw_from(st.integers(0, known - 1)), draw_from(st.integers(0, known - 1)))
        steps.append((name, chosen))
    return steps, draw_from(st.integers(0, 2**32))


@given(random_graphs())
def test_random_graph_equals_interpreter(case: tuple[list[tuple[str, tuple[int, ...]]], int]) -> None:
    """Every value of the graph is an output; errors are bounded along the graph to first order."""
    steps, seed = case
    x = casadi.SX.sym("x", 3)
    nodes = [x[0], x[1], x[2]]
    for name, (a, b) in steps:
        if name in JUMPS:
            nodes.append(JUMPS[name](nodes[a], nodes[b]))
        else:
            function, slopes = SMOOTH[name]
            nodes.append(function(*(nodes[a], nodes[b])[: slopes.__code__.co_argcount]))
    graph = trace("random", [(Input("x", 3), x)], np.array(nodes, dtype=object))
    inputs = np.random.default_rng(seed).uniform(-2, 2, (9, 3))
    expected = compile_graph(graph, backend="interpreter")(inputs)
    result = compile_graph(graph, cache=False)(inputs)
    bounds: list[np.ndarray] = [np.zeros(9)] * 3
    with np.errstate(all="ignore"):
        for k, (name, (a, b)) in enumerate(steps):
            value = expected[:, 3 + k]
            bound = 16 * EPS * (1 + abs(value))
            if name in SMOOTH:
                slopes = SMOOTH[name][1]
                places = (a, b)[: slopes.__code__.co_argcount]
                for place, slope in zip(places, slopes(*(expected[:, p] for p in places)), strict=True):
                    bound = bound + 2 * abs(slope) * bounds[place]
            bounds.append(bound)
        # A first-order bound is only valid if it is small: other values are not compared.
        for k, bound in enumerate(bounds):
            bounded = np.isfinite(bound) & (bound < 1e-6 * (1e-3 + abs(expected[:, k])))
            assert (abs(result[bounded, k] - expected[bounded, k]) <= bound[bounded]).all(), (steps, k)


def test_every_operation_of_the_random_graphs_is_native() -> None:
    for name, (function, slopes) in SMOOTH.items():
        graph = elementwise(function, slopes.__code__.co_argcount)
        x = draw_inputs(graph, 6)
        expected = compile_graph(graph, backend="interpreter")(*x)
        np.testing.assert_allclose(compile_graph(graph)(*x), expected, rtol=16 * EPS, atol=4 * EPS, err_msg=name)
    for name, jump in JUMPS.items():
        graph = elementwise(jump, 2)
        for x in (draw_inputs(graph, 6), [np.ones((3, 6))] * 2, [np.zeros((3, 6)), -np.zeros((3, 6)) + 0.5]):
            expected = compile_graph(graph, backend="interpreter")(*x)
            np.testing.assert_array_equal(compile_graph(graph)(*x), expected, err_msg=name)


def test_sign_of_zeros_and_not_a_number() -> None:
    """As in CasADi, the sign of +0, -0 and NaN is the number itself; infinities have the sign ±1."""
    graph = elementwise(lambda a, b: casadi.sign(a / b), 2)
    numerators = np.array([[0.0, -0.0, 0.0, -0.0, 2.0, -2.0], [1.0, -1.0, 5e-324, -5e-324, 0.0, -0.0]])
    denominators = np.array([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, -3.0, -3.0]])
    expected = np.array([[0.0, -0.0, np.nan, np.nan, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0, -0.0, 0.0]])
    for backend in ("interpreter", "llvm"):
        result = compile_graph(graph, backend=backend)(numerators, denominators)
        np.testing.assert_array_equal(result, expected, err_msg=backend)
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]), err_msg=backend)


def test_an_unsupported_operation_is_named_with_the_remedy() -> None:
    graph = elementwise(lambda x: casadi.erfinv(casadi.tanh(x)))
    with pytest.raises(InputError, match=r"operation ERFINV.*interpreter"):
        compile_graph(graph)
    assert compile_graph(graph, backend="interpreter")(np.zeros((2, 6))).shape == (2, 6)
