"""The example of lu1993 III-C and IV-C: (60)-(65) and the recursion for the arm with two joints, formula by formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit
from ytheta.reproduction.lu1993.example_formulas import (
    CONVENTIONAL,
    EQUATION_61,
    EQUATION_63,
    EQUATION_64,
    JACOBIANS,
    PROPOSED,
    RECURSION,
    Row,
)
from ytheta.reproduction.lu1993.printed_formulas import compare_formula
from ytheta.reproduction.lu1993.two_link_arm import COLUMNS, LOAD, LOAD_COLUMNS, TwoLinkArm

DOTS = (
    "the scan shows one dot over most accelerations; they are read as q̈ where the formula multiplies a column of the "
    "mass matrix."
)
DOTS_AS_ABOVE = "the dots over accelerations, as in (61)."
STRAY_FACTOR = Comparison(
    "factor behind the matrix of Y_c", "q̇", "none", Agreement.NO, "q̇ does not fit the size of the matrix"
)


def compare_example(arms: Sequence[TwoLinkArm]) -> tuple[Exhibit, ...]:
    """Return the exhibits of the example; every formula is compared at all states of ``arms``."""
    states = [_name_values(arm) for arm in arms]

    def compare(rows: Sequence[Row]) -> tuple[Comparison, ...]:
        return tuple(compare_formula(formula, states, [result(arm) for arm in arms]) for formula, result in rows)

    return (
        Exhibit("equation_60", "(60) and other link Jacobians of the example in section III-C", compare(JACOBIANS)),
        Exhibit(
            "equation_61",
            "(61): regressor of the example by the conventional approach",
            (*compare(CONVENTIONAL), STRAY_FACTOR, *compare(EQUATION_61), _compare_dimension(arms)),
            open=DOTS,
        ),
        Exhibit(
            "equations_62_63",
            "(62), (63): regressor of the load by the proposed approach",
            compare((*PROPOSED, *EQUATION_63)),
            open=DOTS_AS_ABOVE,
        ),
        Exhibit(
            "equations_64_65",
            "(64), (65): regressor of the links",
            compare(EQUATION_64),
            open=DOTS_AS_ABOVE,
        ),
        Exhibit(
            "section_4c",
            "Section IV-C: the example by the iterative algorithm",
            (*compare(RECURSION), _compare_regressors(arms)),
            open=DOTS_AS_ABOVE,
        ),
    )


def _name_values(arm: TwoLinkArm) -> dict[str, Any]:
    """Return the values of the names in formulas, including the β's and h's that the paper defines."""
    import sympy

    beta = arm.force_columns(LOAD)[:2, LOAD_COLUMNS[0]]
    first, second = arm.inertia_columns
    rows = {"h11": first[0], "h12": first[1], "h22": second[1]}
    return {
        **arm.values,
        "β1": beta[0],
        "β2": beta[1],
        **{name: sympy.Matrix([list(row)]) for name, row in rows.items()},
    }


def _compare_regressors(arms: Sequence[TwoLinkArm]) -> Comparison:
    identical = all((arm.recursive_regressor == arm.regressor).all() for arm in arms)
    return Comparison(
        "Y is identical to (65)",
        "yes",
        "yes" if identical else "no",
        Agreement.of(identical),
        "with (63) as corrected above",
    )


def _compare_dimension(arms: Sequence[TwoLinkArm]) -> Comparison:
    import sympy

    rank = sympy.Matrix(np.concatenate([arm.regressor[:, COLUMNS] for arm in arms]).tolist()).rank()
    return Comparison(
        "minimum dimension of θ",
        5,
        rank,
        Agreement.of(rank == 5),
        "m3 px² and Izz have the same column, so that their sum is enough; with known lengths, the column of m3 is a "
        "combination of the others, too",
    )
