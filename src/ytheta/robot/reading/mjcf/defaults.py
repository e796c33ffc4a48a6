"""Default classes of MJCF: what an element inherits from its class, and a class from the one it is nested in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node

Attributes: TypeAlias = Mapping[str, str]

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
MAIN = "main"

# Of these lists an element may give only the beginning; the rest is inherited.
_LISTS = ("size", "damping", "stiffness", "gear", "polycoef")

# All actuators of a class share one set of defaults, whatever word it was written with.
_ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"),
    *("dcmotor", "pid", "orientation", "plugin"),
)


@dataclass(frozen=True)
class Defaults:
    """Attributes by class and kind of element."""

    classes: Mapping[str, Mapping[str, Attributes]]

    def applied(self, node: Node, kind: str, childclass: str | None = None) -> Node:
        """The element with what it inherits; its own class comes before the one set for it by bodies and frames."""
        name = node.attributes.get("class", childclass or MAIN)
        if name not in self.classes:
            raise node.error(f"the default class {name!r} does not exist{suggest_names(name, self.classes)}")
        inherited = self.classes[name].get(kind)
        return node if inherited is None else replace(node, attributes=_merged(inherited, node.attributes))


def read_defaults(sections: Iterable[Node]) -> Defaults:
    """The classes of all ``<default>`` sections; each class starts as a copy of what surrounds it."""
    classes: dict[str, dict[str, Attributes]] = {MAIN: {}}
    for section in sections:
        if section.get("class", MAIN) != MAIN:
            raise section.error(
                f"the outermost default class is always called 'main'; put class {section.text('class')!r} into a "
                "<default> of its own"
            )
        _read(section, classes)
    return Defaults(classes)


def _read(section: Node, classes: dict[str, dict[str, Attributes]]) -> None:
    waiting = [(section, classes[MAIN])]
    while waiting:
        node, own = waiting.pop()
        for child in node.children:
            if child.tag != "default":
                kind = kind_of(child.tag)
                own[kind] = _merged(own.get(kind, {}), child.attributes)
        for child in node.all("default"):
            name = child.text("class")
            if name in classes:
                raise child.error(f"the default class {name!r} is defined twice; rename one of them")
            classes[name] = dict(own)
            waiting.append((child, classes[name]))


def kind_of(tag: str) -> str:
    """The name under which elements share their defaults."""
    return "general" if tag in _ACTUATORS else tag


def _merged(inherited: Attributes, own: Attributes) -> dict[str, str]:
    turned = any(key in own for key in ORIENTATIONS)
    merged = {key: value for key, value in inherited.items() if not (turned and key in ORIENTATIONS)}
    for key, value in own.items():
        pieces = value.split()
        if key in _LISTS and key in inherited:
            value = " ".join((*pieces, *inherited[key].split()[len(pieces) :]))
        merged[key] = value
    return merged
