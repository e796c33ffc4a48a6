"""What the data chose, what the prior expected and what the bodies cost, as texts that terminal and page share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.identification.model_choice import MIN_LOG_BAYES_FACTORS
from ytheta.identification.model_table import summarize_prior
from ytheta.identification.priors.prior import Family, PriorCenter
from ytheta.report.numbers import format_number, format_percent

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

MIN_RELEASE_FACTOR = 1.5  # of a link's own scale; links with a smaller factor are not named
MAX_RELEASED_LINKS = 3
LINK_PREFIX = "link "  # of the hyperparameters of links
CHOSEN = "chosen model"


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
    change = 100.0 * (bodies / estimate - 1.0) if estimate > 0.0 else 0.0
    amount = f"{change:.0f}" if change >= 10.0 else f"{change:.2g}"
    words = f"this costs {amount} % of error" if change >= 0.05 else "this costs no error"
    if cost.is_negligible:
        words = "this costs no error that matters"
    state = "physically consistent"
    if not identification.consistent:
        state, words = (
            f"not physically consistent: {', '.join(identification.inconsistent)}",
            "error of estimate and bodies",
        )
    return f"bodies: {state}; {words} ({format_percent(estimate)} → {format_percent(bodies)} on the {logs})"


def list_explanations(identification: Identification) -> Iterator[str]:
    """Yield the three texts that are not empty."""
    for text in (explain_choice(identification), explain_prior(identification), explain_consistency(identification)):
        if text:
            yield text
