"""Figures 1 and 3: the links of the example arm, and its binary tree with connector and terminating links.

Reference     [walker1988] sec. 2.1, 2.3 and 3
"""

from __future__ import annotations

from collections.abc import Iterable

from ytheta.dynamics.formulations.spatial_tree import BinaryTree, NodeKind, build_binary_tree
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.robot.robot import Robot

FIGURE_IS_MISSING = "The scan used has no figures: the statements of the text are compared."


def compare_links(robot: Robot) -> Exhibit:
    """Compare what sec. 2.1 and 2.3 say about the links and joints of Figure 1."""
    numbers = {link.name: k for k, link in enumerate(robot.links)}
    children = [(numbers[joint.parent], numbers[joint.child]) for joint in robot.joints]
    behind_1 = _list_descendants(children, 1)
    towards_base = [n for n in numbers.values() if 7 in _list_descendants(children, n)]
    actuated = ", ".join(f"Q{k} = {name}" for k, name in enumerate(robot.actuated, start=1))
    return Exhibit(
        "figure_1",
        "Figure 1: links and joints of the example arm",
        (
            _compare("links m + 1", 8, len(robot.links)),
            _compare("independent loops r", 2, len(robot.loops)),
            _compare("descendants of link 1", "{2, 3}", _format(behind_1)),
            _compare("predecessors of link 7", "{0, 6}", _format(towards_base)),
            _compare("immediate descendants of link 0", "{1, 4, 6}", _format(b for a, b in children if a == 0)),
            _compare("actuated joints", "Q1 = q5, Q2 = q7, Q3 = q3", actuated),
        ),
        open=FIGURE_IS_MISSING,
    )


def compare_tree(robot: Robot) -> Exhibit:
    """Compare the binary tree of Figure 3 with the numbers in the text and with the paths in (8) and (9)."""
    tree = build_binary_tree(robot)
    kinds = {kind: [node.number for node in tree.nodes if node.kind is kind] for kind in NodeKind}
    most = max((node.connector is not None) + (node.successor is not None) for node in tree.nodes)
    pairs = sum(len(tree.path(node.number)) for node in tree.nodes[1:])
    reversed_pairs = sum(len(tree.descendants(node.number)) for node in tree.nodes[1:])
    return Exhibit(
        "figure_3",
        "Figure 3: binary tree",
        (
            _compare("terminating links, m + 1 … m + r", "{8, 9}", _format(kinds[NodeKind.TERMINATING])),
            _compare("connector links, from m + r + 1", "{10, 11, 12, 13}", _format(kinds[NodeKind.CONNECTOR])),
            _compare("Φ_4", "{4, 10, 11}", _format(tree.path(4))),
            _compare("Ψ_1", "{1, 2, 3, 12, 13}", _format(tree.descendants(1))),
            _compare("right side of (8)", "0 10 11 4 5 8", _format_path(tree, 8)),
            _compare("right side of (9)", "0 10 6 7 9", _format_path(tree, 9)),
            _compare("left side of (8)", "0 1 13", _format_path(tree, 13)),
            _compare("left side of (9)", "0 1 2 12", _format_path(tree, 12)),
            _compare("most immediate descendants of a link", 2, most),
            Comparison(
                "pairs (i, j) of (30), by Φ and by Ψ",
                "equal",
                f"{pairs} and {reversed_pairs}",
                Agreement.of(pairs == reversed_pairs),
                "the print has Ψ_i under the inner sum on the right side; it is Ψ_j",
            ),
        ),
        open=FIGURE_IS_MISSING,
    )


def _compare(name: str, paper: int | str, value: int | str) -> Comparison:
    return Comparison(name, paper, value, Agreement.of(paper == value))


def _format(numbers: Iterable[int]) -> str:
    return "{" + ", ".join(str(number) for number in sorted(numbers)) + "}"


def _format_path(tree: BinaryTree, number: int) -> str:
    """Return the nodes from the base to a node, as the superscripts of the transforms in (8) and (9)."""
    return " ".join(str(node) for node in (0, *reversed(tree.path(number))))


def _list_descendants(children: list[tuple[int, int]], link: int) -> list[int]:
    below = [child for parent, child in children if parent == link]
    return below + [further for child in below for further in _list_descendants(children, child)]
