"""Bags of ROS 1 and ROS 2: joints by name, topics, damaged bags, and the missing library."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.joint_state_bags import write_bag, write_ros1_bag
from tests.support.log_files import (
    ARM,
    ARM_COLUMNS,
    ARM_LOG,
    assert_file_refused,
    assert_same_log,
    codes_above_notes,
    format_csv,
    write_file,
)
from ytheta.errors import InputError, MissingExtraError
from ytheta.logs.reading.formats.bag import _collect_messages, read_bag
from ytheta.logs.reading.read import read_log


@pytest.mark.parametrize(("storage", "suffix"), [("MCAP", "mcap"), ("SQLITE3", "db3")])
def test_bags_are_matched_by_joint_name(storage: str, suffix: str, tmp_path: Path) -> None:
    names = ["gripper", *reversed(ARM.actuated)]
    folder = write_bag(tmp_path / "bag", storage, ARM_LOG, names=names)
    for path in (folder, next(folder.glob(f"*.{suffix}"))):
        log = read_log(path, ARM)
        np.testing.assert_allclose(log.t, ARM_LOG.t, atol=2e-9)  # timestamps are integers of nanoseconds
        assert_same_log(replace(log, t=ARM_LOG.t), ARM_LOG)
        assert codes_above_notes(log) == set()


def test_joints_may_have_another_prefix_in_the_robot(tmp_path: Path) -> None:
    joints = tuple(replace(joint, name=f"left_{joint.name}") for joint in ARM.joints)
    robot = replace(ARM, joints=joints, actuated=tuple(f"left_{name}" for name in ARM.actuated))
    bag = write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=["gripper", *reversed(ARM.actuated)])
    log = read_log(bag, robot)
    for name in ("q", "qd", "tau"):
        np.testing.assert_array_equal(getattr(log, name), getattr(ARM_LOG, name))
    (note,) = (finding for finding in log.findings if finding.code == "order")
    assert note.text.startswith("the joints have other names than in the robot: joint")
    assert note.fields["names"] == {f"left_{name}": name for name in ARM.actuated}
    assert log.origin is not None
    assert log.origin.ignored_joints == ("gripper",)


def make_message(*names: str, value: float = 0.0) -> tuple[int, SimpleNamespace]:
    header = SimpleNamespace(stamp=SimpleNamespace(sec=1, nanosec=0))
    values = np.full(len(names), value)
    return 0, SimpleNamespace(name=names, header=header, position=values, velocity=values, effort=values)


def test_messages_of_two_arms_are_not_mixed() -> None:
    left, right = ([f"{side}_{joint}" for joint in ARM.actuated] for side in ("left", "right"))
    assert _collect_messages("bag", iter([make_message(*left)] * 2), ARM.actuated, ()).rows == 2
    with pytest.raises(InputError, match="could both be the joint 'joint1' of the robot; use a description"):
        _collect_messages("bag", iter([make_message(*left), make_message(*right)]), ARM.actuated, ())


@pytest.mark.parametrize("other", [("left_joint1", "left_joint2"), ("finger1", "finger2"), ("gripper",)])
def test_messages_with_the_names_of_the_robot_come_first(other: tuple[str, ...]) -> None:
    """Those of other publishers on the same topic are left out, whether they come before or after."""
    own, others = make_message(*ARM.actuated, value=1.0), make_message(*other, value=2.0)
    for messages in ([own, others, own], [others, own, own]):
        table = _collect_messages("bag", iter(messages), ARM.actuated, ("gripper",))
        assert table.rows == 2
        assert dict(zip(table.names, table.columns, strict=True))["q_joint1"][0:2].tolist() == [1.0, 1.0]
        assert not table.spellings


def test_joints_of_a_hand_are_not_those_of_the_arm() -> None:
    with pytest.raises(InputError, match="no message contains all joints of the robot; the bag has: finger1, finger2"):
        _collect_messages("bag", iter([make_message("finger1", "finger2")]), ARM.actuated, ())


def test_faulty_bags_are_refused(tmp_path: Path) -> None:
    topics = ("/left", "/right")
    folder = write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=list(ARM.actuated), topics=topics)
    assert_file_refused(folder, "several topics", "/left", "topic = ")
    assert_file_refused(folder, "'/lef'", "'/left'", mapping={"topic": "/lef"})
    assert_same_log(replace(read_log(folder, ARM, mapping={"topic": "/left"}), t=ARM_LOG.t), ARM_LOG)
    other = write_bag(tmp_path / "other", "MCAP", ARM_LOG, names=["joint1", "elbow"])
    assert_file_refused(other, "joint2 is missing", "--lock joint2=0", "elbow")
    broken = next(other.glob("*.mcap"))
    broken.write_bytes(broken.read_bytes()[:1000])
    assert_file_refused(broken, "ROS 2 bag", "copied completely")
    assert_file_refused(write_file(tmp_path, "nothing", "a.db3"), "ROS 2 bag")


def test_the_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=list(ARM.actuated))
    path = write_ros1_bag(tmp_path / "log.bag", ARM_LOG, names=list(ARM.actuated))
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    for bag, kind in ((folder, "ROS 2 bag"), (path, "ROS 1 bag")):
        with pytest.raises(MissingExtraError, match=rf"{kind}, .*no module 'rosbags\.highlevel'\); run: pip install"):
            read_bag(bag, ARM.actuated)


@pytest.mark.parametrize("compression", [None, "BZ2", "LZ4"])
def test_ros_1_bags_give_the_log_of_the_text_file(compression: str | None, tmp_path: Path) -> None:
    names = ["gripper", *reversed(ARM.actuated)]
    path = write_ros1_bag(tmp_path / "log.bag", ARM_LOG, names=names, compression=compression)
    expected = read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), ARM)
    log = read_log(path, ARM)
    np.testing.assert_allclose(log.t, ARM_LOG.t, atol=2e-9)
    assert_same_log(replace(log, t=expected.t), expected)
    assert log.origin is not None
    assert log.origin.format == "ROS 1 bag"
    assert (log.origin.topic, log.origin.ignored_joints) == ("/joint_states", ("gripper",))
    other = read_log(write_ros1_bag(tmp_path / "b.bag", replace(ARM_LOG, q=ARM_LOG.q[:, ::-1]), names=names), ARM)
    with pytest.raises(AssertionError):  # the twin
        assert_same_log(replace(other, t=expected.t), expected)


def test_faulty_ros_1_bags_are_refused(tmp_path: Path) -> None:
    path = write_ros1_bag(tmp_path / "log.bag", ARM_LOG, names=list(ARM.actuated), topics=("/left", "/right"))
    assert_file_refused(path, "several topics", "--topic /left")
    assert len(read_log(path, ARM, topic="/right")) == 150
    content = path.read_bytes()
    for size in (5, 500, 5000, len(content) - 10):
        assert_file_refused(write_file(tmp_path, content[:size], "cut.bag"), "ROS 1 bag", "reindex")
    other = write_ros1_bag(tmp_path / "other.bag", ARM_LOG, names=["elbow"])
    message = assert_file_refused(other, "the bag has: elbow", "other names (joint1, joint2)")
    assert "--lock" not in message  # not all joints can be locked


def test_topics_of_commands_are_not_measurements(tmp_path: Path) -> None:
    names = list(ARM.actuated)
    folder = write_bag(tmp_path / "bag", "MCAP", ARM_LOG, names=names, topics=("/joint_commands", "/joint_states"))
    log = read_log(folder, ARM)
    assert log.origin is not None
    assert log.origin.topic == "/joint_states"
    assert read_log(folder, ARM, topic="/joint_commands").origin is not None
    topics = ("/arm/targetJoints", "/left/joint_states", "/right/joint_states")
    folder = write_bag(tmp_path / "other", "MCAP", ARM_LOG, names=names, topics=topics)
    assert_file_refused(folder, "several topics", "--topic /left/joint_states")


def test_messages_without_efforts_are_a_warning_with_a_remedy_for_bags(tmp_path: Path) -> None:
    silent = replace(ARM_LOG, tau=np.full_like(ARM_LOG.q, np.nan))
    log = read_log(write_bag(tmp_path / "bag", "MCAP", silent, names=list(ARM.actuated)), ARM)
    warning = next(finding for finding in log.findings if finding.code == "torque")
    assert "its messages have no efforts" in warning.text
    assert "record the efforts" in warning.text
