"""A kernel as a table and as plain data."""

from __future__ import annotations

import json

import casadi
import numpy as np

import ytheta as yt
from tests.support.kernel_graphs import sparse_graph
from ytheta.native import compile_graph
from ytheta.native.graph import Input, trace


def test_the_table_shows_the_interface_and_the_code() -> None:
    kernel = compile_graph(sparse_graph(), cache=False)
    about, lines = kernel.about, [line.strip() for line in str(kernel).splitlines()]
    rows = dict(line.split(None, 1) for line in lines if " " in line and not line.startswith("input"))
    inputs = [line.split(None, 2)[1:] for line in lines if line.startswith("input")]
    assert rows["kernel"] == "sparse"
    assert inputs == [["x", "(samples, 3)"], ["y", "(samples, 2)"], ["p", "(2,), the same for all samples"]]
    assert rows["output"] == "(samples, 3, 5), 8 structural nonzeros of 15 entries"
    assert f"{about.operations.multiplications} multiplications" in rows["operations"]
    assert f"{about.operations.trigonometric} trigonometric functions" in rows["operations"]
    assert "negations" not in rows["operations"]
    assert rows["backend"] == f"llvm for {about.cpu}, {about.lanes} samples at a time"
    assert rows["origin"].startswith("compiled now")
    assert about.digest.startswith(rows["digest"])
    assert "cache on disk" not in str(compile_graph(sparse_graph(), backend="interpreter"))


def test_the_data_are_those_of_the_kernel() -> None:
    kernel = compile_graph(sparse_graph())
    data = kernel.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["inputs"][2] == {"name": "p", "size": 2, "shared": True}
    assert (data["shape"], data["nonzeros"]) == ([3, 5], 8)
    assert data["operations"]["total"] == kernel.about.operations.total
    assert (data["origin"], data["digest"]) == (kernel.about.origin, kernel.about.digest)
    assert data["instructions"] == kernel.graph.instructions


def test_names_are_not_markup() -> None:
    x = casadi.SX.sym("x", 1)
    graph = trace("[red]name", [(Input("[b]x", 1), x)], np.array(x[0], dtype=object), made_from="[link=a]\x1bfile")
    text = str(compile_graph(graph, backend="interpreter"))
    assert "[link=a]\\x1bfile" in text
    assert "input [b]x" in text


def test_a_kernel_of_a_robot_with_loops_shows_the_actuated_coordinates() -> None:
    kernel = yt.regressor(yt.load("five-bar"))
    assert "regressor of five-bar" in str(kernel)
    assert [entry["name"] for entry in kernel.to_dict()["inputs"]] == ["q", "qd", "qdd"]
    assert kernel.to_dict()["inputs"][0]["size"] == 2
