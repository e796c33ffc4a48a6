"""The tree of an SDF model, whose links and joints are a graph: joints of the tree, and joints that close loops.

Each link keeps one of the joints whose child it is: the first that is not a ball joint, since a ball joint is the
simplest to cut. The others close loops, or connect parts that nothing else connects. Such a joint may point towards the
root; it is reversed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ytheta.robot.reading.sdf.frames import WORLD


@dataclass(frozen=True)
class Edge:
    """A joint between two links, by key. ``cut_first``: whether it is cut rather than another one."""

    joint: str
    parent: str
    child: str
    cut_first: bool = False


@dataclass(frozen=True)
class SpanningTree:
    """Joints of the tree by key, from the roots outwards, each with whether it is reversed; and the cut joints.

    ``roots`` are the links without a joint towards the world, one of each connected part.
    """

    joints: tuple[tuple[str, bool], ...]
    cut: tuple[str, ...]
    roots: tuple[str, ...]


def find_spanning_tree(links: Sequence[str], edges: Sequence[Edge]) -> SpanningTree:
    """Return the tree of all links; the world is not one of the links."""
    kept = _choose_parent_joints(edges)
    groups = _Groups((WORLD, *links))
    in_tree: set[str] = set()
    for edge in (*(edge for edge in edges if edge.joint in kept), *(edge for edge in edges if edge.joint not in kept)):
        if groups.merge(edge.parent, edge.child):
            in_tree.add(edge.joint)
    neighbours: dict[str, list[Edge]] = {link: [] for link in (WORLD, *links)}
    children: set[str] = set()
    for edge in edges:
        if edge.joint in in_tree:
            neighbours[edge.parent].append(edge)
            neighbours[edge.child].append(edge)
            children.add(edge.child)
    visited: set[str] = set()
    joints: list[tuple[str, bool]] = []
    roots: list[str] = []
    # Links that are nobody's child come first: with them as roots, few joints are reversed.
    for start in (WORLD, *(link for link in links if link not in children), *links):
        if start in visited:
            continue
        roots += [start] if start != WORLD else []
        visited.add(start)
        waiting = [start]
        while waiting:
            link = waiting.pop()
            for edge in neighbours[link]:
                other = edge.child if edge.parent == link else edge.parent
                if other not in visited:
                    visited.add(other)
                    joints.append((edge.joint, edge.child == link))
                    waiting.append(other)
    cut = tuple(edge.joint for edge in edges if edge.joint not in in_tree)
    return SpanningTree(tuple(joints), cut, tuple(roots))


def _choose_parent_joints(edges: Iterable[Edge]) -> set[str]:
    """Return the joints that stay, one for each link: its first joint that is not to be cut, or else its first one."""
    best: dict[str, Edge] = {}
    for edge in edges:
        if edge.child not in best or (best[edge.child].cut_first and not edge.cut_first):
            best[edge.child] = edge
    return {edge.joint for edge in best.values()}


class _Groups:
    """Sets of connected links."""

    def __init__(self, links: Iterable[str]) -> None:
        self._above = {link: link for link in links}

    def find(self, link: str) -> str:
        while self._above[link] != link:
            self._above[link] = self._above[self._above[link]]
            link = self._above[link]
        return link

    def merge(self, a: str, b: str) -> bool:
        """Connect two links; False if they are connected already."""
        a, b = self.find(a), self.find(b)
        self._above[b] = a
        return a != b


def group_links(links: Iterable[str], connections: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Return, for each of the links, one link of its connected part; the same one for all links of a part."""
    links = list(links)
    groups = _Groups(links)
    for a, b in connections:
        groups.merge(a, b)
    return {link: groups.find(link) for link in links}
