"""Programs: the graphs that they accept, and the division into chunks."""

from __future__ import annotations

import casadi
import pytest

from tests.support.kernel_graphs import planar_chain
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.native.codegen.program import build_program
from ytheta.native.graph import Graph, Input


def test_functions_that_are_not_lists_of_scalar_operations_are_refused() -> None:
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


def test_chunks_respect_their_limit_and_never_separate_a_sine_from_its_cosine() -> None:
    for max_steps in (8, 40, 300):
        program = build_program(planar_chain(9), max_steps=max_steps)
        assert max(len(chunk.steps) for chunk in program.chunks) <= max_steps
        computing = sum(name not in ("CONST", "INPUT") for name, _ in program.steps)
        assert sum(len(chunk.steps) for chunk in program.chunks) == computing
        assert all(program.steps[chunk.steps[0]][0] != "COS" for chunk in program.chunks)
        for chunk in program.chunks:
            assert len({program.slots[k] for k in chunk.kept}) == len(chunk.kept)
    assert build_program(planar_chain(9), max_steps=10**6).slot_count == 0
