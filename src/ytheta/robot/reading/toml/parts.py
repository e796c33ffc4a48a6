"""Reads the tables of the TOML format: links, joints, couplings, motors, forces, markers.

The page on the robot format of the documentation describes the keys. Unknown keys are errors.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError, suggest_names
from ytheta.files.symbols import Angle
from ytheta.files.toml import Table
from ytheta.robot.collision import SIZE_NAMES, CollisionShape, ShapeKind, make_capsule
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import BASIC_FRICTION, Coupling, Drive, Force, Joint, JointKind, Limits, Link, Marker, Motor
from ytheta.robot.reading.snap import Snapper, normalize_axis

GEOMETRIES = ("standard_dh", "modified_dh", "frame")


def read_link(table: Table, *, identified: bool = False) -> Link:
    """Read a link. ``identified`` allows a negative mass, which an identification may return."""
    has_inertia = read_has_inertia(table)
    link = Link(
        name=table.text("name"),
        inertia=read_inertia(table, identified=identified) if has_inertia else Inertia(),
        load=table.flag("load", default=False),
        source=table.text("source", ""),
        has_inertia=has_inertia,
    )
    table.finish()
    return link


def read_has_inertia(table: Table) -> bool:
    """Return false if the table says ``inertia = false``; then it must not give an inertia."""
    if not table.is_flag("inertia"):
        return True
    if table.flag("inertia", default=False):
        raise table.error("'inertia' is false for a link without inertia, or a table such as { xx = 0.1 }; remove it")
    for key in ("mass", "center", "parameters"):
        if table.has(key):
            raise table.error(f"'inertia = false' declares a link without inertia; remove {key!r}, or 'inertia'")
    return False


def read_inertia(table: Table, *, identified: bool = False) -> Inertia:
    if table.has("parameters"):
        parameters = table.table("parameters")
        values = dict(parameters.named_numbers())
        for name in values:
            if name not in LINK_PARAMETERS:
                raise parameters.error(f"the parameter {name!r} is unknown{suggest_names(name, LINK_PARAMETERS)}")
        inertia = Inertia.from_names(values)
    else:
        center = to_vector(table.numbers("center", 3, (0.0, 0.0, 0.0)))
        moments = table.table("inertia")
        xx, yy, zz, xy, xz, yz = (moments.number(key, 0.0) for key in ("xx", "yy", "zz", "xy", "xz", "yz"))
        moments.finish()
        tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        inertia = Inertia.about_center(table.number("mass", 0.0), center, tensor)
    if inertia.mass < 0.0 and not identified:
        raise table.error(f"the mass {inertia.mass:g} kg is negative; give a positive mass, or 0 for none")
    return inertia


def read_joint(table: Table, snapper: Snapper) -> Joint:
    kinds = [kind.value for kind in JointKind]
    kind = table.text("type")
    if kind not in kinds:
        raise table.error(f"the joint type {kind!r} is not supported{suggest_names(kind, kinds)}")
    placement, seat = _read_geometry(table, snapper)
    joint = Joint(
        name=table.text("name"),
        kind=JointKind(kind),
        parent=table.text("parent"),
        child=table.text("child"),
        placement=placement,
        axis=_read_axis(table, snapper),
        seat=seat,
        limits=read_limits(table.table("limits")),
        drive=read_drive(table.table("drive")),
        source=table.text("source", ""),
    )
    table.finish()
    return joint


def _read_geometry(table: Table, snapper: Snapper) -> tuple[Frame, Frame]:
    """Return placement and seat, read from one of the keys in GEOMETRIES."""
    geometry = [key for key in GEOMETRIES if table.has(key)]
    if len(geometry) > 1:
        raise table.error(f"{geometry[0]!r} and {geometry[1]!r} exclude each other; keep one")
    if table.has("seat") and table.has("child_frame"):
        raise table.error("'seat' and 'child_frame' are inverses of each other; keep one")
    if geometry and geometry[0] != "frame":
        for key in ("axis", "seat", "child_frame"):
            if table.has(key):
                raise table.error(f"{geometry[0]!r} determines {key!r} already; remove {key!r}, or use 'frame'")
        row = table.table(geometry[0])
        frames = _read_standard_dh(row, snapper) if geometry[0] == "standard_dh" else _read_modified_dh(row, snapper)
        row.finish()
        return frames
    if table.has("child_frame"):
        seat = read_frame(table.table("child_frame"), snapper).inverse()
    else:
        seat = read_frame(table.table("seat"), snapper)
    return read_frame(table.table("frame"), snapper), seat


def _read_standard_dh(row: Table, snapper: Snapper) -> tuple[Frame, Frame]:
    """Return placement and seat. The seat is Rz(theta) Tz(d) Tx(a) Rx(alpha), since the joint motion comes first."""
    theta, alpha = (_read_angle(row, key, snapper) for key in ("theta", "alpha"))
    turn = Frame.turn((0.0, 0.0, 1.0), theta)
    return IDENTITY, turn @ Frame.shift(row.scalar("a", 0.0), 0.0, row.scalar("d", 0.0)) @ _turn_about_x(alpha)


def _read_modified_dh(row: Table, snapper: Snapper) -> tuple[Frame, Frame]:
    """Return placement and seat. The placement is Rz(gamma) Tz(b) Rx(alpha) Tx(a) Rz(theta) Tz(d).

    Khalil and Kleinfinger (1986) introduced gamma and b for links that carry several joints.
    """
    gamma, alpha, theta = (_read_angle(row, key, snapper) for key in ("gamma", "alpha", "theta"))
    branch = Frame.turn((0.0, 0.0, 1.0), gamma) @ Frame.shift(z=row.scalar("b", 0.0))
    twist = _turn_about_x(alpha) @ Frame.shift(row.scalar("a", 0.0))
    return branch @ twist @ Frame.turn((0.0, 0.0, 1.0), theta) @ Frame.shift(z=row.scalar("d", 0.0)), IDENTITY


def _turn_about_x(angle: float | Angle) -> Frame:
    return Frame.turn((1.0, 0.0, 0.0), angle)


def _read_angle(table: Table, key: str, snapper: Snapper) -> float | Angle:
    """Return a number, snapped, or a symbolic angle."""
    angle = table.angle(key, 0.0)
    return angle if isinstance(angle, Angle) else snapper.snap_angle(angle, f"{table.where}, {key}")


def read_frame(table: Table, snapper: Snapper) -> Frame:
    """Read a frame; ``twist`` turns it about its x axis by an angle, and ``then`` is a further frame after that."""
    start = _read_numeric_rotation(table, snapper)
    if not table.has("twist"):
        if table.has("then"):
            raise table.error("'then' is the frame that follows 'twist'; add 'twist', or compose the two frames")
        table.finish()
        return start
    twist = _turn_about_x(_read_angle(table, "twist", snapper))
    after = read_frame(table.table("then"), snapper)
    table.finish()
    return start @ twist @ after


def _read_numeric_rotation(table: Table, snapper: Snapper) -> Frame:
    x, y, z = table.scalars("xyz", 3, (0.0, 0.0, 0.0))
    rotation_keys = [key for key in ("rpy", "quaternion", "rotation") if table.has(key)]
    if len(rotation_keys) > 1:
        raise table.error(f"{rotation_keys[0]!r} and {rotation_keys[1]!r} exclude each other; keep one")
    turn = IDENTITY
    if rotation_keys == ["rpy"]:
        roll, pitch, yaw = table.numbers("rpy", 3)
        turn = snapper.snap_rpy(roll, pitch, yaw, table.where)
    elif rotation_keys == ["quaternion"]:
        w, i, j, k = table.numbers("quaternion", 4)
        try:
            turn = Frame.from_quaternion(w, i, j, k)
        except InputError as error:
            raise table.error(f"{error}, scalar first") from None
        turn = snapper.snap_rotation(turn, table.where)
    elif rotation_keys == ["rotation"]:
        matrix = np.array(table.matrix("rotation"))
        is_bounded = abs(matrix).max() <= 1.0 + 1e-6  # with larger entries, the product below may overflow
        if not is_bounded or abs(matrix @ matrix.T - np.eye(3)).max() > 1e-6 or np.linalg.det(matrix) < 0.0:
            raise table.error("'rotation' is not a rotation matrix; give orthonormal rows to six digits, determinant 1")
        turn = Frame(rotation=to_rows(matrix))
    return Frame((x, y, z), turn.rotation)


def _read_axis(table: Table, snapper: Snapper) -> Vector:
    x, y, z = table.numbers("axis", 3, (0.0, 0.0, 1.0))
    try:
        return snapper.snap_axis(normalize_axis((x, y, z)), table.where)
    except InputError as error:
        raise table.error(str(error)) from None


def read_limits(table: Table) -> Limits:
    lower, upper = table.bounds("position")
    bounds = [table.number(key, math.inf) for key in ("velocity", "acceleration", "effort", "jerk")]
    if min(bounds) < 0.0:
        raise table.error("limits of velocity, acceleration, jerk and effort are magnitudes; give positive numbers")
    table.finish()
    return Limits(lower, upper, *bounds)


def read_drive(table: Table) -> Drive:
    """Read a drive; ``rotor = false``, ``friction = false`` and ``viscous = false`` … declare what it does not have."""
    has_rotor = table.flag("rotor", default=True) if table.has("rotor") else None
    if has_rotor is False and table.has("rotor_inertia"):
        raise table.error("'rotor = false' declares a drive without rotor; remove 'rotor_inertia', or 'rotor'")
    has_friction = table.flag("friction", default=True)
    if not has_friction:
        for key in (*BASIC_FRICTION, "root", "load"):
            if table.has(key):
                raise table.error(
                    f"'friction = false' declares a drive without friction; remove {key!r}, or 'friction'"
                )
    absent = BASIC_FRICTION if not has_friction else tuple(k for k in BASIC_FRICTION if _read_is_absent(table, k))
    viscous, coulomb, offset = (0.0 if kind in absent else table.number(kind, 0.0) for kind in BASIC_FRICTION)
    drive = Drive(
        rotor_inertia=table.number("rotor_inertia", 0.0),
        gear_ratio=table.number("gear_ratio", 1.0),
        viscous=viscous,
        coulomb=coulomb,
        offset=offset,
        coulomb_speed=table.number("coulomb_speed", 0.0),
        root=table.number("root", 0.0) if table.has("root") else None,
        load=table.number("load", 0.0) if table.has("load") else None,
        friction_speed=table.number("friction_speed", 0.0),
        has_rotor=has_rotor,
        absent_friction=absent,
    )
    table.finish()
    return drive


def _read_is_absent(table: Table, kind: str) -> bool:
    """Return whether the table says ``viscous = false``, for this kind of friction."""
    if not table.is_flag(kind):
        return False
    if table.flag(kind, default=False):
        raise table.error(f"{kind!r} is true; give its value, or false if the drive has none")
    return True


def read_coupling(table: Table) -> Coupling:
    if not table.has("terms"):
        raise table.error("the key 'terms' is missing; add a table such as { q1 = 1.0 }, or {} to fix the joint")
    coupling = Coupling(table.text("joint"), table.table("terms").named_numbers(), table.number("offset", 0.0))
    table.finish()
    return coupling


def read_motor(table: Table) -> Motor:
    has_joints = table.has("turns_with")
    turns_with = table.table("turns_with").named_numbers()
    if has_joints and not turns_with:
        raise table.error("'turns_with' is empty; add a joint, such as { joint6 = 1.0 }, or remove the key")
    motor = Motor(table.text("name"), read_limits(table.table("limits")), read_drive(table.table("drive")), turns_with)
    table.finish()
    return motor


def read_force(table: Table) -> Force:
    if not table.has("torque"):
        raise table.error("the key 'torque' is missing; add a table such as { joint2 = \"joint2 - 0.3\" }")
    force = Force(
        name=table.text("name"),
        torque=table.table("torque").named_texts(),
        where=table.table("where").named_texts(),
        value=table.number("value", 0.0),
        source=table.text("source", ""),
    )
    table.finish()
    return force


def read_marker(table: Table, snapper: Snapper) -> Marker:
    name, link = table.text("name"), table.text("link")
    frame = read_frame(table.table("frame"), snapper)
    table.finish()
    return Marker(name, link, frame)


def read_collision(table: Table, snapper: Snapper) -> CollisionShape:
    """Read a collision shape: ``type``, ``size`` and ``frame``, or ``radius`` and the ``ends`` of a capsule."""
    kinds = [kind.value for kind in ShapeKind if kind is not ShapeKind.MESH]
    kind, link, source = table.text("type", ShapeKind.CAPSULE.value), table.text("link"), table.text("source", "")
    if kind not in kinds:
        raise table.error(f"the type {kind!r} is not supported{suggest_names(kind, kinds)}")
    if table.has("ends"):
        start, end = (to_vector(row) for row in table.rows("ends", 2))
        shape = make_capsule(link, start, end, table.number("radius"), source=source)
    else:
        size = table.numbers("size", len(SIZE_NAMES[ShapeKind(kind)]))
        shape = CollisionShape(link, ShapeKind(kind), size, read_frame(table.table("frame"), snapper), source=source)
    table.finish()
    return shape
