"""What drives can have: rotor inertias that are not negative, and friction that brakes at every speed.

Single terms of a friction curve may be negative if it has a root: a root of the speed and a negative viscous term
describe a curve that flattens. Therefore the curve is limited, not its terms: it is not negative at speeds up to the
highest recorded one. Beyond it, the curve of a drive is constant (see ``Drive.friction_speed``) or does not fall, so
that it brakes at every speed. With u = sqrt(v), the curve fc + fs u + fv u² does not fall beyond u if fv >= 0 and
fs + 2 fv u >= 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.identification.bodies.bounds import Inequalities
from ytheta.robot.friction_curve import CURVE_PARAMETERS, compute_friction_factors, find_lowest_friction
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import PerParameter

# Speeds at which the curve is limited, relative to the highest speed: dense near zero, where a root bends most.
RELATIVE_SPEEDS = np.linspace(0.0, 1.0, 21)[1:] ** 2
MAX_LOAD_FRICTION = 0.9  # torque lost to load-dependent friction; from 1 on, a drive could not be moved from outside


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
