"""A campaign: mutated inputs are read in worker processes, and their outcomes are counted.

A worker that dies or does not answer costs one input: the next worker continues after it.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.outcomes import MAX_SECONDS, Outcome
from tests.support.paths import ROOT

MAX_START_SECONDS = 120.0  # until a worker has imported what it needs
MAX_SILENT_SECONDS = 2.0 * MAX_SECONDS  # the worker measures by itself; the rest is for a busy machine
MAX_INPUTS_PER_WORKER = 20_000  # fresh processes, so that memory that libraries keep does not add up

Job = tuple[str, int, int, int]  # reader, seed, first and last number of the inputs


@dataclass(frozen=True)
class Failure:
    reader: str
    seed: int
    number: int
    outcome: Outcome
    text: str


@dataclass
class Tally:
    """The outcomes of all inputs of a campaign so far."""

    counts: dict[str, Counter[Outcome]] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, reader: str, seed: int, number: int, outcome: Outcome, text: str, seconds: float) -> None:
        self.counts.setdefault(reader, Counter())[outcome] += 1
        self.seconds[reader] += seconds  # type: ignore[assignment]
        if outcome.is_failure:
            self.failures.append(Failure(reader, seed, number, outcome, text))

    def format_table(self) -> str:
        """Return one row per reader, with the number of inputs of each outcome."""
        heads = ["reader", "inputs", *Outcome, "seconds"]
        rows = [
            [name, str(counts.total()), *(str(counts[outcome]) for outcome in Outcome), f"{self.seconds[name]:.0f}"]
            for name, counts in self.counts.items()
        ]
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [heads, *rows]
        )


def run_campaign(
    jobs: Sequence[Job],
    seeds: Path,
    *,
    max_seconds: float = float("inf"),
    module: str = "tests.fuzz.worker",
    report: Callable[[Failure], None] = lambda _failure: None,
) -> Tally:
    """Read all inputs of the jobs, or as many as the time allows; ``module`` is run as the worker."""
    tally, deadline = Tally(), time.monotonic() + max_seconds
    waiting = [piece for job in jobs for piece in _split(job)]
    while waiting and time.monotonic() < deadline:
        group, total = [], 0
        while waiting and total + waiting[0][3] - waiting[0][2] <= MAX_INPUTS_PER_WORKER:
            group.append(waiting.pop(0))
            total += group[-1][3] - group[-1][2]
        waiting[:0] = _run_worker(group, seeds, tally, deadline, module, report)
    return tally


def _split(job: Job) -> Iterator[Job]:
    name, seed, first, last = job
    for start in range(first, last, MAX_INPUTS_PER_WORKER):
        yield name, seed, start, min(last, start + MAX_INPUTS_PER_WORKER)


def _run_worker(
    jobs: Sequence[Job], seeds: Path, tally: Tally, deadline: float, module: str, report: Callable[[Failure], None]
) -> list[Job]:
    """Run one worker until it ends, fails or the time is up; return the jobs that are left."""
    source, target = os.pipe()
    arguments = [sys.executable, "-m", module, str(seeds), str(target), json.dumps(jobs)]
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    worker = subprocess.Popen(
        arguments, cwd=ROOT, pass_fds=[target], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(target)
    try:
        return _follow(source, list(jobs), tally, deadline, report)
    finally:
        worker.kill()
        worker.wait()
        os.close(source)


def _follow(
    source: int, jobs: list[Job], tally: Tally, deadline: float, report: Callable[[Failure], None]
) -> list[Job]:
    lines = _iterate_lines(source)
    while jobs:
        name, seed, number, last = jobs[0]
        if number >= last:
            del jobs[0]
            continue
        if time.monotonic() > deadline:
            return jobs
        if next(lines) != [number]:
            raise RuntimeError("a worker could not start; run it by hand to see why: python -m tests.fuzz.worker")
        start = time.monotonic()
        answer = next(lines)
        if answer is None:
            silent = time.monotonic() - start >= MAX_SILENT_SECONDS
            answer = [Outcome.SLOW, "no answer"] if silent else [Outcome.DEAD, "the process died"]
            end = True
        else:
            end = answer[0] in (Outcome.SLOW, Outcome.LARGE)  # memory is measured as the largest of the whole process
        outcome = Outcome(answer[0])
        tally.add(name, seed, number, outcome, answer[1], time.monotonic() - start)
        if outcome.is_failure:
            report(tally.failures[-1])
        jobs[0] = name, seed, number + 1, last
        if end:
            return jobs
    return jobs


def _iterate_lines(source: int) -> Iterator[list[object] | None]:
    """Yield the values of each line; None if the worker has ended or is silent for too long."""
    rest, patience = b"", MAX_START_SECONDS
    while True:
        while b"\n" not in rest:
            ready, _, _ = select.select([source], [], [], patience)
            piece = os.read(source, 1 << 16) if ready else b""
            if not piece:
                yield None
                return
            rest += piece
        patience = MAX_SILENT_SECONDS
        line, _, rest = rest.partition(b"\n")
        yield json.loads(line)
