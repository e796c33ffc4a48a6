"""What a user should know about the numbers of a description: inconsistent inertias, friction that drives."""

from __future__ import annotations

from ytheta.findings import Finding, Severity
from ytheta.robot.friction_curve import find_driving_speed
from ytheta.robot.robot import Robot


def summarize_warnings(robot: Robot, warnings: tuple[Finding, ...]) -> Finding:
    """Return one note in place of the warnings about an identified model, whose estimates need not be consistent."""
    links = sum(not consistency for consistency in robot.consistency.values())
    parts = [f"physically inconsistent inertias in {links} of {len(robot.consistency)} links"] if links else []
    parts += ["negative friction or rotor inertia"] if len(warnings) > links else []
    statement = f"this identified model has {' and '.join(parts)}"
    remedy = "its torques are valid nevertheless, since they depend only on combinations of these values"
    return Finding("identified", Severity.NOTE, statement, remedy)


def describe_unknown_inertias(robot: Robot) -> tuple[Finding, ...]:
    """Return a note if the robot was identified with unknown geometry, so that its links have no inertias."""
    if not robot.inertias_unknown:
        return ()
    statement = f"{robot.name!r} was identified with unknown geometry: its links have no inertias here"
    remedy = "only predict and inverse_dynamics() of its model use the identified parameters"
    return (Finding("geometry", Severity.NOTE, statement, remedy),)


def check_inertias(robot: Robot) -> tuple[Finding, ...]:
    """Return warnings about links whose inertia is not physically consistent."""
    return tuple(
        Finding("inertia", Severity.WARNING, f"link {name!r}: {consistency.reason}", names=(name,))
        for name, consistency in robot.consistency.items()
        if not consistency
    )


def check_drives(robot: Robot) -> tuple[Finding, ...]:
    """Return warnings about negative rotor inertia and about friction that drives instead of braking."""
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    drives = [("joint", joint.name, joint.drive) for joint in joints]
    drives += [("motor", motor.name, motor.drive) for motor in robot.motors]
    negative = tuple(
        Finding(
            "drive",
            Severity.WARNING,
            f"{kind} {name!r}: its {quantity} {value:g} is negative",
            remedy="check the sign",
            names=(name,),
            fields={quantity: value},
        )
        for kind, name, drive in drives
        for quantity, value in (
            ("rotor inertia", drive.rotor_inertia),
            # With a root, only the sum of the laws must brake.
            ("viscous friction", drive.viscous if drive.root is None else 0.0),
            ("Coulomb friction", drive.coulomb if drive.root is None else 0.0),
            ("load-dependent friction", drive.load or 0.0),
        )
        if value < 0.0
    )
    driving = tuple(
        Finding(
            "drive",
            Severity.WARNING,
            f"{kind} {name!r}: the sum of its viscous, Coulomb and root friction drives instead of braking at a speed "
            f"of {speed:g}",
            remedy="check the signs, or give a smaller friction_speed",
            names=(name,),
            fields={"speed": speed},
        )
        for kind, name, drive in drives
        if drive.root is not None and (speed := find_driving_speed(drive)) is not None
    )
    return negative + driving
