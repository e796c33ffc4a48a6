"""Load: many samples, many runs and long logs, with their time and peak memory.

    python -m benchmarks.load                       all of it: some minutes, and 8 GB of disk for the log
    python -m benchmarks.load samples 100000000     samples that are generated piece by piece and never stored
    python -m benchmarks.load runs 100000           simulated runs
    python -m benchmarks.load log 86400             the raw log of so many seconds at 1 kHz, from Parquet to the result

Every job has its own process, because peak memory is measured per process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

import ytheta as yt
from benchmarks.memory import read_peak_memory
from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.least_squares import Weighted
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import PerSample, SamplesByJoint

SAMPLES = 100_000_000
RUNS = 100_000
LOG_SECONDS = 86_400
RATE = 1000.0
RUN_SECONDS = 1.0
RECORD_EVERY = 100  # control instants
ROWS_PER_FILE = 1_000_000
FRICTION = ("viscous", "coulomb", "offset")
NOISE = 0.05  # Nm
ENCODER_STEP = 2.0 * np.pi / 2**17  # rad
FREQUENCIES = np.array([[0.31, 0.173, 0.0717], [0.233, 0.127, 0.0531]])  # Hz, of each joint; no common period
AMPLITUDES = np.array([[0.6, 0.9, 0.7], [0.5, 0.8, 0.9]])  # rad
MAX_ERROR = 1e-2  # of an identified parameter, relative to the largest


@dataclass(frozen=True, eq=False)
class GeneratedSource:
    """Motion of an arm that is computed whenever it is asked for, each time with the same noise."""

    robot: Robot
    count: int
    name: str = "generated motion"
    rate: float = RATE
    has_torque: bool = True

    @property
    def lengths(self) -> tuple[int, ...]:
        return (self.count,)

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        """Return the samples from ``first`` to ``last``."""
        rows = np.arange(first, last)
        t = rows / RATE
        q, qd, qdd = sample_sines(t)
        tau = inverse_dynamics(self.robot)(q, qd, qdd) + NOISE * sample_noise(segment, first, q.shape)
        return MotionSamples(t, q, qd, qdd, tau, None, rows)


def sample_sines(t: PerSample) -> tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint]:
    """Return positions, velocities and accelerations."""
    omega = 2.0 * np.pi * FREQUENCIES
    angle = t[:, None, None] * omega
    sine, cosine = np.sin(angle), np.cos(angle)
    return (
        (AMPLITUDES * sine).sum(axis=2),
        (AMPLITUDES * omega * cosine).sum(axis=2),
        -(AMPLITUDES * omega**2 * sine).sum(axis=2),
    )


def sample_noise(segment: int, first: int, shape: tuple[int, ...]) -> SamplesByJoint:
    """Return noise of variance one."""
    return np.random.default_rng((segment, first)).standard_normal(shape)


def make_arm() -> Robot:
    """Return the arm of Lu and Meng, with friction."""
    return yt.load("lu-two-link").with_drives(
        lambda _, drive: replace(drive, viscous=0.8, coulomb=1.5, offset=0.3) if drive else Drive()
    )


# --- jobs: each returns time (s) and peak memory (MB)


def measure_samples(count: int) -> dict[str, float]:
    """Identify from generated samples, and compare the result with the truth."""
    robot = make_arm()
    base = yt.base_parameters(robot, friction=FRICTION)
    start = time.perf_counter()
    problem = EstimationProblem(Differential(base), (GeneratedSource(robot, count),))
    beta = Weighted().fit(problem).beta
    truth = base.K @ robot.theta
    error = float(abs(beta - truth).max() / abs(truth).max())
    assert error < MAX_ERROR, f"a parameter is off by {error:.1e} of the largest"
    return _make_result(start, count) | {"error": error}


def measure_runs(count: int) -> dict[str, float]:
    """Simulate runs that differ in loads, gains and start."""
    start = time.perf_counter()
    variation = yt.Variation(spread=0.1, gain_spread=0.1, start_offset=0.02)
    simulation = yt.simulate(
        yt.load("lu-two-link"), runs=count, seconds=RUN_SECONDS, variation=variation, every=RECORD_EVERY
    )
    assert len(simulation.tracking_rms) == count
    return _make_result(start, count)


def write_long_log(path: Path, count: int) -> None:
    """Write a log with positions of an encoder and noisy torques, piece by piece."""
    robot = make_arm()
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for first in range(0, count, ROWS_PER_FILE):
            motion = GeneratedSource(robot, count).motion(0, first, min(first + ROWS_PER_FILE, count))
            assert motion.tau is not None
            q = np.round(motion.q / ENCODER_STEP) * ENCODER_STEP
            columns = {
                f"{name}{k + 1}": values[:, k] for name, values in (("q", q), ("tau", motion.tau)) for k in (0, 1)
            }
            pl.DataFrame({"t": motion.t, **columns}).write_parquet(Path(folder) / f"{first:012d}.parquet")
        pl.scan_parquet(folder).sink_parquet(path)


def measure_log(path: Path) -> dict[str, float]:
    """Identify from a log: reading, checking, preparing, fitting and judging."""
    robot = make_arm()
    start = time.perf_counter()
    log = yt.read_log(path, robot)
    identification = yt.identify(robot, log)
    assert identification.verdict.solved
    columns = 1 + 2 * len(robot.actuated)
    return _make_result(start, len(log)) | {
        "log_megabytes": 8e-6 * columns * len(log),
        "error_percent": identification.fit.relative_percent,
    }


def _make_result(start: float, count: int) -> dict[str, float]:
    return {"count": count, "seconds": time.perf_counter() - start, "megabytes": read_peak_memory() / 1e6}


# --- the processes


def run_job(job: str, *arguments: object) -> dict[str, float]:
    """Run a job in a new process and return the numbers that it prints."""
    command = [sys.executable, "-m", "benchmarks.load", "--job", job, *map(str, arguments)]
    process = subprocess.run(
        command, check=True, env=os.environ, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True
    )
    numbers: dict[str, float] = json.loads(process.stdout or "{}")
    return numbers


def measure_long_log(seconds: int) -> dict[str, float]:
    """Write a log of so many seconds, and identify from it, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        run_job("write", path, round(seconds * RATE))
        return run_job("log", path)


def main() -> None:
    names, counts = sys.argv[1:2], [int(float(text)) for text in sys.argv[2:]]
    measures: dict[str, tuple[int, Callable[[int], dict[str, float]]]] = {
        "samples": (SAMPLES, lambda count: run_job("samples", count)),
        "runs": (RUNS, lambda count: run_job("runs", count)),
        "log": (LOG_SECONDS, measure_long_log),
    }
    for name, (default, measure) in measures.items():
        if not names or name in names:
            for count in counts or (default,):
                result = measure(count)
                further = "".join(f", {key} {value:.3g}" for key, value in list(result.items())[3:])
                print(f"{name} {result['count']:,}: {result['seconds']:.1f} s, {result['megabytes']:.0f} MB{further}")


JOBS: dict[str, Callable[..., dict[str, float] | None]] = {
    "samples": lambda count: measure_samples(int(count)),
    "runs": lambda count: measure_runs(int(count)),
    "write": lambda path, count: write_long_log(Path(path), int(count)),
    "log": lambda path: measure_log(Path(path)),
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(JOBS[sys.argv[2]](*sys.argv[3:]) or {}))
    else:
        main()
