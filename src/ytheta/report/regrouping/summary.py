"""A regrouped Lagrangian as plain data: the output of ``ytheta base --json`` for a robot with unknown lengths."""

from __future__ import annotations

from typing import Any

from ytheta.identifiability.regrouping import Regrouping


def summarize_regrouping(regrouping: Regrouping) -> dict[str, Any]:
    """Return names, combinations X and functions F; values are None if a length or an angle is not set."""
    known = not regrouping.robot.unset_symbols
    rows = zip(regrouping.names, regrouping.expressions, regrouping.function_texts, regrouping.beta, strict=True)
    return {
        "name": regrouping.robot.name,
        "count": len(regrouping),
        "method": regrouping.method,
        "unknown_lengths": list(regrouping.ring.lengths),
        "unknown_angles": list(regrouping.ring.angles),
        "standard_parameters": len(regrouping.selected),
        "terms": sum(regrouping.terms),
        "counts": list(regrouping.counts),
        "parameters": [
            {"name": name, "expression": expression, "F": function, "value": value if known or not function else None}
            for name, expression, function, value in rows
        ],
        "verdicts": {name: verdict.value for name, verdict in regrouping.identifiability.items()},
        "findings": [finding.data for finding in regrouping.findings],
    }
