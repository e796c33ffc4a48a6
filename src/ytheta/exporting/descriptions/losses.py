"""What URDF and MJCF cannot express of a robot, as findings that name the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ytheta.conventions import STANDARD_GRAVITY
from ytheta.findings import Finding, Severity
from ytheta.robot.parts import Coupling, Drive
from ytheta.robot.robot import Robot

MAX_GRAVITY_DIFFERENCE = 0.05  # m/s^2, about that between the poles and the equator

_DRIVE_LAWS: tuple[tuple[str, Callable[[Drive], bool]], ...] = (
    ("root friction", lambda drive: bool(drive.root)),
    ("load-dependent friction", lambda drive: bool(drive.load)),
    ("torque offset", lambda drive: drive.offset != 0.0),
)


def find_losses(robot: Robot, *, to: str, described: Robot | None) -> tuple[Finding, ...]:
    """Return what is not written; ``described`` is the robot in the file that is edited, None for a new file."""
    return tuple(
        Finding("not written", Severity.WARNING, f"{to.upper()} cannot express {what} of {', '.join(names)}", "", names)
        for what, names in _list_losses(robot, to, described)
        if names
    )


def is_mimic(coupling: Coupling, robot: Robot) -> bool:
    """Whether a coupling depends on one joint and on no motor, as ``mimic`` of URDF does."""
    joints = {joint.name for joint in robot.movable}
    return len(coupling.terms) == 1 and coupling.terms[0][0] in joints


def _list_losses(robot: Robot, to: str, described: Robot | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    joints = {joint.name: joint.drive for joint in robot.movable}
    others = {name: drive for name, drive in robot.drives if name not in joints}
    if to == "urdf":
        yield "rotor inertia", tuple(name for name, drive in joints.items() if drive.rotor_inertia)
    for law, has_law in _DRIVE_LAWS:
        yield law, tuple(name for name, drive in joints.items() if has_law(drive))
    smooth = tuple(name for name, drive in joints.items() if drive.coulomb and drive.coulomb_speed)
    yield "the gradual change of sign of Coulomb friction (coulomb_speed)", smooth
    yield "the drives", tuple(name for name, drive in others.items() if any(drive.parameters))
    yield "the couplings", tuple(c.joint for c in robot.couplings if not _is_written(c, robot, to, described))
    if described is None:
        yield "the declared forces", tuple(force.name for force in robot.forces)
    else:
        values = {force.name: force.value for force in described.forces}
        yield "the declared forces", tuple(f.name for f in robot.forces if values.get(f.name) != f.value)
        names = {loop.name for loop in described.loops}
        yield "the loops", tuple(loop.name for loop in robot.loops if loop.name not in names)
    # A new MJCF file contains gravity. A new URDF file turns the base so that gravity points downwards.
    if described is not None and math.dist(described.gravity_in_base, robot.gravity_in_base) > MAX_GRAVITY_DIFFERENCE:
        yield f"the gravity {robot.gravity} m/s^2, which differs from that of the file,", (robot.name,)
    elif to == "urdf" and abs(math.hypot(*robot.gravity) - math.hypot(*STANDARD_GRAVITY)) > MAX_GRAVITY_DIFFERENCE:
        yield f"the gravity {robot.gravity} m/s^2", (robot.name,)


def _is_written(coupling: Coupling, robot: Robot, to: str, described: Robot | None) -> bool:
    """Whether a coupling is in the edited file, or can be written to a new file."""
    if described is not None:
        return coupling in described.couplings
    joints = {joint.name for joint in robot.movable}
    return is_mimic(coupling, robot) or (to == "mjcf" and all(name in joints for name, _ in coupling.terms))
