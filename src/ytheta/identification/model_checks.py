"""Checks of the table ``[identification]`` of a model file, which may have been edited or damaged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.errors import InputError, suggest_names
from ytheta.files.toml_table import describe_value, to_finite_number
from ytheta.logs.preparing.preparation import AUTO
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, PerBase

# Relative difference of values that should agree. All digits are written, so only an edited file exceeds it.
RELATIVE_TOLERANCE = 1e-8


def check_settings(table: Mapping[str, Any], path: Path) -> None:
    """Raise InputError if a setting of the identification, which ``predict`` uses, has no valid value."""
    if "slowest" in table:
        raise InputError(f"{path}: 'slowest' of its identification is now called 'min_speed'; rename this key")
    cutoff, min_speed = table.get("cutoff"), table.get("min_speed")
    if cutoff is not None and not _is_positive(cutoff):
        raise _make_error(path, "the cutoff", cutoff, "a positive frequency in Hz")
    if min_speed not in (None, AUTO) and not _are_not_negative(min_speed):
        raise _make_error(path, "min_speed", min_speed, f'one non-negative speed for each joint, or "{AUTO}"')
    for key, kind, form in (
        ("derivative", str, "the name of a method in quotes"),
        ("rotor_inertia", bool, "true or false"),
        ("friction", list, "a list of names"),
        ("standard_parameters", Mapping, "a table"),
    ):
        if key in table and not isinstance(table[key], kind):
            raise _make_error(path, key, table[key], form)
    digests = table.get("log_digests", [])
    if not isinstance(digests, list) or not all(isinstance(each, str) for each in digests):
        raise _make_error(path, "log_digests", digests, "a list of texts in quotes, or remove this key")
    rows = table.get("log_rows", [])
    if not isinstance(rows, list) or not all(_is_row_range(each) for each in rows):
        raise _make_error(path, "log_rows", rows, "a list of first rows and stops, such as [[0, 1000]]")
    if table.get("noise") is not None and not _are_not_negative(table["noise"]):
        raise _make_error(path, "noise", table["noise"], "one non-negative torque for each joint")


def check_joints(table: Mapping[str, Any], robot: Robot, path: Path) -> None:
    """Raise InputError if a list in the table has another length than the robot has actuated coordinates."""
    for key in ("min_speed", "noise"):
        values = table.get(key)
        if isinstance(values, list) and len(values) != len(robot.actuated):
            raise InputError(
                f"{path}: {key} of its identification has {len(values)} numbers, but the robot has "
                f"{len(robot.actuated)} actuated coordinates; write one for each"
            )


def find_contradictions(
    known: Collection[str], names: Sequence[str], beta: PerBase, std: PerBase, covariance: BaseByBase
) -> Iterator[str]:
    """Yield contradictions between the values of a file; contradictions occur only if the file was edited.

    ``known``: the names that parameters may have.
    """
    for name in names:
        if name.removesuffix("*") not in known:
            yield f"the robot has no parameter {name!r}{suggest_names(name, known)}"
    if len(set(names)) < len(names):
        yield "a base parameter is listed twice"
    if not np.isfinite(beta).all():
        yield f"the value of {names[int(np.argmin(np.isfinite(beta)))]} is not finite"
    if not np.isfinite(covariance).all():
        yield "the covariance contains numbers that are not finite"
        return
    variances = np.diag(covariance)
    if (variances < 0.0).any():
        yield f"the variance of {names[int(np.argmin(variances))]} is negative"
        return
    scale = np.where(variances > 0.0, np.sqrt(variances), 1.0)
    with np.errstate(over="ignore"):
        correlation = covariance / scale / scale[:, None]
    # Correlations above 1 imply a negative eigenvalue; infinite ones cannot be decomposed.
    if len(names) and (
        np.abs(correlation).max() > 1.0 + RELATIVE_TOLERANCE or np.linalg.eigvalsh(correlation)[0] < -RELATIVE_TOLERANCE
    ):
        yield "the covariance has a negative eigenvalue"
    differs = np.isfinite(std) & ~np.isclose(std, np.sqrt(variances), rtol=RELATIVE_TOLERANCE, atol=0.0)
    if differs.any() or np.isnan(std).any() or (std < 0.0).any():
        yield f"std of {names[int(np.argmax(differs | ~(std >= 0.0)))]} is not the root of its variance"


def _is_positive(value: object) -> bool:
    number = to_finite_number(value)
    return number is not None and number > 0.0


def _are_not_negative(values: object) -> bool:
    """Whether a value is a list of finite numbers that are not negative."""
    if not isinstance(values, list):
        return False
    numbers = [to_finite_number(value) for value in values]
    return all(number is not None and number >= 0.0 for number in numbers)


def _is_row_range(value: object) -> bool:
    """Whether a value is a list of two integers."""
    return isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value)


def _make_error(path: Path, key: str, value: object, form: str) -> InputError:
    return InputError(f"{path}: {key} of its identification is {describe_value(value)}; write {form}")
