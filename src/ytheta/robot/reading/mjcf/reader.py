"""Reads MJCF, following the XML reference of MuJoCo.

Angles are in degrees unless ``angle="radian"``. Default classes, includes, frames and several joints in one body are
supported. The inertia comes from the geoms if there is no ``<inertial>``. Connect and weld constraints become loops,
joint equalities become couplings, and springs of joints become forces. The world becomes the base link;
a free joint makes the base of the robot float. Geoms that can collide become collision shapes. Contacts, tendons,
sensors and visual elements are ignored. Meshes are never opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ytheta.conventions import BASE_COORDINATES, STANDARD_GRAVITY
from ytheta.files.xml_document import Node
from ytheta.robot.floating.base import list_home
from ytheta.robot.frame import Frame, Vector, to_vector
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.reading.mjcf.actuators import read_actuators
from ytheta.robot.reading.mjcf.bodies import WORLD, Body, read_bodies
from ytheta.robot.reading.mjcf.collision import read_collision
from ytheta.robot.reading.mjcf.compiler import Compiler, read_choice, read_compiler
from ytheta.robot.reading.mjcf.defaults import read_defaults
from ytheta.robot.reading.mjcf.document import check_assets, insert_includes, merge_sections
from ytheta.robot.reading.mjcf.equality import EqualityReader
from ytheta.robot.reading.mjcf.findings import FindingCollector
from ytheta.robot.reading.mjcf.inertia import MASSLESS, BodyInertia, read_inertia, scale
from ytheta.robot.reading.mjcf.joints import JointReader
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.robot import Robot

HOME_KEY = "home"
FREE_JOINT_POSITIONS = 7  # position and quaternion


def read_mjcf(root: Node, path: Path, snap: float, *, fix_base: bool) -> Robot:
    """Read a robot from the root element of an MJCF document."""
    root = insert_includes(root, path)
    compiler = read_compiler(merge_sections(root, "compiler"))
    check_assets(root, path, compiler)
    defaults = read_defaults(root.all("default"))
    snapper, findings = Snapper(snap), FindingCollector()
    bodies = read_bodies(merge_sections(root, "worldbody"), compiler, defaults, snapper)
    if len(bodies) == 1:
        raise root.error("<worldbody> has no body; load the main file of the model, not one that it includes")
    equalities = merge_sections(root, "equality").children
    joint_names = {node.get("name", "") for body in bodies for node, _ in body.joints}
    actuation = read_actuators(merge_sections(root, "actuator").children, joint_names, defaults, compiler)
    joint_names |= {node.get("name", "") for node in equalities}
    reader = JointReader(compiler, snapper, actuation, {body.name for body in bodies}, joint_names, findings, fix_base)
    mjcf_joints = [mjcf_joint for body in bodies[1:] for mjcf_joint in reader.read_chain(body)]
    joints = [mjcf_joint.joint for mjcf_joint in mjcf_joints]
    refs = {mjcf_joint.joint.name: mjcf_joint.ref for mjcf_joint in mjcf_joints if mjcf_joint.joint.moves}
    inertias = _read_inertias(bodies, joints, compiler, findings)
    _report_ignored_forces(root, bodies, findings)
    if equalities and (_is_disabled(root, "equality") or _is_disabled(root, "constraint")):
        findings.note("equality constraints are switched off by a flag in the file: {}", path.name)
        equalities = ()
    springs = tuple(spring for mjcf_joint in mjcf_joints for spring in mjcf_joint.springs)
    if springs and _is_disabled(root, "spring"):
        findings.note("springs are switched off by a flag in the file: {}", path.name)
        springs = ()
    by_name = {body.name: body for body in bodies}
    equality = EqualityReader(compiler, snapper, by_name, joints, refs, joint_names, findings)
    loops, couplings = equality.read(equalities, defaults)
    collision = read_collision(root, path, bodies, compiler, defaults, findings)
    robot = Robot(
        name=root.get("model", path.stem),
        links=tuple(Link(name, inertias.get(name, MASSLESS).inertia) for name in _list_link_names(joints)),
        joints=tuple(joints),
        loops=loops,
        couplings=couplings,
        forces=springs,
        gravity=_read_gravity(root),
        collision=collision,
        findings=(*snapper.findings, *findings.findings),
        source=path.name,
    )
    base_poses = [mjcf_joint.base_pose for mjcf_joint in mjcf_joints if mjcf_joint.base_pose is not None]
    all_read = len(refs) + len(base_poses) == sum(len(body.joints) for body in bodies[1:])
    home = dict.fromkeys(robot.coordinates, 0.0) | refs
    home |= {name: value for pose in base_poses for name, value in list_home(pose)}
    if all_read:
        home |= _read_home(merge_sections(root, "keyframe"), tuple(refs), floating=robot.floating)
    return replace(
        robot,
        home=tuple((name, home[name]) for name in robot.coordinates if home[name] != 0.0),
        actuated=_choose_actuated(robot, actuation),
    )


def _list_link_names(joints: Sequence[Joint]) -> tuple[str, ...]:
    return (WORLD, *(joint.child for joint in joints))


def _read_inertias(
    bodies: Sequence[Body], joints: Sequence[Joint], compiler: Compiler, findings: FindingCollector
) -> dict[str, BodyInertia]:
    """Return the inertia of every body. Bodies fixed to the world may have an unknown inertia, which has no effect."""
    moves = {WORLD: False}
    for joint in joints:
        moves[joint.child] = moves[joint.parent] or joint.moves or joint.kind is JointKind.FREE
    inertias = {WORLD: MASSLESS}
    for body in bodies[1:]:
        if not moves[body.name] and compiler.settotalmass <= 0.0 and body.content.find_mesh(compiler) is not None:
            findings.note("fixed bodies whose inertia depends on a mesh are treated as massless: {}", body.name)
            inertias[body.name] = MASSLESS
        else:
            inertias[body.name] = read_inertia(body.content, compiler)
    total = sum(inertia.mass for inertia in inertias.values())
    if compiler.settotalmass > 0.0 and total > 0.0:
        return {name: scale(inertia, compiler.settotalmass / total) for name, inertia in inertias.items()}
    return inertias


def _report_ignored_forces(root: Node, bodies: Iterable[Body], findings: FindingCollector) -> None:
    """Add warnings about forces in the file that a robot description cannot contain."""
    for body in bodies:
        if body.node.number("gravcomp", 0.0) != 0.0:
            findings.warn("the gravity compensation (gravcomp) of bodies is ignored: {}", body.name)
    for tendon in merge_sections(root, "tendon").children:
        findings.warn("tendons are ignored: {}", tendon.get("name", f"<{tendon.tag}> in line {tendon.line}"))
    option = merge_sections(root, "option")
    for key in ("density", "viscosity"):
        if option.number(key, 0.0) != 0.0:
            findings.warn("forces of the fluid around the robot are ignored: {}", key)


def _read_gravity(root: Node) -> Vector:
    if _is_disabled(root, "gravity"):
        return (0.0, 0.0, 0.0)
    return to_vector(merge_sections(root, "option").numbers("gravity", 3, default=STANDARD_GRAVITY))


def _is_disabled(root: Node, effect: str) -> bool:
    flags = [node for node in merge_sections(root, "option").all("flag") if effect in node.attributes]
    return bool(flags) and read_choice(flags[-1], effect, "enable", ("enable", "disable")) == "disable"


def _read_home(keyframe: Node, movable: Sequence[str], *, floating: bool) -> dict[str, float]:
    """Return the positions of the keyframe ``home`` if it has one position for each of these joints.

    The pose of a floating base comes first, with a quaternion w, x, y, z.
    """
    base_size = FREE_JOINT_POSITIONS if floating else 0
    for key in keyframe.all("key"):
        if key.get("name", "") == HOME_KEY and "qpos" in key.attributes:
            qpos = key.numbers("qpos")
            if len(qpos) == base_size + len(movable):
                home = dict(zip(movable, qpos[base_size:], strict=True))
                if floating:
                    pose = Frame.shift(*qpos[:3]) @ Frame.from_quaternion(*qpos[3:base_size])
                    home |= dict.fromkeys(BASE_COORDINATES, 0.0) | dict(list_home(pose))
                return home
    return {}


def _choose_actuated(robot: Robot, driven: Iterable[str]) -> tuple[str, ...]:
    """Return the coordinates with actuators and the coordinates outside loops; empty if a loop has no actuator."""
    if not robot.loops:
        return robot.actuated
    joints = [joint for name in driven for joint in robot.movable if joint.name == name]
    chosen = dict.fromkeys(name for joint in joints for name in robot.coordinates_of([joint]))
    loops = [set(robot.coordinates_of(robot.joints_of(loop))) for loop in robot.loops]
    if not all(loop & set(chosen) for loop in loops):
        return ()
    free = (name for name in robot.coordinates if not any(name in loop for loop in loops))
    return tuple(dict.fromkeys((*chosen, *free)))
