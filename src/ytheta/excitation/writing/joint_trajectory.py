"""``trajectory_msgs/msg/JointTrajectory`` of ROS 2: as YAML, and as one message of an MCAP file."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from ytheta.errors import MissingExtraError
from ytheta.excitation.trajectories.trajectory import SampledTrajectory
from ytheta.files.overwriting import TOML_MARK

MESSAGE_TYPE = "trajectory_msgs/msg/JointTrajectory"
TOPIC = "/joint_trajectory"
NANOSECONDS = 1_000_000_000  # per second


def format_yaml(joints: tuple[str, ...], motion: SampledTrajectory) -> str:
    """Return the message as YAML, as ``ros2 topic pub`` and ``ros2 topic echo`` write messages."""
    lines = [
        TOML_MARK,
        "header: {stamp: {sec: 0, nanosec: 0}, frame_id: ''}",
        f"joint_names: [{', '.join(map(_quote, joints))}]",
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


def _quote(name: str) -> str:
    """Return a string of YAML in ASCII; unlike JSON, YAML has no surrogate pairs for characters beyond 16 bits."""
    escaped = (json.dumps(c)[1:-1] if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in name)
    return f'"{"".join(escaped)}"'


def _split_time(t: float) -> tuple[int, int]:
    return divmod(round(t * NANOSECONDS), NANOSECONDS)
