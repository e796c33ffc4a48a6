"""Statistics, remarks and explanations of an identification that the terminal, the page and the JSON share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.conventions import WRENCH_COMPONENTS
from ytheta.identification.assessment.excitation import Certainty, MotionCoverage, measure_coverage
from ytheta.identification.assessment.verdict import describe_motion
from ytheta.identification.model_choice import MIN_LOG_BAYES_FACTORS
from ytheta.identification.model_table import summarize_prior
from ytheta.identification.priors.description import DESCRIPTION, PLACEHOLDERS
from ytheta.identification.priors.prior import Family, PriorCenter
from ytheta.logs.log import LogSize
from ytheta.report.numbers import format_number, format_percent, format_plain
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from ytheta.identification.result import Identification
    from ytheta.robot.robot import Robot

# Correlation of the errors of two parameters above which only a combination of both is known. Chosen on: rule of thumb.
MAX_CORRELATION = 0.99
# Condition number of the scaled equations above which a line warns that torque errors are amplified. Chosen on: rule of
# thumb.
MAX_CONDITION_NUMBER = 100.0
MAX_PAIRS = 5  # of correlated parameters; affects only the length of a message


def count_parameters(identification: Identification, seen: Certainty) -> int:
    """Return the number of parameters with this certainty."""
    return identification.seen.count(seen)


def measure_motion(identification: Identification) -> MotionCoverage:
    """Return the coverage of the logs of the fit."""
    return measure_coverage(identification.base.robot, identification.fit.motion_range)


def describe_coordinates(robot: Robot) -> str:
    """Return the number of actuated joints, and whether there are rows of a floating base or of sensors."""
    base, sensors = len(robot.base_coordinates), len(robot.sensor_coordinates)
    parts = ["floating base"] if base else []
    parts.append(f"{len(robot.actuated) - base - sensors} joints")
    if sensors:
        count = sensors // len(WRENCH_COMPONENTS)
        parts.append("1 sensor" if count == 1 else f"{count} sensors")
    return ", ".join(parts)


def describe_parameters(identification: Identification) -> str:
    """Return what the parameters are called and, if the geometry is unknown, which lengths and angles."""
    base = identification.base
    if not base.unknown_geometry:
        return base.noun
    return f"{base.noun} of the regrouped Lagrangian (unknown: {', '.join(base.robot.unset_symbols)})"


def describe_validation_motion(identification: Identification) -> str:
    """Return the motion on which the model was validated, worded as in the verdict."""
    is_validation = identification.validation is not None
    return describe_motion(is_validation=is_validation, repeated=identification.is_validation_repeated)


def describe_low_pass(identification: Identification) -> str:
    """Return the cut-offs of the fit and, if they differ, those of the errors."""
    origin = identification.origin
    fitted, judged = {float(each.cutoff) for each in origin.settings}, set(origin.judged_cutoffs)
    text = f"low-pass {_join_cutoffs(fitted)} Hz"
    return text if fitted == judged or not judged else f"{text}, errors at {_join_cutoffs(judged)} Hz"


def _join_cutoffs(cutoffs: set[float]) -> str:
    return " and ".join(dict.fromkeys(f"{cutoff:.3g}" for cutoff in sorted(cutoffs)))


def describe_reported_errors(identification: Identification) -> Iterator[str]:
    """Yield the errors at the report cut-off in one sentence, if it was given."""
    reported = identification.reported
    if reported is None:
        return
    errors = [("fit", reported.fit), ("validation", reported.validation)]
    shown = ", ".join(
        f"{name} {format_plain(each.relative_percent)} % (mean NRMSE {format_plain(100.0 * each.nrmse_mean)} %)"
        for name, each in errors
        if each is not None
    )
    yield f"errors at {reported.cutoff:.3g} Hz, the report cut-off: {shown}"


def compute_relative_autocorrelation(identification: Identification) -> PerJoint:
    """Return the autocorrelation time of the fit's residuals relative to that of low-passed white noise."""
    return identification.fit.autocorrelation_time / identification.origin.expected_autocorrelation_time


def find_strongest_correlations(identification: Identification, min_correlation: float) -> list[tuple[str, str, float]]:
    """Return the pairs of parameters with the strongest correlations of errors, each at least ``min_correlation``."""
    known = np.isfinite(identification.std)
    values = np.triu(np.where(np.outer(known, known), identification.correlation, 0.0), 1)
    pairs = (divmod(int(place), len(values)) for place in np.argsort(-abs(values), axis=None)[:MAX_PAIRS])
    names = identification.names
    return [(names[a], names[b], float(values[a, b])) for a, b in pairs if abs(values[a, b]) >= min_correlation]


def list_weaknesses(identification: Identification) -> Iterator[str]:
    """Yield remarks about weak parameters that ``identification.missing`` does not list, and about their causes."""
    listed = sum(len(advice.parameters) for advice in identification.missing)
    unseen = count_parameters(identification, Certainty.UNSEEN)
    more = count_parameters(identification, Certainty.WEAK) + unseen - listed
    if more > 0:
        subject = "parameter is" if more == 1 else "parameters are"
        yield f"… and {more} more {subject} weak{' or not seen' if unseen else ''}"
    weak = {
        name for name, seen in zip(identification.names, identification.seen, strict=True) if seen is Certainty.WEAK
    }
    pairs = [
        f"{a} with {b} ({np.clip(value, -0.999, 0.999):.3f})"
        for a, b, value in find_strongest_correlations(identification, MAX_CORRELATION)
        if {a, b} & weak
    ]
    if pairs:
        yield f"the motion hardly separates these parameters (correlation of their errors): {', '.join(pairs)}"
    if MAX_CONDITION_NUMBER < identification.condition_number < np.inf:
        yield (
            f"the condition number {format_plain(identification.condition_number)} is above "
            f"{MAX_CONDITION_NUMBER:g}: small torque errors become large errors of some parameters"
        )


def describe_rests(identification: Identification) -> dict[str, str]:
    """Return for each joint that sticks or rests the share of the time, on the logs that the page shows."""
    errors = identification.fit if identification.validation is None else identification.validation
    shares = 100.0 * (1.0 - errors.used_share)
    names = identification.base.robot.actuated
    return {name: f"{share:.2g} %" for name, share in zip(names, shares.tolist(), strict=True) if share > 0.0}


def describe_sizes(sizes: Sequence[LogSize]) -> str:
    """Return recorded time, number of samples and rates of logs together."""
    seconds, samples = sum(size.seconds for size in sizes), sum(size.samples for size in sizes)
    rates = " and ".join(dict.fromkeys(f"{size.rate:.4g}" for size in sizes))
    return f"{seconds:.4g} s, {samples} samples at {rates} Hz"


def list_file_names(paths: tuple[str, ...]) -> str:
    return ", ".join(Path(path).name or "log" for path in paths)


# Before and after in words and numbers: torque errors of the description and of the identified model.


# Ratio of two torque errors below which they are called about the same. Chosen on: rule of thumb.
MIN_CHANGE = 1.05


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


# What the data chose, what the prior expected and what the bodies cost, as texts that terminal and page share.


# Factor of a link's own scale from which on the link is named as more wrong than the others. Chosen on: rule of thumb.
MIN_RELEASE_FACTOR = 1.5
MAX_RELEASED_LINKS = 3  # affects only the length of a message
LINK_PREFIX = "link "  # of the hyperparameters of links
CHOSEN = "chosen, before bodies"


def explain_choice(identification: Identification) -> str:
    """Return which parts of the model the data chose, with log Bayes factors; empty if there was nothing to choose."""
    choice = identification.choice
    parts = []
    for family, alternative in zip(choice.considered, choice.alternatives, strict=True):
        is_kept = family in choice.kept
        factor = -alternative.log_bayes_factor if is_kept else alternative.log_bayes_factor
        needed = format_log_bayes_factor(MIN_LOG_BAYES_FACTORS[family])
        parts.append(
            f"{family.value} {'yes' if is_kept else 'no'} ({format_log_bayes_factor(factor)}, needed {needed})"
        )
    return f"chosen by the data, by log Bayes factors in favour: {', '.join(parts)}" if parts else ""


def list_alternatives(identification: Identification) -> Iterator[tuple[str, float, float, float | None]]:
    """Yield name, log Bayes factor, fit error and validation error of the chosen model and of its alternatives."""
    choice = identification.choice
    if choice.fit_percent is None:
        return
    yield CHOSEN, 0.0, choice.fit_percent, choice.validation_percent
    for each in choice.alternatives:
        yield each.change, each.log_bayes_factor, each.fit_percent, each.validation_percent


def format_log_bayes_factor(value: float) -> str:
    """Return a log Bayes factor with one digit after the point, and none if it is large or a whole number."""
    text = f"{value:.0f}" if value == round(value) or abs(value) >= 10.0 else f"{value:.1f}"
    return text.replace("-", "−")


def explain_prior(identification: Identification) -> str:
    """Return what the prior is centred on and how strong it is; empty for estimators without prior."""
    prior = summarize_prior(identification)
    if prior is None:
        return ""
    if not identification.uses_prior:
        return "prior: nothing is expected of the links"
    source = f" {Path(prior['source']).name}" if prior["source"] else ""
    scales = prior["scales"]
    if identification.origin.prior is PriorCenter.EARLIER_MODEL:
        (factor,) = scales.values()
        return f"prior: the earlier model{source}; the data multiply its standard deviations by {format_number(factor)}"
    words = {PriorCenter.DESCRIPTION: "the description", PriorCenter.OTHER_DESCRIPTION: f"the description{source}"}
    posterior = identification.estimate.posterior
    assert posterior is not None
    links = posterior.prior.belongs_to((Family.LINK,))
    is_chosen = bool(posterior.prior.design[links].any())
    by = "chosen by the data" if is_chosen else "given"
    deviation = format_percent(100.0 * prior["relative_deviation"], 2)
    if {DESCRIPTION.name, PLACEHOLDERS.name} <= scales.keys():
        deviation += f", its placeholders by {format_percent(100.0 * scales[PLACEHOLDERS.name], 2)}"
    text = f"prior: {words[identification.origin.prior]}, expected to be off by {deviation} ({by})"
    released = list_released_links(scales)
    if released:
        names = ", ".join(f"{name} (×{format_number(factor, 2)})" for name, factor in released)
        text += f"; links that are off by more, relative to the others: {names}"
    return text


def list_released_links(scales: dict[str, float]) -> list[tuple[str, float]]:
    """Return the links that deviate most from the description, each with the factor of its scale."""
    factors = {
        name.removeprefix(LINK_PREFIX): factor
        for name, factor in scales.items()
        if name.startswith(LINK_PREFIX) and factor >= MIN_RELEASE_FACTOR
    }
    return sorted(factors.items(), key=lambda pair: -pair[1])[:MAX_RELEASED_LINKS]


def explain_consistency(identification: Identification) -> str:
    """Return whether the bodies are physically consistent and what that costs; empty if the geometry is unknown."""
    cost = identification.consistency_cost
    if cost is None or identification.consistent is None:
        return ""
    estimate, bodies, logs = cost.estimate_percent, cost.bodies_percent, "logs of the fit"
    if cost.validation_estimate_percent is not None and cost.validation_bodies_percent is not None:
        estimate, bodies, logs = cost.validation_estimate_percent, cost.validation_bodies_percent, "validation logs"
    state = "the model consists of physically consistent bodies"
    if not identification.consistent:
        state = f"the model is not physically consistent: {', '.join(identification.inconsistent)}"
    width = 1.0 if identification.standard is None else identification.standard.fit.width
    chosen = "" if width == 1.0 else f"; with ×{width:g} the prior's widths they predict parts of the logs better"
    return (
        f"bodies: {state}{chosen}; their error is {format_percent(bodies)} on the {logs}, that of the free estimate "
        f"{format_percent(estimate)}"
    )


def list_explanations(identification: Identification) -> Iterator[str]:
    """Yield the three texts that are not empty."""
    for text in (explain_choice(identification), explain_prior(identification), explain_consistency(identification)):
        if text:
            yield text
