"""Checks of single parts of a robot: unique names, finite numbers, unit axes, ordered limits."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from ytheta.arguments import check_kind
from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import RobotError, suggest_names
from ytheta.files.symbols import Length, Scalar, SymbolKind, is_length_name
from ytheta.robot import parts
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia

# Largest length (m); squares of torques and distances that follow from larger ones would not be finite. Chosen on:
# reasoning.
MAX_LENGTH = 1e50
# Largest gap (m or rad) up to which a loop may count as closed. Chosen on: reasoning, larger ones are not rounding
# errors of a file.
MAX_CLOSURE_TOLERANCE = 1e-3
# Largest parameter of inertias and drives, in SI units; squares of larger ones would not be finite. Chosen on:
# reasoning.
MAX_PARAMETER = 1e100


def check_unique(names: Iterable[str], what: str) -> None:
    """Check that names are text, and that none is repeated or empty."""
    for name, count in Counter(names).items():
        if count > 1:
            raise RobotError(f"the {what} name {name!r} is used {count} times; rename all but one")
        check_kind(f"the name of a {what}", name, str, "a text")
        if not name:
            raise RobotError(f"a {what} has no name; give it one")


def make_unique(proposal: str, used_names: set[str]) -> str:
    """Return the proposed name, with a number appended if it is already used. The result is added to ``used_names``."""
    name, count = proposal, 2
    while name in used_names:
        name, count = f"{proposal}_{count}", count + 1
    used_names.add(name)
    return name


def find_repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def check_link(link: parts.Link) -> None:
    """Check that the inertial parameters are finite. Negative masses are allowed, for identified models."""
    form = "an Inertia, such as Inertia.point_mass(2.0, (0.0, 0.0, 0.1))"
    check_kind(f"the inertia of link {link.name!r}", link.inertia, Inertia, form)
    if not _are_finite(link.inertia.parameters):
        raise RobotError(
            f"link {link.name!r}: its inertial parameters are not finite numbers; correct mass, centre and inertia"
        )
    if not (link.has_inertia or link.inertia.massless):
        raise RobotError(f"link {link.name!r} is declared to have no inertia, but has one; remove one of the two")
    for name in link.zero:
        if name not in LINK_PARAMETERS:
            hint = suggest_names(name, LINK_PARAMETERS)
            raise RobotError(f"link {link.name!r}: there is no inertial parameter {name!r} to declare zero{hint}")
    check_size(
        link.inertia.parameters, MAX_PARAMETER, f"link {link.name!r}: its inertial parameters contain", "kg and m"
    )


def check_joint(joint: parts.Joint, *, cut: bool) -> None:
    """Check the kind, the axis, the frames, the limits and the drive of a joint; ``cut`` is true for a cut joint."""
    place = f"joint {joint.name!r}"
    if joint.kind is parts.JointKind.POINT and not cut:
        raise RobotError(f"{place}: a 'point' joint can only close a loop; declare it as a loop or change its type")
    if joint.kind is parts.JointKind.FREE:
        _check_free_joint(joint, place, cut=cut)
    if joint.kind is parts.JointKind.SENSOR and (cut or joint.drive != parts.Drive()):
        raise RobotError(f"{place}: a 'sensor' joint cannot close a loop and has no drive; change its type")
    length = math.hypot(*joint.axis)
    if not math.isclose(length, 1.0, rel_tol=1e-9):
        raise RobotError(f"{place}: its axis {joint.axis} has length {length:g}; give a unit vector")
    check_frame(joint.placement, f"the frame of {place}")
    check_frame(joint.seat, f"the seat of {place}")
    _check_limits(joint.limits, place)
    _check_drive(joint.drive, place)


def _check_free_joint(joint: parts.Joint, place: str, *, cut: bool) -> None:
    if cut:
        raise RobotError(f"{place}: a 'free' joint cannot close a loop; remove it, since it constrains nothing")
    if joint.placement != IDENTITY or joint.seat != IDENTITY:
        raise RobotError(
            f"{place}: the coordinates of a 'free' joint are those of the link itself in the world; remove its frame, "
            "and give the position of the base under 'home'"
        )
    if joint.drive != parts.Drive():
        raise RobotError(f"{place}: a 'free' joint has no drive; remove its rotor inertia and friction")


def check_motor(motor: parts.Motor) -> None:
    """Check the limits and the drive of a motor."""
    _check_limits(motor.limits, f"motor {motor.name!r}")
    _check_drive(motor.drive, f"motor {motor.name!r}")


def check_markers(markers: Sequence[parts.Marker], links: Collection[str]) -> None:
    """Check that markers have unique names and belong to existing links."""
    check_unique((marker.name for marker in markers), "marker")
    for marker in markers:
        if marker.link not in links:
            raise RobotError(
                f"marker {marker.name!r}: the robot has no link {marker.link!r}{suggest_names(marker.link, links)}"
            )
        if marker.name in links:
            raise RobotError(f"marker {marker.name!r} has the name of a link; rename the marker")
        check_frame(marker.frame, f"the frame of marker {marker.name!r}")


def check_collision(shapes: Sequence[parts.CollisionShape], links: Collection[str]) -> None:
    """Check that collision shapes belong to existing links, and check each of them."""
    for shape in shapes:
        if shape.link not in links:
            raise RobotError(
                f"a collision shape ({shape.kind}) belongs to link {shape.link!r}, which the robot does not have"
                f"{suggest_names(shape.link, links)}"
            )
        check_shape(shape)


def check_shape(shape: parts.CollisionShape) -> None:
    """Check the sizes and the frame of a collision shape."""
    names, place = parts.SIZE_NAMES[shape.kind], f"the {shape.kind} of link {shape.link!r}"
    if len(shape.size) != len(names) or not _are_finite(shape.size):
        raise RobotError(f"{place}: its size is {shape.size}; give {', '.join(names)} as finite numbers")
    for name, size in zip(names, shape.size, strict=True):
        may_be_zero = shape.kind is parts.ShapeKind.CAPSULE and name == "length"
        if (size == 0.0 and not may_be_zero) or (size < 0.0 and shape.kind is not parts.ShapeKind.MESH):
            raise RobotError(f"{place}: its {name} is {size:g}; give a positive number")
    check_frame(shape.frame, f"the frame of {place}")


def check_frame(frame: Frame, what: str) -> None:
    """Check that all numbers of a frame are finite, including the factors of symbolic lengths."""
    if frame is IDENTITY:
        return
    check_kind(what, frame, Frame, "a Frame, such as Frame.shift(z=0.1)")
    if frame.twist is not None:
        check_frame(frame.twist.after, what)
    if not _are_finite(chain(*frame.rotation, *(_list_coefficients(entry) for entry in frame.translation))):
        raise RobotError(f"{what} contains numbers that are not finite; correct its position and rotation")
    check_size(chain(*map(_list_coefficients, frame.translation)), MAX_LENGTH, f"{what} contains", "metres")


def check_size(values: Iterable[float], max_size: float, subject: str, unit: str) -> None:
    """Check that no number is so large that computed ones would not be finite."""
    for value in values:
        if abs(value) > max_size:
            raise RobotError(f"{subject} {value:.3g}, which is too large to compute with; give numbers in {unit}")


def check_finite(values: Iterable[float], what: str) -> None:
    """Check that these numbers are finite."""
    if not _are_finite(values):
        raise RobotError(f"{what} should be finite; correct it")


def check_mounting(mounting: Frame) -> None:
    """Check that the mounting is finite and has no symbolic angles, because gravity in the base depends on them."""
    check_frame(mounting, "the mounting")
    for name in sorted(mounting.angles):
        raise RobotError(
            f"the mounting uses the symbolic angle {name!r}, but only joints and markers may use one; give numbers"
        )


def check_closure_tolerance(tolerance: float) -> None:
    """Check that the gap up to which loops count as closed is positive and small."""
    if not 0.0 < tolerance <= MAX_CLOSURE_TOLERANCE:
        raise RobotError(
            f"closure_tolerance is {tolerance:g}; give a gap in metres or radians between 0 and "
            f"{MAX_CLOSURE_TOLERANCE:g}"
        )


def check_symbols(
    declared: Sequence[tuple[str, float | None]], used: Iterable[str], kind: SymbolKind, others: Collection[str] = ()
) -> None:
    """Check the names and values of symbolic lengths or angles, and that all used ones are declared.

    ``others`` are the declared symbols of the other kind.
    """
    unit = {SymbolKind.LENGTH: "metres", SymbolKind.ANGLE: "radians"}[kind]
    article = {SymbolKind.LENGTH: "a", SymbolKind.ANGLE: "an"}[kind]
    check_unique((name for name, _ in declared), kind)
    for name, value in declared:
        if not is_length_name(name):
            raise RobotError(f"{name!r} cannot name {article} {kind}; use letters, digits and _ (but not 'pi')")
        if value is not None and not _is_finite(value):
            raise RobotError(f"the {kind} {name!r} is {value!r}; give a finite number in {unit}")
        if value is not None and kind is SymbolKind.LENGTH:
            check_size((value,), MAX_LENGTH, f"the {kind} {name!r} is", unit)
        if name in others:
            raise RobotError(f"{name!r} is the name of a length and of an angle; rename one of them")
    for name in sorted(set(used) - {name for name, _ in declared}):
        raise RobotError(f"the {kind} {name!r} is used but not declared; add it to '{kind}s'")


def _check_limits(limits: parts.Limits, place: str) -> None:
    if not limits.lower <= limits.upper:
        raise RobotError(
            f"{place}: its lower limit {limits.lower:g} exceeds its upper limit {limits.upper:g}; swap them, or remove "
            "both if its position is not limited, as Bullet reads them"
            if limits.lower > limits.upper
            else f"{place}: its limits {limits.lower:g} … {limits.upper:g} are not numbers; correct them"
        )
    if not min(limits.velocity, limits.acceleration, limits.effort, limits.jerk) >= 0.0:
        raise RobotError(
            f"{place}: limits of velocity, acceleration, jerk and effort are magnitudes; give positive numbers"
        )


def _check_drive(drive: parts.Drive, place: str) -> None:
    if drive.gear_ratio == 0.0:
        raise RobotError(f"{place}: its gear ratio is 0; give the ratio, or 1 if there is no gear")
    if not _are_finite((*drive.parameters, drive.rotor_inertia, drive.gear_ratio)):
        raise RobotError(
            f"{place}: its drive is not finite (rotor inertia at the joint, friction and offset are "
            f"{', '.join(f'{value:g}' for value in drive.parameters)}); correct it"
        )
    if drive.has_rotor is False and drive.rotor_inertia != 0.0:
        raise RobotError(
            f"{place}: its drive is declared to have no rotor, but has a rotor inertia; remove one of them"
        )
    for kind in drive.absent_friction:
        if kind not in parts.BASIC_FRICTION:
            raise RobotError(f"{place}: friction {kind!r} cannot be absent{suggest_names(kind, parts.BASIC_FRICTION)}")
        if getattr(drive, kind) != 0.0:
            raise RobotError(
                f"{place}: its drive is declared to have no {kind} friction, but has it; remove one of them"
            )
    check_size(drive.parameters, MAX_PARAMETER, f"{place}: its drive has a parameter", "SI units")
    square = drive.coulomb_speed * drive.coulomb_speed
    if not (drive.coulomb_speed == 0.0 or (drive.coulomb_speed > 0.0 and 0.0 < square < math.inf)):
        raise RobotError(
            f"{place}: its coulomb_speed is {drive.coulomb_speed:g}; give the speed within which Coulomb friction "
            "changes sign, between 1e-150 and 1e150, or 0 for the sign of the velocity"
        )
    if not 0.0 <= drive.friction_speed < math.inf:
        raise RobotError(
            f"{place}: its friction_speed is {drive.friction_speed:g}; give the largest speed at which friction was "
            "measured, or 0 for no bound"
        )


def check_load_friction(robot: str, drives: Sequence[str], parts: Mapping[str, Sequence[object]]) -> None:
    """Raise RobotError if a drive has load-dependent friction and the robot has parts (by kind) that do not allow it.

    With such parts, the torque that a drive transmits depends on the torques of other drives.
    """
    kinds = [kind for kind, entries in parts.items() if entries]
    if drives and kinds:
        raise RobotError(
            f"robot {robot!r}: load-dependent friction ('load') of {', '.join(map(repr, drives))} is not possible, "
            f"because the robot has {' and '.join(kinds)}, with which the torque that a drive transmits is not "
            "determined by its joint alone; remove 'load' from the drive"
        )


def _list_coefficients(value: Scalar) -> tuple[float, ...]:
    if isinstance(value, Length):
        return value.constant, *(factor for _, factor in value.terms)
    return (value,)


def _is_finite(value: object) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value)


def _are_finite(values: Iterable[float]) -> bool:
    return all(map(math.isfinite, values))
