"""Tables II and III of lin1995: operations of the recursion by variable, and of whole arms.

The operations are those of ``composite_newton_euler``, which runs on scalars that count; see ``operation_counts``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ytheta.dynamics.graphs import inverse_dynamics_graph
from ytheta.dynamics.operation_counts import (
    VARIABLES,
    Count,
    count_general_operations,
    count_recursion_operations,
    sum_operations,
)
from ytheta.native.graph import count_operations as count_graph_operations
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.lin1995.arms import load_stanford_arm, make_general_chain, with_general_inertias
from ytheta.robot.robot import Robot

SYMBOLS = dict(zip(VARIABLES, ("ω", "ω̇", "Ω", "Ψ", "ḧ", "a", "ρ", "μ̄", "ζ̄", "μ", "ζ", "τ"), strict=True))
ABSENT = "-"
UNREADABLE = "?"


@dataclass(frozen=True)
class Column:
    """A column of Table II: its heading, a chain with a joint that belongs to it, s, the joint, and the cells."""

    heading: str
    kinds: str
    s: int
    joint: int
    cells: str


# As printed; "+" adds the operations of the footnote, which joint s - 1 needs.
COLUMNS = (
    Column("i < r", "PPRR", 4, 2, "- - - - - 8M5A 1M 1M - - - 1A"),
    Column("i = r = 1", "RR", 2, 1, "0 0 1M - - 3M - 0 3M2A 8M4A 2M3A+3M2A 0"),
    Column("i = r > 1", "PRR", 3, 2, "0 0 1M - - 8M4A - 4M2A 3M2A 8M7A 2M3A+3M2A 0"),
    Column("r < i < s, R", "RRRR", 4, 3, "1A 1A 1M - - 12M8A - 4M2A 3M2A 8M7A 3M4A+3M2A 0"),
    Column("r < i < s, T", "RPPR", 4, 3, "3M 3M 6M9A - 5M4A 14M10A 4M2A 3M 6M3A 8M7A 4M5A+11M6A 1A"),
    Column("i ≥ s, R", "RRRR", 2, 3, "8M5A 10M7A 6M9A 3A - 17M13A - 6M3A 22M19A ? 12M11A 0"),
    Column("i ≥ s, T", "RRPPR", 2, 4, "8M4A 8M4A 6M9A 3A 5M4A 14M10A 4M3A 3M 9M5A ? 12M11A 1A"),
    Column("i = n", "RRRR", 2, 4, "8M5A 10M7A 6M9A 3A - 17M13A - 6M3A 22M19A ? 6M9A 0"),
)
DAMAGED = "the scan has only '{ ` M7A for i = n)' of the cell that R, T and i = n share"
NOTES = {
    ("mu", "i < r"): "(66) is needed: (68) takes μ of the next joint",
    ("zeta", "i = r = 1"): "with the print, the sum of Table III would be one multiplication and one addition less",
    ("zeta", "i = r > 1"): "(90) is the same for i = r and for r < i < s",
    ("a", "r < i < s, T"): "Ω [b 0 0] 3M, + a 3A, R 8M4A, + ḧ* 3A; Ω [0 0 d] is part of ḧ*",
    ("a", "i ≥ s, T"): "as for r < i < s",
    ("mu", "i ≥ s, R"): f"{DAMAGED}; the sums of Table III result with 8M7A, as for r < i < s",
    ("mu", "i ≥ s, T"): f"{DAMAGED}; the sum of the Stanford arm in Table III results with 8M7A",
    ("mu", "i = n"): f"{DAMAGED}; the sums of Table III result with 3A",
}
MAX_JOINTS = 8  # of the chains for which the formulas in n are checked
SIX = "RRRRRR"
STANFORD_GENERAL, STANFORD_SIMPLIFIED = (231, 219), (139, 101)


def compare_variables() -> Exhibit:
    """Return Table II, cell by cell."""
    return Exhibit(
        "table_2",
        "Table II: operations of each variable; M multiplications, A additions",
        tuple(row for column in COLUMNS for row in _compare_column(column)),
    )


def compare_sums() -> Exhibit:
    """Return Table III, and the statements about general and industrial robots."""
    return Exhibit(
        "table_3",
        "Table III: operations of whole arms",
        (*_compare_general_robots(), *_compare_stanford_arm()),
        open=(
            "the simplified Stanford arm: the paper does not say which of its inertia constants are zero. Chosen here: "
            "the published inertias of the catalog, and only operations that a torque needs."
        ),
    )


def _compare_column(column: Column) -> Iterator[Comparison]:
    counted = count_general_operations(column.kinds, column.s)[column.joint - 1]
    for name, cell in zip(VARIABLES, column.cells.split(), strict=True):
        count = counted.get(name, (0, 0))
        if cell == ABSENT and count == (0, 0):
            continue
        agrees = Agreement.OPEN if cell == UNREADABLE else Agreement.of(_read_cell(cell) == count)
        note = NOTES.get((name, column.heading), "")
        printed = "unreadable" if cell == UNREADABLE else cell.replace("+", " + ")
        yield Comparison(f"{SYMBOLS[name]}, {column.heading}", printed, _write_count(count), agrees, note)


def _compare_general_robots() -> Iterator[Comparison]:
    sums = {n: sum_operations(count_general_operations("R" * n, 2)) for n in range(2, MAX_JOINTS + 1)}
    for k, (name, slope, intercept) in enumerate((("multiplications", 89, -82), ("additions", 77, -71))):
        agree = all(count[k] == slope * n + intercept for n, count in sums.items())
        shown = f"{slope}n - {-intercept}" if agree else ", ".join(f"{count[k]}" for count in sums.values())
        note = f"n = 2 to {MAX_JOINTS}, with f_E and t_E"
        yield Comparison(f"{name}, n revolute joints", f"{slope}n - {-intercept}", shown, Agreement.of(agree), note)
    note = f"compiled: {_describe_compiled(make_general_chain(SIX))}"
    yield _compare_count("general robot, n = 6", (452, 391), sums[6], note)
    matrices = [joint["R"] for joint in count_general_operations(SIX, 2)]
    total = sum(m for m, _ in matrices), sum(a for _, a in matrices)
    yield _compare_count("rotation matrices, n = 6, counted apart", (24, 0), total, "4nM")
    less = sum_operations(count_general_operations(SIX, 2, perpendicular=True))
    saved = sums[6][0] - less[0], sums[6][1] - less[1]
    note = "printed: 5(n - 1)(4M + 2A) + 2M + 1A; with minus signs it is right, as ζ of joint 1 saves only 1M1A"
    yield _compare_count("fewer if all axes are perpendicular, n = 6", (102, 51), saved, note)


def _compare_stanford_arm() -> Iterator[Comparison]:
    simple = load_stanford_arm()
    arm = with_general_inertias(simple)
    note = f"without f_E and t_E; compiled: {_describe_compiled(arm)}"
    yield _compare_count(
        "Stanford arm, general", STANFORD_GENERAL, sum_operations(count_recursion_operations(arm)), note
    )
    count = sum_operations(count_recursion_operations(simple, needed_only=True))
    agrees = Agreement.YES if count == STANFORD_SIMPLIFIED else Agreement.OPEN
    note = f"compiled: {_describe_compiled(simple)}"
    printed = _write_count(STANFORD_SIMPLIFIED)
    yield Comparison("Stanford arm, simplified", printed, _write_count(count), agrees, note)


def _describe_compiled(robot: Robot) -> str:
    """The operations of the compiled recursions of ytheta; rotation matrices are included."""
    texts: list[str] = []
    for name in ("composite_newton_euler", "minimal_newton_euler"):
        operations = count_graph_operations(inverse_dynamics_graph(robot, formulation=name))
        texts.append(f"{operations.multiplications}M{operations.additions}A by {name}")
    return ", ".join(texts)


def _compare_count(name: str, printed: Count, count: Count, note: str) -> Comparison:
    return Comparison(name, _write_count(printed), _write_count(count), Agreement.of(printed == count), note)


def _read_cell(cell: str) -> Count:
    """Read a cell such as ``8M5A``, ``1A``, ``0`` or a sum of two."""
    total = [0, 0]
    for part in cell.split("+"):
        m, _, a = part.rpartition("M")
        total[0] += int(m or 0)
        total[1] += int(a.removesuffix("A")) if a not in ("", ABSENT) else 0
    return total[0], total[1]


def _write_count(count: Count) -> str:
    m, a = count
    return "".join(f"{number}{kind}" for number, kind in ((m, "M"), (a, "A")) if number) or "0"
