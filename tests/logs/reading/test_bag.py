"""ROS 2 bags: joints by name, topics, damaged bags, and the missing library."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.log_files import ARM, ARM_LOG, assert_file_refused, assert_same_log, codes_above_notes, write_file
from ytheta.errors import MissingExtraError
from ytheta.logs.log import Log
from ytheta.logs.reading.read import read_log


def write_bag(
    path: Path, storage: str, log: Log, *, names: list[str], topics: tuple[str, ...] = ("/joint_states",)
) -> Path:
    """Write a bag with the library's own writer; ``names`` may contain other joints too, in any order."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    make = store.types
    state, header, time = (
        make[f"{name}"] for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    assert log.qd is not None
    assert log.tau is not None
    with Writer(path, version=9, storage_plugin=StoragePlugin[storage]) as bag:
        for topic in topics:
            connection = bag.add_connection(topic, state.__msgtype__, typestore=store)
            for k in range(len(log)):
                nanoseconds = round(log.t[k] * 1e9) + 1_600_000_000_000_000_000
                stamp = time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
                rows = []
                for values in (log.q, log.qd, log.tau):
                    at = dict(zip(log.joints, values[k], strict=True))
                    rows.append(np.array([at.get(name, 9.0) for name in names]))
                message = state(
                    header=header(stamp=stamp, frame_id=""),
                    name=names,
                    position=rows[0],
                    velocity=rows[1],
                    effort=rows[2],
                )
                bag.write(connection, nanoseconds + 5_000, store.serialize_cdr(message, state.__msgtype__))
    return path


@pytest.mark.parametrize(("storage", "suffix"), [("MCAP", "mcap"), ("SQLITE3", "db3")])
def test_bags_are_matched_by_joint_name(storage: str, suffix: str, tmp_path: Path) -> None:
    names = ["gripper", *reversed(ARM.actuated)]
    folder = write_bag(tmp_path / "bag", storage, ARM_LOG, names=names)
    for path in (folder, next(folder.glob(f"*.{suffix}"))):
        log = read_log(path, ARM)
        np.testing.assert_allclose(log.t, ARM_LOG.t, atol=2e-9)  # timestamps are integers of nanoseconds
        assert_same_log(replace(log, t=ARM_LOG.t), ARM_LOG)
        assert codes_above_notes(log) == set()


def test_faulty_bags_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = ("/left", "/right")
    folder = write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=list(ARM.actuated), topics=topics)
    assert_file_refused(folder, "several topics", "/left", "topic = ")
    assert_file_refused(folder, "'/lef'", "'/left'", mapping={"topic": "/lef"})
    assert_same_log(replace(read_log(folder, ARM, mapping={"topic": "/left"}), t=ARM_LOG.t), ARM_LOG)
    other = write_bag(tmp_path / "other", "MCAP", ARM_LOG, names=["joint1", "elbow"])
    assert_file_refused(other, "'joint2' is missing", "elbow")
    broken = next(other.glob("*.mcap"))
    broken.write_bytes(broken.read_bytes()[:1000])
    assert_file_refused(broken, "ROS 2 bag", "copied completely")
    assert_file_refused(write_file(tmp_path, "nothing", "a.db3"), "ROS 2 bag")
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[rosbags\]'"):
        read_log(folder, ARM)
