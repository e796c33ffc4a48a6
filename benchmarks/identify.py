"""Identification: regressor and least squares compared with the usual script, and an hour of raw data.

The usual script fills W sample by sample with Pinocchio's regressor and friction columns, finds the independent columns
by a QR decomposition, and solves for their parameters. The torques predicted by ytheta and by the script must agree.

Every job has its own process, because the number of BLAS threads is fixed when NumPy is imported, and because peak
memory is measured per process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import Row, measure_best
from benchmarks.memory import read_peak_memory
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parts import Drive
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

SAMPLES = (5000, 60_000)
RUNS = 15
HOUR = 3_600_000
RATE = 1000.0
ENCODER_STEP = 2.0 * np.pi / 2**17  # rad
FRICTION = ("viscous", "coulomb", "offset")
MAX_DIFFERENCE = 1e-6  # difference of the torques predicted by ytheta and by the script, relative to the largest torque
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "MKL", "OMP")}


def measure_rows() -> list[Row]:
    one, all_cores = _measure_fits("one thread", 1), _measure_fits("all cores", None)
    return [*one, *all_cores, *_compare_threads(), *_measure_steps(), *_measure_hour()]


def _measure_fits(label: str, threads: int | None) -> list[Row]:
    """Measure the seconds per sample in a process with this number of threads."""
    seconds = _run_job("fit", *SAMPLES, RUNS, threads or 0, settings=ONE_THREAD if threads == 1 else {})
    name = f"UR10 with friction, regressor and least squares, {label}"
    return [
        Row(
            f"{name}, {count} samples",
            seconds[f"ytheta {count}"],
            seconds[f"script {count}"],
            "Pinocchio, numpy.linalg",
        )
        for count in SAMPLES
    ]


def _compare_threads() -> list[Row]:
    """Measure the fit with all cores against the fit with one thread, alternately in one process."""
    seconds = _run_job("threads", *SAMPLES, 4 * RUNS)
    name = "UR10 with friction, regressor and least squares, all cores"
    return [
        Row(f"{name}, {count} samples", seconds[f"all {count}"], seconds[f"one {count}"], "ytheta with one thread")
        for count in SAMPLES
    ]


def _measure_steps() -> list[Row]:
    """Measure a step of recursive least squares."""
    seconds = _run_job("steps", 36, 6, settings=ONE_THREAD)
    name = "recursive least squares, one step, 36 parameters, 6 joints"
    return [Row(name, seconds["ytheta"], seconds["covariance form"], "covariance form with NumPy")]


def _measure_hour() -> list[Row]:
    """Measure the time from a Parquet file to the result. The peer is four times the time for a quarter of the data."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = {}
        for samples in (HOUR // 4, HOUR):
            path = str(Path(folder) / f"{samples}.parquet")
            _run_job("record", path, samples)
            seconds[samples] = _run_job("file", path)
    whole, quarter = seconds[HOUR], seconds[HOUR // 4]
    name = f"{HOUR} raw samples to the result ({whole['megabytes']:.0f} MB at most)"
    return [Row(name, whole["seconds"], 4.0 * quarter["seconds"], "four times a quarter of it")]


def _run_job(job: str, *arguments: object, settings: dict[str, str] | None = None) -> dict[str, float]:
    """Run a job of this module in a new process and return the numbers that it prints."""
    command = [sys.executable, "-m", "benchmarks.identify", job, *map(str, arguments)]
    root = Path(__file__).parents[1]
    environment = os.environ | (settings or {})
    process = subprocess.run(command, check=True, env=environment, cwd=root, stdout=subprocess.PIPE, text=True)
    numbers: dict[str, float] = json.loads(process.stdout)
    return numbers


# --- jobs


def fit(few: int, many: int, runs: int, threads: int) -> dict[str, float]:
    """Return the seconds per sample of ytheta and of the usual script."""
    from ytheta.identification.estimators.least_squares import LeastSquares

    form = Differential(_make_base())
    assert form.kernel is not None  # compiled before the measurement; the usual script also builds its model before
    # On one thread, measure processor time: the usual script takes long, so other processes interrupt it more often.
    clock = time.process_time if threads == 1 else time.perf_counter
    script, seconds = _UsualScript(), {}
    for samples in (few, many):
        source = ArraySource(_draw_motion(form.base.robot, samples), RATE)

        def fit_ytheta(source: ArraySource = source) -> np.ndarray:
            return LeastSquares().fit(EstimationProblem(form, (source,), threads=threads or None)).beta

        def fit_script(source: ArraySource = source) -> object:
            return script.fit(source.whole)

        _check_agreement(script, form.base, fit_ytheta(), source.whole)
        seconds[f"ytheta {samples}"] = measure_best(fit_ytheta, runs=runs, clock=clock) / samples
        seconds[f"script {samples}"] = measure_best(fit_script, runs=min(runs, 3), clock=clock) / samples
    return seconds


def threads(few: int, many: int, runs: int) -> dict[str, float]:
    """Return the seconds per sample of a fit with one thread and with all cores; the runs alternate."""
    from ytheta.identification.estimators.least_squares import LeastSquares

    form = Differential(_make_base())
    assert form.kernel is not None
    seconds: dict[str, float] = {}
    for samples in (few, many):
        source = ArraySource(_draw_motion(form.base.robot, samples), RATE)
        for _ in range(runs):
            for name, count in (("one", 1), ("all", None)):
                start = time.perf_counter()
                LeastSquares().fit(EstimationProblem(form, (source,), threads=count))
                elapsed = (time.perf_counter() - start) / samples
                seconds[f"{name} {samples}"] = min(elapsed, seconds.get(f"{name} {samples}", np.inf))
    return seconds


def steps(parameters: int, joints: int) -> dict[str, float]:
    """Return the seconds per step of ytheta and of the usual covariance form, whose estimates must agree."""
    from ytheta.identification.estimators.recursive import RecursiveLeastSquares

    rng, count = np.random.default_rng(0), 2000
    Y, true = rng.normal(size=(count, joints, parameters)), rng.normal(size=parameters)
    tau = Y @ true + rng.normal(0.0, 0.1, (count, joints))
    estimator = RecursiveLeastSquares()

    def run_ytheta() -> np.ndarray:
        state = estimator.init(np.zeros(parameters))
        for k in range(count):
            _, state = estimator.step(state, Y[k], tau[k])
        return state.beta

    def run_covariance_form() -> np.ndarray:
        beta, P = np.zeros(parameters), estimator.initial_spread * np.eye(parameters)
        for k in range(count):
            gain = np.linalg.solve(np.eye(joints) + Y[k] @ P @ Y[k].T, Y[k] @ P).T
            beta = beta + gain @ (tau[k] - Y[k] @ beta)
            P = P - gain @ Y[k] @ P
        return beta

    difference = abs(run_ytheta() - run_covariance_form()).max()
    assert difference < MAX_DIFFERENCE, f"the estimates differ by {difference:.1e}"
    runs = {"ytheta": run_ytheta, "covariance form": run_covariance_form}
    return {name: measure_best(run, clock=time.process_time) / count for name, run in runs.items()}


def record(path: str, samples: int) -> dict[str, float]:
    """Write a log of a Fourier-series motion, with quantized positions and noisy torques."""
    import polars as pl

    from ytheta.dynamics.kernels import inverse_dynamics

    rng, robot = np.random.default_rng(0), _make_robot()
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
    q = np.round(q / ENCODER_STEP) * ENCODER_STEP
    columns = {f"{name}{j + 1}": values[:, j] for name, values in (("q", q), ("tau", tau)) for j in range(joints)}
    pl.DataFrame({"t": t} | columns).write_parquet(path)
    return {}


def file(path: str) -> dict[str, float]:
    """Return the time (s) and the peak memory (bytes) of an identification from a file, including the diagnosis."""
    from ytheta.identification.identify import identify
    from ytheta.logs.reading.read import read_log

    robot = _make_robot()
    start = time.perf_counter()
    identification = identify(robot, read_log(path, robot))
    assert identification.verdict.solved
    return {"seconds": time.perf_counter() - start, "megabytes": read_peak_memory() / 1e6}


class _UsualScript:
    """Identification as it is usually written with Pinocchio and NumPy."""

    def __init__(self) -> None:
        import pinocchio as pin

        from benchmarks.reading import find_example_urdf

        self.pin = pin
        self.model = pin.buildModelFromUrdf(str(find_example_urdf("ur10_robot.urdf")))
        self.data = self.model.createData()

    def fit(self, motion: MotionSamples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return W, its independent columns and their parameters."""
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


def _check_agreement(script: _UsualScript, base: ModelParameters, beta: np.ndarray, motion: MotionSamples) -> None:
    """Compare the predicted torques, because ytheta and the script choose different independent parameters."""
    from ytheta.dynamics.kernels import regressor

    W, independent, solution = script.fit(motion)
    expected = W[:, independent] @ solution
    predicted = (regressor(base.robot, base)(motion.q, motion.qd, motion.qdd) @ beta).ravel()
    assert len(independent) == len(base), (len(independent), len(base))
    difference = float(abs(predicted - expected).max() / abs(expected).max())
    assert difference < MAX_DIFFERENCE, f"the torques differ by {difference:.1e} of the largest torque"


def _make_robot() -> Robot:
    robot = load("ur10")
    drives = (Drive(viscous=4.0 + k, coulomb=3.0 + k, offset=0.2 * k) for k in range(len(robot.joints)))
    pairs = zip(robot.joints, drives, strict=True)
    return replace(robot, joints=tuple(replace(j, drive=drive) if j.moves else j for j, drive in pairs))


def _make_base() -> BaseParameters:
    return base_parameters(_make_robot(), friction=FRICTION)


def _draw_motion(robot: Robot, samples: int) -> MotionSamples:
    from ytheta.dynamics.kernels import inverse_dynamics

    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, samples, len(robot.actuated)))
    tau = inverse_dynamics(robot)(q, qd, qdd)
    tau += rng.normal(0.0, 1.0, tau.shape)
    return MotionSamples(np.arange(samples) / RATE, q, qd, qdd, tau, None, np.arange(samples))


JOBS: dict[str, Any] = {
    "fit": lambda few, many, runs, threads: fit(int(few), int(many), int(runs), int(threads)),
    "threads": lambda few, many, runs: threads(int(few), int(many), int(runs)),
    "steps": lambda parameters, joints: steps(int(parameters), int(joints)),
    "record": lambda path, samples: record(path, int(samples)),
    "file": file,
}

if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
