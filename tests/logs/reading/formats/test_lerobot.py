"""LeRobot datasets: vectors with names, episodes as segments, several files, and sets without torques."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.array_files import write_lerobot
from tests.support.log_files import ARM, ARM_LOG, assert_file_refused
from ytheta.errors import InputError
from ytheta.identification.identify import identify
from ytheta.logs.reading.read import read_log

EPISODES = np.repeat([0, 1, 2], 50)
TIMES = np.tile(np.arange(50) / 100.0, 3)
assert ARM_LOG.qd is not None
assert ARM_LOG.tau is not None
STATE, VELOCITY, EFFORT = ARM_LOG.q, ARM_LOG.qd, ARM_LOG.tau
JOINTS = list(ARM.actuated)


def assert_arm_log(path: Path) -> None:
    log = read_log(path, ARM)
    assert np.array_equal(log.q, STATE)
    assert log.tau is not None
    assert np.array_equal(log.tau, EFFORT)
    assert log.segments == ((0, 50), (50, 100), (100, 150))
    for start, stop in log.segments:
        np.testing.assert_allclose(log.t[start:stop] - log.t[start], TIMES[:50], atol=1e-12)
    assert np.all(np.diff(log.t) > 0.0)


FEATURES: dict[str, dict[str, tuple[np.ndarray, Any]]] = {
    "names of joints": {"observation.state": (STATE, JOINTS), "observation.effort": (EFFORT, {"motors": JOINTS})},
    "names with quantities": {
        "observation.state": (
            np.hstack([STATE, EFFORT]), [f"{joint}.{word}" for word in ("pos", "effort") for joint in JOINTS]
        ),
        "action": (STATE + 0.1, [f"{joint}.pos" for joint in JOINTS]),
    },
    "numbers of names": {
        "observation.state": (STATE[:, ::-1], {JOINTS[0]: 1, JOINTS[1]: 0}), "observation.effort": (EFFORT, JOINTS),
    },
    "no names": {"observation.state": (STATE, None), "observation.effort": (EFFORT, None)},
    "list in a list, reversed": {
        "observation.state": (STATE[:, ::-1], [JOINTS[::-1]]), "observations.effort": (EFFORT, [JOINTS]),
    },
}  # fmt: skip


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("files", [1, 4])
def test_episodes_become_segments(features: str, files: int, tmp_path: Path) -> None:
    assert_arm_log(write_lerobot(tmp_path / "set", FEATURES[features], TIMES, EPISODES, files=files))


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    """The twin: names in another order, and one episode less."""
    swapped = {"observation.state": (STATE, JOINTS[::-1]), "observation.effort": (EFFORT, JOINTS)}
    with pytest.raises(AssertionError):
        assert_arm_log(write_lerobot(tmp_path / "a", swapped, TIMES, EPISODES))
    with pytest.raises((AssertionError, InputError)):
        assert_arm_log(write_lerobot(tmp_path / "b", FEATURES["no names"], TIMES, np.minimum(EPISODES, 1)))


def test_one_episode_is_one_segment(tmp_path: Path) -> None:
    folder = write_lerobot(tmp_path / "set", FEATURES["no names"], ARM_LOG.t, np.zeros(150, dtype=np.int64))
    log = read_log(folder, ARM)
    assert log.segments == ((0, 150),)
    assert np.array_equal(log.t, ARM_LOG.t)


def test_files_of_version_2_are_found_too(tmp_path: Path) -> None:
    folder = write_lerobot(tmp_path / "set", FEATURES["no names"], TIMES, EPISODES, files=3)
    for k in range(3):
        path = folder / "data" / "chunk-000" / f"file-{k:03d}.parquet"
        path.rename(path.with_name(f"episode_{k:06d}.parquet"))
    assert_arm_log(folder)


def test_a_set_without_torques_says_which_features_exist(tmp_path: Path) -> None:
    folder = write_lerobot(tmp_path / "set", {"observation.state": (STATE, JOINTS), "action": (STATE, JOINTS)}, TIMES,
                           EPISODES)  # fmt: skip
    with pytest.raises(InputError, match=r"contains no torque .*observation.state \(2\), action \(2\), .*images.top"):
        identify(ARM, folder)


def test_faulty_sets_are_refused(tmp_path: Path) -> None:
    folder = write_lerobot(tmp_path / "set", FEATURES["no names"], TIMES, EPISODES)
    info, data = folder / "meta" / "info.json", folder / "data" / "chunk-000" / "file-000.parquet"
    text = info.read_text(encoding="utf-8")
    assert_file_refused(tmp_path, "neither a ROS 2 bag nor a LeRobot dataset")
    info.write_text(text[:50], encoding="utf-8")
    assert_file_refused(folder, "info.json is not valid JSON")
    info.write_text("[1]", encoding="utf-8")
    assert_file_refused(folder, "does not describe the features")
    features = json.loads(text)
    features["features"]["observation.state"]["shape"] = [3]
    info.write_text(json.dumps(features), encoding="utf-8")
    columns = {"q": ["observation.state[0]", "observation.state[1]"]}
    assert_file_refused(folder, "has 300 values for 150 rows", mapping={"columns": columns})
    features["features"]["observation.state"]["shape"] = [10**12]
    info.write_text(json.dumps(features), encoding="utf-8")
    assert_file_refused(folder, "a vector has 1 to 1000 entries")
    info.write_text(text.replace("observation.effort", "observation.torque"), encoding="utf-8")
    assert_file_refused(folder, "has no column 'observation.torque'")
    info.write_text(text, encoding="utf-8")
    content = data.read_bytes()
    data.write_bytes(content[:-40])
    assert_file_refused(folder, "file-000.parquet is damaged")
    data.unlink()
    assert_file_refused(folder, "has no files data/chunk-*/*.parquet")


def test_files_in_another_order_give_the_same_episodes(tmp_path: Path) -> None:
    """The first file begins in the middle of an episode."""
    order = np.roll(np.arange(150), -80)
    features = {"observation.state": (STATE[order], JOINTS), "observation.effort": (EFFORT[order], JOINTS)}
    frames = np.tile(np.arange(50), 3)[order]
    assert_arm_log(write_lerobot(tmp_path / "a", features, TIMES[order], EPISODES[order], files=3, frames=frames))
    repeated = write_lerobot(tmp_path / "b", features, TIMES[order], EPISODES[order], files=3, frames=0 * frames)
    with pytest.raises(AssertionError):  # the twin: numbers that are not those of frames
        assert_arm_log(repeated)
    assert len(read_log(repeated, ARM).segments) == 4


def test_features_without_entries_are_left_out(tmp_path: Path) -> None:
    """LeRobot declares features that a robot does not have with the shape (0)."""
    folder = write_lerobot(tmp_path / "set", FEATURES["names of joints"], TIMES, EPISODES)
    info = json.loads((folder / "meta" / "info.json").read_text())
    info["features"]["observation.environment_state"] = {"dtype": "float32", "shape": [0], "names": None}
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    assert_arm_log(folder)
