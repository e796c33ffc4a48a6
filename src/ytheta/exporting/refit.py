"""Drives and bodies that come nearest to a model within a format that lacks some of its laws.

Identity      minimize  sum_j |w_j (tau_j - tau'_j - Y_j x)|^2  over x, bounded from below
Accepts       every robot; the states are those of its identification or, without them, of a default motion
Notation      code        meaning                                                            shape
              torque      tau, the torque of the robot                                       samples x joints
              missing     tau - tau', with tau' of what the format expresses of the robot    samples x joints
              columns     Y, the torque per unit of each unknown                             unknowns x samples x joints
              weights     w, one over the RMS torque of a joint; 0 at rest                   samples x joints
              x           change of each unknown                                             unknowns

The unknowns are viscous and Coulomb friction of the joints whose torque is not the same and, if rotor inertia gets
lost, rotor inertias of other joints or bodies. A format without rotor inertia gets bodies on the links: a disc about
the axis of a revolute joint, a point mass in the centre of mass of a link that slides. Both are possible bodies, so
that a link that carries one stays possible. On the first joint of an arm with a fixed base, a disc is the same as a
rotor. On other joints, it also resists the motion of the joints before it, and the fit chooses its size.

The torque error of the file follows from the error that the model states and from the difference of the torques. Their
squares add up, since the residual of a fit is not correlated with the terms that were fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from ytheta.conventions import LINK_PARAMETERS
from ytheta.dynamics.kernels import inverse_dynamics, regressor
from ytheta.errors import YthetaError
from ytheta.exporting.source import ExportSource
from ytheta.findings import Finding, Severity
from ytheta.identification.model_file import RecordedStates, read_states
from ytheta.robot.floating import fix_base
from ytheta.robot.frame import to_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, parameter_name
from ytheta.robot.robot import Robot
from ytheta.robot.structure import merge_fixed_links
from ytheta.shapes import Float, SamplesByJoint
from ytheta.simulation.references import default_reference, sample_reference

CODE = "torque error"
BACKEND = "interpreter"  # for some hundred samples, the interpreter needs less time than a compilation
# Duration (s) and states of the motion of a robot that was not identified. Chosen on: rule of thumb.
DEFAULT_SECONDS, DEFAULT_STATES = 5.0, 250
# Difference of torques, relative to the torque of a joint, up to which they are the same. Chosen on: reasoning, far
# above rounding errors, far below any friction.
MAX_RELATIVE_DIFFERENCE = 1e-9


@dataclass(frozen=True, eq=False)
class Abilities:
    """What a format or a file can express of the drives of joints, whose viscous and Coulomb friction it has.

    Attributes
    ----------
    format         name of the format, for messages
    rotor_inertia  whether it has rotor inertia; without it, bodies on the links take its place
    without_drive  joints that cannot have a drive, such as the hinges of a ball joint
    lowest         the smallest rotor inertia and viscous friction of joints, by name; zero if they are not listed
    forces         declared forces that it contains; None if it does not describe a whole robot
    """

    format: str
    rotor_inertia: bool = True
    without_drive: frozenset[str] = frozenset()
    lowest: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    forces: frozenset[str] | None = None


@dataclass(frozen=True, eq=False)
class Refit:
    """The robot to write, and a finding about its torque error if it is not that of the source."""

    robot: Robot
    findings: tuple[Finding, ...] = ()


def refit(source: ExportSource, abilities: Abilities) -> Refit:
    """Return the robot nearest to that of the source among those that a format can express."""
    robot = source.robot
    expressed = remove_inexpressible(robot, abilities)
    if expressed == robot:
        return Refit(robot)
    fitted = robot.with_drives(lambda name, _: dict(expressed.drives)[name])
    recorded = None if source.table is None else read_states(source.table, robot)
    try:
        states = recorded or make_default_states(robot)
        comparison = _compare(robot, expressed, states)
    except YthetaError as error:  # such as limits that leave no room for a default motion
        statement = f"what {abilities.format} cannot express of {robot.name!r} is left out without a fit: {error}"
        return Refit(fitted, (Finding(CODE, Severity.WARNING, statement),))
    if not comparison.differs.any():
        return Refit(robot)
    fit = comparison.fit(list(_list_unknowns(robot, expressed, abilities)))
    for unknown, change in fit.changes:
        fitted = unknown.add(fitted, change)
    return Refit(fitted, (_describe_errors(source, abilities, comparison, fit, is_recorded=recorded is not None),))


def remove_inexpressible(robot: Robot, abilities: Abilities) -> Robot:
    """Return a robot without the terms of its torque that a format cannot express."""
    joints = {joint.name for joint in robot.movable} - abilities.without_drive

    def reduce_drive(name: str, drive: Drive) -> Drive:
        if name not in joints:
            drive = replace(drive, rotor_inertia=0.0, viscous=0.0, coulomb=0.0)
        elif not abilities.rotor_inertia:
            drive = replace(drive, rotor_inertia=0.0)
        return replace(drive, offset=0.0, coulomb_speed=0.0, root=None, load=None, friction_speed=0.0)

    reduced = robot.with_drives(reduce_drive)
    if abilities.forces is None:
        return reduced
    return replace(reduced, forces=tuple(force for force in robot.forces if force.name in abilities.forces))


def make_default_states(robot: Robot) -> RecordedStates:
    """Return states of the default motion of the joints of a robot; a floating base rests at home."""
    fixed = fix_base(robot)
    joints = tuple(replace(j, kind=JointKind.FIXED) if j.kind is JointKind.SENSOR else j for j in fixed.joints)
    names = tuple(name for name in fixed.actuated if name not in robot.sensor_coordinates)
    fixed = replace(fixed, joints=joints, actuated=names)
    times = np.linspace(0.0, DEFAULT_SECONDS, DEFAULT_STATES)
    motion = sample_reference(default_reference(fixed, DEFAULT_SECONDS), fixed, times)
    home = dict(zip(robot.coordinates, robot.home_coordinates.tolist(), strict=True))
    q = np.tile([home[name] for name in robot.actuated], (DEFAULT_STATES, 1))
    qd, qdd = np.zeros_like(q), np.zeros_like(q)
    places = [robot.actuated.index(name) for name in names]
    q[:, places], qd[:, places], qdd[:, places] = motion.q, motion.qd, motion.qdd
    return RecordedStates(q, qd, qdd, np.ones(q.shape, dtype=bool))


# What a fit can change, and by how much.


@dataclass(frozen=True, eq=False)
class _Unknown:
    """A parameter of a drive, or the size of a body on a link.

    Attributes
    ----------
    parameters  the standard parameters that a unit of it adds, by name
    lowest      the lowest change
    add         returns a robot with a change of it
    """

    parameters: Mapping[str, float]
    lowest: float
    add: Callable[[Robot, float], Robot]


def _list_unknowns(robot: Robot, expressed: Robot, abilities: Abilities) -> Iterator[_Unknown]:
    joints = [joint for joint in expressed.movable if joint.name not in abilities.without_drive]
    names = {joint.name for joint in joints}
    lost = {
        name for name, drive in robot.drives if drive.rotor_inertia and not dict(expressed.drives)[name].rotor_inertia
    }
    with_inertia = lost if lost <= names else names  # the rotor of a motor or cut joint belongs to no joint of a format
    for joint in joints:
        lowest_inertia, lowest_viscous = abilities.lowest.get(joint.name, (0.0, 0.0))
        yield _make_drive_unknown(joint, "fv", "viscous", lowest_viscous)
        yield _make_drive_unknown(joint, "fc", "coulomb", 0.0)
        if joint.name in with_inertia and abilities.rotor_inertia:
            yield _make_drive_unknown(joint, "Ia", "rotor_inertia", lowest_inertia)
        elif joint.name in with_inertia:
            yield from _make_body_unknown(joint, robot)


def _make_drive_unknown(joint: Joint, symbol: str, attribute: str, lowest: float) -> _Unknown:
    scale = 1.0 / joint.drive.gear_ratio**2 if attribute == "rotor_inertia" else 1.0  # from the joint to the motor

    def add(robot: Robot, change: float) -> Robot:
        def add_to_drive(name: str, drive: Drive) -> Drive:
            if name != joint.name:
                return drive
            return replace(drive, **{attribute: max(getattr(drive, attribute) + scale * change, scale * lowest)})

        return robot.with_drives(add_to_drive)

    return _Unknown({parameter_name(joint.name, symbol): 1.0}, lowest - getattr(joint.drive, attribute) / scale, add)


def _make_body_unknown(joint: Joint, robot: Robot) -> Iterator[_Unknown]:
    """Yield a body on the heaviest of the links that a joint moves rigidly; nothing if they have no mass."""
    merge = merge_fixed_links(robot.links, robot.joints, {}, {})
    links = [link for link in robot.links if merge.carrier[link.name][0] == joint.child]
    link = max(links, key=lambda each: each.inertia.mass)
    if not link.inertia.mass > 0.0:
        return
    frame = merge.carrier[link.name][1]  # of the link, seen from the child of the joint, which has the parameters
    if joint.kind is JointKind.PRISMATIC:
        unit = Inertia.point_mass(1.0, link.inertia.center)
    else:
        axis = np.array((joint.seat @ frame).rotation).T @ joint.axis
        disc = to_rows(0.5 * (np.eye(3) + np.outer(axis, axis)))  # about any diameter, it has half of the moment
        unit = Inertia.about_center(0.0, (0.0, 0.0, 0.0), disc)
    values = unit.seen_from(frame).vector.tolist()

    def add(changed: Robot, size: float) -> Robot:
        inertia = changed.link(link.name).inertia
        return changed.with_inertias({link.name: Inertia(tuple((inertia.vector + size * unit.vector).tolist()))})

    names = (parameter_name(joint.child, symbol) for symbol in LINK_PARAMETERS)
    yield _Unknown(dict(zip(names, values, strict=True)), 0.0, add)


# The fit, and the torque errors before and after it.


@dataclass(frozen=True, eq=False)
class _Fit:
    """The changes of unknowns, and the torque that is still missing."""

    changes: tuple[tuple[_Unknown, float], ...]
    missing: SamplesByJoint


@dataclass(frozen=True, eq=False)
class _Comparison:
    """The torques of a robot and of what a format expresses of it, at some states."""

    expressed: Robot
    states: RecordedStates
    torque: SamplesByJoint
    missing: SamplesByJoint

    def compute_percents(self, missing: SamplesByJoint) -> tuple[float, list[float]]:
        """Return a torque difference in percent of the torque, of all joints and of each; 0 without torque.

        Wrenches of a floating base and of sensors do not count in the first, as in the errors of an identification.
        """
        squares, whole = ((values**2 * self.states.used).sum(axis=0) for values in (missing, self.torque))
        robot = self.expressed
        wrenches = {*robot.base_coordinates, *robot.sensor_coordinates}
        joints = np.array([name not in wrenches for name in robot.actuated])
        pairs = [(squares[joints].sum(), whole[joints].sum()), *zip(squares, whole, strict=True)]
        total, *each = (100.0 * float(np.sqrt(part / of)) if of > 0.0 else 0.0 for part, of in pairs)
        return total, each

    @property
    def differs(self) -> np.ndarray:
        """Whether the torque of a joint differs."""
        return np.array(self.compute_percents(self.missing)[1]) > 100.0 * MAX_RELATIVE_DIFFERENCE

    def fit(self, unknowns: Sequence[_Unknown]) -> _Fit:
        """Return the changes of the unknowns that act on joints whose torque differs."""
        columns = self._compute_columns(unknowns)
        acts = np.array([self.differs[np.abs(each).any(axis=0)].any() for each in columns], dtype=bool)
        touched = [unknown for unknown, does in zip(unknowns, acts, strict=True) if does]
        if not touched:
            return _Fit((), self.missing)
        squares = (self.torque**2 * self.states.used).sum(axis=0)
        weights = self.states.used / np.sqrt(np.where(squares > 0.0, squares, np.inf))
        matrix = (columns[acts] * weights).reshape(len(touched), -1).T
        scales = np.linalg.norm(matrix, axis=0)  # so that units do not matter
        scales = np.where(scales > 0.0, scales, 1.0)
        lowest = np.array([unknown.lowest for unknown in touched]) * scales
        result = lsq_linear(matrix / scales, (self.missing * weights).ravel(), (lowest, np.inf), method="bvls")
        changes = result.x / scales
        missing = self.missing - np.einsum("k,ksj->sj", changes, columns[acts])
        return _Fit(tuple(zip(touched, changes.tolist(), strict=True)), missing)

    def _compute_columns(self, unknowns: Sequence[_Unknown]) -> Float[np.ndarray, "unknowns samples joints"]:
        names = list(dict.fromkeys(name for unknown in unknowns for name in unknown.parameters))
        motion = (self.states.q, self.states.qd, self.states.qdd)
        kernel = regressor(self.expressed, parameters=names, backend=BACKEND)
        torques = kernel(*motion) * self.states.used[:, :, None]  # per unit of each parameter
        units = np.array([[unknown.parameters.get(name, 0.0) for name in names] for unknown in unknowns])
        return np.einsum("sjp,kp->ksj", torques, units.reshape(len(unknowns), len(names)))


def _compare(robot: Robot, expressed: Robot, states: RecordedStates) -> _Comparison:
    motion = (states.q, states.qd, states.qdd)
    torque, other = (inverse_dynamics(each, backend=BACKEND)(*motion) for each in (robot, expressed))
    return _Comparison(expressed, states, torque, torque - other)


def _describe_errors(
    source: ExportSource, abilities: Abilities, comparison: _Comparison, fit: _Fit, *, is_recorded: bool
) -> Finding:
    stated, stated_joints = _read_stated_errors(source)
    without, without_joints = comparison.compute_percents(comparison.missing)
    with_fit, with_fit_joints = comparison.compute_percents(fit.missing)
    joints = source.robot.actuated
    worst = int(np.argmax(with_fit_joints))
    after, unfitted = float(np.hypot(stated or 0.0, with_fit)), float(np.hypot(stated or 0.0, without))
    after_joints = np.hypot(stated_joints, with_fit_joints).tolist()
    motion = "on the motion of its identification" if is_recorded else "on a default motion"
    if stated is None:
        text = f"the torques of the file differ by {after:.3g} % from those of {source.robot.name!r} {motion}"
        most = f"most at {joints[worst]}, by {after_joints[worst]:.3g} %"
    else:
        text = f"torque error {stated:.3g} % → {after:.3g} % {motion}"
        most = f"most at {joints[worst]}, {stated_joints[worst]:.3g} % → {after_joints[worst]:.3g} %"
    has_bodies = any(name.rpartition(".")[2] in LINK_PARAMETERS for each, _ in fit.changes for name in each.parameters)
    return Finding(
        CODE,
        Severity.WARNING,
        f"{text}, {most}: {abilities.format} gets the nearest values that it can express; without this fit, it would "
        f"be {unfitted:.3g} %",
        "bodies on the links replace the rotor inertia, so do not add it again" if has_bodies else "",
        tuple(name for name, differs in zip(joints, comparison.differs, strict=True) if differs),
        fields={
            "before_percent": stated,
            "after_percent": after,
            "without_fit_percent": unfitted,
            "difference_percent": with_fit,
            "joints": list(joints),
            "before_per_joint_percent": None if stated is None else stated_joints,
            "after_per_joint_percent": after_joints,
            "without_fit_per_joint_percent": np.hypot(stated_joints, without_joints).tolist(),
            "motion": "identification" if is_recorded else "default",
        },
    )


def _read_stated_errors(source: ExportSource) -> tuple[float | None, list[float]]:
    """Return the torque errors that a model states for the logs of its fit, of all joints and of each, in percent."""
    nothing = [0.0] * len(source.robot.actuated)
    fit: Any = (source.table or {}).get("fit", {})
    try:
        total, each = float(fit["relative_error_percent"]), [float(value) for value in fit["per_joint_percent"]]
    except (KeyError, TypeError, ValueError):
        return None, nothing
    if len(each) != len(nothing) or not np.isfinite([total, *each]).all():
        return None, nothing
    return total, each
