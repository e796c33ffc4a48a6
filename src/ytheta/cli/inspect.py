"""``ytheta inspect ROBOT``: what a description says, drawn as a tree and as tables, with verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    Strict,
    assignments,
    console,
    print_json,
    read_robot,
)
from ytheta.conventions import LINK_PARAMETERS, SNAP
from ytheta.errors import InputError
from ytheta.robot.closure import Closure, close_loops
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

Pose = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="NAME=VALUE", help="Close the loops at this position of an actuated coordinate."),
]


def inspect(
    robot: RobotArgument,
    as_json: AsJson = False,
    snap: Snap = SNAP,
    strict: Strict = False,
    fix_base: FixBase = False,
    length: Lengths = None,
    at: Pose = None,
) -> None:
    """Show a robot: its tree, joints, parameters, consistency and loops.

    Example: `ytheta inspect walker --at q5=0.7 --at q7=0.8`
    """
    model = read_robot(robot, snap=snap, strict=strict, fix_base=fix_base, lengths=length)
    closure = _closure(model, at)
    if as_json:
        print_json(summary(model, closure))
    else:
        _print(console(), model, summary(model, closure))


def _closure(robot: Robot, at: Sequence[str] | None) -> Closure | None:
    """The closed pose; None where there is no loop, or a length that is not set keeps it from being computed."""
    pose = assignments(at, "--at")
    if not robot.loops:
        if pose:
            raise InputError(f"--at closes loops, but robot {robot.name!r} has none; leave --at away")
        return None
    closure = close_loops(robot, pose)
    return closure.or_raise() if robot.actuated else closure


def summary(robot: Robot, closure: Closure | None) -> dict[str, Any]:
    """Everything ``inspect`` knows, as plain data. Unlimited and undefined are None."""
    bodies = robot.merged.links[1:]
    verdicts = {link.name: link.inertia.consistency() for link in bodies}
    return {
        "name": robot.name,
        "about": robot.about,
        "source": robot.source,
        "joints": len(robot.movable),
        "actuated": list(robot.actuated),
        "passive": list(robot.passive) if robot.loops else [],
        "loops": len(robot.loops),
        "standard_parameters": len(robot.parameter_names),
        "operations": {},
        "gravity_in_base": list(robot.gravity_in_base),
        "lengths": dict(robot.lengths),
        "total_mass": sum(link.inertia.mass for link in robot.links),
        "consistent": all(verdicts.values()),
        "joint_table": [_joint_row(joint) for joint in robot.joints],
        "link_table": [
            {
                "name": link.name,
                "mass": link.inertia.mass,
                "center": list(link.inertia.center),
                "parameters": dict(zip(LINK_PARAMETERS, link.inertia.parameters, strict=True)),
                "consistent": verdicts[link.name].consistent,
                "verdict": verdicts[link.name].reason,
            }
            for link in bodies
        ],
        "couplings": [
            {"joint": coupling.joint, "terms": dict(coupling.terms), "offset": coupling.offset}
            for coupling in robot.couplings
        ],
        "loop_table": _loop_rows(robot, closure),
        "notes": [note.text for note in robot.notes],
    }


def _joint_row(joint: Joint) -> dict[str, Any]:
    limits = joint.limits
    inertia, viscous, coulomb, offset = joint.drive.parameters
    return {
        "name": joint.name,
        "type": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
        "axis": list(joint.axis) if joint.moves else None,
        "position": [_finite(limits.lower), _finite(limits.upper)],
        "velocity": _finite(limits.velocity),
        "acceleration": _finite(limits.acceleration),
        "effort": _finite(limits.effort),
        "Ia": inertia,
        "fv": viscous,
        "fc": coulomb,
        "fo": offset,
    }


def _loop_rows(robot: Robot, closure: Closure | None) -> list[dict[str, Any]]:
    states = {state.name: state for state in closure.loops} if closure else {}
    rows = []
    for loop in robot.loops:
        through = robot.coordinates_of(robot.joints_of(loop))
        state = states.get(loop.name)
        rows.append(
            {
                "name": loop.name,
                "type": loop.joint.kind.value,
                "links": [loop.joint.parent, loop.joint.child],
                "actuated": [name for name in through if name in robot.actuated],
                "passive": [name for name in through if name in robot.passive],
                "gap": state.gap if state else None,
                "position": state.position if state else None,
                "coordinates": {name: closure.coordinates[name] for name in through} if closure else {},
                "freedom": closure.freedom if closure else None,
            }
        )
    return rows


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


NOTHING = "·"


# --- tables ---------------------------------------------------------------------------------------------------------


def _print(out: Console, robot: Robot, data: dict[str, Any]) -> None:
    out.print(f"[bold]{robot.name}[/bold]" + (f": {robot.about}" if robot.about else ""))
    if robot.source:
        out.print(f"source: {robot.source}", style="dim")
    out.print()
    out.print(_tree(robot))
    out.print(_joint_table(data))
    out.print(_link_table(data))
    for coupling in data["couplings"]:
        terms = " + ".join(f"{factor:g} {name}" for name, factor in coupling["terms"].items()) or "0"
        offset = f" + {coupling['offset']:g}" if coupling["offset"] else ""
        out.print(f"coupling: {coupling['joint']} = {terms}{offset}".replace("+ -", "- "))
    for row in data["loop_table"]:
        _print_loop(out, row)
    out.print(_last_words(robot, data))


def _tree(robot: Robot) -> Tree:
    """Links under the joints that carry them; a cut joint is drawn at its parent, with an arrow to where it closes."""
    drawing = Tree(_link_label(robot.base), guide_style="dim")
    branches = {robot.base.name: drawing}
    for joint in robot.joints:
        label = f"[cyan]{joint.name}[/cyan] {_kind(joint)} ─ {_link_label(robot.link(joint.child))}"
        branches[joint.child] = branches[joint.parent].add(label)
    for loop in robot.loops:
        joint = loop.joint
        branches[joint.parent].add(f"[magenta]{joint.name}[/magenta] {_kind(joint)} ─▶ {joint.child} (closes a loop)")
    return drawing


def _link_label(link: Link) -> str:
    mass = f"{link.inertia.mass:.4g} kg" if link.inertia.mass else "no mass"
    return f"{link.name} [dim]{'load, ' if link.load else ''}{mass}[/dim]"


def _kind(joint: Joint) -> str:
    letter = {JointKind.REVOLUTE: "R", JointKind.PRISMATIC: "P", JointKind.FIXED: "fixed", JointKind.POINT: "point"}
    return letter[joint.kind] + (f" {_axis(joint.axis)}" if joint.moves else "")


def _axis(axis: Sequence[float]) -> str:
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return letter if axis[k] > 0 else f"-{letter}"
    return "(" + " ".join(f"{value:.4g}" for value in axis) + ")"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table without the columns in which no row says anything."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    said = [k for k in range(len(columns)) if k == 0 or any(row[k] not in ("", NOTHING) for row in rows)]
    for k in said:
        table.add_column(columns[k], justify="left" if k == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(row[k] for k in said))
    return table


def _joint_table(data: dict[str, Any]) -> Table:
    drive = ("Ia", "fv", "fc", "fo")
    rows = []
    for row in data["joint_table"]:
        if row["axis"] is None:
            continue
        lower, upper = row["position"]
        position = "" if lower is None and upper is None else f"{_number(lower, '-∞')} … {_number(upper, '∞')}"
        bounds = [_number(row[key], "") for key in ("velocity", "acceleration", "effort")]
        forces = [_number(row[key] or None, NOTHING) for key in drive]
        rows.append([row["name"], row["type"], _axis(row["axis"]), position, *bounds, *forces])
    return _table(("joint", "type", "axis", "position", "velocity", "acceleration", "effort", *drive), rows)


def _link_table(data: dict[str, Any]) -> Table:
    rows = []
    for row in data["link_table"]:
        values = [_number(row["parameters"][name] or None, NOTHING) for name in LINK_PARAMETERS]
        rows.append([row["name"], *values, "yes" if row["consistent"] else "[yellow]no[/yellow]"])
    return _table(("link", *LINK_PARAMETERS, "possible"), rows)


def _print_loop(out: Console, row: dict[str, Any]) -> None:
    parent, child = row["links"]
    out.print(f"loop [magenta]{row['name']}[/magenta] ({row['type']}) between {parent} and {child}", end="")
    out.print(f": actuated {', '.join(row['actuated']) or 'nothing'}; passive {', '.join(row['passive']) or 'nothing'}")
    if row["gap"] is None:
        out.print("  not closed: its lengths have no values yet")
        return
    pose = ", ".join(f"{name} = {value:.5g}" for name, value in row["coordinates"].items())
    gap = "below 1e-12" if row["gap"] < 1e-12 else f"{row['gap']:.1e}"
    out.print(f"  closes at {pose}, {row['name']} = {row['position']:.5g} (gap {gap})")


def _last_words(robot: Robot, data: dict[str, Any]) -> str:
    bodies, drives = len(data["link_table"]), len(robot.parameter_names) - 10 * len(data["link_table"])
    lines = [
        f"{data['joints']} joints, {len(robot.actuated)} actuated: {', '.join(robot.actuated) or 'not chosen yet'}",
        f"{data['standard_parameters']} standard parameters: {10 * bodies} of {bodies} links, {drives} of the drives; "
        f"moving mass {sum(row['mass'] for row in data['link_table']):.5g} kg",
    ]
    if robot.loops and not robot.actuated:
        freedom = data["loop_table"][0]["freedom"]
        lines.append(f"the loops leave {freedom} coordinates free: choose {freedom} as 'actuated'")
    bad = [row["name"] for row in data["link_table"] if not row["consistent"]]
    if bad:
        lines += [
            f"[yellow]{row['name']}: {row['verdict']}[/yellow]" for row in data["link_table"] if row["name"] in bad
        ]
        lines.append("no body can have these inertias; the dynamics they give may still be right where they are seen")
    else:
        lines.append("every link's inertia is physically consistent")
    return "\n".join(lines)


def _number(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:.4g}"
