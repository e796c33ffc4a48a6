"""Locks joints at given positions: they become fixed joints, so that the masses behind them stay.

Joints that follow a locked joint by a coupling are locked with it. A coupled joint that depends on a single coordinate
locks this coordinate. If the loops leave other coordinates no freedom, these are locked as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np

from ytheta.arguments import check_kind, check_number
from ytheta.errors import ClosureError, RobotError, UnknownNameError, suggest_names
from ytheta.files.expressions import replace_positions
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import Frame
from ytheta.robot.loops.independent import CoordinateChoice, choose_independent
from ytheta.robot.parts import Coupling, Drive, Force, Joint, JointKind, Limits, Link, Motor
from ytheta.robot.robot import LOCK, Robot, check_is_robot
from ytheta.shapes import Float, PerCoordinate

WILDCARDS = "*?["
# Largest difference (rad or m) between two positions of a joint that count as equal. Chosen on: reasoning, far above
# the rounding errors of couplings.
MAX_MISMATCH = 1e-9


def lock_joints(robot: Robot, positions: Mapping[str, float | None]) -> Robot:
    """Return the robot with some joints fixed at these positions, in rad or m.

    A key is the name of a joint or motor, or a pattern with ``*`` and ``?``. None stands for the home position; if the
    robot has loops, for the position at which they close near home.
    """
    check_is_robot(robot)
    check_kind("lock", positions, Mapping, 'a dictionary of positions by joint, such as {"finger_joint1": 0.02}')
    if not positions:
        return robot
    locks = _add_locks(robot, positions, robot.home_coordinates)
    if robot.loops:
        if locks.at_home:
            locks = _add_locks(robot, positions, locks.close_near_home())
        locks.close_loops()
    return locks.apply()


def _add_locks(robot: Robot, positions: Mapping[str, float | None], home: PerCoordinate) -> _Locks:
    locks = _Locks(robot, home)
    for key, position in positions.items():
        check_kind("a name in 'lock'", key, str, "the name of a joint, or a pattern such as '*finger*'")
        if position is not None:
            position = check_number(f"the position at which {key!r} is locked", position, "a finite number in rad or m")
        locks.add(key, position)
    return locks


@dataclass
class _Locks:
    """The coordinates of a robot that are locked.

    Attributes
    ----------
    robot    the robot without locks
    home     the coordinates at home
    fixed    the positions of the locked coordinates
    at_home  those that are locked without a position
    choice   which coordinates stay independent, if the robot has loops
    """

    robot: Robot
    home: PerCoordinate
    fixed: dict[str, float] = field(default_factory=dict)
    at_home: set[str] = field(default_factory=set)
    choice: CoordinateChoice | None = None

    def add(self, key: str, position: float | None) -> None:
        """Lock the joints with this name or pattern."""
        robot = self.robot
        coordinates = (name for name in robot.coordinates if name not in robot.base_coordinates)
        names = dict.fromkeys((*(joint.name for joint in robot.movable), *coordinates))
        if key in names:
            self._lock(key, position, exact=True)
            return
        matches = [name for name in names if any(c in key for c in WILDCARDS) and fnmatchcase(name, key)]
        if not matches:
            hint = suggest_names(key, names)
            what = "no joint matches" if any(c in key for c in WILDCARDS) else "there is no movable joint"
            raise UnknownNameError(f"robot {robot.name!r} cannot be locked: {what} {key!r}{hint}")
        coupled = [name for name in matches if name not in robot.coordinates]
        for name in (*(name for name in matches if name in robot.coordinates), *coupled):
            if any(coordinate not in self.fixed for coordinate in self._find_coordinates(name)):
                self._lock(name, position, exact=False)

    def _lock(self, name: str, position: float | None, *, exact: bool) -> None:
        robot = self.robot
        if name in robot.coordinates:
            self._set(name, position, name, exact=exact)
            return
        factors, offset = self._find_row(name)
        free = [k for k in np.flatnonzero(factors) if robot.coordinates[k] not in self.fixed]
        if len(free) > 1:
            others = ", ".join(robot.coordinates[k] for k in free)
            raise RobotError(
                f"joint {name!r} of robot {robot.name!r} depends on {others} and cannot be locked alone; lock these"
            )
        rest = offset + sum(factors[k] * self.fixed.get(robot.coordinates[k], 0.0) for k in range(len(factors)))
        if not free:
            if exact and position is not None and abs(rest - position) > MAX_MISMATCH:
                raise RobotError(
                    f"joint {name!r} of robot {robot.name!r} follows other locked joints, which put it at {rest:g}, "
                    f"not at {position:g}; leave out its lock, or change theirs"
                )
            return
        coordinate = robot.coordinates[free[0]]
        value = None if position is None else float((position - rest) / factors[free[0]])
        self._set(coordinate, value, name, exact=exact)

    def _set(self, coordinate: str, position: float | None, name: str, *, exact: bool) -> None:
        home = float(self.home[self.robot.coordinates.index(coordinate)])
        value = home if position is None else position
        earlier = self.fixed.get(coordinate)
        if earlier is None:
            self.fixed[coordinate] = value
            self.at_home |= {coordinate} if position is None else set()
        elif exact and abs(earlier - value) > MAX_MISMATCH:
            raise RobotError(f"{name!r} is locked twice, at {earlier:g} and at {value:g}; keep one position")

    def close_near_home(self) -> PerCoordinate:
        """Return coordinates near home at which the loops close; only locks with a position are in place."""
        held = {name: value for name, value in self.fixed.items() if name not in self.at_home}
        return self._close(held).pose

    def close_loops(self) -> None:
        """Close the loops with the locked coordinates in place, and lock the coordinates that cannot move then."""
        choice = self._close(self.fixed)
        pose = dict(zip(self.robot.coordinates, choice.pose, strict=True))
        self.fixed |= {name: float(pose[name]) for name in choice.immobile if name not in self.fixed}
        self.choice = choice

    def _close(self, held: Mapping[str, float]) -> CoordinateChoice:
        """Choose independent coordinates at a pose that closes the loops with the held coordinates in place."""
        robot = self.robot
        home = {**dict(zip(robot.coordinates, map(float, self.home), strict=True)), **held}
        posed = replace(robot, home=tuple((name, value) for name, value in home.items() if value))
        choice = choose_independent(posed, [name for name in robot.actuated if name not in held], held=tuple(held))
        if not choice.closed:
            listing = ", ".join(f"{name} = {value:g}" for name, value in held.items())
            locked = f" with {listing} locked; lock at other positions" if held else "; correct its home positions"
            raise ClosureError(f"the loops of robot {robot.name!r} cannot close{locked}")
        return choice

    def apply(self) -> Robot:
        """Return the robot with the locked coordinates fixed."""
        robot, fixed = self.robot, self.fixed
        positions = self._find_positions()
        couplings = tuple(self._reduce(coupling) for coupling in robot.couplings if coupling.joint not in positions)
        joints = tuple(
            fix_joint(joint, positions[joint.name]) if joint.name in positions else joint for joint in robot.joints
        )
        still = {joint.name for joint in joints if joint.moves}
        loops = tuple(loop for loop in robot.loops if any(joint.name in still for joint in robot.joints_of(loop)))
        dropped_cuts = {loop.name for loop in robot.loops} - {loop.name for loop in loops}
        motors = tuple(
            reduced for motor in robot.motors if motor.name not in fixed and (reduced := reduce_motor(motor, still))
        )
        gone = {*positions, *fixed, *dropped_cuts, *({m.name for m in robot.motors} - {m.name for m in motors})}
        values = {**fixed, **positions}
        forces = tuple(kept for force in robot.forces if (kept := reduce_force(force, gone, values)) is not None)
        actuated = tuple(name for name in robot.actuated if name not in fixed)
        if self.choice is not None and robot.actuated:
            actuated = self.choice.independent if loops else ()
            actuated = tuple(name for name in actuated if name not in fixed)
        order = {name: k for k, name in enumerate(robot.actuated)}
        actuated = tuple(sorted(actuated, key=lambda name: order.get(name, len(order))))
        return replace(
            robot,
            links=reduce_links(robot.links, robot.joints, positions),
            joints=joints,
            loops=loops,
            couplings=couplings,
            motors=motors,
            forces=forces,
            actuated=actuated,
            home=tuple((name, value) for name, value in robot.home if name not in fixed),
            findings=(*robot.findings, *self._describe(positions)),
        )

    def _find_positions(self) -> dict[str, float]:
        """Return the positions of all joints that no longer move."""
        robot = self.robot
        factors, offset = robot.coupling_map
        locked = np.array([name in self.fixed for name in robot.coordinates], dtype=bool)
        x = np.array([self.fixed.get(name, 0.0) for name in robot.coordinates])
        moves = np.any(factors[:, ~locked] != 0.0, axis=1)
        q = factors @ x + offset
        # A constant coupling of the description is not a lock.
        return {
            joint.name: float(q[k])
            for k, joint in enumerate(robot.movable, start=len(q) - len(robot.movable))
            if not moves[k] and np.any(factors[k] != 0.0)
        }

    def _reduce(self, coupling: Coupling) -> Coupling:
        """Return a coupling without terms of locked coordinates, whose positions become part of its offset."""
        positions = {**self.fixed, **self._find_positions()}
        constant = sum(factor * positions[name] for name, factor in coupling.terms if name in positions)
        terms = tuple((name, factor) for name, factor in coupling.terms if name not in positions)
        return replace(coupling, terms=terms, offset=coupling.offset + constant)

    def _find_row(self, name: str) -> tuple[Float[np.ndarray, " coordinates"], float]:
        factors, offset = self.robot.coupling_map
        names = [joint.name for joint in self.robot.movable]
        k = names.index(name) - len(names)  # the movable joints are the last positions
        return factors[k], float(offset[k])

    def _find_coordinates(self, name: str) -> tuple[str, ...]:
        if name in self.robot.coordinates:
            return (name,)
        factors, _ = self._find_row(name)
        return tuple(self.robot.coordinates[k] for k in np.flatnonzero(factors))

    def _describe(self, positions: Mapping[str, float]) -> tuple[Finding, ...]:
        locked = {**{name: value for name, value in self.fixed.items() if name not in positions}, **positions}
        listing = ", ".join(f"{name} at {value:.6g}" for name, value in locked.items())
        note = Finding(LOCK, Severity.NOTE, f"locked: {listing}", names=tuple(locked), fields=dict(locked))
        limits = {joint.name: joint.limits for joint in self.robot.movable}
        outside = tuple(
            Finding(
                LOCK,
                Severity.WARNING,
                f"{name!r} is locked at {value:g}, outside of its limits "
                f"{limits[name].lower:g} … {limits[name].upper:g}",
                names=(name,),
                fields={"position": value},
            )
            for name, value in positions.items()
            if not limits[name].lower - MAX_MISMATCH <= value <= limits[name].upper + MAX_MISMATCH
        )
        return (note, *outside)


# Links, joints, motors and forces of a robot after some of its joints have been locked.


def fix_joint(joint: Joint, position: float) -> Joint:
    """Return a joint that is fixed at a position."""
    if joint.kind is JointKind.REVOLUTE:
        motion = Frame.turn(joint.axis, position)
    else:
        motion = Frame.shift(*(position * entry for entry in joint.axis))
    return replace(joint, kind=JointKind.FIXED, placement=joint.placement @ motion, limits=Limits(), drive=Drive())


def reduce_links(links: Sequence[Link], joints: Sequence[Joint], locked: Collection[str]) -> tuple[Link, ...]:
    """Return the links, of which those that carry a link with inertia on a locked joint have one too.

    ``joints`` have parents before children. An unknown inertia has the value zero, and counts as well. What is zero by
    symmetry of a link alone is not zero of the link with what it carries.
    """
    bodies, carriers = {link.name for link in links if link.has_inertia}, set[str]()
    for joint in reversed(joints):
        if joint.name in locked and joint.child in bodies:
            carriers.add(joint.parent)
            bodies.add(joint.parent)
    return tuple(
        replace(link, has_inertia=link.name in bodies, zero=() if link.name in carriers else link.zero)
        for link in links
    )


def reduce_motor(motor: Motor, still: set[str]) -> Motor | None:
    """Return a motor that turns with the joints that still move; None if there are none."""
    if motor.is_coordinate:
        return motor
    turns_with = tuple((name, factor) for name, factor in motor.turns_with if name in still)
    return replace(motor, turns_with=turns_with) if turns_with else None


def reduce_force(force: Force, gone: set[str], positions: Mapping[str, float]) -> Force | None:
    """Return a force with numbers in place of locked positions; None if it acts on locked joints only."""
    torque = tuple((name, text) for name, text in force.torque if name not in gone)
    if not torque:
        return None
    where = tuple((name, replace_positions(text, positions)) for name, text in force.where)
    return replace(
        force, torque=tuple((name, replace_positions(text, positions)) for name, text in torque), where=where
    )
