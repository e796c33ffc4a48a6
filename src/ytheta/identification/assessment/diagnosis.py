"""Contradictions between log and description, and the single mistake that explains them.

Least squares fits any data: a wrong unit of torques gives wrong masses, and exchanged joints only a larger error. Each
mistake is an interpretation of the log, and one number compares all of them: the evidence of the log, see
``interpretation``. Mistakes with a value, such as a delay, have the value with the largest evidence, and a standard
deviation from its curvature; small values, which logs without a mistake may have, are no mistake.

A mistake is named if it is the likeliest one, and likelier by a factor than none. A contradiction without such a
mistake is not reported here: descriptions may be placeholders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar

from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.description_mistakes import is_on_earth, list_gravities, list_length_units
from ytheta.identification.assessment.interpretation import MAX_COUNT, TINY, Fit, Interpretation
from ytheta.identification.assessment.suspects import (
    RARE_LOG_ODDS,
    Line,
    Mistake,
    count_independent,
    list_lines,
    list_mistakes,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.log import Log, LogFindingCode

# Logarithm of the odds that a log has a given mistake, before it was seen. Chosen on: rule of thumb; one in a thousand.
PRIOR_LOG_ODDS = -np.log(1e3)
# Logarithm of the odds from which a mistake is named. Chosen on: reasoning; no right log should be accused, although
# models lack something. Recorded arms with right descriptions reach 1e6 at most, together with a larger error.
MIN_LOG_ODDS = np.log(1e5)
# Error of the fit of the joints concerned, relative to the standard deviation of their torques, above which a mistake
# explains nothing: a median if it concerns all joints. Chosen on: recorded arms; the wrist of the LWR4+, whose torque
# is that of sensor errors to 60 %, fits some wrong interpretations better, and is left at 40 % by them.
MAX_MENDED_ERROR = 0.3
# Error of the fit of all joints after mending, relative to that before, above which a mistake explains nothing. Chosen
# on: rule of thumb.
MAX_ERROR_RATIO = 1.1
# Difference between torques and what they are a copy of, relative to the torques. Chosen on: reasoning; both passed the
# same low-pass.
MAX_COPY_DIFFERENCE = 0.02
# Largest error of a joint, relative to the standard deviation of its torque, and power of friction, relative to that of
# the torques, up to which torques are those of a model. Chosen on: reasoning; no sensor or drive is so exact.
MAX_MODEL_ERROR = 1e-3
# Mistakes of the quick search that are compared precisely. Chosen on: rule of thumb.
MAX_COMPARED = 4
# Evaluations with which the value of a mistake is refined. Chosen on: rule of thumb.
REFINEMENTS = 8
# Error of the fit, relative to all torques, and deviation of the whole description as a logarithm relative to a typical
# one, above which other gravities are worth their kernels. Chosen on: recorded arms, whose complete models have errors
# of 1 to 4 %. It affects time, since other gravities do not explain a log better than a right one.
MAX_PLAUSIBLE_ERROR, MAX_PLAUSIBLE_DEVIATION = 0.04, 1.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """A mistake, its fit and what it is compared with: the log as recorded, or with the largest harmless value."""

    mistake: Mistake
    before: Fit
    after: Fit
    null: Fit  # of the log as recorded
    std: float | None = None  # of the value, if the mistake has one

    @property
    def log_odds(self) -> float:
        """Logarithm of the odds of the mistake against none."""
        return self.after.log_evidence - self.before.log_evidence + self.mistake.log_odds + PRIOR_LOG_ODDS

    @property
    def log_evidence(self) -> float:
        return self.after.log_evidence + self.mistake.log_odds

    def explains(self, joints: tuple[str, ...]) -> bool:
        """Whether the joints concerned fit after the mistake is mended."""
        names = self.mistake.names
        concerned = [error for name, error in zip(joints, self.after.errors, strict=True) if name in (names or joints)]
        error = float(max(concerned) if 0 < len(names) < len(joints) else np.median(concerned))
        return error <= MAX_MENDED_ERROR and self.after.total <= MAX_ERROR_RATIO * self.before.total


def diagnose(problem: EstimationProblem, logs: Sequence[Log] = ()) -> tuple[Finding, ...]:
    """Return a finding about the mistake that explains a contradiction between log and description, if there is one.

    ``logs`` are those of the problem as they were read; their velocities show the unit of time.
    """
    interpretation = Interpretation.of(problem)
    doubts = tuple(find_doubtful_torques(interpretation)) if logs else ()
    # The size of a robot is certain, and no other mistake can be told from its log as long as it is wrong.
    for list_suspects in (list_length_units, partial(_list_suspects, logs=logs)):
        best = choose_mistake(interpretation, list_suspects)
        if best is not None:
            return (*doubts, make_finding(interpretation, best))
    return doubts


def _list_suspects(interpretation: Interpretation, logs: Sequence[Log]) -> Iterator[Mistake | Line]:
    yield from list_mistakes(interpretation)
    yield from list_lines(interpretation, logs)
    if looks_wrong(interpretation):
        yield from list_gravities(interpretation)


def looks_wrong(interpretation: Interpretation) -> bool:
    """Whether other gravities are worth a comparison."""
    fit = interpretation.fit
    is_off = fit.total > MAX_PLAUSIBLE_ERROR or float(fit.deviations[0]) > MAX_PLAUSIBLE_DEVIATION
    return is_off or not is_on_earth(interpretation.robot)


def choose_mistake(
    interpretation: Interpretation, list_suspects: Callable[[Interpretation], Iterator[Mistake | Line]]
) -> Comparison | None:
    """Return the likeliest mistake, if it is likely enough."""
    # Residuals that a mistake causes are correlated for longer than those of the noise. Therefore all joints count
    # alike in the search, and the number of independent equations is that of the log with the mistake mended.
    alike = replace(interpretation, counts=np.minimum(interpretation.samples.mask.sum(axis=0), MAX_COUNT))
    rough = [(place, each) for place, each in enumerate(_compare_quickly(alike, list_suspects)) if each is not None]
    rough.sort(key=lambda pair: -pair[1].log_evidence)
    counts = [count_independent(interpretation, each.mistake, each.after) for _, each in rough[:MAX_COMPARED]]
    counted = replace(interpretation, counts=np.max([interpretation.counts, *counts], axis=0))
    kept = {place for place, _ in rough[:MAX_COMPARED]}
    suspects = (each for place, each in enumerate(list_suspects(counted)) if place in kept)
    found = [_compare_precisely(counted, each) for each in _compare_quickly(counted, lambda _: suspects) if each]
    joints = interpretation.robot.actuated
    likely = [each for each in found if each and each.log_odds >= MIN_LOG_ODDS and each.explains(joints)]
    return max(likely, key=lambda each: each.log_evidence, default=None)


def _compare_quickly(
    interpretation: Interpretation, list_suspects: Callable[[Interpretation], Iterator[Mistake | Line]]
) -> Iterator[Comparison | None]:
    """Yield the comparison of each suspect, with quick fits; None if a mistake is impossible or harmless."""
    null = interpretation.fit
    quick_null = interpretation.equations.fit(None, null)
    for suspect in list_suspects(interpretation):
        if isinstance(suspect, Line):
            yield search_line(suspect, null, quick_null)
        else:
            fit = suspect.fit(null)
            yield None if fit is None else Comparison(suspect, quick_null, fit, quick_null)


def _compare_precisely(interpretation: Interpretation, rough: Comparison) -> Comparison | None:
    after, null = rough.mistake.fit(), interpretation.fit
    if after is None:
        return None
    # Of a harmless value, only the quick fit is known; what it gains is added to the log as recorded.
    gain = rough.before.log_evidence - rough.null.log_evidence
    return replace(rough, before=replace(null, log_evidence=null.log_evidence + gain), after=after)


def search_line(line: Line, null: Fit, quick_null: Fit) -> Comparison | None:
    """Return the best value of a mistake, compared with the largest harmless one; None if that is harmless too."""
    known: dict[float, Fit | None] = {0.0: quick_null}
    made: dict[float, Mistake] = {}

    def compute(value: float) -> float:
        if value not in known:
            made[value] = line.make(value)
            known[value] = made[value].fit(null)
        fit = known[value]
        return -np.inf if fit is None else fit.log_evidence + (made[value].log_odds if value in made else 0.0)

    grid = sorted({*line.starts, 0.0})
    values = [compute(value) for value in grid]
    k = int(np.argmax(values))
    if grid[k] == 0.0:
        return None
    low = grid[k - 1] if k else 2.0 * grid[0]
    high = grid[k + 1] if k + 1 < len(grid) else 2.0 * grid[-1]
    minimize_scalar(
        lambda value: -compute(float(value)), bounds=(low, high), method="bounded", options={"maxiter": REFINEMENTS}
    )
    best = max((each for each in known if each), key=compute)
    near = [each for each in line.usual if abs(each - best) <= line.tolerance]
    if near:
        best = min(near, key=lambda each: abs(each - best))
        compute(best)
    harmless = float(np.clip(best, -line.tolerance, line.tolerance))
    after = known[best]
    if abs(best) <= line.tolerance or after is None:
        return None
    compute(harmless)
    before = known[harmless] or quick_null
    step = 0.5 * line.tolerance
    curvature = (2.0 * compute(best) - compute(best - step) - compute(best + step)) / step**2
    std = float(curvature**-0.5) if curvature > 0.0 and np.isfinite(curvature) else None
    if before.log_evidence < quick_null.log_evidence:
        before = quick_null
    mistake = made[best]
    return Comparison(replace(mistake, log_odds=mistake.log_odds + RARE_LOG_ODDS), before, after, quick_null, std)


def make_finding(interpretation: Interpretation, comparison: Comparison) -> Finding:
    """Return the finding that names a mistake, with what mending it would change."""
    mistake, before, after = comparison.mistake, interpretation.fit, comparison.after
    reasons = [mistake.reason] if mistake.reason else []
    if after.total < before.total:
        reasons.append(
            f"if that is mended, the error of the fit falls from {_format_percent(before.total)} to "
            f"{_format_percent(after.total)}"
        )
    odds = f"1e{min(comparison.log_odds / np.log(10.0), 99.0):.0f}"
    reasons.append(f"this explains torques and described masses {odds} times better")
    fields = {**mistake.fields, "mistake": str(mistake.code), "log_odds": comparison.log_odds}
    fields |= {"error_percent": 100.0 * before.total, "mended_error_percent": 100.0 * after.total}
    if comparison.std is not None:
        fields["std"] = comparison.std
    return Finding(
        mistake.code,
        Severity.WARNING,
        f"{mistake.statement}: {', and '.join(reasons)}",
        mistake.remedy,
        mistake.names,
        fields=fields,
    )


def find_doubtful_torques(interpretation: Interpretation) -> Iterator[Finding]:
    """Yield findings about torques that are copies of the motion, or that no sensor can have measured."""
    motion, tau, joints = interpretation.samples.motion, interpretation.samples.tau, interpretation.robot.actuated
    for noun, values in (("position", motion.q), ("velocity", motion.qd), ("acceleration", motion.qdd)):
        rest = np.linalg.norm(tau - values, axis=0) <= MAX_COPY_DIFFERENCE * np.linalg.norm(tau, axis=0)
        names = tuple(name for name, is_copy in zip(joints, rest & tau.any(axis=0), strict=True) if is_copy)
        if names:
            statement = f"the torque of {', '.join(names)} equals the {noun}"
            remedy = "name the columns of torques in the mapping"
            yield Finding(LogFindingCode.TORQUE, Severity.WARNING, statement, remedy, names)
    fit, friction = interpretation.fit, interpretation.equations.friction
    power = np.sum(friction @ fit.beta) / max(float(np.mean(np.sum(abs(tau * motion.qd), axis=1))), TINY)
    if friction.any() and fit.errors.max() <= MAX_MODEL_ERROR and abs(power) <= MAX_MODEL_ERROR:
        yield Finding(
            LogFindingCode.COMPUTED_TORQUE,
            Severity.NOTE,
            f"a model without friction fits all torques to {100.0 * fit.errors.max():.1g} %, better than any sensor "
            "measures",
            "if the log is not simulated, the torques are those of the controller's own model; record currents or "
            "measured torques instead",
        )


def _format_percent(error: float) -> str:
    return f"{100.0 * error:.2g} %" if error < 0.995 else "100 % or more"
