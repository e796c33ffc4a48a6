"""Before and after in words and numbers: torque errors of the description and of the identified model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ytheta.report.identification.statistics import describe_validation_motion
from ytheta.report.numbers import format_number, format_percent, format_plain

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

MIN_CHANGE = 1.05  # ratio of two errors; closer ones are called equal


@dataclass(frozen=True)
class ErrorBar:
    """Errors of one joint, as text and as widths of bars in percent of the widest bar."""

    joint: str
    before: str
    after: str
    before_width: float
    after_width: float
    change: str


def describe_change(ratio: float) -> str:
    """Return how many times smaller or larger an error became."""
    if math.isnan(ratio):
        return "not comparable"
    if math.isinf(ratio):
        return "no error is left"
    if 1.0 / MIN_CHANGE < ratio < MIN_CHANGE:
        return "about the same"
    return f"{_format_ratio(ratio)} times smaller" if ratio > 1.0 else f"{_format_ratio(1.0 / ratio)} times larger"


def describe_logs(identification: Identification) -> str:
    """Return on which logs the errors were computed."""
    if identification.validation is None:
        return "the logs of the fit, since there is no validation log"
    return f"the validation logs ({describe_validation_motion(identification)})"


def describe_before_after(identification: Identification) -> str:
    """Return the headline in one sentence without a full stop; empty if the description does not predict torques."""
    pair = identification.before_after
    if pair is None:
        return ""
    friction = "" if pair.has_friction else ", which has no friction"
    return (
        f"before → after: torque error {format_percent(pair.before.relative_percent)} with the description{friction} → "
        f"{format_percent(pair.after.relative_percent)} with the identified model: {describe_change(pair.ratio)}, on "
        f"{describe_logs(identification)}"
    )


def list_error_bars(identification: Identification) -> Iterator[ErrorBar]:
    """Yield the errors of each joint before and after; none if the description does not predict torques."""
    pair = identification.before_after
    if pair is None:
        return
    before, after = pair.before.per_joint_percent.tolist(), pair.after.per_joint_percent.tolist()
    widest = max((value for value in (*before, *after) if math.isfinite(value)), default=0.0) or 1.0
    names = identification.base.robot.actuated
    for name, first, second, ratio in zip(names, before, after, pair.joint_ratios.tolist(), strict=True):
        yield ErrorBar(
            name,
            format_percent(first),
            format_percent(second),
            100.0 * min(first / widest, 1.0) if math.isfinite(first) else 100.0,
            100.0 * min(second / widest, 1.0) if math.isfinite(second) else 100.0,
            describe_change(ratio),
        )


def summarize_before_after(identification: Identification) -> dict[str, Any] | None:
    """Return the errors before and after as plain data; None if the description does not predict torques."""
    pair = identification.before_after
    if pair is None:
        return None
    return {
        "logs": "validation" if pair.is_validation else "fit",
        "description_has_friction": pair.has_friction,
        "before": {
            "relative_error_percent": pair.before.relative_percent,
            "per_joint_percent": pair.before.per_joint_percent.tolist(),
        },
        "after": {
            "relative_error_percent": pair.after.relative_percent,
            "per_joint_percent": pair.after.per_joint_percent.tolist(),
        },
        "ratio": pair.ratio,
        "per_joint_ratio": pair.joint_ratios.tolist(),
    }


def _format_ratio(ratio: float) -> str:
    return format_plain(ratio, 2) if ratio < 100.0 else format_number(ratio, 2)
