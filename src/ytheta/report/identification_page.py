"""The page of an identification: a self-contained HTML file, its tables and the drawing of the robot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.identification.assessment.excitation import MAX_RELATIVE_STD, MAX_TORQUE_SHARE, Certainty
from ytheta.identification.consistency.standard_parameters import MAX_PRIOR_SHARE, MIN_DATA_SHARE
from ytheta.identification.model_table import summarize_standard_parameters
from ytheta.identification.priors.prior import Family
from ytheta.report import identification_statistics as statistics
from ytheta.report.html_page import render_page, write_page
from ytheta.report.identification import summarize_identification
from ytheta.report.identification_plots import plot_correlations, plot_motion, plot_residuals, plot_torques
from ytheta.report.log import describe_preparation, format_cutoff, list_origin_rows
from ytheta.report.numbers import (
    MAX_PERCENT,
    NO_VALUE,
    format_beside,
    format_count,
    format_number,
    format_percent,
    format_with_std,
    get_torque_unit,
    parameter_unit,
)
from ytheta.report.parameter_plots import plot_friction, plot_origins, plot_values
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.viewing.scene import DrawnEllipsoid, make_drawing

if TYPE_CHECKING:
    from ytheta.identification.result import Identification


def write_identification_report(identification: Identification, path: str | Path) -> Path:
    """Write the report of an identification; the file is written atomically."""
    return write_page(path, lambda: identification_html(identification))


def identification_html(identification: Identification) -> str:
    """Return the page as text."""
    content = {
        "identification": identification,
        "summary": summarize_identification(identification),
        "torque_figures": plot_torques(identification),
        "friction_figures": list(plot_friction(identification)),
        "residual_figures": list(plot_residuals(identification)),
        "motion_figures": list(plot_motion(identification)),
        "value_figures": list(plot_values(identification)),
        "origin_figures": list(plot_origins(identification)),
        "drawing": draw_robot(identification),
        "correlation": plot_correlations(identification),
        "column_rows": list_origin_rows(identification.origin.named_log_origins),
    }
    functions = (
        *(
            statistics.describe_change,
            statistics.describe_coordinates,
            statistics.describe_logs,
            statistics.describe_rests,
            describe_selection,
        ),
        *(
            statistics.describe_validation_motion,
            explain_certainty,
            explain_marks,
            format_percent,
            list_alternative_rows,
        ),
        *(
            list_cause_rows,
            list_correlated_pairs,
            list_coverage_rows,
            statistics.list_error_bars,
            statistics.list_explanations,
        ),
        *(statistics.list_file_names, list_joint_rows, list_key_numbers, list_log_rows, list_parameter_rows),
        *(list_standard_rows, statistics.list_weaknesses),
    )
    return render_page("identification.html", content, functions)


# Rows of the tables on the page of an identification: texts, and the numbers by which rows are sorted.


# Correlation of the errors of two parameters from which on the page lists them. Chosen on: rule of thumb.
MIN_CORRELATION = 0.9


def list_key_numbers(identification: Identification) -> Iterator[tuple[str, str, str]]:
    """Yield label, value and explanation of each key number."""
    errors = identification.fit if identification.validation is None else identification.validation
    if identification.validation is not None:
        yield (
            "validation error",
            format_percent(identification.validation.relative_percent),
            statistics.describe_validation_motion(identification),
        )
    else:
        yield "validation error", NO_VALUE, "no validation log was given"
    yield "fit error", format_percent(identification.fit.relative_percent), "on the logs of the fit"
    yield "against raw torque", format_percent(errors.raw_relative_percent), "before the low-pass"
    known = f"{statistics.count_parameters(identification, Certainty.DETERMINED)} / {len(identification.base)}"
    yield (
        identification.base.noun,
        known,
        f"determined, {statistics.count_parameters(identification, Certainty.SMALL)} too small to matter",
    )
    yield "condition number", format_number(identification.condition_number), "of the scaled equations"
    sizes = identification.origin.fit_sizes
    yield (
        "samples",
        format_count(sum(size.samples for size in sizes)),
        f"{format_number(sum(size.seconds for size in sizes))} s of motion, "
        f"{format_count(identification.samples)} equations per joint",
    )
    yield "mean NRMSE", format_percent(100.0 * errors.nrmse_mean), "RMSE / standard deviation of the torque"
    if identification.reported is not None:
        reported = identification.reported.validation or identification.reported.fit
        yield (
            f"error at {format_number(identification.reported.cutoff)} Hz",
            format_percent(reported.relative_percent),
            f"the report cut-off; mean NRMSE {format_percent(100.0 * reported.nrmse_mean)}",
        )
    cutoffs = {format_cutoff(each) for each in identification.origin.settings}
    explanation = f"cut-off of the fit; errors at {format_number(identification.origin.cutoff)} Hz"
    yield "low-pass", ", ".join(sorted(cutoffs)) or NO_VALUE, explanation


def list_joint_rows(identification: Identification) -> Iterator[dict[str, Any]]:
    """Yield the errors of each joint. Residuals are those of the validation, or of the fit if there is none."""
    errors = identification.fit if identification.validation is None else identification.validation
    validation = (
        np.full(len(errors.rms), np.nan)
        if identification.validation is None
        else identification.validation.per_joint_percent
    )
    columns = (
        (validation, format_percent),
        (identification.fit.per_joint_percent, format_percent),
        (errors.torque_rms, format_number),
        (errors.raw_per_joint_percent, format_percent),
        (errors.rms, format_number),
        (100.0 * errors.used_share, format_percent),
        (identification.compute_prediction_std(errors), format_number),
        (errors.of_variation_percent, format_percent),
        (statistics.compute_relative_autocorrelation(identification), lambda ratio: f"×{format_number(ratio, 2)}"),
    )
    for j, name in enumerate(identification.base.robot.actuated):
        cells = [(write(float(values[j])), float(values[j])) for values, write in columns]
        yield {"name": name, "unit": get_torque_unit(identification.base.robot, name), "cells": cells}


def list_coverage_rows(identification: Identification) -> Iterator[dict[str, Any]]:
    """Yield for each joint the recorded motion and its share of the limits."""
    coverage = statistics.measure_motion(identification)
    motion, robot = coverage.motion, identification.base.robot
    for j, name in enumerate(robot.actuated):
        unit = "m" if name in robot.prismatic_joints else "rad"
        span = float(motion.upper[j] - motion.lower[j])
        values = ((span, coverage.position[j]), (motion.speed[j], coverage.speed[j]))
        cells = [cell for value, share in values for cell in (_make_number(value), _make_share(share))]
        torque = (_make_number(motion.torque[j]), _make_share(coverage.torque[j]))
        yield {"name": name, "unit": unit, "cells": [*cells, *torque]}


def _make_number(value: float) -> tuple[str, float]:
    return format_number(float(value)), float(value)


def _make_share(share: float) -> tuple[str, float]:
    return format_percent(100.0 * float(share), 2), 100.0 * float(share)


def list_cause_rows(identification: Identification) -> Iterator[tuple[str, str, str]]:
    """Yield joint, cause and its share of the residual, for each joint whose residual has a cause that was found."""
    for each in identification.residual_causes:
        if each.text:
            yield each.joint, each.text, f"{100.0 * each.share:.0f} %"


def list_parameter_rows(identification: Identification) -> Iterator[dict[str, Any]]:
    sliding = identification.base.robot.prismatic_joints
    functions = identification.base.function_texts
    relative, leading_terms = identification.relative_std_percent, identification.base.leading_terms
    described, differences = identification.description_beta, identification.description_differences
    for k, name in enumerate(identification.names):
        value, std = float(identification.beta[k]), float(identification.std[k])
        yield {
            "name": name,
            "value": (format_with_std(value, std), value),
            "std": (format_number(std, 2), std),
            "described": _make_cell(described, k, scale=std),
            "difference": _make_cell(differences, k, scale=1.0, digits=2),
            "relative": (_format_relative(float(relative[k])), float(relative[k])),
            "unit": parameter_unit(leading_terms[k][0], sliding, length_power=leading_terms[k][1]),
            "mark": identification.marks[k],
            "seen": identification.seen[k],
            "expression": identification.base.expressions[k],
            "function": functions[k] if functions else "",
        }


def _make_cell(values: np.ndarray | None, place: int, *, scale: float, digits: int = 3) -> tuple[str, float]:
    value = np.nan if values is None else float(values[place])
    return format_beside(value, scale, digits), value


def list_standard_rows(identification: Identification) -> Iterator[dict[str, Any]]:
    """Yield for each standard parameter its value before and after the data, with standard deviations and mark."""
    robot, posterior = identification.base.robot, identification.estimate.posterior
    expected = dict(zip(robot.parameter_names, robot.theta.tolist(), strict=True))
    described = expected | {}
    if posterior is not None:
        expected |= dict(zip(posterior.prior.names, posterior.prior.mean.tolist(), strict=True))
    flat, differences = _find_flat_parameters(identification), identification.standard_differences
    for row in summarize_standard_parameters(identification):
        before, prior_std = expected[row["name"]], np.inf if row["name"] in flat else row["prior_std"]
        difference = float(differences[row["name"]])
        yield {
            "name": row["name"],
            "unit": parameter_unit(row["name"], robot.prismatic_joints),
            "cells": [
                (format_beside(described[row["name"]], row["std"]), described[row["name"]]),
                (format_beside(before, row["std"]), before),
                (format_number(prior_std, 2), prior_std),
                (format_with_std(row["value"], row["std"]), row["value"]),
                (format_number(row["std"], 2), row["std"]),
                (format_beside(difference, 1.0, 2), difference),
            ],
            "mark": row["mark"],
        }


def _find_flat_parameters(identification: Identification) -> set[str]:
    """Return the standard parameters of which the prior says nothing, such as friction."""
    posterior = identification.estimate.posterior
    if posterior is None:
        return set()
    prior = posterior.prior
    flat = prior.axes[:, prior.belongs_to((Family.FLAT,))]
    return {name for name, row in zip(prior.names, flat, strict=True) if row.any()}


def list_alternative_rows(identification: Identification) -> Iterator[dict[str, Any]]:
    """Yield the chosen model and its alternatives."""
    for name, factor, fit, validation in statistics.list_alternatives(identification):
        error = np.nan if validation is None else validation
        yield {
            "name": name,
            "unit": "",
            "cells": [
                (statistics.format_log_bayes_factor(factor), factor),
                (format_percent(fit), fit),
                (format_percent(error), error),
            ],
        }


def explain_marks() -> str:
    """Return an explanation of the words for what determines a parameter."""
    data, prior = 100.0 * MIN_DATA_SHARE, 100.0 * MAX_PRIOR_SHARE
    return (
        f"Data: the data have removed at least {data:g} % of the variance that was expected before. Prior: at most "
        f"{prior:g} %, so that the value is that of the prior. Shared: in between."
    )


def _format_relative(value: float) -> str:
    return format_percent(value, 2) if value < MAX_PERCENT or not np.isfinite(value) else f"> {MAX_PERCENT:g} %"


def list_correlated_pairs(identification: Identification) -> list[str]:
    """Return as text the pairs of parameters whose errors are most strongly correlated."""
    return [
        f"{a} with {b} ({format_number(value, 2)})"
        for a, b, value in statistics.find_strongest_correlations(identification, MIN_CORRELATION)
    ]


def explain_certainty() -> str:
    """Return an explanation of the words for certainty, such as weak."""
    std, torque = 100.0 * MAX_RELATIVE_STD, 100.0 * MAX_TORQUE_SHARE
    return (
        f"Determined: the standard deviation is below {std:g} % of the value. Too small to matter: it is larger, but "
        f"changes no torque by more than {torque:g} %. Weakly determined: all others."
    )


def describe_selection(identification: Identification) -> str:
    """Return a text that names the kinds of parameters that were estimated."""
    kinds = {name.rpartition(".")[2] for name in identification.base.selected}
    words = [word for word, kind in FRICTION_PARAMETERS.items() if kind in kinds]
    friction = f"{', '.join(words)} friction" if words else "no friction"
    return f"links, {friction}, {'rotor inertia' if 'Ia' in kinds else 'no rotor inertia'}"


def list_log_rows(identification: Identification) -> Iterator[list[str]]:
    """Yield for each log a row that says what it was used for, which of its rows, and how it was prepared.

    Validation logs have the cut-off of the errors.
    """
    origin = identification.origin
    names, settings = (*origin.logs, *origin.validation_logs), (*origin.settings, *origin.validation_settings)
    log_origins = origin.log_origins or (None,) * len(names)
    for k, (name, each, log_origin) in enumerate(zip(names, settings, log_origins, strict=True)):
        use = "fit" if k < len(origin.logs) else "validation"
        rows = "" if log_origin is None else log_origin.describe_rows() or f"all {log_origin.rows}"
        preparation = describe_preparation(each, identification.base.robot.actuated)
        yield [statistics.list_file_names((name,)), use, rows.removeprefix("rows "), *preparation]


# The robot with its inertia ellipsoids before and after, as data that the script of the page draws.


DIGITS = 5  # of coordinates in metres


def draw_robot(identification: Identification) -> dict[str, Any] | None:
    """Return lines and ellipsoids at a recorded pose; None if the geometry is unknown."""
    if identification.standard is None:
        return None
    drawing = make_drawing(identification.base.robot, identification.robot, identification.fit.trace.q)
    if drawing is None:
        return None
    described = drawing.before if identification.description_errors is not None else ()
    return {
        "lines": np.round(drawing.lines, DIGITS).tolist(),
        "before": [_to_data(each) for each in described],
        "after": [_to_data(each) for each in drawing.after],
    }


def _to_data(ellipsoid: DrawnEllipsoid) -> dict[str, Any]:
    mass = f"{format_number(ellipsoid.mass)} kg"
    return {
        "label": f"{ellipsoid.link}: {mass}" + ("" if ellipsoid.consistent else ", not physically consistent"),
        "center": np.round(ellipsoid.center, DIGITS).tolist(),
        "matrix": np.round(ellipsoid.matrix, 2 * DIGITS).tolist(),
    }
