"""The content of an SDF document: links, joints, frames and models by key, and their poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.reading.description import FindingCollector
from ytheta.robot.reading.sdf.document import MERGED, MODEL_FRAME
from ytheta.robot.reading.sdf.elements import read_flag, read_pose, require_text
from ytheta.robot.reading.snap import Snapper

_MODEL_TAGS = ("model", MERGED)


@dataclass
class SdfContent:
    """The parts of a document by key, in the order of the file.

    ``static`` are links of static models. ``top_models`` are, for each link, the model around it that is not inside of
    another model.
    """

    placed: dict[str, FramePlacement] = field(default_factory=dict)
    links: dict[str, Node] = field(default_factory=dict)
    joints: dict[str, FramePlacement] = field(default_factory=dict)
    static: set[str] = field(default_factory=set)
    top_models: dict[str, str] = field(default_factory=dict)

    def add(self, key: str, placed: FramePlacement) -> None:
        if key in self.placed or key == WORLD:
            name = placed.node.text("name")
            if key == WORLD:
                raise placed.node.error("the name 'world' belongs to the world; give it another name")
            raise placed.node.error(f"the name {name!r} is used twice in one model or world; rename one of them")
        self.placed[key] = placed


def read_content(parent: Node, findings: FindingCollector) -> SdfContent:
    """Return all links, joints, frames and models below a ``<world>``, or below ``<sdf>`` if there is no world."""
    content = SdfContent()
    _ContentReader(content, findings).read_scope(parent, Scope(), "", static=False)
    return content


@dataclass(frozen=True)
class _ContentReader:
    """Adds parts to ``content``; ``top`` is the key of the model around them that is not inside of another one."""

    content: SdfContent
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
                placed = FramePlacement(node, scope, default=inner or MODEL_FRAME)
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
        self.content.add(key, FramePlacement(node, scope))
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
            key, FramePlacement(node, scope, placement=inner.make_key(placement) if placement else "", inner=inner)
        )
        static = static or read_flag(node, "static", default=False)
        self.read_scope(node, inner, top or key, static=static)


class BodyFinder:
    """Finds the link to which a frame, joint or model is attached."""

    def __init__(self, content: SdfContent, graph: FrameGraph) -> None:
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


# The frames of an SDF: models, links, joints and ``<frame>`` elements, each seen from another one.
#
# A frame has a key, which is its name after those of the models around it: ``arm::hand::palm``. Names in the file are
# relative to the model that contains them. The frames form a tree with the world as its root; each pose is relative to
# the frame that ``relative_to`` names, or to a default: of a link the model, of a joint its child, of a ``<frame>`` the
# frame that it is attached to, of a model the model or world around it.


WORLD = "world"
SEPARATOR = "::"


@dataclass(frozen=True)
class Scope:
    """A model or the world, in which names are looked up: the prefix of keys, and the key of the model's frame."""

    prefix: str = ""
    model: str = WORLD

    def make_key(self, name: str) -> str:
        """Return the key of a name in this scope."""
        if name == MODEL_FRAME:
            return self.model
        key = self.prefix + name
        return key.removesuffix(SEPARATOR + MODEL_FRAME)


@dataclass(frozen=True)
class FramePlacement:
    """A model, link, joint or frame in a scope. ``default`` names the frame that its pose is relative to by default.

    ``placement`` is the key of the frame inside a model to which the pose of the model applies. ``inner`` is the scope
    of the content of a model.
    """

    node: Node
    scope: Scope
    default: str = MODEL_FRAME
    placement: str = ""
    inner: Scope | None = None


class FrameGraph:
    """All frames of a document, by key. The world has no entry in ``placed``."""

    def __init__(self, placed: Mapping[str, FramePlacement], snapper: Snapper) -> None:
        self.placed = placed
        self._snapper = snapper
        self._steps: dict[str, tuple[str, Frame]] = {}

    def find(self, name: str, scope: Scope, node: Node) -> str:
        """Return the key of a name in a scope. RobotFileError if there is no such frame."""
        key = WORLD if name == WORLD else scope.make_key(name)
        if key != WORLD and key not in self.placed:
            known = [other.removeprefix(scope.prefix) for other in self.placed if other.startswith(scope.prefix)]
            raise node.error(f"there is no link, joint, frame or model {name!r}{suggest_names(name, known)}")
        return key

    def relate(self, key: str, origin: str) -> Frame:
        """Return the pose of one frame seen from another; only poses between the two contribute rounding errors."""
        path, origin_path = self._list_path(key), self._list_path(origin)
        while path and origin_path and path[-1] == origin_path[-1]:
            path.pop()
            origin_path.pop()
        pose, origin_pose = (self._multiply(steps) for steps in (path, origin_path))
        return origin_pose.inverse() @ pose if origin_path else pose

    def _multiply(self, keys: list[str]) -> Frame:
        return reduce(lambda pose, key: self._find_step(key)[1] @ pose, keys, IDENTITY)

    def _list_path(self, key: str) -> list[str]:
        """Return the keys from a frame towards the world, without the world."""
        path: list[str] = []
        seen: set[str] = set()
        while key != WORLD:
            if key in seen:
                node = self.placed[key].node
                raise node.error("its pose is relative to itself, through other frames; correct one 'relative_to'")
            seen.add(key)
            path.append(key)
            key = self._find_base(key)
        return path

    def _find_base(self, key: str) -> str:
        """Return the key of the frame that a pose is relative to."""
        placed = self.placed[key]
        pose = placed.node.first("pose")
        relative_to = pose.get("relative_to", "") if pose is not None else ""
        return self.find(relative_to or placed.default, placed.scope, pose if relative_to and pose else placed.node)

    def _find_step(self, key: str) -> tuple[str, Frame]:
        """Return the base of a frame, and its pose seen from there."""
        if key not in self._steps:
            placed = self.placed[key]
            pose = read_pose(placed.node, self._snapper)
            if placed.placement:
                known = placed.placement in self.placed
                inside = self._list_path(placed.placement) if known else []
                if key not in inside:
                    raise placed.node.error("its placement_frame is not one of its own frames; name one of them")
                pose = pose @ self._multiply(inside[: inside.index(key)]).inverse()
            self._steps[key] = self._find_base(key), pose
        return self._steps[key]


def read_child_name(node: Node) -> str:
    """Return the name of the frame that a joint moves, which is also the default frame of the joint's pose."""
    return require_text(node, "child")
