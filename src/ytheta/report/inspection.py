"""An inspected robot for a terminal, and as the output of ``ytheta inspect --json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ytheta.inspection import Inspection
from ytheta.report.numbers import replace_nonfinite
from ytheta.report.robot import (
    build_table,
    describe_consistency,
    describe_loop,
    describe_sizes,
    format_count,
    make_text,
    print_parts,
    summarize_robot,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Gap of a closed loop, in metres or radians, below which its digits are not printed. Chosen on: reasoning; smaller gaps
# are rounding errors.
MIN_GAP = 1e-12


def print_inspection(console: Console, inspection: Inspection) -> None:
    """Print a robot, the configuration that closes its loops, and operation counts."""
    data = summarize_inspection(inspection)
    print_parts(console, inspection.robot, data)
    for row in data["loop_table"]:
        console.print(describe_loop(row))
        console.print(_describe_closure(row, data))
    _print_operation_counts(console, data)
    for line in (*describe_sizes(inspection.robot, data), *_describe_costs(data), *describe_consistency(data)):
        console.print(line)


def _describe_closure(row: Mapping[str, Any], data: Mapping[str, Any]) -> Text:
    if row["gap"] is None:
        return make_text(f"  closed configuration not known: {_describe_unset_symbols(data)}")
    pose = ", ".join(f"{name} = {value:.5g}" for name, value in row["coordinates"].items())
    gap = f"below {MIN_GAP:g}" if row["gap"] < MIN_GAP else f"{row['gap']:.1e}"
    return make_text(f"  closes at {pose}, {row['name']} = {row['position']:.5g} (gap {gap})")


def _print_operation_counts(console: Console, data: Mapping[str, Any]) -> None:
    rows = [[name, str(cost["multiplications"]), str(cost["additions"])] for name, cost in data["operations"].items()]
    if rows:
        console.print(build_table(("formulation", "multiplications", "additions"), (1, 2), rows))
    for name, reason in data["not_counted"].items():
        console.print(make_text((f"{name}: {reason}", "dim")))


def _describe_costs(data: Mapping[str, Any]) -> Iterator[Text]:
    """Yield lines about base parameters and operations, and about what is missing to know them."""
    if data["base_parameters"] is not None:
        owners = "links and forces" if data["forces"] else "links"
        count = f"{data['base_parameters']} base parameters of the {owners}"
        yield make_text(f"{count}: see ytheta base or base_parameters(robot)")
    for k, (name, cost) in enumerate(data["inverse_dynamics"].items()):
        counts = f"{cost['multiplications']} multiplications, {cost['additions']} additions"
        tree = " on the opened tree" if data["loops"] else ""
        printed = data["lin1995_operations"] if name == "composite_newton_euler" else None
        if printed is not None:
            counts += f" (as Lin 1995 counts: {printed['multiplications']} and {printed['additions']})"
        yield make_text(f"{'inverse dynamics by' if k else 'cheapest inverse dynamics:'} {name}{tree}, {counts}")
    if data["unset_lengths"] or data["unset_angles"]:
        what = "operations" if all(row["parameters"] for row in data["link_table"]) else "parameters (?) and operations"
        yield make_text(f"{what} not known: {_describe_unset_symbols(data)}")
    elif data["loops"] and not data["actuated"]:
        freedom = data["loop_table"][0]["freedom"]
        yield make_text(f"the loops leave {format_count(freedom, 'coordinate')} free: choose {freedom} as 'actuated'")


def _describe_unset_symbols(data: Mapping[str, Any]) -> str:
    """Return which lengths and angles have no value, and how to set them, unless that is refused."""
    if data["inertias_unknown"]:
        names = ", ".join((*data["unset_lengths"], *data["unset_angles"]))
        return f"the model was identified without {names}"
    sentences: list[str] = []
    for kind in ("length", "angle"):
        names = data[f"unset_{kind}s"]
        if len(names) == 1:
            sentences.append(
                f"the {kind} {names[0]!r} has no value; give it one with --{kind} {names[0]}=VALUE "
                f"or robot.with_{kind}s({names[0]}=VALUE)"
            )
        elif names:
            sentences.append(
                f"the {kind}s {', '.join(map(repr, names))} have no values; give them some with --{kind} NAME=VALUE "
                f"or robot.with_{kind}s(NAME=VALUE)"
            )
    return "; ".join(sentences)


# An inspected robot as plain data: the output of ``ytheta inspect --json``. Unknown values are None.


def summarize_inspection(inspection: Inspection) -> dict[str, Any]:
    """Return the description of the robot, its operation counts, and its loops at the closed configuration."""
    data = summarize_robot(inspection.robot)
    return {
        **data,
        "formulations": dict(inspection.formulations),
        "operations": {name: dict(count) for name, count in inspection.operations.items()},
        "not_counted": dict(inspection.not_counted),
        "inverse_dynamics": {name: dict(count) for name, count in inspection.inverse_dynamics.items()},
        "lin1995_operations": None if inspection.lin1995_operations is None else dict(inspection.lin1995_operations),
        "base_parameters": inspection.base_count,
        "loop_table": [{**row, **_summarize_closure(inspection, row)} for row in data["loop_table"]],
        "findings": [replace_nonfinite(finding.data) for finding in inspection.findings],
    }


def _summarize_closure(inspection: Inspection, row: dict[str, Any]) -> dict[str, Any]:
    """Return gap and positions of one loop at the closed configuration."""
    closure = inspection.closure
    if closure is None:
        return {"gap": None, "position": None, "coordinates": {}, "freedom": None}
    state = next(state for state in closure.loops if state.name == row["name"])
    through = [name for name in closure.coordinates if name in (*row["actuated"], *row["passive"])]
    return {
        "gap": state.gap,
        "position": state.position,
        "coordinates": {name: closure.coordinates[name] for name in through},
        "freedom": closure.freedom,
    }
