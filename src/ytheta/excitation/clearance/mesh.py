"""Triangles of mesh files, read by trimesh: STL, OBJ, PLY, OFF, and DAE with pycollada."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from ytheta.errors import InputError, MissingExtraError
from ytheta.files.bounded import read_small_file
from ytheta.shapes import Float

MAX_MESH_SIZE = 256 * 1024 * 1024  # bytes
EXTENSIONS = ("stl", "obj", "ply", "off", "dae")


def read_triangles(path: Path) -> Float[np.ndarray, "triangles 3 3"]:
    """Return the corners of all triangles in a mesh file, without a scale. InputError if it cannot be read."""
    extension = path.suffix.lower().removeprefix(".")
    if extension not in EXTENSIONS:
        raise InputError(f"{path.name} is not a mesh that can be read; convert it to one of {', '.join(EXTENSIONS)}")
    content = read_small_file(path, "a mesh", max_size=MAX_MESH_SIZE)
    try:
        import trimesh

        if extension == "dae":
            import collada  # noqa: F401  # trimesh needs it for this format
    except ImportError:
        raise MissingExtraError(
            "meshes are read by trimesh (.dae also by pycollada), which is not installed; install it with: "
            "pip install 'ytheta[collision]'"
        ) from None
    try:
        # From memory, so that materials and textures, to which a file may refer, are not opened.
        scene = trimesh.load_scene(io.BytesIO(content), file_type=extension)
        triangles = np.array(scene.to_mesh().triangles, dtype=float)
    except Exception as error:  # the readers of trimesh raise errors of many kinds for faulty files
        raise InputError(f"{path.name} cannot be read as a mesh: {error}; export it again") from None
    if not len(triangles) or not np.isfinite(triangles).all():
        raise InputError(f"{path.name} contains no triangles, or corners that are not finite; export it again")
    return triangles
