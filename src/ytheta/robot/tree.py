"""Order and rules of a robot's tree: one root, no undeclared cycle, no name twice, couplings that end somewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ytheta.errors import RobotError, UnknownNameError, suggest_names
from ytheta.robot.parts import Coupling, Joint, Link, Loop, Motor
from ytheta.robot.rules import check_joint, check_numbers, check_unique, repeated
from ytheta.shapes import Float

# Ten times the largest humanoid; the map from coordinates to joints is dense and grows with the square.
MOST_JOINTS = 2000


def check_size(joints: Sequence[Joint], loops: Sequence[Loop], motors: Sequence[Motor]) -> None:
    """No more than can be computed with."""
    count = len(joints) + len(loops) + len(motors)
    if count > MOST_JOINTS:
        raise RobotError(
            f"the robot has {count} joints and motors, but at most {MOST_JOINTS} can be handled; "
            "leave out what does not move, or check that this is the right file"
        )


def ordered(links: Sequence[Link], joints: Sequence[Joint]) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Links and joints along the tree, branch after branch, children in the order of the description."""
    if not links:
        raise RobotError("a robot needs at least one link, its base")
    check_unique((link.name for link in links), "link")
    check_unique((joint.name for joint in joints), "joint")
    by_name = {link.name: link for link in links}
    for joint in joints:
        _both_links_exist(joint, by_name)
        check_joint(joint, cut=False)
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


def _both_links_exist(joint: Joint, links: Collection[str]) -> None:
    for role, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in links:
            raise RobotError(
                f"joint {joint.name!r}: its {role} link {name!r} does not exist{suggest_names(name, links)}"
            )
    if joint.parent == joint.child:
        raise RobotError(f"joint {joint.name!r} joins link {joint.child!r} to itself; name two different links")


def check_loops(loops: Sequence[Loop], links: Collection[str], joints: Sequence[Joint]) -> None:
    """Cut joints join existing links and have names of their own."""
    check_unique((*(joint.name for joint in joints), *(loop.name for loop in loops)), "joint")
    for loop in loops:
        _both_links_exist(loop.joint, links)
        check_joint(loop.joint, cut=True)


def check_motors(motors: Sequence[Motor], joints: Sequence[Joint], loops: Sequence[Loop]) -> None:
    """Motors have names of their own: theirs are coordinates and name parameters, as those of joints are."""
    others = (*(joint.name for joint in joints), *(loop.name for loop in loops))
    check_unique((*others, *(motor.name for motor in motors)), "coordinate")
    movable = {joint.name for joint in joints if joint.moves}
    for motor in motors:
        place = f"motor {motor.name!r}, turns_with"
        for name, _ in motor.turns_with:
            if name not in movable:
                raise RobotError(f"{place}: {name!r} is no movable joint{suggest_names(name, movable)}")
        for name in repeated(name for name, _ in motor.turns_with):
            raise RobotError(f"{place} names {name!r} more than once; add its factors up")
        check_numbers((factor for _, factor in motor.turns_with), f"{place}: its factors")


def check_couplings(couplings: Sequence[Coupling], movable: Sequence[Joint], motors: Sequence[Motor]) -> None:
    """Couplings determine movable joints, once each, from coordinates that exist."""
    names = {joint.name for joint in movable}
    known = names | {motor.name for motor in motors if motor.is_coordinate}
    following = {motor.name for motor in motors} - known
    check_unique((coupling.joint for coupling in couplings), "coupled joint")
    for coupling in couplings:
        if coupling.joint not in names:
            raise RobotError(
                f"a coupling determines {coupling.joint!r}, which is no movable joint{suggest_names(coupling.joint, names)}"
            )
        for name, _ in coupling.terms:
            if name in following:
                raise RobotError(
                    f"the coupling of joint {coupling.joint!r} uses the motor {name!r}, whose position follows from "
                    "joints; name these joints instead, or remove 'turns_with' from the motor"
                )
            if name not in known:
                raise RobotError(
                    f"the coupling of joint {coupling.joint!r} uses {name!r}, which is neither a movable joint "
                    f"nor a motor{suggest_names(name, known)}"
                )
        for name in repeated(name for name, _ in coupling.terms):
            raise RobotError(
                f"the coupling of joint {coupling.joint!r} names {name!r} more than once; add its factors up"
            )
        numbers = (coupling.offset, *(factor for _, factor in coupling.terms))
        check_numbers(numbers, f"the coupling of joint {coupling.joint!r}: its factors and its offset")


def coordinates(movable: Sequence[Joint], couplings: Sequence[Coupling], motors: Sequence[Motor]) -> tuple[str, ...]:
    """The coordinates in tree order: movable joints that no coupling determines, then motors that follow no joints."""
    coupled = {coupling.joint for coupling in couplings}
    return (
        *(joint.name for joint in movable if joint.name not in coupled),
        *(motor.name for motor in motors if motor.is_coordinate),
    )


def coupling_map(
    couplings: Sequence[Coupling], movable: Sequence[Joint], coordinates: Sequence[str]
) -> tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]]:
    """A and b of q = A x + b. A coupling may rest on coupled joints (a mimic of a mimic)."""
    column = {name: k for k, name in enumerate(coordinates)}
    row = {joint.name: k for k, joint in enumerate(movable)}
    factors, offset = np.zeros((len(row), len(column))), np.zeros(len(row))
    for name in row.keys() & column.keys():
        factors[row[name], column[name]] = 1.0
    for coupling in _what_they_rest_on_first(couplings):
        k = row[coupling.joint]
        offset[k] = coupling.offset
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at below
            for term, factor in coupling.terms:
                if term in row:
                    factors[k] += factor * factors[row[term]]
                    offset[k] += factor * offset[row[term]]
                else:  # a motor that is no joint's own
                    factors[k, column[term]] += factor
        check_numbers((offset[k], *factors[k]), f"the coupling of joint {coupling.joint!r}: what it amounts to")
    return factors, offset


def motor_map(
    motors: Sequence[Motor],
    movable: Sequence[Joint],
    coordinates: Sequence[str],
    joints: tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]],
) -> tuple[Float[np.ndarray, "motors coordinates"], Float[np.ndarray, "motors"]]:
    """The positions of all motors as factors times x plus an offset; ``joints`` is A and b of q = A x + b."""
    joint_factors, joint_offset = joints
    row = {joint.name: k for k, joint in enumerate(movable)}
    factors, offset = np.zeros((len(motors), len(coordinates))), np.zeros(len(motors))
    for k, motor in enumerate(motors):
        if motor.is_coordinate:
            factors[k, coordinates.index(motor.name)] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at below
            for name, factor in motor.turns_with:
                factors[k] += factor * joint_factors[row[name]]
                offset[k] += factor * joint_offset[row[name]]
        check_numbers((offset[k], *factors[k]), f"motor {motor.name!r}, turns_with: what it amounts to")
    return factors, offset


def _what_they_rest_on_first(couplings: Sequence[Coupling]) -> Iterator[Coupling]:
    """The couplings in an order in which each comes after those whose joints it uses."""
    by_joint = {coupling.joint: coupling for coupling in couplings}
    done: set[str] = set()
    for start in by_joint:
        path = {start: _used(by_joint[start])} if start not in done else {}
        while path:
            name = next(reversed(path))
            term = next(path[name], None)
            if term is None:
                path.popitem()
                done.add(name)
                yield by_joint[name]
            elif term in path:
                raise RobotError(f"couplings run in a circle: {_circle(list(path), term)}; let one of them be free")
            elif term in by_joint and term not in done:
                path[term] = _used(by_joint[term])


def _used(coupling: Coupling) -> Iterator[str]:
    return (name for name, _ in coupling.terms)


def _circle(path: list[str], again: str) -> str:
    names = [*path[path.index(again) :], again]
    return " → ".join(names if len(names) <= 8 else [*names[:6], "…", again])


def check_actuated(
    actuated: Sequence[str], coordinates: Sequence[str], in_loops: Collection[str], *, has_loops: bool
) -> None:
    """Actuated coordinates exist, once each; what no loop determines is actuated."""
    check_unique(actuated, "actuated coordinate")
    known, chosen = set(coordinates), set(actuated)
    for name in actuated:
        if name not in known:
            raise RobotError(f"the actuated coordinate {name!r} does not exist{suggest_names(name, known)}")
    if has_loops and not actuated:
        return  # a choice still to be made; whoever needs it asks for it
    free = [name for name in coordinates if name not in chosen and name not in in_loops]
    if free:
        raise RobotError(
            f"{free[0]!r} is neither actuated nor part of a loop, so nothing determines it; add it to 'actuated'"
        )


def check_home(home: Sequence[tuple[str, float]], coordinates: Sequence[str], robot: str) -> None:
    """Home holds coordinates, once each, at finite positions."""
    known = set(coordinates)
    for name in repeated(name for name, _ in home):
        raise RobotError(f"robot {robot!r}: 'home' names {name!r} more than once; keep one")
    for name, value in home:
        if name not in known:
            raise UnknownNameError(
                f"robot {robot!r}: 'home' names {name!r}, which is no coordinate{suggest_names(name, known)}"
            )
        check_numbers((value,), f"robot {robot!r}: the 'home' of {name!r}")
