"""Locked joints that a log contains: they should rest where the robot has them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.joint_state_bags import write_bag, write_ros1_bag
from tests.support.log_files import make_log
from ytheta.errors import InputError
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.read import read_log
from ytheta.robot.reading.load import load

ROBOT = load("panda", lock={"panda_joint7": 0.5})
LOG = make_log(ROBOT, rows=300)


def write_log(folder: Path, positions: np.ndarray | float, *, degrees: bool = False) -> Path:
    unit, scale = ("_deg", 180.0 / np.pi) if degrees else ("", 1.0)
    columns = {"t": LOG.t}
    for k, joint in enumerate(ROBOT.actuated):
        columns[f"q_{joint}{unit}"] = scale * LOG.q[:, k]
        assert LOG.tau is not None
        columns[f"tau_{joint}"] = LOG.tau[:, k]
    columns[f"q_panda_joint7{unit}"] = scale * np.broadcast_to(positions, len(LOG.t))
    path = folder / "log.csv"
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in zip(*columns.values(), strict=True))
    path.write_text(",".join(columns) + "\n" + rows + "\n", encoding="utf-8")
    return path


def write_messages(folder: Path, positions: np.ndarray | float, kind: str) -> Path:
    """Write the log as joint states, with the locked joint among them."""
    names = ["gripper", *reversed(ROBOT.actuated), "panda_joint7"]
    columns = {joint: LOG.q[:, k] for k, joint in enumerate(ROBOT.actuated)}
    columns |= {"gripper": np.linspace(0.0, 1.0, len(LOG)), "panda_joint7": np.broadcast_to(positions, len(LOG))}
    assert LOG.tau is not None
    torques = np.column_stack([np.zeros(len(LOG)), LOG.tau[:, ::-1], np.zeros(len(LOG))])
    q = np.column_stack([columns[name] for name in names])
    log = replace(LOG, joints=tuple(names), q=q, tau=torques, qd=np.zeros_like(q))
    if kind == "echo":
        stamps = [(f"{int(t)}", f"{round(1e9 * (t - int(t)))}") for t in LOG.t]
        rows = zip(stamps, q, np.zeros_like(q), torques, strict=True)
        lines = [
            ",".join([*stamp, "", *names, *(repr(float(x)) for row in rest for x in row)]) for stamp, *rest in rows
        ]
        path = folder / "echo.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path
    if kind == "ROS 1":
        return write_ros1_bag(folder / "log.bag", log, names=names)
    return write_bag(folder / "bag", kind, log, names=names)


def list_codes(path: Path) -> list[str]:
    return [finding.code for finding in read_log(path, ROBOT).findings]


@pytest.mark.parametrize("degrees", [False, True])
def test_a_joint_that_rests_at_its_lock_is_silent(tmp_path: Path, *, degrees: bool) -> None:
    assert ROBOT.locked == {"panda_joint7": 0.5}
    assert LogFindingCode.LOCKED not in list_codes(write_log(tmp_path, 0.5, degrees=degrees))


@pytest.mark.parametrize("degrees", [False, True])
def test_a_joint_that_rests_elsewhere_is_named(tmp_path: Path, *, degrees: bool) -> None:
    log = read_log(write_log(tmp_path, 0.8, degrees=degrees), ROBOT)
    finding = next(finding for finding in log.findings if finding.code == LogFindingCode.LOCKED)
    assert finding.text.startswith("'panda_joint7' is locked at 0.5, but rests at 0.8")
    assert "--lock panda_joint7=0.8" in finding.text


def test_a_joint_that_moves_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'panda_joint7' is locked at 0.5, but moves from 0 to 1 .*--rows"):
        read_log(write_log(tmp_path, np.linspace(0.0, 1.0, len(LOG.t))), ROBOT)
    play = 0.5 + 0.04 * np.sin(20.0 * LOG.t)
    assert LogFindingCode.LOCKED not in list_codes(write_log(tmp_path, play))


@pytest.mark.parametrize("kind", ["MCAP", "SQLITE3", "ROS 1", "echo"])
def test_messages_are_compared_as_other_formats_are(tmp_path: Path, kind: str) -> None:
    for k, (position, expected) in enumerate([(0.5, False), (0.8, True)]):
        folder = tmp_path / str(k)
        folder.mkdir()
        log = read_log(write_messages(folder, position, kind), ROBOT)
        assert (LogFindingCode.LOCKED in [finding.code for finding in log.findings]) == expected
        assert log.origin is not None
        assert log.origin.ignored_joints == ("gripper",)
        assert np.allclose(log.q, LOG.q)
    folder = tmp_path / "moving"
    folder.mkdir()
    path = write_messages(folder, np.linspace(0.0, 1.0, len(LOG)), kind)
    with pytest.raises(InputError, match=r"'panda_joint7' is locked at 0.5, but moves from 0 to 1 "):
        read_log(path, ROBOT)
