"""ROS packages: where they are found, and where a description from a stranger cannot reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from ytheta.robot.reading.ros_packages import list_packages, locate_in_package

MANIFEST = "<package><name> {} </name><author>somebody</author></package>"


def make_folder(folder: Path, *, manifest: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if manifest:
        (folder / "package.xml").write_text(MANIFEST.format(manifest))
    return folder.resolve()


@pytest.fixture(autouse=True)
def without_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)


def test_folders_that_contain_the_description_are_packages_by_name(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "arm_description" / "urdf" / "left")
    found = list_packages(folder / "arm.urdf")
    assert found["arm_description"] == folder.parent.parent
    assert found["urdf"] == folder.parent
    assert found["left"] == folder


def test_the_name_in_package_xml_counts_more_than_the_name_of_a_folder(tmp_path: Path) -> None:
    """The nearer folder is only called like the package."""
    real = make_folder(tmp_path / "src" / "checkout", manifest="arm")
    only_called = make_folder(real / "urdf" / "arm")
    make_folder(real / "urdf" / "deeper")
    path = real / "urdf" / "deeper" / "arm.xacro"
    assert list_packages(path, is_xacro=True)["arm"] == real
    (real / "package.xml").unlink()
    assert list_packages(path, is_xacro=True)["arm"] == only_called


def test_packages_beside_folders_around_the_description_are_found(tmp_path: Path) -> None:
    description = make_folder(tmp_path / "src" / "group" / "robot" / "urdf")
    beside = make_folder(tmp_path / "src" / "hand_folder", manifest="hand")
    assert list_packages(description / "arm.urdf")["hand"] == beside
    assert "hand" not in list_packages(make_folder(tmp_path / "other") / "arm.urdf")


def test_only_xacro_files_reach_folders_without_package_xml(tmp_path: Path) -> None:
    """A URDF may be from a stranger: it must not name any folder of the machine."""
    path = make_folder(tmp_path / "robot") / "arm.urdf"
    beside = make_folder(tmp_path / "secrets")
    assert "secrets" not in list_packages(path)
    assert locate_in_package("package://secrets/key", list_packages(path)) is None
    assert list_packages(path, is_xacro=True)["secrets"] == beside


def test_shared_folders_around_a_description_are_not_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home folder is not a package of a description somewhere in it, but of one directly in it, as its folder."""
    home = make_folder(tmp_path / "ada")
    folder = make_folder(home / "robots" / "arm")
    assert {"ada", "robots"} <= set(list_packages(folder / "arm.urdf"))
    monkeypatch.setenv("HOME", str(home))
    assert "ada" not in list_packages(folder / "arm.urdf")
    assert "robots" in list_packages(folder / "arm.urdf")
    assert "ada" in list_packages(home / "arm.urdf")


def test_given_folders_come_first_and_those_of_ros_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    around = make_folder(tmp_path / "ws" / "hand", manifest="hand")
    path = make_folder(tmp_path / "ws" / "arm") / "arm.urdf"
    given = make_folder(tmp_path / "given" / "hand")
    ros_1 = make_folder(tmp_path / "ros" / "hand", manifest="hand")
    wheel = make_folder(tmp_path / "ros" / "wheel")
    leg = make_folder(tmp_path / "install" / "share" / "leg")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(ros_1.parent))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'gone'}:{tmp_path / 'install'}")
    assert list_packages(path, [given.parent])["hand"] == given
    assert list_packages(path, [given])["hand"] == given
    found = list_packages(path)
    assert (found["hand"], found["wheel"], found["leg"]) == (around, wheel, leg)


def test_references_do_not_leave_their_package(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "arm")
    found = list_packages(folder / "arm.urdf")
    assert locate_in_package("package://arm/meshes/a.stl", found) == folder / "meshes" / "a.stl"
    (folder / "link").symlink_to(tmp_path)
    for reference in ("package://arm/../b.stl", "package://arm/link/b.stl", "package://gone/a.stl", "arm/a.stl"):
        assert locate_in_package(reference, found) is None, reference
