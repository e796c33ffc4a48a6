"""Rules that the parts of a robot keep by themselves: their own names, finite numbers, unit axes, limits in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from ytheta.errors import RobotError, suggest_names
from ytheta.files.lengths import Length, Scalar, is_length_name
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Drive, Joint, JointKind, Limits, Link, Marker, Motor


def check_unique(names: Iterable[str], what: str) -> None:
    """No name twice, and none that is empty."""
    for name, count in Counter(names).items():
        if count > 1:
            raise RobotError(f"the {what} name {name!r} stands {count} times; rename all but one")
        if not name:
            raise RobotError(f"a {what} has no name; give it one")


def repeated(names: Iterable[str]) -> list[str]:
    """Names that stand more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def check_link(link: Link) -> None:
    """Ten finite parameters. Negative masses are refused by the readers, but an identified model may have them."""
    if not _all_finite(link.inertia.parameters):
        raise RobotError(
            f"link {link.name!r}: its inertial parameters are not finite numbers; correct mass, centre and inertia"
        )


def check_joint(joint: Joint, *, cut: bool) -> None:
    """A unit axis, a kind that fits, numbers that mean something."""
    place = f"joint {joint.name!r}"
    if joint.kind is JointKind.POINT and not cut:
        raise RobotError(f"{place}: a 'point' joint can only close a loop")
    length = math.hypot(*joint.axis)
    if not math.isclose(length, 1.0, rel_tol=1e-9):
        raise RobotError(f"{place}: its axis {joint.axis} has length {length:g}; give a unit vector")
    check_frame(joint.placement, f"the frame of {place}")
    check_frame(joint.seat, f"the seat of {place}")
    _check_limits(joint.limits, place)
    _check_drive(joint.drive, place)


def check_motor(motor: Motor) -> None:
    """Limits in order and a drive of finite numbers."""
    _check_limits(motor.limits, f"motor {motor.name!r}")
    _check_drive(motor.drive, f"motor {motor.name!r}")


def check_markers(markers: Sequence[Marker], links: Collection[str]) -> None:
    """Markers sit on links that exist, and their names are their own."""
    check_unique((marker.name for marker in markers), "marker")
    for marker in markers:
        if marker.link not in links:
            raise RobotError(
                f"marker {marker.name!r}: the robot has no link {marker.link!r}{suggest_names(marker.link, links)}"
            )
        if marker.name in links:
            raise RobotError(f"marker {marker.name!r} has the name of a link; rename the marker")
        check_frame(marker.frame, f"the frame of marker {marker.name!r}")


def check_frame(frame: Frame, what: str) -> None:
    """Finite numbers, the factors of symbolic lengths included."""
    if frame is IDENTITY:
        return
    if not _all_finite(chain(*frame.rotation, *(_coefficients(entry) for entry in frame.translation))):
        raise RobotError(f"{what} holds numbers that are not finite; correct its position and rotation")


def check_numbers(numbers: Iterable[float], what: str) -> None:
    """Finite numbers."""
    if not _all_finite(numbers):
        raise RobotError(f"{what} should be finite; correct it")


def check_lengths(lengths: Sequence[tuple[str, float | None]], used: Iterable[str]) -> None:
    """Symbolic lengths have names that formulas can hold and finite values; those that are used are declared."""
    check_unique((name for name, _ in lengths), "length")
    for name, value in lengths:
        if not is_length_name(name):
            raise RobotError(f"{name!r} cannot name a length; use letters, digits and _ (but not 'pi')")
        if value is not None and not math.isfinite(value):
            raise RobotError(f"the length {name!r} is {value}; give a finite number in metres")
    declared = {name for name, _ in lengths}
    for name in sorted(set(used) - declared):
        raise RobotError(f"the length {name!r} is used but not declared; add it to 'lengths'")


def _check_limits(limits: Limits, place: str) -> None:
    if not limits.lower <= limits.upper:
        raise RobotError(
            f"{place}: its lower limit {limits.lower:g} exceeds its upper limit {limits.upper:g}; swap them"
            if limits.lower > limits.upper
            else f"{place}: its limits {limits.lower:g} … {limits.upper:g} are not numbers; correct them"
        )
    if not min(limits.velocity, limits.acceleration, limits.effort) >= 0.0:
        raise RobotError(f"{place}: limits of velocity, acceleration and effort are magnitudes; give positive numbers")


def _check_drive(drive: Drive, place: str) -> None:
    if drive.gear_ratio == 0.0:
        raise RobotError(
            f"{place}: its gear ratio is 0, so its motor would move nothing; give the ratio, or 1 for none"
        )
    if not _all_finite((*drive.parameters, drive.rotor_inertia, drive.gear_ratio)):
        raise RobotError(
            f"{place}: its drive is not finite (rotor inertia felt at the joint, friction, offset: "
            f"{', '.join(f'{value:g}' for value in drive.parameters)}); correct it"
        )
    square = drive.coulomb_speed * drive.coulomb_speed
    if not (drive.coulomb_speed == 0.0 or (drive.coulomb_speed > 0.0 and 0.0 < square < math.inf)):
        raise RobotError(
            f"{place}: its coulomb_speed is {drive.coulomb_speed:g}; give the speed around which Coulomb friction "
            "changes sign, between 1e-150 and 1e150, or 0 for a plain sign"
        )


def _coefficients(value: Scalar) -> tuple[float, ...]:
    if isinstance(value, Length):
        return value.constant, *(factor for _, factor in value.terms)
    return (value,)


def _all_finite(numbers: Iterable[float]) -> bool:
    return all(map(math.isfinite, numbers))
