"""The search: the same answer for the same seed, interruption, time limit, progress, and its end without gain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.support.design_cases import make_design
from ytheta.engine.engine import Engine
from ytheta.engine.local import Local
from ytheta.engine.registry import open_engine
from ytheta.excitation.limit_check import check_limits, list_violations
from ytheta.excitation.solver import (
    Budget,
    Candidate,
    Clock,
    Design,
    Ending,
    Exploration,
    Polish,
    Progress,
    SearchOutcome,
    search,
)

BUDGET = Budget(4, 2)


@pytest.fixture(scope="module")
def design() -> Design:
    return make_design("lu-puma4", velocity=2.0, effort=100.0)


def run(
    design: Design, engine: Engine, *, seed: int = 7, limit: float | None = None, stop_after: int = 1000
) -> tuple[SearchOutcome, list[Progress]]:
    seen: list[Progress] = []

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) >= stop_after:
            raise KeyboardInterrupt

    return search(design, BUDGET, seed=seed, engine=engine, progress=watch, clock=Clock(limit)), seen


def test_the_answer_depends_on_the_seed_only(design: Design) -> None:
    one, _ = run(design, Local(1))
    two, _ = run(design, Local(2))
    other, _ = run(design, Local(1), seed=8)
    assert [each.value for each in one.candidates] == [each.value for each in two.candidates]
    assert (one.candidates[0].x == two.candidates[0].x).all()
    assert one.candidates[0].value != other.candidates[0].value
    assert one.ending is Ending.COMPLETE
    assert (one.starts, one.feasible, one.polished) == (4, 4, 2)


def test_processes_give_the_same_answer(design: Design) -> None:
    here, _ = run(design, Local(1))
    with open_engine("dask", threads=1) as engine:
        there, _ = run(design, engine)
    assert there.candidates[0].value == here.candidates[0].value


def test_each_stage_improves_and_keeps_the_limits(design: Design) -> None:
    exploration = Exploration(design, 7)
    drawn, explored = exploration.draw(1), exploration(1)
    assert drawn is not None
    assert explored is not None
    polished = Polish(design)(explored)
    assert polished.value < explored.value < drawn.value
    for each in (drawn, explored, polished):
        assert list_violations(check_limits(design.space.build(each.x), design.constraints)) == ()
        assert each.value == pytest.approx(design.measure(each.x))
    # The descent ended outside, which the last shrink corrected.
    assert list_violations(check_limits(design.space.build(1.02 * polished.x), design.constraints))


def test_an_interruption_keeps_the_best_so_far(design: Design) -> None:
    outcome, seen = run(design, Local(1), stop_after=2)
    assert outcome.ending is Ending.INTERRUPTED
    assert len(outcome.candidates) == 2
    assert outcome.candidates[0].value == seen[-1].best


def test_a_time_limit_stops_early_and_says_so(design: Design) -> None:
    outcome, _ = run(design, Local(1), limit=1e-6)
    assert outcome.ending is Ending.TIME_LIMIT
    assert outcome.starts == 1
    assert outcome.polished == 1


def test_progress_reports_the_best_value(design: Design) -> None:
    outcome, seen = run(design, Local(1))
    assert [(each.stage, each.done, each.total) for each in seen] == [
        *(("starts", k, 4) for k in (1, 2, 3, 4)),
        *(("polish", k, 2) for k in (1, 2)),
    ]
    best = [each.best for each in seen]
    assert best == sorted(best, reverse=True)
    assert best[-1] == outcome.candidates[0].value
    assert math.isfinite(best[0])


@dataclass(frozen=True)
class GivenValues:
    """An engine that finds a given value in each round of eight starts, and does not improve it."""

    values: tuple[float, ...]

    def map_in_order(self, _: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            none = np.zeros((1, 1))
            yield item if isinstance(item, Candidate) else Candidate(item, none, none, self.values[item // 8], 1.0, 1)


@pytest.mark.parametrize(
    ("values", "starts", "ending"),
    [
        ((5.0, 4.0, 3.0, 2.996, 2.992, 1.0), 40, Ending.STALLED),  # two rounds gain less than 0.01
        ((5.0, 4.0, 3.0, 2.996, 2.985, 2.9), 48, Ending.COMPLETE),
        ((5.0, 6.0, 4.9, 6.0, 4.8, 6.0), 48, Ending.COMPLETE),  # one round without gain is not enough
        ((5.0, 6.0, 6.0, 1.0, 1.0, 1.0), 24, Ending.STALLED),
    ],
)
def test_a_search_without_gain_ends(design: Design, values: tuple[float, ...], starts: int, ending: Ending) -> None:
    outcome = search(
        design, Budget(48, 6), seed=0, engine=GivenValues(values), progress=lambda _: None, clock=Clock(None)
    )
    assert (outcome.starts, outcome.ending) == (starts, ending)
    assert outcome.candidates[0].value == min(values[: starts // 8])
