"""The MJCF document: insertion of included files, merging of repeated sections, paths of assets.

As in MuJoCo, an included file is searched for in the folder of the main file, then in the folder of the including
file. The root element of an included file is removed. A file can be included only once, so that includes cannot be
circular. Attributes without a value, such as ``density=""``, count as missing.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ytheta.files.bounded import is_file, locate_reference, read_bytes, resolve_reference
from ytheta.files.xml_document import MAX_DEPTH, Node, parse_xml
from ytheta.robot.reading.mjcf.attributes import Compiler
from ytheta.robot.reading.ros_packages import SCHEME, list_packages, locate_in_package


@dataclass
class _OpenElement:
    """An element whose children are being processed."""

    node: Node
    included: bool
    remaining: Iterator[Node]
    children: list[Node]


def insert_includes(root: Node, path: Path, allow_paths: Sequence[Path] = ()) -> Node:
    """Return the document with every ``<include>`` replaced by the content of its file."""
    seen = {path.resolve()}
    open_elements = [_OpenElement(root, False, iter(root.children), [])]
    while True:
        child = next(open_elements[-1].remaining, None)
        if child is None:
            closed = open_elements.pop()
            attributes = {key: value for key, value in closed.node.attributes.items() if value.strip()}
            node = replace(closed.node, attributes=attributes, children=tuple(closed.children))
            if not open_elements:
                return node
            open_elements[-1].children.extend(node.children if closed.included else (node,))
            continue
        if len(open_elements) > MAX_DEPTH:
            raise child.error("elements are nested too deeply, counting included files; flatten the document")
        included = child.tag == "include"
        child = _read_included(child, path, seen, allow_paths) if included else child
        open_elements.append(_OpenElement(child, included, iter(child.children), []))


def _read_included(node: Node, main: Path, seen: set[Path], allow_paths: Sequence[Path]) -> Node:
    reference = node.text("file")
    folder = os.path.relpath(node.path.resolve().parent, main.resolve().parent)
    candidates = [resolve_reference(reference, main, node.where, allow_paths)]
    if folder != ".":
        candidates.append(resolve_reference(os.path.join(folder, reference), main, node.where, allow_paths))
    try:
        file = next((path for path in candidates if path is not None and path.is_file()), None)
    except OSError as error:  # a name that is too long, or a folder without read permission
        raise node.error(f"the included file {reference!r} cannot be read: {error.strerror}; check its path") from None
    if file is None:
        raise node.error(f"the included file {reference!r} does not exist; check its path relative to {main.name}")
    if file in seen:
        raise node.error(f"the file {reference!r} is included twice, but MJCF allows it once; remove one <include>")
    seen.add(file)
    content = parse_xml(read_bytes(file), file)
    if not content.children:
        raise node.error(f"the included file {reference!r} has no elements; remove the <include>")
    return content


def merge_sections(root: Node, tag: str) -> Node:
    """Return all top-level elements with this tag as one element; later attributes override earlier ones."""
    sections = list(root.all(tag))
    if not sections:
        return Node(tag, {}, root.line, root.path)
    attributes = {key: value for node in sections for key, value in node.attributes.items()}
    children = tuple(child for node in sections for child in node.children)
    return replace(sections[0], attributes=attributes, children=children)


def resolve_packages(root: Node, path: Path, package_paths: Sequence[Path]) -> tuple[Node, tuple[Path, ...]]:
    """Return the document with paths in place of ``package://`` references to meshes, and the folders of packages.

    A reference whose package is not found stays as it is.
    """
    meshes = [node for section in root.all("asset") for node in section.all("mesh")]
    references = {file for node in meshes if (file := node.get("file", "")).startswith(SCHEME)}
    if not references:
        return root, ()
    packages = list_packages(path, package_paths)
    located = {reference: locate_in_package(reference, packages) for reference in references}
    paths = {reference: file for reference, file in located.items() if file is not None}

    def resolve(node: Node) -> Node:
        file = paths.get(node.get("file", "")) if node.tag == "mesh" else None
        return node if file is None else replace(node, attributes={**node.attributes, "file": str(file)})

    sections = (
        replace(section, children=tuple(map(resolve, section.children))) if section.tag == "asset" else section
        for section in root.children
    )
    names = {reference.removeprefix(SCHEME).partition("/")[0] for reference in paths}
    return replace(root, children=tuple(sections)), tuple(packages[name].resolve() for name in sorted(names))


def locate_asset(node: Node, key: str, path: Path, compiler: Compiler, allow_paths: Sequence[Path] = ()) -> Path | None:
    """Return the path of a file of an asset; None if there is none or if it may not be opened."""
    located = [
        locate_reference(reference, path, allow_paths) for reference in list_references(node, key, path, compiler)
    ]
    allowed = [file for file in located if file is not None]
    return next((file for file in allowed if is_file(file)), allowed[0] if allowed else None)


def list_references(node: Node, key: str, path: Path, compiler: Compiler) -> list[str]:
    """Return the paths at which MuJoCo looks for a file of an asset, relative to the main file; empty without a file.

    If there is no folder of assets, the file may also be beside the included file that names it.
    """
    folder = {"texture": compiler.texturedir, "model": ""}.get(node.tag, compiler.meshdir)
    file = node.get(key, "")
    if compiler.strippath:
        file = PurePosixPath(file.replace("\\", "/")).name
    if not file or "://" in file:
        return [file] if file else []
    references = [os.path.join(folder, file)]
    beside = os.path.relpath(node.path.resolve().parent, path.resolve().parent)
    if not folder and beside != ".":
        references.append(os.path.join(beside, file))
    return references
