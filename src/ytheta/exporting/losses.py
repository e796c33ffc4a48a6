"""What a format cannot express of a robot, as findings that name the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from ytheta.conventions import STANDARD_GRAVITY
from ytheta.findings import Finding, Severity
from ytheta.robot.parts import Coupling, Drive, JointKind, Limits, ShapeKind
from ytheta.robot.robot import Robot
from ytheta.robot.structure import list_coordinates

# m/s^2; a larger difference of gravity is named as a loss. Chosen on: reasoning, about the difference between the
# poles and the equator.
MAX_GRAVITY_DIFFERENCE = 0.05
# Relative, and in rad or m; larger differences of limits are not rounding errors, and are named. Chosen on:
# reasoning, far above rounding errors.
MAX_LIMIT_DIFFERENCE = 1e-9

_DRIVE_LAWS: tuple[tuple[str, Callable[[Drive], bool]], ...] = (
    ("root friction", lambda drive: bool(drive.root)),
    ("load-dependent friction", lambda drive: bool(drive.load)),
    ("the torque offset", lambda drive: drive.offset != 0.0),
    (
        "the gradual change of sign of Coulomb friction (coulomb_speed)",
        lambda drive: bool(drive.coulomb and drive.coulomb_speed),
    ),
)
_LIMITS = {"urdf": ("acceleration", "jerk"), "mjcf": ("velocity", "acceleration", "jerk")}  # those without a place
# Limits of the joints of an edited file, which it keeps.
_LIMITS_OF_FILES = {
    "range of motion": ("lower", "upper"),
    **{f"{quantity} limit": (quantity,) for quantity in ("velocity", "effort", "acceleration", "jerk")},
}
_SHAPES = {"urdf": (ShapeKind.ELLIPSOID, ShapeKind.MESH), "mjcf": (ShapeKind.MESH,), "toml": (ShapeKind.MESH,)}
_Loss = tuple[str, tuple[str, ...]]  # what is lost, and the names of the parts


def find_description_losses(robot: Robot, *, to: str, described: Robot | None) -> tuple[Finding, ...]:
    """Return what a URDF or MJCF file does not contain.

    ``described`` is the robot in the file that is edited, None for a new file.
    """
    return _make_findings(to.upper(), _list_description_losses(robot, to, described))


def find_shape_losses(robot: Robot, *, to: str) -> tuple[Finding, ...]:
    """Return the kinds of collision shapes that a new file of a format does not contain."""
    return _make_findings(to.upper(), _list_shape_losses(robot, to))


def find_drive_losses(robot: Robot, *, to: str) -> tuple[Finding, ...]:
    """Return what a format with armature, viscous and Coulomb friction of joints cannot express of the drives."""
    return _make_findings(to, _list_drive_losses(robot, rotor_inertia=True))


def is_mimic(coupling: Coupling, robot: Robot) -> bool:
    """Whether a coupling depends on one joint and on no motor, as ``mimic`` of URDF does."""
    joints = {joint.name for joint in robot.movable}
    return len(coupling.terms) == 1 and coupling.terms[0][0] in joints


def _make_findings(to: str, losses: Iterable[_Loss]) -> tuple[Finding, ...]:
    return tuple(
        Finding("not written", Severity.WARNING, f"{to} cannot express {what} of {', '.join(names)}", "", names)
        for what, names in losses
        if names
    )


def _list_drive_losses(robot: Robot, *, rotor_inertia: bool) -> Iterator[_Loss]:
    joints = {joint.name: joint.drive for joint in robot.movable}
    if not rotor_inertia:
        yield "rotor inertia", tuple(name for name, drive in joints.items() if drive.rotor_inertia)
    for law, has_law in _DRIVE_LAWS:
        yield law, tuple(name for name, drive in joints.items() if has_law(drive))
    others = ((name, drive) for name, drive in robot.drives if name not in joints)
    yield "the drive", tuple(name for name, drive in others if any(drive.parameters))


def _list_description_losses(robot: Robot, to: str, described: Robot | None) -> Iterator[_Loss]:
    yield from _list_drive_losses(robot, rotor_inertia=to != "urdf")
    yield "the coupling", tuple(c.joint for c in robot.couplings if not _is_written(c, robot, to, described))
    in_file = {force.name for force in described.forces} if described is not None else set()
    yield "the declared force", tuple(force.name for force in robot.forces if force.name not in in_file)
    if described is None:
        yield from _list_new_file_losses(robot, to)
    else:
        names = {loop.name for loop in described.loops}
        yield "the loop", tuple(loop.name for loop in robot.loops if loop.name not in names)
        yield from _list_limit_losses(robot, described)
    if to == "mjcf":
        yield "the type 'sensor'", tuple(joint.name for joint in robot.joints if joint.kind is JointKind.SENSOR)
    # A new MJCF file contains gravity. A new URDF file turns a fixed base so that gravity points downwards.
    if described is not None and math.dist(described.gravity_in_base, robot.gravity_in_base) > MAX_GRAVITY_DIFFERENCE:
        yield f"the gravity {robot.gravity} m/s^2, which differs from that of the file,", (robot.name,)
    elif to == "urdf" and _measure_gravity_difference(robot) > MAX_GRAVITY_DIFFERENCE:
        yield f"the gravity {robot.gravity} m/s^2", (robot.name,)


def _measure_gravity_difference(robot: Robot) -> float:
    """Return how much gravity differs from that of URDF; only a fixed base can be turned instead of it."""
    if robot.floating:
        return math.dist(robot.gravity, STANDARD_GRAVITY)
    return abs(math.hypot(*robot.gravity) - math.hypot(*STANDARD_GRAVITY))


def _list_new_file_losses(robot: Robot, to: str) -> Iterator[_Loss]:
    """Yield what a new file does not contain; an edited file keeps its own."""
    for quantity in _LIMITS[to]:
        limited = (joint.name for joint in robot.movable if math.isfinite(getattr(joint.limits, quantity)))
        yield f"the {quantity} limit", tuple(limited)
    if to == "mjcf":  # efforts are limits of the motors of actuated joints
        passive = (joint for joint in robot.movable if joint.name not in robot.actuated)
        yield "the effort limit", tuple(joint.name for joint in passive if math.isfinite(joint.limits.effort))
    yield "the limits", tuple(loop.name for loop in robot.loops if loop.joint.limits != Limits())
    yield "the motor", tuple(motor.name for motor in robot.motors)
    yield from _list_shape_losses(robot, to)
    if to == "urdf":
        yield "the home position", tuple(name for name, _ in robot.home)
        joints = list_coordinates(robot.movable, robot.couplings, robot.motors)
        if robot.actuated != (*robot.base_coordinates, *joints, *robot.sensor_coordinates):
            yield "the order of the actuated joints", (robot.name,)


def _list_limit_losses(robot: Robot, described: Robot) -> Iterator[_Loss]:
    """Yield limits that differ from those of an edited file, which keeps its own."""
    kept = {joint.name: joint.limits for joint in described.movable}
    for words, quantities in _LIMITS_OF_FILES.items():
        differing = (
            joint.name
            for joint in robot.movable
            if joint.name in kept
            and not all(_is_same(getattr(joint.limits, q), getattr(kept[joint.name], q)) for q in quantities)
        )
        yield f"the {words}, which differs from that of the file,", tuple(differing)


def _is_same(limit: float, other: float) -> bool:
    return math.isclose(limit, other, rel_tol=MAX_LIMIT_DIFFERENCE, abs_tol=MAX_LIMIT_DIFFERENCE)


def _list_shape_losses(robot: Robot, to: str) -> Iterator[_Loss]:
    for kind in _SHAPES[to]:
        yield f"the collision {kind.value}", tuple(dict.fromkeys(s.link for s in robot.collision if s.kind is kind))


def _is_written(coupling: Coupling, robot: Robot, to: str, described: Robot | None) -> bool:
    """Whether a coupling is in the edited file, or can be written to a new file."""
    if described is not None:
        return coupling in described.couplings
    joints = {joint.name for joint in robot.movable}
    return is_mimic(coupling, robot) or (to == "mjcf" and all(name in joints for name, _ in coupling.terms))
