"""Bags of ROS 1 and ROS 2 with the joint states of a log."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ytheta.logs.log import Log


def write_bag(
    path: Path, storage: str, log: Log, *, names: list[str], topics: tuple[str, ...] = ("/joint_states",)
) -> Path:
    """Write a ROS 2 bag with the library's own writer; ``names`` may contain other joints too, in any order."""
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


def write_ros1_bag(
    path: Path,
    log: Log,
    *,
    names: list[str],
    topics: tuple[str, ...] = ("/joint_states",),
    compression: str | None = None,
) -> Path:
    """Write a ROS 1 bag with the library's own writer; ``compression`` is BZ2, LZ4 or None."""
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS1_NOETIC)
    state, header, time = (
        store.types[name]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    assert log.qd is not None
    assert log.tau is not None
    writer = Writer(path)
    if compression is not None:
        writer.set_compression(Writer.CompressionFormat[compression])
    with writer as bag:
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
                    header=header(seq=k, stamp=stamp, frame_id=""),
                    name=names,
                    position=rows[0],
                    velocity=rows[1],
                    effort=rows[2],
                )
                bag.write(connection, nanoseconds + 5_000, store.serialize_ros1(message, state.__msgtype__))
    return path
