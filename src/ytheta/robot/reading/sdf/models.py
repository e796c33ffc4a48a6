"""The content of an SDF document: links, joints, frames and models by key, and the links that frames move with."""

from __future__ import annotations

from dataclasses import dataclass, field

from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.elements import read_flag
from ytheta.robot.reading.sdf.expansion.document import MERGED
from ytheta.robot.reading.sdf.frames import SEPARATOR, WORLD, FrameGraph, Placed, Scope, read_child_name
from ytheta.robot.reading.sdf.version import MODEL_FRAME

_MODEL_TAGS = ("model", MERGED)


@dataclass
class Content:
    """The parts of a document by key, in the order of the file.

    ``static`` are links of static models. ``top_models`` are, for each link, the model around it that is not inside of
    another model.
    """

    placed: dict[str, Placed] = field(default_factory=dict)
    links: dict[str, Node] = field(default_factory=dict)
    joints: dict[str, Placed] = field(default_factory=dict)
    static: set[str] = field(default_factory=set)
    top_models: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, placed: Placed) -> None:
        if key in self.placed or key == WORLD:
            name = placed.node.text("name")
            if key == WORLD:
                raise placed.node.error("the name 'world' belongs to the world; give it another name")
            raise placed.node.error(f"the name {name!r} is used twice in one model or world; rename one of them")
        self.placed[key] = placed


def read_content(parent: Node, findings: FindingCollector) -> Content:
    """Return all links, joints, frames and models below a ``<world>``, or below ``<sdf>`` if there is no world."""
    content = Content()
    _ContentReader(content, findings).read_scope(parent, Scope(), "", static=False)
    return content


@dataclass(frozen=True)
class _ContentReader:
    """Adds parts to ``content``; ``top`` is the key of the model around them that is not inside of another one."""

    content: Content
    findings: FindingCollector

    def read_scope(self, parent: Node, scope: Scope, top: str, *, static: bool) -> None:
        for node in parent.children:
            if node.tag not in (*_MODEL_TAGS, "link", "frame", "joint"):
                continue
            name = node.text("name")
            if not name:
                raise node.error("the name is empty; give one")
            if node.tag in _MODEL_TAGS:
                self._read_model(node, name, scope, top, static=static)
            elif node.tag == "link":
                self._read_link(node, name, scope, top, static=static)
            else:
                inner = node.get("attached_to", "") if node.tag == "frame" else read_child_name(node)
                placed = Placed(node, scope, default=inner or MODEL_FRAME)
                self.content.add(scope.make_key(name), placed)
                if node.tag == "joint":
                    self.content.joints[scope.make_key(name)] = placed

    def _read_link(self, node: Node, name: str, scope: Scope, top: str, *, static: bool) -> None:
        if scope.model == WORLD:
            raise node.error("a link belongs into a <model>; move it there")
        if name == WORLD:  # the name is reserved, but files that were converted from URDF have such a link
            self.findings.note("links called 'world' are the world itself: {}", scope.prefix + name)
            return
        key = scope.make_key(name)
        self.content.add(key, Placed(node, scope))
        self.content.links[key] = node
        self.content.top_models[key] = top
        self.content.static |= {key} if static else set()

    def _read_model(self, node: Node, name: str, scope: Scope, top: str, *, static: bool) -> None:
        if node.tag == MERGED:
            key = f"{scope.prefix}_merged__{name}{MODEL_FRAME}"
            inner = Scope(scope.prefix, key)
        else:
            key = scope.make_key(name)
            inner = Scope(key + SEPARATOR, key)
        placement = node.get("placement_frame", "")
        self.content.add(
            key, Placed(node, scope, placement=inner.make_key(placement) if placement else "", inner=inner)
        )
        static = static or read_flag(node, "static", default=False)
        self.read_scope(node, inner, top or key, static=static)


class BodyFinder:
    """Finds the link to which a frame, joint or model is attached."""

    def __init__(self, content: Content, graph: FrameGraph) -> None:
        self.content, self.graph = content, graph

    def find_link(self, name: str, scope: Scope, node: Node) -> str:
        """Return the key of the link that moves with a named frame; WORLD for the world."""
        key = self.graph.find(name, scope, node)
        seen: set[str] = set()
        while key not in self.content.links and key != WORLD:
            if key in seen:
                raise self.content.placed[key].node.error("it is attached to itself, through other frames; correct it")
            seen.add(key)
            placed = self.content.placed[key]
            if placed.inner is not None:
                key = self._find_canonical(placed.node, placed.inner)
            else:  # a joint moves with its child, a frame with what it is attached to
                key = self.graph.find(placed.default, placed.scope, placed.node)
        return key

    def _find_canonical(self, node: Node, inner: Scope) -> str:
        """Return the key of the canonical link of a model: the one that it names, or its first link or model."""
        name = node.get("canonical_link", "")
        if name:
            return self.graph.find(name, inner, node)
        for child in node.children:
            if child.tag == "link":
                return inner.make_key(child.text("name"))
        for key, placed in self.content.placed.items():
            if placed.inner is not None and placed.scope == inner:
                return key
        raise node.error("the model has no link; give it one")
