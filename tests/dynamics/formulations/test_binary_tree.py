"""Walker's binary tree: the numbers of the paper, other cuts, random robots."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

import ytheta
from tests.support.random_robots import robots
from ytheta.dynamics.formulations.spatial_tree import NodeKind, build_binary_tree
from ytheta.robot.robot import Robot


def test_the_tree_of_the_paper() -> None:
    tree = build_binary_tree(ytheta.load("walker"))
    kinds = [node.kind for node in tree.nodes]
    assert [kinds.count(kind) for kind in NodeKind] == [1, 7, 2, 4]
    assert len(tree.nodes) - 1 == 13
    assert set(tree.path(4)) == {4, 10, 11}  # sec. 3
    assert set(tree.descendants(1)) == {1, 2, 3, 12, 13}
    sides = {node.number: (node.connector, node.successor) for node in tree.nodes}
    assert sides[0] == (10, 1)
    assert [sides[k] for k in (1, 2, 3)] == [(13, 2), (12, 3), (None, None)]
    assert [sides[k] for k in (10, 11, 12, 13)] == [(11, 6), (None, 4), (None, None), (None, None)]
    assert [sides[k] for k in (4, 5, 6, 7)] == [(None, 5), (None, 8), (None, 7), (None, 9)]  # (8), (9)
    assert [tree.nodes[k].joint for k in (8, 9, 12, 13)] == ["q8", "q9", "q9", "q8"]


def test_the_order_of_the_loops_numbers_the_terminating_links() -> None:
    walker = ytheta.load("walker")
    tree = build_binary_tree(replace(walker, loops=tuple(reversed(walker.loops))))
    assert set(tree.descendants(1)) == {1, 2, 3, 12, 13}
    assert tree.nodes[8].predecessor == 7


@given(robots(symbols=False))
def test_every_tree_is_binary(robot: Robot) -> None:
    robot = robot.merged
    tree = build_binary_tree(robot)
    assert [node.number for node in tree.nodes] == list(range(len(tree.nodes)))
    assert sorted(tree.descendants(0)) == list(range(len(tree.nodes)))
    for node in tree.nodes[1:]:
        above = tree.nodes[node.predecessor or 0]
        assert (above.connector if node.kind is NodeKind.CONNECTOR else above.successor) == node.number
        if node.kind in (NodeKind.CONNECTOR, NodeKind.TERMINATING):
            assert node.kind is not NodeKind.TERMINATING or node.successor is None
    for k, joint in enumerate(robot.joints, start=1):
        links = [n for n in tree.path(k) if tree.nodes[n].kind is NodeKind.SUCCESSOR]
        assert [robot.joints[n - 1].name for n in reversed(links)] == [j.name for j in robot.path(joint.child)]
