"""One MJCF document from its pieces: includes inserted, repeated sections joined, paths of assets checked.

An included file is looked for in the folder of the main file, then in that of the file that includes it, as MuJoCo
does; its root element disappears. A file is included once at most, so includes cannot run in a circle.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ytheta.files.bounded import read_bytes, resolve_reference
from ytheta.files.xml_document import DEEPEST, Node, parse_xml
from ytheta.robot.reading.mjcf.compiler import Compiler

_ASSET_FILES = {
    "mesh": ("file",),
    "hfield": ("file",),
    "skin": ("file",),
    "model": ("file",),
    "texture": ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"),
}


@dataclass
class _Open:
    """An element whose children are being gone through."""

    node: Node
    included: bool
    rest: Iterator[Node]
    done: list[Node]


def with_includes(root: Node, path: Path) -> Node:
    """The document with every ``<include>`` replaced by the content of its file."""
    seen = {path.resolve()}
    around = [_Open(root, False, iter(root.children), [])]
    while True:
        child = next(around[-1].rest, None)
        if child is None:
            closed = around.pop()
            node = replace(closed.node, children=tuple(closed.done))
            if not around:
                return node
            around[-1].done.extend(node.children if closed.included else (node,))
            continue
        if len(around) > DEEPEST:
            raise child.error("elements are nested too deeply, includes counted; flatten the document")
        included = child.tag == "include"
        child = _included(child, path, seen) if included else child
        around.append(_Open(child, included, iter(child.children), []))


def _included(node: Node, main: Path, seen: set[Path]) -> Node:
    reference = node.text("file")
    beside = os.path.relpath(node.path.resolve().parent, main.resolve().parent)
    candidates = [resolve_reference(reference, main, node.where)]
    if beside != ".":
        candidates.append(resolve_reference(os.path.join(beside, reference), main, node.where))
    try:
        found = next((file for file in candidates if file is not None and file.is_file()), None)
    except OSError as error:  # a name that is too long, or a folder that may not be looked into
        raise node.error(f"the included file {reference!r} cannot be read: {error.strerror}; check its path") from None
    if found is None:
        raise node.error(f"the included file {reference!r} does not exist; check its path, seen from {main.name}")
    if found in seen:
        raise node.error(f"the file {reference!r} is included twice; MJCF allows it once, remove the other <include>")
    seen.add(found)
    content = parse_xml(read_bytes(found), found)
    if not content.children:
        raise node.error(f"the included file {reference!r} holds no elements; remove the <include>")
    return content


def section(root: Node, tag: str) -> Node:
    """All top-level elements of one tag as one: later attributes win, children follow each other."""
    found = list(root.all(tag))
    if not found:
        return Node(tag, {}, root.line, root.path)
    attributes = {key: value for node in found for key, value in node.attributes.items()}
    return replace(found[0], attributes=attributes, children=tuple(child for node in found for child in node.children))


def check_assets(root: Node, path: Path, compiler: Compiler) -> None:
    """Refuse files of meshes, height fields, textures and skins beyond the robot's folder; none is opened."""
    for node in (child for tag in ("asset", "deformable") for child in section(root, tag).children):
        folder = {"texture": compiler.texturedir, "model": ""}.get(node.tag, compiler.meshdir)
        for key in _ASSET_FILES.get(node.tag, ()):
            file = node.get(key, "")
            if compiler.strippath:
                file = PurePosixPath(file.replace("\\", "/")).name
            if file:
                resolve_reference(file if "://" in file else os.path.join(folder, file), path, node.where)
