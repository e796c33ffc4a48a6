"""Reads MJCF, following the XML reference of MuJoCo.

Angles are in degrees unless ``angle="radian"``. Default classes, includes, frames and several joints in one body are
supported. The inertia comes from the geoms if there is no ``<inertial>``. Connect and weld constraints become loops,
joint equalities become couplings, and springs of joints become forces. The world becomes the base link; a free joint
makes the base of the robot float. Geoms that can collide become collision shapes. Actuators of fixed tendons drive the
joints of the tendon. Contacts, spatial tendons, soft bodies, sensors and visual elements are ignored. Meshes are opened
only if the inertia of a moving body depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from ytheta.conventions import CLOSURE_TOLERANCE, STANDARD_GRAVITY
from ytheta.errors import InputError, suggest_names
from ytheta.files.xml_document import Node
from ytheta.robot.checks import check_shape
from ytheta.robot.floating import list_home
from ytheta.robot.frame import AXES, Frame, Vector, to_vector
from ytheta.robot.loops.independent import choose_actuated
from ytheta.robot.parameters import describe_missing_meshes
from ytheta.robot.parts import CollisionShape, Joint, JointKind, Link, ShapeKind, describe_mesh
from ytheta.robot.reading.description import FindingCollector, find_closure_tolerance
from ytheta.robot.reading.mjcf.actuators import drive_joints, read_actuators, read_tendons
from ytheta.robot.reading.mjcf.attributes import (
    Compiler,
    Defaults,
    read_choice,
    read_compiler,
    read_defaults,
    read_pose,
    read_segment,
)
from ytheta.robot.reading.mjcf.bodies import WORLD, MjcfBody, identify_element, read_bodies, read_inertia, scale
from ytheta.robot.reading.mjcf.document import insert_includes, locate_asset, merge_sections, resolve_packages
from ytheta.robot.reading.mjcf.equality import EqualityReader
from ytheta.robot.reading.mjcf.expansion import expand_models
from ytheta.robot.reading.mjcf.joints import JointReader, find_props, read_home
from ytheta.robot.reading.mjcf.meshes import MeasuredMeshes, measure_meshes
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.solids import MASSLESS, BodyInertia
from ytheta.robot.robot import Robot

_SOFT_BODIES = "soft bodies (flex) are ignored, and so are their forces on the robot: {}"


def read_mjcf(
    root: Node,
    path: Path,
    snap: float,
    *,
    fix_base: bool,
    package_paths: Sequence[Path] = (),
    allow_paths: Sequence[Path] = (),
) -> Robot:
    """Read a robot from the root element of an MJCF document."""
    root = expand_models(insert_includes(root, path, allow_paths), path, allow_paths)
    root, packages = resolve_packages(root, path, package_paths)
    allow_paths = (*allow_paths, *packages)
    compiler = read_compiler(merge_sections(root, "compiler"))
    defaults = read_defaults(root.all("default"))
    snapper, findings = Snapper(snap), FindingCollector()
    worldbody = merge_sections(root, "worldbody")
    world = _leave_out_soft_bodies(worldbody, findings)
    bodies = read_bodies(world, compiler, defaults, snapper)
    if len(bodies) == 1:
        if worldbody.first("flexcomp") is not None:
            raise root.error("<worldbody> has only soft bodies (flexcomp), which are not supported; add a robot")
        raise root.error("<worldbody> has no body; load the main file of the model, not one that it includes")
    equalities = merge_sections(root, "equality").children
    joint_names = {node.get("name", "") for body in bodies for node, _ in body.joints}
    tendons = read_tendons(merge_sections(root, "tendon"), joint_names, defaults, compiler, findings)
    actuators = merge_sections(root, "actuator").children
    actuation = read_actuators(actuators, joint_names, defaults, compiler, tendons)
    joint_names |= {node.get("name", "") for node in equalities}
    links = {body.name for body in bodies}
    props = find_props(bodies, actuation if drive_joints(actuators, defaults, tendons) else ())
    reader = JointReader(compiler, snapper, actuation, links, joint_names, findings, fix_base, props)
    mjcf_joints = [mjcf_joint for body in bodies[1:] for mjcf_joint in reader.read_chain(body)]
    joints = [mjcf_joint.joint for mjcf_joint in mjcf_joints]
    refs = {mjcf_joint.joint.name: mjcf_joint.ref for mjcf_joint in mjcf_joints if mjcf_joint.joint.moves}

    def measure(geoms: Iterable[Node]) -> MeasuredMeshes:
        return measure_meshes(geoms, root, path, compiler, defaults, allow_paths)

    inertias = _read_inertias(bodies, joints, compiler, findings, measure)
    _report_ignored_forces(root, bodies, findings)
    if equalities and (_is_disabled(root, "equality") or _is_disabled(root, "constraint")):
        findings.note("equality constraints are switched off by a flag in the file: {}", path.name)
        equalities = ()
    springs = tuple(spring for mjcf_joint in mjcf_joints for spring in mjcf_joint.springs)
    if springs and _is_disabled(root, "spring"):
        findings.note("springs are switched off by a flag in the file: {}", path.name)
        springs = ()
    by_name = {body.name: body for body in bodies}
    equality = EqualityReader(compiler, snapper, by_name, joints, refs, joint_names, findings, tendons, props)
    loops, couplings = equality.read(equalities, defaults)
    collision = read_collision(root, path, bodies, compiler, defaults, findings, allow_paths)
    robot = Robot(
        name=root.get("model", path.stem),
        links=tuple(_make_link(name, inertias) for name in _list_link_names(joints)),
        joints=tuple(joints),
        loops=loops,
        couplings=couplings,
        forces=springs,
        gravity=_read_gravity(root),
        closure_tolerance=find_closure_tolerance(root.descendants()) if loops else CLOSURE_TOLERANCE,
        collision=collision,
        findings=(*snapper.findings, *findings.findings),
        source=path.name,
    )
    poses = (joint.base_pose for joint in mjcf_joints if joint.base_pose is not None)
    base_home = {name: value for pose in poses for name, value in list_home(pose)}
    home = {**refs, **base_home, **read_home(merge_sections(root, "keyframe"), mjcf_joints)}
    home_in_order = tuple((name, home[name]) for name in robot.coordinates if home.get(name, 0.0) != 0.0)
    driven = (name for joint in actuation for name in (joint, *(f"{joint}.{letter}" for letter in AXES)))
    return choose_actuated(replace(robot, home=home_in_order), driven)


def _make_link(name: str, inertias: Mapping[str, BodyInertia]) -> Link:
    """Return the link of a body, or a link between two joints of a body, which has no inertia to be identified."""
    return Link(name, inertias[name].inertia) if name in inertias else Link(name, has_inertia=False)


def _list_link_names(joints: Sequence[Joint]) -> tuple[str, ...]:
    return (WORLD, *(joint.child for joint in joints))


def _read_inertias(
    bodies: Sequence[MjcfBody],
    joints: Sequence[Joint],
    compiler: Compiler,
    findings: FindingCollector,
    measure: Callable[[Iterable[Node]], MeasuredMeshes],
) -> dict[str, BodyInertia]:
    """Return the inertia of every body. Bodies fixed to the world may have an unknown inertia, which has no effect."""
    moves = {WORLD: False}
    for joint in joints:
        moves[joint.child] = moves[joint.parent] or joint.moves or joint.kind is JointKind.FREE
    inertias = {WORLD: MASSLESS}
    needed = [body for body in bodies[1:] if moves[body.name] or compiler.settotalmass > 0.0]
    meshes = measure([geom for body in needed for geom in body.content.find_meshes(compiler)])
    for body in bodies[1:]:
        if not any(body is other for other in needed) and body.content.find_meshes(compiler):
            findings.note("fixed bodies whose inertia depends on a mesh are treated as massless: {}", body.name)
            inertias[body.name] = MASSLESS
        else:
            inertias[body.name] = read_inertia(body.content, compiler, meshes.inertias)
    total = sum(inertia.mass for inertia in inertias.values())
    if compiler.settotalmass > 0.0 and total > 0.0:
        inertias = {name: scale(inertia, compiler.settotalmass / total) for name, inertia in inertias.items()}
    files = {body.name: _list_missing_files(body, compiler, meshes) for body in needed}
    files = {name: of_body for name, of_body in files.items() if of_body}
    if files:
        findings.add(describe_missing_meshes(files, {name: inertias[name].inertia for name in files}))
    return inertias


def _list_missing_files(body: MjcfBody, compiler: Compiler, meshes: MeasuredMeshes) -> list[str]:
    keys = map(identify_element, body.content.find_meshes(compiler))
    return [meshes.missing_files[key] for key in keys if key in meshes.missing_files]


def _report_ignored_forces(root: Node, bodies: Iterable[MjcfBody], findings: FindingCollector) -> None:
    """Add warnings about forces in the file that a robot description cannot contain."""
    for body in bodies:
        if body.node.number("gravcomp", 0.0) != 0.0:
            findings.warn("the gravity compensation (gravcomp) of bodies is ignored: {}", body.name)
        if body.node.first("plugin") is not None:
            findings.warn("forces of plugins on bodies are ignored: {}", body.name)
    for flex in merge_sections(root, "deformable").all("flex"):
        findings.warn(_SOFT_BODIES, flex.get("name", "") or f"<flex> in line {flex.line}")
    option = merge_sections(root, "option")
    for key in ("density", "viscosity"):
        if option.number(key, 0.0) != 0.0:
            findings.warn("forces of the fluid around the robot are ignored: {}", key)


def _leave_out_soft_bodies(world: Node, findings: FindingCollector) -> Node:
    """Return the world without soft bodies beside the robot, such as a cloth. Those in bodies are refused later."""
    for node in world.all("flexcomp"):
        findings.warn(_SOFT_BODIES, node.get("name", "") or f"<flexcomp> in line {node.line}")
    return replace(world, children=tuple(node for node in world.children if node.tag != "flexcomp"))


def _read_gravity(root: Node) -> Vector:
    if _is_disabled(root, "gravity"):
        return (0.0, 0.0, 0.0)
    return to_vector(merge_sections(root, "option").numbers("gravity", 3, default=STANDARD_GRAVITY))


def _is_disabled(root: Node, effect: str) -> bool:
    flags = [node for node in merge_sections(root, "option").all("flag") if effect in node.attributes]
    return bool(flags) and read_choice(flags[-1], effect, "enable", ("enable", "disable")) == "disable"


# Collision shapes of MJCF bodies: the geoms that can collide. Meshes are located but not opened.
#
# A geom can collide unless ``contype`` and ``conaffinity`` are both zero. Planes and height fields are surroundings and
# not part of a link, so they are left out; they are given as obstacles where obstacles matter.


_NO_SNAPPING = Snapper(0.0)
_SURROUNDINGS = ("plane", "hfield")
_HALF_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}  # number of sizes in MJCF
_INLINE = "the vertices of mesh {!r} are not in a file; save the mesh as a file"


@dataclass(frozen=True)
class MeshAsset:
    """A mesh of the section ``<asset>``: its file, or why it has none, and its scale."""

    file: str
    scale: tuple[float, ...]


def read_collision(
    root: Node,
    path: Path,
    bodies: Iterable[MjcfBody],
    compiler: Compiler,
    defaults: Defaults,
    findings: FindingCollector,
    allow_paths: Sequence[Path] = (),
) -> tuple[CollisionShape, ...]:
    """Return the shapes of all geoms that can collide. Faulty ones are left out, with a warning."""
    assets = _read_mesh_assets(root, path, compiler, defaults, allow_paths)
    shapes: list[CollisionShape] = []
    for body in bodies:
        for node, around in body.content.geoms:
            try:
                if _can_collide(node) and _read_type(node) not in _SURROUNDINGS:
                    shape = _read_shape(body.name, node, around, compiler, assets)
                    check_shape(shape)
                    shapes.append(shape)
            except InputError as error:
                findings.warn("collision shapes are left out: {}", f"one of {body.name!r} ({error})")
    return tuple(shapes)


def _can_collide(node: Node) -> bool:
    return node.number("contype", 1.0) != 0.0 or node.number("conaffinity", 1.0) != 0.0


def _read_type(node: Node) -> str:
    return read_choice(node, "type", "sphere", (*_HALF_SIZES, *_SURROUNDINGS, "mesh", "sdf"))


def _read_shape(
    link: str, node: Node, around: Frame, compiler: Compiler, assets: Mapping[str, MeshAsset]
) -> CollisionShape:
    kind = _read_type(node)
    if "mesh" in node.attributes or kind not in _HALF_SIZES:  # MuJoCo fits a primitive with a mesh to the mesh
        name = node.text("mesh")
        if name not in assets:
            raise node.error(f"there is no mesh {name!r} in <asset>{suggest_names(name, assets)}")
        frame = around @ read_pose(node, compiler, _NO_SNAPPING)
        return CollisionShape(link, ShapeKind.MESH, assets[name].scale, frame, assets[name].file)
    count, sizes = _HALF_SIZES[kind], node.numbers("size", default=())
    if "fromto" in node.attributes and kind != "sphere":
        frame, half = read_segment(node)
        sizes = (*sizes[:1] * (count - 1), half)
    else:
        frame = read_pose(node, compiler, _NO_SNAPPING)
    if len(sizes) < count or min(sizes[:count]) <= 0.0:
        raise node.error(f"the size {sizes} of a {kind} should start with {count} positive numbers; add 'size'")
    return CollisionShape(link, ShapeKind(kind), _convert_sizes(kind, sizes[:count]), around @ frame)


def _convert_sizes(kind: str, sizes: tuple[float, ...]) -> tuple[float, ...]:
    """Return lengths instead of half-lengths."""
    if kind == "box":
        return tuple(2.0 * size for size in sizes)
    return (sizes[0], 2.0 * sizes[1]) if kind in ("capsule", "cylinder") else sizes


def _read_mesh_assets(
    root: Node, path: Path, compiler: Compiler, defaults: Defaults, allow_paths: Sequence[Path]
) -> dict[str, MeshAsset]:
    assets: dict[str, MeshAsset] = {}
    for element in merge_sections(root, "asset").all("mesh"):
        node = defaults.apply(element, "mesh")
        reference = node.get("file", "")
        name = node.get("name", "") or PurePosixPath(reference.replace("\\", "/")).stem
        moved = [key for key in ("refpos", "refquat") if key in node.attributes]
        if moved:
            text = f"mesh {name!r} is moved by '{moved[0]}', which is not supported; save it in its own coordinates"
        elif reference:
            text = describe_mesh(locate_asset(node, "file", path, compiler, allow_paths), reference)
        else:
            text = _INLINE.format(name)
        assets[name] = MeshAsset(text, node.numbers("scale", 3, default=(1.0, 1.0, 1.0)))
    return assets
