"""Inertias of geoms with meshes, computed by MuJoCo's own compiler; files are opened within the robot's folder.

In files of older versions, a geom with a mesh can have ``shellinertia``, which is now a property of the mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from ytheta.errors import suggest_names
from ytheta.files.bounded import is_file, resolve_reference
from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.attributes import ORIENTATIONS, Compiler, Defaults, read_flag
from ytheta.robot.reading.mjcf.bodies import identify_element
from ytheta.robot.reading.mjcf.document import list_references, locate_asset, merge_sections
from ytheta.robot.reading.solids import MASSLESS, BodyInertia, MeshModel

_MESH_KEYS = (
    *("vertex", "normal", "face", "refpos", "refquat", "scale", "smoothnormal", "maxhullvert", "inertia"),
    *("builtin", "params", "content_type"),
)
_GEOM_KEYS = ("type", "mass", "density", "shellinertia", "pos", "size", "fitscale", *ORIENTATIONS)

MeshInertias: TypeAlias = Mapping[tuple[str, int], BodyInertia]


@dataclass(frozen=True)
class MeasuredMeshes:
    """Inertias of geoms, see ``identify_element``, and the missing files of those that are taken as massless."""

    inertias: MeshInertias
    missing_files: Mapping[tuple[str, int], str]


def measure_meshes(
    geoms: Iterable[Node],
    root: Node,
    path: Path,
    compiler: Compiler,
    defaults: Defaults,
    allow_paths: Sequence[Path] = (),
) -> MeasuredMeshes:
    """Return the inertia of every geom in the axes of its body, without the ``<frame>`` elements around it."""
    unique = {identify_element(geom): geom for geom in geoms}
    assets = _MeshAssets(root, path, compiler, defaults, allow_paths)
    labels = {key: assets.find(geom) for key, geom in unique.items()}
    missing_files = {key: assets.get_file(unique[key]) for key, label in labels.items() if label is None}
    missing = dict.fromkeys(missing_files, MASSLESS)
    present = [key for key, label in labels.items() if label is not None]
    if not present:
        return MeasuredMeshes(missing, missing_files)
    settings = {
        "angle": "degree" if compiler.degrees else "radian",
        "eulerseq": compiler.eulerseq,
        "fitaabb": str(compiler.fitaabb).lower(),
    }
    attributes = [_list_attributes(unique[key], label) for key, label in labels.items() if label is not None]
    inertias = assets.model.measure(attributes, unique[present[0]], settings=settings)
    return MeasuredMeshes(missing | dict(zip(present, inertias, strict=True)), missing_files)


class _MeshAssets:
    """The meshes of a file, of which ``model`` contains those that were found."""

    def __init__(
        self, root: Node, path: Path, compiler: Compiler, defaults: Defaults, allow_paths: Sequence[Path]
    ) -> None:
        self.path, self.compiler, self.allow_paths = path, compiler, allow_paths
        nodes = (defaults.apply(node, "mesh") for node in merge_sections(root, "asset").all("mesh"))
        self.nodes = {_find_name(node): node for node in nodes}
        self.model = MeshModel()

    def find(self, geom: Node) -> str | None:
        """Return the label of the mesh of a geom in ``model``; None if its file does not exist."""
        name = geom.text("mesh")
        if name not in self.nodes:
            raise geom.error(f"there is no mesh {name!r} in <asset>{suggest_names(name, self.nodes)}")
        is_shell = _has_own_shape(geom) and read_flag(geom, "shellinertia", default=False)
        label = f"{'shell' if is_shell else 'mesh'}{list(self.nodes).index(name)}"
        if label not in self.model:
            node = self.nodes[name]
            if node.children:
                raise node.error("the mesh needs a plugin, so its inertia is unknown; give its bodies an <inertial>")
            attributes = {key: node.attributes[key] for key in _MESH_KEYS if key in node.attributes}
            attributes |= {"inertia": "shell"} if is_shell else {}
            file = self._locate(node) if node.get("file", "") else None
            if node.get("file", "") and (file is None or not is_file(file)):
                return None
            self.model.add(label, attributes, file, node)
        return label

    def get_file(self, geom: Node) -> str:
        """Return the file of the mesh of a geom, as it is written in the description."""
        return self.nodes[geom.text("mesh")].text("file")

    def _locate(self, node: Node) -> Path | None:
        """Return the path of the file of a mesh; None if it is a ``package://`` reference, which nobody resolved."""
        file = locate_asset(node, "file", self.path, self.compiler, self.allow_paths)
        if file is None:
            reference = list_references(node, "file", self.path, self.compiler)[0]
            file = resolve_reference(reference, self.path, node.where, self.allow_paths)  # raises, if it is a path
        return file


def _find_name(node: Node) -> str:
    return node.get("name", "") or PurePosixPath(node.get("file", "").replace("\\", "/")).stem


def _has_own_shape(geom: Node) -> bool:
    """Whether the geom is the mesh, not a primitive that is fitted to it."""
    return geom.get("type", "sphere") in ("mesh", "sdf")


def _list_attributes(geom: Node, mesh: str) -> dict[str, str]:
    """Return the attributes of a geom on which its inertia depends; ``mesh`` is the label of its mesh."""
    keys = [key for key in _GEOM_KEYS if key != "shellinertia" or not _has_own_shape(geom)]
    return {**{key: geom.attributes[key] for key in keys if key in geom.attributes}, "mesh": mesh}
