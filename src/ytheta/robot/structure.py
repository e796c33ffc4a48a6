"""The structure of a robot as functions of its parts: tree, coordinates, merged links, frames and symbols.

``Robot`` has these as properties. First the kinematic tree: sorting, paths, loops, and checks that the tree has one
root and no undeclared cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

import numpy as np

from ytheta.conventions import BASE_COORDINATES, WRENCH_COMPONENTS
from ytheta.errors import RobotError, UnknownNameError, UnsetAngleError, UnsetLengthError, suggest_names
from ytheta.files.symbols import SymbolKind
from ytheta.robot.checks import check_finite, check_joint, check_size, check_unique, find_repeated
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import CollisionShape, Coupling, Joint, JointKind, Link, Loop, Marker, Motor
from ytheta.shapes import Float

# Largest number of joints and motors. It is limited because the matrix from coordinates to joint positions is dense.
# Chosen on: ten times as many as in the largest humanoids.
MAX_JOINTS = 2000

Part = TypeVar("Part", Link, Joint)


def check_joint_count(joints: Sequence[Joint], loops: Sequence[Loop], motors: Sequence[Motor]) -> None:
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


# Coordinates of a robot: their names, the linear maps to joint and motor positions, and checks.
#
# The joint positions are q = A x + b, where x are the coordinates; see ``robot.robot``.


# Largest ratio of positions or velocities of coupled parts. Chosen on: reasoning, larger than that of any gear.
MAX_RATIO = 1e9


def check_motors(motors: Sequence[Motor], joints: Sequence[Joint], loops: Sequence[Loop]) -> None:
    """Check that motors have unique names, and that ``turns_with`` names movable joints."""
    others = (*(joint.name for joint in joints), *(loop.name for loop in loops))
    check_unique((*others, *(motor.name for motor in motors)), "coordinate")
    movable = {joint.name for joint in joints if joint.moves}
    for motor in motors:
        place = f"motor {motor.name!r}, turns_with"
        for name, _ in motor.turns_with:
            if name not in movable:
                raise RobotError(f"{place}: {name!r} is not a movable joint{suggest_names(name, movable)}")
        for name in find_repeated(name for name, _ in motor.turns_with):
            raise RobotError(f"{place} names {name!r} more than once; add up its factors")
        check_finite((factor for _, factor in motor.turns_with), f"{place}: its factors")


def check_couplings(couplings: Sequence[Coupling], movable: Sequence[Joint], motors: Sequence[Motor]) -> None:
    """Check that couplings determine movable joints, no joint twice, and that their terms are joints or motors."""
    names = {joint.name for joint in movable}
    known = names | {motor.name for motor in motors if motor.is_coordinate}
    dependent = {motor.name for motor in motors} - known
    check_unique((coupling.joint for coupling in couplings), "coupled joint")
    for coupling in couplings:
        place = f"the coupling of joint {coupling.joint!r}"
        if coupling.joint not in names:
            hint = suggest_names(coupling.joint, names)
            raise RobotError(f"a coupling determines {coupling.joint!r}, which is not a movable joint{hint}")
        for name, _ in coupling.terms:
            if name in dependent:
                raise RobotError(
                    f"{place} uses the motor {name!r}, whose position depends on joints; "
                    "name these joints instead, or remove 'turns_with' from the motor"
                )
            if name not in known:
                hint = suggest_names(name, known)
                raise RobotError(f"{place} uses {name!r}, which is neither a movable joint nor a motor{hint}")
        for name in find_repeated(name for name, _ in coupling.terms):
            raise RobotError(f"{place} names {name!r} more than once; add up its factors")
        numbers = (coupling.offset, *(factor for _, factor in coupling.terms))
        check_finite(numbers, f"{place}: its factors and its offset")


def check_actuated(
    actuated: Sequence[str], coordinates: Sequence[str], in_loops: Collection[str], *, has_loops: bool
) -> None:
    """Check that actuated coordinates exist, and that all coordinates outside loops are actuated."""
    check_unique(actuated, "actuated coordinate")
    known, chosen = set(coordinates), set(actuated)
    for name in actuated:
        if name not in known:
            raise RobotError(f"the actuated coordinate {name!r} does not exist{suggest_names(name, known)}")
    if has_loops and not actuated:
        return  # they may be chosen later; functions that need actuated coordinates check that there are any
    free = [name for name in coordinates if name not in chosen and name not in in_loops]
    if free:
        raise RobotError(
            f"{free[0]!r} is neither actuated nor part of a loop, so nothing determines it; add it to 'actuated'"
        )


def check_home(home: Sequence[tuple[str, float]], coordinates: Sequence[str], robot: str) -> None:
    """Check that the home configuration gives finite positions of existing coordinates, each once."""
    known = set(coordinates)
    for name in find_repeated(name for name, _ in home):
        raise RobotError(f"robot {robot!r}: 'home' names {name!r} more than once; keep one")
    for name, value in home:
        if name not in known:
            hint = suggest_names(name, known)
            raise UnknownNameError(f"robot {robot!r}: 'home' names {name!r}, which is not a coordinate{hint}")
        check_finite((value,), f"robot {robot!r}: the 'home' of {name!r}")


def list_coordinates(
    movable: Sequence[Joint], couplings: Sequence[Coupling], motors: Sequence[Motor]
) -> tuple[str, ...]:
    """Return the coordinates: first the joints that no coupling determines, in tree order, then independent motors."""
    coupled = {coupling.joint for coupling in couplings}
    return (
        *(joint.name for joint in movable if joint.name not in coupled),
        *(motor.name for motor in motors if motor.is_coordinate),
    )


def build_coupling_map(
    couplings: Sequence[Coupling], positions: Sequence[str], coordinates: Sequence[str]
) -> tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, " joints"]]:
    """Return A and b of q = A x + b, where q has these ``positions``.

    A coupling may depend on coupled joints (a mimic of a mimic).
    """
    column = {name: k for k, name in enumerate(coordinates)}
    row = {name: k for k, name in enumerate(positions)}
    factors, offset = np.zeros((len(row), len(column))), np.zeros(len(row))
    for name in row.keys() & column.keys():
        factors[row[name], column[name]] = 1.0
    for coupling in _sort_by_dependency(couplings):
        k = row[coupling.joint]
        offset[k] = coupling.offset
        with np.errstate(over="ignore", invalid="ignore"):  # the result is checked below
            for term, factor in coupling.terms:
                if term in row:
                    factors[k] += factor * factors[row[term]]
                    offset[k] += factor * offset[row[term]]
                else:  # an independent motor
                    factors[k, column[term]] += factor
        check_finite((offset[k], *factors[k]), f"the coupling of joint {coupling.joint!r}: its result")
        check_size(
            (offset[k], *factors[k]), MAX_RATIO, f"the coupling of joint {coupling.joint!r} contains", "SI units"
        )
    return factors, offset


def build_motor_map(
    motors: Sequence[Motor],
    positions: Sequence[str],
    coordinates: Sequence[str],
    coupling_map: tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, " joints"]],
) -> tuple[Float[np.ndarray, "motors coordinates"], Float[np.ndarray, " motors"]]:
    """Return factors F and offsets c of the motor positions F x + c; ``coupling_map`` is A and b of q = A x + b."""
    joint_factors, joint_offset = coupling_map
    row = {name: k for k, name in enumerate(positions)}
    factors, offset = np.zeros((len(motors), len(coordinates))), np.zeros(len(motors))
    for k, motor in enumerate(motors):
        if motor.is_coordinate:
            factors[k, coordinates.index(motor.name)] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # the result is checked below
            for name, factor in motor.turns_with:
                factors[k] += factor * joint_factors[row[name]]
                offset[k] += factor * joint_offset[row[name]]
        check_finite((offset[k], *factors[k]), f"motor {motor.name!r}, turns_with: its result")
        check_size((offset[k], *factors[k]), MAX_RATIO, f"motor {motor.name!r}, turns_with, contains", "SI units")
    return factors, offset


def _sort_by_dependency(couplings: Sequence[Coupling]) -> Iterator[Coupling]:
    """Yield each coupling after the couplings that determine the joints in its terms."""
    by_joint = {coupling.joint: coupling for coupling in couplings}
    done: set[str] = set()
    for start in by_joint:
        path = {start: _list_term_names(by_joint[start])} if start not in done else {}
        while path:
            name = next(reversed(path))
            term = next(path[name], None)
            if term is None:
                path.popitem()
                done.add(name)
                yield by_joint[name]
            elif term in path:
                cycle = _format_cycle(list(path), term)
                raise RobotError(f"couplings are circular: {cycle}; remove one of them")
            elif term in by_joint and term not in done:
                path[term] = _list_term_names(by_joint[term])


def _list_term_names(coupling: Coupling) -> Iterator[str]:
    return (name for name, _ in coupling.terms)


def _format_cycle(path: list[str], repeated: str) -> str:
    names = [*path[path.index(repeated) :], repeated]
    return " → ".join(names if len(names) <= 8 else [*names[:6], "…", repeated])


# Coordinates whose torques are the components of a wrench: six of a floating base, and six of each sensor joint.
#
# A sensor joint does not move, so its coordinates are always zero.


@dataclass(frozen=True)
class WrenchCoordinates:
    """Names of the coordinates of a floating base and of sensor joints; the other coordinates are between them."""

    base: tuple[str, ...]
    sensors: tuple[str, ...]

    @staticmethod
    def of(joints: Sequence[Joint]) -> WrenchCoordinates:
        """Return the wrench coordinates of the joints of a tree."""
        floating = any(joint.kind is JointKind.FREE for joint in joints)
        sensors = (joint.name for joint in joints if joint.kind is JointKind.SENSOR)
        names = tuple(f"{name}_{component}" for name in sensors for component in WRENCH_COMPONENTS)
        return WrenchCoordinates(BASE_COORDINATES if floating else (), names)

    @property
    def translational(self) -> tuple[str, ...]:
        """Names of the coordinates whose torques are forces: three of the base, and three of each sensor."""
        forces = (name for name in self.sensors if name.rpartition("_")[2] in WRENCH_COMPONENTS[:3])
        return (*self.base[:3], *forces)

    def add_to(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names with those of a floating base before and those of sensors after them, each once."""
        own = {*self.base, *self.sensors}
        return (*self.base, *(name for name in names if name not in own), *self.sensors)


# Merges links on fixed joints into the links that carry them, and adds their inertias.


@dataclass(frozen=True)
class Merge:
    """The links and joints that remain after merging.

    ``carrier`` maps the name of each original link to two values: the name of its carrier, which is the link into which
    it is merged, and the frame of the original link seen from the carrier. A link that is not merged is its own
    carrier.
    """

    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    carrier: Mapping[str, tuple[str, Frame]]

    def move_joint(self, joint: Joint) -> Joint:
        """Return a joint between original links as a joint between their carriers."""
        parent, parent_frame = self.carrier[joint.parent]
        child, child_frame = self.carrier[joint.child]
        placement, seat = parent_frame @ joint.placement, joint.seat @ child_frame.inverse()
        return replace(joint, parent=parent, placement=placement, child=child, seat=seat)

    def move_marker(self, marker: Marker) -> Marker:
        """Return a marker on an original link as a marker on its carrier."""
        carrier, frame = self.carrier[marker.link]
        return replace(marker, link=carrier, frame=frame @ marker.frame)

    def move_shape(self, shape: CollisionShape) -> CollisionShape:
        """Return a collision shape of an original link as one of its carrier."""
        carrier, frame = self.carrier[shape.link]
        return replace(shape, link=carrier, frame=frame @ shape.frame)

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Markers at the frames of the merged links."""
        return tuple(Marker(name, holder, frame) for name, (holder, frame) in self.carrier.items() if name != holder)


def is_merged(joint: Joint, child: Link) -> bool:
    """Whether the child of a joint is merged into the link that carries it: on a fixed joint, unless it is a load."""
    return joint.kind is JointKind.FIXED and not child.load


def merge_fixed_links(
    links: Sequence[Link], joints: Sequence[Joint], lengths: Mapping[str, float], angles: Mapping[str, float]
) -> Merge:
    """Merge links on fixed joints, except loads. For links with mass, values of symbols are needed."""
    by_name = {link.name: link for link in links}
    changed: set[str] = set()
    carrier: dict[str, tuple[str, Frame]] = {links[0].name: (links[0].name, IDENTITY)}
    inertia = {links[0].name: links[0].inertia}
    kept: list[Joint] = []
    for joint in joints:
        holder, parent_frame = carrier[joint.parent]
        placement = parent_frame @ joint.placement
        link = by_name[joint.child]
        if is_merged(joint, link):
            frame = placement @ joint.seat
            carrier[link.name] = holder, frame
            if not link.inertia.massless:
                inertia[holder] = inertia[holder] + link.inertia.seen_from(frame.numeric(lengths, angles))
                changed.add(holder)
        else:
            carrier[link.name] = link.name, IDENTITY
            inertia[link.name] = link.inertia
            kept.append(replace(joint, parent=holder, placement=placement))
    remaining = tuple(
        replace(
            by_name[name],
            inertia=body,
            has_inertia=by_name[name].has_inertia or not body.massless,
            zero=() if name in changed else by_name[name].zero,
        )
        for name, body in inertia.items()
    )
    return Merge(remaining, tuple(kept), carrier)


# The geometry of a robot: its parts that have fixed frames, and changes of all these frames.


@dataclass(frozen=True)
class Geometry:
    """The parts of a robot that have fixed frames. The attributes are those of ``Robot``."""

    joints: tuple[Joint, ...]
    loops: tuple[Loop, ...]
    markers: tuple[Marker, ...]
    collision: tuple[CollisionShape, ...]
    mounting: Frame

    @property
    def frames(self) -> Iterator[Frame]:
        """All fixed frames; a joint has two."""
        for joint in (*self.joints, *(loop.joint for loop in self.loops)):
            yield joint.placement
            yield joint.seat
        yield from (marker.frame for marker in self.markers)
        yield from (shape.frame for shape in self.collision)
        yield self.mounting

    @property
    def symbolic_lengths(self) -> frozenset[str]:
        """Names of the symbolic lengths in the frames."""
        return frozenset(name for frame in self.frames for name in frame.symbols)

    @property
    def symbolic_angles(self) -> frozenset[str]:
        """Names of the symbolic angles in the frames."""
        return frozenset(name for frame in self.frames for name in frame.angles)

    def change_frames(self, change: Callable[[Frame], Frame]) -> Geometry:
        """Return the geometry with every frame replaced by ``change(frame)``."""

        def change_joint(joint: Joint) -> Joint:
            return replace(joint, placement=change(joint.placement), seat=change(joint.seat))

        return Geometry(
            joints=tuple(change_joint(joint) for joint in self.joints),
            loops=tuple(Loop(change_joint(loop.joint)) for loop in self.loops),
            markers=tuple(replace(marker, frame=change(marker.frame)) for marker in self.markers),
            collision=tuple(replace(shape, frame=change(shape.frame)) for shape in self.collision),
            mounting=change(self.mounting),
        )


# Symbolic lengths and angles of a robot: their values, changes of these values, and errors if a value is missing.
#
# A declared symbol is a name and its value, which is None if the symbol has no value.


DeclaredSymbols: TypeAlias = tuple[tuple[str, float | None], ...]


def list_symbol_values(declared: DeclaredSymbols) -> dict[str, float]:
    """Return the values of the symbols that have one, by name."""
    return {name: value for name, value in declared if value is not None}


def find_unset_symbols(declared: DeclaredSymbols, used: Collection[str]) -> tuple[str, ...]:
    """Return the names of the used symbols that have no value, in alphabetical order."""
    return tuple(sorted(set(used) - list_symbol_values(declared).keys()))


def set_symbols(
    declared: DeclaredSymbols, values: Mapping[str, float], kind: SymbolKind, *, robot: str
) -> DeclaredSymbols:
    """Return the declared symbols with new values for some of them; ``robot`` is the name of the robot."""
    known = dict(declared)
    for name in values:
        if name not in known:
            raise UnknownNameError(f"robot {robot!r} has no {kind} {name!r}{suggest_names(name, known)}")
    return tuple((name, values.get(name, value)) for name, value in declared)


def check_symbols_are_set(unset: Collection[str], kind: SymbolKind, *, robot: str, inertias_unknown: bool) -> None:
    """Raise UnsetLengthError or UnsetAngleError if there are ``unset`` symbols, which are used but have no value."""
    error = {SymbolKind.LENGTH: UnsetLengthError, SymbolKind.ANGLE: UnsetAngleError}[kind]
    works = {
        SymbolKind.LENGTH: "identify and base",
        SymbolKind.ANGLE: "identify, base --method ha and derive_regressor",
    }
    for name in unset:
        if inertias_unknown:
            raise error(_explain_unknown_inertias(robot))
        raise error(
            f"robot {robot!r}: the {kind} {name!r} has no value, but a number is needed; set it with "
            f"robot.with_{kind}s({name}=…), --{kind} {name}=VALUE, or under [{kind}s] in its file; without it, "
            f"{works[kind]} still work, and predict with an identified model"
        )


def check_symbols_may_be_set(names: Collection[str], *, robot: str, inertias_unknown: bool) -> None:
    """Raise RobotError if there are names of lengths or angles to be set, but the inertias are unknown."""
    if names and inertias_unknown:
        raise RobotError(
            f"{', '.join(map(repr, names))} cannot be set: {_explain_unknown_inertias(robot)}; to identify "
            "inertias, set lengths and angles in the description from which it was identified"
        )


def _explain_unknown_inertias(robot: str) -> str:
    return (
        f"robot {robot!r} was identified with unknown geometry, so its links have no inertias; for torques, "
        "use predict, or inverse_dynamics() of the model or identification"
    )
