"""A campaign: mutated inputs are read in worker processes, and their outcomes are counted.

A worker that dies or does not answer costs one input: the next worker continues after it. A worker that dies between
two inputs costs none: it is counted, and the next worker continues with the second.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.outcomes import MAX_SECONDS, Outcome
from tests.support.paths import ROOT

MAX_START_SECONDS = 120.0  # until a worker has imported what it needs
MAX_SILENT_SECONDS = 12.0 * MAX_SECONDS  # the worker measures its own time; this is for one that waits for ever
MAX_IDLE_WORKERS = 3  # in a row that end before their first input, which is then not an accident
MAX_INPUTS_PER_WORKER = 20_000  # fresh processes, so that memory that libraries keep does not add up

NAME_WIDTH, COUNT_WIDTH = 10, 7  # characters of columns of the table

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
    seconds: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    restarts: Counter[str] = field(default_factory=Counter)  # of workers that ended between two inputs

    @property
    def has_failed(self) -> bool:
        return bool(self.failures or self.restarts.total())

    def add(self, reader: str, seed: int, number: int, outcome: Outcome, text: str, seconds: float) -> None:
        self.counts.setdefault(reader, Counter())[outcome] += 1
        self.seconds[reader] = self.seconds.get(reader, 0.0) + seconds
        if outcome.is_failure:
            self.failures.append(Failure(reader, seed, number, outcome, text))

    def format_table(self, *, heads: bool = True) -> str:
        """Return one row per reader, with the number of inputs of each outcome, below the heads if wanted."""
        columns = ["reader".ljust(NAME_WIDTH), "inputs".rjust(COUNT_WIDTH), *Outcome, "restarts", "seconds"]
        rows = [columns] if heads else []
        for name, counts in self.counts.items():
            numbers = [counts.total(), *(counts[outcome] for outcome in Outcome), self.restarts[name]]
            rows.append([name, *map(str, numbers), f"{self.seconds[name]:.0f}"])
        widths = [len(column) for column in columns]
        return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)


def run_campaign(
    jobs: Sequence[Job],
    seeds: Path,
    *,
    max_seconds: float = float("inf"),
    max_silent_seconds: float = MAX_SILENT_SECONDS,
    module: str = "tests.fuzz.worker",
    report: Callable[[Failure], None] = lambda _failure: None,
) -> Tally:
    """Read all inputs of the jobs, or as many as the time allows; ``module`` is run as the worker."""
    tally, deadline = Tally(), time.monotonic() + max_seconds
    waiting = [piece for job in jobs for piece in _split(job)]
    idle_workers = 0
    while waiting and time.monotonic() < deadline:
        group, total = [], 0
        while waiting and total + waiting[0][3] - waiting[0][2] <= MAX_INPUTS_PER_WORKER:
            group.append(waiting.pop(0))
            total += group[-1][3] - group[-1][2]
        worker = _Worker(module, seeds, max_silent_seconds, report)
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:  # here, because a killed worker leaves its files
            left = worker.run(group, tally, deadline, folder)
        idle_workers = idle_workers + 1 if left == group else 0
        if idle_workers == MAX_IDLE_WORKERS:
            raise RuntimeError("no worker reaches its first input; run one by hand to see why: python -m " + module)
        waiting[:0] = left
    return tally


def _split(job: Job) -> Iterator[Job]:
    name, seed, first, last = job
    for start in range(first, last, MAX_INPUTS_PER_WORKER):
        yield name, seed, start, min(last, start + MAX_INPUTS_PER_WORKER)


@dataclass(frozen=True)
class _Worker:
    """How a worker is started and followed."""

    module: str
    seeds: Path
    max_silent_seconds: float
    report: Callable[[Failure], None]

    def run(self, jobs: Sequence[Job], tally: Tally, deadline: float, folder: str) -> list[Job]:
        """Run one worker until it ends, fails or the time is up; return the jobs that are left."""
        source, target = os.pipe()
        paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        worker = subprocess.Popen(
            [sys.executable, "-m", self.module, str(self.seeds), str(target), json.dumps(jobs)],
            cwd=ROOT,
            pass_fds=[target],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1", "TMPDIR": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(target)
        try:
            return self._follow(source, list(jobs), tally, deadline)
        finally:
            worker.kill()
            worker.wait()
            os.close(source)

    def _follow(self, source: int, jobs: list[Job], tally: Tally, deadline: float) -> list[Job]:
        lines = _iterate_lines(source, self.max_silent_seconds)
        while jobs:
            name, seed, number, last = jobs[0]
            if number >= last:
                del jobs[0]
                continue
            if time.monotonic() > deadline:
                return jobs
            if next(lines) != [number]:
                tally.restarts[name] += 1
                return jobs
            start = time.monotonic()
            answer = next(lines)
            seconds = time.monotonic() - start
            if answer is None:
                is_silent = seconds >= self.max_silent_seconds
                answer = [Outcome.SLOW, "no answer"] if is_silent else [Outcome.DEAD, "the process died"]
            outcome, text = Outcome(str(answer[0])), str(answer[1])
            tally.add(name, seed, number, outcome, text, seconds)
            jobs[0] = name, seed, number + 1, last
            if outcome.is_failure:
                self.report(tally.failures[-1])
                # Memory is measured as the largest of the whole process, so the next input needs a fresh one.
                if outcome is not Outcome.FOREIGN:
                    return jobs
        return jobs


def _iterate_lines(source: int, max_silent_seconds: float) -> Iterator[list[object] | None]:
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
        patience = max_silent_seconds
        line, _, rest = rest.partition(b"\n")
        yield json.loads(line)
