"""A benchmark as plain data: the output of ``ytheta bench --json``."""

from __future__ import annotations

from typing import Any

from ytheta.benchmarking.bench import Benchmark


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
