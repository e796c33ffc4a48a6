"""A robot for a terminal: its tree, tables of joints and links, loops, operation counts.

Names come from files and are never read as markup: everything is printed as ``Text``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ytheta.conventions import LINK_PARAMETERS
from ytheta.report.terminal import escape_control_characters
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

Row: TypeAlias = Sequence[str | tuple[str, str]]

ZERO = "·"
UNKNOWN = "?"


def print_robot(console: Console, robot: Robot, data: dict[str, Any]) -> None:
    """Print a robot; ``data`` is its summary."""
    console.print(_make_text((robot.name, "bold"), f": {robot.about}" if robot.about else ""))
    if robot.source:
        console.print(_make_text((f"source: {robot.source}", "dim")))
    console.print()
    console.print(_build_tree(robot))
    for table in (*_joint_tables(console, data), *_link_tables(console, data)):
        console.print(table)
    for coupling in data["couplings"]:
        terms = " + ".join(f"{factor:g} {name}" for name, factor in coupling["terms"].items()) or "0"
        offset = f" + {coupling['offset']:g}" if coupling["offset"] else ""
        console.print(_make_text(f"coupling: {coupling['joint']} = {terms}{offset}".replace("+ -", "- ")))
    for force in data["forces"]:
        console.print(_make_text(f"force: {force['name']} on {', '.join(force['acts_on'])}, k = {force['value']:g}"))
    for row in data["loop_table"]:
        for line in _describe_loop(row, data):
            console.print(line)
    _print_operation_counts(console, data)
    for line in _summarize(robot, data):
        console.print(line)


def _make_text(*pieces: str | tuple[str, str]) -> Text:
    """Return one line from pieces of text, each plain or with a style."""
    pairs = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]
    return Text.assemble(*((escape_control_characters(words), style) for words, style in pairs))


def _build_tree(robot: Robot) -> Tree:
    """Return the tree of joints and links; a cut joint is drawn at its parent, with an arrow to its child."""
    drawing = Tree(_make_text(*_link_label(robot.base)), guide_style="dim")
    branches = {robot.base.name: drawing}
    for joint, link in zip(robot.joints, robot.links[1:], strict=True):
        label = _make_text((joint.name, "cyan"), f" {_describe_kind(joint)} ─ ", *_link_label(link))
        branches[joint.child] = branches[joint.parent].add(label)
    for loop in robot.loops:
        joint = loop.joint
        label = _make_text((joint.name, "magenta"), f" {_describe_kind(joint)} ─▶ {joint.child} (closes a loop)")
        branches[joint.parent].add(label)
    return drawing


def _link_label(link: Link) -> tuple[str, tuple[str, str]]:
    mass = f"{link.inertia.mass:.4g} kg" if link.inertia.mass else "no mass"
    return f"{link.name} ", (f"{'load, ' if link.load else ''}{mass}", "dim")


def _describe_kind(joint: Joint) -> str:
    letter = {JointKind.REVOLUTE: "R", JointKind.PRISMATIC: "P", JointKind.FIXED: "fixed", JointKind.POINT: "point"}
    return letter[joint.kind] + (f" {_format_axis(joint.axis)}" if joint.moves else "")


def _format_axis(axis: Sequence[float]) -> str:
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return letter if axis[k] > 0 else f"-{letter}"
    return "(" + " ".join(f"{value:.4g}" for value in axis) + ")"


def _build_tables(
    console: Console, columns: Sequence[str], rows: Sequence[Row], groups: Sequence[Sequence[str]]
) -> list[Table]:
    """Return one table. If it is too wide, return a table for each group of columns, or for parts of a group.

    The first column contains the names and is repeated in each table. Empty columns are left out.
    """
    filled = [k for k in range(1, len(columns)) if any(row[k] not in ("", ZERO) for row in rows)]
    whole = _build_table(columns, filled, rows)
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
        if selected and not _fits(console, _build_table(columns, [*selected, k], rows, tight=True)):
            yield _build_table(columns, selected, rows, tight=True)
            selected = []
        selected.append(k)
    if selected:
        yield _build_table(columns, selected, rows, tight=True)


def _fits(console: Console, table: Table) -> bool:
    return console.measure(table, options=console.options.update(width=10_000)).maximum <= console.width


def _build_table(columns: Sequence[str], chosen: Sequence[int], rows: Sequence[Row], *, tight: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=tight)
    table.add_column(columns[0], overflow="fold")
    for k in chosen:
        table.add_column(columns[k], justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(_make_text(row[k]) for k in (0, *chosen)))
    return table


def _joint_tables(console: Console, data: dict[str, Any]) -> list[Table]:
    drive = ("Ia", "fv", "fc", "fo")
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
        rows.append([row["name"], row["type"], _format_axis(row["axis"]), position, *bounds, *forces])
    limits = ("type", "axis", "position", "velocity", "acceleration", "effort")
    return _build_tables(console, ("joint", *limits, *drive), rows, groups=(limits, drive))


def _link_tables(console: Console, data: dict[str, Any]) -> list[Table]:
    rows: list[list[str | tuple[str, str]]] = []
    for row in data["link_table"]:
        parameters = row["parameters"]
        values = [
            UNKNOWN if parameters is None else _format_number(parameters[name] or None, ZERO)
            for name in LINK_PARAMETERS
        ]
        if parameters is None:
            values[0] = _format_number(row["mass"], ZERO)
        rows.append([row["name"], *values, "yes" if row["consistent"] else ("no", "yellow")])
    first, inertia = LINK_PARAMETERS[:4], LINK_PARAMETERS[4:]
    return _build_tables(
        console, ("link", *LINK_PARAMETERS, "consistent"), rows, groups=((*first, "consistent"), inertia)
    )


def _print_operation_counts(console: Console, data: dict[str, Any]) -> None:
    rows = [[name, str(cost["multiplications"]), str(cost["additions"])] for name, cost in data["operations"].items()]
    if rows:
        console.print(_build_table(("formulation", "multiplications", "additions"), (1, 2), rows))
    for name, reason in data["not_counted"].items():
        console.print(_make_text((f"{name}: {reason}", "dim")))


def _describe_loop(row: dict[str, Any], data: dict[str, Any]) -> Iterator[Text]:
    parent, child = row["links"]
    actuated, passive = (", ".join(row[key]) or "nothing" for key in ("actuated", "passive"))
    yield _make_text(
        "loop ",
        (row["name"], "magenta"),
        f" ({row['type']}) between {parent} and {child}: actuated {actuated}; passive {passive}",
    )
    if row["gap"] is None:
        yield _make_text(f"  closed configuration not known: {_describe_unset_lengths(data)}")
        return
    pose = ", ".join(f"{name} = {value:.5g}" for name, value in row["coordinates"].items())
    gap = "below 1e-12" if row["gap"] < 1e-12 else f"{row['gap']:.1e}"
    yield _make_text(f"  closes at {pose}, {row['name']} = {row['position']:.5g} (gap {gap})")


def _summarize(robot: Robot, data: dict[str, Any]) -> Iterator[Text]:
    bodies, forces = len(data["link_table"]), len(data["forces"])
    drives = len(robot.parameter_names) - 10 * bodies - forces
    actuated = ", ".join(robot.actuated) or "not chosen yet"
    yield _make_text(f"{_format_count(data['joints'], 'joint')}, {len(robot.actuated)} actuated: {actuated}")
    yield _make_text(
        f"{data['standard_parameters']} standard parameters: {10 * bodies} of {_format_count(bodies, 'link')}, "
        f"{drives} of the drives{f', {forces} of the forces' if forces else ''}; "
        f"moving mass {sum(row['mass'] for row in data['link_table']):.5g} kg"
    )
    if data["base_parameters"] is not None:
        owners = "links and forces" if forces else "links"
        yield _make_text(f"{data['base_parameters']} base parameters of the {owners}: see ytheta base")
    for name, cost in list(data["inverse_dynamics"].items())[:1]:
        counts = f"{cost['multiplications']} multiplications, {cost['additions']} additions"
        tree = " on the opened tree" if data["loops"] else ""
        yield _make_text(f"cheapest inverse dynamics: {name}{tree}, {counts}")
    if data["unset_lengths"]:
        what = "operations" if all(row["parameters"] for row in data["link_table"]) else "parameters (?) and operations"
        yield _make_text(f"{what} not known: {_describe_unset_lengths(data)}")
    elif robot.loops and not robot.actuated:
        freedom = data["loop_table"][0]["freedom"]
        yield _make_text(f"the loops leave {_format_count(freedom, 'coordinate')} free: choose {freedom} as 'actuated'")
    for name, reason in data["inconsistent"].items():
        yield _make_text((f"{name}: {reason}", "yellow"))
    if data["inconsistent"]:
        yield _make_text("these inertias are not physically consistent; the torques can still be right")
    else:
        yield _make_text("every link's inertia is physically consistent")


def _describe_unset_lengths(data: dict[str, Any]) -> str:
    names = data["unset_lengths"]
    if len(names) == 1:
        return f"the length {names[0]!r} has no value; give it one with --length {names[0]}=VALUE"
    return f"the lengths {', '.join(map(repr, names))} have no values; give them some with --length NAME=VALUE"


def _format_count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _format_number(value: float | None, missing: str) -> str:
    return missing if value is None else f"{value:.4g}"
