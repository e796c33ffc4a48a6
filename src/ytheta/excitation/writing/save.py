"""Saving trajectories in the format given by the file extension."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl

from ytheta.arguments import check_kind, check_number, is_positive
from ytheta.errors import InputError
from ytheta.excitation.trajectories.trajectory import SampledTrajectory, Trajectory
from ytheta.excitation.writing.coefficient_file import COEFFICIENT_SUFFIX, format_coefficients
from ytheta.excitation.writing.joint_trajectory import check_rosbags, format_yaml, write_mcap
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.files.overwriting import MARK
from ytheta.shapes import Float

TABLE_SUFFIXES = (".csv", ".parquet", ".npz")
YAML_SUFFIXES = (".yaml", ".yml")
MCAP_SUFFIX = ".mcap"
TRAJECTORY_SUFFIXES = (*TABLE_SUFFIXES, COEFFICIENT_SUFFIX, *YAML_SUFFIXES, MCAP_SUFFIX)
MAX_SAMPLES = 10_000_000


def save_trajectory(trajectory: Trajectory, path: str | Path, *, rate: float = 100.0) -> Path:
    """Write a trajectory, atomically, in the format given by the file extension; return the path.

    =====================  ===========================================================================
    .csv, .parquet, .npz   t, q1 …, qd1 …, qdd1 … in SI units, ``rate`` samples per second
    .toml                  the coefficients, which ``load_trajectory`` reads
    .yaml, .yml            ``trajectory_msgs/msg/JointTrajectory`` with ``rate`` points per second
    .mcap                  the same as one message of an MCAP file; needs the extra ``rosbags``
    =====================  ===========================================================================
    """
    check_kind("trajectory", trajectory, Trajectory, "a Trajectory, such as yt.excite(robot).trajectory")
    path = check_trajectory_path(path)
    suffix = path.suffix.lower()
    if suffix == COEFFICIENT_SUFFIX:
        return _write_text(path, format_coefficients(trajectory))
    motion = sample_trajectory(trajectory, rate)
    if suffix in YAML_SUFFIXES:
        return _write_text(path, format_yaml(trajectory.joints, motion))
    with write_atomically(path) as file:
        if suffix == MCAP_SUFFIX:
            write_mcap(trajectory.joints, motion, file)
        elif suffix == ".npz":
            np.savez_compressed(file, **_name_columns(motion), **{MARK: np.array("trajectory")})  # type: ignore[arg-type]  # the stubs take any keyword for allow_pickle
        elif suffix == ".parquet":
            pl.DataFrame(_name_columns(motion)).write_parquet(file, metadata={MARK: "trajectory"})
        else:
            pl.DataFrame(_name_columns(motion)).write_csv(file)
    return path


def check_trajectory_path(path: str | Path) -> Path:
    """Raise an error if a trajectory cannot be written to this file."""
    path = check_writable(path, *TRAJECTORY_SUFFIXES)
    if path.suffix.lower() == MCAP_SUFFIX:
        check_rosbags()
    return path


def sample_trajectory(trajectory: Trajectory, rate: float) -> SampledTrajectory:
    """Return the motion from t = 0 to its end; the last sample is at the end, or less than 1/rate after it."""
    steps = count_steps(trajectory.seconds, rate)
    count = math.ceil(steps - 1e-9 * steps)
    t = np.arange(count + 1) / rate
    if math.isclose(t[-1], trajectory.seconds, rel_tol=1e-9):
        t[-1] = trajectory.seconds
    return trajectory.evaluate(t)


def count_steps(seconds: float, rate: float) -> float:
    """Return seconds · rate; raise an error if these are too few or too many samples for a file."""
    rate = check_number("rate", rate, "a positive number of samples per second", allow=is_positive)
    steps = seconds * rate
    if not 1.0 <= steps <= MAX_SAMPLES:
        raise InputError(
            f"{seconds:g} s at {rate:g} samples per second are {steps:.3g} samples; choose a rate that gives 1 to "
            f"{MAX_SAMPLES} samples"
        )
    return steps


def _write_text(path: Path, text: str) -> Path:
    with write_atomically(path) as file:
        file.write_text(text, encoding="utf-8")
    return path


def _name_columns(motion: SampledTrajectory) -> dict[str, Float[np.ndarray, "instants"]]:
    columns = {"t": motion.t}
    for name, values in (("q", motion.q), ("qd", motion.qd), ("qdd", motion.qdd)):
        columns |= {f"{name}{k + 1}": np.ascontiguousarray(values[:, k]) for k in range(values.shape[1])}
    return columns
