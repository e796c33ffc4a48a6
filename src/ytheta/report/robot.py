"""A robot and the catalog for a terminal, and as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS, OPTIONAL_JOINT_PARAMETERS
from ytheta.report.numbers import replace_nonfinite
from ytheta.report.terminal import escape_control_characters, make_table, safe_texts
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parameters import find_absent_parameters
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.reading.catalog import Catalog
from ytheta.robot.robot import Robot

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree


def print_robot(console: Console, robot: Robot) -> None:
    """Print a robot."""
    data = summarize_robot(robot)
    print_parts(console, robot, data)
    for row in data["loop_table"]:
        console.print(describe_loop(row))
    lines = [*describe_sizes(robot, data), *describe_consistency(data)]
    for symbols in ("lengths", "angles"):
        if names := data[f"unset_{symbols}"]:
            lines.insert(-1, make_text(f"{symbols} without a value: {', '.join(names)}"))
    for line in lines:
        console.print(line)


def print_parts(console: Console, robot: Robot, data: Mapping[str, Any]) -> None:
    """Print name, tree, joints, links, couplings and forces; ``data`` is the summary of the robot."""
    console.print(make_text((robot.name, "bold"), f": {robot.about}" if robot.about else ""))
    if robot.source:
        console.print(make_text((f"source: {robot.source}", "dim")))
    console.print()
    console.print(_build_tree(robot))
    for table in (*build_joint_tables(console, data), *build_link_tables(console, data)):
        console.print(table)
    for coupling in data["couplings"]:
        terms = " + ".join(f"{factor:g} {name}" for name, factor in coupling["terms"].items()) or "0"
        offset = f" + {coupling['offset']:g}" if coupling["offset"] else ""
        console.print(make_text(f"coupling: {coupling['joint']} = {terms}{offset}".replace("+ -", "- ")))
    for force in data["forces"]:
        console.print(make_text(f"force: {force['name']} on {', '.join(force['acts_on'])}, k = {force['value']:g}"))


def describe_loop(row: Mapping[str, Any]) -> Text:
    """Return a line about a loop: its links and its coordinates."""
    parent, child = row["links"]
    actuated, passive = (", ".join(row[key]) or "nothing" for key in ("actuated", "passive"))
    return make_text(
        "loop ",
        (row["name"], "magenta"),
        f" ({row['type']}) between {parent} and {child}: actuated {actuated}; passive {passive}",
    )


def describe_sizes(robot: Robot, data: Mapping[str, Any]) -> Iterator[Text]:
    """Yield lines about the numbers of joints and of standard parameters."""
    bodies, forces = len(data["link_table"]), len(data["forces"])
    drives = len(robot.parameter_names) - 10 * bodies - forces
    base = "floating base with six coordinates, " if data["floating"] else ""
    count = len(robot.actuated) - len(robot.base_coordinates)
    names = ", ".join(robot.actuated[len(robot.base_coordinates) :]) or "not chosen yet"
    actuated = f", {count} actuated: {names}" if data["joints"] else ""
    yield make_text(f"{base}{format_count(data['joints'], 'joint')}{actuated}")
    unknown = data["inertias_unknown"]
    mass = "unknown" if unknown else f"{sum(row['mass'] for row in data['link_table']):.5g} kg"
    yield make_text(
        f"{data['standard_parameters']} standard parameters: {10 * bodies} of {format_count(bodies, 'link')}, "
        f"{drives} of the drives{f', {forces} of the forces' if forces else ''}; moving mass {mass}"
    )
    if absent := data["absent_parameters"]:
        of_links = sum(name.rpartition(".")[2] in LINK_PARAMETERS for name in absent)
        counts = {"links": of_links, "drives": len(absent) - of_links}
        parts = ", ".join(f"{count} of the {owners}" for owners, count in counts.items() if count)
        yield make_text(f"{len(absent)} of them are absent from this robot and not identified: {parts}")


def describe_consistency(data: Mapping[str, Any]) -> Iterator[Text]:
    """Yield lines about the physical consistency of the links."""
    for name, reason in data["inconsistent"].items():
        yield make_text((f"{name}: {reason}", "yellow"))
    if data["inconsistent"]:
        yield make_text("these inertias are not physically consistent; the torques can still be right")
    elif data["inertias_unknown"]:
        yield make_text(
            ("the links have no inertias, since the geometry was unknown when they were identified", "yellow")
        )
    else:
        yield make_text("every link's inertia is physically consistent")


def format_count(number: int, thing: str) -> str:
    """Return a number of things, with a plural s if needed."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _build_tree(robot: Robot) -> Tree:
    """Return the tree of joints and links; a cut joint is drawn at its parent, with an arrow to its child."""
    from rich.tree import Tree

    drawing = Tree(make_text(*_link_label(robot.base)), guide_style="dim")
    branches = {robot.base.name: drawing}
    for joint, link in zip(robot.joints, robot.links[1:], strict=True):
        label = make_text((joint.name, "cyan"), f" {_describe_kind(joint)} ─ ", *_link_label(link))
        branches[joint.child] = branches[joint.parent].add(label)
    for loop in robot.loops:
        joint = loop.joint
        label = make_text((joint.name, "magenta"), f" {_describe_kind(joint)} ─▶ {joint.child} (closes a loop)")
        branches[joint.parent].add(label)
    return drawing


def _link_label(link: Link) -> tuple[str, tuple[str, str]]:
    mass = f"{link.inertia.mass:.4g} kg" if link.inertia.mass else "no mass"
    return f"{link.name} ", (f"{'load, ' if link.load else ''}{mass}", "dim")


def _describe_kind(joint: Joint) -> str:
    letter = {JointKind.REVOLUTE: "R", JointKind.PRISMATIC: "P"}
    return letter.get(joint.kind, joint.kind.value) + (f" {format_axis(joint.axis)}" if joint.moves else "")


# Tables of a robot's joints and links for a terminal of any width.
#
# Names come from files and are never read as markup: everything is printed as ``Text``.


Row: TypeAlias = Sequence[str | tuple[str, str]]

ZERO = "·"
UNKNOWN = "?"
QUANTITIES = (LINK_PARAMETERS[:1], LINK_PARAMETERS[1:4], LINK_PARAMETERS[4:])  # mass, first moments, inertia
# Ratio of an entry to the largest entry of the same quantity below which it is shown as zero. Chosen on: reasoning; the
# rounding errors of rotated inertias.
MAX_ROUNDING_ERROR = 1e-12
CONSISTENCY_LABELS: dict[bool | None, str | tuple[str, str]] = {True: "yes", False: ("no", "yellow"), None: UNKNOWN}


def build_joint_tables(console: Console, data: Mapping[str, Any]) -> list[Table]:
    """Return tables of the movable joints: axis, limits, drive parameters."""
    drive = (*ALL_JOINT_PARAMETERS, "friction_speed")
    rows = []
    for row in data["joint_table"]:
        if row["axis"] is None:
            continue
        lower, upper = row["position"]
        position = (
            "" if lower is None and upper is None else f"{_format_number(lower, '-∞')} … {_format_number(upper, '∞')}"
        )
        bounds = [_format_number(row[key], "") for key in ("velocity", "acceleration", "effort")]
        forces = [_format_number(row[key] or None, ZERO) for key in drive]
        rows.append([row["name"], row["type"], format_axis(row["axis"]), position, *bounds, *forces])
    limits = ("type", "axis", "position", "velocity", "acceleration", "effort")
    return _build_tables(console, ("joint", *limits, *drive), rows, groups=(limits, drive))


def build_link_tables(console: Console, data: Mapping[str, Any]) -> list[Table]:
    """Return tables of the moving links: ten parameters, and whether they are physically consistent."""
    rows: list[list[str | tuple[str, str]]] = []
    for row in data["link_table"]:
        parameters = row["parameters"]
        if parameters is not None:
            values = [text for group in QUANTITIES for text in _format_group([parameters[name] for name in group])]
        else:
            values = [UNKNOWN] * len(LINK_PARAMETERS)
            values[0] = UNKNOWN if row["mass"] is None else _format_number(row["mass"], ZERO)
        rows.append([row["name"], *values, CONSISTENCY_LABELS[row["consistent"]]])
    first, inertia = LINK_PARAMETERS[:4], LINK_PARAMETERS[4:]
    return _build_tables(
        console, ("link", *LINK_PARAMETERS, "consistent"), rows, groups=((*first, "consistent"), inertia)
    )


def make_text(*pieces: str | tuple[str, str]) -> Text:
    """Return one line from pieces of text, each plain or with a style."""
    pairs = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]
    from rich.text import Text

    return Text.assemble(*((escape_control_characters(words), style) for words, style in pairs))


def format_axis(axis: Sequence[float]) -> str:
    """Return an axis as text: a letter, or its entries."""
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return letter if axis[k] > 0 else f"-{letter}"
    return "(" + " ".join(f"{value:.4g}" for value in axis) + ")"


def build_table(columns: Sequence[str], chosen: Sequence[int], rows: Sequence[Row], *, tight: bool = False) -> Table:
    """Return a table with the first column and the chosen ones."""
    table = make_table(tight=tight)
    table.add_column(columns[0], overflow="fold")
    for k in chosen:
        table.add_column(columns[k], justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(make_text(row[k]) for k in (0, *chosen)))
    return table


def _format_group(values: Sequence[float]) -> list[str]:
    """Return the entries of one quantity as text; rotations of an inertia leave rounding errors instead of zeros."""
    limit = MAX_ROUNDING_ERROR * max(abs(value) for value in values)
    return [_format_number(value if abs(value) > limit else None, ZERO) for value in values]


def _build_tables(
    console: Console, columns: Sequence[str], rows: Sequence[Row], groups: Sequence[Sequence[str]]
) -> list[Table]:
    """Return one table. If it is too wide, return a table for each group of columns, or for parts of a group.

    The first column contains the names and is repeated in each table. Empty columns are left out.
    """
    filled = [k for k in range(1, len(columns)) if any(row[k] not in ("", ZERO) for row in rows)]
    whole = build_table(columns, filled, rows)
    if _fits(console, whole):
        return [whole]
    selections = [[columns.index(name) for name in group] for group in groups]
    return [
        table
        for group in selections
        for table in _split_columns(console, columns, [k for k in group if k in filled], rows)
    ]


def _split_columns(
    console: Console, columns: Sequence[str], chosen: Sequence[int], rows: Sequence[Row]
) -> Iterator[Table]:
    selected: list[int] = []
    for k in chosen:
        if selected and not _fits(console, build_table(columns, [*selected, k], rows, tight=True)):
            yield build_table(columns, selected, rows, tight=True)
            selected = []
        selected.append(k)
    if selected:
        yield build_table(columns, selected, rows, tight=True)


def _fits(console: Console, table: Table) -> bool:
    return console.measure(table, options=console.options.update(width=10_000)).maximum <= console.width


def _format_number(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:.4g}"


# A robot as plain data. Unlimited, undefined and unknown values are None.


def summarize_robot(robot: Robot) -> dict[str, Any]:
    """Return the description of a robot."""
    return {
        "name": robot.name,
        "about": robot.about,
        "source": robot.source,
        "floating": robot.floating,
        "joints": len(robot.movable),
        "actuated": list(robot.actuated),
        "passive": list(robot.passive) if robot.loops else [],
        "loops": len(robot.loops),
        "standard_parameters": len(robot.parameter_names),
        "absent_parameters": _list_absent_parameters(robot),
        "gravity_in_base": list(robot.gravity_in_base),
        "lengths": dict(robot.lengths),
        "unset_lengths": list(robot.unset_lengths),
        "angles": dict(robot.angles),
        "unset_angles": list(robot.unset_angles),
        "inertias_unknown": robot.inertias_unknown,
        "total_mass": None if robot.inertias_unknown else sum(link.inertia.mass for link in robot.links),
        "consistent": None if robot.inertias_unknown else all(robot.consistency.values()),
        "inconsistent": {
            name: consistency.reason for name, consistency in robot.consistency.items() if not consistency
        },
        "joint_table": [_summarize_joint(joint) for joint in robot.joints],
        "link_table": _summarize_links(robot),
        "couplings": [
            {"joint": coupling.joint, "terms": dict(coupling.terms), "offset": coupling.offset}
            for coupling in robot.couplings
        ],
        "forces": [
            {"name": force.name, "acts_on": [name for name, _ in force.torque], "value": force.value}
            for force in robot.forces
        ],
        "loop_table": [_summarize_loop(robot, loop) for loop in robot.loops],
        "findings": [replace_nonfinite(finding.data) for finding in robot.findings],
    }


def _list_absent_parameters(robot: Robot) -> list[str]:
    """Return the standard parameters that the robot does not have, in the order of theta."""
    absent = find_absent_parameters(robot)
    return [name for name in robot.parameter_names if name in absent]


def _summarize_links(robot: Robot) -> list[dict[str, Any]]:
    """Return each moving link with the links fixed to it merged into it; parameters are None if a symbol is unset."""
    # Any value can replace a length or an angle that is not set: parameters that depend on it are not shown.
    lengths, angles = ({name: 0.0 for name, value in each if value is None} for each in (robot.lengths, robot.angles))
    complete = replace(robot, inertias_unknown=False)
    bodies = complete.with_lengths(**lengths).with_angles(**angles).merged.links[1:]
    unset = set(robot.unset_symbols)
    members = _merged_links(robot)
    rows = []
    for body in bodies:
        links = members[body.name]
        known = not robot.inertias_unknown and not any(
            unset & (frame.symbols | frame.angles) for link, frame in links if not link.inertia.massless
        )
        inconsistent = [
            f"{link.name}: {robot.consistency[link.name].reason}"
            for link, _ in links
            if not robot.consistency[link.name]
        ]
        parameters = dict(zip(LINK_PARAMETERS, body.inertia.parameters, strict=True))
        rows.append(
            {
                "name": body.name,
                "mass": None if robot.inertias_unknown else body.inertia.mass,
                "center": [_finite_or_none(entry) for entry in body.inertia.center] if known else None,
                "parameters": parameters if known else None,
                "consistent": None if robot.inertias_unknown else not inconsistent,
                "consistency": "; ".join(inconsistent) or robot.consistency[body.name].reason,
            }
        )
    return rows


def _merged_links(robot: Robot) -> dict[str, list[tuple[Link, Frame]]]:
    """Return the links that are merged into each remaining link, with their frames, when fixed joints are merged."""
    body_of = {robot.base.name: (robot.base.name, IDENTITY)}
    members: dict[str, list[tuple[Link, Frame]]] = {robot.base.name: [(robot.base, IDENTITY)]}
    for joint, link in zip(robot.joints, robot.links[1:], strict=True):
        carrier, frame = body_of[joint.parent]
        if joint.kind is JointKind.FIXED and not link.load:
            body_of[link.name] = carrier, frame @ joint.placement @ joint.seat
        else:
            body_of[link.name] = link.name, IDENTITY
        carrier, frame = body_of[link.name]
        members.setdefault(carrier, []).append((link, frame))
    return members


def _summarize_joint(joint: Joint) -> dict[str, Any]:
    limits = joint.limits
    drive = joint.drive
    return {
        "name": joint.name,
        "type": joint.kind.value,
        "parent": joint.parent,
        "child": joint.child,
        "axis": list(joint.axis) if joint.moves else None,
        "position": [_finite_or_none(limits.lower), _finite_or_none(limits.upper)],
        "velocity": _finite_or_none(limits.velocity),
        "acceleration": _finite_or_none(limits.acceleration),
        "effort": _finite_or_none(limits.effort),
        **dict.fromkeys(OPTIONAL_JOINT_PARAMETERS),
        **dict(zip(drive.parameter_symbols, drive.parameters, strict=True)),
        "friction_speed": drive.friction_speed,
    }


def _summarize_loop(robot: Robot, loop: Loop) -> dict[str, Any]:
    through = robot.coordinates_of(robot.joints_of(loop))
    return {
        "name": loop.name,
        "type": loop.joint.kind.value,
        "links": [loop.joint.parent, loop.joint.child],
        "actuated": [name for name in through if name in robot.actuated],
        "passive": [name for name in through if name in robot.passive],
    }


def _finite_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


# The catalog for a terminal.


def print_catalog(console: Console, catalog: Catalog) -> None:
    """Print one row for each robot."""
    table = make_table("robot", "joints", "loops", "about")
    table.columns[1].justify = table.columns[2].justify = "right"
    for entry in catalog:
        table.add_row(*safe_texts((entry.name, str(entry.joints), str(entry.loops or ""), entry.about)))
    console.print(table)


# The catalog as plain data: the output of ``ytheta robots --json``.


def summarize_catalog(catalog: Catalog) -> dict[str, Any]:
    """Return name, joints, loops and description of each robot of the catalog."""
    return {"robots": [asdict(entry) for entry in catalog]}
