"""Findings about a design: what was assumed, how the motion degrades when slowed, what is weak, what is violated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np

from ytheta.excitation.constraints.check import LimitUse
from ytheta.excitation.result import SlowedCondition
from ytheta.excitation.solver.search import Ending, SearchOutcome
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.shapes import PerBase, PerJoint

MAX_NAMED = 5  # weak parameters that a finding names


class DesignFindingCode(StrEnum):
    """The kind of a finding about a design."""

    ASSUMED_NOISE = "assumed noise"
    SLOWED = "slowed motion"
    STOPPED = "stopped early"
    INFEASIBLE_STARTS = "infeasible starts"
    WEAK = "weak parameters"
    VIOLATION = "violation"


# Findings that the tables and the page state in other words.
IN_TABLES = (DesignFindingCode.ASSUMED_NOISE, DesignFindingCode.SLOWED, DesignFindingCode.VIOLATION)


def describe_assumed_noise(noise: PerJoint, rate: float, *, is_assumed: bool) -> Iterator[Finding]:
    if is_assumed:
        yield Finding(
            DesignFindingCode.ASSUMED_NOISE,
            Severity.NOTE,
            f"the expected standard deviations assume torque noise of {', '.join(f'{s:.3g}' for s in noise)} (Nm or N; "
            f"1 % of the effort limits), independent in {rate:g} samples per second",
            "give the noise of your sensors with the options noise and rate",
            fields={"noise": noise.tolist(), "rate": rate},
        )


def describe_slowed(condition_number: float, slowed: Sequence[SlowedCondition]) -> Iterator[Finding]:
    growth = ", ".join(f"{each.condition_number:.4g} at {each.speed:.0%}" for each in slowed)
    yield Finding(
        DesignFindingCode.SLOWED,
        Severity.NOTE,
        f"the condition number of W_b (plain columns) is {condition_number:.4g} at full speed, {growth} of the speed",
        "do not slow the motion more than safety demands",
        fields={f"{each.speed:g}": each.condition_number for each in slowed},
    )


def describe_ending(outcome: SearchOutcome) -> Iterator[Finding]:
    if outcome.ending is not Ending.COMPLETE:
        yield Finding(
            DesignFindingCode.STOPPED,
            Severity.NOTE,
            f"the search ended early ({outcome.ending}) after {outcome.starts} starts and {outcome.polished} polished "
            "candidates; its result depends on the speed of the machine",
            "give more time, or fewer starts, for a repeatable result",
            fields={"starts": outcome.starts, "polished": outcome.polished},
        )
    if outcome.feasible < outcome.starts:
        yield Finding(
            DesignFindingCode.INFEASIBLE_STARTS,
            Severity.NOTE,
            f"{outcome.starts - outcome.feasible} of {outcome.starts} random starts found no motion within the limits",
        )


def describe_weak_parameters(base: BaseParameters, before: PerBase | None, std: PerBase) -> Iterator[Finding]:
    """Name the parameters that earlier measurements left weak and that the motion improves most."""
    if before is None:
        return
    gain = before / std
    weakest = np.argsort(-np.where(np.isnan(gain), 0.0, gain), kind="stable")[:MAX_NAMED]
    parts = ", ".join(f"{base.names[k]} ({before[k]:.2g} → {std[k]:.2g})" for k in weakest)
    yield Finding(
        DesignFindingCode.WEAK,
        Severity.NOTE,
        f"weakest after the earlier measurements, with expected standard deviations before and after: {parts}",
        names=tuple(base.names[k] for k in weakest),
    )


def describe_violations(uses: Sequence[LimitUse]) -> Iterator[Finding]:
    for use in uses:
        if use.violated:
            remedy = "do not run this motion"
            yield Finding(DesignFindingCode.VIOLATION, Severity.ERROR, use.text, remedy, names=(use.name,))
