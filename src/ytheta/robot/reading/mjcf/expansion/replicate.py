"""``<replicate>``: copies of a part of the tree, each in a ``<frame>`` that is moved and turned relative to the last.

Copy k is turned by k times the ``euler`` angles. Its position is that of copy k - 1, moved by ``offset`` in the axes of
copy k - 1. The names in a copy end with the separator and the number of the copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ytheta.files.xml_document import Node
from ytheta.robot.frame import Frame
from ytheta.robot.reading.mjcf.compiler import Compiler
from ytheta.robot.reading.mjcf.orientation import read_pose
from ytheta.robot.reading.snap import Snapper

MAX_COPIES = 2000  # of one element
MAX_ELEMENTS = 200_000  # in the expanded tree

_NO_SNAPPING = Snapper(0.0)


def expand_replicates(worldbody: Node, compiler: Compiler) -> Node:
    """Return the tree with frames in place of every ``<replicate>``."""
    if not any(node.tag == "replicate" for node in worldbody.descendants()):
        return worldbody
    return _Expander(compiler).expand(worldbody)


class _Expander:
    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.elements = 0

    def expand(self, node: Node) -> Node:
        children: list[Node] = []
        for child in node.children:
            expanded = self.expand(child)  # inner copies first, so that their numbers come first in the names
            children += self._copy(expanded) if child.tag == "replicate" else [expanded]
        return replace(node, children=tuple(children))

    def _copy(self, node: Node) -> Iterator[Node]:
        count = node.number("count")
        if not (0 <= count <= MAX_COPIES and count == int(count)):
            raise node.error(f"count={node.text('count')!r} should be a whole number from 0 to {MAX_COPIES}")
        self.elements += int(count) * (1 + sum(1 for _ in node.descendants()))
        if self.elements > MAX_ELEMENTS:
            raise node.error(f"<replicate> makes more than {MAX_ELEMENTS} elements; reduce its count")
        offset = np.array(node.numbers("offset", 3, default=(0.0, 0.0, 0.0)))
        angles = np.array(node.numbers("euler", 3, default=(0.0, 0.0, 0.0)))
        digits = len(str(max(int(count) - 1, 0)))
        position = np.zeros(3)
        for k in range(int(count)):
            euler = " ".join(repr(float(k * angle)) for angle in angles)
            frame = replace(
                node,
                tag="frame",
                attributes={"pos": " ".join(repr(float(entry)) for entry in position), "euler": euler},
                children=tuple(_add_suffix(child, f"{node.get('sep', '')}{k:0{digits}d}") for child in node.children),
            )
            position = position + np.array(self._turn(frame).rotation) @ offset
            yield frame

    def _turn(self, frame: Node) -> Frame:
        return read_pose(frame, self.compiler, _NO_SNAPPING)


def _add_suffix(node: Node, suffix: str) -> Node:
    attributes = node.attributes
    if attributes.get("name"):
        attributes = {**attributes, "name": attributes["name"] + suffix}
    return replace(node, attributes=attributes, children=tuple(_add_suffix(child, suffix) for child in node.children))
