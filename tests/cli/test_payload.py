"""``ytheta payload`` as its user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm, true_arm, write_log
from tests.support.command import read_json, refused, ytheta
from tests.support.payload_cases import BODY


@pytest.fixture(scope="module")
def arm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a log with a payload (full.csv) and one without (empty.npz)."""
    folder = tmp_path_factory.mktemp("payload")
    fit, _ = identified_arm(folder)
    fit.save(folder / "arm.model.toml")
    write_log(folder / "full.csv", true_arm(folder).with_load(BODY, name="held"), seed=4, noise=0.05)
    write_log(folder / "empty.npz", true_arm(folder), seed=5, noise=0.05)
    return folder


def test_the_object_has_the_keys_of_the_design(arm_folder: Path) -> None:
    data = read_json(arm_folder, "payload", "arm.model.toml", "full.csv", "--unloaded", "empty.npz", "--mass", "2.4")
    assert data["mass"] == pytest.approx(2.4)
    assert np.shape(data["center"]) == (3,)
    assert np.shape(data["inertia"]) == (3, 3)
    assert np.shape(data["std"]["inertia"]) == (3, 3)
    assert data["std"]["mass"] == 0.0
    assert data["marks"][0] == "known"
    assert data["relative_error_percent"]["after"] < 0.5 * data["relative_error_percent"]["before"]
    assert data["verdict"] in ("good", "usable")
    python = yt.identify_payload(
        arm_folder / "arm.model.toml", arm_folder / "full.csv", unloaded=arm_folder / "empty.npz", mass=2.4
    )
    for key in ("mass", "center", "inertia", "std", "verdict", "correlation"):
        assert json.dumps(data[key]) == json.dumps(python.to_dict()[key])


def test_the_table_says_where_values_come_from(arm_folder: Path) -> None:
    result = ytheta("payload", "arm.model.toml", "full.csv", "--mass", "2.4", "-v", cwd=arm_folder)
    assert result.returncode == 0, result.stderr
    for words in ("known", "prior: a compact body", "kg m²", "correlation", "torque error", "in the frame"):
        assert words in result.stdout


def test_the_file_is_a_robot_with_the_payload(arm_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "loaded.toml"
    result = ytheta("payload", "arm.model.toml", "full.csv", "--name", "box", "-o", str(path), cwd=arm_folder)
    assert f"wrote {path}" in result.stderr
    assert yt.load(path).link("box").load
    again = ytheta("payload", "arm.model.toml", "full.csv", "-o", str(path), cwd=arm_folder)
    assert "wrote" in again.stderr  # ytheta wrote it, and may write it again


def test_an_answer_that_is_bad_has_exit_code_1(arm_folder: Path) -> None:
    data = read_json(arm_folder, "payload", "arm.model.toml", "empty.npz", code=1)
    assert "payload" in data["reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.toml", "full.csv"), "nothing.toml"),
        (("arm.model.toml", "nothing.csv"), "nothing.csv"),
        (("arm.model.toml", "full.csv", "--link", "hand"), "no link or marker 'hand'"),
        (("arm.model.toml", "full.csv", "--mass", "-1"), "mass is -1"),
        (("arm.model.toml", "full.csv", "--mass", "two"), "not a number"),
        (("arm.model.toml", "full.csv", "--friction-drift", "-1"), "friction_drift is -1"),
        (("arm.model.toml", "full.csv", "--torque-scale", "-1"), "torque_scale is -1"),
        (("arm.model.toml", "full.csv", "--torque-scale", "5"), "between 0 and 1, such as 0.05 for 5 %"),
        (("arm.model.toml", "full.csv", "-o", "full.csv"), "full.csv"),
        (("arm.model.toml",), "LOG"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence(arm_folder: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in refused("payload", *arguments, cwd=arm_folder)
