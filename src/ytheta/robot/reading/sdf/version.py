"""Versions of SDF: elements of older versions as those of the newest.

Up to version 1.4, the axis of a joint was given in the axes of its model; in 1.5 and 1.6, only if the joint has
``<use_parent_model_frame>``. Since 1.7, the attribute ``expressed_in`` names the frame. The attribute ``frame`` of
poses became ``relative_to`` in version 1.7. Before, a joint or frame could have the name of a link of its model; it is
renamed as libsdformat does. Up to version 1.5, the gravity of a world was given in its ``<physics>``.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from ytheta.files.xml_document import Node
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.elements import read_flag

OLDEST, NEWEST = (1, 2), (1, 12)  # 1.3 and 1.4 only added elements
MODEL_FRAME = "__model__"
_FIRST_WITH_RELATIVE_TO = (1, 7)
_FIRST_WITH_JOINT_AXES = (1, 5)
_FIRST_WITH_WORLD_GRAVITY = (1, 6)


def read_version(root: Node) -> tuple[int, int]:
    """Return the version of a document, such as (1, 9). RobotFileError if it cannot be read."""
    text = root.text("version")
    match = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})(\.\d+)*\s*", text)
    if match is None:
        raise root.error(f"version={text[:40]!r} is not a version of SDF; write one such as 1.9")
    version = int(match[1]), int(match[2])
    if version < OLDEST:
        raise root.error(
            f"SDF {version[0]}.{version[1]} is older than {OLDEST[0]}.{OLDEST[1]}, the oldest version that is read; "
            "convert the file with: gz sdf --print"
        )
    if version > NEWEST:
        raise root.error(
            f"SDF {version[0]}.{version[1]} is newer than {NEWEST[0]}.{NEWEST[1]}, the newest that is read; save the "
            "file in an older version"
        )
    return version


def upgrade(node: Node, version: tuple[int, int], findings: FindingCollector) -> Node:
    """Return an element of this version in the form of the newest version."""
    if version >= _FIRST_WITH_RELATIVE_TO:
        return node
    # Without recursion, since elements may be nested deeply: children are upgraded before their parents.
    stack: list[tuple[Node, list[Node]]] = [(node, [])]
    while True:
        parent, upgraded = stack[-1]
        if len(upgraded) < len(parent.children):
            stack.append((parent.children[len(upgraded)], []))
            continue
        stack.pop()
        done = _upgrade(replace(parent, children=tuple(upgraded)), version, findings)
        if not stack:
            return done
        stack[-1][1].append(done)


def _upgrade(node: Node, version: tuple[int, int], findings: FindingCollector) -> Node:
    """Return an element whose children have been upgraded."""
    if node.tag == "model":
        return _make_names_unique(node, findings)
    if node.tag == "world" and version < _FIRST_WITH_WORLD_GRAVITY:
        return _move_gravity(node)
    if node.tag == "pose" and "frame" in node.attributes:
        attributes = {key: value for key, value in node.attributes.items() if key != "frame"}
        return replace(node, attributes=attributes | {"relative_to": node.attributes["frame"]})
    if node.tag in ("axis", "axis2") and node.first("xyz") is not None:
        in_model = read_flag(node, "use_parent_model_frame", default=version < _FIRST_WITH_JOINT_AXES)
        if in_model:
            return replace(node, children=tuple(map(_express_in_model, node.children)))
    return node


def _move_gravity(world: Node) -> Node:
    """Return a world with the gravity of its ``<physics>``, if there is one."""
    physics = world.first("physics")
    gravity = None if physics is None else physics.first("gravity")
    return world if gravity is None else replace(world, children=(gravity, *world.children))


def _express_in_model(child: Node) -> Node:
    if child.tag != "xyz":
        return child
    return replace(child, attributes=child.attributes | {"expressed_in": MODEL_FRAME})


def _make_names_unique(model: Node, findings: FindingCollector) -> Node:
    """Return a model whose joints and frames have other names than its links."""
    links = {child.get("name", "") for child in model.all("link")}
    used = {child.get("name", "") for child in model.children}
    children = []
    for child in model.children:
        name = child.get("name", "")
        if child.tag in ("joint", "frame") and name in links:
            unique = f"{name}_{child.tag}"
            for number in itertools.count():
                if unique not in used:
                    break
                unique = f"{name}_{child.tag}{number}"
            used.add(unique)
            findings.note("joints and frames with the name of a link are renamed: {}", f"{name} to {unique}")
            child = replace(child, attributes=child.attributes | {"name": unique})
        children.append(child)
    return replace(model, children=tuple(children))
