"""Locked joints that a log contains: they should rest where the robot has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.log_files import make_log
from ytheta.errors import InputError
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.reading.read import read_log
from ytheta.robot.locking.lock_joints import list_locked
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


def list_codes(path: Path) -> list[str]:
    return [finding.code for finding in read_log(path, ROBOT).findings]


@pytest.mark.parametrize("degrees", [False, True])
def test_a_joint_that_rests_at_its_lock_is_silent(tmp_path: Path, *, degrees: bool) -> None:
    assert list_locked(ROBOT) == {"panda_joint7": 0.5}
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
