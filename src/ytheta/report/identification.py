"""An identification for a terminal of any width, and as the output of ``ytheta identify --json``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import ytheta
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.assessment.verdict import Grade
from ytheta.identification.consistency.standard_parameters import Mark
from ytheta.identification.model_table import (
    summarize_base_parameters,
    summarize_causes,
    summarize_choice,
    summarize_consistency,
    summarize_errors,
    summarize_min_speed,
    summarize_prediction_errors,
    summarize_prior,
    summarize_selection,
    summarize_standard_parameters,
)
from ytheta.report import identification_statistics as statistics
from ytheta.report.numbers import NO_VALUE, format_plain, format_relative_std, replace_nonfinite, significant_digits
from ytheta.report.terminal import TerminalColumn, fit_table, list_names, print_note, print_table, safe_text, safe_texts
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ytheta.identification.result import Identification

GRADE_COLOURS = {Grade.GOOD: "green", Grade.USABLE: "yellow"}  # other grades are red
CERTAINTY_LABELS = {
    Certainty.DETERMINED: ("yes", "green"),
    Certainty.SMALL: ("small", "dim"),
    Certainty.WEAK: ("weak", "yellow"),
    Certainty.UNSEEN: ("no", "red"),
}
MAX_NAMES = 6  # parameter names in a line
MIN_EXPRESSION_WIDTH = 20  # characters; a narrower column would not be readable
COLUMN_GAP = 3  # characters
MARK_COLOURS = {Mark.DATA: "green", Mark.SHARED: "", Mark.PRIOR: "yellow"}


def print_identification(console: Console, identification: Identification, *, verbose: bool = False) -> None:
    """Print parameters, joints and remarks; the verdict is the last line."""
    for line in _describe_data(identification):
        console.print(line)
    _print_parameters(console, identification, verbose=verbose)
    ratios = [f"×{ratio:.2g}" for ratio in statistics.compute_relative_autocorrelation(identification)]
    robot, validation = identification.base.robot, identification.validation
    std = identification.compute_prediction_std(identification.fit if validation is None else validation)
    before = identification.description_errors
    print_joint_errors(console, robot, identification.fit, validation, correlated=ratios, std=std, before=before)
    if validation is not None:
        print_note(
            console, "fit % and correlated refer to the logs used for the fit, all other columns to the validation logs"
        )
    for text in statistics.describe_reported_errors(identification):
        console.print(safe_text(text))
    _print_alternatives(console, identification)
    for line in _list_remarks(identification):
        console.print(line)
    headline = statistics.describe_before_after(identification)
    if headline:
        console.print(safe_text(headline, "bold"))
    verdict = identification.verdict
    line = safe_text(verdict.sentence, f"bold {GRADE_COLOURS.get(verdict.grade, 'red')}")
    console.print(line, soft_wrap=True)  # not wrapped, because scripts look for this line


def print_joint_errors(
    console: Console,
    robot: Robot,
    fit: TorqueErrors,
    validation: TorqueErrors | None,
    *,
    correlated: Sequence[str] = (),
    std: PerJoint | None = None,
    before: TorqueErrors | None = None,
) -> None:
    """Print the errors of each joint. With a validation, the columns after the percentages describe the validation.

    ``std``: RMS of the standard deviations of the predicted torques, if they are known. ``before``: errors of the
    description on the same logs.
    """
    errors = fit if validation is None else validation
    units = ["N" if name in robot.prismatic_joints else "Nm" for name in robot.actuated]

    def percents(values: Iterable[float], total: float | None = None) -> list[Text]:
        return safe_texts([*map(_format_percent, values), "" if total is None else _format_percent(total)])

    def with_units(values: Iterable[float]) -> list[Text]:
        rows = zip(values, units, errors.counts, strict=True)
        return safe_texts([*(f"{format_plain(value)} {unit}" if used else NO_VALUE for value, unit, used in rows), ""])

    def used_percents(values: Iterable[float], of: TorqueErrors, total: float) -> list[Text]:
        return percents([value if used else math.nan for value, used in zip(values, of.counts, strict=True)], total)

    columns = [
        TerminalColumn("joint", safe_texts([*robot.actuated, "all joints"]), align_left=True),
        TerminalColumn("torque RMS", with_units(errors.torque_rms), short_heading="torque", drop_priority=2),
        TerminalColumn(
            "fit %" if correlated else "error %",
            used_percents(fit.per_joint_percent, fit, fit.relative_percent),
            drop_priority=0 if validation is None else 1,
        ),
    ]
    if before is not None:
        cells = used_percents(before.per_joint_percent, before, before.relative_percent)
        columns.insert(2, TerminalColumn("before %", cells, short_heading="before", drop_priority=2))
    if validation is not None:
        cells = used_percents(validation.per_joint_percent, validation, validation.relative_percent)
        columns.append(TerminalColumn("validation %", cells, short_heading="valid. %"))
    columns += [
        TerminalColumn(
            "raw %",
            used_percents(errors.raw_per_joint_percent, errors, errors.raw_relative_percent),
            drop_priority=5,
        ),
        TerminalColumn(
            "NRMSE %",
            percents(errors.of_variation_percent, 100.0 * errors.nrmse_mean),
            short_heading="NRMSE",
            drop_priority=6,
        ),
        TerminalColumn("error RMS", with_units(errors.rms), short_heading="error", drop_priority=3),
    ]
    if (errors.used_share < 1.0).any():
        columns.append(TerminalColumn("used %", percents(100.0 * errors.used_share), drop_priority=4))
    if std is not None:
        columns.append(TerminalColumn("std RMS", with_units(std), short_heading="std", drop_priority=7))
    if correlated:
        columns.append(
            TerminalColumn("correlated", safe_texts([*correlated, ""]), short_heading="corr.", drop_priority=4)
        )
    print_table(console, fit_table(columns, console.width, has_total_row=True))
    if (errors.used_share < 1.0).any():
        print_note(console, "used % of the samples: the errors leave out those at which a joint rests or is slow")
    if robot.floating and not errors.torque_rms[: len(robot.base_coordinates)].any():
        print_note(
            console,
            "nothing touches the base: the percentages of its rows are relative to the mean torque of the joints",
        )


def _print_parameters(console: Console, identification: Identification, *, verbose: bool) -> None:
    """Print values, standard deviations and combinations; long combinations are shortened unless ``verbose`` is set."""
    base = identification.base
    numbers = list(zip(identification.beta, identification.std, identification.relative_std_percent, strict=True))
    values = [format_plain(value, significant_digits(value, std), zeros=True) for value, std, _ in numbers]
    columns = [
        TerminalColumn(
            base.noun.removesuffix("s"), safe_texts(identification.names), short_heading="parameter", align_left=True
        ),
        TerminalColumn("value", safe_texts(values)),
        TerminalColumn("± std", safe_texts(format_plain(std, 2) for _, std, _ in numbers)),
        TerminalColumn("std %", safe_texts(format_relative_std(percent) for *_, percent in numbers), drop_priority=1),
        TerminalColumn("seen", [safe_text(*CERTAINTY_LABELS[seen]) for seen in identification.seen], align_left=True),
    ]
    if identification.uses_prior:
        determined_by = [safe_text(mark.value, MARK_COLOURS[mark]) for mark in identification.marks]
        columns.append(
            TerminalColumn("determined by", determined_by, short_heading="by", drop_priority=2, align_left=True)
        )
    table = fit_table(columns, console.width)
    width = console.width - table.width - COLUMN_GAP
    has_stars = any(name.endswith("*") for name in base.names)
    pairs = zip(base.independent, base.expressions, strict=True)
    terms = [_list_terms(expression, name) for name, expression in pairs]
    complete = all(len(" ".join(pieces)) <= width for pieces in terms)
    if complete or (width >= MIN_EXPRESSION_WIDTH and not verbose):
        heading = "combined with" if has_stars else "combination"
        combined = TerminalColumn(heading, safe_texts(_join_terms(pieces, width) for pieces in terms), align_left=True)
        table = fit_table([*columns, combined], console.width)
    print_table(console, table)
    if verbose and not complete:
        for name, expression in zip(identification.names, base.expressions, strict=True):
            if name.endswith("*") or expression not in (name, ""):
                console.print(safe_text(f"{name} = {expression}"), soft_wrap=True)
    elif not complete:
        marks = " (*)" if has_stars else ""
        print_note(console, f"combinations{marks} in full: --verbose, or base.expressions in Python")
    functions = base.function_texts
    if functions is not None and verbose:
        print_note(console, "functions F of the motion; the Lagrangian is the sum of all F · X")
        for name, function in zip(identification.names, functions, strict=True):
            if function:
                console.print(safe_text(f"F of {name} = {function}"), soft_wrap=True)
    elif functions is not None:
        print_note(console, f"functions F of these parameters: --verbose, or {_make_base_command(identification)}")


def _print_alternatives(console: Console, identification: Identification) -> None:
    """Print the chosen model and what the opposite of each choice would have given."""
    rows = list(statistics.list_alternatives(identification))
    if not rows:
        return
    columns = [
        TerminalColumn("alternative", safe_texts(name for name, *_ in rows), align_left=True),
        TerminalColumn(
            "log Bayes factor",
            safe_texts(statistics.format_log_bayes_factor(factor) for _, factor, *_ in rows),
            short_heading="log Bayes",
        ),
        TerminalColumn("fit %", safe_texts(_format_percent(fit) for *_, fit, _ in rows), drop_priority=2),
    ]
    if identification.validation is not None:
        errors = safe_texts("" if value is None else _format_percent(value) for *_, value in rows)
        columns.append(TerminalColumn("validation %", errors, short_heading="valid. %", drop_priority=1))
    print_table(console, fit_table(columns, console.width))


def _make_base_command(identification: Identification) -> str:
    """Return the command that prints F and X with the same numbers as this identification."""
    selection = summarize_selection(identification.origin.parameters)
    friction = f" --friction {','.join(selection['friction'])}" if selection["friction"] else ""
    rotor_inertia = " --rotor-inertia" if selection["rotor_inertia"] else ""
    robot = identification.base.robot
    is_all_unknown = set(robot.unset_symbols) == robot.symbolic_lengths | robot.symbolic_angles
    unknown = " --unknown-geometry" if is_all_unknown else ""
    zero = ",".join(parameter_name(link.name, name) for link in robot.links for name in link.zero)
    declared = f" --zero {zero}" if zero else ""
    return f"ytheta base ROBOT --method ha{unknown}{friction}{rotor_inertia}{declared}"


def _describe_data(identification: Identification) -> Iterator[Text]:
    origin = identification.origin
    robot, parameters = identification.base.robot, statistics.describe_parameters(identification)
    yield safe_text(
        f"{robot.name}: {statistics.describe_coordinates(robot)}, {len(identification.base)} {parameters}; "
        f"estimator {origin.estimator}, {origin.form} form, {statistics.describe_low_pass(identification)}"
    )
    yield safe_text(
        f"fitted to     {statistics.list_file_names(origin.logs)}: {statistics.describe_sizes(origin.fit_sizes)}"
    )
    if identification.validation is not None:
        names = statistics.list_file_names(origin.validation_logs)
        yield safe_text(f"validated on  {names}: {statistics.describe_sizes(origin.validation_sizes)}")


def _list_remarks(identification: Identification) -> Iterator[Text]:
    for text in statistics.list_explanations(identification):
        yield safe_text(text)
    counts = {seen: statistics.count_parameters(identification, seen) for seen in Certainty}
    yield safe_text(
        f"{counts[Certainty.DETERMINED]} of {len(identification.seen)} {identification.base.noun} determined, "
        f"{counts[Certainty.SMALL]} too small to matter, {counts[Certainty.WEAK]} weak, "
        f"{counts[Certainty.UNSEEN]} not seen"
    )
    condition = identification.condition_number
    words = format_plain(condition) if math.isfinite(condition) else "infinite"
    yield safe_text(f"condition number {words}, {identification.samples} equations per joint")
    if identification.estimate.joint_condition_numbers is not None:
        pairs = zip(identification.base.robot.actuated, identification.estimate.joint_condition_numbers, strict=True)
        numbers = ", ".join(f"{name} {format_plain(number)}" for name, number in pairs)
        yield safe_text(f"condition numbers of the joints' own equations: {numbers}")
    if identification.torque_scale.any():
        yield safe_text(describe_torque_scale(identification.torque_scale))
    for advice in identification.missing:
        yield safe_text(f"missing motion: {advice.text} (for {list_names(advice.parameters, MAX_NAMES)})")
    for remark in statistics.list_weaknesses(identification):
        yield safe_text(remark)
    if identification.inconsistent and identification.consistent is not None:  # else there are findings about it
        parts = list_names(tuple(identification.inconsistent), MAX_NAMES)
        remark = f"the parameters of {parts} are not physically consistent; simulators may refuse the model"
        yield safe_text(remark, "yellow")


def describe_torque_scale(torque_scale: PerJoint) -> str:
    """Return a line about torques from currents; ``torque_scale``: standard deviation of the scale of each joint."""
    percent = format_plain(100.0 * float(torque_scale.max()), 2)
    return (
        f"torques from currents: masses and torques are as uncertain as the gains, about {percent} %, which the "
        "standard deviations do not contain"
    )


def _list_terms(expression: str, name: str) -> list[str]:
    """Return the terms of an expression that are not the parameter itself; sums in parentheses stay together."""
    terms = re.split(r" (?=[+-] [^()]*(?:\([^()]*\)[^()]*)*$)", expression)
    return terms[1:] if terms[0] == name else terms


def _join_terms(terms: Sequence[str], width: int) -> str:
    """Return an expression with as many whole terms as fit into the width."""
    if len(" ".join(terms)) <= width:
        return " ".join(terms)
    line = ""
    for term in terms:
        if len(line) + len(term) + 3 > width:
            break
        line += f"{term} "
    return f"{line}…"


def _format_percent(value: float) -> str:
    if math.isnan(value):
        return NO_VALUE
    return format_plain(value) if value < 100.0 else f"{value:.0f}" if value < 1e6 else "> 999999"


# An identification as plain data: the output of ``ytheta identify --json``, also embedded in the page.


def summarize_identification(identification: Identification) -> dict[str, Any]:
    """Return the results of an identification; infinite and undefined numbers become None."""
    origin = identification.origin
    nothing = np.full(len(identification.base), np.nan)
    described, differences = identification.description_beta, identification.description_differences
    rows = zip(
        summarize_base_parameters(identification),
        (nothing if described is None else described).tolist(),
        (nothing if differences is None else differences).tolist(),
        identification.base.independent,
        identification.relative_std_percent,
        identification.seen,
        identification.base.expressions,
        identification.base.function_texts or [None] * len(identification.base),
        strict=True,
    )
    data = {
        "ytheta": ytheta.__version__,
        "robot": identification.base.robot.name,
        "joints": list(identification.base.robot.actuated),
        "logs": list(origin.logs),
        "validation_logs": list(origin.validation_logs),
        "log_rows": origin.log_rows,
        **summarize_selection(origin.parameters),
        "unknown_lengths": [],
        "unknown_angles": [],
        **identification.base.unknown_geometry,
        "estimator": origin.estimator,
        "form": origin.form,
        "cutoff": origin.cutoff,
        "cutoffs": list(origin.judged_cutoffs),
        "fit_cutoffs": [float(each.cutoff) for each in origin.settings],
        "derivative": origin.settings[0].derivative,
        "torque_delay": origin.torque_delay.value,
        "torque_delay_std": origin.torque_delay.std,
        "min_speed": None,
        **summarize_min_speed(origin.min_speed),
        "samples": identification.samples,
        "equations": [round(count) for count in identification.normal_equations.counts.tolist()],
        "base_count": len(identification.base),
        "determined": statistics.count_parameters(identification, Certainty.DETERMINED),
        "too_small_to_matter": statistics.count_parameters(identification, Certainty.SMALL),
        "weak": statistics.count_parameters(identification, Certainty.WEAK),
        "unseen": statistics.count_parameters(identification, Certainty.UNSEEN),
        "condition_number": identification.condition_number,
        "joint_condition_numbers": _summarize_joint_condition_numbers(identification),
        "fit": summarize_prediction_errors(identification, identification.fit),
        "validation": None
        if identification.validation is None
        else summarize_prediction_errors(identification, identification.validation),
        "before_after": statistics.summarize_before_after(identification),
        "motion": _summarize_coverage(identification),
        "noise": identification.torque_noise.tolist(),
        "between_logs": identification.between_logs.tolist(),
        "torque_scale": identification.torque_scale.tolist(),
        "quality": _summarize_quality(identification),
        "residual_causes": summarize_causes(identification),
        "reported": _summarize_reported_errors(identification),
        "parameters": [
            {
                **row,
                "description": before,
                "difference_in_std": difference,
                "independent": independent,
                "relative_std_percent": percent if row["value"] else None,
                "seen": seen.value,
                "expression": expression,
                "function": function,
            }
            for row, before, difference, independent, percent, seen, expression, function in rows
        ],
        "standard_parameters": {name: seen.value for name, seen in identification.standard_seen.items()},
        "standard": list(summarize_standard_parameters(identification)),
        "choice": summarize_choice(identification.choice),
        "prior": summarize_prior(identification),
        "consistency": summarize_consistency(identification),
        "correlations": [
            {"parameters": [a, b], "value": value}
            for a, b, value in statistics.find_strongest_correlations(identification, statistics.MAX_CORRELATION)
        ],
        "correlated": statistics.compute_relative_autocorrelation(identification).tolist(),
        "autocorrelation_time": identification.fit.autocorrelation_time.tolist(),
        "missing": [
            {"parameters": list(advice.parameters), "motion": advice.text} for advice in identification.missing
        ],
        "findings": [finding.data for finding in identification.findings],
        "consistent": identification.consistent,
        "inconsistent": identification.inconsistent,
        "verdict": identification.verdict.grade.value,
        "solved": identification.verdict.solved,
        "reason": identification.verdict.sentence,
    }
    return {key: replace_nonfinite(value) for key, value in data.items()}


def _summarize_quality(identification: Identification) -> dict[str, Any]:
    """Return the percentages by which the model is graded."""
    quality, other = identification.quality, identification.other_motion_quality
    return {
        "error_percent": quality.total_error,
        "joint_error_percent": quality.error.tolist(),
        "uncertainty_percent": quality.total_uncertainty,
        "joint_uncertainty_percent": quality.uncertainty.tolist(),
        "other_motion_uncertainty_percent": None if other is None else other.total_uncertainty,
    }


def _summarize_reported_errors(identification: Identification) -> dict[str, Any] | None:
    """Return the errors at the report cut-off, if it was given."""
    reported = identification.reported
    if reported is None:
        return None
    return {
        "cutoff": reported.cutoff,
        "fit": replace_nonfinite(summarize_errors(reported.fit)),
        "validation": None if reported.validation is None else replace_nonfinite(summarize_errors(reported.validation)),
    }


def _summarize_joint_condition_numbers(identification: Identification) -> dict[str, float] | None:
    """Return the condition number of every joint's own equations, if the estimator is lin."""
    numbers = identification.estimate.joint_condition_numbers
    if numbers is None:
        return None
    return dict(zip(identification.base.robot.actuated, numbers.tolist(), strict=True))


def _summarize_coverage(identification: Identification) -> list[dict[str, Any]]:
    """Return the recorded motion of each joint and its share of the limits as plain data."""
    coverage = statistics.measure_motion(identification)
    return [
        {
            "joint": name,
            "lower": float(coverage.motion.lower[j]),
            "upper": float(coverage.motion.upper[j]),
            "position_share": float(coverage.position[j]),
            "speed": float(coverage.motion.speed[j]),
            "speed_share": float(coverage.speed[j]),
            "torque": float(coverage.motion.torque[j]),
            "torque_share": float(coverage.torque[j]),
        }
        for j, name in enumerate(identification.base.robot.actuated)
    ]
