"""References of tendons, equality constraints and actuators to the elements of the tree, and copies of what refers.

If a part of the tree is copied, whatever refers to it is copied too, in its place. As in MuJoCo, an equality constraint
between the part and the rest is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ytheta.files.xml_document import Node

# Attributes that contain names, and the kind of element that has this name.
REFERENCES = {
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("site", "site1", "site2", "refsite", "slidersite", "cranksite", "sidesite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    "geom": "geom",
}
_KINDS = {"body": "body", "joint": "joint", "freejoint": "joint", "site": "site", "geom": "geom"}
_SECTIONS = ("tendon", "equality", "actuator")  # tendons first, since the others refer to them


def collect_names(nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Return the names of these elements and of those inside them, by kind."""
    names: dict[str, set[str]] = {"tendon": set(), **{kind: set() for kind in _KINDS.values()}}
    for node in nodes:
        for element in (node, *node.descendants()):
            if element.tag in _KINDS and element.get("name", ""):
                names[_KINDS[element.tag]].add(element.text("name"))
    return names


def copy_referring(
    sections: Sequence[Node], names: Mapping[str, set[str]], suffixes: Sequence[str]
) -> tuple[list[Node], int]:
    """Return sections in which elements that refer to the names of a part are copied, and the number of the copies."""
    result, names, count = list(sections), {kind: set(of_kind) for kind, of_kind in names.items()}, 0
    for tag in _SECTIONS:
        for k, section in enumerate(result):
            if section.tag != tag:
                continue
            kept: list[Node] = []
            copies: list[Node] = []
            for element in section.children:
                inside = [name in names[kind] for kind, name in _list_references(element)]
                if not any(inside):
                    kept.append(element)
                elif all(inside) or tag != "equality":
                    copies += [_rename(element, names, suffix) for suffix in suffixes]
                    names["tendon"] |= {element.get("name", "")} - {""} if tag == "tendon" else set()
            result[k], count = replace(section, children=(*kept, *copies)), count + len(copies)
    return result, count


def _list_references(element: Node) -> list[tuple[str, str]]:
    nodes = (element, *element.descendants())
    return [
        (kind, node.attributes[key]) for node in nodes for key, kind in REFERENCES.items() if key in node.attributes
    ]


def _rename(element: Node, names: Mapping[str, set[str]], suffix: str) -> Node:
    """Return a copy of an element whose own name, and whose references to the part, end with the suffix."""
    attributes = dict(element.attributes)
    for key, kind in REFERENCES.items():
        if attributes.get(key) in names[kind]:
            attributes[key] += suffix
    if attributes.get("name"):
        attributes["name"] += suffix
    children = tuple(_rename(child, names, suffix) for child in element.children)
    return replace(element, attributes=attributes, children=children)
