"""Robot: a tree of links and joints, with loops, couplings, drives, forces, gravity and mounting.

Coordinates::

    actuated Q ──loops──▶ coordinates x ──couplings q = A x + b──▶ joint positions q

If the base floats, Q, x and q begin with its six coordinates ``conventions.BASE_COORDINATES``: its position in the
world, and the rotation vector of its axes. The corresponding six velocities are not the derivatives of these
coordinates, but the twist of the base: the velocity of its origin and its angular velocity, both in its own axes. The
corresponding torques are the wrench on the base, in the same axes. These six count as actuated, whatever exerts the
wrench; it is zero if nothing touches the robot.

x contains the positions of the joints that no coupling determines, and those of the independent motors. Without loops,
x = Q. The position of a motor with ``turns_with`` is not in x, since it depends on joint positions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from reprlib import Repr

import numpy as np

from ytheta.arguments import check_kind
from ytheta.conventions import CLOSURE_TOLERANCE, FORCE_PARAMETER, LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.display import Displayed
from ytheta.errors import InputError
from ytheta.files.symbols import SymbolKind
from ytheta.findings import Finding, Severity
from ytheta.robot import checks, structure
from ytheta.robot.forces import check_forces, find_lengths, with_numbers
from ytheta.robot.frame import IDENTITY, Frame, Vector
from ytheta.robot.inertia import Consistency, Inertia
from ytheta.robot.parts import (
    CollisionShape,
    Coupling,
    Drive,
    Force,
    Joint,
    JointKind,
    Limits,
    Link,
    Loop,
    Marker,
    Motor,
    parameter_name,
)
from ytheta.robot.structure import Geometry, WrenchCoordinates, is_merged, merge_fixed_links
from ytheta.shapes import Float, freeze

LOCK = "lock"  # code of the findings about locked joints


@dataclass(frozen=True, repr=False)
class Robot(Displayed):
    """An immutable robot description. The constructor raises an error if the parts contradict each other.

    The arrays are read-only; functions such as ``with_load`` return another robot.

    Attributes
    ----------
    name       name of the robot
    links      rigid bodies; ``links[0]`` is the base, or the world if the base floats
    joints     joints of the tree, parents before children; the child of ``joints[i]`` is ``links[i + 1]``
    loops      closed loops, each given by its cut joint
    couplings  joint positions that are linear functions of other positions
    motors     motors that drive several joints, such as those of a differential wrist
    forces     declared forces, such as springs and counterbalances
    actuated   names of the actuated coordinates; without loops, they are optional and determine only the order of x
    markers    named frames on links
    home       configuration from which loops are closed; coordinates that it does not name are 0
    gravity    gravitational acceleration in m/s^2, in the world frame
    mounting   frame of the base, seen from the world
    closure_tolerance
               gap (metres or radians) up to which a loop counts as closed; larger if the file has few digits
    lengths    declared symbolic lengths and their values in metres; None is a length without a value
    angles     declared symbolic angles and their values in radians; None is an angle without a value
    inertias_unknown
               whether the links have no inertias because the robot was identified with unknown geometry; lengths
               and angles cannot be set then
    about      one line for lists of robots
    source     origin of the numbers
    collision  collision shapes of the links; they are not compared, since the dynamics do not depend on them
    findings   notes and warnings about the file from which the robot was read

    The following are computed from these:

    base               the link that does not move, ``links[0]``
    floating           whether the base of the robot moves freely; ``links[0]`` is then the world
    base_coordinates   names of the six coordinates of a floating base; none if the base is fixed
    movable            the revolute and prismatic joints of the tree, in the order of the joint positions q
    sensor_coordinates names of the coordinates of sensor joints, which are always zero: <joint>_fx … <joint>_nz
    position_names     names of the joint positions q: those of a floating base, of ``movable`` and of sensors
    prismatic_joints   names of the prismatic joints, including cut joints, and of the position of a floating base
    coordinates        names of the coordinates x
    passive            names of the coordinates that the loops determine
    actuated_limits    limits of the actuated coordinates
    coupling_map       A and b of q = A x + b
    motor_map          F and c of the motor positions F x + c
    home_coordinates   the home configuration as a vector x
    drives             names and drives of movable joints, movable cut joints and motors
    moving             names of everything that has a position and a drive
    parameter_names    names of the standard parameters
    theta              values of the standard parameters
    consistency        physical consistency of the inertia of each link, by name
    gravity_in_base    gravity in m/s^2, in the axes of the base
    symbolic_lengths   names of the symbolic lengths in use
    unset_lengths      names of the symbolic lengths in use that have no value
    symbolic_angles    names of the symbolic angles in use
    unset_angles       names of the symbolic angles in use that have no value
    unset_symbols      names of the symbolic lengths and angles in use that have no value
    numeric_in_angles  the robot with numbers instead of symbolic angles; symbolic lengths remain
    numeric            the robot with numbers instead of symbolic lengths and angles
    merged             the robot with links on fixed joints merged into the links that carry them
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
    closure_tolerance: float = CLOSURE_TOLERANCE
    lengths: tuple[tuple[str, float | None], ...] = ()
    angles: tuple[tuple[str, float | None], ...] = ()
    inertias_unknown: bool = False
    about: str = ""
    source: str = ""
    collision: tuple[CollisionShape, ...] = field(default=(), compare=False)
    findings: tuple[Finding, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        structure.check_joint_count(self.joints, self.loops, self.motors)
        links, joints = structure.sort_tree(self.links, self.joints)
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "joints", joints)
        structure.check_floating_base(links, joints, self.loops)
        self._check_parts()
        if self.actuated:
            object.__setattr__(self, "actuated", self._wrench_coordinates.add_to(self.actuated))
        if not self.loops and not self.actuated:
            object.__setattr__(self, "actuated", self.coordinates)
        for loop in self.loops:
            structure.check_loop_moves(loop, self.joints_of(loop))
        in_loops = self.coordinates_of(joint for loop in self.loops for joint in self.joints_of(loop))
        structure.check_actuated(self.actuated, self.coordinates, set(in_loops), has_loops=bool(self.loops))
        structure.check_home(self.home, self.coordinates, self.name)

    def _check_parts(self) -> None:
        for link in self.links:
            checks.check_link(link)
        structure.check_loops(self.loops, self._links_by_name, self.joints)
        structure.check_motors(self.motors, self.joints, self.loops)
        for motor in self.motors:
            checks.check_motor(motor)
        structure.check_couplings(self.couplings, self.movable, self.motors)
        if self.floating or self.sensor_coordinates:
            names = (*self.base_coordinates, *self.moving, *self.sensor_coordinates)
            checks.check_unique(names, "coordinate")
        check_forces(
            self.forces,
            moving=self.moving,
            reserved={*self._links_by_name, *self._joints_by_name, *self.moving},
            lengths=[name for name, _ in self.lengths],
        )
        checks.check_markers(self.markers, self._links_by_name)
        checks.check_collision(self.collision, self._links_by_name)
        checks.check_mounting(self.mounting)
        checks.check_closure_tolerance(self.closure_tolerance)
        checks.check_finite(self.gravity, "gravity")
        checks.check_symbols(self.lengths, self.symbolic_lengths, SymbolKind.LENGTH)
        checks.check_symbols(self.angles, self.symbolic_angles, SymbolKind.ANGLE, dict(self.lengths))
        checks.check_load_friction(
            self.name,
            [name for name, drive in self.drives if drive.load is not None],
            {"loops": self.loops, "couplings": self.couplings, "motors": self.motors},
        )
        _ = self.motor_map  # raises an error for circular couplings and for factors that overflow

    def __repr__(self) -> str:
        counts = [_format_count(len(self.movable), "joint"), f"{len(self.actuated)} actuated"]
        if self.floating:
            counts.insert(0, "floating base")
        if self.loops:
            counts.append(_format_count(len(self.loops), "loop"))
        return f"Robot({_REPR.repr(self.name)}, {', '.join(counts)})"

    # --- the tree -----------------------------------------------------------------------------------------------

    @property
    def locked(self) -> dict[str, float]:
        """Positions of the joints that were locked, by name, in rad or m."""
        notes = (finding for finding in self.findings if finding.code == LOCK and finding.severity is Severity.NOTE)
        return {name: float(position) for note in notes for name, position in note.fields.items()}

    @property
    def base(self) -> Link:
        """The link that does not move."""
        return self.links[0]

    @property
    def floating(self) -> bool:
        """Whether the base of the robot moves freely."""
        return bool(self.base_coordinates)

    @property
    def base_coordinates(self) -> tuple[str, ...]:
        """Names of the six coordinates of a floating base; none if the base is fixed."""
        return self._wrench_coordinates.base

    @property
    def sensor_coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates of sensor joints, six for each; the sensors do not move, so they are always zero."""
        return self._wrench_coordinates.sensors

    @cached_property
    def position_names(self) -> tuple[str, ...]:
        """Names of the joint positions q: those of a floating base, of the movable joints and of sensors."""
        return self._wrench_coordinates.add_to([joint.name for joint in self.movable])

    @cached_property
    def movable(self) -> tuple[Joint, ...]:
        """The movable joints in tree order, which is the order of q."""
        return tuple(joint for joint in self.joints if joint.moves)

    @property
    def actuated_limits(self) -> tuple[Limits, ...]:
        """Limits of the actuated coordinates, which are joints and motors."""
        limits = {joint.name: joint.limits for joint in self.movable}
        limits |= {motor.name: motor.limits for motor in self.motors}
        limits |= {name: Limits() for name in (*self.base_coordinates, *self.sensor_coordinates)}
        return tuple(limits[name] for name in self.actuated)

    def link(self, name: str) -> Link:
        """The link with this name."""
        return structure.find_part(self._links_by_name, name, "link", robot=self.name)

    def joint(self, name: str) -> Joint:
        """The joint with this name; it may be a cut joint."""
        return structure.find_part(self._joints_by_name, name, "joint", robot=self.name)

    def path(self, link: str) -> tuple[Joint, ...]:
        """The joints from the base to this link."""
        return structure.find_path(link, self._joints_by_child)

    def joints_of(self, loop: Loop) -> tuple[Joint, ...]:
        """The movable joints of the tree that belong to this loop."""
        return tuple(joint for joint in structure.find_loop_joints(loop, self._joints_by_child) if joint.moves)

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in (*self.joints, *(loop.joint for loop in self.loops))}

    @cached_property
    def _joints_by_child(self) -> dict[str, Joint]:
        return {joint.child: joint for joint in self.joints}

    @cached_property
    def _wrench_coordinates(self) -> WrenchCoordinates:
        return WrenchCoordinates.of(self.joints)

    # --- coordinates --------------------------------------------------------------------------------------------

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates x: a floating base, the movable joints that no coupling determines, and motors.

        Motors are coordinates if their position does not depend on joints.
        Without loops, they have the order of ``actuated``; with loops, the order of the tree, motors last.
        """
        others = structure.list_coordinates(self.movable, self.couplings, self.motors)
        in_tree_order = self._wrench_coordinates.add_to(others)
        if not self.loops and sorted(self.actuated) == sorted(in_tree_order):
            return self.actuated
        return in_tree_order

    def coordinates_of(self, joints: Iterable[Joint]) -> tuple[str, ...]:
        """The coordinates on which the positions of these joints depend."""
        factors, _ = self.coupling_map
        names = {joint.name for joint in joints}
        rows = [k for k, name in enumerate(self.position_names) if name in names]
        columns = np.flatnonzero(np.any(factors[rows] != 0.0, axis=0))
        return tuple(self.coordinates[k] for k in columns)

    @cached_property
    def passive(self) -> tuple[str, ...]:
        """The coordinates that the loops determine, given the actuated coordinates."""
        actuated = set(self.actuated)
        return tuple(name for name in self.coordinates if name not in actuated)

    @cached_property
    def coupling_map(self) -> tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]]:
        """A and b of q = A x + b."""
        factors, offset = structure.build_coupling_map(self.couplings, self.position_names, self.coordinates)
        return freeze(factors), freeze(offset)

    @cached_property
    def motor_map(self) -> tuple[Float[np.ndarray, "motors coordinates"], Float[np.ndarray, "motors"]]:
        """Factors F and offsets c of the motor positions, F x + c."""
        factors, offset = structure.build_motor_map(
            self.motors, self.position_names, self.coordinates, self.coupling_map
        )
        return freeze(factors), freeze(offset)

    @cached_property
    def home_coordinates(self) -> Float[np.ndarray, "coordinates"]:
        """The home configuration as a vector x."""
        home = dict(self.home)
        return freeze(np.array([home.get(name, 0.0) for name in self.coordinates], dtype=float))

    # --- parameters ---------------------------------------------------------------------------------------------

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the standard parameters theta.

        There are ten for each moving link and load, then four for each movable joint, cut joint and motor (five or six
        if its drive has the optional laws of friction), then one for each force. Links on fixed joints have no
        parameters, since they are merged into the links that carry them.
        """
        links = (joint.child for joint in self.joints if not is_merged(joint, self.link(joint.child)))
        bodies = (parameter_name(link, p) for link in links for p in LINK_PARAMETERS)
        drives = (parameter_name(name, p) for name, drive in self.drives for p in drive.parameter_symbols)
        return (*bodies, *drives, *(parameter_name(force.name, FORCE_PARAMETER) for force in self.forces))

    @cached_property
    def theta(self) -> Float[np.ndarray, " params"]:
        """Values of the standard parameters in the order of ``parameter_names``."""
        values = [p for link in self.merged.links[1:] for p in link.inertia.parameters]
        values += [p for _, drive in self.drives for p in drive.parameters]
        return freeze(np.array(values + [force.value for force in self.forces], dtype=float))

    @cached_property
    def consistency(self) -> dict[str, Consistency]:
        """Physical consistency of the inertia of each link, by name, in the order of ``links``."""
        return {link.name: link.inertia.consistency() for link in self.links}

    @property
    def drives(self) -> tuple[tuple[str, Drive], ...]:
        """Names and drives of movable joints, movable cut joints and motors, in the order of ``parameter_names``."""
        joints = (*self.movable, *(loop.joint for loop in self.loops if loop.joint.moves))
        return (
            *((joint.name, joint.drive) for joint in joints),
            *((motor.name, motor.drive) for motor in self.motors),
        )

    @cached_property
    def prismatic_joints(self) -> frozenset[str]:
        """Names of the prismatic joints, including cut joints, and of the position of a floating base."""
        joints = (*self.movable, *(loop.joint for loop in self.loops))
        prismatic = (joint.name for joint in joints if joint.kind is JointKind.PRISMATIC)
        return frozenset((*self._wrench_coordinates.translational, *prismatic))

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of everything that has a position and a drive: movable joints, movable cut joints, motors."""
        return tuple(name for name, _ in self.drives)

    # --- variants of this robot ------------------------------------------------------------------------------------

    @property
    def gravity_in_base(self) -> Vector:
        """Gravity in m/s^2, in the axes of the base, which ``mounting`` turns relative to the world."""
        r, g = self.mounting.rotation, self.gravity
        x, y, z = (r[0][k] * g[0] + r[1][k] * g[1] + r[2][k] * g[2] for k in range(3))
        return x, y, z

    @cached_property
    def symbolic_lengths(self) -> frozenset[str]:
        """Names of the symbolic lengths that the geometry or a force uses."""
        declared = [name for name, _ in self.lengths]
        in_forces = (name for force in self.forces for name in find_lengths(force, declared))
        return self._geometry.symbolic_lengths.union(in_forces)

    @property
    def unset_lengths(self) -> tuple[str, ...]:
        """Names of the symbolic lengths that are used but have no value."""
        return structure.find_unset_symbols(self.lengths, self.symbolic_lengths)

    @cached_property
    def symbolic_angles(self) -> frozenset[str]:
        """Names of the symbolic angles that the geometry uses."""
        return self._geometry.symbolic_angles

    @property
    def unset_angles(self) -> tuple[str, ...]:
        """Names of the symbolic angles that are used but have no value."""
        return structure.find_unset_symbols(self.angles, self.symbolic_angles)

    @property
    def unset_symbols(self) -> tuple[str, ...]:
        """Names of the symbolic lengths and angles that are used but have no value."""
        return (*self.unset_lengths, *self.unset_angles)

    def with_lengths(self, /, **values: float) -> Robot:
        """Return this robot with new values for some of its symbolic lengths. The lengths stay symbolic."""
        self.check_symbols_may_be_set(values)
        return replace(self, lengths=structure.set_symbols(self.lengths, values, SymbolKind.LENGTH, robot=self.name))

    def with_angles(self, /, **values: float) -> Robot:
        """Return this robot with new values, in radians, for some of its symbolic angles. The angles stay symbolic."""
        self.check_symbols_may_be_set(values)
        return replace(self, angles=structure.set_symbols(self.angles, values, SymbolKind.ANGLE, robot=self.name))

    @cached_property
    def numeric_in_angles(self) -> Robot:
        """This robot with a number in place of every symbolic angle; symbolic lengths remain."""
        if not self.angles:
            return self
        self._check_all_set(self.unset_angles, SymbolKind.ANGLE)
        values = structure.list_symbol_values(self.angles)
        return replace(self._with_frames(lambda frame: frame.with_angles(values)), angles=())

    @cached_property
    def numeric(self) -> Robot:
        """This robot with a number in place of every symbolic length and angle."""
        self._check_all_set(self.unset_lengths, SymbolKind.LENGTH)
        robot, values = self.numeric_in_angles, structure.list_symbol_values(self.lengths)
        if not robot.symbolic_lengths:
            return robot
        return replace(
            robot._with_frames(lambda frame: frame.numeric(values)),
            forces=tuple(with_numbers(force, values) for force in self.forces),
            lengths=(),
        )

    @cached_property
    def merged(self) -> Robot:
        """This robot without fixed joints, except those of loads; the frames of merged links become markers."""
        if not any(is_merged(joint, self.link(joint.child)) for joint in self.joints):
            return self
        lengths, angles = structure.list_symbol_values(self.lengths), structure.list_symbol_values(self.angles)
        merge = merge_fixed_links(self.links, self.joints, lengths, angles)
        return replace(
            self,
            links=merge.links,
            joints=merge.joints,
            loops=tuple(Loop(merge.move_joint(loop.joint)) for loop in self.loops),
            markers=(*merge.markers, *(merge.move_marker(marker) for marker in self.markers)),
            collision=tuple(merge.move_shape(shape) for shape in self.collision),
        )

    def with_load(
        self, inertia: Inertia, *, name: str = "load", on: str | None = None, frame: Frame = IDENTITY
    ) -> Robot:
        """Return this robot with a load, a new link that is fixed to link ``on`` (default: the last) at ``frame``."""
        holder = self.links[-1].name if on is None else self.link(on).name
        grasp = Joint(f"{name}_grasp", JointKind.FIXED, holder, name, placement=frame)
        return replace(self, links=(*self.links, Link(name, inertia, load=True)), joints=(*self.joints, grasp))

    def with_inertias(self, inertias: Mapping[str, Inertia]) -> Robot:
        """Return this robot with new inertias for some links, given by name."""
        check_kind("inertias", inertias, Mapping, "a dictionary of inertias by name of the link")
        for name in inertias:
            self.link(name)
        links = tuple(replace(link, inertia=inertias.get(link.name, link.inertia)) for link in self.links)
        return replace(self, links=links)

    def with_drives(self, change: Callable[[str, Drive], Drive]) -> Robot:
        """Return this robot with every drive replaced by ``change(name, drive)``.

        The name is that of the joint, cut joint or motor to which the drive belongs. Joints that are neither revolute
        nor prismatic, such as those of floating bases and sensors, have no drive and stay as they are.
        """

        def change_joint(joint: Joint) -> Joint:
            return replace(joint, drive=change(joint.name, joint.drive)) if joint.moves else joint

        return replace(
            self,
            joints=tuple(change_joint(joint) for joint in self.joints),
            loops=tuple(Loop(change_joint(loop.joint)) for loop in self.loops),
            motors=tuple(replace(motor, drive=change(motor.name, motor.drive)) for motor in self.motors),
        )

    def check_symbols_may_be_set(self, names: Collection[str]) -> None:
        """Raise RobotError if there are names of lengths or angles to be set, but the inertias are unknown."""
        structure.check_symbols_may_be_set(names, robot=self.name, inertias_unknown=self.inertias_unknown)

    def _check_all_set(self, unset: Collection[str], kind: SymbolKind) -> None:
        structure.check_symbols_are_set(unset, kind, robot=self.name, inertias_unknown=self.inertias_unknown)

    @property
    def _geometry(self) -> Geometry:
        return Geometry(self.joints, self.loops, self.markers, self.collision, self.mounting)

    def _with_frames(self, change: Callable[[Frame], Frame]) -> Robot:
        changed = self._geometry.change_frames(change)
        return replace(
            self,
            joints=changed.joints,
            loops=changed.loops,
            markers=changed.markers,
            collision=changed.collision,
            mounting=changed.mounting,
        )


def check_is_robot(value: object) -> None:
    """Raise InputError unless a value is a Robot; public functions call it for their argument ``robot``."""
    if isinstance(value, Robot):
        return
    if isinstance(getattr(value, "robot", None), Robot):  # an Identification, a Simulation, BaseParameters …
        raise InputError(f"{value!r} is not a robot, but has one; give its attribute 'robot'")
    raise InputError(f"{value!r} is not a robot; load it with load(name or path)")


_REPR = Repr()  # shortens long names
_REPR.maxstring = 60  # characters


def _format_count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
