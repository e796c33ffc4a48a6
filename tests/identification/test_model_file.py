"""Model files: they keep all digits, are never incomplete, and every command accepts them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm, true_arm, write_log
from tests.support.command import refused, ytheta
from ytheta.errors import InputError, RobotFileError
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.selection import FRICTION
from ytheta.identification.identify import identify
from ytheta.identification.model_file import (
    model_to_toml,
    read_identification_table,
    read_model,
    read_states,
    save_model,
)
from ytheta.identification.model_table import MAX_STATES
from ytheta.identification.result import Identification
from ytheta.logs.reading.read import read_log


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model")


@pytest.fixture(scope="module")
def identification(folder: Path) -> Identification:
    return identified_arm(folder)[0]


@pytest.fixture(scope="module")
def model(folder: Path, identification: Identification) -> Path:
    return save_model(identification, folder / "arm.model.toml")


def test_a_model_is_read_as_it_was_written(identification: Identification, model: Path) -> None:
    read = read_model(model)
    assert np.array_equal(read.robot.theta, identification.theta)
    assert replace(read.robot, findings=()) == replace(identification.robot, findings=())
    assert read.names == identification.names
    assert np.array_equal(read.beta, identification.beta)
    assert np.array_equal(read.covariance, identification.covariance)
    assert read.table["verdict"] == identification.verdict.grade.value
    assert read.table["consistent"] == (not identification.inconsistent)
    assert read.table["friction"] == list(FRICTION)
    assert repr(read) == f"Model({len(read.names)} base parameters of 'lu-two-link', verdict {read.table['verdict']})"
    with pytest.raises(ValueError, match="read-only"):
        read.beta[0] = 1.0
    assert read.table["rotor_inertia"] is True
    assert read.table["cutoff"] == identification.origin.settings[0].cutoff
    assert identification.validation is not None
    assert read.table["validation"]["relative_error_percent"] == identification.validation.relative_percent
    assert read.table["standard_parameters"]["link1.m"] == "no effect"
    assert [row["std"] for row in read.table["parameters"]] == identification.std.tolist()


def test_a_model_has_states_of_its_motion(identification: Identification, model: Path) -> None:
    """Evenly selected, of the range of the motion, and used as in the errors; files without them are read as well."""
    read = read_model(model)
    states, motion_range = read_states(read.table, read.robot), identification.fit.motion_range
    assert states is not None
    assert 100 < len(states.q) <= MAX_STATES
    spans = motion_range.upper - motion_range.lower
    assert (states.q >= motion_range.lower - 1e-4 * spans).all()
    assert (np.ptp(states.q, axis=0) > 0.8 * spans).all()
    for values, largest in ((states.qd, motion_range.speed), (states.qdd, motion_range.acceleration)):
        assert (abs(values).max(axis=0) <= 1.0001 * largest).all()
        assert (abs(values).max(axis=0) > 0.5 * largest).all()
    assert abs(states.used.mean(axis=0) - identification.fit.used_share).max() < 0.1
    older = {key: value for key, value in read.table.items() if key != "motion"}
    assert read_states(older, read.robot) is None


def test_the_robot_has_the_base_parameters(identification: Identification, model: Path) -> None:
    again = base_parameters(yt.load(model), rotor_inertia=True, friction=FRICTION)
    assert again.names == identification.names
    size = abs(identification.beta).max()
    np.testing.assert_allclose(again.beta, again.K @ identification.theta, rtol=0.0, atol=1e-12 * size)
    # Bodies are as near to the estimate as the noise of the log allows.
    assert (abs(again.beta - identification.beta) < identification.std).all()
    as_described = base_parameters(yt.load("lu-two-link"), rotor_inertia=True, friction=FRICTION)
    assert abs(as_described.beta - identification.beta).max() > 0.1  # the twin: the description differs


def test_every_command_accepts_a_model(model: Path) -> None:
    for command in ("inspect", "base"):
        result = ytheta(command, str(model))
        assert result.returncode == 0, result.stderr
        assert "lu-two-link" in result.stdout


def test_inconsistent_inertias_give_a_note_and_no_error(identification: Identification, folder: Path) -> None:
    theta = identification.theta.copy()
    theta[0] = -1.0
    inconsistent = replace(identification)
    object.__setattr__(inconsistent, "theta", theta)  # a cached property of a frozen class
    file = save_model(inconsistent, folder / "inconsistent.toml")
    robot = yt.load(file)
    assert robot.link("link1").inertia.mass == -1.0
    (note,) = [note for note in robot.findings if note.code == "identified"]  # one, for any number of links
    assert "physically inconsistent inertias" in note.statement
    assert "of 4 links" in note.statement
    assert note.remedy.startswith("its torques are valid")
    assert not note.is_warning
    assert read_model(file).table["consistent"] is False
    described = folder / "described.toml"
    described.write_text(file.read_text().partition("[identification]")[0])
    with pytest.raises(RobotFileError, match="negative"):
        yt.load(described)


def test_deviations_marks_and_choices_are_read_back(identification: Identification, model: Path) -> None:
    table = read_model(model).table
    assert [row["mark"] for row in table["parameters"]] == [mark.value for mark in identification.marks]
    rows = {row["name"]: row for row in table["standard"]}
    theta = dict(zip(identification.robot.parameter_names, identification.theta.tolist(), strict=True))
    assert {name: row["value"] for name, row in rows.items()} == {name: theta[name] for name in rows}
    assert {name: row["mark"] for name, row in rows.items()} == {
        name: mark.value for name, mark in identification.standard_marks.items()
    }
    assert identification.standard is not None
    assert [row["prior_std"] for row in rows.values()] == identification.standard.prior_std.tolist()
    assert table["choice"]["considered"] == ["root friction", "load friction"]  # rotor inertias were asked for
    assert [each["change"] for each in table["choice"]["alternatives"]] == ["with root friction", "with load friction"]
    assert table["prior"]["center"] == "description"
    cost = identification.consistency_cost
    assert cost is not None
    assert table["consistency"]["bodies_percent"] == cost.bodies_percent
    assert table["consistency"]["lacking_links"] == []


def test_models_of_older_versions_are_read(model: Path, folder: Path) -> None:
    """They have no marks, no choice, no prior and no consistency; as a prior they do as well."""
    text = re.sub(r'"?(?:prior_std|mark)"? = [^,}]+, ', "", model.read_text())
    text = re.sub(r"^# Standard parameters of the bodies.*?^\]\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\[identification\.(?:choice|prior|consistency)\]\n(?:.+\n)*", "", text, flags=re.MULTILINE)
    old = folder / "old.toml"
    old.write_text(text)
    table = read_model(old).table
    assert not {"standard", "choice", "prior", "consistency"} & set(table)
    assert set(table["parameters"][0]) == {"name", "value", "std", "seen", "expression"}
    again = identify(yt.load("lu-two-link"), folder / "a.npz", prior=old)
    assert again.origin.prior.value == "earlier model"
    assert again.names == read_model(model).names


def test_friction_laws_are_kept(folder: Path) -> None:
    robot = yt.load("lu-two-link")
    fit = identify(robot, folder / "a.npz", friction=("viscous", "coulomb", "root", "load"), rotor_inertia=False)
    file = save_model(fit, folder / "laws.toml")
    read = read_model(file)
    assert read.table["friction"] == ["viscous", "coulomb", "root", "load"]
    assert read.table["rotor_inertia"] is False
    assert {"joint1.fs", "joint2.fl"} <= set(read.names)
    assert [drive.root is None for _, drive in read.robot.drives] == [False, False]
    assert yt.predict(file, folder / "b.npz").errors is not None
    again = identify(robot, folder / "b.npz", prior=file)
    assert {"joint1.fs", "joint2.fl"} <= set(again.names)
    assert not any(name.endswith((".fo", ".Ia")) for name in again.names)


def test_std_of_parameters_that_are_not_seen_is_infinite(folder: Path) -> None:
    robot = yt.load("lu-two-link")
    log = read_log(write_log(folder / "still.npz", true_arm(folder), still=True), robot)
    unseen = identify(robot, log)
    table = tomllib.loads(model_to_toml(unseen))["identification"]
    assert table["verdict"] == "not exciting"
    assert table["condition_number"] == np.inf
    assert {row["name"] for row in table["parameters"] if row["std"] == np.inf} >= {"joint2.fv", "joint2.fc"}
    assert "validation" not in table


def test_other_files_are_not_models(folder: Path, model: Path) -> None:
    robot = yt.save_robot(yt.load("lu-two-link"), folder / "plain.toml")
    assert read_identification_table(robot) is None
    assert read_identification_table("panda") is None
    with pytest.raises(InputError, match="is not an identified model"):
        read_model(robot)
    damaged = folder / "damaged.toml"
    damaged.write_text(model.read_text().replace("covariance = [", "covariance = [[1.0],"))
    with pytest.raises(InputError, match="damaged"):
        read_model(damaged)
    wrong = folder / "wrong.toml"
    wrong.write_text(robot.read_text() + "\nidentity = 1\n")
    assert "unknown" in refused("inspect", str(wrong))


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("moment", ["pathlib.Path.write_bytes", "os.fsync", "os.replace"])
def test_a_model_is_never_written_in_part(
    identification: Identification, tmp_path: Path, failure: object, moment: str
) -> None:
    file = tmp_path / "arm.toml"
    file.write_text("old content")
    expected = KeyboardInterrupt if failure is KeyboardInterrupt else InputError
    with mock.patch(moment, side_effect=failure), pytest.raises(expected):
        save_model(identification, file)
    assert [path.name for path in tmp_path.iterdir()] == ["arm.toml"]
    assert file.read_text() == "old content"
    save_model(identification, file)
    assert "[identification]" in file.read_text()


def test_unusual_characters_are_preserved(identification: Identification, folder: Path) -> None:
    origin = replace(identification.origin, logs=('a "b"\\c\n\t\x7f é.csv',))
    file = save_model(replace(identification, origin=origin), folder / "odd.toml")
    assert tuple(read_model(file).table["logs"]) == origin.logs
    surrogate = replace(identification, origin=replace(origin, logs=("\udcff",)))
    with pytest.raises(InputError, match="not a valid character"):
        save_model(surrogate, folder / "surrogate.toml")
