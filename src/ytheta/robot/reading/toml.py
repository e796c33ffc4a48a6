"""Reads the TOML format of ytheta: DH tables, symbolic lengths and angles, loops, couplings, drives and forces.

The page on the robot format of the documentation describes the keys. ``exact = true``, which the writer sets, disables
snapping. A file may extend another robot; see ``extend_robot``. Of ``[identification]``, two facts matter here: its
presence means that the parameters were identified, so masses may be negative; unknown lengths or angles mean that the
inertias are unknown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from ytheta.conventions import CLOSURE_TOLERANCE, LINK_PARAMETERS, STANDARD_GRAVITY
from ytheta.errors import InputError, RobotFileError, suggest_names
from ytheta.files.bounded import read_bytes
from ytheta.files.symbols import Angle, SymbolKind, is_length_name, parse_scalar, to_number
from ytheta.files.toml import Table, describe_value, parse_toml, to_finite_number
from ytheta.robot import parts
from ytheta.robot.floating import float_base
from ytheta.robot.frame import IDENTITY, Frame, Vector, to_rows, to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.locking import lock_joints
from ytheta.robot.reading.snap import Snapper, normalize_axis
from ytheta.robot.robot import Robot
from ytheta.robot.structure import list_coordinates

FORMAT = 1
UNSET = "unset"
HOME = "home"
IDENTIFICATION = "identification"
UNKNOWN_LENGTHS, UNKNOWN_ANGLES = "unknown_lengths", "unknown_angles"  # keys of identifications with unknown geometry

ExtendedReader: TypeAlias = Callable[[str], Robot]


def read_toml(path: Path, snap: float, extended: ExtendedReader) -> Robot:
    """Read a robot from a TOML file; ``parse_robot`` describes the arguments."""
    return parse_robot(read_bytes(path), path, snap, extended)


def parse_robot(content: bytes, path: Path, snap: float, extended: ExtendedReader | None = None) -> Robot:
    """Return the robot of the content of a TOML file; ``extended`` reads the robot that the file extends."""
    top = Table(_parse(content, path), path.name)
    if (number := top.number("format", FORMAT)) != FORMAT:
        raise top.error(f"format {number:g} is unknown, since this version reads format {FORMAT}; update ytheta")
    base = _read_base(top, extended) if top.has("extends") else None
    snapper = Snapper(0.0 if top.flag("exact", default=False) else snap)
    symbols = _read_symbols(top, snapper)
    top.lengths = frozenset(dict(symbols.lengths)) | frozenset(dict(base.lengths) if base else ())
    top.angles = frozenset(dict(symbols.angles)) | frozenset(dict(base.angles) if base else ())
    robot = extend_robot(base, top, snapper, symbols) if base else _read_robot(top, path, snapper, symbols)
    positions = _read_locks(top.table("lock"))
    floating = top.flag("floating", default=False)
    top.finish()
    robot = float_base(robot) if floating and not robot.floating else robot
    return lock_joints(robot, positions) if positions else robot


def _read_locks(table: Table) -> dict[str, float | None]:
    """Read the positions of locked joints by name or pattern; None for the home position."""
    positions: dict[str, float | None] = {}
    for name, value in table.items():
        try:
            positions[name] = None if value == HOME else table.parse_number(name, value)
        except RobotFileError:
            raise table.error(
                f"{name} should be a number in rad or m, an expression such as 'pi/2', or {HOME!r}, not "
                f"{describe_value(value)}"
            ) from None
    return positions


def _read_base(top: Table, extended: ExtendedReader | None) -> Robot:
    reference = top.text("extends")
    if extended is None:
        raise top.error(f"the robot extends another file, {reference!r}; read it with load")
    return extended(reference)


def _read_robot(top: Table, path: Path, snapper: Snapper, symbols: FileSymbols) -> Robot:
    """Read a robot that does not extend another one."""
    identified, identification = top.has(IDENTIFICATION), top.table(IDENTIFICATION)
    without_geometry = identification.has(UNKNOWN_LENGTHS) or identification.has(UNKNOWN_ANGLES)
    robot = Robot(
        name=top.text("name", path.stem),
        about=top.text("about", ""),
        source=top.text("source", ""),
        gravity=to_vector(top.numbers("gravity", 3, STANDARD_GRAVITY)),
        mounting=read_frame(top.table("mounting"), snapper),
        closure_tolerance=top.number("closure_tolerance", CLOSURE_TOLERANCE),
        lengths=symbols.lengths,
        angles=symbols.angles,
        inertias_unknown=top.flag("inertias_unknown", default=without_geometry),
        links=tuple(read_link(table, identified=identified) for table in top.tables("link")),
        joints=tuple(read_joint(table, snapper) for table in top.tables("joint")),
        loops=tuple(parts.Loop(read_joint(table, snapper)) for table in top.tables("loop")),
        couplings=tuple(read_coupling(table) for table in top.tables("coupling")),
        motors=tuple(read_motor(table) for table in top.tables("motor")),
        forces=tuple(read_force(table) for table in top.tables("force")),
        actuated=top.texts("actuated"),
        markers=tuple(read_marker(table, snapper) for table in top.tables("marker")),
        home=top.table("home").named_numbers(),
        collision=tuple(read_collision(table, snapper) for table in top.tables("collision")),
        findings=snapper.findings,
    )
    if robot.inertias_unknown and not robot.unset_symbols:
        symbols_of_robot = [name for name, _ in (*symbols.lengths, *symbols.angles)]
        robot.check_symbols_may_be_set(symbols_of_robot)
    return robot


def _parse(content: bytes, path: Path) -> dict[str, object]:
    try:
        return parse_toml(content, path.name)
    except InputError as error:
        raise RobotFileError(str(error)) from None


def _read_symbols(top: Table, snapper: Snapper) -> FileSymbols:
    """Read the symbolic lengths and angles. The value of an angle may contain pi and is snapped."""
    lengths, angles = top.table("lengths"), top.table("angles")

    def read_length(name: str, value: object) -> float:
        metres = to_finite_number(value)
        if metres is None:
            raise lengths.error(f"{name} should be a number in metres, or 'unset', not {describe_value(value)}")
        return metres

    def read_angle(name: str, value: object) -> float:
        radians = to_finite_number(value)
        if isinstance(value, str):
            try:
                radians = to_number(parse_scalar(value, frozenset(), kind=SymbolKind.ANGLE), {})
            except RobotFileError:
                radians = None
        if radians is None:
            raise angles.error(
                f"{name} should be a number in radians, a multiple of pi such as 'pi/2', or 'unset', "
                f"not {describe_value(value)}"
            )
        return snapper.snap_angle(radians, f"{angles.where}, {name}")

    return FileSymbols(_read_values(lengths, "a length", read_length), _read_values(angles, "an angle", read_angle))


def _read_values(table: Table, what: str, read: Callable[[str, object], float]) -> tuple[tuple[str, float | None], ...]:
    """Read a table of named values, some of which may be unset."""
    values: list[tuple[str, float | None]] = []
    for name, value in table.items():
        if not is_length_name(name):
            raise table.error(
                f"{name!r} cannot name {what}; use ASCII letters, digits and _ (but not 'pi' or a Python keyword)"
            )
        values.append((name, None if value == UNSET else read(name, value)))
    return tuple(values)


# TOML files that extend another robot, such as a vendor's URDF, with parts that URDF cannot describe.
#
# Couplings, motors, forces, markers, and links and joints with new names are added. A table with the name of an
# existing joint replaces the drive or the limits of this joint. A table with the name of an existing link replaces its
# inertia. Collision shapes of a link replace those of the extended file for this link.
# The geometry of the extended robot does not change. Top-level keys override those of the extended file; symbolic
# lengths and angles are overridden individually.


INERTIA_KEYS = ("mass", "center", "inertia", "parameters")

_Part = TypeVar("_Part", parts.Link, parts.Joint)


@dataclass(frozen=True)
class FileSymbols:
    """The symbolic lengths and angles that a file declares, with their values."""

    lengths: tuple[tuple[str, float | None], ...]
    angles: tuple[tuple[str, float | None], ...]


def extend_robot(base: Robot, top: Table, snapper: Snapper, symbols: FileSymbols) -> Robot:
    """Return the robot ``base`` extended by the file ``top``; ``symbols`` are those of ``top``."""

    def read_new_joint(table: Table) -> parts.Joint:
        return read_joint(table, snapper)

    base.check_symbols_may_be_set([name for name, _ in (*symbols.lengths, *symbols.angles)])
    joints = _merge_parts(base.joints, top.tables("joint"), _change_joint, read_new_joint)
    cuts = _merge_parts([loop.joint for loop in base.loops], top.tables("loop"), _change_joint, read_new_joint)
    couplings = (*base.couplings, *map(read_coupling, top.tables("coupling")))
    motors = (*base.motors, *map(read_motor, top.tables("motor")))
    shapes = tuple(read_collision(table, snapper) for table in top.tables("collision"))
    reshaped = {shape.link for shape in shapes}
    others = list_coordinates([joint for joint in joints if joint.moves], couplings, motors)
    coordinates = (*base.base_coordinates, *others)
    # If a loop is added, the actuated coordinates must be chosen again. Without loops, all coordinates are actuated.
    keep_actuated = len(cuts) == len(base.loops) and (base.loops or set(coordinates) == set(base.coordinates))
    home = tuple((name, value) for name, value in base.home if name in coordinates)
    return replace(
        base,
        name=top.text("name", base.name),
        about=top.text("about", base.about),
        source=top.text("source", base.source),
        gravity=to_vector(top.numbers("gravity", 3, base.gravity)),
        mounting=read_frame(top.table("mounting"), snapper) if top.has("mounting") else base.mounting,
        closure_tolerance=top.number("closure_tolerance", base.closure_tolerance),
        lengths=tuple({**dict(base.lengths), **dict(symbols.lengths)}.items()),
        angles=tuple({**dict(base.angles), **dict(symbols.angles)}.items()),
        links=_merge_parts(base.links, top.tables("link"), _change_link, read_link),
        joints=joints,
        loops=tuple(map(parts.Loop, cuts)),
        couplings=couplings,
        motors=motors,
        forces=(*base.forces, *map(read_force, top.tables("force"))),
        actuated=top.texts("actuated") if top.has("actuated") else base.actuated if keep_actuated else (),
        markers=(*base.markers, *(read_marker(table, snapper) for table in top.tables("marker"))),
        home=top.table("home").named_numbers() if top.has("home") else home,
        collision=(*(shape for shape in base.collision if shape.link not in reshaped), *shapes),
        findings=(*base.findings, *snapper.findings),
    )


def _merge_parts(
    parts: Sequence[_Part],
    tables: Sequence[Table],
    change: Callable[[_Part, Table], _Part],
    read: Callable[[Table], _Part],
) -> tuple[_Part, ...]:
    """Return the parts, changed if a table has their name, followed by the parts of tables with new names."""
    known = {part.name: part for part in parts}
    changed: dict[str, _Part] = {}
    added: list[_Part] = []
    for table in tables:
        part = known.get(table.name)
        if part is None:
            added.append(read(table))
        elif part.name in changed:
            raise table.error("there is another table with this name above; put all changes into one table")
        else:
            changed[part.name] = change(part, table)
    return tuple([changed.get(part.name, part) for part in parts] + added)


def _change_joint(joint: parts.Joint, table: Table) -> parts.Joint:
    if joint.kind is parts.JointKind.FIXED and table.has("type"):
        return _declare_sensor(joint, table)
    has_drive, has_limits = table.has("drive"), table.has("limits")
    drive, limits = table.table("drive"), table.table("limits")
    changed = replace(
        joint,
        drive=read_drive(drive) if has_drive else joint.drive,
        limits=read_limits(limits) if has_limits else joint.limits,
        source=table.text("source", joint.source),
    )
    _check_finished(table, "joint", "its 'drive' and its 'limits'", any_change=has_drive or has_limits)
    return changed


def _declare_sensor(joint: parts.Joint, table: Table) -> parts.Joint:
    """Return a fixed joint of the extended robot as one that measures the wrench that it transmits."""
    kind = table.text("type")
    if kind != parts.JointKind.SENSOR.value:
        raise table.error(
            f"a fixed joint of the extended robot can only become a 'sensor', not {kind!r}; change 'type'"
        )
    changed = replace(joint, kind=parts.JointKind.SENSOR, source=table.text("source", joint.source))
    _check_finished(table, "joint", "its 'type', to 'sensor',", any_change=True)
    return changed


def _change_link(link: parts.Link, table: Table) -> parts.Link:
    inertia_keys = [key for key in INERTIA_KEYS if table.has(key)]
    has_inertia = read_has_inertia(table)
    has_zero = table.has("zero")
    if has_zero and not inertia_keys:
        inertia, source = link.inertia, table.text("source", link.source)
    else:
        inertia, source = (read_inertia(table) if has_inertia else Inertia()), table.text("source", "")
    zero = _read_zero(table, inertia)
    changed = replace(link, inertia=inertia, has_inertia=has_inertia, source=source, zero=zero)
    _check_finished(
        table,
        "link",
        "its inertia ('mass', 'center' and 'inertia', or 'parameters') and its 'zero'",
        any_change=has_zero or bool(inertia_keys),
    )
    return changed


def _check_finished(table: Table, what: str, changeable: str, *, any_change: bool) -> None:
    table.text("name")
    remaining = table.items()
    if remaining:
        raise table.error(
            f"the {what} belongs to the extended robot, so only {changeable} can be changed, not "
            f"{remaining[0][0]!r}; remove this key, or give a new {what} another name"
        )
    if not any_change:
        raise table.error(f"this table does not change the {what}; give {changeable}, or remove the table")


# Reads the tables of the TOML format: links, joints, couplings, motors, forces, markers.
#
# The page on the robot format of the documentation describes the keys. Unknown keys are errors.


GEOMETRIES = ("standard_dh", "modified_dh", "frame")


def read_link(table: Table, *, identified: bool = False) -> parts.Link:
    """Read a link. ``identified`` allows a negative mass, which an identification may return."""
    has_inertia = read_has_inertia(table)
    inertia = read_inertia(table, identified=identified) if has_inertia else Inertia()
    link = parts.Link(
        name=table.text("name"),
        inertia=inertia,
        load=table.flag("load", default=False),
        source=table.text("source", ""),
        has_inertia=has_inertia,
        zero=_read_zero(table, inertia),
    )
    table.finish()
    return link


def _read_zero(table: Table, inertia: Inertia) -> tuple[str, ...]:
    """Return the inertial parameters that a link declares zero; the inertia must not contradict."""
    names = table.texts("zero")
    values = dict(zip(LINK_PARAMETERS, inertia.parameters, strict=True))
    for name in names:
        if name not in LINK_PARAMETERS:
            raise table.error(f"'zero' has the unknown parameter {name!r}{suggest_names(name, LINK_PARAMETERS)}")
        if values[name] != 0.0:
            raise table.error(
                f"'zero' declares that {name} is zero, but it is {values[name]:g}; correct one of the two"
            )
    return tuple(dict.fromkeys(names))


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


def read_joint(table: Table, snapper: Snapper) -> parts.Joint:
    kinds = [kind.value for kind in parts.JointKind]
    kind = table.text("type")
    if kind not in kinds:
        raise table.error(f"the joint type {kind!r} is not supported{suggest_names(kind, kinds)}")
    placement, seat = _read_geometry(table, snapper)
    joint = parts.Joint(
        name=table.text("name"),
        kind=parts.JointKind(kind),
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


def read_limits(table: Table) -> parts.Limits:
    lower, upper = table.bounds("position")
    bounds = [table.number(key, math.inf) for key in ("velocity", "acceleration", "effort", "jerk")]
    if min(bounds) < 0.0:
        raise table.error("limits of velocity, acceleration, jerk and effort are magnitudes; give positive numbers")
    table.finish()
    return parts.Limits(lower, upper, *bounds)


def read_drive(table: Table) -> parts.Drive:
    """Read a drive; ``rotor = false``, ``friction = false`` and ``viscous = false`` … declare what it does not have."""
    has_rotor = table.flag("rotor", default=True) if table.has("rotor") else None
    if has_rotor is False and table.has("rotor_inertia"):
        raise table.error("'rotor = false' declares a drive without rotor; remove 'rotor_inertia', or 'rotor'")
    has_friction = table.flag("friction", default=True)
    if not has_friction:
        for key in (*parts.BASIC_FRICTION, "root", "load"):
            if table.has(key):
                raise table.error(
                    f"'friction = false' declares a drive without friction; remove {key!r}, or 'friction'"
                )
    absent = (
        parts.BASIC_FRICTION
        if not has_friction
        else tuple(k for k in parts.BASIC_FRICTION if _read_is_absent(table, k))
    )
    viscous, coulomb, offset = (0.0 if kind in absent else table.number(kind, 0.0) for kind in parts.BASIC_FRICTION)
    drive = parts.Drive(
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


def read_coupling(table: Table) -> parts.Coupling:
    if not table.has("terms"):
        raise table.error("the key 'terms' is missing; add a table such as { q1 = 1.0 }, or {} to fix the joint")
    coupling = parts.Coupling(table.text("joint"), table.table("terms").named_numbers(), table.number("offset", 0.0))
    table.finish()
    return coupling


def read_motor(table: Table) -> parts.Motor:
    has_joints = table.has("turns_with")
    turns_with = table.table("turns_with").named_numbers()
    if has_joints and not turns_with:
        raise table.error("'turns_with' is empty; add a joint, such as { joint6 = 1.0 }, or remove the key")
    motor = parts.Motor(
        table.text("name"), read_limits(table.table("limits")), read_drive(table.table("drive")), turns_with
    )
    table.finish()
    return motor


def read_force(table: Table) -> parts.Force:
    if not table.has("torque"):
        raise table.error("the key 'torque' is missing; add a table such as { joint2 = \"joint2 - 0.3\" }")
    force = parts.Force(
        name=table.text("name"),
        torque=table.table("torque").named_texts(),
        where=table.table("where").named_texts(),
        value=table.number("value", 0.0),
        source=table.text("source", ""),
    )
    table.finish()
    return force


def read_marker(table: Table, snapper: Snapper) -> parts.Marker:
    name, link = table.text("name"), table.text("link")
    frame = read_frame(table.table("frame"), snapper)
    table.finish()
    return parts.Marker(name, link, frame)


def read_collision(table: Table, snapper: Snapper) -> parts.CollisionShape:
    """Read a collision shape: ``type``, ``size`` and ``frame``, or ``radius`` and the ``ends`` of a capsule."""
    kinds = [kind.value for kind in parts.ShapeKind if kind is not parts.ShapeKind.MESH]
    kind, link, source = table.text("type", parts.ShapeKind.CAPSULE.value), table.text("link"), table.text("source", "")
    if kind not in kinds:
        raise table.error(f"the type {kind!r} is not supported{suggest_names(kind, kinds)}")
    if table.has("ends"):
        start, end = (to_vector(row) for row in table.rows("ends", 2))
        shape = parts.make_capsule(link, start, end, table.number("radius"), source=source)
    else:
        size = table.numbers("size", len(parts.SIZE_NAMES[parts.ShapeKind(kind)]))
        shape = parts.CollisionShape(
            link, parts.ShapeKind(kind), size, read_frame(table.table("frame"), snapper), source=source
        )
    table.finish()
    return shape
