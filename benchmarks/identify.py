"""Identification: regressor and least squares against the usual script, and an hour of raw data from file to result.

The usual script fills W sample by sample with Pinocchio's regressor and friction columns, finds the independent columns
by a QR decomposition and solves for them. Both must agree.

Everything runs in processes of its own: the number of BLAS threads is chosen when NumPy starts, and the peak of memory
is that of one job.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import Row, best_of
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parts import Drive
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

SAMPLES = (5000, 60_000)
RUNS = 15
HOUR = 3_600_000
RATE = 1000.0
QUANTUM = 2.0 * np.pi / 2**17  # of the encoders, rad
FRICTION = ("viscous", "coulomb", "offset")
SAME = 1e-6  # of the largest torque: what the predictions of the two ways may differ by
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "MKL", "OMP")}


def rows() -> list[Row]:
    return [*_fit_rows("one thread", 1), *_fit_rows("all cores", None), *_hour_rows()]


def _fit_rows(which: str, threads: int | None) -> list[Row]:
    """Seconds per sample, in a process with that many threads."""
    found = _child("fit", *SAMPLES, RUNS, threads or 0, settings=ONE_THREAD if threads == 1 else {})
    name = f"UR10 with friction, regressor and least squares, {which}"
    return [
        Row(f"{name}, {count} samples", found[f"ours {count}"], found[f"usual {count}"], "Pinocchio, numpy.linalg")
        for count in SAMPLES
    ]


def _hour_rows() -> list[Row]:
    """From a Parquet file to the result; the peer is four times a quarter of it, and shows that time is linear."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = {}
        for samples in (HOUR // 4, HOUR):
            path = str(Path(folder) / f"{samples}.parquet")
            _child("record", path, samples)
            seconds[samples] = _child("file", path)
    whole, quarter = seconds[HOUR], seconds[HOUR // 4]
    name = f"{HOUR} raw samples to the result ({whole['megabytes']:.0f} MB at most)"
    return [Row(name, whole["seconds"], 4.0 * quarter["seconds"], "four times a quarter of it")]


def _child(job: str, *arguments: object, settings: dict[str, str] | None = None) -> dict[str, float]:
    """What a job of this module prints, run in a new process."""
    command = [sys.executable, "-m", "benchmarks.identify", job, *map(str, arguments)]
    root = Path(__file__).parents[1]
    environment = os.environ | (settings or {})
    done = subprocess.run(command, check=True, env=environment, cwd=root, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


# --- the jobs of the new processes


def fit(few: int, many: int, runs: int, threads: int) -> dict[str, float]:
    """Seconds per sample of the usual script and of ours."""
    from ytheta.identification.estimators.least_squares import LeastSquares

    form = Differential(_base())
    assert form.kernel is not None  # compiled, as the usual script's model is built
    # On one thread the processor's time counts: the usual script takes long, and shared machines interrupt it more.
    clock = time.process_time if threads == 1 else time.perf_counter
    usual, found = _Usual(), {}
    for samples in (few, many):
        source = ArraySource(_random_motion(form.base.robot, samples), RATE)

        def ours(source: ArraySource = source) -> np.ndarray:
            return LeastSquares().fit(EstimationProblem(form, (source,), threads=threads or None)).beta

        def theirs(source: ArraySource = source) -> object:
            return usual.fit(source.whole)

        _check(usual, form.base, ours(), source.whole)
        found[f"ours {samples}"] = best_of(ours, runs=runs, clock=clock) / samples
        found[f"usual {samples}"] = best_of(theirs, runs=min(runs, 3), clock=clock) / samples
    return found


def record(path: str, samples: int) -> dict[str, float]:
    """Write a log of Fourier-series motion: rounded positions, torques with noise."""
    import polars as pl

    from ytheta.dynamics.kernels import inverse_dynamics

    rng, robot = np.random.default_rng(0), _robot()
    t, joints = np.arange(samples) / RATE, len(robot.actuated)
    sines, cosines = rng.uniform(-0.35, 0.35, (2, 5, joints))
    q, qd, qdd = np.zeros((3, samples, joints))
    for k, (a, b) in enumerate(zip(sines, cosines, strict=True), start=1):
        w = 2.0 * np.pi * 0.1 * k
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q += a * s + b * c
        qd += w * (a * c - b * s)
        qdd -= w * w * (a * s + b * c)
    tau = inverse_dynamics(robot)(q, qd, qdd)
    tau += rng.normal(0.0, 1.0, tau.shape)
    q = np.round(q / QUANTUM) * QUANTUM
    columns = {f"{name}{j + 1}": values[:, j] for name, values in (("q", q), ("tau", tau)) for j in range(joints)}
    pl.DataFrame({"t": t} | columns).write_parquet(path)
    return {}


def file(path: str) -> dict[str, float]:
    """Seconds and the peak of memory from a file to the result; base parameters, kernels, errors, diagnosis included."""
    from ytheta.identification.identify import identify
    from ytheta.logs.reading.read import read_log

    robot = _robot()
    began = time.perf_counter()
    found = identify(robot, read_log(path, robot))
    assert found.verdict.solved
    return {"seconds": time.perf_counter() - began, "megabytes": _peak() / 1e6}


def _peak() -> float:
    """The most memory this process has had, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux counts in ru_maxrss what the process had that started this one
        return 1024.0 * float(status.read_text().split("VmHWM:")[1].split()[0])
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobyte)


class _Usual:
    """The usual script."""

    def __init__(self) -> None:
        import pinocchio as pin

        from benchmarks.reading import example_urdf

        self.pin = pin
        self.model = pin.buildModelFromUrdf(str(example_urdf("ur10_robot.urdf")))
        self.data = self.model.createData()

    def fit(self, motion: MotionSamples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """W, its independent columns and their parameters."""
        samples, n = motion.q.shape
        W = np.zeros((n * samples, 13 * n))
        for k in range(samples):
            q, qd, qdd = motion.q[k], motion.qd[k], motion.qdd[k]
            block = W[n * k : n * k + n]
            block[:, : 10 * n] = self.pin.computeJointTorqueRegressor(self.model, self.data, q, qd, qdd)
            block[:, 10 * n : 11 * n] = np.diag(qd)
            block[:, 11 * n : 12 * n] = np.diag(np.sign(qd))
            block[:, 12 * n :] = np.eye(n)
        diagonal = abs(np.diag(np.linalg.qr(W, mode="r")))
        independent = np.flatnonzero(diagonal > 1e-8 * diagonal.max())
        assert motion.tau is not None
        solution = np.linalg.lstsq(W[:, independent], motion.tau.ravel(), rcond=None)[0]
        return W, independent, solution


def _check(usual: _Usual, base: BaseParameters, beta: np.ndarray, motion: MotionSamples) -> None:
    """Both have chosen other parameters to stand for the rest: the torques they predict must be the same."""
    from ytheta.dynamics.kernels import regressor

    W, independent, solution = usual.fit(motion)
    theirs = W[:, independent] @ solution
    ours = (regressor(base.robot, base)(motion.q, motion.qd, motion.qdd) @ beta).ravel()
    assert len(independent) == len(base), (len(independent), len(base))
    off = float(abs(ours - theirs).max() / abs(theirs).max())
    assert off < SAME, f"the two ways differ by {off:.1e} of the largest torque"


def _robot() -> Robot:
    robot = load("ur10")
    drives = (Drive(viscous=4.0 + k, coulomb=3.0 + k, offset=0.2 * k) for k in range(len(robot.joints)))
    pairs = zip(robot.joints, drives, strict=True)
    return replace(robot, joints=tuple(replace(j, drive=drive) if j.moves else j for j, drive in pairs))


def _base() -> BaseParameters:
    return base_parameters(_robot(), friction=FRICTION)


def _random_motion(robot: Robot, samples: int) -> MotionSamples:
    from ytheta.dynamics.kernels import inverse_dynamics

    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, samples, len(robot.actuated)))
    tau = inverse_dynamics(robot)(q, qd, qdd)
    tau += rng.normal(0.0, 1.0, tau.shape)
    return MotionSamples(np.arange(samples) / RATE, q, qd, qdd, tau, None, np.arange(samples))


JOBS: dict[str, Any] = {
    "fit": lambda few, many, runs, threads: fit(int(few), int(many), int(runs), int(threads)),
    "record": lambda path, samples: record(path, int(samples)),
    "file": file,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
