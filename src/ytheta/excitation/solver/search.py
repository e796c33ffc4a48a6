"""The search: many random starts, then the best of them polished.

The amount of work is counted in starts and iterations, not in seconds, so that the same seed gives the same answer on
every machine and with any number of workers. A time limit, if the user gives one, only stops the search early; the
result says so, because it then depends on the speed of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ytheta.engine.engine import Engine
from ytheta.excitation.solver.descent import Candidate, Exploration, Polish
from ytheta.excitation.solver.design import Design


class Ending(StrEnum):
    """Why a search ended."""

    COMPLETE = "complete"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Budget:
    """Amount of work: number of random starts, and number of the best of them that are polished."""

    starts: int
    polished: int


@dataclass(frozen=True)
class Progress:
    """The state of a search: ``best`` is the smallest value of the criterion so far."""

    stage: str
    done: int
    total: int
    best: float
    seconds: float


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The best candidates, best first; ``feasible`` of ``starts`` random starts ended within all limits."""

    candidates: tuple[Candidate, ...]
    ending: Ending
    starts: int
    feasible: int
    polished: int
    evaluations: int
    seconds: float


ProgressFunction = Callable[[Progress], None]


class Clock:
    """Time since the beginning of all searches, and the limit at which they stop."""

    def __init__(self, time_limit: float | None) -> None:
        self._begin, self._limit = time.monotonic(), time_limit

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def is_over(self, share: float = 1.0) -> bool:
        """Return whether this share of the time limit has passed."""
        return self._limit is not None and self.seconds > share * self._limit


def search(
    design: Design,
    budget: Budget,
    *,
    seed: int,
    engine: Engine,
    progress: ProgressFunction,
    clock: Clock,
    stage: str = "",
) -> SearchOutcome:
    """Return the best trajectories found; after KeyboardInterrupt, the best found until then."""
    begin = clock.seconds
    explored: list[Candidate] = []
    polished: list[Candidate] = []
    done, ending = 0, Ending.COMPLETE
    name = f"{stage} " if stage else ""

    def watch(results: Iterable[Candidate | None], kind: str, total: int, share: float) -> Iterator[Candidate | None]:
        for k, result in enumerate(results, start=1):
            yield result
            values = [each.value for each in (*explored, *polished)]
            progress(Progress(f"{name}{kind}", k, total, min(values, default=float("inf")), clock.seconds))
            if clock.is_over(share):
                return

    try:
        starts = engine.map_in_order(Exploration(design, seed), range(budget.starts))
        for candidate in watch(starts, "starts", budget.starts, 0.5):
            done += 1
            if candidate is not None:
                explored.append(candidate)
        best = sorted(explored, key=_rank)[: budget.polished]
        for refined in watch(engine.map_in_order(Polish(design), best), "polish", len(best), 1.0):
            if refined is not None:
                polished += [refined]
        if done < budget.starts or len(polished) < len(best):
            ending = Ending.TIME_LIMIT
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
    candidates = tuple(sorted([*polished, *explored], key=_rank))
    evaluations = sum(each.evaluations for each in explored) + sum(each.evaluations for each in polished)
    seconds = clock.seconds - begin
    return SearchOutcome(candidates, ending, done, len(explored), len(polished), evaluations, seconds)


def _rank(candidate: Candidate) -> tuple[float, int]:
    return candidate.value, candidate.start
