"""Files of trajectories: tables, messages of ROS, and what cannot be written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ytheta as yt
from tests.support.designed_motion import design_two_link
from ytheta.errors import InputError, MissingExtraError
from ytheta.files.atomic import is_own_file


def differentiate(values: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.gradient(values, t, axis=0, edge_order=2)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
def test_tables_are_samples_whose_columns_are_derivatives(tmp_path: Path, suffix: str) -> None:
    excitation = design_two_link()
    path = excitation.save(tmp_path / f"motion{suffix}", rate=200.0)
    if suffix == ".npz":
        with np.load(path) as archive:
            columns = {name: archive[name] for name in archive.files}
    else:
        table = pl.read_csv(path) if suffix == ".csv" else pl.read_parquet(path)
        columns = {name: table[name].to_numpy() for name in table.columns}
    t, q, qd, qdd = columns["t"], *(np.stack([columns[f"{n}{k}"] for k in (1, 2)], axis=1) for n in ("q", "qd", "qdd"))
    np.testing.assert_allclose(t, np.arange(20 * 200 + 1) / 200.0, atol=1e-12)
    np.testing.assert_allclose(differentiate(q, t), qd, atol=2e-3)  # finite differences at 200 Hz
    np.testing.assert_allclose(differentiate(qd, t), qdd, atol=2e-2)
    assert abs(differentiate(q, t) - 1.01 * qd).max() > 2e-3  # the twin: one percent is noticed
    log = yt.read_log(path, excitation.robot)
    np.testing.assert_array_equal(log.q, q)


def test_the_end_is_at_rest_if_the_rate_does_not_divide_the_duration(tmp_path: Path) -> None:
    path = design_two_link().save(tmp_path / "motion.csv", rate=7.31)
    last = pl.read_csv(path).row(-1, named=True)
    assert 20.0 <= last["t"] < 20.0 + 1.0 / 7.31
    assert last["qd1"] == last["qdd2"] == 0.0


def test_yaml_is_a_joint_trajectory(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    excitation = design_two_link()
    message = yaml.safe_load(excitation.save(tmp_path / "motion.yaml", rate=50.0).read_text())
    assert message["joint_names"] == list(excitation.trajectory.joints)
    times = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in message["points"]]
    q, qd, qdd = excitation.trajectory(np.array(times))
    for key, values in (("positions", q), ("velocities", qd), ("accelerations", qdd)):
        np.testing.assert_allclose([point[key] for point in message["points"]], values, atol=1e-12)
    assert times[-1] == 20.0
    assert is_own_file(tmp_path / "motion.yaml")


def test_mcap_is_decoded_by_rosbags(tmp_path: Path) -> None:
    highlevel = pytest.importorskip("rosbags.highlevel")
    excitation = design_two_link()
    path = excitation.save(tmp_path / "motion.mcap", rate=50.0)
    with highlevel.AnyReader([path]) as bag:
        ((connection, _, raw),) = bag.messages()
        assert connection.msgtype == "trajectory_msgs/msg/JointTrajectory"
        message = bag.deserialize(raw, connection.msgtype)
    assert message.joint_names == list(excitation.trajectory.joints)
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points])
    q, qd, qdd = excitation.trajectory(times)
    np.testing.assert_allclose([point.positions for point in message.points], q, atol=1e-12)
    np.testing.assert_allclose([point.velocities for point in message.points], qd, atol=1e-12)
    np.testing.assert_allclose([point.accelerations for point in message.points], qdd, atol=1e-12)
    assert not np.array_equal([point.positions for point in message.points], qd)
    assert list(tmp_path.iterdir()) == [path]  # no temporary folder remains


def test_without_rosbags_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rosbags.rosbag2", None)
    with pytest.raises(MissingExtraError, match=r"ytheta\[rosbags\]"):
        design_two_link().save(tmp_path / "motion.mcap")


@pytest.mark.parametrize(
    ("name", "rate", "words"),
    [
        ("motion.txt", 100.0, "must have the extension"),
        ("motion.csv", 0.0, "rate is 0"),
        ("motion.csv", 0.01, "choose a rate"),
        ("motion.csv", 1e9, "choose a rate"),
        ("missing/motion.csv", 100.0, "cannot be written"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, name: str, rate: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        yt.save_trajectory(design_two_link().trajectory, tmp_path / name, rate=rate)
