"""The rows of the page's tables, as texts with the numbers to sort by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.identifiability.standard_parameters import FRICTION, sliding_joints
from ytheta.identification.assessment.excitation import HARMLESS, SURE, Certainty
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.report.identification.figures import correlated, counted, judged_on, strongest
from ytheta.report.numbers import HUGE, NONE, count, figure, percent, unit, with_std

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

STRONG = 0.9  # correlations worth a word
SERIOUS = (Severity.ERROR, Severity.WARNING, Severity.REPAIRED, Severity.NOTE)


def key_figures(found: Identification) -> Iterator[tuple[str, str, str]]:
    """Label, figure and a word about it."""
    judged = found.fit if found.validation is None else found.validation
    if found.validation is not None:
        yield "validation error", percent(found.validation.relative_percent), judged_on(found)
    else:
        yield "validation error", NONE, "no validation log was given"
    yield "fit error", percent(found.fit.relative_percent), "motion it was made from"
    yield "against raw torque", percent(judged.raw_relative_percent), "before the low-pass"
    known = f"{counted(found, Certainty.DETERMINED)} / {len(found.base)}"
    yield "base parameters", known, f"determined, {counted(found, Certainty.SMALL)} too small to matter"
    yield "condition number", figure(found.condition_number), "columns scaled"
    yield "samples", count(found.samples), f"{figure(found.fit.seconds)} s of motion"
    cutoffs = {cutoff(each) for each in found.origin.settings}
    yield "low-pass", ", ".join(sorted(cutoffs)) or NONE, "cut-off"


def joint_rows(found: Identification) -> Iterator[dict[str, Any]]:
    """TorqueErrors per joint; residuals are those of the validation, where there is one, and their correlation the fit's."""
    judged = found.fit if found.validation is None else found.validation
    validation = np.full(len(judged.rms), np.nan) if found.validation is None else found.validation.per_joint_percent
    columns = (
        (validation, percent),
        (found.fit.per_joint_percent, percent),
        (judged.torque_rms, figure),
        (judged.raw_per_joint_percent, percent),
        (judged.rms, figure),
        (judged.of_variation_percent, percent),
        (correlated(found), lambda ratio: f"×{figure(ratio, 2)}"),
    )
    for j, name in enumerate(found.base.robot.actuated):
        cells = [(written(float(values[j])), float(values[j])) for values, written in columns]
        yield {"name": name, "unit": torque_unit(found, name), "cells": cells}


def torque_unit(found: Identification, joint: str) -> str:
    return unit(f"{joint}.fc", sliding_joints(found.base.robot))


def parameter_rows(found: Identification) -> Iterator[dict[str, Any]]:
    sliding = sliding_joints(found.base.robot)
    relative = found.relative_std_percent
    for k, name in enumerate(found.names):
        value, std = float(found.beta[k]), float(found.std[k])
        yield {
            "name": name,
            "value": (with_std(value, std), value),
            "std": (figure(std, 2), std),
            "relative": (_relative(float(relative[k])), float(relative[k])),
            "unit": unit(found.base.independent[k], sliding),
            "seen": found.seen[k],
            "expression": found.base.expressions[k],
        }


def _relative(share: float) -> str:
    return percent(share, 2) if share < HUGE or not np.isfinite(share) else f"> {HUGE:g} %"


def pairs(found: Identification) -> list[str]:
    """The pairs of parameters whose errors go together most."""
    return [f"{a} with {b} ({figure(value, 2)})" for a, b, value in strongest(found, STRONG)]


def rule() -> str:
    """What the words about a parameter mean."""
    return (
        f"Determined means a standard deviation below {100.0 * SURE:g} % of the value; too small to matter, a larger "
        f"one that moves no torque by more than {100.0 * HARMLESS:g} %; weakly determined, neither."
    )


def findings(found: Identification) -> list[Finding]:
    """The serious ones first."""
    return sorted(found.findings, key=lambda finding: SERIOUS.index(finding.severity))


def asked(found: Identification) -> str:
    """Which kinds of parameters were asked about, in words."""
    kinds = {name.rpartition(".")[2] for name in found.base.asked}
    words = [word for word, kind in FRICTION.items() if kind in kinds]
    friction = f"{', '.join(words)} friction" if words else "no friction"
    return f"links, {friction}, {'rotor inertia' if 'Ia' in kinds else 'no rotor inertia'}"


def log_rows(found: Identification) -> Iterator[list[str]]:
    """How every log of the fit was prepared."""
    for name, settings in zip(found.origin.logs, found.origin.settings, strict=True):
        yield [
            name or "log",
            cutoff(settings),
            settings.derivative,
            _velocity(settings, found.base.robot.actuated),
            "all" if settings.decimate == 1 else f"every {settings.decimate}.",
            f"{_set(settings.trim)} s",
            "none" if settings.average_periods is None else f"over {_set(settings.average_periods)} s",
        ]


def cutoff(settings: PreparationSettings) -> str:
    return f"{_set(settings.cutoff)} Hz"


def _set(value: float | str) -> str:
    return value if isinstance(value, str) else figure(float(value))


def _velocity(settings: PreparationSettings, joints: tuple[str, ...]) -> str:
    """Where velocities come from."""
    if isinstance(settings.velocity, str):
        return settings.velocity
    recorded = [name for name, own in zip(joints, settings.velocity, strict=True) if own]
    if len(recorded) in (0, len(joints)):
        return "recorded" if recorded else "from position"
    return f"recorded for {', '.join(recorded)}"
