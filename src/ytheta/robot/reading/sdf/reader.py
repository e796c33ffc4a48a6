"""Reads SDF, following the specification of SDFormat 1.2 to 1.12.

A model is a graph of links and joints: joints beyond a tree close loops. A model that no joint connects to the world
floats. Included models, nested models and frames are resolved; ``<mimic>``, screws and gearboxes become couplings,
springs of joints become forces, and joints with several degrees of freedom become chains of hinges. Of several models,
the one whose joints move is the robot. Plugins, sensors, visuals and contacts are ignored. Meshes are opened only if an
inertia is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ytheta.conventions import CLOSURE_TOLERANCE, STANDARD_GRAVITY
from ytheta.files.expressions import format_position
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.collision import CollisionShape
from ytheta.robot.frame import Frame, Vector, to_vector
from ytheta.robot.parts import Coupling, Force, Link
from ytheta.robot.reading.actuated import ACTUATED, choose_actuated
from ytheta.robot.reading.digits import find_closure_tolerance
from ytheta.robot.reading.mjcf.bodies import make_unique
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.sdf.assembly import Assembly, assemble
from ytheta.robot.reading.sdf.couplings import name_position, read_gearboxes, read_mimics
from ytheta.robot.reading.sdf.elements import read_flag, read_number, read_numbers, require_text
from ytheta.robot.reading.sdf.expansion.document import expand_document
from ytheta.robot.reading.sdf.expansion.uris import FileFinder
from ytheta.robot.reading.sdf.foreign_elements import report_foreign_elements
from ytheta.robot.reading.sdf.frames import SEPARATOR, WORLD, FrameGraph, Placed
from ytheta.robot.reading.sdf.inertias import SolidShape, read_inertia
from ytheta.robot.reading.sdf.joints import GEARBOX, PLANAR, TYPES, ChainReader, SdfJoint
from ytheta.robot.reading.sdf.models import BodyFinder, Content, read_content
from ytheta.robot.reading.sdf.selection import Selection, is_movable, select_robot
from ytheta.robot.reading.sdf.shapes import locate_collision, read_collision
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.robot import Robot

WORLD_GRAVITY = (0.0, 0.0, -9.8)  # m/s^2, of a world without <gravity>
_ROUNDED_DIGITS = 14  # of positions that are differences of positions in the file


def read_sdf(
    root: Node,
    path: Path,
    snap: float,
    *,
    fix_base: bool = False,
    package_paths: Sequence[Path] = (),
    allow_paths: Sequence[Path] = (),
) -> Robot:
    """Read a robot from the root element of an SDF document."""
    findings, snapper = FindingCollector("sdf"), Snapper(snap)
    files = FileFinder(path, package_paths, allow_paths)
    document = expand_document(root, files, findings)
    root = document.root
    world = _find_world(root)
    content = read_content(world or root, findings)
    graph = FrameGraph(content.placed, snapper)
    bodies = BodyFinder(content, graph)
    joints = {key: _read_joint(key, placed, bodies, snapper) for key, placed in content.joints.items()}
    if document.missing and not any(is_movable(joint) for joint in joints.values()):
        raise document.missing[0]  # the robot is one of the missing models
    selection = select_robot(content, joints, root, findings)
    selection = replace(selection, joints={key: _rename(joint, selection) for key, joint in selection.joints.items()})
    gearboxes = [joint for joint in selection.joints.values() if joint.kind == GEARBOX]
    hinges = {key: joint for key, joint in selection.joints.items() if joint.kind != GEARBOX}
    selection = replace(selection, joints=hinges)
    report_foreign_elements(_list_nodes(selection, content), findings)
    reader = ChainReader(graph, snapper, findings)
    couplings = [*read_mimics(hinges, bodies), *read_gearboxes(gearboxes, hinges, reader, bodies)]
    coupled = {name for coupling in couplings for name in (coupling.joint, *(name for name, _ in coupling.terms))}
    keys = {key for key, joint in hinges.items() if {name_position(joint, tag) for tag in ("axis", "axis2")} & coupled}
    assembly = assemble(selection, reader, content.static, fix_base=fix_base, coupled=keys)
    robot = _build(selection, assembly, couplings, content, graph, files, findings)
    robot = replace(
        robot,
        gravity=_read_gravity(world),
        closure_tolerance=find_closure_tolerance(root.descendants()) if robot.loops else CLOSURE_TOLERANCE,
        findings=(*snapper.findings, *findings.findings),
        source=path.name,
    )
    return _choose_actuated(robot)


def _choose_actuated(robot: Robot) -> Robot:
    """Return the robot with its actuated coordinates. If it has loops, effort limits suggest them."""
    if not robot.loops:
        return robot
    driven = [joint.name for joint in robot.movable if 0.0 < joint.limits.effort < math.inf]
    is_told = 0 < len(driven) < len(robot.movable)
    robot = choose_actuated(robot, driven if is_told else (), names_actuators=False)
    reason = "joints with an effort limit count as driven" if is_told else "effort limits do not suggest them either"
    names = tuple(name for name in robot.actuated if name not in robot.base_coordinates)
    statement = f"SDF does not name actuators, and {reason}; the loops leave these coordinates actuated: "
    remedy = "if others have motors, name them under 'actuated' in a TOML file that extends this one"
    finding = Finding(ACTUATED, Severity.NOTE, statement + (", ".join(names) or "none"), remedy, names)
    return replace(robot, findings=(*robot.findings, finding))


def _list_nodes(selection: Selection, content: Content) -> list[Node]:
    """Return the elements of the robot's models, links and joints."""
    tops = {content.top_models[key] for key in selection.links}
    models = [
        placed.node
        for key, placed in content.placed.items()
        if placed.inner is not None and any(key == top or key.startswith(top + SEPARATOR) for top in tops)
    ]
    return [*models, *selection.links.values(), *(joint.node for joint in selection.joints.values())]


def _find_world(root: Node) -> Node | None:
    worlds = list(root.all("world"))
    if len(worlds) > 1:
        raise worlds[1].error("the file has several worlds; save the one that is meant as a file of its own")
    return worlds[0] if worlds else None


def _read_joint(key: str, placed: Placed, bodies: BodyFinder, snapper: Snapper) -> SdfJoint:
    node, scope = placed.node, placed.scope
    kind = node.text("type")
    if kind not in TYPES:
        raise node.error(f"the joint type {kind[:40]!r} is unknown; use one of {', '.join(TYPES)}")
    parent = bodies.find_link(require_text(node, "parent"), scope, node)
    child = bodies.find_link(require_text(node, "child"), scope, node)
    if parent == child:
        raise node.error(f"the joint connects {parent!r} to itself; name two different links")
    graph = bodies.graph
    placement, seat = graph.relate(key, parent), graph.relate(child, key)
    if kind == PLANAR:  # the frames that it names coincide at position zero, wherever the file places them
        on_parent, on_child = (graph.find(require_text(node, end), scope, node) for end in ("parent", "child"))
        placement, seat = graph.relate(on_parent, parent), graph.relate(child, on_child)
    return SdfJoint(
        key, key, kind, node, scope, parent, child, _clean(placement, node, snapper), _clean(seat, node, snapper)
    )


def _clean(frame: Frame, node: Node, snapper: Snapper) -> Frame:
    """Return a frame that was computed from poses of the file without the rounding errors of this computation."""
    frame = snapper.snap_rotation(frame, node.where)
    translation = to_vector(frame.matrix[:3, 3])
    scale = max(map(abs, translation))
    digits = _ROUNDED_DIGITS - (math.ceil(math.log10(scale)) if 1.0 < scale < math.inf else 0)
    x, y, z = (round(entry, digits) + 0.0 if math.isfinite(entry) else entry for entry in translation)
    return Frame((x, y, z), frame.rotation)


def _rename(joint: SdfJoint, selection: Selection) -> SdfJoint:
    return replace(joint, name=joint.key.removeprefix(selection.prefix))


def _build(
    selection: Selection,
    assembly: Assembly,
    couplings: Iterable[Coupling],
    content: Content,
    graph: FrameGraph,
    files: FileFinder,
    findings: FindingCollector,
) -> Robot:
    links, shapes = [Link(WORLD)], list[CollisionShape]()
    for key, node in selection.links.items():
        name = selection.name_link(key)
        solids = [
            SolidShape(shape, collision)
            for collision in node.all("collision")
            if (shape := _read_shape(name, key, collision, content, graph, files, findings)) is not None
        ]
        links.append(Link(name, read_inertia(name, node, solids, findings)))
        shapes += [solid.shape for solid in solids]
        _report_ignored_forces(name, node, findings)
    links += [Link(name, has_inertia=False) for name in assembly.between]
    in_tree = {joint.name for joint in assembly.joints if joint.moves}
    kept = []
    for coupling in couplings:
        if {coupling.joint, *(name for name, _ in coupling.terms)} <= in_tree:
            kept.append(coupling)
        else:
            findings.warn("couplings of joints that close loops or do not move are ignored: {}", coupling.joint)
    moving = {joint.name for joint in (*assembly.joints, *(loop.joint for loop in assembly.loops)) if joint.moves}
    used = {link.name for link in links} | {joint.name for joint in assembly.joints} | moving
    return Robot(
        name=selection.name,
        links=tuple(links),
        joints=tuple(assembly.joints),
        loops=tuple(assembly.loops),
        couplings=(*assembly.couplings, *kept),
        forces=tuple(_read_springs(selection, moving, used)),
        home=assembly.home,
        collision=tuple(shapes),
    )


def _read_shape(
    name: str,
    key: str,
    node: Node,
    content: Content,
    graph: FrameGraph,
    files: FileFinder,
    findings: FindingCollector,
) -> CollisionShape | None:
    frame = locate_collision(node, key, content.placed[key].scope, graph)
    return read_collision(name, node, frame, files, findings)


def _read_springs(selection: Selection, moving: set[str], used: set[str]) -> Iterable[Force]:
    for joint in selection.joints.values():
        for tag in ("axis", "axis2"):
            axis = joint.node.first(tag)
            dynamics = None if axis is None else axis.first("dynamics")
            name = name_position(joint, tag)
            stiffness = 0.0 if dynamics is None else read_number(dynamics, "spring_stiffness", 0.0)
            if dynamics is None or stiffness == 0.0 or name not in moving:
                continue
            rest = read_number(dynamics, "spring_reference", 0.0)
            position = format_position(name)
            deflection = f"{position} {'-' if rest > 0.0 else '+'} {abs(rest)!r}" if rest else position
            yield Force(make_unique(f"{name}_spring", used), ((name, deflection),), value=stiffness)


def _report_ignored_forces(name: str, node: Node, findings: FindingCollector) -> None:
    if not read_flag(node, "gravity", default=True):
        findings.warn("gravity acts on links for which it is switched off in the file: {}", name)
    decay = node.first("velocity_decay")
    if decay is not None and any(read_number(decay, key, 0.0) for key in ("linear", "angular")):
        findings.warn("the velocity_decay of links is ignored: {}", name)


def _read_gravity(world: Node | None) -> Vector:
    """Return the gravity of the world; SDF's default if it gives none, and standard gravity without a world."""
    if world is None:
        return STANDARD_GRAVITY
    return to_vector(read_numbers(world, "gravity", 3, WORLD_GRAVITY))
