"""A robot for a terminal: its tree, tables of joints and links, loops, numbers of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from ytheta.conventions import LINK_PARAMETERS
from ytheta.report.robot.summary import summarize_robot
from ytheta.report.robot.tables import build_joint_tables, build_link_tables, format_axis, make_text
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


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
