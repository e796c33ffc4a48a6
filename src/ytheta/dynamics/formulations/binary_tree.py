"""Walker's binary tree of the links of a robot.

Reference     [walker1988] sec. 2.1-2.2
Accepts       every robot; loops are cut at their cut joints
Notation      code         paper    meaning
              successor    -        node of the next link or of a cut joint; the right branch
              connector    -        node that locates a further joint on the same link; the left branch
              predecessor  phi_i    the node towards the base
              path         Phi_i    nodes from i to the base
              descendants  Psi_i    i and all nodes behind it
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from ytheta.robot.robot import Robot


class NodeKind(StrEnum):
    """The kind of a node. Successors are the links of the robot; the other nodes have no mass."""

    BASE = "base"
    SUCCESSOR = "successor"
    TERMINATING = "terminating"
    CONNECTOR = "connector"


@dataclass(frozen=True)
class Node:
    """A node of the tree: its kind, its joint, and the numbers of its neighbours.

    ``joint`` is the joint of a link, the cut joint of a terminating link, or the joint that a connector locates.
    """

    number: int
    kind: NodeKind
    joint: str | None = None
    predecessor: int | None = None
    connector: int | None = None
    successor: int | None = None


@dataclass(frozen=True)
class BinaryTree:
    """Nodes by number: base 0, links 1 … m, terminating links m+1 … m+r, then connectors."""

    nodes: tuple[Node, ...]

    def path(self, number: int) -> tuple[int, ...]:
        """Phi_i: the nodes from i to the base, without the base."""
        path: list[int] = []
        current: int | None = number
        while current:
            path.append(current)
            current = self.nodes[current].predecessor
        return tuple(path)

    def descendants(self, number: int) -> tuple[int, ...]:
        """Psi_i: i and all nodes behind it."""
        return tuple(node.number for node in self.nodes if number in (*self.path(node.number), 0))


def build_binary_tree(robot: Robot) -> BinaryTree:
    """Build the tree of sec. 2.1, with connectors on the left and successors on the right.

    Links are numbered in tree order, terminating links in the order of the loops. The first joint on a link leads to
    the successor of the link. Every other joint on the link, and every loop that ends on the link, gets a connector.
    Connectors are numbered from the last joint to the first, then from the last loop to the first, and are chained in
    that order. For Walker's example, the numbers are those of the paper.
    """
    robot = robot.merged
    links = {link.name: k for k, link in enumerate(robot.links)}
    nodes = [Node(0, NodeKind.BASE)]
    nodes += [Node(links[joint.child], NodeKind.SUCCESSOR, joint.name) for joint in robot.joints]
    nodes += [Node(len(links) + k, NodeKind.TERMINATING, loop.name) for k, loop in enumerate(robot.loops)]
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    first = {joint.parent: k for k, joint in reversed(list(enumerate(joints, start=1)))}
    for link, number in first.items():
        _attach(nodes, number, to=links[link], side=NodeKind.SUCCESSOR)
    chain_ends = list(range(len(nodes)))  # the last connector on each link, or the link itself
    others = [(k, joint) for k, joint in enumerate(joints, start=1) if first[joint.parent] != k]
    located: list[tuple[str, str, int | None]] = [(joint.parent, joint.name, k) for k, joint in reversed(others)]
    located += [(loop.joint.child, loop.name, None) for loop in reversed(robot.loops)]
    for link, joint_name, successor in located:
        number = len(nodes)
        nodes.append(Node(number, NodeKind.CONNECTOR, joint_name))
        _attach(nodes, number, to=chain_ends[links[link]], side=NodeKind.CONNECTOR)
        chain_ends[links[link]] = number
        if successor is not None:
            _attach(nodes, successor, to=number, side=NodeKind.SUCCESSOR)
    return BinaryTree(tuple(nodes))


def _attach(nodes: list[Node], number: int, *, to: int, side: NodeKind) -> None:
    """Make node ``number`` the connector or the successor of another node."""
    nodes[to] = (
        replace(nodes[to], connector=number) if side is NodeKind.CONNECTOR else replace(nodes[to], successor=number)
    )
    nodes[number] = replace(nodes[number], predecessor=to)
