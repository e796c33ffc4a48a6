"""MJCF → Robot.

Follows the XML reference of MuJoCo: degrees unless ``angle="radian"``, default classes, includes, frames, inertia from
geoms where no ``<inertial>`` is given, several joints in one body, connect and weld as loops, joint equalities as
couplings, springs of joints as forces. The world becomes the base link. Contacts, tendons, sensors and looks are passed
over; meshes are never opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ytheta.conventions import STANDARD_GRAVITY
from ytheta.files.xml_document import Node
from ytheta.robot.frame import Vector, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, Link
from ytheta.robot.reading.mjcf.actuators import read_actuators
from ytheta.robot.reading.mjcf.bodies import WORLD, Body, read_bodies
from ytheta.robot.reading.mjcf.compiler import Compiler, choice, read_compiler
from ytheta.robot.reading.mjcf.defaults import read_defaults
from ytheta.robot.reading.mjcf.document import check_assets, section, with_includes
from ytheta.robot.reading.mjcf.equality import EqualityReader
from ytheta.robot.reading.mjcf.inertia import NOTHING, Lump, body_lump, scaled
from ytheta.robot.reading.mjcf.joints import JointReader
from ytheta.robot.reading.mjcf.remarks import Remarks
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.robot import Robot

HOME = "home"


def read_mjcf(root: Node, path: Path, snap: float, *, fix_base: bool) -> Robot:
    """A robot from the root element of an MJCF document."""
    root = with_includes(root, path)
    compiler = read_compiler(section(root, "compiler"))
    check_assets(root, path, compiler)
    defaults = read_defaults(root.all("default"))
    snapper, remarks = Snapper(snap), Remarks()
    bodies = read_bodies(section(root, "worldbody"), compiler, defaults, snapper)
    if len(bodies) == 1:
        raise root.error("there is no body in a <worldbody>; name the main file of the model, not one it includes")
    equalities = section(root, "equality").children
    joint_names = {node.get("name", "") for body in bodies for node, _ in body.joints}
    actuation = read_actuators(section(root, "actuator").children, joint_names, defaults, compiler)
    joint_names |= {node.get("name", "") for node in equalities}
    reader = JointReader(compiler, snapper, actuation, {body.name for body in bodies}, joint_names, remarks, fix_base)
    hinges = [hinge for body in bodies[1:] for hinge in reader.chain(body)]
    joints = [hinge.joint for hinge in hinges]
    refs = {hinge.joint.name: hinge.ref for hinge in hinges if hinge.joint.moves}
    lumps = _lumps(bodies, joints, compiler, remarks)
    _remark_forces(root, bodies, remarks)
    if equalities and (_disabled(root, "equality") or _disabled(root, "constraint")):
        remarks.tell("equality constraints are switched off by a flag in the file: {}", path.name)
        equalities = ()
    springs = tuple(spring for hinge in hinges for spring in hinge.springs)
    if springs and _disabled(root, "spring"):
        remarks.tell("springs are switched off by a flag in the file: {}", path.name)
        springs = ()
    by_name = {body.name: body for body in bodies}
    equality = EqualityReader(compiler, snapper, by_name, joints, refs, joint_names, remarks)
    loops, couplings = equality.read(equalities, defaults)
    robot = Robot(
        name=root.get("model", path.stem),
        links=tuple(Link(name, lumps[name].inertia if name in lumps else Inertia()) for name in _link_names(joints)),
        joints=tuple(joints),
        loops=loops,
        couplings=couplings,
        forces=springs,
        gravity=_gravity(root),
        findings=(*snapper.findings, *remarks.findings),
        source=path.name,
    )
    all_scalar = len(refs) == sum(len(body.joints) for body in bodies[1:])
    home = {**refs, **_home(section(root, "keyframe"), tuple(refs) if all_scalar else ())}
    return replace(
        robot,
        home=tuple((name, home[name]) for name in robot.coordinates if home[name] != 0.0),
        actuated=_actuated(robot, actuation),
    )


def _link_names(joints: Sequence[Joint]) -> tuple[str, ...]:
    return (WORLD, *(joint.child for joint in joints))


def _lumps(bodies: Sequence[Body], joints: Sequence[Joint], compiler: Compiler, remarks: Remarks) -> dict[str, Lump]:
    """Mass, centre and inertia of every body; the inertia of what is fixed to the world is never felt."""
    moves = {WORLD: False}
    for joint in joints:
        moves[joint.child] = moves[joint.parent] or joint.moves
    lumps = {WORLD: NOTHING}
    for body in bodies[1:]:
        if not moves[body.name] and compiler.settotalmass <= 0.0 and body.content.mesh(compiler) is not None:
            remarks.tell("fixed bodies whose inertia would come from a mesh are taken as massless: {}", body.name)
            lumps[body.name] = NOTHING
        else:
            lumps[body.name] = body_lump(body.content, compiler)
    total = sum(lump.mass for lump in lumps.values())
    if compiler.settotalmass > 0.0 and total > 0.0:
        return {name: scaled(lump, compiler.settotalmass / total) for name, lump in lumps.items()}
    return lumps


def _remark_forces(root: Node, bodies: Iterable[Body], remarks: Remarks) -> None:
    """Forces of MuJoCo that a robot does not have."""
    for body in bodies:
        if body.node.number("gravcomp", 0.0) != 0.0:
            remarks.warn("the gravity compensation (gravcomp) of bodies is left out: {}", body.name)
    for tendon in section(root, "tendon").children:
        remarks.warn("tendons are left out: {}", tendon.get("name", f"<{tendon.tag}> in line {tendon.line}"))
    option = section(root, "option")
    for key in ("density", "viscosity"):
        if option.number(key, 0.0) != 0.0:
            remarks.warn("forces of the medium around the robot are left out: {}", key)


def _gravity(root: Node) -> Vector:
    if _disabled(root, "gravity"):
        return (0.0, 0.0, 0.0)
    return to_vector(section(root, "option").numbers("gravity", 3, default=STANDARD_GRAVITY))


def _disabled(root: Node, effect: str) -> bool:
    flags = [node for node in section(root, "option").all("flag") if effect in node.attributes]
    return bool(flags) and choice(flags[-1], effect, "enable", ("enable", "disable")) == "disable"


def _home(keyframe: Node, movable: Sequence[str]) -> dict[str, float]:
    """Positions of the key called ``home``, if it is one for exactly these joints."""
    for key in keyframe.all("key"):
        if key.get("name", "") == HOME and "qpos" in key.attributes:
            qpos = key.numbers("qpos")
            if len(qpos) == len(movable):
                return dict(zip(movable, qpos, strict=True))
    return {}


def _actuated(robot: Robot, driven: Iterable[str]) -> tuple[str, ...]:
    """Coordinates that actuators drive and those that no loop determines; left open where some loop has none."""
    if not robot.loops:
        return robot.actuated
    joints = [joint for name in driven for joint in robot.movable if joint.name == name]
    chosen = dict.fromkeys(name for joint in joints for name in robot.coordinates_of([joint]))
    around = [set(robot.coordinates_of(robot.joints_of(loop))) for loop in robot.loops]
    if not all(loop & set(chosen) for loop in around):
        return ()
    free = (name for name in robot.coordinates if not any(name in loop for loop in around))
    return tuple(dict.fromkeys((*chosen, *free)))
