"""Statements of a graph in C against CasADi, for all operations, for few variables and for graphs in several parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from tests.support.c_code import Library, load_library
from ytheta.dynamics.graphs import inverse_dynamics_graph, regressor_graph
from ytheta.errors import InputError
from ytheta.exporting.c.definitions import DOUBLE, Definition, Style, define, describe_operations, emit_body
from ytheta.exporting.c.trigonometry import emit_sine_cosine
from ytheta.exporting.functions import RobotFunction
from ytheta.native.graph import Graph, Input, count_operations, trace
from ytheta.robot.reading.load import load

STYLE = Style("p", DOUBLE)


def make_function(graph: Graph) -> RobotFunction:
    return RobotFunction("f", graph, "out", "test")


def build(folder: Path, definition: Definition) -> Library:
    text = "#include <math.h>\n#include <stdint.h>\n#define P_PAD(n) (n)\n"
    sine = emit_sine_cosine("p", DOUBLE, trigonometry="own") if definition.body.sine_pairs else ""
    (folder / "p.c").write_text(f"{text}{sine}{definition.declaration};\n{definition.format()}")
    return load_library(folder, "p")


def trace_operations() -> Graph:
    """All operations of the graphs of control laws and robots, and nested sines."""
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    x = casadi.vertcat(a, b)
    outputs: list[Any] = [
        a + b, a - b, a * b, a / b, -a, a * a, a + a, 1 / b, casadi.fabs(a), casadi.fmin(a, b), casadi.fmax(a, b),
        casadi.sign(a), casadi.if_else(a < b, a, b), a < b, a <= b, casadi.eq(a, b), casadi.ne(a, b),
        casadi.logic_not(a < b), casadi.logic_and(a < b, a < 0), casadi.logic_or(a < b, a < 0),
        casadi.sqrt(casadi.fabs(a)), casadi.exp(a), casadi.sin(a), casadi.cos(a + b), casadi.sin(casadi.cos(a) + b),
        casadi.sin(casadi.sin(casadi.cos(a))), casadi.atan2(a, b), casadi.tanh(a), casadi.floor(a), a, 0, 2.5, 0, 0, 0,
    ]  # fmt: skip
    return trace("operations", [(Input("x", 2), x)], np.array([casadi.SX(each) for each in outputs], dtype=object))


def evaluate(graph: Graph, *inputs: np.ndarray) -> np.ndarray:
    result = np.zeros(graph.size)
    result[list(graph.places)] = np.asarray(graph.function(*inputs)).ravel()
    return result


def test_every_operation_computes_what_casadi_computes(tmp_path: Path) -> None:
    graph = trace_operations()
    library = build(tmp_path, define(make_function(graph), STYLE))
    for a, b in ((0.3, 1.7), (-2.2, 0.9), (1.1, 1.1), (0.0, -3.0), (5.5, -0.25)):
        x = np.array([a, b])
        computed, expected = library.compute("f", graph.shape, x), evaluate(graph, x)
        np.testing.assert_allclose(computed, expected, rtol=1e-15, atol=1e-15)
        assert not np.allclose(computed, evaluate(graph, x + 0.01), rtol=1e-15, atol=1e-15)


def test_limits_do_not_hide_nan(tmp_path: Path) -> None:
    a = casadi.SX.sym("a")
    clipped = casadi.fmin(casadi.fmax(a, -2.0), 2.0)
    graph = trace("clip", [(Input("x", 1), a)], np.array([clipped], dtype=object))
    library = build(tmp_path, define(make_function(graph), STYLE))
    assert library.compute("f", (1,), np.array([3.0])) == 2.0
    assert np.isnan(library.compute("f", (1,), np.array([np.nan])))


@pytest.mark.parametrize("max_steps", [12, 40, 10_000])
def test_parts_compute_what_one_function_computes(max_steps: int, tmp_path: Path) -> None:
    graph = regressor_graph(load("lu-two-link"))
    function = make_function(graph)
    body = emit_body(graph, DOUBLE, prefix="p", output="out", max_steps=max_steps)
    assert (len(body.parts) == 1) == (max_steps == 10_000)
    library = build(tmp_path, Definition(STYLE, function, body, count_operations(graph)))
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-1, 1, entry.size) for entry in graph.inputs]
    computed = library.compute("f", (graph.size,), *inputs)
    np.testing.assert_allclose(computed, evaluate(graph, *inputs), rtol=0, atol=1e-14)


def count_written_operations(text: str) -> dict[str, int]:
    """Count the operators of the statements, one per statement."""
    statements = [line.strip().split(" = ")[1] for line in text.splitlines() if re.match(r" *a\d+ = ", line)]
    operand = r"(?:\(-[\d.e+-]+\)|[\w.\[\]]+(?:e[+-]\d+)?)"
    return {
        "multiplications": sum(bool(re.fullmatch(rf"{operand} \* {operand};", each)) for each in statements),
        "additions": sum(bool(re.fullmatch(rf"{operand} [+-] {operand};", each)) for each in statements),
        "divisions": sum(bool(re.fullmatch(rf"{operand} / {operand};", each)) for each in statements),
        "negations": sum(bool(re.fullmatch(rf"-{operand};", each)) for each in statements),
    }


@pytest.mark.parametrize("name", ["ur10", "ha-scara"])
def test_the_comment_states_the_operations_of_the_code(name: str) -> None:
    definition = define(make_function(inverse_dynamics_graph(load(name))), STYLE)
    text = definition.format()
    operations = count_operations(definition.function.graph)
    written = count_written_operations(text)
    assert written == {name: getattr(operations, name) for name in written}
    assert f"/* operations: {operations.multiplications} multiplications, {operations.additions} additions" in text
    shorter = re.sub(r"\n *a\d+ = \w+\[\d+\] \* \w+\[\d+\];", "", text, count=1)
    assert count_written_operations(shorter) != written
    assert f"{operations.trigonometric} trigonometric" in describe_operations(operations)


def test_variables_are_used_again() -> None:
    graph = inverse_dynamics_graph(load("ur10"))
    body = emit_body(graph, DOUBLE, prefix="p", output="out")
    variables = {name for line in body.parts[0].lines for name in re.findall(r"\ba\d+\b", line)}
    assert len(variables) < 0.15 * count_operations(graph).total


def test_an_unknown_operation_is_refused() -> None:
    a = casadi.SX.sym("a")
    graph = trace("unknown", [(Input("x", 1), a)], np.array([casadi.erfinv(a)], dtype=object))
    with pytest.raises(InputError, match="ERFINV, which the export to C does not support"):
        emit_body(graph, DOUBLE, prefix="p", output="out")
