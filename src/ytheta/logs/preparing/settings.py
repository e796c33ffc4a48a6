"""Settings of the preparation of a log, and their checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ytheta.arguments import check_count, check_kind, check_number, is_not_negative, is_positive
from ytheta.errors import InputError

AUTO = "auto"
MIN_CUTOFF = 1e-9  # Hz, as on the command line


@dataclass(frozen=True)
class PreparationSettings:
    """How to prepare a log. Frequencies are in Hz and times in seconds; "auto" chooses a value for the log."""

    cutoff: float | str = AUTO
    derivative: str = "central"  # or "spline"
    velocity: str | tuple[bool, ...] = AUTO  # "recorded", "position", or one flag per joint: True for recorded
    decimate: int | str = AUTO  # keep every n-th sample after the low-pass
    trim: float | str = AUTO  # time trimmed at each end of every segment
    average_periods: float | str | None = None  # length of one period, or "auto"


DEFAULT_SETTINGS = PreparationSettings()


def check_settings(settings: PreparationSettings) -> PreparationSettings:
    """Return the settings; raise InputError if they are no settings, or if a number is impossible for every log."""
    check_kind(
        "settings", settings, PreparationSettings, "PreparationSettings, such as PreparationSettings(cutoff=8.0)"
    )
    if settings.cutoff != AUTO:
        cutoff = check_number("cutoff", settings.cutoff, 'a positive number of Hz, or "auto"', allow=is_positive)
        if cutoff < MIN_CUTOFF:
            raise InputError(f'cutoff is {cutoff:g}; give a number of Hz of at least {MIN_CUTOFF:g}, or "auto"')
    if settings.decimate != AUTO:
        check_count("decimate", settings.decimate, 'n to keep every n-th sample (1 keeps all), or "auto"')
    if settings.trim != AUTO:
        check_number("trim", settings.trim, 'a non-negative number of seconds, or "auto"', allow=is_not_negative)
    if settings.average_periods not in (None, AUTO):
        form = 'the length of one period in seconds, "auto", or None for no averaging'
        check_number("average_periods", settings.average_periods, form, allow=is_positive)
    return settings


def merge_settings(
    settings: PreparationSettings | None, *, defaults: PreparationSettings = DEFAULT_SETTINGS, **arguments: Any
) -> PreparationSettings:
    """Return the settings or, without them, the defaults; arguments that are not None replace single defaults."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if settings is None:
        return check_settings(replace(defaults, **given))
    for name, value in given.items():
        raise InputError(
            f"{name} is given as an argument and in settings; keep one of them, such as "
            f"settings=PreparationSettings({name}={value!r})"
        )
    return check_settings(settings)
