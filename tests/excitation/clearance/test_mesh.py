"""Mesh files that cannot be read, and the optional library."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import trimesh

from ytheta.errors import InputError, MissingExtraError
from ytheta.excitation.clearance.link_capsules import read_triangles


def test_the_triangles_are_those_of_the_file(tmp_path: Path) -> None:
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    box.export(tmp_path / "box.stl")
    triangles = read_triangles(tmp_path / "box.stl")
    assert triangles.shape == (12, 3, 3)
    assert triangles.reshape(-1, 3).max(axis=0) == pytest.approx([0.5, 1.0, 1.5])


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trimesh.creation.box((1.0, 2.0, 3.0)).export(tmp_path / "box.stl")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[collision\]'"):
        read_triangles(tmp_path / "box.stl")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.msh", b"x", "a.msh is not a mesh that can be read; convert it to one of stl"),
        ("a.dae", b"<COLLADA/>", "a.dae cannot be read as a mesh|a.dae contains no triangles"),
        ("a.obj", b"v 0 0 0\n", "a.obj cannot be read as a mesh|a.obj contains no triangles"),
        ("a.stl", b"", "a.stl is empty"),
    ],
)
def test_files_that_are_not_meshes(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_triangles(tmp_path / name)
