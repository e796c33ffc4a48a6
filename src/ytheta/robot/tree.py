"""Order and rules of a robot's tree: one root, no undeclared cycle, no name twice, couplings that end somewhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ytheta.errors import RobotError, nearest
from ytheta.robot.parts import Coupling, Joint, JointKind, Link, Loop, Motor
from ytheta.shapes import Float


def ordered(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints along the tree, branch after branch, children in the order of the description."""
    if not links:
        raise RobotError("a robot needs at least one link, its base")
    _unique((link.name for link in links), "link")
    _unique((joint.name for joint in joints), "joint")
    by_name = {link.name: link for link in links}
    for joint in joints:
        _both_links_exist(joint, by_name)
    children: dict[str, list[Joint]] = {link.name: [] for link in links}
    parents: dict[str, Joint] = {}
    for joint in joints:
        if joint.child in parents:
            raise RobotError(
                f"link {joint.child!r} hangs on two joints, {parents[joint.child].name!r} and {joint.name!r}: "
                "that closes a loop which is not declared; declare one of the two as a loop"
            )
        parents[joint.child] = joint
        children[joint.parent].append(joint)
    base = _root(links, parents)
    walked: list[Joint] = []
    waiting = list(reversed(children[base]))
    while waiting:
        joint = waiting.pop()
        walked.append(joint)
        waiting.extend(reversed(children[joint.child]))
    if len(walked) < len(joints):
        left = sorted({joint.name for joint in joints} - {joint.name for joint in walked})
        raise RobotError(
            f"joints {', '.join(left)} form a cycle that is not declared as a loop; cut it at one joint "
            "and declare that joint as a loop"
        )
    return (by_name[base], *(by_name[joint.child] for joint in walked)), tuple(walked)


def _root(links: Sequence[Link], parents: dict[str, Joint]) -> str:
    roots = [link.name for link in links if link.name not in parents]
    if len(roots) == 1:
        return roots[0]
    if not roots:
        raise RobotError(
            "every link hangs on another one: a cycle that is not declared as a loop; cut it at one joint "
            "and declare that joint as a loop"
        )
    raise RobotError(
        f"the tree has {len(roots)} roots ({', '.join(roots[:6])}{' …' if len(roots) > 6 else ''}): "
        "join all but one of them to the rest, with fixed joints if they do not move"
    )


def _both_links_exist(joint: Joint, links: Iterable[str]) -> None:
    known = set(links)
    for role, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in known:
            raise RobotError(f"joint {joint.name!r}: its {role} link {name!r} does not exist{nearest(name, known)}")
    if joint.parent == joint.child:
        raise RobotError(f"joint {joint.name!r} joins link {joint.child!r} to itself; name two different links")


def check_joint(joint: Joint, *, cut: bool) -> None:
    """A unit axis, a kind that fits, numbers that mean something."""
    if joint.kind is JointKind.POINT and not cut:
        raise RobotError(f"joint {joint.name!r}: a 'point' joint can only close a loop")
    length = math.hypot(*joint.axis)
    if joint.moves and not math.isclose(length, 1.0, rel_tol=1e-9):
        raise RobotError(f"joint {joint.name!r}: its axis {joint.axis} has length {length:g}; give a unit vector")
    if joint.limits.lower > joint.limits.upper:
        raise RobotError(
            f"joint {joint.name!r}: its lower limit {joint.limits.lower:g} exceeds its upper limit "
            f"{joint.limits.upper:g}; swap them"
        )


def check_loops(loops: Sequence[Loop], links: Sequence[Link], joints: Sequence[Joint]) -> None:
    """Cut joints join existing links and have names of their own."""
    _unique((*(joint.name for joint in joints), *(loop.name for loop in loops)), "joint")
    for loop in loops:
        _both_links_exist(loop.joint, (link.name for link in links))
        check_joint(loop.joint, cut=True)


def check_couplings(couplings: Sequence[Coupling], movable: Sequence[Joint], motors: Sequence[Motor]) -> None:
    """Couplings determine movable joints, once each, from coordinates that exist."""
    names = {joint.name for joint in movable}
    _unique((coupling.joint for coupling in couplings), "coupled joint")
    _unique((*names, *(motor.name for motor in motors)), "coordinate")
    known = names | {motor.name for motor in motors}
    for coupling in couplings:
        if coupling.joint not in names:
            raise RobotError(
                f"a coupling determines {coupling.joint!r}, which is no movable joint{nearest(coupling.joint, names)}"
            )
        for name, _ in coupling.terms:
            if name not in known:
                raise RobotError(
                    f"the coupling of joint {coupling.joint!r} uses {name!r}, which is neither a movable joint "
                    f"nor a motor{nearest(name, known)}"
                )


def coupling_map(
    couplings: Sequence[Coupling], movable: Sequence[Joint], coordinates: Sequence[str]
) -> tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]]:
    """A and b of q = A x + b. A coupling may rest on coupled joints (a mimic of a mimic)."""
    column = {name: k for k, name in enumerate(coordinates)}
    by_joint = {coupling.joint: coupling for coupling in couplings}
    done: dict[str, tuple[Float[np.ndarray, "coordinates"], float]] = {}

    def row(name: str, above: tuple[str, ...]) -> tuple[Float[np.ndarray, "coordinates"], float]:
        if name in above:
            raise RobotError(f"couplings run in a circle: {' → '.join((*above, name))}; let one of them be free")
        if name not in done:
            factors, offset = np.zeros(len(column)), 0.0
            if name in by_joint:
                coupling = by_joint[name]
                offset = coupling.offset
                for term, factor in coupling.terms:
                    term_factors, term_offset = row(term, (*above, name))
                    factors += factor * term_factors
                    offset += factor * term_offset
            else:
                factors[column[name]] = 1.0
            done[name] = factors, offset
        return done[name]

    resolved = [row(joint.name, ()) for joint in movable]
    matrix = np.array([factors for factors, _ in resolved]).reshape(len(movable), len(column))
    return matrix, np.array([offset for _, offset in resolved])


def check_actuated(
    actuated: Sequence[str], coordinates: Sequence[str], in_loops: Iterable[str], *, has_loops: bool
) -> None:
    """Actuated coordinates exist, once each; what no loop determines is actuated."""
    _unique(actuated, "actuated coordinate")
    for name in actuated:
        if name not in coordinates:
            raise RobotError(f"the actuated coordinate {name!r} does not exist{nearest(name, coordinates)}")
    if has_loops and not actuated:
        return  # a choice still to be made; whoever needs it asks for it
    free = [name for name in coordinates if name not in actuated and name not in set(in_loops)]
    if free:
        raise RobotError(
            f"{free[0]!r} is neither actuated nor part of a loop, so nothing determines it; add it to 'actuated'"
        )


def _unique(names: Iterable[str], what: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise RobotError(f"the {what} name {name!r} stands {count} times; rename all but one")
        if not name:
            raise RobotError(f"a {what} has no name; give it one")
