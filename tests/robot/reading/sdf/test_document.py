"""Included models: their files, names and poses, and includes that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.sdf_models import HAND, make_document, make_joint, make_link
from ytheta.errors import RobotFileError
from ytheta.robot.reading.ros_packages import list_packages
from ytheta.robot.reading.sdf import document as uris
from ytheta.robot.robot import Robot


def make_including(uri: str, extra: str = "") -> str:
    return make_document(
        make_link("base") + f"<include><uri>{uri}</uri>{extra}</include>" + make_joint("j", "base", "hand::palm")
    )


def load(folder: Path, text: str, *, package_paths: tuple[Path, ...] = (), allow_paths: tuple[Path, ...] = ()) -> Robot:
    path = folder / "robot.sdf"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return yt.load(path, package_paths=package_paths, allow_paths=allow_paths)


def write_hand(folder: Path, name: str = "model.sdf") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(HAND)


@pytest.mark.parametrize("uri", ["hand", "hand/model.sdf", "model://hand", "model://hand/model.sdf", "file://hand"])
def test_an_included_model_is_found(uri: str, tmp_path: Path) -> None:
    write_hand(tmp_path / "hand")
    robot = load(tmp_path, make_including(uri))
    assert [joint.name for joint in robot.movable] == ["j", "hand::slide"]


def test_a_model_is_found_in_models_and_in_package_paths(tmp_path: Path) -> None:
    write_hand(tmp_path / "a" / "models" / "hand")
    write_hand(tmp_path / "elsewhere" / "hand")
    assert load(tmp_path / "a", make_including("model://hand")).movable
    assert load(tmp_path / "b", make_including("model://hand"), package_paths=(tmp_path / "elsewhere",)).movable
    with pytest.raises(RobotFileError, match=r"the model 'model://hand' was not found in .*--package-path"):
        load(tmp_path / "b", make_including("model://hand"))


def test_packages_are_listed_once_for_all_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot can refer to hundreds of meshes, and a workspace can have hundreds of packages."""
    calls: list[Path] = []

    def count(path: Path, package_paths: Sequence[Path] = ()) -> dict[str, Path]:
        calls.append(path)
        return list_packages(path, package_paths)

    monkeypatch.setattr(uris, "list_packages", count)
    write_hand(tmp_path / "hand")
    again = "<include><uri>model://hand</uri><name>other</name></include>" + make_joint("k", "base", "other::palm")
    robot = load(tmp_path, make_including("model://hand").replace("<include>", again + "<include>", 1))
    assert {"hand::palm", "other::palm"} <= {link.name for link in robot.links}
    assert len(calls) == 1


def test_model_config_names_the_newest_file(tmp_path: Path) -> None:
    write_hand(tmp_path / "hand", "new.sdf")
    (tmp_path / "hand" / "model.config").write_text(
        '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.10">new.sdf</sdf>'
        '<sdf version="1.9">mid.sdf</sdf></model>'
    )
    assert load(tmp_path, make_including("model://hand")).movable


def test_pose_name_and_static_of_an_include_replace_those_of_the_model(tmp_path: Path) -> None:
    write_hand(tmp_path / "hand")
    text = '<sdf version="1.9"><world name="w"><include><uri>hand</uri>{}</include></world></sdf>'
    plain = load(tmp_path, text.format(""))
    moved = load(tmp_path, text.format("<name>gripper</name><pose>1 2 3 0 0 0</pose>"))
    assert (plain.name, dict(plain.home)["base_x"]) == ("hand", 9.1)
    assert (moved.name, dict(moved.home)["base_x"]) == ("gripper", 1.1)
    assert not load(tmp_path, text.format("<static>1</static>")).floating


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("../secret.sdf", "leaves the robot's folder and is not opened"),
        ("/etc/passwd", "leaves the robot's folder and is not opened"),
        ("model://../secret", "was not found"),
        ("model://hand/../../secret.sdf", "was not found"),
        ("https://example.com/hand", "is not downloaded"),
        ("nothing.sdf", "does not exist"),
        ("", "<uri> is missing or empty"),
        ("robot.sdf", "the file 'robot.sdf' includes itself"),
        ("arm.urdf", "is a URDF"),
        ("arm.xml", "starts with <mujoco>"),
        ("two.sdf", "has 2 models"),
        ("a" * 300, "cannot be read"),
    ],
)
def test_includes_that_are_refused(uri: str, reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "robot"
    write_hand(folder / "hand")
    (tmp_path / "secret.sdf").write_text(HAND)
    (folder / "arm.urdf").write_text("<robot/>")
    (folder / "arm.xml").write_text("<mujoco/>")
    (folder / "two.sdf").write_text(HAND.replace("</sdf>", '<model name="x"/></sdf>'))
    with pytest.raises(RobotFileError, match=reason):
        load(folder, make_including(uri))


@pytest.mark.parametrize("uri", ["model://sun", "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun"])
def test_scenery_of_a_world_may_be_missing(uri: str, tmp_path: Path) -> None:
    include = f"<include><uri>{uri}</uri></include>"
    arm = make_document(make_link("base") + make_link("a") + make_joint("j", "base", "a"))
    world = arm.replace("<model", f'<world name="w">{include}<model', 1).replace("</sdf>", "</world></sdf>")
    robot = load(tmp_path, world)
    assert [joint.name for joint in robot.movable] == ["j"]
    (finding,) = [finding for finding in robot.findings if finding.names == (uri,)]
    assert finding.is_warning
    assert finding.text == f"models that the world includes were not found and are left out: {uri}"
    assert robot.joints == load(tmp_path, world.replace(include, "")).joints
    # Without anything else that moves, the robot itself is missing.
    still = world.replace('type="revolute"', 'type="fixed"')
    with pytest.raises(RobotFileError, match="--package-path"):
        load(tmp_path, still)


def test_a_folder_that_is_allowed_may_be_included_from(tmp_path: Path) -> None:
    write_hand(tmp_path / "shared")
    text = make_including("../shared/model.sdf")
    assert load(tmp_path / "robot", text, allow_paths=(tmp_path / "shared",)).movable
    (tmp_path / "robot" / "link").symlink_to(tmp_path / "shared")
    with pytest.raises(RobotFileError, match="leaves the robot's folder"):
        load(tmp_path / "robot", make_including("link/model.sdf"))


@pytest.mark.parametrize("name", ["model.sdf", "model.config"])
def test_a_file_of_a_model_that_is_a_link_to_another_folder_is_not_opened(name: str, tmp_path: Path) -> None:
    write_hand(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "model.config").write_text('<model><sdf version="1.9">model.sdf</sdf></model>')
    hand = tmp_path / "robot" / "hand"
    hand.mkdir(parents=True)
    (hand / name).symlink_to(tmp_path / "elsewhere" / name)
    with pytest.raises(RobotFileError, match=rf"{name} of the model 'model://hand' is a link to a file outside"):
        load(tmp_path / "robot", make_including("model://hand"))
    text = make_including("model://hand")
    assert load(tmp_path / "robot", text, allow_paths=(tmp_path / "elsewhere",)).movable
    (hand / name).unlink()
    write_hand(hand, "own.sdf")
    (hand / "model.sdf").symlink_to("own.sdf")  # a link inside of the folder is opened
    assert load(tmp_path / "robot", text).movable


def test_a_folder_without_a_model_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "hand").mkdir()
    reason = "robot.sdf, line .*, <uri>: the folder of the model 'model://hand' has neither model.config nor model.sdf"
    with pytest.raises(RobotFileError, match=reason):
        load(tmp_path, make_including("model://hand"))


def test_joints_with_the_name_of_a_link_are_renamed_in_old_versions(tmp_path: Path) -> None:
    """As libsdformat does; since version 1.7, such names are errors."""
    body = make_link("base") + make_link("hand") + make_link("hand_joint") + make_joint("hand", "base", "hand")
    body += make_joint("other", "hand", "hand_joint")
    robot = load(tmp_path, make_document(body, "1.6"))
    assert [joint.name for joint in robot.movable] == ["hand_joint0", "other"]
    assert any("hand to hand_joint0" in finding.statement for finding in robot.findings)
    with pytest.raises(RobotFileError, match="the name 'hand' is used twice"):
        load(tmp_path, make_document(body, "1.7"))


def test_includes_in_a_circle_and_includes_that_multiply_are_refused(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{name}.sdf").write_text(make_including(f"{other}.sdf"))
    with pytest.raises(RobotFileError, match=r"the file 'a.sdf' includes itself"):
        load(tmp_path, make_including("a.sdf"))
    for k in range(12):
        includes = "".join(f"<include><uri>m{k + 1}.sdf</uri><name>x{i}</name></include>" for i in range(10))
        (tmp_path / f"m{k}.sdf").write_text(make_document(make_link("x") + includes))
    (tmp_path / "m12.sdf").write_text(HAND)
    with pytest.raises(RobotFileError, match="more than 2000 models are included; leave some models out"):
        load(tmp_path, make_including("m0.sdf"))


def test_nested_models_are_bounded(tmp_path: Path) -> None:
    text = make_document('<model name="m">' * 40 + make_link("x") + "</model>" * 40)
    with pytest.raises(RobotFileError, match="more than 30 models are nested"):
        load(tmp_path, text)
