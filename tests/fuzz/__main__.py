"""Read mutated inputs with every reader, count the outcomes, and keep the inputs that fail.

    python -m tests.fuzz [READER …] [--count N] [--first N] [--seed N] [--seconds S] [--keep FOLDER]

Without ``--count``, every reader gets as many inputs as its table entry says: 100 000 if it is cheap, 20 000 otherwise.
The exit code is 1 if an input failed or a worker ended between two inputs. ``--first K --count 1`` repeats the input
with the number K.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaign import Failure, Job, run_campaign
from tests.fuzz.readers import READERS, read_seeds
from tests.fuzz.seeds import write_seeds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"default: all of {', '.join(READERS)}")
    parser.add_argument("--count", type=int, help="inputs of each reader")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument("--keep", type=Path, default=Path("report/fuzz"), help="folder for the inputs that fail")
    options = parser.parse_args()
    if unknown := [name for name in options.readers if name not in READERS]:
        parser.error(f"there is no reader {unknown[0]!r}; choose from: {', '.join(READERS)}")
    jobs: list[Job] = [
        (name, options.seed, options.first, options.first + (options.count or READERS[name].count))
        for name in options.readers or READERS
    ]
    with tempfile.TemporaryDirectory(prefix="fuzz-seeds-") as folder:
        os.environ["YTHETA_CACHE"] = str(Path(folder) / "kernels")
        write_seeds(Path(folder))

        def keep(failure: Failure) -> None:
            reader = READERS[failure.reader]
            options.keep.mkdir(parents=True, exist_ok=True)
            path = options.keep / f"{failure.reader}-{failure.seed}-{failure.number}{Path(reader.file).suffix}"
            path.write_bytes(reader.make_input(read_seeds(Path(folder), reader), failure.seed, failure.number))
            _print(f"{path}: {failure.outcome}: {failure.text}")

        deadline, has_failed = time.monotonic() + options.seconds, False
        for job in jobs:
            left = deadline - time.monotonic()
            if left <= 0.0:
                break
            tally = run_campaign([job], Path(folder), max_seconds=left, report=keep)
            has_failed |= tally.has_failed
            _print(tally.format_table(heads=job is jobs[0]))
    return 1 if has_failed else 0


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
