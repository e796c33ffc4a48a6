"""A benchmark for a terminal, and as the output of ``ytheta bench --json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ytheta.benchmark import Benchmark
from ytheta.report.terminal import TerminalColumn, fit_table, print_note, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from rich.console import Console

UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def print_benchmark(console: Console, benchmark: Benchmark) -> None:
    """Print the machine, and one row for each function and peer."""
    machine, rows = benchmark.machine, benchmark.rows
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    console.print(safe_text(f"{machine['cpu']}, {machine['processors']} processors, {machine['system']}; {versions}"))
    columns = [
        TerminalColumn(benchmark.robot, safe_texts(row.name for row in rows), align_left=True),
        TerminalColumn("ytheta", safe_texts(format_time(row.ytheta) for row in rows)),
        TerminalColumn("peer", safe_texts(format_time(row.peer) for row in rows)),
        TerminalColumn("peer's name", safe_texts(row.peer_name for row in rows), align_left=True),
        TerminalColumn("faster", safe_texts(f"{row.ratio:.1f}×" for row in rows)),
    ]
    print_table(console, fit_table(columns, console.width))
    print_note(
        console,
        f"time per sample on one core, the shortest of {benchmark.repeats}; ytheta computes {benchmark.samples} "
        "samples per call, peers are called from Python for each sample; their values agree",
    )


def format_time(seconds: float) -> str:
    """Return a time with its unit."""
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


# A benchmark as plain data: the output of ``ytheta bench --json``.


def summarize_benchmark(benchmark: Benchmark) -> dict[str, Any]:
    """Return the rows, with times in seconds per sample, and the machine."""
    return {
        "robot": benchmark.robot,
        "samples": benchmark.samples,
        "repeats": benchmark.repeats,
        "unit": "s per sample",
        "rows": [
            {
                "name": row.name,
                "ytheta": row.ytheta,
                "peer": row.peer,
                "peer_name": row.peer_name,
                "ratio": row.ratio,
            }
            for row in benchmark.rows
        ],
        "machine": benchmark.machine,
    }
