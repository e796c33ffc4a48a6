"""(55)-(61) of ha1989: the regrouped Lagrangian of the SCARA arm, formula by formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ytheta.identifiability.ha import regroup_lagrangian
from ytheta.identifiability.regrouping import Form, Regrouping
from ytheta.reproduction.exhibit import Agreement, Comparison, Exhibit, compare_printed
from ytheta.reproduction.ha1989.printed_model import JOINTS, SYMMETRIC, make_gravity, make_printed_model
from ytheta.robot.reading.load import load

PRINTED_COUNTS = (1, 3, 1, 1)  # (55)
BOUNDARY = ", from t0 to t"
INCOMPLETE = {"U22": "the scan breaks off after the third entry; the last two are read as in U11 and U33"}
READ_AS = {f"U33{BOUNDARY}": "the scan has q̇3 twice; the second is read as q3, as in U11, U22 and U44"}


@cache
def regroup_scara() -> Regrouping:
    """Return the regrouped Lagrangian of the arm, with the symmetry of its links."""
    return regroup_lagrangian(load("ha-scara"), zero=SYMMETRIC)


def compare_model() -> tuple[Exhibit, ...]:
    """Return the exhibits of (55), (57), (58), (59)-(60) and (61)."""
    scara, printed = regroup_scara(), make_printed_model()
    return (
        Exhibit("equation_55", "(55): number of model parameters", tuple(_compare_counts(scara))),
        Exhibit("equation_57", "(57): functions of the motion", tuple(_compare_formulas("F", printed.F, scara.F))),
        Exhibit(
            "equation_58",
            "(58): combinations of lengths and inertial parameters",
            tuple(_compare_formulas("X", printed.X, scara.X)),
        ),
        Exhibit(
            "equations_59_60",
            "(59), (60): the differential form",
            tuple(_compare_blocks(scara, printed.U, "differential")),
        ),
        Exhibit(
            "equation_61",
            "(61): the integral form",
            (
                *_compare_blocks(scara, printed.boundary, "boundary", BOUNDARY),
                *_compare_blocks(scara, printed.integrand, "integrand", ", integrated"),
            ),
        ),
    )


def _compare_counts(scara: Regrouping) -> Iterator[Comparison]:
    for i, count, printed in zip(JOINTS, scara.counts, PRINTED_COUNTS, strict=True):
        yield compare_printed(f"p{i}", str(printed), count)
    yield compare_printed("p", "14", scara.p)
    yield compare_printed("terms of L before regrouping", "25", sum(scara.terms))
    yield compare_printed("terms of L after regrouping", "6", sum(scara.counts))


def _compare_formulas(letter: str, printed: Sequence[Any], found: Sequence[Any]) -> Iterator[Comparison]:
    for i, rows in enumerate(zip(printed, found, strict=True), start=1):
        for k, (expected, formula) in enumerate(zip(*rows, strict=True), start=1):
            yield _compare_formula(f"{letter}{i}{k}", expected, formula)


def _compare_blocks(scara: Regrouping, printed: Sequence[Any], form: Form, where: str = "") -> Iterator[Comparison]:
    """Compare the blocks U_ij of the upper triangle, and all blocks below it together."""
    U = scara.make_expressions(form)
    starts = scara.starts
    for i in range(len(JOINTS)):
        for j in range(i, len(JOINTS)):
            columns = range(starts[j], starts[j + 1])
            expected, found = ([row[k] for k in columns] for row in (printed[i], U[i]))
            if any(expected) or any(found):
                yield _compare_formula(f"U{i + 1}{j + 1}{where}", expected, found)
    below = [U[i, k] for i in range(len(JOINTS)) for k in range(starts[i])]
    yield Comparison(
        f"blocks below the diagonal{where}", "0", "0" if not any(below) else "not 0", Agreement.of(not any(below))
    )


def _compare_formula(name: str, expected: Any, found: Any) -> Comparison:
    """Compare expressions, or rows of them, up to the order of sums and factors; g of the print has its value here."""
    import sympy

    symbol, value = make_gravity()
    pairs = list(zip(sympy.flatten([expected]), sympy.flatten([found]), strict=True))
    agrees = all(sympy.expand(sympy.sympify(a).subs(symbol, value) - b) == 0 for a, b in pairs)
    has_gravity = any(sympy.sympify(a).has(symbol) for a, _ in pairs)
    notes = (INCOMPLETE.get(name), READ_AS.get(name), f"g = {float(value)} m/s²" if has_gravity else None)
    agreement = Agreement.OPEN if agrees and name in INCOMPLETE else Agreement.of(agrees)
    return Comparison(name, _format(expected), _format(found), agreement, ". ".join(filter(None, notes)))


def _format(formula: Any) -> str:
    text = f"[{', '.join(map(str, formula))}]" if isinstance(formula, list) else str(formula)
    return text.replace("**", "^").replace("*", "·").replace("sign(", "sgn(")
