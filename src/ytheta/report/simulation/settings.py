"""How a simulation was made, in words: the law and its gains, what it learns, the plant, what differs between runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.report.numbers import percent, plain
from ytheta.report.simulation.figures import PLANTS, Figures
from ytheta.shapes import Float
from ytheta.simulation.sensors.sensors import Sensor

if TYPE_CHECKING:
    from ytheta.control.laws.adaptive_law import AdaptiveLaw
    from ytheta.control.laws.law import Law

FEW = 8  # numbers or names in a row
APART = ("robot", "base", "learn", "adaptation", "torque_limits")  # settings with a row of their own
ROUNDING = 1e-12  # relative: no difference


def settings(figures: Figures, course_note: str) -> Iterator[tuple[str, str]]:
    """Label and text of each setting."""
    found, law = figures.found, figures.found.controller
    yield "Controller", law.name
    for field in fields(law):
        value = getattr(law, field.name)
        if field.name not in APART and value is not None:
            yield field.name.replace("_", " ").capitalize(), written(value)
    if found.unknown_names:
        yield "Adaptation", written(_adaptation(law))
        yield "Learnt", learnt(figures)
    else:
        yield "Learnt", "nothing: all parameters are taken from the description"
    yield "Torque limits", _limits(figures)
    yield "Reference", course_note or f"{plain(found.runs.seconds)} s, {len(found.runs.t)} instants kept"
    yield "Plant", f"{PLANTS.get(found.plant, found.plant)}; {_plants(figures)}"
    for change in found.parameter_changes:
        changed = [f"{name} = {plain(value)}" for name, value in change.values.items() if value]
        yield f"At {plain(change.t)} s", f"{_some(changed) or 'all zero'} from then on"
    yield "Sensors", _sensors(figures)
    if found.gains is not None and len(found.gain_names):
        ranges = [
            f"{name.replace('_', ' ')} × {_between(found.gains[:, k])}" for k, name in enumerate(found.gain_names)
        ]
        yield "Gains of the runs", "; ".join(ranges)


def learnt(figures: Figures) -> str:
    """What is learnt, counted and named."""
    names = [each.name for each in figures.parameters]
    base = figures.found.controller.unknowns.base
    heads = 0 if base is None else len(set(base.independent) & set(figures.found.unknown_names))
    count = f"{len(names)} {'parameter' if len(names) == 1 else 'parameters'}"
    of_them = f", {heads} of them base parameters" if heads else ""
    return f"{count}{of_them}: {_some(names)}"


def written(value: Any) -> str:
    """A setting as a person would write it."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = [
            f"{field.name.replace('_', ' ')} {written(getattr(value, field.name))}"
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
        return f"diagonal {_numbers(numbers.diagonal())}"
    if numbers.ndim == 2:
        return f"{numbers.shape[0]} × {numbers.shape[1]} matrix, diagonal {_numbers(numbers.diagonal())}"
    return plain(float(numbers)) if numbers.ndim == 0 else _numbers(numbers)


def _adaptation(law: Law | AdaptiveLaw) -> object:
    """As it was given: a number stands for a gradient."""
    return getattr(law, "adaptation", law.adaptation_law)


def _numbers(values: Float[np.ndarray, "values"]) -> str:
    if len(values) and (values == values[0]).all():
        return f"{plain(float(values[0]))} for each of {len(values)}"
    if len(values) <= FEW:
        return ", ".join(plain(float(value)) for value in values)
    return f"{len(values)} numbers, {_between(values)}"


def _between(values: Float[np.ndarray, "values"]) -> str:
    return f"{plain(float(values.min()))} … {plain(float(values.max()))}"


def _limits(figures: Figures) -> str:
    if figures.limited:
        return f"{written(figures.found.controller.torque_limits)}; the controller keeps to them"
    if np.isfinite(figures.limits).any():
        return "none; those of the description are shown, and nothing keeps to them"
    return "none"


def _plants(figures: Figures) -> str:
    """How the robots differ from the description of the controller, and from each other."""
    theta = figures.found.theta
    own = figures.found.controller.robot.numeric.theta
    size = abs(theta).max(axis=0, initial=0.0)
    different = np.ptp(theta, axis=0) > ROUNDING * size
    if different.any():
        deviation, mean = np.std(theta[:, different], axis=0), abs(np.mean(theta[:, different], axis=0))
        spread = 100.0 * float(np.median(deviation[mean > 0.0] / mean[mean > 0.0])) if (mean > 0.0).any() else np.inf
        count = int(different.sum())
        verb = "differs" if count == 1 else "differ"
        return f"{count} of {len(own)} parameters {verb} from run to run, by {percent(spread, 2)} (standard deviation)"
    changed = int((abs(theta[0] - own) > ROUNDING * size).sum())
    return f"{changed} parameters differ from the controller's description" if changed else "parameters as described"


def _sensors(figures: Figures) -> str:
    """Errors of the sensors, by what they read."""
    sensors = figures.found.sensors
    if sensors is None:
        return "without errors"
    kinds = (("position", sensors.q), ("velocity", sensors.qd), ("acceleration", sensors.qdd), ("torque", sensors.tau))
    told = [f"{kind} {', '.join(_errors(sensor))}" for kind, sensor in kinds if any(_errors(sensor))]
    return "; ".join(told) or "without errors"


def _errors(sensor: Sensor) -> list[str]:
    found = []
    for name in ("noise", "bias", "scale", "step", "delay"):
        size = np.asarray(getattr(sensor, name), dtype=float)
        if size.any():
            found.append(f"{name} {plain(float(size), 3)}" if size.ndim == 0 else f"{name} of its own for each joint")
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
