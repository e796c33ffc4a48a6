"""What is decided about a log before its signals are touched: every "auto" settled, and why.

The settings of a plan have no "auto" left: hand them to the validation log, so that both are treated alike. Its pieces
are independent of each other, for one thread or many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.preparing.cutoff import choose_cutoff
from ytheta.logs.preparing.derivatives import Differentiator, differentiator
from ytheta.logs.preparing.drive_directions import SHARPER
from ytheta.logs.preparing.filters import HIGHEST, Span, spans
from ytheta.logs.preparing.periods import average_periods, check_period, find_period
from ytheta.logs.preparing.recorded_velocity import trusted_velocity
from ytheta.logs.preparing.resample import Grid, choose_grid

OVERSAMPLED = 8.0  # kept samples per period of the cut-off: beyond their Nyquist frequency the low-pass leaves 2e-5
BLOCK = 32768  # samples per block: margins are small beside it, and a dozen channels of it take three megabytes


@dataclass(frozen=True)
class PreparationSettings:
    """How to prepare a log. Frequencies in Hz, times in seconds; "auto" lets the log decide, and says what it chose."""

    cutoff: float | str = "auto"
    derivative: str = "central"  # or "spline"
    velocity: str | tuple[bool, ...] = "auto"  # "recorded", "position", or for each joint whether recorded
    decimate: int | str = "auto"  # keep every n-th sample after the low-pass
    trim: float | str = "auto"  # cut from both ends of every segment
    average_periods: float | str | None = None  # length of one period, or "auto"


DEFAULT_SETTINGS = PreparationSettings()


@dataclass(frozen=True, eq=False)
class Preparation:
    """All that was decided about one log; ``log`` is the one given, or the mean of its periods."""

    log: Log
    settings: PreparationSettings
    grid: Grid
    smoother: Differentiator
    recorded: tuple[bool, ...]
    decimate: int
    cut: int
    band: float | None
    findings: tuple[Finding, ...]

    @property
    def rate(self) -> float:
        """Kept samples per second."""
        return self.grid.rate / self.decimate

    @cached_property
    def sharper(self) -> Differentiator:
        """What the directions of drives are read from; see ``direction``."""
        cutoff = min(SHARPER * float(self.settings.cutoff), HIGHEST * self.grid.rate)
        return differentiator(self.settings.derivative, cutoff, self.grid.rate)

    def pieces(self, size: int = BLOCK) -> Iterator[tuple[tuple[int, int], Span]]:
        """What to work on, independent of each other: segments and spans of their samples."""
        size = max(1, size // self.decimate) * self.decimate
        for segment in self.log.segments:
            length = self.grid.length(self.log, segment)
            for span in spans(self.cut, length - self.cut, size, self.smoother.memory, length):
                yield segment, span


def choose_preparation(log: Log, settings: PreparationSettings = DEFAULT_SETTINGS) -> Preparation:
    """Settle what the settings leave open, from the log."""
    grid, findings = choose_grid(log)
    band: float | None = None
    cutoff = settings.cutoff
    if isinstance(cutoff, str):
        _only_auto("cutoff", cutoff)
        choice = choose_cutoff(log, grid)
        cutoff, band = choice.cutoff, choice.band
        findings = (*findings, choice.finding)
    smoother = differentiator(settings.derivative, cutoff, grid.rate)
    recorded, about_velocity = trusted_velocity(log, grid, smoother, settings.velocity)
    decimate = settings.decimate
    if isinstance(decimate, str):
        _only_auto("decimate", decimate)
        decimate = max(1, int(grid.rate / (OVERSAMPLED * cutoff)))
    if decimate < 1:
        raise InputError(f"decimate is {decimate}; keep every sample (1) or every n-th")
    trim = settings.trim
    if isinstance(trim, str):
        _only_auto("trim", trim)
        trim = smoother.settling * grid.step
    cut = round(trim * grid.rate)
    period = settings.average_periods
    if isinstance(period, str):
        _only_auto("average_periods", period)
        period = find_period(log, grid)
        if period is None:
            raise InputError(f"{log.source or 'log'}: the motion does not repeat itself; leave averaging off")
    elif period is not None:
        check_period(log, grid, period)
    if period is not None:
        cut = smoother.memory
        log, grid = average_periods(log, grid, period, cut)
        smoother = differentiator(settings.derivative, cutoff, grid.rate)
        findings = (*findings, log.findings[-1])
    settled = PreparationSettings(cutoff, settings.derivative, recorded, decimate, trim, period)
    findings = (*findings, *about_velocity, *_about_edges(log, grid, cut, decimate))
    return Preparation(log, settled, grid, smoother, recorded, decimate, cut, band, findings)


def _only_auto(name: str, value: str) -> None:
    if value != "auto":
        raise InputError(f'{name} is {value!r}; give a number or "auto"')


def _about_edges(log: Log, grid: Grid, cut: int, decimate: int) -> Iterator[Finding]:
    """What is cut off and left out; an error when nothing is left."""
    lengths = [grid.length(log, segment) for segment in log.segments]
    short = sum(length <= 2 * cut for length in lengths)
    cut_seconds = cut * grid.step
    if short == len(lengths):
        raise InputError(
            f"{log.source or 'log'}: {log.describe_cuts()}no segment is longer than the {2.0 * cut_seconds:.3g} s that "
            f"the low-pass spoils at its two ends; raise the cut-off, trim less or record longer"
        )
    kept = sum(-(-(length - 2 * cut) // decimate) for length in lengths if length > 2 * cut)
    text = f"{cut_seconds:.3g} s cut off at both ends; every {decimate}. sample kept, {kept} in all"
    yield Finding("samples", Severity.NOTE, text.replace("every 1. sample", "every sample"))
    if short:
        text = f"{short} of {len(lengths)} segments are shorter than {2.0 * cut_seconds:.3g} s and were left out"
        yield Finding("segments", Severity.WARNING, text)
