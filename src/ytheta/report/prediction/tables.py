"""Rows of the tables on the page of a prediction: texts, and the numbers by which rows are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.report.log.columns import format_cutoff
from ytheta.report.numbers import NO_VALUE, format_count, format_number, format_percent, get_torque_unit
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from ytheta.identification.predict import Prediction

RAW = "Error against the torque before the low-pass"
USED = (
    "Share of the samples of which these errors are computed; the others are left out, since the joint rests or is slow"
)
VARIATION = "Residual relative to the torque without its mean: so that a large constant torque does not hide errors"


def list_key_numbers(prediction: Prediction) -> Iterator[tuple[str, str, str]]:
    """Yield label, value and explanation of each key number."""
    errors = prediction.errors
    if errors is None:
        yield "torque error", NO_VALUE, "the log has no torques"
    else:
        yield "torque error", format_percent(errors.relative_percent), "relative to the torque"
        yield "against raw torque", format_percent(errors.raw_relative_percent), "before the low-pass"
    seconds = len(prediction.t) / prediction.preparation.rate
    recorded = "" if prediction.recorded is None else f", of {format_count(prediction.recorded.samples)} in the log"
    yield "samples", format_count(len(prediction.t)), f"{format_number(seconds)} s of motion{recorded}"
    yield "low-pass", format_cutoff(prediction.preparation.settings), "cut-off"


def list_joint_headings(prediction: Prediction) -> list[tuple[str, str]]:
    """Return heading and explanation of the columns of ``list_joint_rows``."""
    if prediction.errors is None:
        return [("predicted RMS", ""), ("lowest", ""), ("highest", "")]
    return [
        ("error", ""),
        ("torque RMS", ""),
        ("raw", RAW),
        ("residual RMS", ""),
        ("used", USED),
        ("NRMSE", VARIATION),
    ]


def list_joint_rows(prediction: Prediction) -> Iterator[dict[str, Any]]:
    """Yield the errors of each joint; without measured torques, the size of the predicted torque."""
    errors, predicted = prediction.errors, prediction.predicted
    columns: list[tuple[PerJoint, Callable[[float], str]]]
    if errors is None:
        columns = [
            (np.sqrt(np.mean(predicted**2, axis=0)), format_number),
            (predicted.min(axis=0), format_number),
            (predicted.max(axis=0), format_number),
        ]
    else:
        columns = [
            (errors.per_joint_percent, format_percent),
            (errors.torque_rms, format_number),
            (errors.raw_per_joint_percent, format_percent),
            (errors.rms, format_number),
            (100.0 * errors.used_share, format_percent),
            (errors.of_variation_percent, format_percent),
        ]
    for j, name in enumerate(prediction.robot.actuated):
        cells = [(write(float(values[j])), float(values[j])) for values, write in columns]
        yield {"name": name, "unit": get_torque_unit(prediction.robot, name), "cells": cells}
