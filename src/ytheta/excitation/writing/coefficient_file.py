"""Trajectories as TOML: the coefficients of the basis, so that a trajectory can be read, re-timed and sampled again.

======================  ==========================================================================
``format``              1
``joints``              names of the actuated coordinates
``parametrisation``     "fourier" or "b-spline"
``period``, ``periods`` length of one period in s, and number of periods
``[coefficients]``      one list per joint: c_0, a_1 … a_n, b_1 … b_n of a Fourier series, or via-points
======================  ==========================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tomlkit

from ytheta.arguments import check_path
from ytheta.errors import InputError, suggest_names
from ytheta.excitation.trajectories.b_spline import DEGREE, BSpline
from ytheta.excitation.trajectories.basis import ACCELERATION, MAX_PERIOD, MIN_PERIOD, VELOCITY
from ytheta.excitation.trajectories.fourier import Fourier
from ytheta.excitation.trajectories.trajectory import Trajectory
from ytheta.files.bounded import read_small_file
from ytheta.files.overwriting import TOML_MARK
from ytheta.files.toml import describe_value, parse_toml

COEFFICIENT_SUFFIX = ".toml"
FORMAT = 1
KEYS = ("format", "joints", "parametrisation", "period", "periods", "coefficients")
MAX_SIZE = 1024 * 1024  # bytes; 50 joints with 50 harmonics need a tenth of it
MAX_COEFFICIENTS = 1000  # of one joint
MAX_COEFFICIENT = 1e9  # rad or m
MAX_PERIODS = 10**9
MAX_RELATIVE_RATE = 1e-6  # velocity or acceleration at the start, relative to a bound of its largest value


def format_coefficients(trajectory: Trajectory) -> str:
    """Return a trajectory as TOML; all digits are written."""
    lines = [
        TOML_MARK,
        "# A trajectory for identification. Fourier series: q = c0 + sum of a_k sin(k w t) + b_k cos(k w t),",
        "# w = 2 pi / period; coefficients are c0, a_1 ..., b_1 .... B-splines (quintic, periodic): via-points.",
        f"format = {FORMAT}",
        f"joints = [{', '.join(map(_quote, trajectory.joints))}]",
        f'parametrisation = "{trajectory.basis.name}"',
        f"period = {float(trajectory.basis.period)!r}",
        f"periods = {trajectory.periods}",
        "",
        "[coefficients]",
    ]
    for name, column in zip(trajectory.joints, trajectory.coefficients.T.tolist(), strict=True):
        lines.append(f"{_quote(name)} = [{', '.join(map(repr, column))}]")
    return "\n".join([*lines, ""])


def load_trajectory(path: str | Path) -> Trajectory:
    """Read a trajectory that ``save_trajectory`` or ``ytheta excite`` wrote as TOML."""
    path = check_path(path, "the trajectory")
    if path.suffix.lower() != COEFFICIENT_SUFFIX:
        raise InputError(f"{path}: trajectories are read from their coefficients; name the .toml file")
    data = parse_toml(read_small_file(path, "a trajectory", max_size=MAX_SIZE), str(path))
    for key in data:
        if key not in KEYS:
            raise InputError(f"{path}: the key {key!r} is unknown{suggest_names(key, KEYS)}; this is not a trajectory")
    for key in KEYS:
        if key not in data:
            raise InputError(f"{path}: the key {key!r} is missing; name a trajectory that ytheta excite wrote")
    if type(data["format"]) is not int or data["format"] != FORMAT:
        raise InputError(f"{path}: format is {data['format']!r}; this version of ytheta reads format {FORMAT}")
    joints = data["joints"]
    if not isinstance(joints, list) or not joints or not all(isinstance(name, str) for name in joints):
        raise InputError(f"{path}: joints is {joints!r}; give a list of names")
    if len(set(joints)) < len(joints):
        raise InputError(f"{path}: a joint occurs twice in joints; remove one of the two")
    coefficients = _read_coefficients(path, joints, data["coefficients"])
    basis = _read_basis(path, data, len(coefficients))
    periods = data["periods"]
    if not isinstance(periods, int) or isinstance(periods, bool) or not 1 <= periods <= MAX_PERIODS:
        raise InputError(f"{path}: periods is {describe_value(periods)}; give a whole number from 1 to {MAX_PERIODS}")
    trajectory = Trajectory(tuple(joints), basis, periods, coefficients)
    _check_rest(path, trajectory)
    return trajectory


def _read_coefficients(path: Path, joints: list[str], table: Any) -> np.ndarray:
    """Return the coefficients with one column per joint."""
    if not isinstance(table, dict) or set(table) != set(joints):
        raise InputError(f"{path}: [coefficients] must have one list for each of {', '.join(joints)}")
    sizes = {len(values) if isinstance(values, list) else 0 for values in table.values()}
    if len(sizes) > 1 or not 0 < min(sizes) <= MAX_COEFFICIENTS:
        raise InputError(
            f"{path}: [coefficients] must have lists of equal length, with 1 to {MAX_COEFFICIENTS} numbers each"
        )
    for name in joints:
        for value in table[name]:
            if not _is_number(value, -MAX_COEFFICIENT, MAX_COEFFICIENT):
                raise InputError(
                    f"{path}: a coefficient of {name!r} is {describe_value(value)}; give a finite number of at most "
                    f"{MAX_COEFFICIENT:g}"
                )
    return np.array([table[name] for name in joints], dtype=float).T


def _read_basis(path: Path, data: dict[str, Any], size: int) -> Fourier | BSpline:
    name, period = data["parametrisation"], data["period"]
    if not _is_number(period, MIN_PERIOD, MAX_PERIOD):
        raise InputError(
            f"{path}: period is {describe_value(period)}; give a positive number of seconds from {MIN_PERIOD:g} to "
            f"{MAX_PERIOD:g}"
        )
    if name == "fourier":
        if size % 2 == 0 or size < 3:
            raise InputError(
                f"{path}: a Fourier series has an odd number of coefficients, at least 3, but each joint has {size}"
            )
        return Fourier(float(period), size // 2)
    if name == "b-spline":
        if size <= DEGREE:
            raise InputError(f"{path}: B-splines have more than {DEGREE} via-points, but each joint has {size}")
        return BSpline(float(period), size)
    raise InputError(f'{path}: parametrisation is {name!r}; give "fourier" or "b-spline"')


def _check_rest(path: Path, trajectory: Trajectory) -> None:
    """Raise InputError if the motion does not start at rest: a coefficient was changed or lost."""
    motion = trajectory.sample_period(1)
    for order, quantity, values in (
        (VELOCITY, "velocity", motion.qd[0]),
        (ACCELERATION, "acceleration", motion.qdd[0]),
    ):
        largest = trajectory.bound(order)
        moving = np.flatnonzero(abs(values) > MAX_RELATIVE_RATE * np.maximum(largest, np.finfo(float).tiny))
        if len(moving):
            joint = int(moving[0])
            raise InputError(
                f"{path}: {trajectory.joints[joint]!r} does not start at rest (its {quantity} is {values[joint]:.4g}); "
                "a coefficient was changed; design the trajectory again"
            )


def _quote(text: str) -> str:
    return tomlkit.string(text).as_string()


def _is_number(value: Any, lowest: float, largest: float) -> bool:
    """Return whether a value is a number in this range; the range makes it finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= largest
