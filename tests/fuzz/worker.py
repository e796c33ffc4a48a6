"""A process that reads mutated inputs and reports what became of each.

    python -m tests.fuzz.worker SEEDS DESCRIPTOR JOBS

SEEDS is the folder of the seeds, DESCRIPTOR the open file to report to, JOBS a JSON list of [reader, seed, first,
last]. Each input gets two lines: its number before it is read, so that its end is noticed even if the process dies, and
the outcome after.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from benchmarks.memory import read_peak_memory

from tests.fuzz.outcomes import MAX_MEMORY, MAX_SECONDS, Outcome
from tests.fuzz.readers import READERS, Reader, lay_out, read_seeds
from ytheta.errors import YthetaError

MAX_ADDRESSES = 8 * MAX_MEMORY  # bytes, of which Polars reserves 2 GB; more is refused, and the machine stays usable
MAX_PROCESSOR_SECONDS = 4 * MAX_SECONDS  # for one input; after that the system ends the process


def main(seeds: Path, descriptor: int, jobs: list[tuple[str, int, int, int]]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESSES, MAX_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for k, (name, seed, first, last) in enumerate(jobs):
            reader = READERS[name]
            path = lay_out(reader, seeds, Path(folder) / str(k))
            contents = read_seeds(seeds, reader) or [b""]
            for number in range(first, last):
                path.write_bytes(reader.make_input(contents, seed, number))
                _report(descriptor, number)
                _limit_processor_time()
                _report(descriptor, *read_input(reader, path))


def _limit_processor_time() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + MAX_PROCESSOR_SECONDS) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def read_input(reader: Reader, path: Path) -> tuple[Outcome, str]:
    """Read one input; return the outcome and, if it is a failure, its cause."""
    start, text = time.process_time(), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a warning reaches the user as a line of source
            reader.read(path)
        outcome = Outcome.ACCEPTED
    except YthetaError as error:
        outcome = Outcome.LARGE if _wraps_memory_error(error) else Outcome.REFUSED
        text = str(error)
    except BaseException as error:
        outcome = Outcome.FOREIGN
        place = traceback.extract_tb(error.__traceback__)[-1]
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if "ytheta" in frame.filename]
        own_place = f"{own[-1].filename.rpartition('ytheta/')[2]}:{own[-1].lineno}, " if own else ""
        text = f"{type(error).__name__}: {str(error)[:200]} ({own_place}{Path(place.filename).name}:{place.lineno})"
    if outcome is Outcome.REFUSED:
        outcome, text = _judge_message(text)
    seconds = time.process_time() - start
    if seconds > MAX_SECONDS:
        return Outcome.SLOW, f"{seconds:.1f} s"
    peak = read_peak_memory()
    return (Outcome.LARGE, f"{peak / 1e9:.2f} GB") if peak > MAX_MEMORY else (outcome, text)


def _judge_message(text: str) -> tuple[Outcome, str]:
    """A message is one line; otherwise it counts as a foreign exception."""
    if "\n" in text or not text:
        return Outcome.FOREIGN, f"a message of {len(text.splitlines())} lines: {text[:200]!r}"
    return Outcome.REFUSED, ""


def _wraps_memory_error(error: BaseException) -> bool:
    """Whether a refusal was caused by an attempt to allocate more than the limit."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, MemoryError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None


def _report(descriptor: int, *values: object) -> None:
    os.write(descriptor, (json.dumps(values) + "\n").encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))
