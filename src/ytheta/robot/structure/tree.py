"""The kinematic tree: sorting, paths, loops, and checks that the tree has one root and no undeclared cycle."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from ytheta.errors import RobotError, UnknownNameError, suggest_names
from ytheta.robot.checks import check_joint, check_unique
from ytheta.robot.parts import Joint, JointKind, Link, Loop, Motor

# Largest number of joints and motors, ten times as many as in the largest humanoids. It is limited because the matrix
# from coordinates to joint positions is dense.
MAX_JOINTS = 2000

Part = TypeVar("Part", Link, Joint)


def check_size(joints: Sequence[Joint], loops: Sequence[Loop], motors: Sequence[Motor]) -> None:
    """Check that the number of joints and motors is supported."""
    count = len(joints) + len(loops) + len(motors)
    if count > MAX_JOINTS:
        raise RobotError(
            f"the robot has {count} joints and motors, but at most {MAX_JOINTS} are supported; "
            "leave out fixed joints, or check that this is the right file"
        )


def sort_tree(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Return links and joints in depth-first order; the children of a link keep the order of the description."""
    if not links:
        raise RobotError("a robot needs at least one link, its base")
    check_unique((link.name for link in links), "link")
    check_unique((joint.name for joint in joints), "joint")
    by_name = {link.name: link for link in links}
    for joint in joints:
        _check_ends(joint, by_name)
        check_joint(joint, cut=False)
    children: dict[str, list[Joint]] = {link.name: [] for link in links}
    parents: dict[str, Joint] = {}
    for joint in joints:
        if joint.child in parents:
            raise RobotError(
                f"link {joint.child!r} is the child of two joints, {parents[joint.child].name!r} and {joint.name!r}, "
                "which closes an undeclared loop; declare one of these joints as a loop"
            )
        parents[joint.child] = joint
        children[joint.parent].append(joint)
    base = _find_root(links, parents)
    visited: list[Joint] = []
    waiting = list(reversed(children[base]))
    while waiting:
        joint = waiting.pop()
        visited.append(joint)
        waiting.extend(reversed(children[joint.child]))
    if len(visited) < len(joints):
        unreached = sorted({joint.name for joint in joints} - {joint.name for joint in visited})
        raise RobotError(
            f"joints {', '.join(unreached)} form a cycle that is not declared as a loop; "
            "declare one of these joints as a loop"
        )
    return (by_name[base], *(by_name[joint.child] for joint in visited)), tuple(visited)


def _find_root(links: Sequence[Link], parents: dict[str, Joint]) -> str:
    roots = [link.name for link in links if link.name not in parents]
    if len(roots) == 1:
        return roots[0]
    if not roots:
        raise RobotError(
            "every link is the child of a joint, so there is no base: a cycle is not declared as a loop; "
            "declare one of its joints as a loop"
        )
    raise RobotError(
        f"the tree has {len(roots)} roots ({', '.join(roots[:6])}{' …' if len(roots) > 6 else ''}), "
        "but a robot has one base; connect the others to it, with fixed joints if they do not move"
    )


def _check_ends(joint: Joint, links: Collection[str]) -> None:
    for role, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in links:
            raise RobotError(
                f"joint {joint.name!r}: its {role} link {name!r} does not exist{suggest_names(name, links)}"
            )
    if joint.parent == joint.child:
        raise RobotError(f"joint {joint.name!r} connects link {joint.child!r} to itself; name two different links")


def check_floating_base(links: Sequence[Link], joints: Sequence[Joint], loops: Sequence[Loop]) -> None:
    """Check that a free joint is the only connection between the robot and the first link, which is the world."""
    free = [joint for joint in joints if joint.kind is JointKind.FREE]
    if not free:
        return
    world = _find_rigid_part(links[0].name, joints)
    on_world = [joint for joint in joints if joint.parent in world and joint.kind is not JointKind.FIXED]
    if free[0].parent != links[0].name:
        raise RobotError(
            f"joint {free[0].name!r} is 'free', but its parent {free[0].parent!r} is not the world {links[0].name!r}; "
            "only the base of a robot can move freely"
        )
    if len(on_world) > 1:
        names = ", ".join(repr(joint.child) for joint in on_world[:4])
        raise RobotError(
            f"several parts move on the world {links[0].name!r} ({names}{' …' if len(on_world) > 4 else ''}), but a "
            "robot with a floating base is one tree; remove the other parts, or fix the base with --fix-base "
            "(fix_base=True)"
        )
    for loop in loops:
        if (loop.joint.parent in world) != (loop.joint.child in world):
            raise RobotError(
                f"loop {loop.name!r} connects the floating base with the world, so that it cannot float; remove the "
                "loop, or replace the free joint by joints that the loop leaves free"
            )


def _find_rigid_part(link: str, joints: Sequence[Joint]) -> set[str]:
    """Return the links that fixed joints connect to a link, and the link itself; parents come before children."""
    part = {link}
    for joint in joints:
        if joint.kind is JointKind.FIXED and joint.parent in part:
            part.add(joint.child)
    return part


def check_loops(loops: Sequence[Loop], links: Collection[str], joints: Sequence[Joint]) -> None:
    """Check that cut joints connect existing links and have unique names."""
    check_unique((*(joint.name for joint in joints), *(loop.name for loop in loops)), "joint")
    for loop in loops:
        _check_ends(loop.joint, links)
        check_joint(loop.joint, cut=True)


def check_loop_moves(loop: Loop, joints: Sequence[Joint]) -> None:
    """Check that a loop has movable joints; ``joints`` are those of the tree that belong to it."""
    if not joints:
        raise RobotError(
            f"loop {loop.name!r} has no movable joint: {loop.joint.parent!r} and {loop.joint.child!r} cannot move "
            "relative to each other; remove the loop"
        )


def find_path(link: str, joints: Mapping[str, Joint]) -> tuple[Joint, ...]:
    """Return the joints from the base to a link; ``joints`` contains the joint above each link, by name of the link."""
    path: list[Joint] = []
    while link in joints:
        path.append(joints[link])
        link = joints[link].parent
    return tuple(reversed(path))


def find_loop_joints(loop: Loop, joints: Mapping[str, Joint]) -> tuple[Joint, ...]:
    """Return the joints of the tree that belong to a loop, in tree order; ``joints`` as in ``find_path``."""
    to_parent, to_child = (
        {joint.name for joint in find_path(end, joints)} for end in (loop.joint.parent, loop.joint.child)
    )
    in_loop = to_parent ^ to_child
    return tuple(joint for joint in joints.values() if joint.name in in_loop)


def find_part(parts: Mapping[str, Part], name: str, what: str, *, robot: str) -> Part:
    """Return the link or joint with this name; ``what`` is its kind, and ``robot`` the name of the robot."""
    if name not in parts:
        raise UnknownNameError(f"robot {robot!r} has no {what} {name!r}{suggest_names(name, parts)}")
    return parts[name]
