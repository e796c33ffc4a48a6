"""Saving trajectories in the format given by the file extension."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tomlkit

from ytheta.arguments import check_kind, check_number, check_path, is_positive
from ytheta.errors import InputError, MissingExtraError, suggest_names
from ytheta.excitation.trajectories import (
    ACCELERATION,
    DEGREE,
    MAX_PERIOD,
    MIN_PERIOD,
    VELOCITY,
    BSpline,
    Fourier,
    SampledTrajectory,
    Trajectory,
)
from ytheta.files.atomic import MARK, TOML_MARK, check_writable, write_atomically
from ytheta.files.bounded import read_small_file
from ytheta.files.toml import describe_value, parse_toml
from ytheta.shapes import Float

TABLE_SUFFIXES = (".csv", ".parquet", ".npz")
YAML_SUFFIXES = (".yaml", ".yml")
MCAP_SUFFIX = ".mcap"


# Trajectories as TOML: the coefficients of the basis, so that a trajectory can be read, re-timed and sampled again.
#
# ======================  ==========================================================================
# ``format``              1
# ``joints``              names of the actuated coordinates
# ``parametrisation``     "fourier" or "b-spline"
# ``period``, ``periods`` length of one period in s, and number of periods
# ``[coefficients]``      one list per joint: c_0, a_1 … a_n, b_1 … b_n of a Fourier series, or via-points
# ======================  ==========================================================================


COEFFICIENT_SUFFIX = ".toml"
TRAJECTORY_SUFFIXES = (*TABLE_SUFFIXES, COEFFICIENT_SUFFIX, *YAML_SUFFIXES, MCAP_SUFFIX)
MAX_SAMPLES = 10_000_000  # Samples of a file; more are refused as a typing error of the rate. Chosen on: rule of thumb.


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


def _name_columns(motion: SampledTrajectory) -> dict[str, Float[np.ndarray, " instants"]]:
    columns = {"t": motion.t}
    for name, values in (("q", motion.q), ("qd", motion.qd), ("qdd", motion.qdd)):
        columns |= {f"{name}{k + 1}": np.ascontiguousarray(values[:, k]) for k in range(values.shape[1])}
    return columns


FORMAT = 1  # Version of the file. Fixed by: the format.
KEYS = ("format", "joints", "parametrisation", "period", "periods", "coefficients")
# bytes; larger files are refused. Chosen on: reasoning, 50 joints with 50 harmonics need a tenth of it.
MAX_SIZE = 1024 * 1024
MAX_COEFFICIENTS = 1000  # Coefficients of one joint; files with more are refused. Chosen on: rule of thumb.
MAX_COEFFICIENT = 1e9  # rad or m; files with larger coefficients are refused. Chosen on: rule of thumb.
MAX_PERIODS = 10**9  # Number of periods; files with more are refused. Chosen on: rule of thumb.
# Velocity or acceleration at the start, relative to a bound of its largest value; above it, the motion does not
# start at rest, and the file is refused. Chosen on: reasoning, since all digits are written, so that rounding is far
# below it.
MAX_RELATIVE_RATE = 1e-6


def format_coefficients(trajectory: Trajectory) -> str:
    """Return a trajectory as TOML; all digits are written."""
    lines = [
        TOML_MARK,
        "# A trajectory for identification. Fourier series: q = c0 + sum of a_k sin(k w t) + b_k cos(k w t),",
        "# w = 2 pi / period; coefficients are c0, a_1 ..., b_1 .... B-splines (quintic, periodic): via-points.",
        f"format = {FORMAT}",
        f"joints = [{', '.join(map(_quote, trajectory.joints))}]",
        f'parametrisation = "{trajectory.basis.name}"',
        f"period = {float(trajectory.basis.period)!r}",
        f"periods = {trajectory.periods}",
        "",
        "[coefficients]",
    ]
    for name, column in zip(trajectory.joints, trajectory.coefficients.T.tolist(), strict=True):
        lines.append(f"{_quote(name)} = [{', '.join(map(repr, column))}]")
    return "\n".join([*lines, ""])


def load_trajectory(path: str | Path) -> Trajectory:
    """Read a trajectory that ``save_trajectory`` or ``ytheta excite`` wrote as TOML."""
    path = check_path(path, "the trajectory")
    if path.suffix.lower() != COEFFICIENT_SUFFIX:
        raise InputError(f"{path}: trajectories are read from their coefficients; name the .toml file")
    data = parse_toml(read_small_file(path, "a trajectory", max_size=MAX_SIZE), str(path))
    for key in data:
        if key not in KEYS:
            raise InputError(f"{path}: the key {key!r} is unknown{suggest_names(key, KEYS)}; this is not a trajectory")
    for key in KEYS:
        if key not in data:
            raise InputError(f"{path}: the key {key!r} is missing; name a trajectory that ytheta excite wrote")
    if type(data["format"]) is not int or data["format"] != FORMAT:
        raise InputError(f"{path}: format is {data['format']!r}; this version of ytheta reads format {FORMAT}")
    joints = data["joints"]
    if not isinstance(joints, list) or not joints or not all(isinstance(name, str) for name in joints):
        raise InputError(f"{path}: joints is {joints!r}; give a list of names")
    if len(set(joints)) < len(joints):
        raise InputError(f"{path}: a joint occurs twice in joints; remove one of the two")
    coefficients = _read_coefficients(path, joints, data["coefficients"])
    basis = _read_basis(path, data, len(coefficients))
    periods = data["periods"]
    if not isinstance(periods, int) or isinstance(periods, bool) or not 1 <= periods <= MAX_PERIODS:
        raise InputError(f"{path}: periods is {describe_value(periods)}; give a whole number from 1 to {MAX_PERIODS}")
    trajectory = Trajectory(tuple(joints), basis, periods, coefficients)
    _check_rest(path, trajectory)
    return trajectory


def _read_coefficients(path: Path, joints: list[str], table: Any) -> np.ndarray:
    """Return the coefficients with one column per joint."""
    if not isinstance(table, dict) or set(table) != set(joints):
        raise InputError(f"{path}: [coefficients] must have one list for each of {', '.join(joints)}")
    sizes = {len(values) if isinstance(values, list) else 0 for values in table.values()}
    if len(sizes) > 1 or not 0 < min(sizes) <= MAX_COEFFICIENTS:
        raise InputError(
            f"{path}: [coefficients] must have lists of equal length, with 1 to {MAX_COEFFICIENTS} numbers each"
        )
    for name in joints:
        for value in table[name]:
            if not _is_number(value, -MAX_COEFFICIENT, MAX_COEFFICIENT):
                raise InputError(
                    f"{path}: a coefficient of {name!r} is {describe_value(value)}; give a finite number of at most "
                    f"{MAX_COEFFICIENT:g}"
                )
    return np.array([table[name] for name in joints], dtype=float).T


def _read_basis(path: Path, data: dict[str, Any], size: int) -> Fourier | BSpline:
    name, period = data["parametrisation"], data["period"]
    if not _is_number(period, MIN_PERIOD, MAX_PERIOD):
        raise InputError(
            f"{path}: period is {describe_value(period)}; give a positive number of seconds from {MIN_PERIOD:g} to "
            f"{MAX_PERIOD:g}"
        )
    if name == "fourier":
        if size % 2 == 0 or size < 3:
            raise InputError(
                f"{path}: a Fourier series has an odd number of coefficients, at least 3, but each joint has {size}"
            )
        return Fourier(float(period), size // 2)
    if name == "b-spline":
        if size <= DEGREE:
            raise InputError(f"{path}: B-splines have more than {DEGREE} via-points, but each joint has {size}")
        return BSpline(float(period), size)
    raise InputError(f'{path}: parametrisation is {name!r}; give "fourier" or "b-spline"')


def _check_rest(path: Path, trajectory: Trajectory) -> None:
    """Raise InputError if the motion does not start at rest: a coefficient was changed or lost."""
    motion = trajectory.sample_period(1)
    for order, quantity, values in (
        (VELOCITY, "velocity", motion.qd[0]),
        (ACCELERATION, "acceleration", motion.qdd[0]),
    ):
        largest = trajectory.bound(order)
        moving = np.flatnonzero(abs(values) > MAX_RELATIVE_RATE * np.maximum(largest, np.finfo(float).tiny))
        if len(moving):
            joint = int(moving[0])
            raise InputError(
                f"{path}: {trajectory.joints[joint]!r} does not start at rest (its {quantity} is {values[joint]:.4g}); "
                "a coefficient was changed; design the trajectory again"
            )


def _quote(text: str) -> str:
    return tomlkit.string(text).as_string()


def _is_number(value: Any, lowest: float, largest: float) -> bool:
    """Return whether a value is a number in this range; the range makes it finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= largest


# ``trajectory_msgs/msg/JointTrajectory`` of ROS 2: as YAML, and as one message of an MCAP file.


MESSAGE_TYPE = "trajectory_msgs/msg/JointTrajectory"
TOPIC = "/joint_trajectory"
NANOSECONDS = 1_000_000_000  # Per second. Fixed by: the unit.


def format_yaml(joints: tuple[str, ...], motion: SampledTrajectory) -> str:
    """Return the message as YAML, as ``ros2 topic pub`` and ``ros2 topic echo`` write messages."""
    lines = [
        TOML_MARK,
        "header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}",
        f"joint_names: [{', '.join(map(_quote_yaml, joints))}]",
        "points:",
    ]
    for t, q, qd, qdd in zip(motion.t, motion.q.tolist(), motion.qd.tolist(), motion.qdd.tolist(), strict=True):
        seconds, nanoseconds = _split_time(float(t))
        lines += [
            f"- positions: {q}",
            f"  velocities: {qd}",
            f"  accelerations: {qdd}",
            "  effort: []",
            f"  time_from_start: {{sec: {seconds}, nanosec: {nanoseconds}}}",
        ]
    return "\n".join([*lines, ""])


def check_rosbags() -> None:
    """Raise MissingExtraError if the library that writes MCAP files is missing."""
    try:
        import rosbags.rosbag2

        assert rosbags.rosbag2
    except ModuleNotFoundError:
        raise MissingExtraError(
            "MCAP files are written with rosbags, which is not installed; run: pip install 'ytheta[rosbags]'"
        ) from None


def write_mcap(joints: tuple[str, ...], motion: SampledTrajectory, path: Path) -> None:
    """Write an MCAP file whose only message is the trajectory, on the topic ``/joint_trajectory``."""
    check_rosbags()
    import numpy as np
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    make_time, make_duration = types["builtin_interfaces/msg/Time"], types["builtin_interfaces/msg/Duration"]
    make_header, make_point = types["std_msgs/msg/Header"], types["trajectory_msgs/msg/JointTrajectoryPoint"]
    points = []
    for k, t in enumerate(motion.t):
        rows = (np.ascontiguousarray(values[k]) for values in (motion.q, motion.qd, motion.qdd))
        points.append(make_point(*rows, np.empty(0), make_duration(*_split_time(float(t)))))
    message = types[MESSAGE_TYPE](make_header(make_time(0, 0), ""), list(joints), points)
    # The library writes a folder with the MCAP file and a description, of which the file is enough.
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".ytheta-") as folder:
        bag = Path(folder) / "bag"
        with Writer(bag, version=Writer.VERSION_LATEST, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection(TOPIC, MESSAGE_TYPE, typestore=store)
            writer.write(connection, 0, store.serialize_cdr(message, MESSAGE_TYPE))
        (file,) = bag.glob("*.mcap")
        shutil.copyfile(file, path)


def _quote_yaml(name: str) -> str:
    """Return a string of YAML in ASCII; unlike JSON, YAML has no surrogate pairs for characters beyond 16 bits."""
    escaped = (json.dumps(c)[1:-1] if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in name)
    return f'"{"".join(escaped)}"'


def _split_time(t: float) -> tuple[int, int]:
    return divmod(round(t * NANOSECONDS), NANOSECONDS)
