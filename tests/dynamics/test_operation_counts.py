"""Operations of Lin's recursion: the cells of Table II, and the sums of Table III."""

from __future__ import annotations

import pytest

from tests.support.formulation_cases import load
from tests.support.lin_chains import with_any_inertias
from ytheta.dynamics.operation_counts import (
    VARIABLES,
    CountedScalar,
    OperationTable,
    count_general_operations,
    count_recursion_operations,
    sum_operations,
)

FOOTNOTE = {"R": (3, 2), "P": (11, 6)}  # zeta of joint s - 1


def read_row(text: str) -> list[tuple[int, int]]:
    """Read cells such as ``8M5A``; ``0`` and ``-`` are zero."""
    cells: list[tuple[int, int]] = []
    for cell in text.split():
        m, _, a = cell.removesuffix("A").replace("-", "0").partition("M")
        cells.append((int(m or 0), int(a or 0)) if "M" in cell else (0, int(m)))
    return cells


# Chain, s, joint, and the cells in the order of VARIABLES. Cells with a star differ from the print, see below.
COLUMNS = {
    "i < r": ("PPRR", 4, 2, "0 0 0 0 0 8M5A 1M 1M 0 8M7A 0 1A"),  # mu: *
    "i = r = 1": ("RR", 2, 1, "0 0 1M 0 0 3M 0 0 3M2A 8M4A 3M4A 0"),  # zeta: *
    "i = r > 1": ("PRR", 3, 2, "0 0 1M 0 0 8M4A 0 4M2A 3M2A 8M7A 3M4A 0"),  # zeta: *
    "r < i < s, R": ("RRRR", 4, 3, "1A 1A 1M 0 0 12M8A 0 4M2A 3M2A 8M7A 3M4A 0"),
    "r < i < s, T": ("RPPR", 4, 3, "3M 3M 6M9A 0 5M4A 11M10A 4M2A 3M 6M3A 8M7A 4M5A 1A"),  # a: *
    "s <= i < n, R": ("RRRR", 2, 3, "8M5A 10M7A 6M9A 3A 0 17M13A 0 6M3A 22M19A 8M7A 12M11A 0"),
    "i = s": ("RRRR", 2, 2, "8M5A 10M7A 6M9A 3A 0 17M13A 0 6M3A 22M19A 8M7A 12M11A 0"),
    "i = n, R": ("RRRR", 2, 4, "8M5A 10M7A 6M9A 3A 0 17M13A 0 6M3A 22M19A 3A 6M9A 0"),
    "s <= i < n, T": ("RRPPR", 2, 4, "8M4A 8M4A 6M9A 3A 5M4A 11M10A 4M3A 3M 9M5A 8M7A 12M11A 1A"),  # a: *
}


def take_row(table: OperationTable, kinds: str, s: int, joint: int) -> list[tuple[int, int]]:
    """The cells of a joint in the order of VARIABLES, without the footnote's operations."""
    cells = {name: table[joint - 1].get(name, (0, 0)) for name in VARIABLES}
    if joint == s - 1:
        m, a = FOOTNOTE[kinds[joint - 1]]
        cells["zeta"] = cells["zeta"][0] - m, cells["zeta"][1] - a
    return list(cells.values())


@pytest.mark.parametrize("column", COLUMNS)
def test_cells_of_table_two(column: str) -> None:
    """Printed otherwise: "-" for mu at i < r, 2M3A for zeta at i = r, 14M10A for a of prismatic joints."""
    kinds, s, joint, cells = COLUMNS[column]
    assert take_row(count_general_operations(kinds, s), kinds, s, joint) == read_row(cells)


@pytest.mark.parametrize("n", range(2, 9))
def test_sums_for_revolute_joints(n: int) -> None:
    """(89 n - 82)M and (77 n - 71)A, with 4 n multiplications of the rotation matrices left out."""
    table = count_general_operations("R" * n, 2)
    assert sum_operations(table) == (89 * n - 82, 77 * n - 71)
    assert [joint["R"] for joint in table] == [(4, 0)] * n
    without = sum_operations(count_general_operations("R" * n, 2, wrench=False))
    assert without == (89 * n - 82 - 6, 77 * n - 71 - 12)


def test_sums_for_the_stanford_arm() -> None:
    arm = with_any_inertias(load("stanford"))
    table = count_recursion_operations(arm)
    assert sum_operations(table) == (231, 219)
    assert table[1]["D"] == (3, 4)  # left out by Table II
    assert sum_operations(count_recursion_operations(arm, needed_only=True)) == (229, 210)
    assert sum_operations(count_recursion_operations(arm, wrench=True)) == (231 + 6, 219 + 12)


def test_scalars_count_operations_on_variables_only() -> None:
    recorded: list[CountedScalar] = []
    x = CountedScalar(recorded)
    _ = x * 1, 0 + x, -x, x - 0, 0 * x
    assert not recorded
    _ = x * 2.0, 3.0 * x, x + 0.0, 1.0 - x
    assert [each.multiplies for each in recorded] == [True, True, False, False]
