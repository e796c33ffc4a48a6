"""Statistics and remarks about an identification that the terminal, the page and the JSON share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import WRENCH_COMPONENTS
from ytheta.identification.assessment.excitation import Certainty, MotionCoverage, measure_coverage
from ytheta.identification.assessment.verdict import describe_motion
from ytheta.logs.log import LogSize
from ytheta.report.numbers import format_plain
from ytheta.shapes import PerJoint

if TYPE_CHECKING:
    from ytheta.identification.result import Identification
    from ytheta.robot.robot import Robot

MAX_CORRELATION = 0.99  # correlation of the errors of two parameters; above it, only a combination of both is known
MAX_CONDITION_NUMBER = 100.0  # of the scaled equations; above it, torque errors are amplified
MAX_PAIRS = 5


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
