"""A designed trajectory as plain data: the output of ``ytheta excite --json``, also embedded in the page.

``condition_number`` and ``scaled_condition_number`` belong to the columns that ``columns`` describes. ``seconds`` is
the duration of the motion. ``violations`` lists the limits that the motion exceeds; it is empty if it exceeds none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ytheta
from ytheta.report.numbers import parameter_unit, replace_nonfinite

if TYPE_CHECKING:
    from ytheta.excitation.limit_check import LimitUse
    from ytheta.excitation.result import Excitation, SearchStatistics


def summarize_excitation(excitation: Excitation) -> dict[str, Any]:
    """Return the result of a design; infinite and undefined numbers become None."""
    trajectory, bounds, design = excitation.trajectory, excitation.bounds, excitation.design
    relative = excitation.relative_to_d_optimal
    limits = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
    data = {
        "ytheta": ytheta.__version__,
        "robot": excitation.robot.name,
        "condition_number": float(excitation.condition_number),
        "scaled_condition_number": float(excitation.scaled_condition_number),
        "columns": excitation.columns,
        "seconds": float(excitation.seconds),
        "violations": [_summarize_use(use) for use in excitation.violations],
        "criterion": None if design is None else design.criterion,
        "value": None if design is None else float(design.value),
        "slow": float(excitation.slow),
        "parametrisation": trajectory.basis.name,
        "coefficients_per_joint": trajectory.basis.size,
        "base_frequency": float(trajectory.base_frequency),
        "periods": trajectory.periods,
        "start": dict(zip(trajectory.joints, trajectory.start.tolist(), strict=True)),
        "slowed": [
            {
                "speed": float(each.speed),
                "condition_number": float(each.condition_number),
                "scaled_condition_number": float(each.scaled_condition_number),
            }
            for each in excitation.slowed
        ],
        "relative_to_d_optimal": None if relative is None else {"mean": relative.mean, "worst": relative.worst},
        "rate": float(excitation.rate),
        "joints": [
            {"name": name, "noise": float(excitation.noise[k])}
            | {key: float(getattr(bounds, key)[k]) for key in limits}
            for k, name in enumerate(bounds.joints)
        ],
        "parameters": _summarize_parameters(excitation),
        "limits": [_summarize_use(use) for use in excitation.uses],
        "search": None if design is None else _summarize_search(design.statistics),
        "findings": [finding.data for finding in excitation.findings],
    }
    return {key: replace_nonfinite(value) for key, value in data.items()}


def _summarize_search(search: SearchStatistics) -> dict[str, Any]:
    return {
        "ending": str(search.ending),
        "starts": search.starts,
        "feasible": search.feasible,
        "polished": search.polished,
        "evaluations": search.evaluations,
        "seconds": search.seconds,
        "first_seconds": search.first_seconds,
    }


def _summarize_parameters(excitation: Excitation) -> list[dict[str, Any]]:
    base, sliding = excitation.base, excitation.robot.prismatic_joints
    before = [None] * len(base) if excitation.std_before is None else excitation.std_before.tolist()
    percent = np.where(base.beta != 0.0, excitation.relative_std_percent, np.nan).tolist()
    columns = (
        base.names,
        base.beta.tolist(),
        excitation.std.tolist(),
        percent,
        before,
    )
    keys = ("name", "value", "std", "std_percent", "std_before")
    return [
        dict(zip(keys, row, strict=True)) | {"unit": parameter_unit(independent, sliding)}
        for independent, *row in zip(base.independent, *columns, strict=True)
    ]


def _summarize_use(use: LimitUse) -> dict[str, Any]:
    return {
        "quantity": use.quantity,
        "name": use.name,
        "value": float(use.value),
        "limit": float(use.limit),
        "share": float(use.share),
        "t": float(use.time),
        "violated": use.violated,
    }
