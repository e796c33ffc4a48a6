"""Link parameters that are declared zero: by name or pattern, in TOML files, and when links or frames change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError, RobotFileError, UnknownNameError
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parameters import declare_zero, find_absent_parameters, select_parameters
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import to_toml

PATTERNS = ("link1.my", "link[34].m[xy]")
NAMES = {"link1.my", "link3.mx", "link3.my", "link4.mx", "link4.my"}
ARM = """
format = 1
name = "arm"
[[link]]
name = "base"
[[link]]
name = "body"
parameters = {{ m = 2.0, mx = 0.4, Ixx = 0.1, Iyy = 0.2, Izz = 0.2 }}
{0}
[[joint]]
name = "q1"
type = "revolute"
parent = "base"
child = "body"
"""


def test_names_and_patterns_declare_parameters_zero() -> None:
    robot = yt.load("ha-scara")
    declared = declare_zero(robot, PATTERNS)
    assert find_absent_parameters(declared) == NAMES
    assert not find_absent_parameters(robot)
    selected = select_parameters(declared, rotor_inertia=False)
    assert set(select_parameters(robot, rotor_inertia=False)) - set(selected) == NAMES
    np.testing.assert_array_equal(declared.theta, robot.theta)  # they are zero in this description
    other = declare_zero(robot, ["link2.my"])
    assert robot.theta[robot.parameter_names.index("link2.my")] == 0.6
    assert other.theta[robot.parameter_names.index("link2.my")] == 0.0
    assert declare_zero(declared, ["link2.mx"]).links[1].zero == ("my",)  # earlier declarations remain
    assert declare_zero(robot, None) is robot


@pytest.mark.parametrize(
    ("zero", "error", "sentence"),
    [
        (["link1.mq"], UnknownNameError, "has no parameter 'link1.mq'; did you mean"),
        (["joint1.fv"], InputError, "'joint1.fv' is not an inertial parameter of a link"),
        ("link1.my", InputError, "zero is a list of names or patterns"),
    ],
)
def test_wrong_names_are_refused(zero: list[str], error: type[Exception], sentence: str) -> None:
    for ask in (yt.base_parameters, yt.model_parameters):
        with pytest.raises(error, match=sentence.replace("[", r"\[")):
            ask(yt.load("ha-scara"), zero=zero)


def read(text: str, folder: Path) -> Robot:
    path = folder / "arm.toml"
    path.write_text(ARM.format(text))
    return yt.load(path)


def test_a_file_declares_parameters_zero_and_is_written_again(tmp_path: Path) -> None:
    robot = read('zero = ["my", "Ixy"]', tmp_path)
    assert find_absent_parameters(robot) == {"body.my", "body.Ixy"}
    path = tmp_path / "again.toml"
    path.write_text(to_toml(robot))
    assert yt.load(path) == robot
    assert not find_absent_parameters(read("", tmp_path))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('zero = ["mx"]', "declares that mx is zero, but it is 0.4"),
        ('zero = ["nx"]', "has the unknown parameter 'nx'; choose from"),
        ('zero = "my"', "'zero' should be a list of strings"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=sentence):
        read(text, tmp_path)


def test_an_extended_robot_can_declare_zeros(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('format = 1\nextends = "ha-scara"\n[[link]]\nname = "link1"\nzero = ["my"]\n')
    robot = yt.load(path)
    assert find_absent_parameters(robot) == {"link1.my"}
    np.testing.assert_array_equal(robot.theta, yt.load("ha-scara").theta)


def test_symmetry_ends_where_frame_or_body_changes() -> None:
    robot = declare_zero(yt.load("ha-scara").numeric, PATTERNS)
    turned = change_link_frames(robot, {"link3": Frame.turn((1.0, 0.0, 0.0), 0.3)})
    assert find_absent_parameters(turned) == {"link1.my", "link4.mx", "link4.my"}
    locked = yt.lock_joints(robot, {"joint4": 0.0})
    absent = find_absent_parameters(locked) & set(locked.parameter_names)
    assert absent == {"link1.my"}  # link3 carries link4 now
    tool = Joint("flange", JointKind.FIXED, "link4", "tool", placement=Frame.shift(0.1))
    held = Link("tool", Inertia.point_mass(1.0, (0.0, 0.1, 0.0)))
    carrying = Robot(
        name="carrying",
        links=(*yt.load("ha-scara").numeric.links, held),
        joints=(*yt.load("ha-scara").numeric.joints, tool),
    )
    with pytest.raises(InputError, match="link 'link4' carries links with mass on fixed joints"):
        declare_zero(carrying, ["link4.mx"])
