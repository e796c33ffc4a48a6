"""The bodies of an MJCF file, with ``<frame>`` elements resolved and default classes applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ytheta.files.xml_document import Node
from ytheta.robot.frame import IDENTITY, Frame, to_vector
from ytheta.robot.reading.mjcf.compiler import Compiler
from ytheta.robot.reading.mjcf.defaults import Defaults
from ytheta.robot.reading.mjcf.masses.inertia import Content
from ytheta.robot.reading.mjcf.orientation import read_pose
from ytheta.robot.reading.snap import Snapper

WORLD = "world"
_GENERATING_TAGS = ("replicate", "attach", "composite", "flexcomp")


@dataclass(frozen=True)
class Placed:
    """An element of a body, the pose of the ``<frame>`` elements around it, and the default class that it inherits."""

    node: Node
    around: Frame
    childclass: str | None


@dataclass(frozen=True)
class Body:
    """One body. ``pose`` is its initial frame seen from its parent, ``start`` is the same frame seen from the world."""

    name: str
    parent: str
    node: Node
    pose: Frame
    start: Frame
    joints: tuple[tuple[Node, Frame], ...]
    sites: tuple[tuple[Node, Frame], ...]
    content: Content


def read_bodies(worldbody: Node, compiler: Compiler, defaults: Defaults, snapper: Snapper) -> tuple[Body, ...]:
    """Return the world and all bodies, parents before children, in MuJoCo's order."""
    used_names = _collect_names(worldbody)
    bodies: list[Body] = []
    waiting = [(Placed(worldbody, IDENTITY, None), "", IDENTITY)]
    while waiting:
        placed, parent, parent_start = waiting.pop()
        node = placed.node
        name = (node.get("name", "") or make_unique(f"body{len(bodies)}", used_names)) if bodies else WORLD
        pose = read_pose(node, compiler, snapper)
        local = placed.around @ pose
        start = parent_start @ local
        content = list(_flatten(node, node.attributes.get("childclass", placed.childclass), compiler, snapper))
        inertials = _select_elements(content, "inertial", defaults)
        if len(inertials) > 1:
            raise inertials[1][0].error("the body has two <inertial> elements; keep one")
        bodies.append(
            Body(
                name,
                parent,
                node,
                local,
                start,
                joints=(
                    *_select_elements(content, "freejoint", defaults),
                    *_select_elements(content, "joint", defaults),
                ),
                sites=_select_elements(content, "site", defaults),
                content=Content(
                    inertials[0] if inertials else None,
                    _select_elements(content, "geom", defaults),
                    center=to_vector(pose.matrix[:3, 3]),
                ),
            )
        )
        children = [(item, name, start) for item in content if item.node.tag == "body"]
        waiting.extend(reversed(children))
    return tuple(bodies)


def _collect_names(worldbody: Node) -> set[str]:
    """Return the names of all bodies and of the world; repeated names are errors."""
    names, waiting = {WORLD}, [worldbody]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        name = node.get("name", "") if node.tag == "body" else ""
        if name in names:
            raise node.error(f"the body name {name!r} is used twice (the world is called 'world'); rename one of them")
        names |= {name} - {""}
    return names


def _select_elements(content: Iterable[Placed], tag: str, defaults: Defaults) -> tuple[tuple[Node, Frame], ...]:
    return tuple(
        (defaults.apply(item.node, tag, item.childclass), item.around) for item in content if item.node.tag == tag
    )


def _flatten(body: Node, childclass: str | None, compiler: Compiler, snapper: Snapper) -> Iterator[Placed]:
    """Yield the elements of a body, including those inside frames, in the order of the file."""
    waiting = [Placed(child, IDENTITY, childclass) for child in reversed(body.children)]
    while waiting:
        item = waiting.pop()
        node = item.node
        if node.tag in _GENERATING_TAGS:
            raise node.error(
                f"<{node.tag}> generates elements when MuJoCo compiles the model, which is not supported; load the "
                "model with MuJoCo, save it with mj_saveLastXML, and read the saved file"
            )
        if node.tag != "frame":
            yield item
            continue
        for key in ("scale", "massscale"):
            if key in node.attributes:
                raise node.error(
                    f"'{key}' of a frame is not supported; load the model with MuJoCo, save it with mj_saveLastXML, "
                    "and read the saved file"
                )
        around = item.around @ read_pose(node, compiler, snapper)
        childclass = node.attributes.get("childclass", item.childclass)
        waiting.extend(Placed(child, around, childclass) for child in reversed(node.children))


def make_unique(proposal: str, used_names: set[str]) -> str:
    """Return the proposed name, with a number appended if it is already used. The result is added to ``used_names``."""
    name, count = proposal, 2
    while name in used_names:
        name, count = f"{proposal}_{count}", count + 1
    used_names.add(name)
    return name
