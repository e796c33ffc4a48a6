"""Base parameters as plain data: the output of ``ytheta base --json``."""

from __future__ import annotations

from typing import Any

from ytheta.identifiability.base_parameters import BaseParameters


def summarize_base_parameters(base: BaseParameters) -> dict[str, Any]:
    """Return names, expressions and values; values are those of the description, or None if a length is not set."""
    values = base.beta.tolist() if not base.robot.unset_lengths else [None] * len(base)
    return {
        "name": base.robot.name,
        "count": len(base),
        "method": base.method,
        "standard_parameters": len(base.selected),
        "parameters": [
            {"name": name, "expression": expression, "value": value}
            for name, expression, value in zip(base.names, base.expressions, values, strict=True)
        ],
        "verdicts": {name: verdict.value for name, verdict in base.identifiability.items()},
        "gap": list(base.gap) if base.gap else None,
        "findings": [finding.data for finding in base.findings],
    }
