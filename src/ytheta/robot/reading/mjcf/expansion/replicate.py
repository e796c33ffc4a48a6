"""``<replicate>``: copies of a part of the tree, each in a ``<frame>`` that is moved and turned relative to the last.

Copy k is turned by k times the ``euler`` angles. Its position is that of copy k - 1, moved by ``offset`` in the axes of
copy k - 1. The names in a copy end with the separator and the number of the copy. Tendons, constraints and actuators of
the part are copied, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ytheta.files.xml_document import Node
from ytheta.robot.frame import Frame
from ytheta.robot.reading.mjcf.compiler import Compiler
from ytheta.robot.reading.mjcf.expansion.references import collect_names, copy_referring
from ytheta.robot.reading.mjcf.orientation import read_pose
from ytheta.robot.reading.snap import Snapper

MAX_COPIES = 2000  # of one element
MAX_ELEMENTS = 200_000  # in the expanded tree

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
