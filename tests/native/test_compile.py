"""Compilation: machine code against the interpreter, and the facts about a kernel."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from tests.support.kernel_cache import forget_machines
from tests.support.kernel_graphs import EPS, chain_tolerance, draw_inputs, elementwise, planar_chain, sparse_graph
from ytheta.errors import UnknownNameError
from ytheta.native import compile_graph
from ytheta.native.codegen.llvm import detect_host


@pytest.mark.parametrize("links", [1, 2, 3, 6, 12, 30])
def test_chain_equals_interpreter(links: int) -> None:
    graph = planar_chain(links)
    inputs = draw_inputs(graph, 37)
    expected = compile_graph(graph, backend="interpreter")(*inputs)
    np.testing.assert_allclose(compile_graph(graph)(*inputs), expected, rtol=0, atol=chain_tolerance(links))


def test_interpreter_equals_numpy() -> None:
    graph = sparse_graph()
    x, y, p = draw_inputs(graph, 5)
    expected = np.zeros((5, 3, 5))
    expected[:, 0, 1], expected[:, 0, 4] = x[:, 0] * y[:, 1] + p[0], np.sin(x[:, 1])
    expected[:, 1, 0], expected[:, 1, 2], expected[:, 1, 3] = x[:, 2], 2.5, np.sin(x[:, 1])
    expected[:, 2, 0], expected[:, 2, 2] = p[1], x[:, 0] - y[:, 0]
    expected[:, 2, 4] = np.cos(x[:, 1]) / (2 + x[:, 2] ** 2)
    for backend in ("interpreter", "llvm"):
        np.testing.assert_allclose(compile_graph(graph, backend=backend)(x, y, p), expected, rtol=4 * EPS, atol=8 * EPS)


def test_a_changed_constant_changes_result_and_digest() -> None:
    graph, changed = elementwise(lambda x: 1.5 * x), elementwise(lambda x: (1.5 + EPS) * x)
    x = draw_inputs(graph, 4)
    assert compile_graph(graph).about.digest != compile_graph(changed).about.digest
    assert (compile_graph(graph)(*x) != compile_graph(changed)(*x)).any()


def test_a_kernel_describes_itself_and_cannot_be_pickled() -> None:
    kernel = compile_graph(planar_chain(3))
    about = kernel.about
    host = detect_host()
    assert (about.backend, about.origin, about.cpu, about.lanes) == ("llvm", "compiled", host.cpu, host.lanes)
    assert about.instructions == kernel.graph.function.n_instructions()
    assert about.digest == kernel.graph.digest
    assert about.seconds > 0
    assert "q, qd, qdd, g" in repr(kernel)
    with pytest.raises(TypeError, match="send kernel"):
        pickle.dumps(kernel)
    with pytest.raises(UnknownNameError, match="did you mean 'llvm'"):
        compile_graph(kernel.graph, backend="lvm")


def test_code_of_other_sources_is_not_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of machine code covers all sources of this package, those of the code generator included."""

    def compile_with(fingerprint: str | None) -> str:
        monkeypatch.setattr("ytheta.native.compile.fingerprint_sources", lambda *_: fingerprint)
        forget_machines()
        return compile_graph(planar_chain(2)).about.origin

    names: list[tuple[str, ...]] = []
    monkeypatch.setattr("ytheta.native.compile.fingerprint_sources", lambda *given: names.append(given))
    compile_graph(planar_chain(1))
    assert names == [("native",)]
    origins = [compile_with(fingerprint) for fingerprint in ("a", "a", "b", "b", None, None)]
    assert origins == ["compiled", "disk", "compiled", "disk", "compiled", "compiled"]


def test_import_loads_neither_casadi_nor_llvm() -> None:
    code = "import sys, ytheta.native; print(sorted({'casadi', 'llvmlite'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
