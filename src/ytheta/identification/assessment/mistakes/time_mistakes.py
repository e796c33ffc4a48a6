"""Mistakes in time: a wrong rate or unit, and torques that were recorded later than positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake, mend_once
from ytheta.identification.assessment.mistakes.torque_mistakes import format_factor
from ytheta.identification.finding_codes import FitFindingCode

# Factors by which recorded time has to be multiplied: ratios of usual sampling rates, and decimal prefixes.
USUAL_FACTORS = (2.0, 0.5)
FACTORS = tuple(each for size in (4.0, 5.0, 8.0, 10.0, 100.0, 1000.0, 2.5, 1.5) for each in (1.0 / size, size))
DELAYS = (0.05, 0.1, 0.2, 0.5)  # s; those of filters and buses are shorter


def list_time_scales(interpretation: Interpretation, factors: Sequence[float] = FACTORS) -> Iterator[Mistake]:
    """Yield factors of time."""
    for factor in factors:
        size, kind = (1.0 / factor, "long") if factor < 1.0 else (factor, "short")
        yield Mistake(
            FitFindingCode.TIME_SCALE,
            f"time steps are {format_factor(size)} times too {kind}",
            f"write [scale] t = {format_factor(factor)} in the mapping, or multiply its rate by "
            f"{format_factor(1.0 / factor)}",
            mend_once(interpretation, interpretation.samples.stretch(factor)),
            fields={"factor": factor},
        )


def list_delays(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield delays of torques relative to positions, and vice versa."""
    for delay in (each for size in DELAYS for each in (size, -size)):
        late, early = ("torques", "positions") if delay > 0.0 else ("positions", "torques")
        yield Mistake(
            FitFindingCode.DELAY,
            f"{late} were recorded about {abs(delay):.2g} s later than {early}",
            f"move the columns of {late} up by {abs(delay):.2g} s in the log",
            mend_once(interpretation, interpretation.samples.shift_torques(delay)),
            fields={"delay": delay},
        )
