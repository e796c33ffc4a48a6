"""Contradictions between log and description, and the single mistake that explains them.

Least squares fits any data: a wrong unit of torques gives wrong masses, and exchanged joints only a larger error. Each
mistake is an interpretation of the log, and one number compares all of them: the evidence of the log, see
``interpretation``. Mistakes with a value, such as a delay, have the value with the largest evidence, and a standard
deviation from its curvature; small values, which logs without a mistake may have, are no mistake.

A mistake is named if it is the likeliest one, and likelier by a factor than none. A contradiction without such a
mistake is not reported here: descriptions may be placeholders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.description_mistakes import is_on_earth, list_gravities, list_length_units
from ytheta.identification.assessment.interpretation import Fit, Interpretation
from ytheta.identification.assessment.suspects import RARE_LOG_ODDS, Line, Mistake, list_lines, list_mistakes
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.log import Log

# Logarithm of the odds that a log has a given mistake, before it was seen. Chosen on: rule of thumb; one in a thousand.
PRIOR_LOG_ODDS = -np.log(1e3)
# Logarithm of the odds from which a mistake is named. Chosen on: reasoning; no right log should be accused, although
# models lack something. Recorded arms with right descriptions reach 1e6 at most, together with a larger error.
MIN_LOG_ODDS = np.log(1e5)
# Error of the fit of the joints concerned, relative to the standard deviation of their torques, above which a mistake
# explains nothing: a median if it concerns all joints. Chosen on: reasoning; three quarters of the variance are
# explained. Wrists whose torque is that of a sensor's errors fit some wrong interpretation a little better.
MAX_MENDED_ERROR = 0.5
# Error of the fit of all joints after mending, relative to that before, above which a mistake explains nothing. Chosen
# on: rule of thumb.
MAX_ERROR_RATIO = 1.1
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
    # The size of a robot is certain, and no other mistake can be told from its log as long as it is wrong.
    best = choose_mistake(interpretation, list(list_length_units(interpretation)))
    best = best or choose_mistake(interpretation, list(_list_suspects(interpretation)), logs)
    return () if best is None else (make_finding(interpretation, best),)


def _list_suspects(interpretation: Interpretation) -> Iterator[Mistake]:
    yield from list_mistakes(interpretation)
    if looks_wrong(interpretation):
        yield from list_gravities(interpretation)


def looks_wrong(interpretation: Interpretation) -> bool:
    """Whether other gravities are worth a comparison."""
    fit = interpretation.fit
    is_off = fit.total > MAX_PLAUSIBLE_ERROR or float(fit.deviations[0]) > MAX_PLAUSIBLE_DEVIATION
    return is_off or not is_on_earth(interpretation.robot)


def choose_mistake(
    interpretation: Interpretation, mistakes: Sequence[Mistake], logs: Sequence[Log] | None = None
) -> Comparison | None:
    """Return the likeliest mistake, if it is likely enough; with logs, also of those that have a value."""
    null = interpretation.fit
    quick_null = interpretation.equations.fit(None, null)
    fits = ((mistake, mistake.fit(null)) for mistake in mistakes)
    found = [Comparison(mistake, quick_null, fit) for mistake, fit in fits if fit is not None]
    for line in () if logs is None else list_lines(interpretation, logs):
        comparison = search_line(line, null, quick_null)
        found += [] if comparison is None else [comparison]
    found.sort(key=lambda each: -each.log_evidence)
    best: Comparison | None = None
    for rough in found[:MAX_COMPARED]:
        after = rough.mistake.fit()
        if after is None:
            continue
        # Of a harmless value, only the quick fit is known; what it gains is added to the log as recorded.
        gain = rough.before.log_evidence - quick_null.log_evidence
        before = replace(null, log_evidence=null.log_evidence + gain)
        comparison = replace(rough, before=before, after=after)
        is_likely = comparison.log_odds >= MIN_LOG_ODDS and comparison.explains(interpretation.robot.actuated)
        if is_likely and (best is None or comparison.log_evidence > best.log_evidence):
            best = comparison
    return best


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
    low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
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
    return Comparison(replace(mistake, log_odds=mistake.log_odds + RARE_LOG_ODDS), before, after, std)


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


def _format_percent(error: float) -> str:
    return f"{100.0 * error:.2g} %" if error < 0.995 else "100 % or more"
