"""Settings of a simulation in words: the law and its gains, the unknown parameters, the plant, the variation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.report.numbers import format_percent, format_plain
from ytheta.report.simulation.statistics import PLANT_NAMES, SimulationStatistics
from ytheta.report.terminal import list_names
from ytheta.shapes import Float
from ytheta.simulation.sensors import Sensor

if TYPE_CHECKING:
    from ytheta.control.laws.law import AdaptiveLaw, Law

MAX_ITEMS = 8  # numbers or names that are listed in a row
SEPARATE_SETTINGS = ("robot", "base", "learn", "adaptation", "torque_limits")  # settings with rows of their own
MAX_RELATIVE_ROUNDING = 1e-12  # relative difference of two parameters; below it, they count as equal


def describe_settings(statistics: SimulationStatistics, reference_note: str) -> Iterator[tuple[str, str]]:
    """Yield label and text of each setting."""
    simulation, law = statistics.simulation, statistics.simulation.controller
    yield "Controller", law.name
    for field in fields(law):
        value = getattr(law, field.name)
        if field.name not in SEPARATE_SETTINGS and value is not None:
            yield field.name.replace("_", " ").capitalize(), format_setting(value)
    if simulation.unknown_names:
        yield "Adaptation", format_setting(_adaptation(law))
        yield "Unknown parameters", describe_unknowns(statistics)
    else:
        yield "Unknown parameters", "none: all parameters are taken from the description"
    yield "Torque limits", _describe_limits(statistics)
    yield (
        "Reference",
        reference_note or f"{format_plain(simulation.runs.seconds)} s, {len(simulation.runs.t)} instants kept",
    )
    yield "Plant", f"{PLANT_NAMES.get(simulation.plant, simulation.plant)}; {_describe_plants(statistics)}"
    for change in simulation.parameter_changes:
        changed = [f"{name} = {format_plain(value)}" for name, value in change.values.items() if value]
        yield f"At {format_plain(change.t)} s", f"{list_names(changed, MAX_ITEMS) or 'all zero'} from then on"
    yield "Sensors", _describe_sensors(statistics)
    if simulation.gains is not None and len(simulation.gain_names):
        ranges = [
            f"{name.replace('_', ' ')} × {_format_range(simulation.gains[:, k])}"
            for k, name in enumerate(simulation.gain_names)
        ]
        yield "Gains of the runs", "; ".join(ranges)


def describe_unknowns(statistics: SimulationStatistics) -> str:
    """Return a text with the number and the names of the unknown parameters."""
    names = [each.name for each in statistics.parameters]
    base = statistics.simulation.controller.unknowns.base
    base_count = 0 if base is None else len(set(base.independent) & set(statistics.simulation.unknown_names))
    count = f"{len(names)} {'parameter' if len(names) == 1 else 'parameters'}"
    of_them = f", {base_count} of them base parameters" if base_count else ""
    return f"{count}{of_them}: {list_names(names, MAX_ITEMS)}"


def format_setting(value: Any) -> str:
    """Return a setting as text."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = [
            f"{field.name.replace('_', ' ')} {format_setting(getattr(value, field.name))}"
            for field in fields(value)
            if getattr(value, field.name) is not None
        ]
        name = type(value).__name__
        return f"{name} ({', '.join(inside)})" if inside else name
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return str(value)
    if numbers.ndim == 2 and not np.count_nonzero(numbers - np.diag(numbers.diagonal())):
        return f"diagonal {_format_numbers(numbers.diagonal())}"
    if numbers.ndim == 2:
        return f"{numbers.shape[0]} × {numbers.shape[1]} matrix, diagonal {_format_numbers(numbers.diagonal())}"
    return format_plain(float(numbers)) if numbers.ndim == 0 else _format_numbers(numbers)


def _adaptation(law: Law | AdaptiveLaw) -> object:
    """Return the adaptation law as the user gave it; a number is the gain of a gradient law."""
    return getattr(law, "adaptation", law.adaptation_law)


def _format_numbers(values: Float[np.ndarray, "values"]) -> str:
    if len(values) and (values == values[0]).all():
        return f"{format_plain(float(values[0]))} for each of {len(values)}"
    if len(values) <= MAX_ITEMS:
        return ", ".join(format_plain(float(value)) for value in values)
    return f"{len(values)} numbers, {_format_range(values)}"


def _format_range(values: Float[np.ndarray, "values"]) -> str:
    return f"{format_plain(float(values.min()))} … {format_plain(float(values.max()))}"


def _describe_limits(statistics: SimulationStatistics) -> str:
    if statistics.enforces_limits:
        return f"{format_setting(statistics.simulation.controller.torque_limits)}; the controller enforces them"
    if np.isfinite(statistics.limits).any():
        return "none; those of the description are shown, but not enforced"
    return "none"


def _describe_plants(statistics: SimulationStatistics) -> str:
    """Return a text about differences between the plants of the runs, or between plant and controller."""
    theta = statistics.simulation.theta
    described = statistics.simulation.controller.robot.numeric.theta
    size = abs(theta).max(axis=0, initial=0.0)
    different = np.ptp(theta, axis=0) > MAX_RELATIVE_ROUNDING * size
    if different.any():
        std, mean = np.std(theta[:, different], axis=0), abs(np.mean(theta[:, different], axis=0))
        spread = 100.0 * float(np.median(std[mean > 0.0] / mean[mean > 0.0])) if (mean > 0.0).any() else np.inf
        count = int(different.sum())
        verb = "differs" if count == 1 else "differ"
        deviation = f"by {format_percent(spread, 2)} (standard deviation)"
        return f"{count} of {len(described)} parameters {verb} between runs {deviation}"
    changed = int((abs(theta[0] - described) > MAX_RELATIVE_ROUNDING * size).sum())
    return f"{changed} parameters differ from the controller's description" if changed else "parameters as described"


def _describe_sensors(statistics: SimulationStatistics) -> str:
    """Return a text with the errors of each sensor."""
    sensors = statistics.simulation.sensors
    if sensors is None:
        return "without errors"
    kinds = (("position", sensors.q), ("velocity", sensors.qd), ("acceleration", sensors.qdd), ("torque", sensors.tau))
    descriptions = [f"{kind} {', '.join(_list_errors(sensor))}" for kind, sensor in kinds if any(_list_errors(sensor))]
    return "; ".join(descriptions) or "without errors"


def _list_errors(sensor: Sensor) -> list[str]:
    errors = []
    for name in ("noise", "bias", "scale", "step", "delay"):
        size = np.asarray(getattr(sensor, name), dtype=float)
        if size.any():
            errors.append(
                f"{name} {format_plain(float(size), 3)}" if size.ndim == 0 else f"{name} differs between joints"
            )
    return errors
