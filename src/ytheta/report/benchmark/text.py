"""A benchmark for a terminal."""

from __future__ import annotations

from rich.console import Console

from ytheta.benchmarking.bench import Benchmark
from ytheta.report.terminal import Column, fit_table, print_note, print_table, safe_text, safe_texts

UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def print_benchmark(console: Console, benchmark: Benchmark) -> None:
    """Print the machine, and one row for each function and peer."""
    machine, rows = benchmark.machine, benchmark.rows
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    console.print(safe_text(f"{machine['cpu']}, {machine['processors']} processors, {machine['system']}; {versions}"))
    columns = [
        Column(benchmark.robot, safe_texts(row.name for row in rows), align_left=True),
        Column("ytheta", safe_texts(format_time(row.ytheta) for row in rows)),
        Column("peer", safe_texts(format_time(row.peer) for row in rows)),
        Column("peer's name", safe_texts(row.peer_name for row in rows), align_left=True),
        Column("faster", safe_texts(f"{row.ratio:.1f}×" for row in rows)),
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
