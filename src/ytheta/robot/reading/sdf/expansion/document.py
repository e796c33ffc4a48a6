"""The SDF document: versions are made equal, and every ``<include>`` becomes the model that it names.

Pose, name, ``static`` and placement frame of an include replace those of the included model. A model included with
``merge="true"`` becomes a ``<merged>`` element, whose content belongs to the model around it. Worlds include scenery,
such as ``model://sun``, that Gazebo downloads: models that a world includes may be missing. A ``<drake:joint>`` becomes
a ``<joint>`` whose type has the prefix of Drake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ytheta.files.bounded import read_bytes
from ytheta.files.xml_document import Node, parse_xml
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.elements import read_flag_attribute, read_text
from ytheta.robot.reading.sdf.expansion.uris import FileFinder, MissingModelError
from ytheta.robot.reading.sdf.version import read_version, upgrade

MERGED = "merged"
DRAKE = "drake:"  # the prefix of extensions
MAX_INCLUDE_DEPTH = 16  # files that include each other in a row
MAX_NESTED_MODELS = 30  # models inside each other
MAX_ELEMENTS = 300_000  # of the document with all included files; the largest robots in public use have 10 000


_MISSING = "models that the world includes were not found and are left out: {}"


@dataclass
class _Expansion:
    """The state of one expansion: files that were read, and the number of elements so far."""

    files: FileFinder
    findings: FindingCollector
    models: dict[Path, Node] = field(default_factory=dict)
    missing: list[MissingModelError] = field(default_factory=list)
    count: int = 0


@dataclass(frozen=True)
class Document:
    """The root element in the form of the newest version, with all included models.

    ``missing`` are the models that a world includes, but that are not found.
    """

    root: Node
    missing: tuple[MissingModelError, ...] = ()


def expand_document(root: Node, files: FileFinder, findings: FindingCollector) -> Document:
    """Return the document of a root element."""
    expansion = _Expansion(files, findings)
    expanded = _expand(upgrade(root, read_version(root), findings), expansion, (files.path.resolve(),), 0)
    return Document(expanded, tuple(expansion.missing))


def _expand(node: Node, expansion: _Expansion, stack: Sequence[Path], depth: int) -> Node:
    """Replace includes in an element, which may be a root, a world or a model; ``depth`` is that of nested models."""
    if depth > MAX_NESTED_MODELS:
        raise node.error(f"more than {MAX_NESTED_MODELS} models are nested in each other; merge some of them")
    children: list[Node] = []
    for child in node.children:
        if child.tag == "include":
            try:
                included = _include(child, expansion, stack, depth)
            except MissingModelError as error:
                if node.tag != "world":
                    raise
                expansion.missing.append(error)
                expansion.findings.warn(_MISSING, read_text(child, "uri"))
                continue
            children += [included] if included is not None else []
        elif child.tag in ("world", "model"):
            children.append(_expand(child, expansion, stack, depth + 1))
        elif child.tag == f"{DRAKE}joint":
            children.append(_convert_joint(child))
        else:
            children.append(child)
    return replace(node, children=tuple(children))


def _convert_joint(node: Node) -> Node:
    """Return a ``<drake:joint>`` as a ``<joint>``."""
    ends = {f"{DRAKE}{end}": end for end in ("parent", "child")}
    children = tuple(replace(child, tag=ends.get(child.tag, child.tag)) for child in node.children)
    return replace(
        node, tag="joint", attributes=node.attributes | {"type": DRAKE + node.text("type")}, children=children
    )


def _include(node: Node, expansion: _Expansion, stack: Sequence[Path], depth: int) -> Node | None:
    file = expansion.files.find_model(node)
    if file.resolve() in stack:
        raise node.error(f"the file {file.name!r} includes itself; remove one <include>")
    if len(stack) > MAX_INCLUDE_DEPTH:
        raise node.error(f"more than {MAX_INCLUDE_DEPTH} files include each other in a row; merge some of them")
    model = _read_model(file, node, expansion)
    if model is None:
        return None
    expansion.count += sum(1 for _ in model.descendants())
    if expansion.count > MAX_ELEMENTS:
        raise node.error(f"the included files have more than {MAX_ELEMENTS} elements; leave some models out")
    for child in node.children:
        if child.tag.startswith("experimental:"):
            statement = "changes of included models (experimental:params) are ignored: {}"
            expansion.findings.warn(statement, model.get("name", ""))
    model = _expand(model, expansion, (*stack, file.resolve()), depth + 1)
    attributes = model.attributes | {"name": read_text(node, "name") or model.text("name")}
    placement = read_text(node, "placement_frame")
    if placement:
        if node.first("pose") is None:
            raise node.error("<placement_frame> needs a <pose>; add it")
        attributes["placement_frame"] = placement
    replaced = {child.tag: child for child in node.children if child.tag in ("pose", "static")}
    kept = tuple(child for child in model.children if child.tag not in replaced)
    tag = MERGED if read_flag_attribute(node, "merge") else model.tag
    return replace(model, tag=tag, attributes=attributes, children=(*replaced.values(), *kept))


def _read_model(file: Path, node: Node, expansion: _Expansion) -> Node | None:
    """Return the model of a file in the form of the newest version; None if it contains something else."""
    if file not in expansion.models:
        root = parse_xml(read_bytes(file), file)
        if root.tag == "robot":
            raise node.error(
                f"the included file {file.name!r} is a URDF, which cannot be part of an SDF here; convert it with: "
                "gz sdf --print"
            )
        if root.tag != "sdf":
            raise node.error(f"the included file {file.name!r} starts with <{root.tag}>, but an SDF starts with <sdf>")
        expansion.models[file] = upgrade(root, read_version(root), expansion.findings)
    root = expansion.models[file]
    models = [child for child in root.children if child.tag == "model"]
    if not models and any(child.tag in ("light", "actor") for child in root.children):
        return None
    if len(models) != 1:
        raise node.error(f"the included file {file.name!r} has {len(models)} models; include a file with one model")
    return models[0]
