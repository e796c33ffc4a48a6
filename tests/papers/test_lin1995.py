"""Tables I to III of lin1995 and the identification of the Stanford arm; the paper is computed once."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from ytheta.dynamics import operation_counts
from ytheta.dynamics.formulations import composite_inertias, composite_newton_euler
from ytheta.dynamics.formulations.composite_bodies import find_composite_bodies
from ytheta.dynamics.formulations.composite_newton_euler import fill_zeros
from ytheta.papers import lin1995 as combinations
from ytheta.papers import lin1995 as identification
from ytheta.papers import lin1995 as operations
from ytheta.papers.exhibit import PaperReproduction, PrintedResult, State
from ytheta.papers.lin1995 import make_general_chain
from ytheta.report.papers import paper_html

YES, MISPRINT, NO, OPEN = State
MISPRINTS = {
    "μ, i < r",
    "a, r < i < s, T",
    "a, i ≥ s, T",
}
# Counts of equations that are in other papers.
FORWARD_OPERATIONS = {
    "operations of ĉ i, joint i + 1 translational": ("8M7A", "9M8A"),
    "operations of Ĵ i, joint i + 1 translational": ("50M40A", "22M32A"),
    "fewer than with the parameters of Gautier et al.": (
        "yes: 11M9A and 55M41A with those",
        "for q̈ of a chain RPRRRR 754M621A; from the parameters of the links 893M812A",
    ),
}


@pytest.fixture(scope="module")
def paper() -> PaperReproduction:
    return yt.reproduce("lin1995")["lin1995"]


@pytest.fixture(scope="module")
def rows(paper: PaperReproduction) -> dict[str, PrintedResult]:
    return {row.name: row for exhibit in paper.exhibits for row in exhibit.comparisons}


def test_what_does_not_agree_and_what_is_open(rows: dict[str, PrintedResult]) -> None:
    assert {name for name, row in rows.items() if row.state is MISPRINT} == MISPRINTS
    assert {name for name, row in rows.items() if row.state is OPEN} == {
        "ζ, i = r = 1",
        "ζ, i = r > 1",
        "μ, i ≥ s, R",
        "μ, i ≥ s, T",
        "μ, i = n",
        "fewer if all axes are perpendicular, n = 6",
        "Stanford arm, simplified",
        *FORWARD_OPERATIONS,
        "largest condition number of a joint, by trajectory",
    }
    assert not [name for name, row in rows.items() if row.state is NO]


def test_table_two(rows: dict[str, PrintedResult]) -> None:
    """The cells of the general case, and ours for those that are printed otherwise."""
    assert rows["ζ̄, i ≥ s, R"].ytheta == rows["ζ̄, i ≥ s, R"].paper == "22M19A"
    assert rows["a, i ≥ s, R"].ytheta == "17M13A"
    assert (rows["a, i ≥ s, T"].paper, rows["a, i ≥ s, T"].ytheta) == ("14M10A", "11M10A")
    assert (rows["ζ, i = r = 1"].paper, rows["ζ, i = r = 1"].ytheta) == ("2M3A + 3M2A", "6M6A")
    assert (rows["μ, i < r"].paper, rows["μ, i < r"].ytheta) == ("-", "8M7A")
    damaged = [rows[f"μ, {heading}"] for heading in ("i ≥ s, R", "i ≥ s, T", "i = n")]
    assert [row.ytheta for row in damaged] == ["8M7A", "8M7A", "3A"]
    assert all(row.paper == "unreadable" and row.note.startswith("the scan has only") for row in damaged)


def test_table_three(rows: dict[str, PrintedResult]) -> None:
    assert rows["general robot, n = 6"].ytheta == "452M391A"
    assert rows["Stanford arm, general"].ytheta == "231M219A"
    assert rows["Stanford arm, simplified"].paper == "139M101A"
    assert rows["Stanford arm, simplified"].ytheta == "145M107A"
    assert rows["multiplications, n revolute joints"].ytheta == "89n - 82"
    assert rows["additions, n revolute joints"].ytheta == "77n - 71"
    assert rows["fewer if all axes are perpendicular, n = 6"].ytheta == "98M49A"  # 5 (n - 1) (4M + 2A) - 2M - 1A
    for name, most in (
        ("general robot, n = 6", (352, 286)),
        ("Stanford arm, general", (216, 202)),
        ("Stanford arm, simplified", (123, 96)),
    ):
        found = re.search(r"(\d+)M(\d+)A by minimal_newton_euler", rows[name].note)
        assert found is not None
        assert int(found[1]) <= most[0]
        assert int(found[2]) <= most[1]


def test_forward_dynamics(rows: dict[str, PrintedResult], monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin has a wrong displacement of prismatic joints in the varying parts."""
    assert {name: (rows[name].paper, rows[name].ytheta) for name in FORWARD_OPERATIONS} == FORWARD_OPERATIONS
    names = ("ĉ i, by (10), (11)", "Ĵ i, by (12) to (15)")
    assert [rows[name].state for name in (*names, "q̈ from the torque of a motion")] == [YES, YES, YES]
    displacement = composite_newton_euler.compute_displacement
    monkeypatch.setattr(composite_inertias, "compute_displacement", lambda *joint: displacement(*joint) * (1 + 1e-9))
    changed = {row.name: row.state for row in operations.compare_forward_dynamics().comparisons}
    assert [changed[name] for name in names] == [NO, NO]


def test_the_product_of_a_rotation_with_both_sides_of_a_symmetric_matrix() -> None:
    """42M21A, if only six entries of the result are computed, as the note about Ĵ says."""
    recorded: list[operation_counts.CountedScalar] = []
    c, s, ca, sa, *entries = (operation_counts.CountedScalar(recorded) for _ in range(13))
    R = composite_newton_euler.JointRotation((1, 0), (ca, sa), (c, s))
    half = [R.up(np.array(column, dtype=object)) for column in zip(entries[:3], entries[3:6], entries[6:], strict=True)]
    rows = [R.up(np.array(row, dtype=object)) for row in zip(*half, strict=True)]
    upper = np.array([rows[i][j] for i in range(3) for j in range(i, 3)], dtype=object)
    needed = operation_counts._find_needed(upper)
    assert (sum(x.multiplies for x in needed), sum(not x.multiplies for x in needed)) == (42, 21)


def test_an_operation_more_or_less_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: one more multiplication for every component of mu (66)."""
    with monkeypatch.context() as change:
        change.setattr(composite_newton_euler, "fill_zeros", lambda values, zero: fill_zeros(values, zero) * 1.0)
        changed = {row.name: row.state for row in operations.compare_sums().comparisons}
    assert changed["general robot, n = 6"] is NO
    assert changed["multiplications, n revolute joints"] is NO
    assert changed["additions, n revolute joints"] is YES


def test_table_one_notices_a_wrong_constant(monkeypatch: pytest.MonkeyPatch) -> None:

    def find_changed(robot: yt.Robot) -> object:
        arm = find_composite_bodies(robot)
        bodies = [replace(body, k=body.k * (1.0 + 1e-9)) for body in arm.bodies]
        return replace(arm, bodies=tuple(bodies))

    assert combinations.compare_combinations().state is YES
    monkeypatch.setattr(combinations, "find_composite_bodies", find_changed)
    changed = {row.name: row for row in combinations.compare_combinations().comparisons}
    assert changed["k i"].state is NO
    assert str(changed["k i"].ytheta).startswith("differs by 1e-09")
    assert changed["m̂ i"].state is YES


def test_table_one_has_every_printed_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """mR i-1 and mZR i-1 stay with link i - 1 only if joint i - 1 is prismatic; the twin has a revolute one."""
    mass, moments = (f"{names} of Gautier et al." for names in ("mR i-1", "mXR i-1, mYR i-1, mZR i-1"))
    rows = {row.name: row for row in combinations.compare_combinations().comparisons}
    assert rows[mass].state is rows[moments].state is YES
    assert "[0, -Sβ, Cβ] mZR i+1" in str(rows["mXR i, mYR i, mZR i of Gautier et al."].paper)
    monkeypatch.setattr(combinations, "TWO_PRISMATIC", ("RRRPRR", 4))
    rows = {row.name: row for row in combinations.compare_combinations().comparisons}
    assert rows[mass].state is rows[moments].state is NO


def test_identification(paper: PaperReproduction, rows: dict[str, PrintedResult]) -> None:
    found = re.search(r"largest error (\S+) of", str(rows["identified values match the true values"].ytheta))
    assert found is not None
    assert float(found[1]) < 1e-12
    assert rows["A_i has full rank for most trajectories"].ytheta == "yes, 33 combinations, at most 7 of a joint"
    (plot,) = paper["section_4"].plots
    assert [line.name for line in plot.lines] == ["trajectory 1", "trajectory 2", "trajectory 3"]
    base = yt.base_parameters(yt.load("stanford"), method="lin")
    w = base.combination_matrix @ base.robot.theta
    assert identification.compute_largest_error(base, w) == 0.0
    w[0] *= 1.01  # the twin
    assert identification.compute_largest_error(base, w) > 1e-4


def test_page(paper: PaperReproduction) -> None:
    page = paper_html(paper)
    assert "Table II" in page
    assert "the paper does not say which of its inertia constants are zero" in page


def test_scalars_record_who_needs_them() -> None:
    """Operations that no torque needs are left out on request only."""
    chain = make_general_chain("RRR")
    all_operations = operation_counts.sum_operations(operation_counts.count_recursion_operations(chain))
    needed = operation_counts.sum_operations(operation_counts.count_recursion_operations(chain, needed_only=True))
    assert needed[0] < all_operations[0]
    assert needed[1] < all_operations[1]
