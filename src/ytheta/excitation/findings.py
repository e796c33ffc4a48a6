"""Findings about a design: what was assumed, how the motion degrades when slowed, what is weak, what is violated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np

from ytheta.excitation.constraints.check import LimitUse
from ytheta.excitation.criteria.condition import scale_columns
from ytheta.excitation.result import SlowedCondition
from ytheta.excitation.solver.search import Ending, SearchOutcome
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.shapes import BaseByBase, PerBase, PerJoint

MAX_NAMED = 5  # parameters that a finding names
MIN_COMPONENT = 0.1  # of a direction without information, relative to its largest one; smaller ones are not named


class DesignFindingCode(StrEnum):
    """The kind of a finding about a design."""

    ASSUMED_NOISE = "assumed noise"
    SLOWED = "slowed motion"
    STOPPED = "stopped early"
    INFEASIBLE_STARTS = "infeasible starts"
    WEAK = "weak parameters"
    UNSEEN = "unseen parameters"
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


def describe_slowed(plain: float, scaled: float, slowed: Sequence[SlowedCondition]) -> Iterator[Finding]:
    growth = ", ".join(
        f"{each.condition_number:.4g} and {each.scaled_condition_number:.4g} at {each.speed:.0%}" for each in slowed
    )
    yield Finding(
        DesignFindingCode.SLOWED,
        Severity.NOTE,
        f"the condition numbers of W_b with plain and with scaled columns are {plain:.4g} and {scaled:.4g}; if the "
        f"motion is slowed, {growth} of its speed",
        "do not slow the motion more than safety demands",
        fields={f"{each.speed:g}": [each.condition_number, each.scaled_condition_number] for each in slowed},
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


def describe_unseen_parameters(
    base: BaseParameters, M: BaseByBase, std: PerBase, condition_number: float
) -> Iterator[Finding]:
    """Name the parameters of which the motion, with earlier measurements, tells nothing."""
    unseen = ~np.isfinite(std)
    if not unseen.any() and np.isfinite(condition_number):
        return
    if not unseen.any():
        weakest = abs(np.linalg.eigh(scale_columns(M))[1][:, 0])
        unseen = weakest > MIN_COMPONENT * weakest.max()
    names = [name for name, hidden in zip(base.names, unseen, strict=True) if hidden]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    yield Finding(
        DesignFindingCode.UNSEEN,
        Severity.WARNING,
        f"the motion does not reveal {', '.join(names[:MAX_NAMED])}{more}: the condition number of W_b is "
        f"{condition_number:.4g}",
        "let more joints move, with wider limits or more harmonics, or select fewer parameters",
        names=tuple(names),
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
