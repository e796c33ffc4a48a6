"""The MJCF reader against MuJoCo, for models in installed packages."""

from __future__ import annotations

import importlib.util
import shutil
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


PACKAGES = {"gymnasium": "envs/mujoco/assets", "gymnasium_robotics": "envs"}


# One model of each kind: MuJoCo compiles them all the same way, so that more of them would test MuJoCo.
MODELS = [
    *(
        ("gymnasium", f"{name}.xml")
        for name in ("ant", "half_cheetah", "humanoid", "inverted_double_pendulum", "pusher", "reacher", "swimmer")
    ),
    ("gymnasium_robotics", "assets/adroit_hand/adroit_door.xml"),
    ("gymnasium_robotics", "assets/adroit_hand/adroit_pen.xml"),
    ("gymnasium_robotics", "assets/fetch/pick_and_place.xml"),
    ("gymnasium_robotics", "assets/hand/manipulate_egg_touch_sensors.xml"),
    ("gymnasium_robotics", "multiagent_mujoco/assets/coupled_half_cheetah.xml"),
]
KITCHEN = "assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml"


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


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("copies")


@pytest.mark.parametrize(("package", "file"), MODELS)
def test_installed_model_equals_that_of_mujoco(package: str, file: str, copies: Path) -> None:
    robot, model = read_pair(package, file, copies)
    assert pose_error(robot, model) < TOLERANCE
    assert joint_error(robot, model) < TOLERANCE
    assert inertia_error(robot, model) < TOLERANCE
    moving = [k for k, name in enumerate(body_names(model)) if moves(robot, name)]
    total = sum(robot.link(body_names(model)[k]).inertia.mass for k in moving)
    assert total == pytest.approx(model.body_mass[moving].sum(), rel=1e-12, abs=0.0)
    assert robot.gravity == pytest.approx(tuple(model.opt.gravity))


def test_inertias_of_meshes_in_another_folder() -> None:
    """The kitchen of gymnasium_robotics has meshes in a sibling folder, which must be allowed."""
    path = find_package_folder("gymnasium_robotics") / PACKAGES["gymnasium_robotics"] / KITCHEN
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
