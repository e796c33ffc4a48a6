"""Contradictions between log and description, and the single mistake that explains them.

Least squares fits any data: a wrong unit of torques gives wrong masses, and exchanged joints only a larger error. Each
mistake is an interpretation of the log, and one number compares all of them: the evidence of the log, see
``interpretation``. A mistake is named if its odds against none are high enough. A contradiction without such a mistake
is not reported here: descriptions may be placeholders.

To first order, a mistake changes the predicted torque by s per unit of its value v, and the evidence is a parabola:

    v = g / h,   g = sum_j w_j s_jᵀ r_j,   h = sum_j w_j s_jᵀ s_j - bᵀ A⁻¹ b,   b = sum_j w_j Y_jᵀ s_j,   A = C⁻¹ + N
    log odds = ½ v² / (1 / h + u²)

with residuals r, the uncertainty 1 / h of the value and its variance u² in logs without a mistake (0 for mistakes
without a value). If no mistake seems likely by this score test, none is looked for any further.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import ClosureError
from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.description_mistakes import (
    list_gravities,
    list_length_units,
    suspect_external_torques,
)
from ytheta.identification.assessment.interpretation import MIN_ERROR, TINY, Change, Fit, Interpretation
from ytheta.identification.assessment.orientation import list_orientations
from ytheta.identification.assessment.suspects import Mistake, Suspect, list_suspects
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.priors.prior import Prior
from ytheta.logs.log import Log, LogFindingCode
from ytheta.shapes import Float, SamplesByJoint

# Logarithm of the odds that a log has a mistake of a given kind, before it was seen. Chosen on: rule of thumb; one in a
# thousand.
PRIOR_LOG_ODDS = -np.log(1e3)
# Logarithm of the odds from which a mistake is named. Chosen on: reasoning; no right log should be accused, although
# models lack something.
MIN_LOG_ODDS = np.log(1e3)
# Logarithm of the odds by the score test, without those before the log was seen, from which mistakes are looked for.
# Chosen on: reasoning; one in twenty.
MIN_SCORE = np.log(20.0)
# Error of the fit after mending, relative to the standard deviation of torques, above which a mistake explains nothing.
# Chosen on: reasoning, a tenth of the variance; and the wrist of the LWR4+, whose torque is that of sensor errors to
# 60 %, so that some wrong interpretations fit it better.
MAX_MENDED_ERROR = 0.3
# Difference between torques and what they are a copy of, relative to the torques. Chosen on: reasoning; both passed the
# same low-pass.
MAX_COPY_DIFFERENCE = 0.02
MAX_COMPARED = 6  # mistakes of the quick search that are compared precisely; affects only time
REFINEMENTS = 8  # evaluations with which a value is refined; affects only precision
MAX_USUAL_DEVIATIONS = 6  # deviations up to which a value may be one of a right log; affects only time


@dataclass(frozen=True, eq=False)
class Comparison:
    """A mistake compared with none.

    Attributes
    ----------
    after     the fit in which the mistake is mended
    log_odds  logarithm of the odds of the mistake against none, whose value may be a usual one
    log_evidence
              logarithm of its evidence and prior odds, by which mistakes are compared with each other
    std       standard deviation of its value; None without a value
    """

    mistake: Mistake
    after: Fit
    log_odds: float
    log_evidence: float
    std: float | None = None

    def explains(self, joints: tuple[str, ...]) -> bool:
        """Whether the torques of the joints concerned fit after the mistake is mended."""
        names, squares = self.mistake.names or joints, self.after.errors**2 * self.after.variations
        concerned = np.array([name in names for name in joints])
        return bool(squares[concerned].sum() <= MAX_MENDED_ERROR**2 * self.after.variations[concerned].sum())


def diagnose(problem: EstimationProblem, logs: Sequence[Log] = (), prior: Prior | None = None) -> tuple[Finding, ...]:
    """Return findings about torques that were not measured, and the mistake that explains a contradiction, if any.

    ``logs`` are those of the problem as they were read; their velocities show the unit of time. ``prior``: that of the
    description with its usual settings, if it is at hand.
    """
    interpretation = Interpretation.of(problem, prior)
    doubts = tuple(find_doubtful_torques(interpretation)) if logs else ()
    # The size of a robot is certain, and no other mistake can be told from its log as long as it is wrong.
    best = choose_mistake(interpretation, list(list_length_units(interpretation)))
    if best is None:
        suspects = [*list_suspects(interpretation, logs), *list_orientations(interpretation)]
        scores = compute_scores(interpretation, suspects)
        # Scores do not know that friction brakes, whatever is measured.
        if scores[0].max() + interpretation.fit.missing_friction_evidence >= MIN_SCORE:
            started = [_start_at(suspect, value) for suspect, value in zip(suspects, scores[1].tolist(), strict=True)]
            others = [*list_gravities(interpretation)]
            if interpretation.is_designed:
                others.append(suspect_external_torques(interpretation))
            best = choose_mistake(interpretation, [*started, *others])
    return doubts if best is None else (*doubts, make_finding(interpretation, best))


def compute_scores(
    interpretation: Interpretation, suspects: Sequence[Suspect]
) -> tuple[Float[np.ndarray, " suspects"], Float[np.ndarray, " suspects"]]:
    """Return the log odds and the value of each mistake to first order; see the module docstring."""
    null, samples, mask = interpretation.fit, interpretation.samples, interpretation.samples.mask
    torque, rows = interpretation.predict(samples, null.beta), interpretation.compute_rows(samples)
    residual, expected = (samples.tau - torque) * mask, interpretation.expectation
    P = expected.compute_precision(null.deviations[None], np.ones(len(expected.drive_joints)))[1][0]
    usual = np.array([suspect.usual for suspect in suspects])
    g, h = np.zeros((2, len(suspects)))
    b = np.zeros((len(P), len(suspects)))
    for k, suspect in enumerate(suspects):
        mistake = suspect.make(suspect.usual)
        if mistake.find_equations is None:
            change = _predict_mended(interpretation, mistake.change, null, torque)
            s = np.where(np.isfinite(change), change, 0.0) * mask / (usual[k] or 1.0)
            weighted = s * null.weights
            g[k], h[k] = (weighted * residual).sum(), (weighted * s).sum()
            for j, (columns, values) in enumerate(rows):
                b[columns, k] += values @ weighted[:, j]
    A = P + np.tensordot(null.weights, interpretation.equations.gram, axes=1)
    h -= (b * np.linalg.solve(A, b)).sum(axis=0)
    value = np.divide(g, h, out=np.zeros_like(g), where=h > TINY)
    variance = np.divide(1.0, h, out=np.full_like(h, np.inf), where=h > TINY) + usual**2
    is_possible = (usual > 0.0) | (value > 0.0)
    return np.where(is_possible, 0.5 * value**2 / variance, 0.0), value


def _predict_mended(
    interpretation: Interpretation, change: Change, null: Fit, torque: SamplesByJoint
) -> SamplesByJoint:
    """Return by how much predicted minus recorded torques change if a mistake is mended."""
    mended, own = torque, interpretation.samples
    if not change.is_of_torques:
        own = own.apply(change)
        try:
            mended = interpretation.predict(own, null.beta)
        except ClosureError:
            return 0.0 * torque
    if change.torque is not None:  # torques stay as recorded, so that their size is that of the noise
        mended = np.linalg.solve(change.torque, mended.T).T
    return mended - torque - (own.tau - interpretation.samples.tau)


def _start_at(suspect: Suspect, value: float) -> Suspect:
    """Return the suspect with the value of the score test as another start, if that is not far away."""
    if not suspect.usual or not min(suspect.starts) < value < max(suspect.starts):
        return suspect
    return replace(suspect, starts=tuple(sorted({*suspect.starts, value})))


def choose_mistake(interpretation: Interpretation, suspects: Sequence[Suspect]) -> Comparison | None:
    """Return the likeliest mistake, if it is likely enough."""
    null = interpretation.fit
    quick = interpretation.equations.fit(None, null).log_evidence
    examples = [suspect.make(suspect.starts[0]) for suspect in suspects]
    kinds = Counter((each.code, len(each.names)) for each in examples)
    rough = []
    for suspect, each in zip(suspects, examples, strict=True):
        value, gain = _find_best(interpretation, suspect, suspect.starts)
        prior = suspect.mistakes * PRIOR_LOG_ODDS - float(np.log(kinds[each.code, len(each.names)] * suspect.count))
        if gain > quick:  # it explains the log better than none
            rough.append((gain + prior, suspect, value, prior))
    kept = sorted(rough, key=lambda each: -each[0])[:MAX_COMPARED]
    refined = [(suspect, _refine(interpretation, suspect, value), prior) for _, suspect, value, prior in kept]
    counts = [interpretation.count_independent(Change(), null)]
    for suspect, value, _ in refined:
        mistake = suspect.make(value)
        fit = mistake.fit(interpretation, null)
        counts += [] if fit is None else [interpretation.count_independent(mistake.change, fit)]
    counted = replace(interpretation, counts=np.max(counts, axis=0))
    found = [_compare(counted, suspect, value, prior) for suspect, value, prior in refined]
    joints = interpretation.robot.actuated
    likely = [each for each in found if each and each.log_odds >= MIN_LOG_ODDS and each.explains(joints)]
    return max(likely, key=lambda each: each.log_evidence, default=None)


def _compute_evidence(interpretation: Interpretation, suspect: Suspect, value: float) -> float:
    mistake = suspect.make(value)
    fit = mistake.fit(interpretation, interpretation.fit)
    return -np.inf if fit is None else fit.log_evidence + mistake.log_odds


def _find_best(interpretation: Interpretation, suspect: Suspect, values: Sequence[float]) -> tuple[float, float]:
    """Return the likeliest of some values, and its evidence."""
    evidence = [_compute_evidence(interpretation, suspect, value) for value in values]
    k = int(np.argmax(evidence))
    return values[k], evidence[k]


def _refine(interpretation: Interpretation, suspect: Suspect, value: float) -> float:
    """Return the likeliest value between the neighbours of a start."""
    if not suspect.usual:
        return value
    grid = sorted({*suspect.starts, 0.0})
    k = grid.index(value)
    bounds = grid[k - 1] if k else 2.0 * grid[0], grid[k + 1] if k + 1 < len(grid) else 2.0 * grid[-1]
    from scipy.optimize import minimize_scalar  # only logs that seem mistaken need SciPy

    found = minimize_scalar(
        lambda each: -_compute_evidence(interpretation, suspect, float(each)),
        bounds=bounds,
        method="bounded",
        options={"maxiter": REFINEMENTS},
    )
    return _find_best(interpretation, suspect, (value, float(found.x)))[0]


def _compare(interpretation: Interpretation, suspect: Suspect, value: float, prior: float) -> Comparison | None:
    """Return the comparison of a mistake with this value; ``prior``: log odds before the log was seen."""
    std, usual_gain, step = None, 0.0, suspect.usual
    if suspect.usual:
        before, best, after = (_compute_evidence(interpretation, suspect, value + d) for d in (-step, 0.0, step))
        curvature = (2.0 * best - before - after) / step**2
        std = float(curvature**-0.5) if curvature > 0.0 and np.isfinite(curvature) else None
        near = [each for each in suspect.round if abs(each - value) <= 2.0 * max(std or 0.0, step)]
        value = min(near, key=lambda each: abs(each - value)) if near else value
        # Without a mistake, the value is normally distributed with its usual deviation.
        sizes = (*range(1, MAX_USUAL_DEVIATIONS + 1), abs(value) / step)
        sign = float(np.sign(value))
        n = max(sizes, key=lambda n: _compute_evidence(interpretation, suspect, sign * n * step) - 0.5 * n**2)
        usual = suspect.make(sign * n * step)
        fit = usual.fit(interpretation)
        if fit is not None:
            gain = fit.log_evidence + usual.log_odds - interpretation.fit.log_evidence
            usual_gain = max(0.0, gain - 0.5 * n**2)
    mistake = suspect.make(value)
    fit = mistake.fit(interpretation)
    if fit is None:
        return None
    evidence = float(fit.log_evidence + mistake.log_odds + prior)
    return Comparison(mistake, fit, evidence - interpretation.fit.log_evidence - usual_gain, evidence, std)


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
            yield Finding(FitFindingCode.COPIED_TORQUE, Severity.WARNING, statement, remedy, names)
    fit, friction = interpretation.fit, interpretation.equations.friction
    power = np.sum(friction @ fit.beta) / max(float(np.mean(np.sum(abs(tau * motion.qd), axis=1))), TINY)
    if friction.any() and fit.errors.max() <= MIN_ERROR and abs(power) <= MIN_ERROR:
        yield Finding(
            LogFindingCode.COMPUTED_TORQUE,
            Severity.WARNING,
            f"a model without friction fits all torques to {100.0 * fit.errors.max():.1g} %, better than any sensor "
            "measures: they were computed",
            "unless the log is simulated, the model is the controller's own and says nothing about the robot; record "
            "currents or measured torques instead",
        )


def _format_percent(error: float) -> str:
    return f"{100.0 * error:.2g} %" if error < 0.995 else "100 % or more"
