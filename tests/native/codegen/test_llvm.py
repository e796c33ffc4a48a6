"""Code generation: any number of lanes, chunks and tiles; the fingerprint of the host."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernel_graphs import chain_tolerance, draw_inputs, planar_chain, sparse_graph
from ytheta.native import Kernel, compile_graph
from ytheta.native.codegen.llvm import detect_host, emit_module, emit_object
from ytheta.native.compile import Machine


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize(("max_steps", "tile"), [(8, 8), (50, 16), (2000, 16), (2000, 64)])
def test_any_division_into_lanes_chunks_and_tiles(lanes: int, max_steps: int, tile: int) -> None:
    for graph in (planar_chain(4), sparse_graph()):
        machine = Machine(emit_object(graph, lanes=lanes, max_steps=max_steps, tile=tile))
        kernel = Kernel(graph, machine, cpu="", lanes=lanes, origin="compiled", seconds=0.0)
        inputs = draw_inputs(graph, 83)
        expected = compile_graph(graph, backend="interpreter")(*inputs)
        np.testing.assert_allclose(kernel(*inputs), expected, rtol=0, atol=chain_tolerance(4))
        for block in kernel.blocks(*inputs, size=30):
            expected_block = expected.reshape(83, -1)[block.first : block.first + block.values.shape[1], kernel.places]
            np.testing.assert_allclose(block.values.T, expected_block, rtol=0, atol=chain_tolerance(4))


def test_functions_have_a_bounded_length() -> None:
    """The longest function is bounded for graphs of any size."""
    for links in (8, 30):
        functions = emit_module(planar_chain(links), lanes=4).split("define ")
        assert max(text.count("\n") for text in functions) < 4 * 2000 + 1000


def test_the_fingerprint_covers_the_processor_and_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    host = detect_host()
    changed = [type(host)(**{**vars(host), field: "other"}) for field in ("cpu", "features", "triple", "compiler")]
    fingerprints = {host.fingerprint, *(other.fingerprint for other in changed)}
    assert len(fingerprints) == 5
    monkeypatch.setattr("ytheta.native.codegen.llvm.MAX_CHUNK_STEPS", 77)
    assert host.fingerprint not in fingerprints
