"""Names of robot_descriptions: found on disk, never downloaded, never imported."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from ytheta.errors import MissingExtraError, RobotFileError
from ytheta.robot.reading.description_package import find_description
from ytheta.robot.reading.load import load

URDF = '<robot name="{}"><link name="base"/></robot>'


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path))
    return tmp_path


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_paths_are_those_of_the_module(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The modules themselves say where their files are, if their function that clones is replaced."""
    clones = importlib.import_module("robot_descriptions._cache")
    monkeypatch.setattr(clones, "clone_to_cache", lambda name, commit=None: str(cache / "x"))  # noqa: ARG005
    for name in (
        "panda_description",
        "fr3_description",
        "panda_mj_description",
        "ur10e_description",
        "talos_description",
    ):
        module = importlib.import_module(f"robot_descriptions.{name}")
        monkeypatch.delitem(sys.modules, f"robot_descriptions.{name}")
        expected = next(
            getattr(module, key) for key in ("URDF_PATH", "XACRO_PATH", "MJCF_PATH") if hasattr(module, key)
        )
        path = put(Path(expected), "") if not Path(expected).exists() else Path(expected)
        found = find_description(name)
        assert found.path == path
        assert found.xacro_args == getattr(module, "XACRO_ARGS", {})
        path.unlink()


def test_a_description_on_disk_is_loaded(cache: Path) -> None:
    modules = set(sys.modules)
    put(
        cache / "mujoco_menagerie" / "franka_emika_panda" / "panda.xml",
        "<mujoco><worldbody><body/></worldbody></mujoco>",
    )
    assert len(load("rd:panda_mj_description").links) == 2
    assert "robot_descriptions.panda_mj_description" not in set(sys.modules) - modules


def test_a_description_that_is_not_on_disk_is_not_downloaded(cache: Path) -> None:
    with pytest.raises(RobotFileError, match=r"is not on disk .*python -m robot_descriptions pull fr3_description$"):
        load("rd:fr3_description")
    assert not list(cache.iterdir())


def test_unknown_names_are_errors() -> None:
    with pytest.raises(RobotFileError, match=r"rd: lacks the name of a description; .*rd:fr3_description$"):
        load("rd:")
    with pytest.raises(RobotFileError, match=r"no description 'fr3_descripton'; did you mean 'fr3_description'"):
        load("rd:fr3_descripton")


def test_without_the_package_the_message_contains_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(MissingExtraError, match="pip install robot_descriptions"):
        load("rd:fr3_description")
