"""ROS 2 bags: ``sensor_msgs/msg/JointState`` from a bag folder, an ``.mcap`` or a ``.db3`` file, without ROS.

Columns are called ``q_<joint>``, ``qd_<joint>``, ``tau_<joint>``: a JointState names its joints, and may name more than
the robot has, in any order. Time is the message's own stamp where it has one, else when it was recorded; the first
message is at 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.errors import InputError, MissingExtraError, suggest_names
from ytheta.logs.reading.table import Table
from ytheta.shapes import PerSample

JOINT_STATE = "sensor_msgs/msg/JointState"
FIELDS = (("q", "position"), ("qd", "velocity"), ("tau", "effort"))


def read_bag(path: Path, joints: Sequence[str], topic: str | None = None) -> Table:
    """The table of a bag: the messages of one topic that name all ``joints``."""
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.rosbag2 import ReaderError
        from rosbags.typesys import Stores, get_typestore
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{path} is a ROS 2 bag, and the library that reads those is not installed; "
            "run: pip install 'ytheta[rosbags]'"
        ) from None
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as bag:
            connections = [c for c in bag.connections if c.msgtype == JOINT_STATE]
            chosen = _topic(path, [c.topic for c in connections], topic)
            wanted = [c for c in connections if c.topic == chosen]
            messages = ((stamp, bag.deserialize(raw, c.msgtype)) for c, stamp, raw in bag.messages(wanted))
            return _table(f"{path}, topic {chosen}", messages, joints)
    except InputError:
        raise
    except (AnyReaderError, ReaderError, OSError) as error:
        raise _unreadable(path, error) from None
    except Exception as error:  # the storage libraries raise errors of their own kinds on damaged files
        raise _unreadable(path, error) from error


def _topic(path: Path, topics: Sequence[str], wanted: str | None) -> str:
    there = sorted(set(topics))
    if not there:
        raise InputError(f"{path} holds no message of type {JOINT_STATE}; record the robot's joint states")
    if wanted is not None and wanted not in there:
        raise InputError(f"{path} has no joint states on the topic {wanted!r}{suggest_names(wanted, there)}")
    if wanted is None and len(there) > 1:
        raise InputError(
            f"{path} holds joint states on several topics ({', '.join(there)}); "
            'choose one in the mapping, such as topic = "' + there[0] + '"'
        )
    return wanted or there[0]


def _table(place: str, messages: Iterator[tuple[int, Any]], joints: Sequence[str]) -> Table:
    stamps: list[int] = []
    rows: dict[str, list[np.ndarray]] = {name: [] for name, _ in FIELDS}
    order: dict[tuple[str, ...], list[int] | None] = {}
    for recorded, message in messages:
        names = tuple(message.name)
        if names not in order:
            order[names] = [names.index(joint) for joint in joints] if set(joints) <= set(names) else None
        places = order[names]
        if places is None:
            continue  # another publisher's joints on the same topic
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        stamps.append(stamp or recorded)
        for name, field in FIELDS:
            values = getattr(message, field)
            rows[name].append(values[places] if len(values) == len(names) else np.full(len(joints), np.nan))
    if not stamps:
        seen = sorted({name for names in order for name in names})
        missing = next(joint for joint in joints if joint not in seen) if set(joints) - set(seen) else joints[0]
        raise InputError(f"{place}: no message names all joints of the robot; {missing!r} is missing" + _of(seen))
    columns: dict[str, PerSample] = {"t": (np.array(stamps, dtype=np.int64) - stamps[0]) * 1e-9}
    for name, _ in FIELDS:
        values = np.array(rows[name], dtype=np.float64)
        if not np.all(np.isnan(values)):
            columns |= {f"{name}_{joint}": values[:, k] for k, joint in enumerate(joints)}
    return Table(columns, len(stamps))


def _of(seen: Sequence[str]) -> str:
    return f"; the bag has: {', '.join(seen)}" if seen else "; the topic has no messages"


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return InputError(f"{path} cannot be read as a ROS 2 bag: {reason}; check that it was closed and copied whole")
