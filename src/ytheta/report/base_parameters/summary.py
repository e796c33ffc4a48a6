"""Base parameters as plain data: the output of ``ytheta base --json``."""

from __future__ import annotations

from typing import Any

from ytheta.identifiability.base_parameters import BaseParameters


def summarize_base_parameters(base: BaseParameters) -> dict[str, Any]:
    """Return names, expressions and values; values are those of the description, or None if a length is not set.

    ``combinations`` are those of Theorem 2 of Lin 1995, if the method is lin; else the list is empty.
    """
    known = not base.robot.unset_lengths
    values = base.beta.tolist() if known else [None] * len(base)
    combination_values = (
        (base.combination_matrix @ base.robot.theta).tolist() if known else [None] * len(base.combinations)
    )
    return {
        "name": base.robot.name,
        "count": len(base),
        "method": base.method,
        "standard_parameters": len(base.selected),
        "parameters": [
            {"name": name, "expression": expression, "value": value}
            for name, expression, value in zip(base.names, base.expressions, values, strict=True)
        ],
        "combinations": [
            {"name": each.name, "item": each.item, "expression": each.expression, "value": value}
            for each, value in zip(base.combinations, combination_values, strict=True)
        ],
        "verdicts": {name: verdict.value for name, verdict in base.identifiability.items()},
        "gap": list(base.gap) if base.gap else None,
        "findings": [finding.data for finding in base.findings],
    }
