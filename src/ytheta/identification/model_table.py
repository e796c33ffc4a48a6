"""The table ``[identification]`` of a model file: the results of an identification as plain data and as TOML text.

``--json`` prints the same data; the page on identification of the documentation describes the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import ytheta
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.model_choice import ModelChoice
from ytheta.identification.priors.description import DESCRIPTION, PLACEHOLDERS
from ytheta.identification.priors.prior import Family
from ytheta.robot.parameters import FRICTION_PARAMETERS

if TYPE_CHECKING:
    from ytheta.identification.result import Identification, Origin

TABLE = "identification"
PREPARATION, VELOCITIES = "preparation", "decided_velocities"
MOTION = "motion"  # key of the states
MOTION_KEYS = ("q", "qd", "qdd", "used")
# States in a model file; from so many independent ones, the size of a torque difference is known within 5 %. Chosen on:
# reasoning.
MAX_STATES = 200
STATE_DIGITS = 5  # Significant digits of a state; torques are not known as well. Chosen on: reasoning.


def summarize_errors(errors: TorqueErrors) -> dict[str, Any]:
    """Return torque errors as plain data."""
    return {
        "relative_error_percent": errors.relative_percent,
        "per_joint_percent": errors.per_joint_percent.tolist(),
        "raw_relative_error_percent": errors.raw_relative_percent,
        "raw_per_joint_percent": errors.raw_per_joint_percent.tolist(),
        "of_variation_percent": errors.of_variation_percent.tolist(),
        "nrmse": errors.nrmse.tolist(),
        "nrmse_mean": errors.nrmse_mean,
        "rms": errors.rms.tolist(),
        "torque_rms": errors.torque_rms.tolist(),
        "samples": errors.samples,
        "used_share": errors.used_share.tolist(),
        "seconds": errors.seconds,
    }


def summarize_min_speed(min_speed: tuple[float, ...] | str | None) -> dict[str, Any]:
    """Return the speeds below which joints were left out, or "auto", as plain data; empty if no joint was left out."""
    if min_speed is None:
        return {}
    return {"min_speed": min_speed if isinstance(min_speed, str) else list(min_speed)}


def summarize_preparation(origin: Origin) -> dict[str, Any]:
    """Return how another log is prepared, such that its errors compare with those of the model, as plain data.

    Periods are not averaged: another log need not repeat its motion.
    """
    settings = asdict(origin.requested)
    del settings["average_periods"]
    settings["torque_delay"] = origin.torque_delay.value
    return settings | {VELOCITIES: [asdict(each) for each in origin.decided_velocities]}


def summarize_prediction_errors(fit: Identification, errors: TorqueErrors) -> dict[str, Any]:
    """Return torque errors and the standard deviations of the predicted torques as plain data."""
    return summarize_errors(errors) | {"prediction_std": fit.compute_prediction_std(errors).tolist()}


def summarize_causes(fit: Identification) -> list[dict[str, Any]]:
    """Return for each joint the effect that explains most of its residual."""
    return [
        {"joint": each.joint, "cause": each.cause.value, "share": each.share, "text": each.text}
        for each in fit.residual_causes
    ]


def summarize_selection(parameters: Iterable[str]) -> dict[str, Any]:
    """Return the kinds of friction among these parameters, and whether there are rotor inertias, as plain data."""
    kinds = {name.rpartition(".")[2] for name in parameters}
    return {
        "friction": [kind for kind, symbol in FRICTION_PARAMETERS.items() if symbol in kinds],
        "rotor_inertia": "Ia" in kinds,
    }


def summarize_base_parameters(fit: Identification) -> Iterator[dict[str, Any]]:
    """Yield name, value and deviations of every base parameter; ``prior_std`` and ``mark`` are None without prior."""
    prior_std: Sequence[float | None] = [None] * len(fit.base)
    marks: Sequence[str | None] = prior_std  # type: ignore[assignment]
    if fit.uses_prior and fit.standard is not None:
        prior_std, marks = fit.standard.base_prior_std.tolist(), [mark.value for mark in fit.marks]
    rows = zip(fit.names, fit.beta.tolist(), fit.std.tolist(), prior_std, marks, strict=True)
    for name, value, std, before, mark in rows:
        yield {"name": name, "value": value, "std": std, "prior_std": before, "mark": mark}


def summarize_standard_parameters(fit: Identification) -> Iterator[dict[str, Any]]:
    """Yield value of the bodies, deviations and mark of every selected standard parameter; none without geometry."""
    if fit.standard is None:
        return
    theta = dict(zip(fit.base.robot.parameter_names, fit.theta.tolist(), strict=True))
    standard = fit.standard
    rows = zip(standard.marks.items(), standard.std.tolist(), standard.prior_std.tolist(), strict=True)
    for (name, mark), std, prior_std in rows:
        yield {"name": name, "value": theta[name], "std": std, "prior_std": prior_std, "mark": mark.value}


def summarize_choice(choice: ModelChoice) -> dict[str, Any]:
    """Return which parts of the model the data chose, and what the alternatives would have given."""
    return {
        "considered": [family.value for family in choice.considered],
        "kept": [family.value for family in choice.kept],
        "alternatives": [asdict(alternative) for alternative in choice.alternatives],
    }


def summarize_prior(fit: Identification) -> dict[str, Any] | None:
    """Return what the prior is centred on and how wide it is; None for estimators without prior.

    ``scales`` are the factors that the data chose. ``relative_deviation`` is the deviation of links that is expected,
    such as 0.2; None if nothing is expected of them, or if an earlier model says how far it can be trusted.
    """
    posterior = fit.estimate.posterior
    if posterior is None:
        return None
    names = [hyper.name for hyper in posterior.prior.hyper]
    scales = dict(zip(names, np.exp(posterior.hyper).tolist(), strict=True))
    deviation = scales.get(DESCRIPTION.name, scales.get(PLACEHOLDERS.name))
    given = posterior.prior.belongs_to((Family.LINK,)) & ~posterior.prior.design.any(axis=1)
    if deviation is None and given.any() and fit.uses_prior:
        deviation = float(posterior.scales[given][0])  # the same for all links, since it was given
    return {
        "center": fit.origin.prior.value,
        "source": fit.origin.prior_source,
        "relative_deviation": deviation,
        "scales": scales,
    }


def summarize_consistency(fit: Identification) -> dict[str, Any] | None:
    """Return what physical consistency costs, in percent of torque error; None if the geometry is unknown."""
    if fit.standard is None or fit.consistency_cost is None:
        return None
    return {
        **asdict(fit.consistency_cost),
        "prior_width": fit.standard.fit.width,
        "active_links": list(fit.standard.bodies.active_links),
        "lacking_links": [
            name for finding in fit.findings if finding.code == FitFindingCode.CONSISTENCY for name in finding.names
        ],
    }


def summarize_motion(errors: TorqueErrors) -> dict[str, list[list[float]]]:
    """Return evenly selected states of the motion; ``used`` is 1 for joints whose errors contain the sample, else 0."""
    trace = errors.trace
    rows = np.flatnonzero(np.isfinite(trace.t) & ~trace.left_out.all(axis=1))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MAX_STATES)).round().astype(int))]
    states = [[[_round(x) for x in row] for row in values[rows]] for values in (trace.q, trace.qd, trace.qdd)]
    used = (~trace.left_out[rows]).astype(int).tolist()
    return dict(zip(MOTION_KEYS, (*states, used), strict=True))


def _round(value: float) -> float:
    return float(f"{value:.{STATE_DIGITS}g}")


def format_table(fit: Identification) -> Iterator[str]:
    """Yield the lines of the table ``[identification]``."""
    origin = fit.origin
    yield f"[{TABLE}]"
    yield from _format_entries(
        {
            "ytheta": ytheta.__version__,
            "verdict": fit.verdict.grade.value,
            "reason": fit.verdict.sentence,
            **({} if fit.consistent is None else {"consistent": fit.consistent}),
            "estimator": origin.estimator,
            "form": origin.form,
            **summarize_selection(origin.parameters),
            **fit.base.unknown_geometry,
            "logs": list(origin.logs),
            "validation_logs": list(origin.validation_logs),
            "log_rows": origin.log_rows,
            "log_digests": list(origin.log_digests),
            "cutoff": origin.cutoff,  # of the errors
            "fit_cutoffs": [float(each.cutoff) for each in origin.settings],
            PREPARATION: summarize_preparation(origin),
            "torque_delay_std": origin.torque_delay.std,
            "samples": fit.samples,
            "condition_number": fit.condition_number,
            "noise": fit.torque_noise.tolist(),
            "between_logs": fit.between_logs.tolist(),
            **({"torque_scale": fit.torque_scale.tolist()} if fit.torque_scale.any() else {}),
            **summarize_min_speed(origin.min_speed),
        }
    )
    yield f"\n# One row for each of the {fit.base.noun}; std is inf if the motion does not determine it."
    yield "parameters = ["
    functions = fit.base.function_texts
    rows = zip(
        summarize_base_parameters(fit), fit.seen, fit.base.expressions, functions or [None] * len(fit.base), strict=True
    )
    for row, seen, expression, function in rows:
        row |= {"seen": seen.value, "expression": expression, "function": function}
        yield f"    {_format_inline_table(row)},"
    yield "]"
    yield f"\n# Covariance of the {fit.base.noun}, in their order; each row ends at the diagonal."
    yield "covariance = ["
    for k, covariances in enumerate(fit.covariance):
        yield f"    {_format_value(covariances[: k + 1].tolist())},"
    yield "]"
    if fit.standard is not None:
        yield "\n# Standard parameters of the bodies, with their deviations after and before the data."
        yield "standard = ["
        for row in summarize_standard_parameters(fit):
            yield f"    {_format_inline_table(row)},"
        yield "]"
    tables = {
        "fit": summarize_prediction_errors(fit, fit.fit),
        "validation": None if fit.validation is None else summarize_prediction_errors(fit, fit.validation),
        "choice": summarize_choice(fit.choice) if fit.choice.considered else None,
        "prior": summarize_prior(fit),
        "consistency": summarize_consistency(fit),
        "standard_parameters": {name: seen.value for name, seen in fit.standard_seen.items()},
    }
    for key, values in tables.items():
        if values is not None:
            yield f"\n[{TABLE}.{key}]"
            yield from _format_entries(values)
    yield "\n# States of the fit, one row each: what an export fits if its format lacks a law of friction."
    yield f"[{TABLE}.{MOTION}]"
    for key, states in summarize_motion(fit.fit).items():
        yield f"{key} = ["
        yield from (f"    {_format_value(state)}," for state in states)
        yield "]"


def _format_entries(values: Mapping[str, Any]) -> Iterable[str]:
    """Return the lines ``key = value``; None has no TOML value and is left out."""
    return (f"{_format_key(key)} = {_format_value(value)}" for key, value in values.items() if value is not None)


def _format_inline_table(values: Mapping[str, Any]) -> str:
    return f"{{ {', '.join(_format_entries(values))} }}"


def _format_key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "").isalnum() else _format_value(key)


def _format_value(value: object) -> str:
    """Return a value as TOML text; floats are written with all their digits."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_format_value, value))}]"
    if isinstance(value, Mapping):
        return _format_inline_table(value) if value else "{}"
    if isinstance(value, float):
        return repr(float(value))
    import tomlkit  # imported here, since most results are not saved

    return tomlkit.item(value).as_string()
