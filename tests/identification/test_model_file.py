"""Model files: everything comes back to the last digit, nothing is ever half there, and any command takes one."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.command import refused, ytheta
from ytheta.errors import InputError, RobotFileError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.identify import FRICTION, identify
from ytheta.identification.model_file import model_to_toml, read_identification_table, read_model, save_model
from ytheta.identification.predict import predict_torques
from ytheta.identification.result import Identification
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.logs.reading.read import read_log
from ytheta.robot.parameters import with_theta


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model")


@pytest.fixture(scope="module")
def found(folder: Path) -> Identification:
    """The arm, learnt from one log and judged by another; noisy enough for impossible inertias."""
    robot, true = yt.load("lu-two-link"), true_arm(folder)
    fit, other = (write_log(folder / f"{name}.npz", true, seed=k, noise=0.5) for k, name in enumerate(("a", "b")))
    return identify(robot, read_log(fit, robot), validate=read_log(other, robot), rotor_inertia=True)


@pytest.fixture(scope="module")
def model(folder: Path, found: Identification) -> Path:
    return save_model(found, folder / "arm.model.toml")


def test_everything_comes_back(found: Identification, model: Path) -> None:
    read = read_model(model)
    assert np.array_equal(read.robot.theta, found.theta)
    assert replace(read.robot, findings=()) == replace(found.robot, findings=())
    assert read.names == found.names
    assert np.array_equal(read.beta, found.beta)
    assert np.array_equal(read.covariance, found.covariance)
    assert read.table["verdict"] == found.verdict.grade.value
    assert read.table["consistent"] == (not found.inconsistent)
    assert read.table["friction"] == list(FRICTION)
    assert read.table["rotor_inertia"] is True
    assert read.table["cutoff"] == found.origin.settings[0].cutoff
    assert found.validation is not None
    assert read.table["validation"]["relative_error_percent"] == found.validation.relative_percent
    assert read.table["standard_parameters"]["link1.m"] == "no effect"
    assert [row["std"] for row in read.table["parameters"]] == found.std.tolist()


def test_the_robot_has_the_base_parameters(found: Identification, model: Path) -> None:
    again = base_parameters(yt.load(model), rotor_inertia=True, friction=FRICTION)
    assert again.names == found.names
    np.testing.assert_allclose(again.beta, found.beta, rtol=1e-9, atol=1e-9 * abs(found.beta).max())
    as_described = base_parameters(yt.load("lu-two-link"), rotor_inertia=True, friction=FRICTION)
    assert abs(as_described.beta - found.beta).max() > 0.1  # the twin: it was not so before


def test_prediction_is_the_validation(found: Identification, model: Path, folder: Path) -> None:
    robot = yt.load(model)
    log = read_log(folder / "b.npz", robot)
    cutoff = read_model(model).table["cutoff"]
    assert found.validation is not None
    same = predict_torques(robot, log, PreparationSettings(cutoff=cutoff)).errors
    assert same is not None
    assert same.relative_percent == pytest.approx(found.validation.relative_percent, rel=1e-9)
    np.testing.assert_allclose(same.per_joint_percent, found.validation.per_joint_percent, rtol=1e-9)
    other = predict_torques(yt.load("lu-two-link"), log, PreparationSettings(cutoff=cutoff)).errors
    assert other is not None
    assert other.relative_percent > 2.0 * same.relative_percent


def test_every_command_takes_it(model: Path) -> None:
    for command in ("inspect", "base"):
        result = ytheta(command, str(model))
        assert result.returncode == 0, result.stderr
        assert "lu-two-link" in result.stdout


def test_impossible_bodies_are_told_not_refused(found: Identification, folder: Path) -> None:
    theta = found.theta.copy()
    theta[0] = -1.0
    light = replace(found)
    object.__setattr__(light, "theta", theta)  # frozen and cached: what another noise would have given
    file = save_model(light, folder / "light.toml")
    robot = yt.load(file)
    assert robot.link("link1").inertia.mass == -1.0
    (note,) = [note for note in robot.findings if "impossible inertias" in note.text]  # one, however many links
    assert "of 4 links; its torques hold" in note.text.replace(" and negative friction or rotor inertia", "")
    assert not note.is_warning
    assert read_model(file).table["consistent"] is False
    described = folder / "described.toml"
    described.write_text(file.read_text().partition("[identification]")[0])
    with pytest.raises(RobotFileError, match="negative"):
        yt.load(described)


def test_what_the_motion_does_not_show_is_infinite(folder: Path) -> None:
    robot = yt.load("lu-two-link")
    log = read_log(write_log(folder / "still.npz", true_arm(folder), still=True), robot)
    unseen = identify(robot, log)
    table = tomllib.loads(model_to_toml(unseen))["identification"]
    assert table["verdict"] == "not exciting"
    assert table["condition_number"] == np.inf
    assert {row["name"] for row in table["parameters"] if row["std"] == np.inf} >= {"joint2.fv", "joint2.fc"}
    assert "validation" not in table


def test_other_files_are_no_models(folder: Path, model: Path) -> None:
    robot = yt.save_robot(yt.load("lu-two-link"), folder / "plain.toml")
    assert read_identification_table(robot) is None
    assert read_identification_table("panda") is None
    with pytest.raises(InputError, match="is no identified model"):
        read_model(robot)
    damaged = folder / "damaged.toml"
    damaged.write_text(model.read_text().replace("covariance = [", "covariance = [[1.0],"))
    with pytest.raises(InputError, match="damaged"):
        read_model(damaged)
    wrong = folder / "wrong.toml"
    wrong.write_text(robot.read_text() + "\nidentity = 1\n")
    assert "unknown" in refused("inspect", str(wrong))


EDITED = {  # what was changed by hand: a pattern, what stands there instead, the complaint
    "cut-off": (r"cutoff = .*", "cutoff = -4", "the cutoff of its identification is -4"),
    "cut-off in words": (r"cutoff = .*", 'cutoff = "ten"', "the cutoff of its identification is 'ten'"),
    "cut-off without end": (r"cutoff = .*", "cutoff = inf", "the cutoff of its identification is inf"),
    "min_speed": (r"(cutoff = .*)", r"\1\nmin_speed = [-1.0, 0.0]", "min_speed of its identification"),
    "name": (r'name = "link1.mx\*"', 'name = "linc1.mx*"', "no parameter 'linc1.mx[*]'; did you mean 'link1.mx'"),
    "name twice": (r'name = "link2.mx\*"', 'name = "link1.mx*"', "twice"),
    "value": (r'(name = "link1.mx\*", value = )[^,]+', r"\1nan", "the value of link1.mx[*] is not finite"),
    "std": (r'(name = "link1.mx\*".* std = )[^,]+', r"\g<1>0.5", "std of link1.mx[*] is not the root"),
    "std below zero": (r'(name = "link1.mx\*".* std = )[^,]+', r"\1-inf", "std of link1.mx[*] is not the root"),
    "variance": (r"(covariance = \[\n    )\[[^]]*\]", r"\1[-1.0]", "the variance of link1.mx[*] is negative"),
    "no number": (r"(covariance = \[\n    )\[[^]]*\]", r"\1[nan]", "not finite"),
    "no covariance": (r"(covariance = \[\n.*\n    \[)[^,]*", r"\g<1>9.9", "a negative eigenvalue"),
}


@pytest.mark.parametrize("case", EDITED)
def test_edited_models_are_refused(model: Path, tmp_path: Path, case: str) -> None:
    pattern, instead, complaint = EDITED[case]
    text, count = re.subn(pattern, instead, model.read_text(), count=1)
    assert count == 1
    edited = tmp_path / "edited.toml"
    edited.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_model(edited)
    if case.startswith(("cut-off", "min_speed")):
        assert re.search(complaint, refused("predict", str(edited), str(model.parent / "b.npz")))


def test_motion_without_torques_is_predicted(model: Path, folder: Path) -> None:
    robot = yt.load(model)
    log = read_log(folder / "b.npz", robot)
    with_torques, without = (predict_torques(robot, each) for each in (log, replace(log, tau=None)))
    assert without.errors is None
    assert without.measured is None
    assert with_torques.measured is not None
    assert np.array_equal(without.predicted, with_torques.predicted)
    with pytest.raises(InputError, match="no joint is ever as fast"):
        predict_torques(robot, log, min_speed=np.array([1e9, 1e9]))
    massless = with_theta(robot, np.zeros_like(robot.theta))
    with pytest.raises(InputError, match="has no inertias"):
        predict_torques(massless, log)


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("moment", ["pathlib.Path.write_bytes", "os.fsync", "os.replace"])
def test_it_is_never_half_written(found: Identification, tmp_path: Path, trouble: object, moment: str) -> None:
    file = tmp_path / "arm.toml"
    file.write_text("what was there before")
    expected = KeyboardInterrupt if trouble is KeyboardInterrupt else InputError
    with mock.patch(moment, side_effect=trouble), pytest.raises(expected):
        save_model(found, file)
    assert [path.name for path in tmp_path.iterdir()] == ["arm.toml"]
    assert file.read_text() == "what was there before"
    save_model(found, file)
    assert "[identification]" in file.read_text()


def test_what_cannot_be_written_is_known_beforehand(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none" / "arm.toml", "No such file"),
        (tmp_path, "is a folder"),
        (tmp_path / "arm.yaml", "ending .toml"),
        (tmp_path / f"{'x' * 300}.toml", "too long"),
        (tmp_path / "a\0b.toml", "null"),
    ):
        with pytest.raises(InputError, match=reason):
            check_writable(path, *([".toml"] if path.suffix else []))
    kept = tmp_path / "kept.toml"
    kept.write_text("x")
    assert check_writable(kept, ".toml") == kept
    assert (kept.read_text(), os.listdir(tmp_path)) == ("x", ["kept.toml"])


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    def interrupted() -> None:
        with write_atomically(tmp_path / "a.txt") as file:
            file.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == []


def test_words_from_outside_survive(found: Identification, folder: Path) -> None:
    origin = replace(found.origin, logs=('a "b"\\c\n\t\x7f é.csv',))
    file = save_model(replace(found, origin=origin), folder / "odd.toml")
    assert tuple(read_model(file).table["logs"]) == origin.logs
    surrogate = replace(found, origin=replace(origin, logs=("\udcff",)))
    with pytest.raises(InputError, match="no character"):
        save_model(surrogate, folder / "surrogate.toml")
