"""Checks of the control period and the substeps, and the number of control periods in a simulation."""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError


def check_period(period: float) -> None:
    """Raise an error unless the control period is a positive number of seconds."""
    if not (period > 0.0 and np.isfinite(period)):
        raise InputError(f"the control period is {period} s; give a positive number such as 1e-3")


def check_timing(period: float, substeps: int, max_step: float) -> None:
    """Raise an error if the period or the number of substeps is not valid, or if the period exceeds ``max_step``.

    ``max_step`` is the longest period for which the guarantees of the adaptation law hold.
    """
    check_period(period)
    if substeps < 1:
        raise InputError(f"there are {substeps} substeps per control period; give at least 1")
    if period > max_step * (1.0 + 1e-9):
        raise InputError(
            f"the guarantees of the adaptation law hold for periods up to {max_step:g} s, but the control period is "
            f"{period:g} s; set step={period:g} in the adaptation law"
        )


def count_periods(seconds: float, period: float, every: int) -> int:
    """Return the number of control periods in this duration (s), rounded to the nearest integer.

    Raise an error if the duration is shorter than one period, or if ``every`` is less than 1.
    """
    if not np.isfinite(seconds) or round(seconds / period) < 1:
        raise InputError(f"{seconds} s is shorter than one control period of {period} s; give at least one period")
    if every < 1:
        raise InputError(f"every={every}: give 1 to record every control instant, or n to record every n-th one")
    return round(seconds / period)
