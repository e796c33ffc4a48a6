"""Decisions about a log before its signals are processed: each "auto" is replaced by a value, and the reason is given.

The settings of a Preparation contain no "auto". Use these settings for the validation log too, so that both logs are
filtered in the same way. The pieces of a Preparation can be processed in parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ytheta.arguments import check_count, check_kind, check_number, is_not_negative, is_positive
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import CutoffChoice, choose_cutoff
from ytheta.logs.preparing.derivatives import Differentiator, make_differentiator
from ytheta.logs.preparing.drives import CUTOFF_RATIO
from ytheta.logs.preparing.filters import MAX_LOWPASS_RATIO, Span, split_into_spans
from ytheta.logs.preparing.periods import average_periods, check_period, find_period
from ytheta.logs.preparing.recorded_velocity import VelocityChoice, choose_velocity_source
from ytheta.logs.preparing.resample import Grid, choose_grid, drop_held_rows

# Number of kept samples per period of the cut-off frequency. Chosen on: reasoning; the gain of the low-pass at the new
# Nyquist frequency is then 2e-5.
SAMPLES_PER_PERIOD = 8.0
SAMPLES_PER_PIECE = 32768  # long compared with the margins; a dozen channels need 3 MB; affects only time and memory


@dataclass(frozen=True, eq=False, repr=False)
class Preparation:
    """All decisions about one log.

    Attributes
    ----------
    log                      the log without held rows, or the mean of its periods
    settings                 the settings, without "auto"
    grid                     equally spaced samples of the log
    differentiator           low-pass and derivatives
    velocity                 for each joint, whether recorded velocity is used, and why
    decimate                 n: every n-th sample is kept
    trimmed_samples          number of samples trimmed at each end of every segment
    choice                   why this cut-off was chosen (see ``cutoff``); None if the cut-off was set
    findings                 the decisions and their reasons as text
    """

    log: Log
    settings: PreparationSettings
    grid: Grid
    differentiator: Differentiator
    velocity: VelocityChoice
    decimate: int
    trimmed_samples: int
    choice: CutoffChoice | None
    findings: tuple[Finding, ...]

    @property
    def uses_recorded_velocity(self) -> tuple[bool, ...]:
        """For each joint, whether recorded velocity is used."""
        return self.velocity.uses_recorded

    def with_velocity(self, choice: VelocityChoice) -> Preparation:
        """Return the preparation with another choice between recorded velocity and position."""
        others = (finding for finding in self.findings if finding.code != LogFindingCode.VELOCITY)
        return replace(
            self,
            velocity=choice,
            settings=replace(self.settings, velocity=choice.uses_recorded),
            findings=(*others, *choice.list_findings(self.log)),
        )

    def with_torque_delay(self, delay: float) -> Preparation:
        """Return the preparation with another delay of the torques, in seconds."""
        return replace(self, settings=replace(self.settings, torque_delay=delay))

    @property
    def band(self) -> float | None:
        """Band of the motion in Hz; None if the cut-off was set or no joint moves."""
        return None if self.choice is None else self.choice.band

    def __repr__(self) -> str:
        name = Path(self.log.source).name or "a log"
        return f"Preparation({name}: low-pass {float(self.settings.cutoff):.4g} Hz, {self.rate:.4g} samples per second)"

    @property
    def rate(self) -> float:
        """Kept samples per second."""
        return self.grid.rate / self.decimate

    @cached_property
    def direction_differentiator(self) -> Differentiator:
        """Differentiator for the velocities whose signs are the drive directions; see ``drives``."""
        return make_differentiator(self.settings.derivative, self.direction_cutoff, self.grid.rate)

    @property
    def direction_cutoff(self) -> float:
        """Cut-off in Hz of the velocities whose signs are the drive directions."""
        return min(CUTOFF_RATIO * float(self.settings.cutoff), MAX_LOWPASS_RATIO * self.grid.rate)

    @property
    def direction_margin(self) -> int:
        """Margin of a piece in samples if drive directions are computed: two low-passes follow each other."""
        return self.differentiator.memory + self.direction_differentiator.memory

    def iterate_pieces(self, size: int = SAMPLES_PER_PIECE) -> Iterator[tuple[tuple[int, int], Span]]:
        """Yield (segment, span) pairs, which can be prepared independently of each other."""
        size = max(1, size // self.decimate) * self.decimate
        for segment in self.log.segments:
            length = self.grid.count_samples(self.log, segment)
            start, stop, margin = self.trimmed_samples, length - self.trimmed_samples, self.differentiator.memory
            for span in split_into_spans(start, stop, size, margin, length):
                yield segment, span


# Settings of the preparation of a log, and their checks.

AUTO = "auto"


@dataclass(frozen=True)
class PreparationSettings:
    """How to prepare a log. Frequencies are in Hz and times in seconds; "auto" chooses a value for the log."""

    cutoff: float | str = AUTO
    derivative: str = "central"  # or "spline"
    velocity: str | tuple[bool, ...] = AUTO  # "recorded", "position", or one flag per joint: True for recorded
    decimate: int | str = AUTO  # keep every n-th sample after the low-pass
    trim: float | str = AUTO  # time trimmed at each end of every segment
    average_periods: float | str | None = None  # length of one period, or "auto"
    torque_delay: float | str = AUTO  # torques were recorded so much too late; "auto" is what a fit shows, else zero


DEFAULT_SETTINGS = PreparationSettings()


def choose_preparation(log: Log, settings: PreparationSettings = DEFAULT_SETTINGS) -> Preparation:
    """Return the preparation of a log: each "auto" in the settings is replaced by a value chosen for this log."""
    check_settings(settings)
    log, held_findings = drop_held_rows(log)
    grid, grid_findings = choose_grid(log)
    findings = [*held_findings, *grid_findings]
    choice: CutoffChoice | None = None
    cutoff = settings.cutoff
    if isinstance(cutoff, str):
        choice = choose_cutoff(log, grid)
        cutoff = choice.cutoff
        findings.append(choice.finding)
    differentiator = _make_differentiator(log, settings.derivative, cutoff, grid.rate)
    velocity = choose_velocity_source(log, grid, cutoff, settings.velocity)
    findings += velocity.list_findings(log)
    decimate = settings.decimate
    if isinstance(decimate, str):
        decimate = max(1, int(grid.rate / (SAMPLES_PER_PERIOD * cutoff)))
    trim = settings.trim
    if isinstance(trim, str):
        trim = differentiator.settling * grid.step
    trimmed_samples = round(trim * grid.rate)
    period = _choose_period(log, grid, settings.average_periods)
    if period is not None:
        trimmed_samples = differentiator.memory
        log, grid = average_periods(log, grid, period, trimmed_samples)
        differentiator = _make_differentiator(log, settings.derivative, cutoff, grid.rate)
        findings.append(log.findings[-1])
    delay = 0.0 if isinstance(settings.torque_delay, str) else settings.torque_delay
    chosen = PreparationSettings(cutoff, settings.derivative, velocity.uses_recorded, decimate, trim, period, delay)
    findings += _report_kept_samples(log, grid, trimmed_samples, decimate)
    return Preparation(
        log=log,
        settings=chosen,
        grid=grid,
        differentiator=differentiator,
        velocity=velocity,
        decimate=decimate,
        trimmed_samples=trimmed_samples,
        choice=choice,
        findings=tuple(findings),
    )


def _make_differentiator(log: Log, kind: str, cutoff: float, rate: float) -> Differentiator:
    """Return the differentiator of a log. Error messages name the log, whose rate determines the maximum cut-off."""
    try:
        return make_differentiator(kind, cutoff, rate)
    except InputError as error:
        raise InputError(f"{log.source or 'log'}: {error}") from None


def _choose_period(log: Log, grid: Grid, period: float | str | None) -> float | None:
    if isinstance(period, str):
        detected = find_period(log, grid)
        if detected is None:
            raise InputError(f"{log.source or 'log'}: the motion does not repeat itself; turn averaging off")
        return detected
    if period is not None:
        check_period(log, grid, period)
    return period


def _report_kept_samples(log: Log, grid: Grid, trimmed_samples: int, decimate: int) -> Iterator[Finding]:
    """Yield findings about the samples that are kept; raise InputError if no sample is kept."""
    lengths = [grid.count_samples(log, segment) for segment in log.segments]
    trimmed = 2 * trimmed_samples
    short = sum(length <= trimmed for length in lengths)
    seconds = trimmed_samples * grid.step
    if short == len(lengths):
        raise InputError(
            f"{log.source or 'log'}: {log.describe_splits()}no segment is longer than the {2.0 * seconds:.3g} s that "
            "filter transients affect at its two ends; raise the cut-off, trim less or record longer"
        )
    kept = sum(-(-(length - trimmed) // decimate) for length in lengths if length > trimmed)
    which = "every sample" if decimate == 1 else f"every {_format_ordinal(decimate)} sample"
    yield Finding(
        LogFindingCode.SAMPLES,
        Severity.NOTE,
        f"{which} is kept, {kept} in total; {seconds:.3g} s were trimmed at both ends of every segment",
        fields={"kept": kept, "decimate": decimate, "trimmed_seconds": seconds},
    )
    if short:
        yield Finding(
            LogFindingCode.SEGMENTS,
            Severity.WARNING,
            f"{short} of {len(lengths)} segments are shorter than {2.0 * seconds:.3g} s",
            remedy="these segments were left out",
            fields={"short": short, "segments": len(lengths)},
        )


def _format_ordinal(number: int) -> str:
    """Return 2nd, 3rd, 4th, 11th, 21st, …"""
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(last, 'th')}"


# Smallest cut-off in Hz that can be set, as on the command line. Chosen on: reasoning; numbers near zero lose all
# digits.
MIN_CUTOFF = 1e-9
# Largest delay in s that can be set. Chosen on: reasoning; longer ones are mistakes, such as milliseconds.
MAX_TORQUE_DELAY = 1.0


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
    if settings.torque_delay != AUTO:
        form = f'a number of seconds of at most {MAX_TORQUE_DELAY:g}, or "auto"'
        check_number("torque_delay", settings.torque_delay, form, allow=lambda delay: abs(delay) <= MAX_TORQUE_DELAY)
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
