"""Reading ``sensor_msgs/msg/JointState`` from bags without ROS.

ROS 2 bags are folders, ``.mcap`` or ``.db3`` files; ROS 1 bags are ``.bag`` files.

Columns are called ``q_<joint>``, ``qd_<joint>``, ``tau_<joint>``, because a JointState message lists its joints by
name, in any order, and may contain joints that the robot does not have. Time is the timestamp in the message's header;
if this timestamp is zero, the time of recording is used. Times are relative to the first message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.errors import InputError, MissingExtraError, suggest_names
from ytheta.files.lengths import shorten
from ytheta.logs.reading.families import describe_missing_joints
from ytheta.logs.reading.sizes.mcap import check_mcap
from ytheta.logs.reading.sizes.ros1_bag import check_ros1_bag
from ytheta.logs.reading.table import ColumnTable
from ytheta.shapes import PerSample

JOINT_STATE = "sensor_msgs/msg/JointState"
ROS1_SUFFIX = ".bag"
FIELDS = (("q", "position"), ("qd", "velocity"), ("tau", "effort"))


def read_bag(path: Path, joints: Sequence[str], topic: str | None = None) -> ColumnTable:
    """Return the table of a bag. Its rows are the messages of one topic that contain all ``joints``."""
    is_ros1 = path.suffix.lower() == ROS1_SUFFIX and not path.is_dir()
    kind = "ROS 1 bag" if is_ros1 else "ROS 2 bag"
    try:
        import rosbags.highlevel
    except ModuleNotFoundError:
        raise MissingExtraError(
            f"{path} is a {kind}, and the library that reads bags is not installed; run: pip install 'ytheta[rosbags]'"
        ) from None
    assert rosbags.highlevel
    try:
        with (_open_ros1 if is_ros1 else _open_ros2)(path) as bag:
            connections = [c for c in bag.connections if c.msgtype == JOINT_STATE]
            chosen = _choose_topic(path, [c.topic for c in connections], topic)
            selected = [c for c in connections if c.topic == chosen]
            messages = ((time, bag.deserialize(raw, c.msgtype)) for c, time, raw in bag.messages(selected))
            table = _collect_messages(f"{path}, topic {chosen}", messages, joints)
    except InputError:
        raise
    except Exception as error:  # the libraries raise their own exception types on damaged files
        raise _make_unreadable_error(path, kind, error) from error
    return replace(table, kind=kind, topic=chosen, message_type=JOINT_STATE)


@dataclass(frozen=True)
class _OpenBag:
    """The connections and messages of an open bag, and how messages are decoded."""

    connections: Sequence[Any]
    messages: Callable[[Sequence[Any]], Iterator[tuple[Any, int, bytes]]]
    deserialize: Callable[[bytes, str], Any]


@contextmanager
def _open_ros2(path: Path) -> Iterator[_OpenBag]:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    for file in (path,) if path.is_file() else sorted(path.glob("*.mcap")):
        if file.suffix.lower() == ".mcap":
            check_mcap(file)
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as bag:
        yield _OpenBag(bag.connections, lambda selected: bag.messages(list(selected)), bag.deserialize)


@contextmanager
def _open_ros1(path: Path) -> Iterator[_OpenBag]:
    """Open a ROS 1 bag; joint states are decoded by their definition in ROS, not by the one in the bag."""
    from rosbags.rosbag1 import Reader
    from rosbags.typesys import Stores, get_typestore

    check_ros1_bag(path)
    store = get_typestore(Stores.ROS1_NOETIC)
    with Reader(path) as bag:
        yield _OpenBag(bag.connections, lambda selected: bag.messages(list(selected)), store.deserialize_ros1)


def _choose_topic(path: Path, topics: Sequence[str], requested_topic: str | None) -> str:
    known = sorted(set(topics))
    if not known:
        raise InputError(f"{path} contains no message of type {JOINT_STATE}; record the robot's joint states")
    if requested_topic is not None and requested_topic not in known:
        suggestion = suggest_names(requested_topic, known)
        raise InputError(f"{path} has no joint states on the topic {requested_topic!r}{suggestion}")
    if requested_topic is None and len(known) > 1:
        raise InputError(
            f"{path} contains joint states on several topics ({', '.join(known)}); "
            f'choose one with --topic {known[0]}, or in a mapping: topic = "{known[0]}"'
        )
    return requested_topic or known[0]


def _collect_messages(source: str, messages: Iterator[tuple[int, Any]], joints: Sequence[str]) -> ColumnTable:
    times: list[int] = []  # nanoseconds
    rows: dict[str, list[np.ndarray]] = {name: [] for name, _ in FIELDS}
    indices_by_names: dict[tuple[str, ...], list[int] | None] = {}
    for recorded, message in messages:
        names = tuple(message.name)
        if names not in indices_by_names:
            has_all = set(joints) <= set(names)
            indices_by_names[names] = [names.index(joint) for joint in joints] if has_all else None
        indices = indices_by_names[names]
        if indices is None:
            continue  # a message of another publisher on the same topic, with other joints
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        times.append(stamp or recorded)
        for name, field in FIELDS:
            values = getattr(message, field)
            rows[name].append(values[indices] if len(values) == len(names) else np.full(len(joints), np.nan))
    if not times:
        raise _make_missing_joint_error(source, joints, sorted({name for names in indices_by_names for name in names}))
    columns: dict[str, PerSample] = {"t": (np.array(times, dtype=np.int64) - times[0]) * 1e-9}
    for name, _ in FIELDS:
        values = np.array(rows[name], dtype=np.float64)
        if not np.all(np.isnan(values)):
            columns |= {f"{name}_{joint}": values[:, k] for k, joint in enumerate(joints)}
    recorded_names = {name for names in indices_by_names for name in names}
    ignored = tuple(sorted(recorded_names - set(joints)))
    return replace(ColumnTable.of(columns, len(times), kind="bag"), ignored_joints=ignored)


def _make_missing_joint_error(source: str, joints: Sequence[str], recorded: Sequence[str]) -> InputError:
    if not recorded:
        return InputError(f"{source}: the topic has no messages with joints; record the robot's joint states")
    missing = [joint for joint in joints if joint not in recorded]
    remedy = describe_missing_joints(missing) if missing else "the joints are in different messages; record them in one"
    return InputError(
        f"{source}: no message contains all joints of the robot; the bag has: {', '.join(recorded)}; {remedy}"
    )


def _make_unreadable_error(path: Path, kind: str, error: Exception) -> InputError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    remedy = "check that it was closed and copied completely"
    if kind == "ROS 1 bag":
        remedy += "; rosbag reindex repairs a bag that was not closed"
    return InputError(f"{path} cannot be read as a {kind}: {shorten(reason)}; {remedy}")
