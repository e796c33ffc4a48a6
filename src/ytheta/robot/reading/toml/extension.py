"""What a TOML file lays over the robot that it ``extends``: a vendor's URDF plus what URDF cannot say.

Couplings, motors, forces, markers, and links and joints with new names are added. A table with the name of a joint that
is there changes its drive or its limits, one with the name of a link its inertia, each as a whole; geometry stays the
other file's. Keys at the top take the place of the other file's, symbolic lengths one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from ytheta.files.toml_table import Table
from ytheta.robot import tree
from ytheta.robot.frame import to_vector
from ytheta.robot.parts import Joint, Link, Loop
from ytheta.robot.reading.snap import Snapper
from ytheta.robot.reading.toml.parts import (
    read_coupling,
    read_drive,
    read_force,
    read_frame,
    read_inertia,
    read_joint,
    read_limits,
    read_link,
    read_marker,
    read_motor,
)
from ytheta.robot.robot import Robot

INERTIA = ("mass", "center", "inertia", "parameters")

_Part = TypeVar("_Part", Link, Joint)


def extend_robot(base: Robot, top: Table, snapper: Snapper, *, lengths: Sequence[tuple[str, float | None]]) -> Robot:
    """The robot ``base`` with everything that the file ``top`` says; ``lengths`` are the file's own."""

    def joint(table: Table) -> Joint:
        return read_joint(table, snapper)

    joints = _over(base.joints, top.tables("joint"), _changed_joint, joint)
    cuts = _over([loop.joint for loop in base.loops], top.tables("loop"), _changed_joint, joint)
    couplings = (*base.couplings, *map(read_coupling, top.tables("coupling")))
    motors = (*base.motors, *map(read_motor, top.tables("motor")))
    coordinates = tree.coordinates([joint for joint in joints if joint.moves], couplings, motors)
    # A new loop asks for a new choice of what is actuated, and where there is none it is simply everything.
    chosen = len(cuts) == len(base.loops) and (base.loops or set(coordinates) == set(base.coordinates))
    home = tuple((name, value) for name, value in base.home if name in coordinates)
    return replace(
        base,
        name=top.text("name", base.name),
        about=top.text("about", base.about),
        source=top.text("source", base.source),
        gravity=to_vector(top.numbers("gravity", 3, base.gravity)),
        mounting=read_frame(top.table("mounting"), snapper) if top.has("mounting") else base.mounting,
        lengths=tuple({**dict(base.lengths), **dict(lengths)}.items()),
        links=_over(base.links, top.tables("link"), _changed_link, read_link),
        joints=joints,
        loops=tuple(map(Loop, cuts)),
        couplings=couplings,
        motors=motors,
        forces=(*base.forces, *map(read_force, top.tables("force"))),
        actuated=top.texts("actuated") if top.has("actuated") else base.actuated if chosen else (),
        markers=(*base.markers, *(read_marker(table, snapper) for table in top.tables("marker"))),
        home=top.table("home").named_numbers() if top.has("home") else home,
        findings=(*base.findings, *snapper.findings),
    )


def _over(
    parts: Sequence[_Part],
    tables: Sequence[Table],
    change: Callable[[_Part, Table], _Part],
    read: Callable[[Table], _Part],
) -> tuple[_Part, ...]:
    """The parts there are, changed where a table has their name, and those with new names."""
    known = {part.name: part for part in parts}
    changed: dict[str, _Part] = {}
    added: list[_Part] = []
    for table in tables:
        old = known.get(table.name)
        if old is None:
            added.append(read(table))
        elif old.name in changed:
            raise table.error("another table of this name stands above; put all changes into one")
        else:
            changed[old.name] = change(old, table)
    return tuple([changed.get(part.name, part) for part in parts] + added)


def _changed_joint(joint: Joint, table: Table) -> Joint:
    changes = table.has("drive"), table.has("limits")
    drive, limits = table.table("drive"), table.table("limits")
    new = replace(
        joint,
        drive=read_drive(drive) if changes[0] else joint.drive,
        limits=read_limits(limits) if changes[1] else joint.limits,
        source=table.text("source", joint.source),
    )
    _finish(table, "joint", "its 'drive' and its 'limits'", any_change=any(changes))
    return new


def _changed_link(link: Link, table: Table) -> Link:
    given = [key for key in INERTIA if table.has(key)]
    new = replace(link, inertia=read_inertia(table), source=table.text("source", ""))
    _finish(table, "link", "its inertia ('mass', 'center' and 'inertia', or 'parameters')", any_change=bool(given))
    return new


def _finish(table: Table, what: str, changeable: str, *, any_change: bool) -> None:
    table.text("name")
    left = table.items()
    if left:
        raise table.error(
            f"the {what} is one of the robot that is extended, of which only {changeable} can be changed, not "
            f"{left[0][0]!r}; remove that key, or give a new {what} a name of its own"
        )
    if not any_change:
        raise table.error(f"nothing of this {what} is changed; give {changeable}, or remove the table")
