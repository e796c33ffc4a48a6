"""Reading ``sensor_msgs/msg/JointState`` from bags without ROS.

ROS 2 bags are folders, ``.mcap`` or ``.db3`` files; ROS 1 bags are ``.bag`` files.

Columns are called ``q_<joint>``, ``qd_<joint>``, ``tau_<joint>``, because a JointState message lists its joints by
name, in any order, and may contain joints that the robot does not have. Time is the timestamp in the message's header;
if this timestamp is zero, the time of recording is used. Times are relative to the first message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import ProcessEndedError, ProcessLimits, run_limited
from ytheta.errors import InputError, MissingExtraError, YthetaError, suggest_names
from ytheta.files.bounded import shorten
from ytheta.logs.reading.column_names import is_command_name
from ytheta.logs.reading.formats.bag_files import check_ros1_bag, open_bag_files
from ytheta.logs.reading.formats.expansion import RECORDED, DamagedError
from ytheta.logs.reading.joint_columns import describe_missing_joints, spell_joints
from ytheta.logs.reading.table import ColumnTable
from ytheta.shapes import PerSample

JOINT_STATE = "sensor_msgs/msg/JointState"
ROS1_SUFFIX = ".bag"
ROS1_KIND, ROS2_KIND = "ROS 1 bag", "ROS 2 bag"
FIELDS = (("q", "position"), ("qd", "velocity"), ("tau", "effort"))


def read_bag(path: Path, joints: Sequence[str], topic: str | None = None, *, locked: Sequence[str] = ()) -> ColumnTable:
    """Return the table of a bag. Its rows are the messages of one topic that contain all ``joints``.

    Of the joints that the robot has ``locked``, the positions are columns too if these messages contain them.
    """
    kind = _name_kind(path)
    try:
        import rosbags.highlevel
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{path} is a {kind}, and the library that reads bags is not installed (there is no module "
            f"{error.name!r}); run: pip install 'ytheta[rosbags]'"
        ) from None
    assert rosbags.highlevel
    try:
        with (_open_ros1 if kind == ROS1_KIND else _open_ros2)(path) as bag:
            chosen = _choose_topic(path, bag.topics, topic)
            table = _collect_messages(f"{path}, topic {chosen}", bag.read_messages(chosen), joints, locked)
    except YthetaError:
        raise
    except (DamagedError, OSError) as error:
        raise make_unreadable_error(path, error) from None
    except Exception as error:  # the libraries raise their own exception types on damaged files
        raise make_unreadable_error(path, error) from error
    return replace(table, kind=kind, topic=chosen, message_type=JOINT_STATE)


def _name_kind(path: Path) -> str:
    return ROS1_KIND if path.suffix.lower() == ROS1_SUFFIX and not path.is_dir() else ROS2_KIND


@dataclass(frozen=True)
class _OpenBag:
    """The topics with joint states of an open bag, and a function that yields time (ns) and message of one topic."""

    topics: Sequence[str]
    read_messages: Callable[[str], Iterator[tuple[int, Any]]]


@contextmanager
def _open_ros2(path: Path) -> Iterator[_OpenBag]:
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with open_bag_files(path) as files, ExitStack() as stack:
        store = get_typestore(Stores.ROS2_HUMBLE)
        bags = [stack.enter_context(AnyReader([file], default_typestore=store)) for file in files.paths]

        def read_messages(topic: str) -> Iterator[tuple[int, Any]]:
            for bag in bags:
                for connection, time, raw in _iterate_messages(bag, topic, _is_ros2_state):
                    yield time, bag.deserialize(files.decompress_message(raw), connection.msgtype)

        yield _OpenBag([c.topic for bag in bags for c in bag.connections if _is_ros2_state(c)], read_messages)


@contextmanager
def _open_ros1(path: Path) -> Iterator[_OpenBag]:
    """Open a ROS 1 bag; joint states are decoded by their definition in ROS, not by the one in the bag."""
    from rosbags.rosbag1 import Reader
    from rosbags.typesys import Stores, get_typestore

    check_ros1_bag(path)
    store = get_typestore(Stores.ROS1_NOETIC)
    with Reader(path) as bag:

        def read_messages(topic: str) -> Iterator[tuple[int, Any]]:
            for connection, time, raw in _iterate_messages(bag, topic, _is_state):
                yield time, store.deserialize_ros1(raw, connection.msgtype)

        yield _OpenBag([c.topic for c in bag.connections if _is_state(c)], read_messages)


def _is_state(connection: Any) -> bool:
    return bool(connection.msgtype == JOINT_STATE)


def _is_ros2_state(connection: Any) -> bool:
    return _is_state(connection) and bool(connection.ext.serialization_format == "cdr")


def _iterate_messages(bag: Any, topic: str, is_state: Callable[[Any], bool]) -> Iterator[tuple[Any, int, bytes]]:
    """Yield connection, time of recording (ns) and content of the joint states on a topic."""
    selected = [c for c in bag.connections if is_state(c) and c.topic == topic]
    if selected:  # without connections, all messages would be read
        yield from bag.messages(selected)


def _choose_topic(path: Path, topics: Sequence[str], requested_topic: str | None) -> str:
    known = sorted(set(topics))
    if not known:
        raise InputError(f"{path} contains no message of type {JOINT_STATE}; record the robot's joint states")
    if requested_topic is not None and requested_topic not in known:
        suggestion = suggest_names(requested_topic, known)
        raise InputError(f"{path} has no joint states on the topic {requested_topic!r}{suggestion}")
    measured = [topic for topic in known if not is_command_name(topic)] or known
    if requested_topic is None and len(measured) > 1:
        raise InputError(
            f"{path} contains joint states on several topics ({', '.join(known)}); "
            f'choose one with --topic {measured[0]}, or in a mapping: topic = "{measured[0]}"'
        )
    return requested_topic or measured[0]


def _collect_messages(
    source: str, messages: Iterator[tuple[int, Any]], joints: Sequence[str], locked: Sequence[str]
) -> ColumnTable:
    """Return the table of messages that contain all joints.

    If some messages have the names of the robot, those with other names are of another publisher on the same topic.
    """
    times: list[int] = []  # nanoseconds
    rows: dict[str, list[np.ndarray]] = {name: [] for name, _ in FIELDS}
    resting: list[np.ndarray] = []  # positions of the locked joints
    is_exact: list[bool] = []  # whether a message has the names of the robot
    indices_by_names: dict[tuple[str, ...], tuple[list[int], list[int]] | None] = {}
    for recorded, message in messages:
        names = tuple(message.name)
        if names not in indices_by_names:
            indices_by_names[names] = _find_indices(spell_joints(names, joints), joints, locked)
        indices = indices_by_names[names]
        if indices is None:
            continue  # a message of another publisher on the same topic, with other joints
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        times.append(stamp or recorded)
        is_exact.append(_has_all(names, joints))
        for name, field in FIELDS:
            values = getattr(message, field)
            rows[name].append(values[indices[0]] if len(values) == len(names) else np.full(len(joints), np.nan))
        if locked:
            # The position at index len(names) is that of a joint that the message does not contain.
            is_complete = len(message.position) == len(names)
            positions = np.append(message.position, np.nan) if is_complete else np.full(len(names) + 1, np.nan)
            resting.append(positions[indices[1]])
    if not times:
        recorded_names = {name for names in indices_by_names for name in names}
        raise _make_missing_joint_error(source, joints, sorted(recorded_names))
    chosen = np.flatnonzero(is_exact) if any(is_exact) else np.arange(len(times))
    spellings = {} if any(is_exact) else _merge_spellings(source, joints, indices_by_names)
    stamps = np.array(times, dtype=np.int64)[chosen]
    columns: dict[str, PerSample] = {"t": (stamps - stamps[0]) * 1e-9}
    for name, _ in FIELDS:
        values = np.array(rows[name], dtype=np.float64)[chosen]
        if not np.all(np.isnan(values)):
            columns |= {f"{name}_{joint}": values[:, k] for k, joint in enumerate(joints)}
    own = {*spellings.values()} or set(joints)
    others = {name for names in indices_by_names for name in names} - own
    columns |= {f"q_{joint}": np.array(resting)[chosen, k] for k, joint in enumerate(locked) if joint in others}
    ignored = tuple(sorted(others - set(locked)))
    table = ColumnTable.of(columns, len(chosen), kind="bag")
    return replace(table, ignored_joints=ignored, spellings=spellings)


def _merge_spellings(
    source: str, joints: Sequence[str], matches: Mapping[tuple[str, ...], object | None]
) -> dict[str, str]:
    """Return the names of the joints in messages that contain them, or raise InputError if a joint has several names.

    ``matches`` contains the names in messages; those without all joints have None.
    """
    spellings: dict[str, str] = {}
    for names in (names for names, match in matches.items() if match is not None):
        for joint, name in zip(spell_joints(names, joints), names, strict=True):
            if joint in joints and spellings.setdefault(joint, name) != name:
                raise InputError(
                    f"{source}: {spellings[joint]!r} and {name!r}, in different messages, could both be the joint "
                    f"{joint!r} of the robot; use a description with the joint names of the robot that is meant"
                )
    return spellings


def _has_all(names: Sequence[str], joints: Sequence[str]) -> bool:
    return set(joints) <= set(names)


def _find_indices(
    names: Sequence[str], joints: Sequence[str], locked: Sequence[str]
) -> tuple[list[int], list[int]] | None:
    """Return the indices of both kinds of joints in messages with these names; None if not all ``joints`` are there.

    The index of a locked joint that is not there is the number of names.
    """
    if not _has_all(names, joints):
        return None
    found = {name: k for k, name in reversed(list(enumerate(names)))}
    return [found[joint] for joint in joints], [found.get(joint, len(names)) for joint in locked]


def _make_missing_joint_error(source: str, joints: Sequence[str], recorded: Sequence[str]) -> InputError:
    if not recorded:
        return InputError(f"{source}: the topic has no messages with joints; record the robot's joint states")
    missing = [joint for joint in joints if joint not in recorded]
    remedy = (
        describe_missing_joints(missing, joints)
        if missing
        else "the joints are in different messages; record them in one"
    )
    return InputError(
        f"{source}: no message contains all joints of the robot; the bag has: {', '.join(recorded)}; {remedy}"
    )


def make_unreadable_error(path: Path, error: Exception) -> InputError:
    """Return the error of a bag that cannot be read, with the first line of the cause."""
    kind = _name_kind(path)
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if "Profile is not ros2" in reason:  # rosbags has one class for all its errors
        return InputError(
            f"{path} is an MCAP file without messages of ROS 2; write its joints as JSON lines or as a table, or "
            f"record them as {JOINT_STATE}"
        )
    remedy = "check that it was closed and copied completely"
    if kind == ROS1_KIND:
        remedy += "; rosbag reindex repairs a bag that was not closed"
    return InputError(f"{path} cannot be read as a {kind}: {shorten(reason)}; {remedy}")


# Reading a ROS bag in a child process.
#
# A bag contains the definitions of its messages, from which the library that reads bags makes code, and a .db3 file is
# a database, whose tables may be queries. No check of sizes bounds what a made-up bag does: a view without an end loops
# for ever, and a list of empty messages takes any memory.

# Bytes that the reading process may use, and those for each byte of the bag. Chosen on: a message with seven joints,
# which has 300 bytes in a bag and takes 800 while it is read; compressed bags are smaller.
MIN_MEMORY, MEMORY_PER_BYTE = 2**31, 20
# Time in s, and that for each byte of the bag. Chosen on: reading 10 MB of a bag, which takes about 1 s.
MIN_SECONDS, SECONDS_PER_BYTE = 30.0, 2e-6


def read_isolated_bag(
    path: Path,
    joints: Sequence[str],
    topic: str | None = None,
    *,
    locked: Sequence[str] = (),
    limits: ProcessLimits | None = None,
) -> ColumnTable:
    """Return the table of a bag as ``read_bag`` does. ``limits`` depend on the size of the bag unless they are set."""
    request = {"path": str(path), "joints": list(joints), "topic": topic, "locked": list(locked)}
    try:
        reply = run_limited(__name__, "send_table", request, limits or _choose_limits(path))
    except ProcessEndedError as error:
        raise make_unreadable_error(path, error) from None
    columns = {name: np.frombuffer(block) for name, block in zip(reply.content["names"], reply.blocks, strict=True)}
    table = ColumnTable.of(columns, reply.content["rows"], kind=reply.content["kind"])
    return replace(
        table,
        topic=reply.content["topic"],
        message_type=reply.content["message_type"],
        ignored_joints=tuple(reply.content["ignored_joints"]),
        spellings=reply.content["spellings"],
    )


def _choose_limits(path: Path) -> ProcessLimits:
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    seconds = MIN_SECONDS + SECONDS_PER_BYTE * size
    return ProcessLimits(
        MIN_MEMORY + MEMORY_PER_BYTE * size, seconds, processor_seconds=seconds, reply=RECORDED.find_max_size(size)
    )


# --- in the child process


def send_table(request: dict[str, Any]) -> Reply:
    """Read a bag and return its table as a reply."""
    table = read_bag(Path(request["path"]), request["joints"], request["topic"], locked=request["locked"])
    assert table.has_header
    assert not table.findings
    assert not table.others
    assert not table.starts
    fields = ("kind", "topic", "message_type", "ignored_joints", "spellings")
    origin = {name: getattr(table, name) for name in fields}
    columns = [np.ascontiguousarray(column[0 : table.rows], dtype=np.float64).data for column in table.columns]
    return Reply({"names": table.names, "rows": table.rows, **origin}, columns)
