"""Parallel robots of Gepetto: a URDF of an open tree, and a ``robot.yaml`` that closes its loops.

The keys of robot.yaml are::

    closed_loop   pairs of frames that coincide; a frame is named after a joint (the frame of its child) or after a link
    type          of every pair, 6d (equal frames) or 3d (equal origins); without this key, all are 6d
    name_mot      joints with motors
    joint_name    joints that are not revolute, although the URDF says so
    joint_type    of each of them: SPHERICAL, FIXED, or UJOINT_XY and the like, which turns about two axes

As in the loader of Gepetto, names in name_mot and joint_name that the URDF does not have do no harm; a warning lists
them.

A spherical joint becomes three hinges about x, y and z, a universal joint two; their names end with the axis. The links
between these hinges are declared to have no inertia, so that it is not identified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ytheta.errors import InputError, MissingExtraError, RobotFileError, suggest_names
from ytheta.files.bounded import read_small_file
from ytheta.files.yaml import parse_yaml
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import AXES, Frame
from ytheta.robot.loops.independent import choose_actuated
from ytheta.robot.parts import Drive, Joint, JointKind, Limits, Link, Loop
from ytheta.robot.robot import Robot

FILE_NAME = "robot.yaml"
# Largest robot.yaml (bytes) that is read. Chosen on: those of Gepetto, which have up to 247 bytes.
MAX_SIZE = 64 * 1024
NO_VALUES = ("", "~", "null")  # of a key without a list
KINDS = {"6d": JointKind.FIXED, "3d": JointKind.POINT}
UNIVERSAL, FIXED = "ujoint_", "fixed"


@dataclass(frozen=True)
class LoopTable:
    """The content of a robot.yaml.

    ``joint_axes`` are the axes of joints that are not revolute, such as "xyz"; a fixed joint has none.
    """

    closed_loops: tuple[tuple[str, str], ...]
    kinds: tuple[JointKind, ...]
    motors: tuple[str, ...]
    joint_axes: dict[str, str]


def close_tree(robot: Robot, path: Path, tolerance: float) -> Robot:
    """Return the robot of a URDF with the loops of the robot.yaml at this path."""
    table = _read_table(path)
    robot, unknown = _replace_joints(robot, table)
    loops: list[Loop] = []
    for (first, second), kind in zip(table.closed_loops, table.kinds, strict=True):
        parent, child = (_find_link(robot, name, path) for name in (first, second))
        loops.append(Loop(Joint(f"{first}.{second}", kind, parent, child)))
    movable = [joint.name for joint in robot.movable]
    hinges = [name for motor in table.motors for name in _list_hinges(motor, table)]
    driven = [name for name in hinges if name in movable]
    unknown += [name for name in hinges if name not in movable]
    findings = [Finding("loops", Severity.NOTE, f"{len(loops)} loops are closed as {path.name} says", names=())]
    if unknown:
        statement = f"{path.name} names joints that do not exist or do not move, and they are ignored"
        names = ", ".join(f"{name}{suggest_names(name, movable)}" for name in dict.fromkeys(unknown))
        findings.append(Finding("loops", Severity.WARNING, f"{statement}: {names}", names=tuple(unknown)))
    closed = replace(
        robot, loops=tuple(loops), actuated=(), closure_tolerance=tolerance, findings=(*robot.findings, *findings)
    )
    return choose_actuated(closed, driven)


def describe_unused_table(path: Path) -> Finding:
    """Return the finding about a robot.yaml beside a URDF that does not belong to it."""
    statement = f"{path.name} beside this file names loops, which are not used: the robot is read as an open tree"
    remedy = f"load the folder {path.parent.name!r} to read robot.urdf with its loops"
    return Finding("loops", Severity.WARNING, statement, remedy)


def _read_table(path: Path) -> LoopTable:
    data = _parse(path)
    pairs: list[tuple[str, str]] = []
    for pair in _get_list(data, "closed_loop", path):
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise RobotFileError(f"{path.name}, closed_loop: {str(pair)[:60]!r} should be a pair of names of frames")
        pairs.append((pair[0], pair[1]))
    types = [str(word).lower() for word in _get_list(data, "type", path)] if "type" in data else ["6d"] * len(pairs)
    for word in types:
        if word not in KINDS:
            raise RobotFileError(f"{path.name}, type: {word!r} is unknown; use 6d or 3d")
    if len(types) != len(pairs):
        raise RobotFileError(f"{path.name}: there are {len(pairs)} closed loops, but {len(types)} entries in 'type'")
    names = [str(name) for name in _get_list(data, "joint_name", path)]
    kinds = [str(kind) for kind in _get_list(data, "joint_type", path)]
    if len(names) != len(kinds):
        raise RobotFileError(f"{path.name}: there are {len(names)} joint_name, but {len(kinds)} joint_type")
    axes = {name: _find_axes(kind, path) for name, kind in zip(names, kinds, strict=True)}
    motors = tuple(str(name) for name in _get_list(data, "name_mot", path))
    return LoopTable(tuple(pairs), tuple(KINDS[word] for word in types), motors, axes)


def _parse(path: Path) -> dict[str, object]:
    try:
        data = parse_yaml(read_small_file(path, "a table of closed loops", max_size=MAX_SIZE), path.name)
    except MissingExtraError:
        raise
    except InputError as error:
        raise RobotFileError(str(error)) from None
    if not isinstance(data, dict):
        raise RobotFileError(f"{path.name} should contain keys such as closed_loop, type and name_mot")
    return data


def _get_list(data: dict[str, object], key: str, path: Path) -> list[object]:
    value = data.get(key, [])
    if value in NO_VALUES:
        return []
    if not isinstance(value, list):
        raise RobotFileError(f"{path.name}, {key} should be a list, not {str(value)[:40]!r}")
    return value


def _find_axes(kind: str, path: Path) -> str:
    """Return the axes of a type of joint, such as "xyz"; none of a fixed joint."""
    word = kind.lower()
    if word == FIXED:
        return ""
    axes = "xyz" if word == "spherical" else word.removeprefix(UNIVERSAL) if word.startswith(UNIVERSAL) else ""
    if len(axes) not in (2, 3) or set(axes) - AXES.keys():
        raise RobotFileError(
            f"{path.name}, joint_type: {kind!r} is unknown; use SPHERICAL, FIXED, or UJOINT_XY, UJOINT_ZY …"
        )
    return axes


def _replace_joints(robot: Robot, table: LoopTable) -> tuple[Robot, list[str]]:
    """Return the robot with hinges in place of spherical and universal joints, and names that it does not have."""
    known = [joint.name for joint in robot.movable]
    unknown = [name for name in table.joint_axes if name not in known]
    links, joints = list(robot.links), []
    for joint in robot.joints:
        axes = table.joint_axes.get(joint.name) if joint.moves else None
        if axes == "":
            joints.append(replace(joint, kind=JointKind.FIXED, limits=Limits(), drive=Drive()))
            continue
        hinges = _split_joint(joint, axes) if axes else [joint]
        joints += hinges
        links += [Link(hinge.child, has_inertia=False) for hinge in hinges[:-1]]
    if len(unknown) == len(table.joint_axes):
        return robot, unknown
    return replace(robot, links=tuple(links), joints=tuple(joints), actuated=()), unknown


def _split_joint(joint: Joint, axes: str) -> list[Joint]:
    hinges: list[Joint] = []
    parent = joint.parent
    for k, letter in enumerate(axes):
        last = k == len(axes) - 1
        hinge = Joint(
            f"{joint.name}.{letter}",
            JointKind.REVOLUTE,
            parent,
            joint.child if last else f"{joint.child}.{letter}",
            placement=joint.placement if k == 0 else Frame(),
            axis=AXES[letter],
            seat=joint.seat if last else Frame(),
            limits=Limits(),
            drive=Drive(),
        )
        hinges.append(hinge)
        parent = hinge.child
    return hinges


def _find_link(robot: Robot, name: str, path: Path) -> str:
    """Return the link whose frame has this name: the child of a joint, or a link."""
    children = {joint.name: joint.child for joint in robot.joints} | {
        joint.name.rpartition(".")[0]: joint.child for joint in robot.joints if "." in joint.name
    }
    if name in children:
        return children[name]
    links = [link.name for link in robot.links]
    if name not in links:
        raise RobotFileError(
            f"{path.name}, closed_loop: there is no joint or link {name!r}{suggest_names(name, (*children, *links))}"
        )
    return name


def _list_hinges(motor: str, table: LoopTable) -> list[str]:
    return [f"{motor}.{letter}" for letter in table.joint_axes.get(motor, "")] or [motor]
