"""Rows of the tables on the page of a comparison: texts, and the numbers by which rows are sorted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.report.numbers import (
    NO_VALUE,
    format_beside,
    format_number,
    format_percent,
    format_with_std,
    parameter_unit,
)
from ytheta.report.terminal import list_names
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from ytheta.comparison.compare import Comparison, ParameterComparison

MAX_NAMES = 8
MAX_SHOWN_CHANGES = 8  # parameters whose change is drawn; as many as there are colours
BODIES_NOTE = (
    "friction is that of the bodies in the model files, the physically consistent ones nearest to the estimate; it may "
    "differ a little from the base parameters, which are the estimate"
)
USED_NOTE = (
    "share of the samples of which the errors are computed; they leave out those at which a joint rests or is slow"
)


def describe_differences(comparison: Comparison) -> str:
    """Return in one sentence without a full stop which parameters differ."""
    names = [row.name for row in comparison.notable]
    if not names:
        return "no parameter differs by more than 3 standard deviations"
    subject = f"{len(names)} parameters differ" if len(names) > 1 else "1 parameter differs"
    return f"{subject} by more than 3 standard deviations: {list_names(names, MAX_NAMES)}"


def list_changes(comparison: Comparison) -> list[ParameterComparison]:
    """Return the parameters whose change from model to model is drawn: those that differ most."""
    return sorted(comparison.parameters, key=lambda row: -row.largest_difference)[:MAX_SHOWN_CHANGES]


def list_models(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield label, verdict and logs of each model."""
    for label, model in zip(comparison.labels, comparison.models, strict=True):
        logs = ", ".join(Path(str(log)).name or "log" for log in model.table.get("logs", ()))
        yield label, str(model.table.get("verdict", "unknown")), logs


def name_log(comparison: Comparison) -> str:
    """Return the file name of the log whose torques are compared."""
    return Path(comparison.predictions[0].source).name or "a log"


def list_parameter_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield value, standard deviation and difference of each parameter; those that differ most first."""
    sliding = comparison.models[0].robot.prismatic_joints
    for row in sorted(comparison.parameters, key=lambda row: -row.largest_difference):
        cells: list[tuple[str, float]] = []
        for k, (value, std, difference) in enumerate(zip(row.values, row.std, row.differences, strict=True)):
            if value is None or std is None:
                cells.append((NO_VALUE, np.nan))
            else:
                cells.append((f"{format_with_std(value, std)} ± {format_number(std, 2)}", value))
            if k:
                cells.append(_make_cell(difference, 2))
        yield {"name": row.name, "unit": parameter_unit(row.name.rstrip("*"), sliding), "cells": cells}


def list_friction_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the friction parameters of each joint in each model."""
    sliding, scales = comparison.models[0].robot.prismatic_joints, find_friction_scales(comparison)
    for row in comparison.friction:
        unit = parameter_unit(f"{row.joint}.{FRICTION_PARAMETERS[row.kind]}", sliding)
        cells = [_make_cell(each, 3, scales[row.kind]) for each in row.values]
        yield {"name": f"{row.joint}, {row.kind}", "unit": unit, "cells": cells}


def find_friction_scales(comparison: Comparison) -> dict[str, float]:
    """Return the largest magnitude of each kind of friction, beside which values of a solver may be negligible."""
    scales: dict[str, float] = {}
    for row in comparison.friction:
        known = [abs(value) for value in row.values if value is not None]
        scales[row.kind] = max([scales.get(row.kind, 0.0), *known])
    return scales


def list_used_shares(comparison: Comparison) -> list[tuple[str, PerJoint]]:
    """Return heading and share of the samples of which the errors of each joint are computed.

    There is one entry for all models or, if they leave out different samples, one for each; none if none is left out.
    """
    shares = [
        (label, prediction.errors.used_share)
        for label, prediction in zip(comparison.labels, comparison.predictions, strict=False)
        if prediction.errors is not None
    ]
    if all((share == 1.0).all() for _, share in shares):
        return []
    if all(np.array_equal(share, shares[0][1]) for _, share in shares):
        return [("used", shares[0][1])]
    return [(f"used of {label}", share) for label, share in shares]


def list_joint_errors(errors: TorqueErrors) -> list[float]:
    """Return the relative error of each joint in percent, NaN if all its samples are left out; the last is of all."""
    percents = np.where(errors.counts > 0.0, errors.per_joint_percent, np.nan)
    return [*percents.tolist(), errors.relative_percent]


def list_torque_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield the error of each joint in each model, and the difference from the first model; the last row is all.

    The last cells are those of ``list_used_shares``.
    """
    robot = comparison.models[0].robot
    for j, name in enumerate((*robot.actuated, "all joints")):
        cells: list[tuple[str, float]] = []
        is_total = j == len(robot.actuated)
        for k, prediction in enumerate(comparison.predictions):
            if prediction.errors is not None:
                error = list_joint_errors(prediction.errors)[j]
                cells.append((format_percent(error), error))
            if k:
                rms = None if is_total else float(comparison.torque_differences[k][j])
                cells.append(_make_cell(rms, 3))
        for _, shares in list_used_shares(comparison):
            share = np.nan if is_total else 100.0 * float(shares[j])
            cells.append((format_percent(share), share))
        unit = "" if is_total else parameter_unit(f"{name}.fc", robot.prismatic_joints)
        yield {"name": name, "unit": unit, "cells": cells}


def _make_cell(value: float | None, digits: int, scale: float = 0.0) -> tuple[str, float]:
    return (NO_VALUE, np.nan) if value is None else (format_beside(value, scale, digits), value)
