"""Robot: links joined into a tree, loops, couplings, drives, forces, gravity and mounting; frozen and consistent.

Coordinates::

    actuated Q ──loops──▶ coordinates x ──couplings q = A x + b──▶ joint positions q

x holds the positions of the joints that no coupling determines, and of motors that are no joint's own. Without loops x
and Q are the same numbers in the same order. A motor that turns with joints has no place in x: its position follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from ytheta.conventions import FORCE_PARAMETER, JOINT_PARAMETERS, LINK_PARAMETERS, STANDARD_GRAVITY, parameter_name
from ytheta.errors import RobotError, UnknownNameError, UnsetLengthError, suggest_names
from ytheta.findings import Finding
from ytheta.robot import rules, tree
from ytheta.robot.forces import check_forces, find_lengths, with_numbers
from ytheta.robot.frame import IDENTITY, Frame, Vector
from ytheta.robot.inertia import Consistency, Inertia
from ytheta.robot.merge import Merge, merge_fixed_links
from ytheta.robot.parts import Coupling, Drive, Force, Joint, JointKind, Limits, Link, Loop, Marker, Motor
from ytheta.shapes import Float


@dataclass(frozen=True)
class Robot:
    """A robot, complete and consistent: what contradicts itself cannot be constructed.

    ``links[0]`` is the base; ``joints[i].child`` is ``links[i + 1]``, parents come before children. ``actuated`` may be
    left out where nothing is to be chosen, that is without loops; there it may give the coordinates an order. ``home``
    holds coordinates (0 where it is silent) from which loops are closed. Gravity is given in the world; ``mounting`` is
    the base seen from the world. ``lengths`` are the declared symbolic lengths; None has no value yet.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    motors: tuple[Motor, ...] = ()
    forces: tuple[Force, ...] = ()
    actuated: tuple[str, ...] = ()
    markers: tuple[Marker, ...] = ()
    home: tuple[tuple[str, float], ...] = ()
    gravity: Vector = STANDARD_GRAVITY
    mounting: Frame = IDENTITY
    lengths: tuple[tuple[str, float | None], ...] = ()
    about: str = ""
    source: str = ""
    findings: tuple[Finding, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        tree.check_size(self.joints, self.loops, self.motors)
        links, joints = tree.ordered(self.links, self.joints)
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "joints", joints)
        self._check_parts()
        if not self.loops and not self.actuated:
            object.__setattr__(self, "actuated", self.coordinates)
        in_loops = self.coordinates_of(joint for loop in self.loops for joint in self._moved_by(loop))
        tree.check_actuated(self.actuated, self.coordinates, set(in_loops), has_loops=bool(self.loops))
        tree.check_home(self.home, self.coordinates, self.name)

    def _check_parts(self) -> None:
        for link in self.links:
            rules.check_link(link)
        tree.check_loops(self.loops, self._links_by_name, self.joints)
        tree.check_motors(self.motors, self.joints, self.loops)
        for motor in self.motors:
            rules.check_motor(motor)
        tree.check_couplings(self.couplings, self.movable, self.motors)
        _ = self.motor_map  # refuses couplings that run in a circle, and factors that amount to too much
        check_forces(
            self.forces,
            moving=self.moving,
            taken={*self._links_by_name, *self._joints_by_name, *self.moving},
            lengths=[name for name, _ in self.lengths],
        )
        rules.check_markers(self.markers, self._links_by_name)
        rules.check_frame(self.mounting, "the mounting")
        rules.check_numbers(self.gravity, "gravity")
        rules.check_lengths(self.lengths, self.symbols)

    # --- the tree -----------------------------------------------------------------------------------------------

    @property
    def base(self) -> Link:
        return self.links[0]

    @cached_property
    def movable(self) -> tuple[Joint, ...]:
        """The joints that move, in tree order: the order of q."""
        return tuple(joint for joint in self.joints if joint.moves)

    @property
    def actuated_limits(self) -> tuple[Limits, ...]:
        """Limits of the actuated coordinates: joints and motors."""
        owners = {joint.name: joint.limits for joint in self.movable}
        owners |= {motor.name: motor.limits for motor in self.motors}
        return tuple(owners[name] for name in self.actuated)

    def link(self, name: str) -> Link:
        return _named(self._links_by_name, name, "link", self.name)

    def joint(self, name: str) -> Joint:
        """A joint by name, cut joints included."""
        return _named(self._joints_by_name, name, "joint", self.name)

    def path(self, link: str) -> tuple[Joint, ...]:
        """The joints from the base to a link."""
        path: list[Joint] = []
        while link in self._above:
            path.append(self._above[link])
            link = self._above[link].parent
        return tuple(reversed(path))

    def joints_of(self, loop: Loop) -> tuple[Joint, ...]:
        """The movable tree joints a loop runs through."""
        one, other = ({joint.name for joint in self.path(end)} for end in (loop.joint.parent, loop.joint.child))
        around = one ^ other
        return tuple(joint for joint in self.movable if joint.name in around)

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in (*self.joints, *(loop.joint for loop in self.loops))}

    @cached_property
    def _above(self) -> dict[str, Joint]:
        """The joint on which each link hangs."""
        return {joint.child: joint for joint in self.joints}

    def _moved_by(self, loop: Loop) -> tuple[Joint, ...]:
        joints = self.joints_of(loop)
        if not joints:
            raise RobotError(
                f"loop {loop.name!r} runs through no movable joint: {loop.joint.parent!r} and "
                f"{loop.joint.child!r} cannot move against each other; remove the loop"
            )
        return joints

    # --- coordinates --------------------------------------------------------------------------------------------

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of x: movable joints that no coupling determines, and motors that do not turn with joints.

        Without loops x is Q and has the order of ``actuated`` where one was given; else tree order, motors last.
        """
        along_tree = tree.coordinates(self.movable, self.couplings, self.motors)
        if not self.loops and sorted(self.actuated) == sorted(along_tree):
            return self.actuated
        return along_tree

    def coordinates_of(self, joints: Iterable[Joint]) -> tuple[str, ...]:
        """The coordinates on which the positions of some joints depend."""
        factors, _ = self.coupling_map
        wanted = {joint.name for joint in joints}
        rows = [k for k, joint in enumerate(self.movable) if joint.name in wanted]
        columns = np.flatnonzero(np.any(factors[rows] != 0.0, axis=0))
        return tuple(self.coordinates[k] for k in columns)

    @cached_property
    def passive(self) -> tuple[str, ...]:
        """Coordinates that the loops determine from the actuated ones."""
        chosen = set(self.actuated)
        return tuple(name for name in self.coordinates if name not in chosen)

    @cached_property
    def coupling_map(self) -> tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]]:
        """A and b of q = A x + b."""
        return tree.coupling_map(self.couplings, self.movable, self.coordinates)

    @cached_property
    def motor_map(self) -> tuple[Float[np.ndarray, "motors coordinates"], Float[np.ndarray, "motors"]]:
        """The same for the positions of all motors, those that are coordinates and those that turn with joints."""
        return tree.motor_map(self.motors, self.movable, self.coordinates, self.coupling_map)

    @cached_property
    def home_coordinates(self) -> Float[np.ndarray, "coordinates"]:
        """The home pose as a vector x."""
        at_home = dict(self.home)
        return np.array([at_home.get(name, 0.0) for name in self.coordinates], dtype=float)

    # --- parameters ---------------------------------------------------------------------------------------------

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of theta: ten per moving link and per load, then four per joint, cut joint and motor, one per force.

        Links on fixed joints are merged into the link that carries them and have no parameters of their own.
        """
        kept = (joint.child for joint in self.joints if not self._disappears(joint))
        bodies = (parameter_name(link, p) for link in kept for p in LINK_PARAMETERS)
        drives = (parameter_name(name, p) for name, _ in self.drives for p in JOINT_PARAMETERS)
        return (*bodies, *drives, *(parameter_name(force.name, FORCE_PARAMETER) for force in self.forces))

    @cached_property
    def theta(self) -> Float[np.ndarray, "params"]:
        """Values of the standard parameters in this description, in the order of ``parameter_names``."""
        values = [p for link in self.merged.links[1:] for p in link.inertia.parameters]
        values += [p for _, drive in self.drives for p in drive.parameters]
        return np.array(values + [force.value for force in self.forces], dtype=float)

    @cached_property
    def consistency(self) -> dict[str, Consistency]:
        """Whether a body with these inertial parameters can exist, for every link, in the order of ``links``."""
        return {link.name: link.inertia.consistency() for link in self.links}

    @property
    def drives(self) -> tuple[tuple[str, Drive], ...]:
        """Names and drives of movable joints, cut joints that move, and motors: the order of their parameters."""
        joints = (*self.movable, *(loop.joint for loop in self.loops if loop.joint.moves))
        return (
            *((joint.name, joint.drive) for joint in joints),
            *((motor.name, motor.drive) for motor in self.motors),
        )

    @cached_property
    def sliding_joints(self) -> frozenset[str]:
        """Names of the prismatic joints, cut joints included."""
        joints = (*self.movable, *(loop.joint for loop in self.loops))
        return frozenset(joint.name for joint in joints if joint.kind is JointKind.PRISMATIC)

    @property
    def moving(self) -> tuple[str, ...]:
        """Everything that has a position and a drive: movable joints, cut joints that move, motors."""
        return tuple(name for name, _ in self.drives)

    # --- the same robot, otherwise ------------------------------------------------------------------------------

    @property
    def gravity_in_base(self) -> Vector:
        """Gravity in base axes, the mounting taken into account."""
        r, g = self.mounting.rotation, self.gravity
        x, y, z = (r[0][k] * g[0] + r[1][k] * g[1] + r[2][k] * g[2] for k in range(3))
        return x, y, z

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Symbolic lengths that occur in the geometry and in forces."""
        declared = [name for name, _ in self.lengths]
        in_forces = (name for force in self.forces for name in find_lengths(force, declared))
        return frozenset((*(name for frame in self._frames() for name in frame.symbols), *in_forces))

    @property
    def unset_lengths(self) -> tuple[str, ...]:
        """Symbolic lengths that occur and have no value yet."""
        return tuple(sorted(self.symbols - self._length_values.keys()))

    def with_lengths(self, /, **values: float) -> Robot:
        """This robot with values for some of its symbolic lengths; they stay symbols."""
        known = dict(self.lengths)
        for name in values:
            if name not in known:
                raise UnknownNameError(f"robot {self.name!r} has no length {name!r}{suggest_names(name, known)}")
        return replace(self, lengths=tuple((name, values.get(name, old)) for name, old in self.lengths))

    @cached_property
    def numeric(self) -> Robot:
        """This robot with numbers for all symbolic lengths."""
        if not self.symbols:
            return self
        for name in self.unset_lengths:
            raise UnsetLengthError(
                f"robot {self.name!r}: the length {name!r} has no value and numbers are needed here; "
                f"set it with robot.with_lengths({name}=…), --length {name}=VALUE, or under [lengths] in its file"
            )
        values = self._length_values
        return replace(
            self._with_frames(lambda frame: frame.numeric(values)),
            forces=tuple(with_numbers(force, values) for force in self.forces),
            lengths=(),
        )

    @cached_property
    def merged(self) -> Robot:
        """This robot without fixed joints, except those that hold loads; merged links live on as markers."""
        if not any(self._disappears(joint) for joint in self.joints):
            return self
        merge = merge_fixed_links(self.links, self.joints, self._length_values)
        return replace(
            self,
            links=merge.links,
            joints=merge.joints,
            loops=tuple(Loop(merge.joint(loop.joint)) for loop in self.loops),
            markers=(*merge.markers, *(_carried(marker, merge) for marker in self.markers)),
        )

    def with_load(
        self, inertia: Inertia, *, name: str = "load", on: str | None = None, frame: Frame = IDENTITY
    ) -> Robot:
        """This robot holding a load: one more link, fixed to link ``on`` (the last one) at ``frame``."""
        holder = self.links[-1].name if on is None else self.link(on).name
        grasp = Joint(f"{name}_grasp", JointKind.FIXED, holder, name, placement=frame)
        return replace(self, links=(*self.links, Link(name, inertia, load=True)), joints=(*self.joints, grasp))

    def with_inertias(self, inertias: Mapping[str, Inertia]) -> Robot:
        """This robot with other inertial parameters for the links named."""
        for name in inertias:
            self.link(name)
        links = tuple(replace(link, inertia=inertias.get(link.name, link.inertia)) for link in self.links)
        return replace(self, links=links)

    def with_drives(self, change: Callable[[str, Drive], Drive]) -> Robot:
        """Return this robot with ``change(name, drive)`` for every drive of a joint, a cut joint or a motor."""

        def changed(joint: Joint) -> Joint:
            return replace(joint, drive=change(joint.name, joint.drive))

        return replace(
            self,
            joints=tuple(changed(joint) for joint in self.joints),
            loops=tuple(Loop(changed(loop.joint)) for loop in self.loops),
            motors=tuple(replace(motor, drive=change(motor.name, motor.drive)) for motor in self.motors),
        )

    def _disappears(self, joint: Joint) -> bool:
        return joint.kind is JointKind.FIXED and not self._links_by_name[joint.child].load

    @property
    def _length_values(self) -> dict[str, float]:
        return {name: value for name, value in self.lengths if value is not None}

    def _frames(self) -> Iterator[Frame]:
        """All fixed frames of the geometry."""
        for joint in (*self.joints, *(loop.joint for loop in self.loops)):
            yield joint.placement
            yield joint.seat
        yield from (marker.frame for marker in self.markers)
        yield self.mounting

    def _with_frames(self, change: Callable[[Frame], Frame]) -> Robot:
        def changed(joint: Joint) -> Joint:
            return replace(joint, placement=change(joint.placement), seat=change(joint.seat))

        return replace(
            self,
            joints=tuple(changed(joint) for joint in self.joints),
            loops=tuple(Loop(changed(loop.joint)) for loop in self.loops),
            markers=tuple(replace(marker, frame=change(marker.frame)) for marker in self.markers),
            mounting=change(self.mounting),
        )


_Part = TypeVar("_Part", Link, Joint)


def _named(known: Mapping[str, _Part], name: str, what: str, robot: str) -> _Part:
    if name not in known:
        raise UnknownNameError(f"robot {robot!r} has no {what} {name!r}{suggest_names(name, known)}")
    return known[name]


def _carried(marker: Marker, merge: Merge) -> Marker:
    link, frame = merge.on_carrier(marker.link, marker.frame)
    return replace(marker, link=link, frame=frame)
