"""Reads SDF, following the specification of SDFormat 1.2 to 1.12.

A model is a graph of links and joints: joints beyond a tree close loops. A model that no joint connects to the world
floats. Included models, nested models and frames are resolved; ``<mimic>``, screws and gearboxes become couplings,
springs of joints become forces, and joints with several degrees of freedom become chains of hinges. Of several models,
the one whose joints move is the robot. Plugins, sensors, visuals and contacts are ignored. Meshes are opened only if an
inertia is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ytheta.conventions import CLOSURE_TOLERANCE, STANDARD_GRAVITY
from ytheta.files.expressions import format_position
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.checks import make_unique
from ytheta.robot.frame import Frame, Vector, to_vector
from ytheta.robot.loops.independent import ACTUATED, choose_actuated
from ytheta.robot.parts import CollisionShape, Coupling, Force, Link
from ytheta.robot.reading.description import FindingCollector, find_closure_tolerance
from ytheta.robot.reading.sdf.assembly import Assembly, RobotSelection, assemble, is_movable, select_robot
from ytheta.robot.reading.sdf.document import MERGED, FileFinder, expand_document
from ytheta.robot.reading.sdf.elements import read_flag, read_number, read_numbers, require_text
from ytheta.robot.reading.sdf.joints import GEARBOX, PLANAR, TYPES, UNIVERSAL, ChainReader, SdfJoint
from ytheta.robot.reading.sdf.links import SolidShape, locate_collision, read_collision, read_inertia
from ytheta.robot.reading.sdf.models import (
    SEPARATOR,
    WORLD,
    BodyFinder,
    FrameGraph,
    FramePlacement,
    SdfContent,
    read_content,
)
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.robot import Robot

# Gravity (m/s^2) of a world without <gravity>. Chosen on: the SDF specification.
WORLD_GRAVITY = (0.0, 0.0, -9.8)
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


def _list_nodes(selection: RobotSelection, content: SdfContent) -> list[Node]:
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


def _read_joint(key: str, placed: FramePlacement, bodies: BodyFinder, snapper: Snapper) -> SdfJoint:
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


def _rename(joint: SdfJoint, selection: RobotSelection) -> SdfJoint:
    return replace(joint, name=joint.key.removeprefix(selection.prefix))


def _build(
    selection: RobotSelection,
    assembly: Assembly,
    couplings: Iterable[Coupling],
    content: SdfContent,
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
    content: SdfContent,
    graph: FrameGraph,
    files: FileFinder,
    findings: FindingCollector,
) -> CollisionShape | None:
    frame = locate_collision(node, key, content.placed[key].scope, graph)
    return read_collision(name, node, frame, files, findings)


def _read_springs(selection: RobotSelection, moving: set[str], used: set[str]) -> Iterable[Force]:
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


# Couplings of SDF joints: ``<mimic>`` and gearboxes.
#
# A mimic joint follows another one: ``position = multiplier * (leader - reference) + offset``. A gearbox couples the
# angles of its parent and of its child, both seen from a reference body: ``theta_2 = -ratio * theta_1``.


# Largest 1 - |cos| of the angle between axes of a gearbox that count as parallel: 2.6 degrees. Chosen on: rule of
# thumb.
MAX_COSINE_LOSS = 1e-3


def read_mimics(joints: Mapping[str, SdfJoint], bodies: BodyFinder) -> Iterator[Coupling]:
    """Yield the couplings of all joints that follow another one."""
    for joint in joints.values():
        for tag in ("axis", "axis2"):
            axis = joint.node.first(tag)
            mimic = None if axis is None else axis.first("mimic")
            if mimic is not None:
                yield _read_mimic(joint, tag, mimic, joints, bodies)


def _read_mimic(joint: SdfJoint, tag: str, mimic: Node, joints: Mapping[str, SdfJoint], bodies: BodyFinder) -> Coupling:
    key = bodies.graph.find(mimic.text("joint"), joint.scope, mimic)
    if key not in joints:
        raise mimic.error(f"{mimic.text('joint')!r} is not a joint of this model; name the joint that is followed")
    factor = read_number(mimic, "multiplier", 1.0)
    offset = read_number(mimic, "offset", 0.0) - factor * read_number(mimic, "reference", 0.0)
    leader = name_position(joints[key], mimic.get("axis", "axis"))
    return Coupling(name_position(joint, tag), ((leader, factor),), offset)


def name_position(joint: SdfJoint, tag: str) -> str:
    """Return the name of the position that belongs to an axis of a joint."""
    if joint.kind in UNIVERSAL:
        return f"{joint.name}.{'2' if tag == 'axis2' else '1'}"
    return joint.name


def read_gearboxes(
    gearboxes: Iterable[SdfJoint], joints: Mapping[str, SdfJoint], reader: ChainReader, bodies: BodyFinder
) -> Iterator[Coupling]:
    """Yield the couplings of gearboxes between two hinges on a common body."""
    for gearbox in gearboxes:
        coupling = _read_gearbox(gearbox, list(joints.values()), reader, bodies)
        if coupling is not None:
            yield coupling


def _read_gearbox(
    gearbox: SdfJoint, joints: Sequence[SdfJoint], reader: ChainReader, bodies: BodyFinder
) -> Coupling | None:
    node = gearbox.node
    reference = bodies.find_link(require_text(node, "gearbox_reference_body"), gearbox.scope, node)
    ratio = read_number(node, "gearbox_ratio", 1.0)
    first = _find_hinge(gearbox, "axis", gearbox.parent, reference, joints, reader)
    second = _find_hinge(gearbox, "axis2", gearbox.child, reference, joints, reader)
    if first is None or second is None:
        reader.findings.warn(
            "gearboxes are ignored unless hinges with parallel axes connect both sides to the reference body: {}",
            gearbox.name,
        )
        return None
    return Coupling(second[0], ((first[0], -ratio * first[1] / second[1]),))


def _find_hinge(
    gearbox: SdfJoint, tag: str, link: str, reference: str, joints: Sequence[SdfJoint], reader: ChainReader
) -> tuple[str, float] | None:
    """Return the hinge between the reference body and a link, and the sign of its position about the gearbox's axis."""
    direction = _compute_axis_in_world(gearbox, reader, tag)
    for joint in joints:
        if joint.kind in ("revolute", "continuous") and {joint.parent, joint.child} == {reference, link}:
            cosine = float(direction @ _compute_axis_in_world(joint, reader, "axis"))
            if 1.0 - abs(cosine) > MAX_COSINE_LOSS:
                return None
            return joint.name, (1.0 if cosine > 0.0 else -1.0) * (1.0 if joint.parent == reference else -1.0)
    return None


def _compute_axis_in_world(joint: SdfJoint, reader: ChainReader, tag: str) -> np.ndarray:
    frame = reader.graph.relate(joint.key, WORLD)
    return np.array(to_vector(np.array(frame.rotation) @ np.array(reader.read_axis(joint, tag))))


# Elements in the models of a robot that SDF does not define: extensions of other programs, and misplaced elements.
#
# Such elements are ignored. Some of them change the dynamics, such as ``<drake:linear_bushing_rpy>`` or
# ``<soft_shape>`` of DART, so that a warning names them.


_PLACE = ("pose", "frame")
_MODEL = (
    *_PLACE,
    "allow_auto_disable",
    "enable_wind",
    "gripper",
    "include",
    "joint",
    "link",
    MERGED,
    "model",
    "plugin",
)
_LINK = (
    *_PLACE,
    "audio_sink",
    "audio_source",
    "battery",
    "collision",
    "enable_wind",
    "gravity",
    "inertial",
    "kinematic",
)
_JOINT = (*_PLACE, "axis", "axis2", "child", "gearbox_ratio", "gearbox_reference_body", "parent", "physics", "plugin")
_AXIS = ("xyz", "dynamics", "initial_position", "limit", "mimic", "use_parent_model_frame")

# The elements of SDF 1.2 to 1.12 inside of those that the dynamics depend on.
_DEFINED = {
    "model": {*_MODEL, "self_collide", "static"},
    "link": {
        *(*_LINK, "light", "must_be_base_link", "particle_emitter", "plugin", "projector", "self_collide", "sensor"),
        *("velocity_decay", "visual"),
    },
    "inertial": {*_PLACE, "auto_inertia_params", "density", "fluid_added_mass", "inertia", "mass"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
    "joint": {*_JOINT, "screw_thread_pitch", "sensor", "thread_pitch"},
    "axis": set(_AXIS),
    "axis2": set(_AXIS),
    "dynamics": {"damping", "friction", "spring_reference", "spring_stiffness"},
    "limit": {"dissipation", "effort", "lower", "stiffness", "upper", "velocity"},
}
_DEFINED[MERGED] = _DEFINED["model"]

# Extensions that are read, and those of contacts, views and controllers.
_READ = {"drake:acceleration", "drake:damping", "drake:gear_ratio", "drake:rotor_inertia"}
_HARMLESS = {
    *("drake:collision_filter_group", "drake:controller_gains", "drake:illustration_properties"),
    *("drake:perception_properties", "drake:proximity_properties"),
    "contact",  # in links, for Bullet
    "soft_contact",
}

_STATEMENT = "elements that SDF does not define are ignored, although they may change the dynamics: {}"


def report_foreign_elements(nodes: Iterable[Node], findings: FindingCollector) -> None:
    """Add a warning about all elements that SDF does not define inside of these models, links and joints."""
    named: set[tuple[str, str]] = set()
    for node in nodes:
        for parent, child in _find_foreign(node):
            if (parent.tag, child.tag) not in named:
                named.add((parent.tag, child.tag))
                findings.warn(_STATEMENT, f"<{child.tag}> in <{parent.tag}> ({child.path.name}, line {child.line})")


def _find_foreign(node: Node) -> Iterator[tuple[Node, Node]]:
    """Yield pairs of an element and one inside of it that SDF does not define.

    Models, links and joints inside are not searched, since they are arguments of their own.
    """
    for child in node.children:
        if child.tag in _DEFINED[node.tag]:
            if child.tag in _DEFINED and child.tag not in ("model", MERGED, "link", "joint"):
                yield from _find_foreign(child)
        elif child.tag not in _READ and child.tag not in _HARMLESS:
            yield node, child
