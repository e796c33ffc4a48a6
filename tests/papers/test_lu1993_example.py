"""The formulas of the example: which are right, which are misprints, and that a wrong arm is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ytheta.dynamics.formulations import lagrange, newton_euler
from ytheta.papers.exhibit import Exhibit, PrintedResult, State
from ytheta.papers.lu1993_example import (
    COLUMNS,
    LINK1,
    TwoLinkArm,
    compare_example,
    compare_general_formulas,
    draw_arms,
    evaluate_formula,
)

YES, MISPRINT, NO, OPEN = State

# The formulas that are not right as they stand in the scan; all others agree.
WRONG = {
    "factor behind the matrix of Y_c": "none",
    "(61), first line, row 2": "h12 q̈1 + h22 q̈2",
    "(61), row 1, m2": "l1 (l1 q̈1 + c1 g)",
    "(61), row 1, m3": "(l1² + 2 l1 l2 c2 + l2²) q̈1 + l2 (l1 c2 + l2) q̈2 - l1 l2 s2 q̇2 (2 q̇1 + q̇2) "
    "+ (l1 c1 + l2 c12) g",
    "(61), row 2, m3 px": "(l1 c2 + 2 l2) q̈1 + 2 l2 q̈2 + l1 s2 q̇1² + c12 g",
    "minimum dimension of θ": 4,
    "(63), row 1, m3": "(l1² + 2 l1 l2 c2 + l2²) q̈1 + l2 (l1 c2 + l2) q̈2 - l1 l2 s2 q̇2 (2 q̇1 + q̇2) "
    "+ (l1 c1 + l2 c12) g",
    "(63), row 2, m3 px": "(l1 c2 + 2 l2) q̈1 + 2 l2 q̈2 + l1 s2 q̇1² + c12 g",
    "Π tilde_2, rows 1 and 2": "[0, 0, 0, 0, 0, 0; 0, 0, 0, 0, 0, 0]",
    "Π tilde_2, row 3": "[0, 0, l2 β2, l2 (q̈1 + q̈2) + β2, q̈1 + q̈2, q̈1 + q̈2]",
}
LOST = {"(61), row 1, m3 px"}


@pytest.fixture(scope="module")
def arms() -> list[TwoLinkArm]:
    return draw_arms()


def list_comparisons(exhibits: tuple[Exhibit, ...]) -> list[PrintedResult]:
    return [comparison for exhibit in exhibits for comparison in exhibit.comparisons]


def test_the_formulas_of_the_example(arms: list[TwoLinkArm]) -> None:
    exhibits = compare_example(arms)
    assert [exhibit.key for exhibit in exhibits] == [
        "equation_60",
        "equation_61",
        "equations_62_63",
        "equations_64_65",
        "section_4c",
    ]
    comparisons = list_comparisons(exhibits)
    assert {row.name: row.ytheta for row in comparisons if row.state is MISPRINT} == WRONG
    assert {row.name for row in comparisons if row.state is OPEN} == LOST
    assert sum(row.state is YES for row in comparisons) == 45
    assert {row.state for row in comparisons} == {YES, MISPRINT, OPEN}
    assert all(row.note for row in comparisons if row.state is OPEN)


def test_the_column_of_m3_in_61_is_wrong_whatever_the_scan_has_lost(arms: list[TwoLinkArm]) -> None:
    """The factor of q̈1 is complete in the scan, and it is not that of H_11 (h_11, column of m3)."""
    for arm in arms:
        factor = arm.inertia_columns[0][0, 1]
        assert evaluate_formula("l1² + 2 l1 l2 + l2²", arm.values)[0, 0] != factor
        assert evaluate_formula("l1² + 2 l1 l2 c2 + l2²", arm.values)[0, 0] == factor


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [("l2", {"(63), row 2, m3", "β2", "h_22"}), ("g", {"Y_G", "G", "β1"}), ("qd1", {"Y_c", "W_1, row 1", "π34"})],
)
def test_an_arm_with_another_value_than_the_formulas_is_noticed(
    arms: list[TwoLinkArm], name: str, spoiled: set[str]
) -> None:
    """The results are those of the arm; then a value changes before the formulas are evaluated."""
    others = [TwoLinkArm({**arm.values, name: arm.values[name] + 1}) for arm in arms]
    for other, arm in zip(others, arms, strict=True):
        other.__dict__.update(mechanism=arm.mechanism, motion=arm.motion)
        other.__dict__.update({key: getattr(arm, key) for key in ("inertia_columns", "gravity_part", "velocity_part")})
    disagreeing = {row.name for row in list_comparisons(compare_example(others)) if row.state is NO}
    assert spoiled <= disagreeing


def test_the_recursion_of_the_example_is_the_regressor(arms: list[TwoLinkArm]) -> None:
    """(82), (84), (85) in exact arithmetic against two other formulations; the twin has gravity reversed."""
    for arm in arms:
        rows = np.array([arm.moment_columns(body)[2] for body in (LINK1, LINK1 + 1)])
        assert (rows == arm.recursive_regressor).all()
        for formulation in (lagrange, newton_euler):
            assert (rows == arm.widen(formulation.regressor(arm.mechanism, arm.motion))).all()
            reversed_gravity = replace(arm.mechanism, gravity=-arm.mechanism.gravity)
            wrong = arm.widen(formulation.regressor(reversed_gravity, arm.motion))
            assert not (wrong[:, COLUMNS] == rows[:, COLUMNS]).all()


def test_general_formulas(arms: list[TwoLinkArm]) -> None:
    exhibits = compare_general_formulas(arms)
    assert {row.name: (row.ytheta, row.state) for row in list_comparisons(exhibits[:3])} == {
        "parameters of a link that appear linearly": (10, MISPRINT),
        "y_321": ("(J_ω × g)ᵀ r_1", MISPRINT),
        "H_i of (68)": ("Ω(ω̇) + ω ωᵀ - |ω|² I", MISPRINT),
        "U before (104)": ("ω ωᵀ", MISPRINT),
    }
    (accelerations,) = exhibits[3].comparisons
    assert accelerations.state is YES
    assert float(str(accelerations.ytheta).removeprefix("equal to ")) < 1e-10
