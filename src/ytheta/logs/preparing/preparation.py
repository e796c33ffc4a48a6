"""Decisions about a log before its signals are processed: every "auto" is replaced by a value, with the reason.

The settings of a Preparation contain no "auto". Use them for the validation log, so that both logs are treated alike.
Its pieces are independent of each other, for one thread or many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.preparing.cutoff import choose_cutoff
from ytheta.logs.preparing.derivatives import Differentiator, make_differentiator
from ytheta.logs.preparing.drive_directions import CUTOFF_RATIO
from ytheta.logs.preparing.filters import MAX_LOWPASS_RATIO, Span, split_into_spans
from ytheta.logs.preparing.periods import average_periods, check_period, find_period
from ytheta.logs.preparing.recorded_velocity import choose_velocity_source
from ytheta.logs.preparing.resample import Grid, choose_grid, drop_held_rows

SAMPLES_PER_PERIOD = 8.0  # kept samples per period of the cut-off; the low-pass leaves 2e-5 beyond their Nyquist rate
SAMPLES_PER_PIECE = 32768  # margins are small beside it, and a dozen channels of it take three megabytes


@dataclass(frozen=True)
class PreparationSettings:
    """How to prepare a log. Frequencies in Hz, times in seconds; "auto" chooses a value that suits the log."""

    cutoff: float | str = "auto"
    derivative: str = "central"  # or "spline"
    velocity: str | tuple[bool, ...] = "auto"  # "recorded", "position", or for each joint whether recorded
    decimate: int | str = "auto"  # keep every n-th sample after the low-pass
    trim: float | str = "auto"  # cut from both ends of every segment
    average_periods: float | str | None = None  # length of one period, or "auto"


DEFAULT_SETTINGS = PreparationSettings()


@dataclass(frozen=True, eq=False)
class Preparation:
    """All decisions about one log.

    Attributes
    ----------
    log        the given log, without held rows, or the mean of its periods
    settings   the settings, without "auto"
    grid       equally spaced samples of the log
    smoother   low-pass and derivatives
    recorded   for each joint, whether recorded velocity is used
    decimate   every how many samples one is kept
    trimmed    samples cut off at both ends of every segment
    band       frequency band of the motion in Hz, if the cut-off was chosen from the log
    findings   the decisions, in words
    """

    log: Log
    settings: PreparationSettings
    grid: Grid
    smoother: Differentiator
    recorded: tuple[bool, ...]
    decimate: int
    trimmed: int
    band: float | None
    findings: tuple[Finding, ...]

    @property
    def rate(self) -> float:
        """Kept samples per second."""
        return self.grid.rate / self.decimate

    @cached_property
    def direction_differentiator(self) -> Differentiator:
        """The smoother of the velocities whose signs are the drive directions; see ``drive_directions``."""
        cutoff = min(CUTOFF_RATIO * float(self.settings.cutoff), MAX_LOWPASS_RATIO * self.grid.rate)
        return make_differentiator(self.settings.derivative, cutoff, self.grid.rate)

    def iterate_pieces(self, size: int = SAMPLES_PER_PIECE) -> Iterator[tuple[tuple[int, int], Span]]:
        """Yield segments and spans of their samples, which can be prepared independently of each other."""
        size = max(1, size // self.decimate) * self.decimate
        for segment in self.log.segments:
            length = self.grid.count_samples(self.log, segment)
            for span in split_into_spans(self.trimmed_samples, length - self.trimmed_samples, size, self.differentiator.memory, length):
                yield segment, span


def choose_preparation(log: Log, settings: PreparationSettings = DEFAULT_SETTINGS) -> Preparation:
    """Replace every "auto" of the settings by a value that suits the log."""
    log, held_findings = drop_held_rows(log)
    grid, grid_findings = choose_grid(log)
    findings = [*held_findings, *grid_findings]
    band: float | None = None
    cutoff = settings.cutoff
    if isinstance(cutoff, str):
        _require_auto("cutoff", cutoff)
        choice = choose_cutoff(log, grid)
        cutoff, band = choice.cutoff, choice.band
        findings.append(choice.finding)
    smoother = make_differentiator(settings.derivative, cutoff, grid.rate)
    recorded, velocity_findings = choose_velocity_source(log, grid, smoother, settings.velocity)
    decimate = settings.decimate
    if isinstance(decimate, str):
        _require_auto("decimate", decimate)
        decimate = max(1, int(grid.rate / (SAMPLES_PER_PERIOD * cutoff)))
    if decimate < 1:
        raise InputError(f"decimate is {decimate}; keep every sample (1) or every n-th")
    trim = settings.trim
    if isinstance(trim, str):
        _require_auto("trim", trim)
        trim = smoother.settling * grid.step
    trimmed = round(trim * grid.rate)
    period = _choose_period(log, grid, settings.average_periods)
    if period is not None:
        trimmed = smoother.memory
        log, grid = average_periods(log, grid, period, trimmed)
        smoother = make_differentiator(settings.derivative, cutoff, grid.rate)
        findings.append(log.findings[-1])
    chosen = PreparationSettings(cutoff, settings.derivative, recorded, decimate, trim, period)
    findings += [*velocity_findings, *_report_kept_samples(log, grid, trimmed, decimate)]
    return Preparation(log, chosen, grid, smoother, recorded, decimate, trimmed, band, tuple(findings))


def _choose_period(log: Log, grid: Grid, period: float | str | None) -> float | None:
    if isinstance(period, str):
        _require_auto("average_periods", period)
        detected = find_period(log, grid)
        if detected is None:
            raise InputError(f"{log.source or 'log'}: the motion does not repeat itself; leave averaging off")
        return detected
    if period is not None:
        check_period(log, grid, period)
    return period


def _require_auto(name: str, value: str) -> None:
    if value != "auto":
        raise InputError(f'{name} is {value!r}; give a number or "auto"')


def _report_kept_samples(log: Log, grid: Grid, trimmed: int, decimate: int) -> Iterator[Finding]:
    """Findings about the samples that are kept; an error if there are none."""
    lengths = [grid.count_samples(log, segment) for segment in log.segments]
    short = sum(length <= 2 * trimmed for length in lengths)
    seconds = trimmed * grid.step
    if short == len(lengths):
        raise InputError(
            f"{log.source or 'log'}: {log.describe_splits()}no segment is longer than the {2.0 * seconds:.3g} s that "
            f"the low-pass spoils at its two ends; raise the cut-off, trim less or record longer"
        )
    kept = sum(-(-(length - 2 * trimmed) // decimate) for length in lengths if length > 2 * trimmed)
    which = "every sample" if decimate == 1 else f"every {_format_ordinal(decimate)} sample"
    yield Finding(
        LogFindingCode.SAMPLES,
        Severity.NOTE,
        f"{which} is kept, {kept} in all; {seconds:.3g} s were cut off at both ends of every segment",
        fields={"kept": kept, "decimate": decimate, "trimmed_seconds": seconds},
    )
    if short:
        yield Finding(
            LogFindingCode.SEGMENTS,
            Severity.WARNING,
            f"{short} of {len(lengths)} segments are shorter than {2.0 * seconds:.3g} s",
            remedy="they were left out",
            fields={"short": short, "segments": len(lengths)},
        )


def _format_ordinal(number: int) -> str:
    """2nd, 3rd, 4th, 11th, 21st …"""
    last = number % 10 if number % 100 not in (11, 12, 13) else 0
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(last, 'th')}"
