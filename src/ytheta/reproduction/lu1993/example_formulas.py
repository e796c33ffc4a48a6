"""The printed formulas of the example in lu1993 III-C and IV-C, each with the result of ytheta to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.sixteen import SIXTEEN_PARAMETERS
from ytheta.reproduction.lu1993.printed_formulas import Formula
from ytheta.reproduction.lu1993.two_link_arm import COLUMNS, LINK1, LINK2, LOAD, LOAD_COLUMNS, SIXTEEN, TwoLinkArm

Result: TypeAlias = Callable[[TwoLinkArm], np.ndarray]
Row: TypeAlias = tuple[Formula, Result]

C2_MISSING = "c2 is missing behind 2 l1 l2, unlike in h_11 and W_1"
SQUARED = "l2 is squared, unlike in h_22 and W_1"
LOST = "the scan has lost a line of this entry; (63) has it"
INERTIA = [SIXTEEN * LOAD + SIXTEEN_PARAMETERS.index(name) for name in ("Ixx", "Iyy", "Izz")]
SIX_COLUMNS = [SIXTEEN * LINK1, *COLUMNS]  # with m1, as in the matrices of section IV-C


def _rows(result: Callable[[TwoLinkArm], np.ndarray], rows: slice, columns: Any = slice(None)) -> Result:
    return lambda arm: result(arm)[rows][:, columns]


def _entry(result: Callable[[TwoLinkArm], np.ndarray], row: int, column: int) -> Result:
    return lambda arm: result(arm)[row : row + 1, column : column + 1]


def _times_theta(columns: Callable[[TwoLinkArm], np.ndarray]) -> Result:
    return lambda arm: (columns(arm) @ arm.theta)[:, None]


ALL, POSITION, ROTATION = slice(None), slice(0, 3), slice(3, 6)

JACOBIANS: tuple[Row, ...] = (
    (Formula("J_v(1)", "0, 0; 0, 0; 0, 0"), _rows(lambda arm: arm.jacobian("link1"), POSITION)),
    (Formula("J_v(2)", "-l1 s1, 0; l1 c1, 0; 0, 0"), _rows(lambda arm: arm.jacobian("link2"), POSITION)),
    (
        Formula(
            "J_v of the load's centre, x and y",
            "-l1 s1 - (l2 + px) s12, -(l2 + px) s12; l1 c1 + (l2 + px) c12, (l2 + px) c12",
        ),
        _rows(lambda arm: arm.center_jacobian, slice(0, 2)),
    ),
    (Formula("J_ω(3)", "0, 0; 0, 0; 1, 1"), _rows(lambda arm: arm.jacobian("load"), ROTATION)),
    (
        Formula("J_v of the load's frame", "-l1 s1 - l2 s12, -l2 s12; l1 c1 + l2 c12, l2 c12; 0, 0"),
        _rows(lambda arm: arm.jacobian("load"), POSITION),
    ),
)


def _mass_matrix_entry(row: int, column: int) -> Result:
    return _rows(_times_theta(lambda arm: arm.inertia_columns[column]), slice(row, row + 1))


CONVENTIONAL: tuple[Row, ...] = (
    (
        Formula("H_11", "l1² m2 + (l1² + (l2 + px)² + 2 l1 (l2 + px) c2) m3 + Izz"),
        _mass_matrix_entry(0, 0),
    ),
    (Formula("H_12", "((l2 + px)² + l1 (l2 + px) c2) m3 + Izz"), _mass_matrix_entry(0, 1)),
    (Formula("H_22", "(l2 + px)² m3 + Izz"), _mass_matrix_entry(1, 1)),
    (
        Formula("C q̇", "-l1 (l2 + px) s2 m3 q̇2 (2 q̇1 + q̇2); l1 (l2 + px) s2 m3 q̇1²"),
        _times_theta(lambda arm: arm.velocity_part),
    ),
    (
        Formula("G", "(m2 + m3) l1 g c1 + m3 g (l2 + px) c12; m3 g (l2 + px) c12"),
        _times_theta(lambda arm: arm.gravity_part),
    ),
    (
        Formula("h_11", "l1², l1² + 2 l1 l2 c2 + l2², 2 (l1 c2 + l2), 1, 1"),
        _rows(lambda arm: arm.inertia_columns[0], slice(0, 1)),
    ),
    (
        Formula("h_12", "0, l2² + l1 l2 c2, l1 c2 + 2 l2, 1, 1"),
        _rows(lambda arm: arm.inertia_columns[0], slice(1, 2)),
    ),
    (Formula("h_22", "0, l2², 2 l2, 1, 1"), _rows(lambda arm: arm.inertia_columns[1], slice(1, 2))),
    (
        Formula(
            "Y_c",
            "0, -l1 l2 s2 q̇2 (2 q̇1 + q̇2), -l1 s2 q̇2 (2 q̇1 + q̇2), 0, 0; 0, l1 l2 s2 q̇1², l1 s2 q̇1², 0, 0",
        ),
        lambda arm: arm.velocity_part,
    ),
    (
        Formula("Y_G", "l1 c1 g, (l1 c1 + l2 c12) g, c12 g, 0, 0; 0, l2 c12 g, c12 g, 0, 0"),
        lambda arm: arm.gravity_part,
    ),
)
# The entries that (61) and (63) have in common; the columns are those of m3, m3 px, m3 px² and Izz.
ROW_1_M3 = "(l1² + 2 l1 l2 c2 + l2²) q̈1 + l2 (l1 c2 + l2) q̈2 - l1 l2 s2 q̇2 (2 q̇1 + q̇2) + (l1 c1 + l2 c12) g"
ROW_1_M3_PX = "2 (l1 c2 + l2) q̈1 + (l1 c2 + 2 l2) q̈2 - l1 s2 q̇2 (2 q̇1 + q̇2) + c12 g"
ROW_2_M3 = "l2 (l1 c2 + l2) q̈1 + l2² q̈2 + l1 l2 s2 q̇1² + l2 c12 g"
ROW_2_M3_PX = "(l1 c2 + 2 l2) q̈1 + 2 l2 q̈2 + l1 s2 q̇1² + c12 g"


def _regressor(arm: TwoLinkArm) -> np.ndarray:
    return arm.regressor[:, COLUMNS]


def _load_regressor(arm: TwoLinkArm) -> np.ndarray:
    return arm.regressor[:, LOAD_COLUMNS]


EQUATION_61: tuple[Row, ...] = (
    (
        Formula("(61), first line, row 1", "h11 q̈1 + h12 q̈2"),
        _rows(lambda arm: arm.inertial_part, slice(0, 1)),
    ),
    (
        Formula("(61), first line, row 2", "h12 q̈1 + h11 q̈2", "h12 q̈1 + h22 q̈2", "h_11 instead of h_22"),
        _rows(lambda arm: arm.inertial_part, slice(1, 2)),
    ),
    (
        Formula("(61), row 1, m2", "l1 (q̈1 + c1 g)", "l1 (l1 q̈1 + c1 g)", "l1 is missing before q̈1, unlike in (64)"),
        _entry(_regressor, 0, 0),
    ),
    (
        Formula(
            "(61), row 1, m3",
            "(l1² + 2 l1 l2 + l2²) q̈1 - l1 l2 s2 q̇2 (2 q̇1 + q̇2) + (l1 c1 + l2 c12) g",
            ROW_1_M3,
            LOST,
            lost=True,
        ),
        _entry(_regressor, 0, 1),
    ),
    (
        Formula("(61), row 1, m3 px", "2 (l1 c2 + l2) q̈1 + (l1 c2 + 2 l2) q̈2 + c12 g", ROW_1_M3_PX, LOST, lost=True),
        _entry(_regressor, 0, 2),
    ),
    (Formula("(61), row 2, m2", "0"), _entry(_regressor, 1, 0)),
    (Formula("(61), row 2, m3", ROW_2_M3), _entry(_regressor, 1, 1)),
    (
        Formula("(61), row 2, m3 px", "(l1 c2 + 2 l2) q̈1 + 2 l2² q̈2 + l1 s2 q̇1² + c12 g", ROW_2_M3_PX, SQUARED),
        _entry(_regressor, 1, 2),
    ),
    (
        Formula("(61), m3 px² and Izz", "q̈1 + q̈2, q̈1 + q̈2; q̈1 + q̈2, q̈1 + q̈2"),
        _rows(_regressor, ALL, slice(3, 5)),
    ),
)

PROPOSED: tuple[Row, ...] = (
    (
        Formula(
            "W_1, row 1",
            "(l1² + l2² + 2 l1 l2 c2) q̇1 + (l2² + l1 l2 c2) q̇2, 2 (l1 c2 + l2) q̇1 + (l1 c2 + 2 l2) q̇2, q̇1 + q̇2",
        ),
        _rows(lambda arm: arm.momentum, slice(0, 1), LOAD_COLUMNS[:3]),
    ),
    (
        Formula("W_1, row 2", "(l2² + l1 l2 c2) q̇1 + l2² q̇2, (l1 c2 + 2 l2) q̇1 + 2 l2 q̇2, q̇1 + q̇2"),
        _rows(lambda arm: arm.momentum, slice(1, 2), LOAD_COLUMNS[:3]),
    ),
    (Formula("W_2", "0, 0, q̇1 + q̇2; 0, 0, q̇1 + q̇2"), _rows(lambda arm: arm.momentum, ALL, INERTIA)),
    (
        Formula("Y_11 + Y_31", "(l1 c1 + l2 c12) g; l1 l2 s2 q̇1 (q̇1 + q̇2) + l2 c12 g"),
        _rows(lambda arm: arm.remainder, ALL, LOAD_COLUMNS[:1]),
    ),
    (
        Formula("y_121 + y_321", "c12 g; l1 s2 q̇1 (q̇1 + q̇2) + c12 g"),
        _rows(lambda arm: arm.remainder, ALL, LOAD_COLUMNS[1:2]),
    ),
    (Formula("y_141", "0; 0"), _rows(lambda arm: arm.remainder, ALL, LOAD_COLUMNS[2:3])),
    (Formula("Y_2", "0, 0, 0; 0, 0, 0"), _rows(lambda arm: arm.remainder, ALL, INERTIA)),
    (
        Formula("(62): columns of Ixx and Iyy, left out", "0, 0; 0, 0"),
        _rows(lambda arm: arm.regressor, ALL, INERTIA[:2]),
    ),
)
EQUATION_63: tuple[Row, ...] = (
    (
        Formula("(63), row 1, m3", ROW_1_M3.replace("2 l1 l2 c2", "2 l1 l2"), ROW_1_M3, C2_MISSING),
        _entry(_load_regressor, 0, 0),
    ),
    (Formula("(63), row 1, m3 px", ROW_1_M3_PX), _entry(_load_regressor, 0, 1)),
    (Formula("(63), row 2, m3", ROW_2_M3), _entry(_load_regressor, 1, 0)),
    (
        Formula("(63), row 2, m3 px", "(l1 c2 + 2 l2) q̈1 + 2 l2² q̈2 + l1 s2 q̇1² + c12 g", ROW_2_M3_PX, SQUARED),
        _entry(_load_regressor, 1, 1),
    ),
    (
        Formula("(63), m3 px² and Izz", "q̈1 + q̈2, q̈1 + q̈2; q̈1 + q̈2, q̈1 + q̈2"),
        _rows(_load_regressor, ALL, slice(2, 4)),
    ),
)
EQUATION_64: tuple[Row, ...] = (
    (Formula("Y(1)", "0; 0"), _rows(lambda arm: arm.regressor, ALL, [SIXTEEN * LINK1])),
    (Formula("Y(2)", "l1² q̈1 + l1 c1 g; 0"), _rows(lambda arm: arm.regressor, ALL, [SIXTEEN * LINK2])),
)

RECURSION: tuple[Row, ...] = (
    (
        Formula("β1", "l1 s2 q̈1 - l1 c2 q̇1² + s12 g - l2 (q̇1 + q̇2)²"),
        _entry(lambda arm: arm.force_columns(LOAD), 0, LOAD_COLUMNS[0]),
    ),
    (
        Formula("β2", "l1 c2 q̈1 + l1 s2 q̇1² + c12 g + l2 (q̈1 + q̈2)"),
        _entry(lambda arm: arm.force_columns(LOAD), 1, LOAD_COLUMNS[0]),
    ),
    (
        Formula(
            "A_3",
            "β1, -(q̇1 + q̇2)², -(q̈1 + q̈2), 0; β2, q̈1 + q̈2, -(q̇1 + q̇2)², 0; 0, 0, 0, 0",
        ),
        _rows(lambda arm: arm.force_columns(LOAD), ALL, slice(SIXTEEN * LOAD, SIXTEEN * LOAD + 4)),
    ),
    (Formula("E_3", "0; 0; q̈1 + q̈2"), _rows(lambda arm: arm.moment_columns(LOAD), ALL, LOAD_COLUMNS[3:])),
    (
        Formula("Φ_3, columns 1 and 4", "0, 0; 0, 0; β2, q̈1 + q̈2"),
        _rows(lambda arm: arm.moment_columns(LOAD), ALL, LOAD_COLUMNS[1:3]),
    ),
    (
        Formula("A tilde_3", "0, 0, β1, -(q̇1 + q̇2)², 0, 0; 0, 0, β2, q̈1 + q̈2, 0, 0; 0, 0, 0, 0, 0, 0"),
        _rows(lambda arm: arm.force_columns(LOAD), ALL, SIX_COLUMNS),
    ),
    (
        Formula("Π tilde_3", "0, 0, 0, 0, 0, 0; 0, 0, 0, 0, 0, 0; 0, 0, 0, β2, q̈1 + q̈2, q̈1 + q̈2"),
        _rows(lambda arm: arm.moment_columns(LOAD), ALL, SIX_COLUMNS),
    ),
    (
        Formula(
            "Π tilde_2, rows 1 and 2",
            "0, 0, 0, 0, 0, 0; 0, 0, 0, -(q̈1 + q̈2), 0, 0",
            "0, 0, 0, 0, 0, 0; 0, 0, 0, 0, 0, 0",
            "it does not enter Y",
        ),
        _rows(lambda arm: arm.moment_columns(LINK2), slice(0, 2), SIX_COLUMNS),
    ),
    (
        Formula(
            "Π tilde_2, row 3",
            "0, 0, l2 β2, l2 (q̈1 + q̈2), q̈1 + q̈2, q̈1 + q̈2",
            "0, 0, l2 β2, l2 (q̈1 + q̈2) + β2, q̈1 + q̈2, q̈1 + q̈2",
            "β2 is missing, unlike in row 2 of Y",
        ),
        _rows(lambda arm: arm.moment_columns(LINK2), slice(2, 3), SIX_COLUMNS),
    ),
    (Formula("π32", "l1² q̈1 + l1 c1 g"), _entry(lambda arm: arm.moment_columns(LINK1), 2, COLUMNS[0])),
    (
        Formula("π33", "l1 (s2 β1 + c2 β2) + l2 β2"),
        _entry(lambda arm: arm.moment_columns(LINK1), 2, COLUMNS[1]),
    ),
    (
        Formula("π34", "(l2 + l1 c2) (q̈1 + q̈2) - l1 s2 (q̇1 + q̇2)² + β2"),
        _entry(lambda arm: arm.moment_columns(LINK1), 2, COLUMNS[2]),
    ),
    (
        Formula(
            "Y, row 1",
            "l1² q̈1 + l1 c1 g, l1 (s2 β1 + c2 β2) + l2 β2, "
            "(l2 + l1 c2) (q̈1 + q̈2) - l1 s2 (q̇1 + q̇2)² + β2, q̈1 + q̈2, q̈1 + q̈2",
        ),
        _rows(lambda arm: arm.recursive_regressor[:, COLUMNS], slice(0, 1)),
    ),
    (
        Formula("Y, row 2", "0, l2 β2, l2 (q̈1 + q̈2) + β2, q̈1 + q̈2, q̈1 + q̈2"),
        _rows(lambda arm: arm.recursive_regressor[:, COLUMNS], slice(1, 2)),
    ),
)
