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
from ytheta.comparison import list_differences
from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Coupling, Loop
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
    for name in ("a.npz", "notes.txt", "arm.urdf", "."):
        if not (folder / name).exists():
            (folder / name).write_text("<robot/>")
        line = refused("compare", "a.toml", name, cwd=folder)
        assert line == f"error: {name} is not an identified model; give a file that identify wrote"
    line = refused("compare", "a.toml", "b.toml", "--mapping", "none.toml", cwd=folder)
    assert line == "error: a mapping is given without a log; give the log, too, or remove it"
    line = refused("compare", "a.toml", "panda", cwd=folder)
    assert line == "error: panda does not exist; give the path of a model that identify wrote"


def test_a_file_of_a_newer_version_is_refused(folder: Path) -> None:
    newer, count = re.subn(r'^ytheta = ".*"', 'ytheta = "99.0.0"', (folder / "b.toml").read_text(), flags=re.M)
    assert count == 1
    (folder / "newer.toml").write_text(newer)
    for models in (("a.toml", "newer.toml"), ("newer.toml", "a.toml")):
        assert "newer.toml was written by ytheta 99.0.0" in refused("compare", *models, cwd=folder)


def edit_model(folder: Path, pattern: str, replacement: str) -> Path:
    """The second model with a change of its description."""
    text, count = re.subn(pattern, replacement, (folder / "b.toml").read_text(), count=1)
    assert count == 1
    path = folder / "edited.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("pattern", "replacement", "difference"),
    [
        (r"\bl1 = [0-9.]+", "l1 = 0.123", "its joint 'joint2' has another position or axis"),
        (r'type = "revolute"', 'type = "prismatic"', "its joint 'joint1' has another type"),
    ],
)
def test_another_geometry_is_refused(folder: Path, pattern: str, replacement: str, difference: str) -> None:
    path = edit_model(folder, pattern, replacement)
    with pytest.raises(InputError, match=rf"edited\.toml is a model of another robot than .*a\.toml: {difference};"):
        yt.compare([folder / "a.toml", path])


def test_other_links_loops_and_couplings_are_differences() -> None:
    robot, looped = yt.load("ur10"), yt.load("five-bar")
    first, second, *_ = (joint.name for joint in robot.movable)
    assert list(list_differences(robot, robot)) == list(list_differences(looped, looped)) == []
    renamed = replace(
        robot,
        links=tuple(replace(x, name="hand" if x.name == "wrist_3_link" else x.name) for x in robot.links),
        joints=tuple(
            replace(x, parent=x.parent.replace("wrist_3_link", "hand"), child=x.child.replace("wrist_3_link", "hand"))
            for x in robot.joints
        ),
        markers=(),
        collision=(),
    )
    assert list(list_differences(renamed, robot)) == ["its joint 'wrist_3_joint' has another child link"]
    coupled = replace(robot, couplings=(Coupling(second, ((first, 0.5),)),), actuated=(), home=())
    assert f"its joint {second!r} has another coupling" in list(list_differences(coupled, robot))
    loops = tuple(Loop(replace(x.joint, placement=Frame.shift(0.01) @ x.joint.placement)) for x in looped.loops)
    assert list(list_differences(replace(looped, loops=loops), looped)) == [
        f"its joint {loops[0].name!r} has another position or axis"
    ]
    assert list(list_differences(replace(looped, loops=(), actuated=()), looped)) == [
        f"it has no joint {loops[0].name!r}"
    ]
    # A load and an unknown length are no differences.
    loaded = robot.with_load(yt.Inertia.point_mass(0.8, (0.0, 0.0, 0.05)))
    assert list(list_differences(loaded, robot)) == list(list_differences(robot, loaded)) == []
    arm = yt.load("lu-two-link")
    assert list(list_differences(replace(arm, lengths=tuple((k, None) for k, _ in arm.lengths)), arm)) == []
