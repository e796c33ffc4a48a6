"""Sines and cosines against exact arithmetic, long doubles and the C library."""

from __future__ import annotations

from fractions import Fraction

import casadi
import numpy as np
import pytest

from tests.support.kernel_graphs import EPS, elementwise
from ytheta.native import compile_graph
from ytheta.native.codegen.trigonometry import MAX_ANGLE


def compute_pi(digits: int = 60) -> Fraction:
    """Return pi to this many digits, by Machin's formula."""
    one = 10**digits

    def compute_arctangent(n: int) -> int:
        total = power = one // n
        k = 1
        while power:
            power //= -n * n
            k += 2
            total += power // k
        return total

    return Fraction(4 * (4 * compute_arctangent(5) - compute_arctangent(239)), one)


def compute_exact_sine(x: float, quarter: int) -> Fraction:
    """Return sin(x + quarter pi/2) far more accurately than in doubles."""
    pi = compute_pi()
    rest = Fraction(x) + quarter * pi / 2
    rest -= round(rest / (2 * pi)) * 2 * pi
    rest = Fraction(round(rest * 2**200), 2**200)
    term = total = rest
    for k in range(1, 40):
        term = Fraction(round(-term * rest * rest / ((2 * k) * (2 * k + 1)) * 2**200), 2**200)
        total += term
    return total


def test_sine_and_cosine_are_within_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(3)
    near = [k * np.pi / 2 * (1 + d * EPS) for k in (1, 2, 3, 7, 100, 12345, 60001) for d in (-1, 0, 1)]
    drawn = [rng.uniform(-s, s, 60) for s in (1e-8, 1e-3, 0.8, 3.2, 40.0, 1e3, 1e5, MAX_ANGLE)]
    x = np.concatenate([near, *drawn, [0.0, np.pi / 4, -np.pi / 4, MAX_ANGLE, -MAX_ANGLE]])
    graphs = elementwise(casadi.sin, size=1), elementwise(casadi.cos, size=1)
    for quarter, graph in enumerate(graphs):
        result = compile_graph(graph)(x[:, np.newaxis])[:, 0]
        exact = [compute_exact_sine(value, quarter) for value in x]
        units = [
            abs(Fraction(f) - e) / Fraction(float(np.spacing(abs(float(e)))))
            for f, e in zip(result, exact, strict=True)
        ]
        assert float(max(units)) < 2.0


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long doubles of this platform are not more accurate than doubles"
)
def test_sine_and_cosine_of_many_angles() -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-s, s, 50_000) for s in (0.8, 3.2, 1e2, 1e4, MAX_ANGLE)])[:, np.newaxis]
    for function, exact in ((casadi.sin, np.sin), (casadi.cos, np.cos)):
        expected = exact(x.astype(np.longdouble))
        error = abs(compile_graph(elementwise(function, size=1))(x) - expected)
        assert (error / np.spacing(abs(expected.astype(float)))).max() < 1.6


def test_large_angles_use_the_c_library_and_do_not_change_their_neighbours() -> None:
    sine = compile_graph(elementwise(lambda x: casadi.sin(x) + 2 * casadi.cos(x), size=1))
    reference = compile_graph(sine.graph, backend="interpreter")
    x = np.array([0.3, 1e7, -1.1, 1e22, 2.5, -3e300, 7.0, MAX_ANGLE, np.nextafter(MAX_ANGLE, np.inf)])[:, np.newaxis]
    np.testing.assert_allclose(sine(x), reference(x), rtol=0, atol=8 * EPS)
    alone = np.array([sine(row[np.newaxis])[0] for row in x])
    np.testing.assert_array_equal(sine(x), alone)


def test_a_nan_inside_the_graph_stays_nan() -> None:
    graph = elementwise(lambda x: casadi.sin(1 / x), size=1)  # 1/0 is infinite, and its sine is NaN
    assert np.isnan(compile_graph(graph)(np.zeros((3, 1)))).all()
