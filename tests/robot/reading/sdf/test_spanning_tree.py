"""Trees of graphs of links and joints."""

from __future__ import annotations

from ytheta.robot.reading.sdf.assembly import Edge, find_spanning_tree


def test_a_tree_keeps_its_joints() -> None:
    edges = [Edge("w", "world", "a"), Edge("j", "a", "b")]
    tree = find_spanning_tree(["b", "a"], edges)
    assert tree.joints == (("w", False), ("j", False))
    assert (tree.cut, tree.roots) == ((), ())


def test_the_second_joint_above_a_link_closes_a_loop() -> None:
    edges = [Edge("1", "a", "b"), Edge("2", "a", "c"), Edge("3", "b", "d"), Edge("4", "c", "d")]
    tree = find_spanning_tree(["a", "b", "c", "d"], edges)
    assert tree.cut == ("4",)
    assert tree.roots == ("a",)
    assert not any(is_reversed for _, is_reversed in tree.joints)


def test_a_ball_joint_is_cut_rather_than_another_one() -> None:
    edges = [Edge("1", "a", "b"), Edge("2", "a", "c"), Edge("3", "b", "d", cut_first=True), Edge("4", "c", "d")]
    assert find_spanning_tree(["a", "b", "c", "d"], edges).cut == ("3",)


def test_a_joint_that_points_to_the_root_is_reversed() -> None:
    edges = [Edge("w", "world", "a"), Edge("1", "b", "a"), Edge("2", "c", "b")]
    tree = find_spanning_tree(["a", "b", "c"], edges)
    assert tree.joints == (("w", False), ("1", True), ("2", True))
    assert tree.cut == ()


def test_a_cycle_of_joints_has_a_root_and_a_cut() -> None:
    edges = [Edge("1", "a", "b"), Edge("2", "b", "c"), Edge("3", "c", "a")]
    tree = find_spanning_tree(["a", "b", "c"], edges)
    assert len(tree.joints) == 2
    assert len(tree.cut) == len(tree.roots) == 1


def test_unconnected_parts_have_a_root_each() -> None:
    tree = find_spanning_tree(["a", "b", "c"], [Edge("1", "b", "a")])
    assert tree.roots == ("b", "c")
