"""TOML files that extend another robot, such as a vendor's URDF, with parts that URDF cannot describe.

Couplings, motors, forces, markers, and links and joints with new names are added. A table with the name of an existing
joint replaces the drive or the limits of this joint. A table with the name of an existing link replaces its inertia.
Collision shapes of a link replace those of the extended file for this link.
The geometry of the extended robot does not change. Top-level keys override those of the extended file; symbolic lengths
and angles are overridden individually.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ytheta.files.toml import Table
from ytheta.robot.frame import to_vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml.parts import (
    read_collision,
    read_coupling,
    read_drive,
    read_force,
    read_frame,
    read_has_inertia,
    read_inertia,
    read_joint,
    read_limits,
    read_link,
    read_marker,
    read_motor,
)
from ytheta.robot.robot import Robot
from ytheta.robot.structure.coordinates import list_coordinates

INERTIA_KEYS = ("mass", "center", "inertia", "parameters")

_Part = TypeVar("_Part", Link, Joint)


@dataclass(frozen=True)
class Symbols:
    """The symbolic lengths and angles that a file declares, with their values."""

    lengths: tuple[tuple[str, float | None], ...]
    angles: tuple[tuple[str, float | None], ...]


def extend_robot(base: Robot, top: Table, snapper: Snapper, symbols: Symbols) -> Robot:
    """Return the robot ``base`` extended by the file ``top``; ``symbols`` are those of ``top``."""

    def read_new_joint(table: Table) -> Joint:
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
        loops=tuple(map(Loop, cuts)),
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


def _change_joint(joint: Joint, table: Table) -> Joint:
    if joint.kind is JointKind.FIXED and table.has("type"):
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


def _declare_sensor(joint: Joint, table: Table) -> Joint:
    """Return a fixed joint of the extended robot as one that measures the wrench that it transmits."""
    kind = table.text("type")
    if kind != JointKind.SENSOR.value:
        raise table.error(
            f"a fixed joint of the extended robot can only become a 'sensor', not {kind!r}; change 'type'"
        )
    changed = replace(joint, kind=JointKind.SENSOR, source=table.text("source", joint.source))
    _check_finished(table, "joint", "its 'type', to 'sensor',", any_change=True)
    return changed


def _change_link(link: Link, table: Table) -> Link:
    inertia_keys = [key for key in INERTIA_KEYS if table.has(key)]
    has_inertia = read_has_inertia(table)
    inertia = read_inertia(table) if has_inertia else Inertia()
    changed = replace(link, inertia=inertia, has_inertia=has_inertia, source=table.text("source", ""))
    _check_finished(
        table, "link", "its inertia ('mass', 'center' and 'inertia', or 'parameters')", any_change=bool(inertia_keys)
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
