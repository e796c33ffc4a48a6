"""Expansion of ``<attach>``, a part of another model with a prefix before all of its names, and of ``<replicate>``.

The other model is an ``<asset><model>``, whose name is that in the root element of its file, unless it is given. Its
part keeps its own default classes and its own units of angles. Constraints, tendons and actuators of the other model
are added if their bodies, joints and sites belong to the part.
"""

from __future__ import annotations

import math
import os.path
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from ytheta.errors import suggest_names
from ytheta.files.bounded import read_bytes, resolve_reference
from ytheta.files.xml_document import Node, parse_xml
from ytheta.robot.frame import Frame
from ytheta.robot.reading.mjcf.attributes import (
    ATTACHED,
    Compiler,
    Defaults,
    find_kind,
    read_compiler,
    read_defaults,
    read_pose,
)
from ytheta.robot.reading.mjcf.document import insert_includes, merge_sections
from ytheta.robot.reading.snap import Snapper

# Largest number of models attached in one file, counting those of attached models. Chosen on: rule of thumb.
MAX_MODELS = 100
DEFAULT_NAME = "MuJoCo Model"  # of a model without a name
SECTIONS = ("equality", "tendon", "actuator")
_ASSETS = ("mesh", "hfield", "material", "texture")
_DEFAULT_KINDS = {"fixed": "tendon", "spatial": "tendon", "connect": "equality", "weld": "equality"}
_SAME_SETTINGS = ("inertiafromgeom", "inertiagroups", "boundmass", "boundinertia", "balanceinertia", "settotalmass")


def expand_models(root: Node, path: Path, allow_paths: Sequence[Path] = ()) -> Node:
    """Return a document, whose files are included already, with copies and attached models inserted."""
    return _Attacher(path, allow_paths).expand(root, (path.resolve(),))


class _Attacher:
    def __init__(self, path: Path, allow_paths: Sequence[Path]) -> None:
        self.path, self.allow_paths = path, allow_paths
        self.count = 0

    def expand(self, root: Node, files: tuple[Path, ...]) -> Node:
        """Expand the document of the last of these files; each of them attaches the next."""
        compiler = read_compiler(merge_sections(root, "compiler"))
        world = merge_sections(root, "worldbody")
        added: list[Node] = []
        if any(node.tag == "attach" for node in world.descendants()):
            world = self._insert(world, root, compiler, files, added)
        others = [node for node in root.children if node.tag != "worldbody"]
        world, others_and_added = expand_replicates(world, [*others, *added], compiler)
        return replace(root, children=(*others_and_added, world))

    def _insert(self, node: Node, root: Node, compiler: Compiler, files: tuple[Path, ...], added: list[Node]) -> Node:
        """Return an element with attached bodies; sections that belong to these bodies are appended to ``added``."""
        children: list[Node] = []
        for child in node.children:
            if child.tag == "attach":
                part = _Part(child, self._read(child, root, files), compiler)
                children += part.bodies
                added += part.sections
            else:
                children.append(self._insert(child, root, compiler, files, added))
        return replace(node, children=tuple(children))

    def _read(self, node: Node, root: Node, files: tuple[Path, ...]) -> Node:
        """Return the expanded document of the model that an ``<attach>`` names."""
        self.count += 1
        if self.count > MAX_MODELS:
            raise node.error(f"more than {MAX_MODELS} models are attached; merge some of them")
        names: list[str] = []
        for model in merge_sections(root, "asset").all("model"):
            name = model.get("name", "")
            if name in ("", node.text("model")):
                file, content = self._parse(model, files)
                name = name or content.get("model", DEFAULT_NAME)
                if name == node.text("model"):
                    return self.expand(insert_includes(content, file, self.allow_paths), (*files, file))
            names.append(name)
        wanted = node.text("model")
        raise node.error(f"there is no model {wanted!r} in <asset>{suggest_names(wanted, names)}")

    def _parse(self, model: Node, files: tuple[Path, ...]) -> tuple[Path, Node]:
        """Return the path and the content of the file of an ``<asset><model>``."""
        file = resolve_reference(model.text("file"), files[-1], model.where, self.allow_paths)
        if file is None or file in files:
            raise model.error(
                "the model attaches itself; remove one <attach>" if file else "the file is not a path; give its path"
            )
        content = parse_xml(read_bytes(file), file)
        if content.tag != "mujoco":
            raise model.error(f"{file.name} is not an MJCF file, so it cannot be attached; convert it to MJCF")
        return file, content


class _Part:
    """The elements of another model that one ``<attach>`` inserts."""

    def __init__(self, node: Node, model: Node, compiler: Compiler) -> None:
        self.prefix, self.model, self.target = node.get("prefix", ""), model, compiler
        self.compiler = read_compiler(merge_sections(model, "compiler"))
        for name in _SAME_SETTINGS:
            if getattr(self.compiler, name) != getattr(compiler, name):
                raise node.error(
                    f"the attached model has another compiler setting '{name}' than this file, which is not supported; "
                    "load the model with MuJoCo, save it with mj_saveLastXML, and read the saved file"
                )
        self.defaults = read_defaults(model.all("default"))
        roots = self._find_roots(node)
        names: set[str] = set()
        for root, _ in roots:
            for element in (root, *root.descendants()):
                names |= {element.get("name", "")} if element.tag in ("body", "joint", "freejoint", "site") else set()
        self.bodies = [self._convert(root, childclass) for root, childclass in roots]
        self.sections = [self._convert_section(tag, names) for tag in SECTIONS] + [self._convert_assets()]

    def _find_roots(self, node: Node) -> list[tuple[Node, str | None]]:
        """Return the body that is attached, or all elements of the world, and the default classes around them."""
        world = merge_sections(self.model, "worldbody")
        if "body" not in node.attributes:
            return [(child, None) for child in world.children]
        bodies: dict[str, tuple[Node, str | None]] = {}
        waiting: list[tuple[Node, str | None]] = [(child, None) for child in world.children]
        while waiting:
            element, childclass = waiting.pop()
            if element.tag == "body":
                bodies[element.get("name", "")] = element, childclass
            inner = element.attributes.get("childclass", childclass)
            waiting += [(child, inner) for child in element.children]
        name = node.text("body")
        if name not in bodies:
            raise node.error(f"the attached model has no body {name!r}{suggest_names(name, bodies)}")
        return [bodies[name]]

    def _convert_section(self, tag: str, names: set[str]) -> Node:
        """Return a section with the elements that belong to the part; kept tendons count as names."""
        section = merge_sections(self.model, tag)
        kept: list[Node] = []
        for element in section.children:
            used = [
                node.attributes[key]
                for node in (element, *element.children)
                for key in REFERENCES
                if key in node.attributes and not (node.tag == "geom" or key in ("geom", "sidesite"))
            ]
            if all(name in names for name in used):
                kept.append(self._convert(element, None))
                if tag == "tendon":
                    names.add(element.get("name", ""))
        return Node(tag, {}, section.line, section.path, tuple(kept), section.start)

    def _convert_assets(self) -> Node:
        """Return the meshes with absolute paths."""
        section = merge_sections(self.model, "asset")
        meshes: list[Node] = []
        for element in section.all("mesh"):
            node = self.defaults.apply(element, "mesh")
            file = node.get("file", "")
            name = node.get("name", "") or PurePosixPath(file.replace("\\", "/")).stem
            attributes = {**node.attributes, "name": self.prefix + name, "class": ATTACHED}
            if file and "://" not in file:
                file = PurePosixPath(file.replace("\\", "/")).name if self.compiler.strippath else file
                attributes["file"] = os.path.join(self.model.path.resolve().parent, self.compiler.meshdir, file)
            meshes.append(replace(node, attributes=attributes))
        return Node("asset", {}, section.line, section.path, tuple(meshes), section.start)

    def _convert(self, node: Node, childclass: str | None) -> Node:
        """Return an element with prefixed names, inherited attributes and angles in the units of the main file."""
        inner = node.attributes.get("childclass", childclass)
        node = _apply(self.defaults, node, childclass)
        attributes = {key: value for key, value in node.attributes.items() if key not in ("class", "childclass")}
        for key in ("name", *REFERENCES, *_ASSETS):
            if attributes.get(key):
                attributes[key] = self.prefix + attributes[key]
        attributes = self._convert_angles(replace(node, attributes=attributes))
        children = tuple(self._convert(child, inner) for child in node.children)
        return replace(node, attributes={**attributes, "class": ATTACHED}, children=children)

    def _convert_angles(self, node: Node) -> dict[str, str]:
        attributes = dict(node.attributes)
        turns = node.tag == "joint" and attributes.get("type", "hinge") in ("hinge", "ball")
        if self.compiler.autolimits and not self.target.autolimits and "range" in attributes:
            attributes.setdefault("limited", "true")
        if self.compiler.degrees != self.target.degrees:
            factor = math.pi / 180.0 if self.compiler.degrees else 180.0 / math.pi
            for key in ("range", "ref", "springref") if turns else ():
                if key in attributes:
                    attributes[key] = _format(factor * number for number in node.numbers(key, may_be_infinite=True))
            if "euler" in attributes:
                attributes["euler"] = _format(factor * number for number in node.numbers("euler", 3))
            if "axisangle" in attributes:
                *axis, angle = node.numbers("axisangle", 4)
                attributes["axisangle"] = _format((*axis, factor * angle))
        if "euler" in attributes and self.compiler.eulerseq != self.target.eulerseq:
            raise node.error(
                "the attached model has another 'eulerseq' than this file; write its angles as quaternions"
            )
        return attributes


def _apply(defaults: Defaults, node: Node, childclass: str | None) -> Node:
    """Return an element with the attributes that it inherits in its own model."""
    if node.tag in ("body", "frame"):
        return node
    kind = _DEFAULT_KINDS.get(node.tag, find_kind(node.tag))
    return defaults.apply(node, kind, childclass)


def _format(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)


# ``<replicate>``: copies of a part of the tree, each in a ``<frame>`` that is moved and turned relative to the last.
#
# Copy k is turned by k times the ``euler`` angles. Its position is that of copy k - 1, moved by ``offset`` in the axes
# of copy k - 1. The names in a copy end with the separator and the number of the copy. Tendons, constraints and
# actuators of the part are copied, too.


# Largest number of copies of one element. Chosen on: rule of thumb.
MAX_COPIES = 2000
# Largest number of elements in the expanded tree. Chosen on: rule of thumb.
MAX_ELEMENTS = 200_000

_NO_SNAPPING = Snapper(0.0)


def expand_replicates(worldbody: Node, sections: Sequence[Node], compiler: Compiler) -> tuple[Node, Sequence[Node]]:
    """Return the tree with frames in place of every ``<replicate>``, and the other sections with copies to match."""
    if not any(node.tag == "replicate" for node in worldbody.descendants()):
        return worldbody, sections
    expander = _Expander(compiler, sections)
    return expander.expand(worldbody), expander.sections


class _Expander:
    def __init__(self, compiler: Compiler, sections: Sequence[Node]) -> None:
        self.compiler, self.sections = compiler, sections
        self.elements = 0

    def expand(self, node: Node) -> Node:
        children: list[Node] = []
        for child in node.children:
            expanded = self.expand(child)  # inner copies first, so that their numbers come first in the names
            children += self._copy(expanded) if child.tag == "replicate" else [expanded]
        return replace(node, children=tuple(children))

    def _copy(self, node: Node) -> list[Node]:
        count = node.number("count")
        if not (0 <= count <= MAX_COPIES and count == int(count)):
            raise node.error(f"count={node.text('count')!r} should be a whole number from 0 to {MAX_COPIES}")
        self._count(node, int(count) * (1 + sum(1 for _ in node.descendants())))
        offset = np.array(node.numbers("offset", 3, default=(0.0, 0.0, 0.0)))
        angles = np.array(node.numbers("euler", 3, default=(0.0, 0.0, 0.0)))
        digits = len(str(max(int(count) - 1, 0)))
        suffixes = [f"{node.get('sep', '')}{k:0{digits}d}" for k in range(int(count))]
        self.sections, copies = copy_referring(self.sections, collect_names(node.children), suffixes)
        self._count(node, copies)
        position = np.zeros(3)
        frames: list[Node] = []
        for k, suffix in enumerate(suffixes):
            euler = " ".join(repr(float(k * angle)) for angle in angles)
            frame = replace(
                node,
                tag="frame",
                attributes={"pos": " ".join(repr(float(entry)) for entry in position), "euler": euler},
                children=tuple(_add_suffix(child, suffix) for child in node.children),
            )
            position = position + np.array(self._turn(frame).rotation) @ offset
            frames.append(frame)
        return frames

    def _count(self, node: Node, elements: int) -> None:
        self.elements += elements
        if self.elements > MAX_ELEMENTS:
            raise node.error(f"<replicate> makes more than {MAX_ELEMENTS} elements; reduce its count")

    def _turn(self, frame: Node) -> Frame:
        return read_pose(frame, self.compiler, _NO_SNAPPING)


def _add_suffix(node: Node, suffix: str) -> Node:
    attributes = node.attributes
    if attributes.get("name"):
        attributes = {**attributes, "name": attributes["name"] + suffix}
    return replace(node, attributes=attributes, children=tuple(_add_suffix(child, suffix) for child in node.children))


# References of tendons, equality constraints and actuators to the elements of the tree, and copies of what refers.
#
# If a part of the tree is copied, whatever refers to it is copied too, in its place. As in MuJoCo, an equality
# constraint between the part and the rest is dropped.


# Attributes that contain names, and the kind of element that has this name.
REFERENCES = {
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("site", "site1", "site2", "refsite", "slidersite", "cranksite", "sidesite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "geom": "geom",
}
_NAMED_KINDS = {"body": "body", "joint": "joint", "freejoint": "joint", "site": "site", "geom": "geom"}
_SECTIONS = ("tendon", "equality", "actuator")  # tendons first, since the others refer to them


def collect_names(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Return the names of these elements and of those inside them, by kind."""
    names: dict[str, set[str]] = {"tendon": set(), **{kind: set() for kind in _NAMED_KINDS.values()}}
    for node in nodes:
        for element in (node, *node.descendants()):
            if element.tag in _NAMED_KINDS and element.get("name", ""):
                names[_NAMED_KINDS[element.tag]].add(element.text("name"))
    return names


def copy_referring(
    sections: Sequence[Node], names: Mapping[str, set[str]], suffixes: Sequence[str]
) -> tuple[list[Node], int]:
    """Return sections in which elements that refer to the names of a part are copied, and the number of the copies."""
    result, names, count = list(sections), {kind: set(of_kind) for kind, of_kind in names.items()}, 0
    for tag in _SECTIONS:
        for k, section in enumerate(result):
            if section.tag != tag:
                continue
            kept: list[Node] = []
            copies: list[Node] = []
            for element in section.children:
                inside = [name in names[kind] for kind, name in _list_references(element)]
                if not any(inside):
                    kept.append(element)
                elif all(inside) or tag != "equality":
                    copies += [_rename(element, names, suffix) for suffix in suffixes]
                    names["tendon"] |= {element.get("name", "")} - {""} if tag == "tendon" else set()
            result[k], count = replace(section, children=(*kept, *copies)), count + len(copies)
    return result, count


def _list_references(element: Node) -> list[tuple[str, str]]:
    nodes = (element, *element.descendants())
    return [
        (kind, node.attributes[key]) for node in nodes for key, kind in REFERENCES.items() if key in node.attributes
    ]


def _rename(element: Node, names: Mapping[str, set[str]], suffix: str) -> Node:
    """Return a copy of an element whose own name, and whose references to the part, end with the suffix."""
    attributes = dict(element.attributes)
    for key, kind in REFERENCES.items():
        if attributes.get(key) in names[kind]:
            attributes[key] += suffix
    if attributes.get("name"):
        attributes["name"] += suffix
    children = tuple(_rename(child, names, suffix) for child in element.children)
    return replace(element, attributes=attributes, children=children)
