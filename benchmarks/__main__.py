"""``make bench``: run all benchmarks, or those that the command line names, and print one table."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks import compile_time, dynamics, export, identify, reading, simulate, start_up
from benchmarks.clock import Row

BENCHMARKS = (dynamics, identify, simulate, compile_time, export, reading, start_up)


def main() -> None:
    names = sys.argv[1:]
    rows: list[Row] = []
    for benchmark in BENCHMARKS:
        if not names or benchmark.__name__.rpartition(".")[2] in names:
            rows += benchmark.measure_rows()
    table = Table("what", "ytheta", "peer", "peer's name", "faster", box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(row.name, *row.times, row.peer_name, row.verdict)
    Console().print(table)


if __name__ == "__main__":
    main()
