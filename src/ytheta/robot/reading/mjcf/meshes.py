"""Inertias of geoms with meshes, computed by MuJoCo's own compiler.

MuJoCo compiles a small model that contains only these geoms, each in a body of its own, and their meshes. The mesh
files are read here, within the limits of the robot's folder and of their size, and given to MuJoCo in memory.

In files of older versions, a geom with a mesh can have ``shellinertia``, which is now a property of the mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

import numpy as np

from ytheta.errors import InputError, MissingExtraError, suggest_names
from ytheta.files.bounded import read_small_file, resolve_reference
from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.attributes import ORIENTATIONS, Compiler, Defaults, read_flag
from ytheta.robot.reading.mjcf.bodies import MASSLESS, BodyInertia, identify_element
from ytheta.robot.reading.mjcf.document import is_file, list_references, locate_asset, merge_sections

MAX_MESH_SIZE = 64 * 1024 * 1024  # bytes of one file
MAX_TOTAL_SIZE = 512 * 1024 * 1024  # bytes of all mesh files of a robot
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
    elements = [_format_geom(unique[key], label) for key, label in labels.items() if label is not None]
    if not elements:
        return MeasuredMeshes(missing, missing_files)
    angle = "degree" if compiler.degrees else "radian"
    text = (
        f'<mujoco><compiler angle="{angle}" eulerseq="{compiler.eulerseq}" inertiafromgeom="true" fusestatic="false" '
        f'fitaabb="{str(compiler.fitaabb).lower()}"/>'
        f"<asset>{''.join(assets.elements.values())}</asset>"
        f"<worldbody>{''.join(f'<body>{element}</body>' for element in elements)}</worldbody></mujoco>"
    )
    present = [key for key, label in labels.items() if label is not None]
    measured = dict(zip(present, _compile(text, assets.files, unique[present[0]]), strict=True))
    return MeasuredMeshes(missing | measured, missing_files)


class _MeshAssets:
    """The meshes of a file, as elements of the small model and as the content of their files."""

    def __init__(
        self, root: Node, path: Path, compiler: Compiler, defaults: Defaults, allow_paths: Sequence[Path]
    ) -> None:
        self.path, self.compiler, self.allow_paths = path, compiler, allow_paths
        nodes = (defaults.apply(node, "mesh") for node in merge_sections(root, "asset").all("mesh"))
        self.nodes = {_find_name(node): node for node in nodes}
        self.elements: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.size = 0

    def find(self, geom: Node) -> str | None:
        """Return the name of the mesh of a geom in the small model; None if its file does not exist."""
        name = geom.text("mesh")
        if name not in self.nodes:
            raise geom.error(f"there is no mesh {name!r} in <asset>{suggest_names(name, self.nodes)}")
        is_shell = _has_own_shape(geom) and read_flag(geom, "shellinertia", default=False)
        label = f"{'shell' if is_shell else 'mesh'}{list(self.nodes).index(name)}"
        if label not in self.elements:
            node = self.nodes[name]
            if node.children:
                raise node.error("the mesh needs a plugin, so its inertia is unknown; give its bodies an <inertial>")
            attributes = {key: node.attributes[key] for key in _MESH_KEYS if key in node.attributes}
            attributes |= {"inertia": "shell"} if is_shell else {}
            if node.get("file", ""):
                file = self._locate(node)
                if file is None or not is_file(file):
                    return None
                attributes["file"] = self._read_file(file, node, label)
            self.elements[label] = _format_element("mesh", {"name": label, **attributes})
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

    def _read_file(self, file: Path, node: Node, label: str) -> str:
        try:
            content = read_small_file(file, "a mesh", max_size=MAX_MESH_SIZE)
        except InputError as error:
            raise node.error(f"the inertia of a body depends on this mesh: {error}") from None
        self.size += len(content)
        if self.size > MAX_TOTAL_SIZE:
            raise node.error(
                f"the meshes have more than {MAX_TOTAL_SIZE / 1e6:.0f} MB; give the bodies an <inertial> instead"
            )
        name = f"{label}{file.suffix}"
        self.files[name] = content
        return name


def _find_name(node: Node) -> str:
    return node.get("name", "") or PurePosixPath(node.get("file", "").replace("\\", "/")).stem


def _has_own_shape(geom: Node) -> bool:
    """Whether the geom is the mesh, not a primitive that is fitted to it."""
    return geom.get("type", "sphere") in ("mesh", "sdf")


def _format_geom(geom: Node, mesh: str) -> str:
    keys = [key for key in _GEOM_KEYS if key != "shellinertia" or not _has_own_shape(geom)]
    attributes = {key: geom.attributes[key] for key in keys if key in geom.attributes}
    return _format_element("geom", {**attributes, "mesh": mesh, "contype": "0", "conaffinity": "0"})


def _format_element(tag: str, attributes: Mapping[str, str]) -> str:
    return f"<{tag} {' '.join(f'{key}={quoteattr(value)}' for key, value in attributes.items())}/>"


def _compile(text: str, files: dict[str, bytes], place: Node) -> list[BodyInertia]:
    """Compile the small model with MuJoCo and return the inertias of its bodies."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError(
            "the inertia of a body depends on a mesh, which MuJoCo measures, but MuJoCo is not installed; install it "
            "with: pip install 'ytheta[mujoco]'"
        ) from None
    try:
        model = mujoco.MjModel.from_xml_string(text, files)
    except Exception as error:  # MuJoCo raises ValueError and errors of its own for faulty meshes
        reason = " ".join(str(error).split())
        raise place.error(
            f"MuJoCo cannot measure the meshes of the file: {reason[:200]}; repair the mesh, or give the body an "
            "<inertial>"
        ) from None
    inertias: list[BodyInertia] = []
    for k in range(1, model.nbody):
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, model.body_iquat[k])
        turn = matrix.reshape(3, 3)
        tensor = turn @ np.diag(model.body_inertia[k]) @ turn.T
        inertias.append(BodyInertia(float(model.body_mass[k]), model.body_ipos[k].copy(), tensor))
    return inertias
