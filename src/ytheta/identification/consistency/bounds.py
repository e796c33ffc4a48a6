"""Bounds of bodies and labelled linear inequalities, as rows of one system ``rows @ theta >= lower``.

Bounds of the centre of mass are linear in the first moments h = m c: lower m <= h <= upper m.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.parts import CURVE_PARAMETERS, Drive, compute_friction_factors, find_lowest_friction, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerParameter, PerRow, RowsByParam

Range = tuple[float, float]
Box = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class BodyBounds:
    """Bounds of masses and centres of mass; a bound may be infinite.

    Attributes
    ----------
    mass        lower and upper bound of the mass of a link in kg, by name of the link
    center      lower and upper corner of a box for the centre of mass of a link, in its frame and in m, by name
    total_mass  lower and upper bound of the mass of all moving links and loads together, in kg
    """

    mass: Mapping[str, Range] = field(default_factory=dict)
    center: Mapping[str, Box] = field(default_factory=dict)
    total_mass: Range | None = None


@dataclass(frozen=True, eq=False)
class Inequalities:
    """Linear inequalities ``rows @ theta >= lower``; rows with the same label form one constraint for the user.

    Attributes
    ----------
    rows    coefficients, with one column for each standard parameter
    lower   lower bound of each row
    labels  name of each row in messages, such as "rotor inertia of joint 2 is not negative"
    """

    rows: RowsByParam
    lower: PerRow
    labels: tuple[str, ...]

    @classmethod
    def none(cls, robot: Robot) -> Inequalities:
        """No inequalities."""
        return cls(np.zeros((0, len(robot.parameter_names))), np.zeros(0), ())

    @classmethod
    def at_least(cls, robot: Robot, lower: Mapping[str, float]) -> Inequalities:
        """Lower bounds of single parameters, by name, such as ``{"joint2.fv": 0.0}``."""
        index = {name: k for k, name in enumerate(robot.parameter_names)}
        for name in lower:
            if name not in index:
                raise UnknownNameError(f"robot {robot.name!r} has no parameter {name!r}{suggest_names(name, index)}")
        rows = np.eye(len(index))[[index[name] for name in lower]]
        labels = tuple(f"{name} >= {value:g}" for name, value in lower.items())
        return cls(rows, np.array(list(lower.values()), dtype=float), labels)

    def check(self, robot: Robot) -> None:
        """Raise InputError if the arrays do not fit together or do not fit the robot."""
        shape = (len(self.labels), len(robot.parameter_names))
        if np.shape(self.rows) != shape or np.shape(self.lower) != shape[:1]:
            raise InputError(
                f"inequalities with {len(self.labels)} labels need rows of shape {shape} and as many lower bounds for "
                f"robot {robot.name!r}, but rows have the shape {np.shape(self.rows)} and there are "
                f"{np.size(self.lower)} lower bounds"
            )
        if not (np.isfinite(self.rows).all() and np.isfinite(self.lower).all()):
            raise InputError("inequalities contain numbers that are not finite; leave out rows without a bound")


@dataclass(frozen=True, eq=False)
class LinearGroup:
    """Rows ``rows @ theta >= lower`` that were given together; ``link`` is the link that they bound, or None."""

    label: str
    rows: RowsByParam
    lower: PerRow
    link: str | None = None


def list_linear_groups(robot: Robot, bounds: BodyBounds, inequalities: Inequalities) -> tuple[LinearGroup, ...]:
    """Return all bounds and inequalities as groups of rows; raise if they are malformed."""
    inequalities.check(robot)
    groups = list(_list_bounds(robot, bounds))
    for label in dict.fromkeys(inequalities.labels):
        chosen = [k for k, name in enumerate(inequalities.labels) if name == label]
        groups.append(LinearGroup(label, inequalities.rows[chosen], inequalities.lower[chosen]))
    return tuple(group for group in groups if len(group.lower))


def _list_bounds(robot: Robot, bounds: BodyBounds) -> Iterator[LinearGroup]:
    units = dict(zip(robot.parameter_names, np.eye(len(robot.parameter_names)), strict=True))
    links = [name.removesuffix(".m") for name in robot.parameter_names if name.endswith(".m")]
    for name in (*bounds.mass, *bounds.center):
        if name not in links:
            raise UnknownNameError(
                f"bounds are given for {name!r}, but robot {robot.name!r} has no moving link of this name"
                f"{suggest_names(name, links)}"
            )
    for name, interval in bounds.mass.items():
        what = f"mass of {name!r}"
        lower, upper = _check_range(what, interval)
        mass = units[parameter_name(name, "m")]
        yield _make_group(f"{what} {_format_range(lower, upper)} kg", [mass], [lower], [upper], name)
    for name, (low, high) in bounds.center.items():
        what = f"centre of {name!r}"
        if np.shape(low) != (3,) or np.shape(high) != (3,):
            raise InputError(f"bounds of the {what} are {low!r} and {high!r}; give two corners of three numbers in m")
        ranges = [_check_range(f"{what} along {axis}", pair) for axis, *pair in zip("xyz", low, high, strict=True)]
        mass = units[parameter_name(name, "m")]
        moments = [units[parameter_name(name, f"m{axis}")] for axis in "xyz"]
        rows = [h - lower * mass for h, (lower, _) in zip(moments, ranges, strict=True) if np.isfinite(lower)]
        rows += [upper * mass - h for h, (_, upper) in zip(moments, ranges, strict=True) if np.isfinite(upper)]
        text = ", ".join(f"{axis} {_format_range(*pair)}" for axis, pair in zip("xyz", ranges, strict=True))
        yield LinearGroup(f"{what} {text} m", _stack(rows, len(units)), np.zeros(len(rows)), name)
    if bounds.total_mass is not None:
        lower, upper = _check_range("total mass", bounds.total_mass)
        total = np.sum([units[parameter_name(name, "m")] for name in links], axis=0)
        yield _make_group(f"total mass {_format_range(lower, upper)} kg", [total], [lower], [upper], None)


def _make_group(
    label: str, rows: list[np.ndarray], lower: list[float], upper: list[float], link: str | None
) -> LinearGroup:
    """Return lower <= rows @ theta <= upper without infinite bounds."""
    pairs = [(row, bound) for row, bound in zip(rows, lower, strict=True) if np.isfinite(bound)]
    pairs += [(-row, -bound) for row, bound in zip(rows, upper, strict=True) if np.isfinite(bound)]
    return LinearGroup(label, _stack([row for row, _ in pairs], len(rows[0])), np.array([b for _, b in pairs]), link)


def _stack(rows: list[np.ndarray], size: int) -> Float[np.ndarray, "rows params"]:
    return np.stack(rows) if rows else np.zeros((0, size))


def _check_range(what: str, interval: Sequence[float]) -> Range:
    values = np.asarray(interval, dtype=float)
    if values.shape != (2,) or np.isnan(values).any() or not values[0] <= values[1]:
        raise InputError(f"bounds of the {what} are {interval!r}; give a lower and a larger upper bound")
    return float(values[0]), float(values[1])


def _format_range(lower: float, upper: float) -> str:
    if np.isfinite(lower) and np.isfinite(upper):
        return f"from {lower:g} to {upper:g}"
    return f"at least {lower:g}" if np.isfinite(lower) else f"at most {upper:g}"


# What drives can have: rotor inertias that are not negative, and friction that brakes at every speed.
#
# Single terms of a friction curve may be negative if it has a root: a root of the speed and a negative viscous term
# describe a curve that flattens. Therefore the curve is limited, not its terms: it is not negative at speeds up to the
# highest recorded one. Beyond it, the curve of a drive is constant (see ``Drive.friction_speed``) or does not fall, so
# that it brakes at every speed. With u = sqrt(v), the curve fc + fs u + fv u² does not fall beyond u if fv >= 0 and
# fs + 2 fv u >= 0.


# Speeds at which the friction curve is limited, relative to the highest speed. Chosen on: reasoning; dense near zero,
# where a root bends most.
RELATIVE_SPEEDS = np.linspace(0.0, 1.0, 21)[1:] ** 2
# Largest share of the torque that load-dependent friction may take. Chosen on: reasoning; from 1 on, a drive could
# not be moved from outside.
MAX_LOAD_FRICTION = 0.9


def make_drive_limits(robot: Robot, free: Collection[str], highest_speeds: Mapping[str, float]) -> Inequalities:
    """Return the inequalities of all drives with free parameters.

    ``free``: names of the parameters that may change. ``highest_speeds``: the highest speed of each drive in the logs.
    """
    index = {name: k for k, name in enumerate(robot.parameter_names)}
    theta = robot.theta
    rows: list[np.ndarray] = []
    lower: list[float] = []
    labels: list[str] = []

    def add(coefficients: Mapping[str, float], bound: float, label: str) -> None:
        row = np.zeros(len(index))
        for name, factor in coefficients.items():
            if name in free:
                row[index[name]] = factor
            else:
                bound -= factor * float(theta[index[name]])
        if row.any():
            rows.append(row)
            lower.append(bound)
            labels.append(label)

    for owner, drive in robot.drives:
        names = dict(
            zip(drive.parameter_symbols, (parameter_name(owner, s) for s in drive.parameter_symbols), strict=True)
        )
        add({names["Ia"]: 1.0}, 0.0, f"rotor inertia of {owner} is not negative")
        if "fl" in names:
            add({names["fl"]: 1.0}, 0.0, f"load-dependent friction of {owner} brakes")
            add({names["fl"]: -1.0}, -MAX_LOAD_FRICTION, f"load-dependent friction of {owner} is below the load")
        if drive.root is None or np.isinf(drive.max_curve_speed):
            add({names["fv"]: 1.0}, 0.0, f"friction of {owner} brakes")
        if drive.root is None:
            add({names["fc"]: 1.0}, 0.0, f"friction of {owner} brakes")
            continue
        if names["fc"] not in free and not float(theta[index[names["fc"]]]) > 0.0:
            add(
                {names["fs"]: 1.0}, 0.0, f"friction of {owner} brakes"
            )  # without Coulomb friction, it does so near rest
        highest_speed = highest_speeds.get(owner, 0.0)
        if np.isinf(drive.max_curve_speed):
            slope = {names["fs"]: 1.0, names["fv"]: 2.0 * float(np.sqrt(highest_speed))}
            add(slope, 0.0, f"friction of {owner} brakes")
        else:
            highest_speed = drive.max_curve_speed
        for factors in _list_curve_factors(drive, highest_speed):
            chosen = {names[s]: f for s, f in zip(CURVE_PARAMETERS, factors, strict=True) if s in names and s != "fl"}
            add(chosen, 0.0, f"friction of {owner} brakes")
    return Inequalities(np.array(rows).reshape(len(rows), len(index)), np.array(lower), tuple(labels))


def _list_curve_factors(drive: Drive, highest_speed: float) -> np.ndarray:
    """Return the factors of the curve's parameters at several speeds; at rest, Coulomb friction alone."""
    at_rest = np.array([[0.0, 1.0, 0.0, 0.0]])
    if not highest_speed > 0.0:
        return at_rest
    return np.concatenate([at_rest, compute_friction_factors(drive, highest_speed * RELATIVE_SPEEDS)])


def raise_coulomb_friction(robot: Robot, theta: PerParameter, free: Collection[str]) -> PerParameter:
    """Return the parameters with Coulomb friction so large that friction brakes between the limited speeds too.

    Between two speeds at which the curve is zero, it can fall below zero by a small amount.
    """
    raised, index = theta.copy(), {name: k for k, name in enumerate(robot.parameter_names)}
    for owner, drive in robot.drives:
        names = {symbol: parameter_name(owner, symbol) for symbol in ("fv", "fc", "fs")}
        if drive.root is None or names["fc"] not in free:
            continue
        fv, fc, fs = (float(raised[index[name]]) for name in names.values())
        _, lowest = find_lowest_friction(replace(drive, viscous=fv, coulomb=fc, root=fs))
        raised[index[names["fc"]]] += max(0.0, -lowest)
    return raised
