"""The robot in an MJCF file, and the elements of its bodies and joints; inertias of meshes may be unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ytheta.exporting.descriptions.wrench_joints import match_wrench_joints
from ytheta.files.xml_document import Node
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, Link
from ytheta.robot.reading.mjcf.actuators import Actuation, read_actuators
from ytheta.robot.reading.mjcf.bodies import Body, read_bodies
from ytheta.robot.reading.mjcf.compiler import Compiler, read_compiler
from ytheta.robot.reading.mjcf.defaults import read_defaults
from ytheta.robot.reading.mjcf.document import insert_includes, merge_sections
from ytheta.robot.reading.mjcf.reader import read_mjcf
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.robot import Robot

_NO_SNAPPING = Snapper(0.0)


@dataclass(frozen=True, eq=False)
class MjcfFile:
    """An MJCF file with its includes.

    Attributes
    ----------
    root      the root element, with all included files inserted
    robot     the robot of the file; links whose inertia depends on a mesh have none
    unknown   names of these links
    bodies    the bodies without the world, by name
    joints    the elements of the movable joints with inherited attributes, by name
    compiler  settings of the file
    actuation rotor inertia and damping of the actuators, by joint
    """

    root: Node
    robot: Robot
    unknown: frozenset[str]
    bodies: dict[str, Body]
    joints: dict[str, Node]
    compiler: Compiler
    actuation: dict[str, Actuation]


def read_mjcf_file(root: Node, path: Path, written: Robot) -> MjcfFile:
    """Read the main file of a robot, given its root element. ``written`` is the robot that is written to it."""
    whole = insert_includes(root, path)
    compiler = read_compiler(merge_sections(whole, "compiler"))
    defaults = read_defaults(whole.all("default"))
    bodies = read_bodies(merge_sections(whole, "worldbody"), compiler, defaults, _NO_SNAPPING)[1:]
    unknown = {body.name: body for body in bodies if body.content.find_meshes(compiler)}
    if unknown and compiler.settotalmass > 0.0:
        raise whole.error(
            "'settotalmass' distributes a mass over meshes, which are not opened; remove it from the file"
        )
    hidden = {geom.start: geom.path for body in unknown.values() for geom in body.content.find_meshes(compiler)}
    robot = read_mjcf(_without(whole, hidden), path, 0.0, fix_base=not written.floating)
    if written.floating and not robot.floating:
        raise whole.error(
            f"{written.name!r} has a floating base, but the file has no free joint; add <freejoint/> to its base, or "
            "write a new file from a model in TOML"
        )
    robot = match_wrench_joints(robot, written, file=path.name)
    robot = replace(robot, links=tuple(Link(x.name, Inertia()) if x.name in unknown else x for x in robot.links))
    joints = dict(_pair_joints(bodies, robot))
    actuators = merge_sections(whole, "actuator").children
    names = {node.get("name", "") for body in bodies for node, _ in body.joints}
    actuation = read_actuators(actuators, names, defaults, compiler)
    return MjcfFile(whole, robot, frozenset(unknown), {body.name: body for body in bodies}, joints, compiler, actuation)


def _without(node: Node, hidden: dict[int, Path]) -> Node:
    """Return an element without these descendants, each given by its place."""
    kept = (child for child in node.children if not (child.tag == "geom" and hidden.get(child.start) == child.path))
    return replace(node, children=tuple(_without(child, hidden) for child in kept))


def _pair_joints(bodies: tuple[Body, ...], robot: Robot) -> Iterator[tuple[str, Node]]:
    """Yield name and element of every movable joint; the reader has named joints that have no name."""
    above: dict[str, Joint] = {joint.child: joint for joint in robot.joints}
    for body in bodies:
        name = body.name
        for node, _ in reversed([pair for pair in body.joints if _is_scalar(pair[0])]):
            yield above[name].name, node
            name = above[name].parent


def _is_scalar(node: Node) -> bool:
    return node.tag == "joint" and node.get("type", "hinge") in ("hinge", "slide")
