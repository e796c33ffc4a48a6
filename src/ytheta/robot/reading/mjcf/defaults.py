"""Default classes of MJCF. An element inherits attributes from its class, and a class from its parent class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ytheta.errors import suggest_names
from ytheta.files.xml_document import Node

Attributes: TypeAlias = Mapping[str, str]

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
MAIN = "main"
ATTACHED = "attached elements"  # class of elements of attached models, which have their defaults already

# An element may give only the beginning of these lists; the rest is inherited.
_PARTIAL_LISTS = ("size", "damping", "stiffness", "gear", "polycoef")

# All kinds of actuators share the defaults of a class.
_ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion"),
    *("dcmotor", "pid", "orientation", "plugin"),
)


@dataclass(frozen=True)
class Defaults:
    """Attributes by class and kind of element."""

    classes: Mapping[str, Mapping[str, Attributes]]

    def apply(self, node: Node, kind: str, childclass: str | None = None) -> Node:
        """Return the element with inherited attributes; the ``class`` of the element overrides ``childclass``."""
        name = node.attributes.get("class", childclass or MAIN)
        if name not in self.classes:
            known = [known for known in self.classes if known != ATTACHED]
            raise node.error(f"the default class {name!r} does not exist{suggest_names(name, known)}")
        inherited = self.classes[name].get(kind)
        return node if inherited is None else replace(node, attributes=_merge(inherited, node.attributes))


def read_defaults(sections: Iterable[Node]) -> Defaults:
    """Read the classes of all ``<default>`` sections; each class starts as a copy of its parent class."""
    classes: dict[str, dict[str, Attributes]] = {MAIN: {}, ATTACHED: {}}
    for section in sections:
        if section.get("class", MAIN) != MAIN:
            raise section.error(
                f"the outermost default class must be called 'main'; put class {section.text('class')!r} into a "
                "<default> inside it"
            )
        _read_section(section, classes)
    return Defaults(classes)


def _read_section(section: Node, classes: dict[str, dict[str, Attributes]]) -> None:
    waiting = [(section, classes[MAIN])]
    while waiting:
        node, attributes = waiting.pop()
        for child in node.children:
            if child.tag != "default":
                kind = find_kind(child.tag)
                attributes[kind] = _merge(attributes.get(kind, {}), child.attributes)
        for child in node.all("default"):
            name = child.text("class")
            if name in classes:
                raise child.error(f"the default class {name!r} is defined twice; rename one of them")
            classes[name] = dict(attributes)
            waiting.append((child, classes[name]))


def find_kind(tag: str) -> str:
    """Return the kind under which the defaults of this tag are stored."""
    return "general" if tag in _ACTUATORS else tag


def _merge(inherited: Attributes, explicit: Attributes) -> dict[str, str]:
    has_orientation = any(key in explicit for key in ORIENTATIONS)
    merged = {key: value for key, value in inherited.items() if not (has_orientation and key in ORIENTATIONS)}
    for key, value in explicit.items():
        pieces = value.split()
        if key in _PARTIAL_LISTS and key in inherited:
            value = " ".join((*pieces, *inherited[key].split()[len(pieces) :]))
        merged[key] = value
    return merged
