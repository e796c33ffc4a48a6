"""Machine code against CasADi's own evaluation; its layout, its door and its cache."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ytheta
from ytheta.errors import InputError, UnknownNameError
from ytheta.native import Kernel, cache, compile, compile_graph, count_operations  # noqa: A004
from ytheta.native.codegen.llvm import assembly, host, object_code
from ytheta.native.codegen.program import program
from ytheta.native.codegen.trigonometry import LIMIT
from ytheta.native.graph import Graph, Input, trace
from ytheta.native.machine import Machine

EPS = float(np.finfo(float).eps)
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1023, 1024, 1025)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own for every test, and no machine code left from another one."""
    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path / "kernels"))
    forget()
    yield tmp_path / "kernels"
    forget()


def forget() -> None:
    compile._loaded.clear()
    compile._recent.clear()


def elementwise(function: Callable[..., Any], count: int = 1, size: int = 6) -> Graph:
    """The graph that applies a function to the elements of its inputs."""
    symbols = [casadi.SX.sym(f"x{k}", size) for k in range(count)]
    output = np.array([function(*(s[i] for s in symbols)) for i in range(size)], dtype=object)
    return trace("elementwise", [(Input(f"x{k}", size), s) for k, s in enumerate(symbols)], output)


def planar_chain(links: int) -> Graph:
    """Inverse dynamics of a planar arm of unit links with unit masses at their ends, and its gravity parameter shared.

    With absolute angles a_i = q_1 + … + q_i the force along a_i is
    sum_j c_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) + c_ii g cos(a_i), with c_ij = links - max(i, j).
    """
    q, qd, qdd = (casadi.SX.sym(name, links) for name in ("q", "qd", "qdd"))
    g = casadi.SX.sym("g", 1)
    angle, rate, gain = (casadi.cumsum(symbols) for symbols in (q, qd, qdd))
    forces = []
    for i in range(links):
        force = (links - i) * g * casadi.cos(angle[i])
        for j in range(links):
            turn = angle[i] - angle[j]
            force += (links - max(i, j)) * (casadi.cos(turn) * gain[j] + casadi.sin(turn) * rate[j] ** 2)
        forces.append(force)
    inputs = [(Input(name, links), x) for name, x in (("q", q), ("qd", qd), ("qdd", qdd))]
    torques = np.array([sum(forces[k:]) for k in range(links)], dtype=object)
    return trace("chain", [*inputs, (Input("g", 1, shared=True), g)], torques)


def sparse_graph() -> Graph:
    """A 3 x 5 array with eight entries: computed ones, a constant, an input, one value twice."""
    x, y, p = casadi.SX.sym("x", 3), casadi.SX.sym("y", 2), casadi.SX.sym("p", 2)
    out = np.zeros((3, 5), dtype=object)
    out[0, 1], out[0, 4] = x[0] * y[1] + p[0], casadi.sin(x[1])
    out[1, 0], out[1, 2], out[1, 3] = x[2], 2.5, casadi.sin(x[1])
    out[2, 0], out[2, 2], out[2, 4] = p[1], x[0] - y[0], casadi.cos(x[1]) / (2 + x[2] ** 2)
    return trace("sparse", [(Input("x", 3), x), (Input("y", 2), y), (Input("p", 2, shared=True), p)], out)


def draw(graph: Graph, samples: int, seed: int = 0, scale: float = 3.0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-scale, scale, (i.size,) if i.shared else (samples, i.size)) for i in graph.inputs]


def chain_tolerance(links: int) -> float:
    """A torque is a sum of links^2 terms of size links * 3 * (3 links)^2 at most, each rounded a few times."""
    return 10 * EPS * links**2 * links * 3 * (3 * links) ** 2


# --- the interpreter is the oracle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", [1, 2, 3, 6, 12, 30])
def test_chain_equals_interpreter(links: int) -> None:
    graph = planar_chain(links)
    inputs = draw(graph, 37)
    expected = compile_graph(graph, backend="interpreter")(*inputs)
    np.testing.assert_allclose(compile_graph(graph)(*inputs), expected, rtol=0, atol=chain_tolerance(links))


def test_interpreter_equals_numpy() -> None:
    graph = sparse_graph()
    x, y, p = draw(graph, 5)
    expected = np.zeros((5, 3, 5))
    expected[:, 0, 1], expected[:, 0, 4] = x[:, 0] * y[:, 1] + p[0], np.sin(x[:, 1])
    expected[:, 1, 0], expected[:, 1, 2], expected[:, 1, 3] = x[:, 2], 2.5, np.sin(x[:, 1])
    expected[:, 2, 0], expected[:, 2, 2] = p[1], x[:, 0] - y[:, 0]
    expected[:, 2, 4] = np.cos(x[:, 1]) / (2 + x[:, 2] ** 2)
    for backend in ("interpreter", "llvm"):
        np.testing.assert_allclose(compile_graph(graph, backend=backend)(x, y, p), expected, rtol=4 * EPS, atol=8 * EPS)


def test_a_changed_constant_changes_result_and_digest() -> None:
    one, other = elementwise(lambda x: 1.5 * x), elementwise(lambda x: (1.5 + EPS) * x)
    x = draw(one, 4)
    assert compile_graph(one).about.digest != compile_graph(other).about.digest
    assert (compile_graph(one)(*x) != compile_graph(other)(*x)).any()


# Operations of random graphs: how CasADi writes them, and the slopes that carry errors of their arguments on. Arguments
# are kept where the operation is defined and mild.
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
# Jumps are only tried on inputs, which are exact: a rounding error before a jump is no error of the jump.
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
    found = compile_graph(graph, cache=False)(inputs)
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
        # Far from the identity a first-order bound says nothing: only values that are still known are compared.
        for k, bound in enumerate(bounds):
            told = np.isfinite(bound) & (bound < 1e-6 * (1e-3 + abs(expected[:, k])))
            assert (abs(found[told, k] - expected[told, k]) <= bound[told]).all(), (steps, k)


def test_every_operation_of_the_random_graphs_is_native() -> None:
    for name, (function, slopes) in SMOOTH.items():
        graph = elementwise(function, slopes.__code__.co_argcount)
        x = draw(graph, 6)
        expected = compile_graph(graph, backend="interpreter")(*x)
        np.testing.assert_allclose(compile_graph(graph)(*x), expected, rtol=16 * EPS, atol=4 * EPS, err_msg=name)
    for name, jump in JUMPS.items():
        graph = elementwise(jump, 2)
        for x in (draw(graph, 6), [np.ones((3, 6))] * 2, [np.zeros((3, 6)), -np.zeros((3, 6)) + 0.5]):
            expected = compile_graph(graph, backend="interpreter")(*x)
            np.testing.assert_array_equal(compile_graph(graph)(*x), expected, err_msg=name)


def test_unknown_operation_names_itself_and_the_way_out() -> None:
    graph = elementwise(lambda x: casadi.erfinv(casadi.tanh(x)))
    with pytest.raises(InputError, match=r"no operation ERFINV.*interpreter"):
        compile_graph(graph)
    assert compile_graph(graph, backend="interpreter")(np.zeros((2, 6))).shape == (2, 6)


def test_functions_that_are_no_lists_of_scalars_are_refused() -> None:
    x, p = casadi.MX.sym("x", 2), casadi.SX.sym("p", 2)
    matrix = Graph("m", (Input("x", 2),), (2,), (0, 1), casadi.Function("f", [x], [x * 2]))
    with pytest.raises(InputError, match=r"MXFunction.*expand"):
        compile_graph(matrix)
    free = casadi.Function("f", [p], [p * casadi.SX.sym("free")], {"allow_free": True})
    with pytest.raises(InputError, match="free"):
        compile_graph(Graph("g", (Input("p", 2),), (2,), (0, 1), free))
    with pytest.raises(InputError, match="sizes"):
        compile_graph(Graph("g", (Input("p", 3),), (2,), (0, 1), casadi.Function("f", [p], [p])))
    with pytest.raises(InputError, match="places"):
        compile_graph(Graph("g", (Input("p", 2),), (2,), (0,), casadi.Function("f", [p], [p])))


# --- sines and cosines ------------------------------------------------------------------------------------------------


def turns_of_pi(digits: int = 60) -> Fraction:
    """pi by Machin's formula, exact to that many digits."""
    one = 10**digits

    def arctangent(n: int) -> int:
        total = power = one // n
        k = 1
        while power:
            power //= -n * n
            k += 2
            total += power // k
        return total

    return Fraction(4 * (4 * arctangent(5) - arctangent(239)), one)


def exact_sine(x: float, quarter: int) -> Fraction:
    """sin(x + quarter pi/2) far more exactly than any double."""
    pi = turns_of_pi()
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
    drawn = [rng.uniform(-s, s, 60) for s in (1e-8, 1e-3, 0.8, 3.2, 40.0, 1e3, 1e5, LIMIT)]
    x = np.concatenate([near, *drawn, [0.0, np.pi / 4, -np.pi / 4, LIMIT, -LIMIT]])
    graph = elementwise(casadi.sin, size=1), elementwise(casadi.cos, size=1)
    for quarter, one in enumerate(graph):
        found = compile_graph(one)(x[:, np.newaxis])[:, 0]
        exact = [exact_sine(value, quarter) for value in x]
        units = [
            abs(Fraction(f) - e) / Fraction(float(np.spacing(abs(float(e))))) for f, e in zip(found, exact, strict=True)
        ]
        assert float(max(units)) < 2.0


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long doubles of this platform are no better than doubles"
)
def test_sine_and_cosine_of_many_angles() -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-s, s, 50_000) for s in (0.8, 3.2, 1e2, 1e4, LIMIT)])[:, np.newaxis]
    for function, exact in ((casadi.sin, np.sin), (casadi.cos, np.cos)):
        expected = exact(x.astype(np.longdouble))
        error = abs(compile_graph(elementwise(function, size=1))(x) - expected)
        assert (error / np.spacing(abs(expected.astype(float)))).max() < 1.6


def test_far_angles_use_the_c_library_and_do_not_touch_their_neighbours() -> None:
    sine = compile_graph(elementwise(lambda x: casadi.sin(x) + 2 * casadi.cos(x), size=1))
    reference = compile_graph(sine.graph, backend="interpreter")
    x = np.array([0.3, 1e7, -1.1, 1e22, 2.5, -3e300, 7.0, LIMIT, np.nextafter(LIMIT, np.inf)])[:, np.newaxis]
    np.testing.assert_allclose(sine(x), reference(x), rtol=0, atol=8 * EPS)
    alone = np.array([sine(row[np.newaxis])[0] for row in x])
    np.testing.assert_array_equal(sine(x), alone)


def test_what_is_not_a_number_inside_stays_so() -> None:
    graph = elementwise(lambda x: casadi.sin(1 / x), size=1)  # 1/0 is infinite, and its sine is none
    assert np.isnan(compile_graph(graph)(np.zeros((3, 1)))).all()


# --- batches, blocks, one, threads: the same bits ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [sparse_graph, lambda: planar_chain(5), lambda: planar_chain(1)])
def test_all_ways_agree_to_the_last_bit(make: Callable[[], Graph]) -> None:
    kernel = compile_graph(make())
    inputs = draw(kernel.graph, max(SIZES))
    whole = kernel(*inputs, threads=1)
    for samples in SIZES:
        part = [x if entry.shared else x[:samples] for entry, x in zip(kernel.graph.inputs, inputs, strict=True)]
        for threads in (1, 2, 4):
            np.testing.assert_array_equal(kernel(*part, threads=threads), whole[:samples])
        flat = whole.reshape(len(whole), -1)
        for size in (1, 5, 16, 100, 1024, 5000):
            count = 0
            if size == 1 and samples > 40:
                continue
            for block in kernel.blocks(*part, size=size):
                assert block.first == count
                count += block.values.shape[1]
                np.testing.assert_array_equal(block.values.T, flat[block.first : count, kernel.places])
            assert count == samples
    for k in (0, 1, 17, 1024):
        row = [x if entry.shared else x[k] for entry, x in zip(kernel.graph.inputs, inputs, strict=True)]
        np.testing.assert_array_equal(kernel.one(*row), whole[k])


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize(("limit", "tile"), [(8, 8), (50, 16), (2000, 16), (2000, 64)])
def test_any_cut_into_lanes_chunks_and_tiles(lanes: int, limit: int, tile: int) -> None:
    for graph in (planar_chain(4), sparse_graph()):
        machine = Machine(object_code(graph, lanes=lanes, limit=limit, tile=tile))
        kernel = Kernel(graph, machine, cpu="", lanes=lanes, origin="compiled", seconds=0.0)
        inputs = draw(graph, 83)
        expected = compile_graph(graph, backend="interpreter")(*inputs)
        np.testing.assert_allclose(kernel(*inputs), expected, rtol=0, atol=chain_tolerance(4))
        for block in kernel.blocks(*inputs, size=30):
            wanted = expected.reshape(83, -1)[block.first : block.first + block.values.shape[1], kernel.places]
            np.testing.assert_allclose(block.values.T, wanted, rtol=0, atol=chain_tolerance(4))


def test_chunks_respect_their_limit_and_never_part_a_sine_from_its_cosine() -> None:
    for limit in (8, 40, 300):
        plan = program(planar_chain(9), limit=limit)
        assert max(len(chunk.steps) for chunk in plan.chunks) <= limit
        assert sum(len(chunk.steps) for chunk in plan.chunks) == sum(n not in ("CONST", "INPUT") for n, _ in plan.steps)
        assert all(plan.steps[chunk.steps[0]][0] != "COS" for chunk in plan.chunks)
        for chunk in plan.chunks:
            assert len({plan.slots[k] for k in chunk.kept}) == len(chunk.kept)
    assert program(planar_chain(9), limit=10**6).slot_count == 0


def test_text_grows_linearly() -> None:
    """The longest function that LLVM sees is bounded, whatever the size of the graph."""
    for links in (8, 30):
        functions = assembly(planar_chain(links), lanes=4).split("define ")
        assert max(text.count("\n") for text in functions) < 4 * 2000 + 1000


def test_structural_zeros_are_neither_computed_nor_stored() -> None:
    kernel = compile_graph(sparse_graph())
    assert list(kernel.places) == [1, 4, 5, 7, 8, 10, 12, 14]
    rows, columns = kernel.indices
    assert list(zip(rows, columns, strict=True))[:3] == [(0, 1), (0, 4), (1, 0)]
    block = next(kernel.blocks(*draw(kernel.graph, 20)))
    assert block.values.shape == (8, 20)
    out = np.full((20, 3, 5), np.nan)
    kernel(*draw(kernel.graph, 20), out=out)
    flat = out.reshape(20, 15)
    assert (np.delete(flat, kernel.places, axis=1) == 0.0).all()
    assert np.isfinite(flat).all()


def test_nothing_is_read_or_written_out_of_bounds() -> None:
    kernel = compile_graph(sparse_graph())
    _, _, p = draw(kernel.graph, 1)
    for samples in range(1, 40):
        guarded = [np.full((samples + 20, size), np.nan) for size in (3, 2)]
        for x in guarded:
            x[10:-10] = 1.0
        out = np.full((samples + 20, 3, 5), 7.0)
        kernel(guarded[0][10:-10], guarded[1][10:-10], p, out=out[10:-10])
        assert (out[:10] == 7.0).all()
        assert (out[-10:] == 7.0).all()
        assert (out[10:-10, 1, 2] == 2.5).all()


def test_out_is_used_and_blocks_reuse_theirs() -> None:
    kernel = compile_graph(planar_chain(2))
    inputs = draw(kernel.graph, 50)
    out = np.empty((50, 2))
    assert kernel(*inputs, out=out) is out
    first, second = list(kernel.blocks(*inputs, size=25))
    assert np.shares_memory(first.values, second.values)


def test_graphs_without_inputs_outputs_or_samples() -> None:
    nothing = trace("nothing", [(Input("x", 2), casadi.SX.sym("x", 2))], np.zeros((2, 3), dtype=object))
    p = casadi.SX.sym("p", 2)
    shared = trace("shared", [(Input("p", 2, shared=True), p)], np.array([p[0] * p[1], 1.0], dtype=object))
    scalar = trace("scalar", [(Input("p", 2), p)], np.array(p[0] * p[1], dtype=object))
    empty = trace("empty", [(Input("none", 0), casadi.SX.sym("none", 0)), (Input("p", 2), p)], np.array([p[0], p[1]]))
    for backend in ("llvm", "interpreter"):
        kernel = compile_graph(nothing, backend=backend)
        assert (kernel(np.ones((4, 2))) == np.zeros((4, 2, 3))).all()
        assert (kernel.one(np.ones(2)) == np.zeros((2, 3))).all()
        assert [block.values.shape for block in kernel.blocks(np.ones((4, 2)), size=3)] == [(0, 3), (0, 1)]
        assert compile_graph(shared, backend=backend)(np.array([2.0, 3.0])).tolist() == [[6.0, 1.0]]
        kernel = compile_graph(scalar, backend=backend)
        assert kernel(np.array([[2.0, 3.0], [4.0, 5.0]])).tolist() == [6.0, 20.0]
        assert kernel.one(np.array([2.0, 3.0])).shape == ()
        kernel = compile_graph(empty, backend=backend)
        assert kernel(np.ones((3, 0)), np.ones((3, 2))).tolist() == [[1.0, 1.0]] * 3
        assert kernel.one(np.ones(0), np.ones(2)).tolist() == [1.0, 1.0]
        assert list(kernel.blocks(np.ones((0, 0)), np.ones((0, 2)))) == []


def test_one_from_several_threads_at_once() -> None:
    kernel = compile_graph(planar_chain(6))
    inputs = draw(kernel.graph, 64)
    expected = kernel(*inputs)
    wrong: list[int] = []

    def work(begin: int) -> None:
        for _ in range(20):
            for k in range(begin, 64, 4):
                found = kernel.one(*(x[k] for x in inputs[:3]), inputs[3])
                wrong.extend([k] * int((found != expected[k]).any()))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_many_samples_take_several_threads_by_themselves() -> None:
    kernel = compile_graph(planar_chain(12))
    inputs = draw(kernel.graph, 200_000)
    np.testing.assert_array_equal(kernel(*inputs), kernel(*inputs, threads=1))


# --- the door ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_wrong_input_is_named(backend: str) -> None:
    kernel = compile_graph(sparse_graph(), backend=backend)
    x, y, p = draw(kernel.graph, 5)

    def refused(match: str, *arrays: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=match):
            kernel(*arrays, **options)

    refused(r"takes 3 arrays \(x, y, p\), not 2", x, y)
    refused(r"input 'x' has shape \(3,\), but needs \(samples, 3\); for a single sample use kernel.one", x[0], y, p)
    refused(r"input 'y' has shape \(5, 3\), but needs \(samples, 2\)", x, x, p)
    refused(r"input 'p' has shape \(5, 2\), but needs \(2,\)", x, y, y)
    refused("input 'y' has 4 samples, but 'x' has 5", x, y[:4], p)
    refused("entries of type complex128", x * 1j, y, p)
    refused("entries of type <U", [["a"] * 3] * 5, y, p)
    refused("not an array of numbers", [[1.0], [1.0, 2.0]], y, p)
    refused("0 threads", x, y, p, threads=0)
    bad = x.copy()
    bad[3, 1], bad[4, 0] = np.nan, np.inf
    refused(r"input 'x' is nan at sample 3, element 1 \(2 such in all\)", bad, y, p)
    refused(r"input 'p' is inf at element 1", x, y, np.array([0.0, np.inf]))
    refused(r"input 'y' is -inf at sample 0", x, np.full((5, 2), -np.inf), p, threads=2)
    swapped = np.empty((5, 5, 3)).swapaxes(1, 2)
    for out in (np.empty((5, 3, 4)), np.empty((5, 3, 5), dtype=np.float32), np.empty((5, 3, 5), dtype=">f8"), swapped):
        refused(r"out .*np.empty\(\(5, 3, 5\)\)", x, y, p, out=out)
    shared = np.zeros(5 * 15 + 20)
    refused("shares memory", shared[:15].reshape(5, 3), y, p, out=shared[:75].reshape(5, 3, 5))
    frozen = np.empty((5, 3, 5))
    frozen.flags.writeable = False
    refused("writable", x, y, p, out=frozen)
    with pytest.raises(InputError, match="blocks of 0 samples"):
        kernel.blocks(x, y, p, size=0)
    with pytest.raises(InputError, match="is nan at sample 3"):
        list(kernel.blocks(bad, y, p, size=2))
    with pytest.raises(InputError, match=r"input 'x' has shape \(5, 3\), but needs \(3,\); for many samples"):
        kernel.one(x, y[0], p)
    with pytest.raises(InputError, match="takes 3 arrays"):
        kernel.one(x[0], y[0])
    with pytest.raises(InputError, match="takes 3 arrays"):
        kernel.one(x[0], y[0], p, p)
    with pytest.raises(InputError, match="input 'x' is nan at element 1"):
        kernel.one(bad[3], y[0], p)
    with pytest.raises(InputError, match=r"input 'x' has shape \(3, 1\)"):
        kernel.one(x[0][:, np.newaxis], y[0], p)
    with pytest.raises(InputError, match=r"input 'x' has shape \(\)"):
        kernel.one(1.0, y[0], p)
    np.testing.assert_array_equal(kernel.one(x[0], y[0], p), kernel(x, y, p)[0])


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_numbers_of_any_kind_are_taken(backend: str) -> None:
    kernel = compile_graph(sparse_graph(), backend=backend)
    x, y, p = ([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, 1]], [2, 3])
    expected = kernel(np.array(x, float), np.array(y, float), np.array(p, float))
    for kind in (np.float32, np.int8, np.uint64, ">f8", "<f8"):
        found = kernel(np.array(x, dtype=kind), np.array(y, dtype=kind), np.array(p, dtype=kind))
        np.testing.assert_array_equal(found, expected)
        one = kernel.one(np.array(x[0], dtype=kind), np.array(y[0], dtype=kind), np.array(p, dtype=kind))
        np.testing.assert_array_equal(one, expected[0])
    np.testing.assert_array_equal(kernel(x, y, p), expected)
    np.testing.assert_array_equal(kernel(np.array(x, float)[::-1], np.array(y, bool)[::-1], p), expected[::-1])
    wide = np.zeros((2, 6))
    wide[:, ::2] = x
    np.testing.assert_array_equal(kernel(wide[:, ::2], np.asfortranarray(np.array(y, float)), p), expected)
    np.testing.assert_array_equal(kernel.one(wide[0, ::2], tuple(y[0]), p), expected[0])
    raw = np.frombuffer(b"\0" + np.array(x, float).tobytes(), dtype=float, offset=1).reshape(2, 3)  # not aligned
    np.testing.assert_array_equal(kernel(raw, y, p), expected)


def test_a_kernel_tells_what_it_is_and_does_not_travel() -> None:
    kernel = compile_graph(planar_chain(3))
    about = kernel.about
    assert (about.backend, about.origin, about.cpu, about.lanes) == ("llvm", "compiled", host().cpu, host().lanes)
    assert about.instructions == kernel.graph.function.n_instructions()
    assert about.digest == kernel.graph.digest
    assert about.seconds > 0
    assert "q, qd, qdd, g" in repr(kernel)
    with pytest.raises(TypeError, match="send kernel"):
        pickle.dumps(kernel)
    with pytest.raises(UnknownNameError, match="did you mean 'llvm'"):
        compile_graph(kernel.graph, backend="lvm")


def test_operations_are_counted_as_the_papers_do() -> None:
    x = casadi.SX.sym("x", 3)
    entries = [x[0] * x[1] + x[2], x[0] ** 2, -x[1], x[1] + x[1], 1 / x[2], casadi.sin(x[0]) - casadi.sqrt(x[1])]
    found = count_operations(trace("count", [(Input("x", 3), x)], np.array(entries, dtype=object)))
    assert (found.multiplications, found.additions, found.divisions) == (2, 3, 1)
    assert (found.negations, found.trigonometric, found.other, found.total) == (1, 1, 1, 9)


def test_import_loads_neither_casadi_nor_llvm() -> None:
    code = "import sys, ytheta.native; print(sorted({'casadi', 'llvmlite'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


# --- the cache --------------------------------------------------------------------------------------------------------


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def origin_and_check(graph: Graph) -> str:
    """Compile in a forgetful process, check the result, and say where the code came from."""
    forget()
    kernel = compile_graph(graph)
    inputs = draw(graph, 9)
    expected = compile_graph(graph, backend="interpreter")(*inputs)
    np.testing.assert_allclose(kernel(*inputs), expected, rtol=0, atol=chain_tolerance(3))
    return kernel.about.origin


def test_cold_warm_and_in_memory(folder: Path) -> None:
    graph = planar_chain(3)
    assert origin_and_check(graph) == "compiled"
    assert compile_graph(graph).about.origin == "memory"
    assert origin_and_check(graph) == "disk"
    assert compile_graph(graph, cache=False).about.origin == "compiled"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert only_file(folder).stat().st_mode & 0o777 == 0o600
    assert origin_and_check(planar_chain(2)) == "compiled"
    assert len(list(folder.iterdir())) == 2


def broken_files() -> dict[str, Callable[[Path], object]]:
    def change(place: int) -> Callable[[Path], object]:
        def at(path: Path) -> None:
            content = bytearray(path.read_bytes())
            content[place] ^= 1
            path.write_bytes(content)

        return at

    return {
        "payload": change(-100),
        "last byte": change(-1),
        "magic": change(0),
        "key": change(20),
        "checksum": change(60),
        "length": change(80),
        "truncated": lambda path: path.write_bytes(path.read_bytes()[:-500]),
        "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
        "header only": lambda path: path.write_bytes(path.read_bytes()[:88]),
        "half a header": lambda path: path.write_bytes(path.read_bytes()[:40]),
        "empty": lambda path: path.write_bytes(b""),
        "foreign": lambda path: path.write_bytes(b"\x7fELF" + b"\0" * 4096),
        "writable by all": lambda path: path.chmod(0o666),
        "writable by the group": lambda path: path.chmod(0o660),
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder: Path) -> None:
    graph = planar_chain(3)
    origin_and_check(graph)
    file = only_file(folder)
    file.unlink()
    os.mkfifo(file)
    assert origin_and_check(graph) == "compiled"


@pytest.mark.parametrize("kind", broken_files())
def test_a_broken_file_is_rebuilt(folder: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    graph = planar_chain(3)
    origin_and_check(graph)
    good = only_file(folder).read_bytes()
    broken_files()[kind](only_file(folder))
    with caplog.at_level(logging.WARNING, "ytheta"):
        assert origin_and_check(graph) == "compiled"
    assert "compiling anew" in caplog.text
    assert only_file(folder).read_bytes() == good
    assert origin_and_check(graph) == "disk"


def test_a_file_of_another_kernel_is_not_taken(folder: Path) -> None:
    graph, other = planar_chain(3), planar_chain(2)
    origin_and_check(graph)
    mine = only_file(folder)
    foreign = mine.read_bytes()
    mine.unlink()
    origin_and_check(other)
    only_file(folder).write_bytes(foreign)
    assert origin_and_check(other) == "compiled"


def test_a_link_or_a_folder_in_place_of_the_file(folder: Path, tmp_path: Path) -> None:
    graph = planar_chain(3)
    origin_and_check(graph)
    file = only_file(folder)
    moved = tmp_path / "elsewhere"
    file.rename(moved)
    file.symlink_to(moved)
    assert origin_and_check(graph) == "compiled"
    file.unlink()
    file.mkdir()
    assert origin_and_check(graph) == "compiled"
    assert [entry.name for entry in folder.iterdir()] == [file.name]  # nothing temporary is left


def test_another_user_s_file_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = planar_chain(3)
    origin_and_check(graph)
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert origin_and_check(graph) == "compiled"
    assert only_file(folder).exists()


def test_without_a_folder_it_works_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path / "file" / "kernels"))
    with caplog.at_level(logging.INFO, "ytheta"):
        assert origin_and_check(planar_chain(3)) == "compiled"
    assert "not kept" in caplog.text
    assert origin_and_check(planar_chain(3)) == "compiled"


def test_a_full_disk_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert origin_and_check(planar_chain(3)) == "compiled"
    assert list(folder.iterdir()) == []


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("YTHETA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "ytheta" / "kernels"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "ytheta" / "kernels"


def test_the_key_covers_graph_and_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache.key("a", "bc") != cache.key("ab", "c")
    about = host()
    changed = [type(about)(**{**vars(about), field: "other"}) for field in ("cpu", "features", "triple", "compiler")]
    prints = {about.fingerprint, *(one.fingerprint for one in changed)}
    assert len(prints) == 5
    monkeypatch.setattr("ytheta.native.codegen.llvm.LIMIT", 77)
    assert about.fingerprint not in prints


def test_processes_that_compile_at_once_do_not_hurt_each_other(folder: Path) -> None:
    code = (
        "import casadi, numpy as np\n"
        "from ytheta.native.graph import Input, trace\n"
        "from ytheta.native import compile_graph\n"
        "x = casadi.SX.sym('x', 40)\n"
        "y = [x[0]]\n"
        "for k in range(1500): y.append(casadi.sin(y[-1]) * x[k % 40] + k)\n"
        "graph = trace('g', [(Input('x', 40), x)], np.array(y[-5:], dtype=object))\n"
        "kernel = compile_graph(graph)\n"
        "print(kernel(np.linspace(0, 1, 400).reshape(10, 40)).tobytes().hex())\n"
    )
    command = [sys.executable, "-c", code]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    answers = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 4, answers
    assert len({output for output, _ in answers}) == 1
    assert only_file(folder).suffix == ".o"


def test_one_can_be_interrupted_by_itself() -> None:
    """A signal handler that calls the same kernel must not change what the interrupted call returns."""
    kernel = ytheta.inverse_dynamics(ytheta.load("ur10"))
    mine, other = np.full(6, 0.3), np.full(6, -0.9)
    wanted = kernel.one(mine, mine, mine)
    calls = 0

    def handler(*_: object) -> None:
        nonlocal calls
        calls += 1
        kernel.one(other, other, other)
        if calls < 300:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)  # once more, but never within itself

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    wrong = tries = 0
    try:
        while calls < 300 and tries < 100_000:
            tries += 1
            wrong += not np.array_equal(kernel.one(mine, mine, mine), wanted)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert calls > 100
    assert wrong == 0
