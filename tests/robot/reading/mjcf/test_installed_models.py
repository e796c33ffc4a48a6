"""The MJCF reader against MuJoCo, for all models in installed packages."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import (
    TOLERANCE,
    body_names,
    inertia_error,
    joint_error,
    moves,
    pose_error,
    read,
)
from ytheta.errors import RobotFileError
from ytheta.robot.frame import Frame, to_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot


def find_package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


PACKAGES = {
    "gymnasium": "envs/mujoco/assets",
    "gymnasium_robotics": "envs",
    "mujoco": "testdata",
}


# Files that others include. MuJoCo does not read them alone, or they have no bodies.
FRAGMENTS = (
    *("adroit_assets", "adroit_model", "shared", "shared_asset", "shared_touch_sensors_92", "robot", "chain"),
    *("robot_touch_sensors_92", "actuator", "assets", "franka_config", "basic_scene", "msh"),
)


# Models that are compared elsewhere: their meshes are outside of the copies, or they have ball joints.
OTHERS = ("kitchen_env_model", "model")


def list_installed_models() -> Iterator[tuple[str, str]]:
    for package, folder in PACKAGES.items():
        for path in sorted((find_package_folder(package) / folder).rglob("*.xml")):
            if path.stem not in FRAGMENTS and "item_assets" not in path.parts:
                yield package, str(path.relative_to(find_package_folder(package) / folder))


@cache
def copy_models(package: str, target: Path) -> Path:
    """Copy the XML files of a package into a folder with a package.xml, since their meshes are in sibling folders."""
    folder = target / package
    source = find_package_folder(package) / PACKAGES[package]

    def list_other_files(parent: str, names: list[str]) -> list[str]:
        return [name for name in names if not name.endswith(".xml") and not (Path(parent) / name).is_dir()]

    shutil.copytree(source, folder, ignore=list_other_files)
    (folder / "package.xml").write_text("<package/>")
    return folder


@cache
def read_pair(package: str, file: str, target: Path) -> tuple[Robot, mujoco.MjModel]:
    model = mujoco.MjModel.from_xml_path(str(find_package_folder(package) / PACKAGES[package] / file))
    return read(copy_models(package, target) / file, fix_base=True), model


SUPPORTED = [entry for entry in list_installed_models() if Path(entry[1]).stem not in OTHERS]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


def test_the_list_of_models_is_not_empty() -> None:
    assert len(SUPPORTED) >= 40


@pytest.mark.parametrize(("package", "file"), SUPPORTED)
def test_installed_model_has_the_poses_of_mujoco(package: str, file: str, copies: Path) -> None:
    assert pose_error(*read_pair(package, file, copies)) < TOLERANCE


@pytest.mark.parametrize(("package", "file"), SUPPORTED)
def test_installed_model_has_the_inertias_of_mujoco(package: str, file: str, copies: Path) -> None:
    robot, model = read_pair(package, file, copies)
    assert inertia_error(robot, model) < TOLERANCE
    moving = [k for k, name in enumerate(body_names(model)) if moves(robot, name)]
    total = sum(robot.link(body_names(model)[k]).inertia.mass for k in moving)
    assert total == pytest.approx(model.body_mass[moving].sum(), rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("package", "file"), SUPPORTED)
def test_installed_model_has_the_joints_of_mujoco(package: str, file: str, copies: Path) -> None:
    robot, model = read_pair(package, file, copies)
    assert joint_error(robot, model) < TOLERANCE
    assert robot.gravity == pytest.approx(tuple(model.opt.gravity))


def test_inertias_of_meshes_in_another_folder() -> None:
    """The kitchen of gymnasium_robotics has meshes in a sibling folder, which must be allowed."""
    path = next(
        find_package_folder(package) / PACKAGES[package] / file
        for package, file in list_installed_models()
        if Path(file).stem == "kitchen_env_model"
    )
    with pytest.raises(RobotFileError, match="leaves the robot's folder and is not opened; allow its folder with"):
        load(path, snap=0.0, fix_base=True)
    robot = load(path, snap=0.0, fix_base=True, allow_paths=[find_package_folder("gymnasium_robotics")])
    model = mujoco.MjModel.from_xml_path(str(path))
    assert inertia_error(robot, model) < TOLERANCE
    assert pose_error(robot, model) < TOLERANCE


def test_assets_outside_of_the_folder_are_not_opened() -> None:
    assert read(find_package_folder("gymnasium_robotics") / "envs/assets/fetch/reach.xml", fix_base=True).movable


def test_a_slightly_wrong_inertia_is_detected(copies: Path) -> None:
    robot, model = read_pair("gymnasium", "half_cheetah.xml", copies)
    link = robot.links[3]
    tensor = np.array(link.inertia.tensor_about_center)
    tensor[0, 0] *= 1.0 + 1e-6
    wrong = Inertia.about_center(link.inertia.mass, link.inertia.center, to_rows(tensor))
    assert inertia_error(robot.with_inertias({link.name: wrong}), model) > 100 * TOLERANCE


def test_a_slightly_wrong_anchor_is_detected(copies: Path) -> None:
    robot, model = read_pair("gymnasium", "humanoid.xml", copies)

    def shift_seat(joint: Joint) -> Joint:
        return replace(joint, seat=Frame.shift(1e-6) @ joint.seat) if joint is robot.movable[4] else joint

    wrong = replace(robot, joints=tuple(shift_seat(joint) for joint in robot.joints))
    assert pose_error(wrong, model) > 100 * TOLERANCE
