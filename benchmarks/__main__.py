"""``make bench``: run all benchmarks, or those that the command line names, and print one table."""

from __future__ import annotations

import sys

from benchmarks import compile_time, dynamics, export, identify, reading, simulate, start_up
from benchmarks.clock import Row, print_rows

BENCHMARKS = (dynamics, identify, simulate, compile_time, export, reading, start_up)


def main() -> None:
    names = sys.argv[1:]
    rows: list[Row] = []
    for benchmark in BENCHMARKS:
        if not names or benchmark.__name__.rpartition(".")[2] in names:
            rows += benchmark.measure_rows()
    print_rows(rows)


if __name__ == "__main__":
    main()
