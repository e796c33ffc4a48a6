"""The cache of graphs: a stored graph is the traced one, its function is restored late, damaged files are replaced."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.kernel_cache import forget_graphs, forget_machines
from tests.support.kernel_graphs import draw_inputs, planar_chain, sparse_graph
from ytheta.native import compile_graph, count_operations
from ytheta.native.cache import decode_graph, encode_graph, find_graph, make_cache_path, store_graph
from ytheta.native.graph import Graph, SerializedFunction

KEY = b"k" * 32


def restore(graph: Graph) -> Graph:
    """Store a graph and read it again, as another process would."""
    store_graph(KEY, graph)
    forget_graphs()
    found = find_graph(KEY)
    assert found is not None
    assert isinstance(found.source, SerializedFunction)
    return found


@pytest.mark.parametrize("graph", [planar_chain(3), sparse_graph()], ids=["chain", "sparse"])
def test_a_stored_graph_equals_the_traced_one(graph: Graph) -> None:
    restored = restore(graph)
    assert (restored.name, restored.inputs, restored.shape) == (graph.name, graph.inputs, graph.shape)
    assert (restored.places, restored.made_from) == (graph.places, graph.made_from)
    assert (restored.instructions, restored.digest) == (graph.instructions, graph.digest)
    assert count_operations(restored) == count_operations(graph)
    assert restored.function.serialize() == graph.function.serialize()
    inputs = draw_inputs(graph, 7)
    for backend in ("interpreter", "llvm"):
        for cache in (True, False):
            forget_machines()
            expected = compile_graph(graph, backend=backend, cache=cache)(*inputs)
            forget_machines()
            assert compile_graph(restored, backend=backend, cache=cache)(*inputs).tobytes() == expected.tobytes()


def test_a_kernel_from_the_disk_restores_no_function() -> None:
    graph = planar_chain(3)
    compile_graph(graph)
    forget_machines()
    restored = restore(graph)
    kernel = compile_graph(restored)
    inputs = draw_inputs(graph, 7)
    kernel(*inputs)
    kernel.one(*(x if entry.shared else x[0] for entry, x in zip(graph.inputs, inputs, strict=True)))
    assert "restored" not in vars(restored.source)
    assert kernel.about.operations == count_operations(graph)  # now it is needed
    assert "restored" in vars(restored.source)


def test_a_graph_is_found_in_memory_and_on_disk() -> None:
    graph = planar_chain(2)
    assert find_graph(KEY) is None
    store_graph(KEY, graph)
    assert find_graph(KEY) is graph
    forget_graphs()
    from_disk = find_graph(KEY)
    assert from_disk is not graph
    assert from_disk is not None
    assert from_disk.digest == graph.digest
    assert find_graph(b"K" * 32) is None


@pytest.mark.parametrize("damage", ["flipped", "truncated", "empty", "writable by all"])
def test_a_damaged_graph_counts_as_missing(cache_folder: Path, damage: str) -> None:
    store_graph(KEY, planar_chain(2))
    forget_graphs()
    path = make_cache_path(KEY, "graph")
    assert path.parent == cache_folder
    content = path.read_bytes()
    changed = {"flipped": content[:-9] + b"#" + content[-8:], "truncated": content[:-9], "empty": b""}
    path.write_bytes(changed.get(damage, content))
    if damage == "writable by all":
        path.chmod(0o666)
    assert find_graph(KEY) is None
    store_graph(KEY, planar_chain(2))
    forget_graphs()
    assert find_graph(KEY) is not None
    assert path.read_bytes() == content


@pytest.mark.parametrize("payload", [b"", b"{}\n", b"[]\ntext", b"\xff\n", b'{"name": "g"}\n', b"no line"])
def test_a_payload_of_another_layout_counts_as_missing(payload: bytes) -> None:
    """Files whose checksum is right but whose content is not, such as those of another version."""
    assert decode_graph(payload) is None
    assert decode_graph(encode_graph(planar_chain(2))) is not None


def test_a_restored_graph_can_be_pickled() -> None:
    graph = restore(planar_chain(3))
    for _ in range(2):  # before and after the function is restored
        copy = pickle.loads(pickle.dumps(graph))
        assert copy.digest == graph.digest
        inputs = draw_inputs(graph, 3)
        np.testing.assert_array_equal(
            compile_graph(copy, backend="interpreter")(*inputs), compile_graph(graph, backend="interpreter")(*inputs)
        )


def test_a_stored_kernel_needs_no_casadi(cache_folder: Path) -> None:
    graph = planar_chain(3)
    compile_graph(graph)
    store_graph(KEY, graph)
    code = (
        "import sys, numpy as np\n"
        "from ytheta.native import compile_graph\n"
        "from ytheta.native.cache import find_graph\n"
        "kernel = compile_graph(find_graph(b'k' * 32))\n"
        "kernel(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)), np.ones(1))\n"
        "print('casadi' in sys.modules, kernel._made[2])\n"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "disk"]
    assert len(list(cache_folder.iterdir())) == 2
