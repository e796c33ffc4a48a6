"""The frames of an SDF: models, links, joints and ``<frame>`` elements, each seen from another one.

A frame has a key, which is its name after those of the models around it: ``arm::hand::palm``. Names in the file are
relative to the model that contains them. The frames form a tree with the world as its root; each pose is relative to
the frame that ``relative_to`` names, or to a default: of a link the model, of a joint its child, of a ``<frame>`` the
frame that it is attached to, of a model the model or world around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.reading.sdf.elements import read_pose, require_text
from ytheta.robot.reading.sdf.version import MODEL_FRAME
from ytheta.robot.reading.snap import Snapper

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
class Placed:
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

    def __init__(self, placed: Mapping[str, Placed], snapper: Snapper) -> None:
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
