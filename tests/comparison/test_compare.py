"""Comparisons of models: differences in standard deviations against simulated scatter, torques against predict."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.command import refused, ytheta
from ytheta.errors import InputError
from ytheta.robot.robot import Robot


def write_model(folder: Path, name: str, robot: Robot, seed: int) -> Path:
    log = write_log(folder / f"{name}.npz", robot, seed=seed, noise=0.05)
    return yt.identify(robot, log, prior="none", friction=["viscous", "coulomb"]).save(folder / f"{name}.toml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of the same arm from two logs, and of an arm whose second joint has twice the viscous friction."""
    folder = tmp_path_factory.mktemp("models")
    arm = true_arm(folder).with_drives(lambda _, drive: replace(drive, offset=0.0))
    worn = arm.with_drives(lambda name, drive: replace(drive, viscous=drive.viscous * (1.0 + (name == "joint2"))))
    for name, robot, seed in (("a", arm, 1), ("b", arm, 2), ("worn", worn, 3)):
        write_model(folder, name, robot, seed)
    return folder


def test_only_what_changed_differs(folder: Path) -> None:
    same = yt.compare([folder / "a.toml", folder / "b.toml"])
    differences = np.array([row.differences[1] for row in same.parameters], dtype=float)
    assert [row.differences[0] for row in same.parameters] == [0.0] * len(differences)
    assert 0.2 < np.sqrt((differences**2).mean()) < 2.5  # the scatter is that of the standard deviations
    worn = yt.compare([folder / "a.toml", folder / "worn.toml"])
    assert worn.notable[0].name == "joint2.fv"
    assert worn.notable[0].largest_difference > 10.0
    viscous = next(row for row in worn.friction if (row.joint, row.kind) == ("joint2", "viscous"))
    assert viscous.values[1] == pytest.approx(2.0 * (viscous.values[0] or 0.0), rel=0.05)


def test_differences_are_divided_by_both_deviations(folder: Path) -> None:
    models = [yt.read_model(folder / name) for name in ("a.toml", "worn.toml")]
    row = next(
        row for row in yt.compare([folder / "a.toml", folder / "worn.toml"]).parameters if row.name == "joint2.fv"
    )
    (a, sa), (b, sb) = (
        next((r["value"], r["std"]) for r in model.table["parameters"] if r["name"] == "joint2.fv") for model in models
    )
    assert row.differences[1] == pytest.approx((b - a) / np.sqrt(sa**2 + sb**2), rel=1e-9)
    assert row.differences[1] != pytest.approx((b - a) / sa, rel=0.05)


def test_torques_on_a_log(folder: Path) -> None:
    comparison = yt.compare([folder / "a.toml", folder / "worn.toml"], log=folder / "b.npz")
    alone = yt.predict(folder / "a.toml", folder / "b.npz")
    errors = [prediction.errors for prediction in comparison.predictions]
    assert errors[0] is not None
    assert errors[1] is not None
    assert alone.errors is not None
    assert errors[0].relative_percent == alone.errors.relative_percent
    assert errors[1].relative_percent > 2.0 * errors[0].relative_percent
    first, second = comparison.torque_differences
    assert not first.any()
    assert second[1] > 5.0 * second[0]


def test_the_command_prints_tables_and_json(folder: Path) -> None:
    result = ytheta("compare", "a.toml", "worn.toml", "--log", "b.npz", cwd=folder)
    assert result.returncode == 0
    assert re.search(r"joint2\.fv +\S+ ± \S+", result.stdout)
    assert "1 parameter differs by more than 3 standard deviations: joint2.fv" in result.stdout
    data = json.loads(ytheta("compare", "a.toml", "b.toml", "worn.toml", "--json", cwd=folder).stdout)
    assert data["models"] == ["a.toml", "b.toml", "worn.toml"]
    assert data["torques"] is None
    assert data == yt.compare([folder / name for name in data["models"]]).to_dict()


def test_bad_input_is_one_sentence(folder: Path) -> None:
    assert "two or more model files" in refused("compare", "a.toml", cwd=folder)
    assert "is not an identified model" in refused("compare", "a.toml", "true.toml", cwd=folder)
    with pytest.raises(InputError, match="two or more"):
        yt.compare("a.toml")
    other = (folder / "a.toml").read_text().replace("joint2", "elbow")
    (folder / "other.toml").write_text(other)
    assert "is a model of other joints (joint1, elbow)" in refused("compare", "a.toml", "other.toml", cwd=folder)
