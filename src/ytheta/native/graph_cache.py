"""The cache of graphs: traced computations are found again, in this process or in the cache on disk.

Payload    one line of JSON (name, inputs, shape, places, made_from, instructions), then the text of the function
Trust      see ``native.cache``: CasADi parses only texts that this user's processes have stored, checksum included
"""

from __future__ import annotations

import json

from ytheta.native import cache as disk
from ytheta.native.graph import Graph, Input, SerializedFunction
from ytheta.native.recent import RecentValues

_graphs: RecentValues[Graph] = RecentValues(kept=64)


def find_graph(key: bytes) -> Graph | None:
    """Return the graph stored under a key, in the memory of this process or on disk, or None."""
    graph = _graphs.find(key)
    if graph is None:
        payload = disk.read(key, disk.GRAPH)
        graph = None if payload is None else decode_graph(payload)
        if graph is not None:
            _graphs.store(key, graph)
    return graph


def store_graph(key: bytes, graph: Graph) -> None:
    """Store a graph in the memory of this process and on disk."""
    _graphs.store(key, graph)
    disk.write(key, encode_graph(graph), disk.GRAPH)


def encode_graph(graph: Graph) -> bytes:
    """Return the payload of a graph."""
    layout = {
        "name": graph.name,
        "inputs": [[entry.name, entry.size, entry.shared] for entry in graph.inputs],
        "shape": graph.shape,
        "places": graph.places,
        "made_from": graph.made_from,
        "instructions": graph.serialized.instructions,
    }
    return json.dumps(layout).encode() + b"\n" + graph.serialized.text.encode()


def decode_graph(payload: bytes) -> Graph | None:
    """Return the graph of a payload, or None if it has another layout. The function is restored when first used."""
    line, _, text = payload.partition(b"\n")
    try:
        layout = json.loads(line)
        return Graph(
            layout["name"],
            tuple(Input(*entry) for entry in layout["inputs"]),
            tuple(layout["shape"]),
            tuple(layout["places"]),
            SerializedFunction(text.decode(), layout["instructions"]),
            layout["made_from"],
        )
    except (ValueError, LookupError, TypeError):
        return None
