"""The order of the tree, and errors about cycles and size."""

from __future__ import annotations

import pytest

from tests.support.revolute_chains import revolute_chain
from ytheta.errors import InputError


def test_links_and_joints_are_in_tree_order() -> None:
    robot = revolute_chain(("c", "b", "c1"), ("a", "base", "b"), ("d", "base", "d1"), ("e", "c1", "e1"))
    assert [joint.name for joint in robot.joints] == ["a", "c", "e", "d"]
    assert [link.name for link in robot.links] == ["base", "b", "c1", "e1", "d1"]
    assert robot.coordinates == robot.actuated == ("a", "c", "e", "d")


def test_undeclared_cycles_are_errors() -> None:
    with pytest.raises(InputError, match="every link is the child of a joint, so there is no base: a cycle"):
        revolute_chain(("a", "one", "two"), ("b", "two", "one"))
    with pytest.raises(InputError, match="joints b, c form a cycle that is not declared as a loop"):
        revolute_chain(("a", "base", "one"), ("b", "two", "three"), ("c", "three", "two"))
