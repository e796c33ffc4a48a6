"""What may be exported: models that should not be used and numbers that are unknown are refused with the reason."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm
from ytheta.errors import InputError
from ytheta.exporting.source import find_source
from ytheta.identification.model_file import read_model, save_model
from ytheta.identification.result import Identification


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("source")


@pytest.fixture(scope="module")
def identification(folder: Path) -> Identification:
    return identified_arm(folder)[0]


@pytest.fixture(scope="module")
def model(folder: Path, identification: Identification) -> Path:
    return save_model(identification, folder / "arm.model.toml")


def test_a_robot_is_its_description() -> None:
    robot = yt.load("ur10")
    for given in ("ur10", robot):
        source = find_source(given)
        assert source.robot == robot
        assert source.table is None
        assert source.description is None
        assert source.origin == "description"


def test_a_file_is_the_description_of_its_robot(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    yt.save_robot(yt.load("ur10"), path)
    assert find_source(path).description == path
    other = tmp_path / "arm.urdf"
    assert find_source(path, description=other).description == other


def test_a_model_has_its_table(model: Path, identification: Identification) -> None:
    sources = [find_source(each, force=True) for each in (model, read_model(model), identification)]
    for source in sources:
        np.testing.assert_array_equal(source.robot.theta, identification.robot.numeric.theta)
        assert source.table == sources[0].table
        assert source.description is None
        assert source.origin.startswith("identified from ")
        assert source.origin.endswith(f"verdict {identification.verdict.grade.value}")


def test_exported_code_says_where_it_comes_from(model: Path, tmp_path: Path) -> None:
    yt.export(model, to="c", path=tmp_path / "arm", options=yt.COptions(name="arm", functions=("gravity",)), force=True)
    assert "Source: identified from a.npz" in (tmp_path / "arm" / "arm.h").read_text()


def test_an_inconsistent_robot_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'puma560' is not physically consistent .*'link1': inertia.*use force=True to export"
    ):
        find_source("puma560")
    assert find_source("puma560", force=True).robot.name == "puma560"


@pytest.mark.parametrize("grade", ["poor", "doubtful", "not exciting", "invented"])
def test_a_model_that_should_not_be_used_is_refused(grade: str, model: Path) -> None:
    read = read_model(model)
    doubtful = replace(read, table={**read.table, "verdict": grade, "reason": "Because."})
    with pytest.raises(
        InputError, match=f"the verdict of the model of 'lu-two-link' is '{grade}' \\(Because\\); improve"
    ):
        find_source(doubtful)
    assert find_source(doubtful, force=True).robot == read.robot.numeric
    good = replace(read, table={**read.table, "verdict": "good"})
    assert find_source(good, force=bool(identification_is_inconsistent(good))).table == good.table


def identification_is_inconsistent(model: yt.Model) -> bool:
    return not all(model.robot.consistency.values())


def test_unknown_numbers_are_refused_even_with_force() -> None:
    robot = replace(yt.load("ha-scara"), lengths=(("a1", None), ("a2", 0.3)))
    with pytest.raises(InputError, match="'a1' of 'ha-scara' has no value"):
        find_source(robot, force=True)
    with pytest.raises(InputError, match="identified with unknown geometry"):
        find_source(replace(yt.load("ha-scara"), inertias_unknown=True), force=True)


@pytest.mark.parametrize(("version", "message"), [("99.0.0", "update ytheta"), ("new", "not a version")])
def test_a_file_of_a_newer_version_is_refused(version: str, message: str, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    text = model.read_text(encoding="utf-8")
    mark = f'ytheta = "{yt.__version__}"'
    assert text.count(mark) == 1
    path.write_text(text.replace(mark, f'ytheta = "{version}"'), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        find_source(path, force=True)
    path.write_text(text.replace(mark, 'ytheta = "0.0.9"'), encoding="utf-8")
    assert find_source(path, force=True).table is not None


def test_a_damaged_file_is_refused(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(model.read_text(encoding="utf-8").replace("covariance = [", "variance = [", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"the key .covariance. of its identification is missing or damaged"):
        find_source(path)


def test_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="a value of type int cannot be exported"):
        inspect.unwrap(find_source)(3)
    with pytest.raises(InputError, match="no robot 'ur11'"):
        find_source("ur11")
