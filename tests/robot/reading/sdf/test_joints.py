"""Joints of SDF that become chains: ball, universal and screw joints, also reversed; their drives and limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.sdf_loops import LOOPS
from tests.support.sdf_models import MODELS, ON_WORLD, make_document, make_joint, make_link
from ytheta.errors import RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Coupling, Drive, Limits
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot

# Gravity torque and mass matrix of the ball joint at zero, printed once by Drake 1.51. Its velocity is the angular
# velocity in the joint frame on the parent, which at zero is that of the hinges x, y and z.
BALL_GRAVITY = (-1.72008423, -2.7742713, 0.07879969)
BALL_MASS_MATRIX = (
    (0.11895058, -0.00315833, -0.00710752),
    (-0.00315833, 0.12157536, -0.00070917),
    (-0.00710752, -0.00070917, 0.02247406),
)
PRINTED = 1e-8  # the last digit of these numbers


def read(text: str) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, 0.0)


def make_single(kind: str, axis: str = "", extra: str = "", *, pose: str = "0 0 -0.1 0.1 0.2 0") -> str:
    return make_document(
        make_link("base")
        + make_link("a", "0.1 0.2 0.3 0.4 0.5 0.6")
        + ON_WORLD
        + make_joint("j", "base", "a", kind=kind, axis=axis, extra=f"<pose>{pose}</pose>{extra}")
    )


def compute_at_zero(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Gravity torque and mass matrix at zero."""
    torque, zero = yt.inverse_dynamics(robot), np.zeros((3, 3))
    gravity = torque(zero, zero, zero)
    return gravity[0], torque(zero, zero, np.eye(3)) - gravity


def test_a_ball_joint_has_the_gravity_torque_and_mass_matrix_of_drake() -> None:
    robot = read(make_single("ball"))
    assert robot.coordinates == ("j.x", "j.y", "j.z")
    gravity, mass_matrix = compute_at_zero(robot)
    assert np.abs(gravity - BALL_GRAVITY).max() < PRINTED
    assert np.abs(mass_matrix - BALL_MASS_MATRIX).max() < PRINTED


def test_a_ball_joint_elsewhere_has_another_gravity_torque() -> None:
    gravity, _ = compute_at_zero(read(make_single("ball", pose="0 0 -0.1 0.1 0.2 0.1")))
    assert np.abs(gravity - BALL_GRAVITY).max() > 1e-2


def test_links_inside_of_a_joint_have_no_inertia() -> None:
    robot = read(make_single("ball"))
    assert [link.name for link in robot.links if not link.has_inertia] == ["j.x.link", "j.y.link"]


def test_each_axis_of_a_universal_joint_has_its_own_drive_and_limits() -> None:
    axis = "<xyz>1 0 0</xyz><limit><lower>-1</lower><upper>2</upper></limit><dynamics><damping>3</damping></dynamics>"
    robot = read(make_single("universal", axis, "<axis2><xyz>0 1 0</xyz><limit><effort>7</effort></limit></axis2>"))
    assert robot.joint("j.1").limits == Limits(lower=-1.0, upper=2.0)
    assert robot.joint("j.2").limits == Limits(effort=7.0)
    assert (robot.joint("j.1").drive, robot.joint("j.2").drive) == (Drive(viscous=3.0), Drive())


def test_continuous_joints_have_no_limits_of_position() -> None:
    axis = "<limit><lower>-1</lower><upper>2</upper><velocity>3</velocity></limit>"
    assert read(make_single("continuous", axis)).joint("j").limits == Limits(velocity=3.0)


def test_a_screw_travels_its_pitch_in_one_turn() -> None:
    robot = read(make_single("screw", extra="<screw_thread_pitch>0.5</screw_thread_pitch>"))
    assert robot.couplings == (Coupling("j.slide", (("j", 0.5 / (2 * np.pi)),)),)
    start = link_poses(robot, np.zeros(2))["a"]
    end = link_poses(robot, np.array([2 * np.pi, 0.5]))["a"]
    assert np.allclose(end[:3, :3], start[:3, :3], atol=1e-14)
    assert np.isclose(np.linalg.norm(end[:3, 3] - start[:3, 3]), 0.5)


def test_a_screw_without_a_pitch_travels_a_metre_and_a_zero_pitch_is_refused() -> None:
    assert read(make_single("screw")).couplings[0].terms == (("j", 1 / (2 * np.pi)),)
    with pytest.raises(RobotFileError, match="<thread_pitch> is zero"):
        read(make_single("screw", extra="<thread_pitch>0</thread_pitch>"))


def test_a_chain_that_points_to_the_base_is_reversed() -> None:
    text = MODELS["universal"].replace('<link name="base">', '<link name="base"><pose>0 0.1 0 0 0.2 0</pose>')
    forward, backward = read(text), read(text.replace(ON_WORLD, ON_WORLD.replace("base", "a")))
    assert [joint.name for joint in forward.movable] == ["j1.1", "j1.2"]
    assert [joint.name for joint in backward.movable] == ["j1.2", "j1.1"]
    front, back = link_poses(forward, np.array([0.4, 0.7])), link_poses(backward, np.array([0.7, 0.4]))
    expected = np.linalg.inv(front["base"]) @ front["a"]
    assert np.allclose(np.linalg.inv(back["base"]) @ back["a"], expected, atol=1e-14)
    wrong = link_poses(backward, np.array([0.4, 0.7]))
    assert not np.allclose(np.linalg.inv(wrong["base"]) @ wrong["a"], expected, atol=1e-3)


def test_drives_of_ball_joints_are_reported() -> None:
    robot = read(make_single("ball", "<dynamics><damping>1</damping></dynamics>"))
    assert any("damping and friction of ball joints are ignored: j" in finding.text for finding in robot.findings)


def test_a_screw_cannot_close_a_loop() -> None:
    with pytest.raises(RobotFileError, match="a screw joint cannot close a loop here"):
        read(LOOPS["revolute"].replace('name="je" type="revolute"', 'name="je" type="screw"'))


def test_springs_of_joints_become_forces() -> None:
    force = read(MODELS["springs"]).forces[0]
    assert (force.name, force.torque, force.value) == ("j1_spring", (("j1", "j1 - 0.1"),), 40.0)


def test_a_planar_joint_of_drake_connects_the_frames_that_it_names() -> None:
    """Drake ignores where the file places the two links."""
    near, far = (read(MODELS["planar"].replace("0.1 0.2 0.3 0.4 0.5 0.6", pose)) for pose in ("", "1 2 3 0 0 0"))
    assert [joint.name for joint in near.movable] == ["j1.x", "j1.y", "j1.turn", "j2"]
    assert near.joint("j1.x").placement == far.joint("j1.x").placement
    frame = '<frame name="f" attached_to="base"><pose>0 0 0.5 0 0 0</pose></frame><drake:joint'
    text = MODELS["planar"].replace("<drake:joint", frame).replace("<drake:parent>base", "<drake:parent>f")
    assert read(text).joint("j1.x").placement.translation == (0.0, 0.0, 0.5)


def test_other_joints_of_drake_are_refused() -> None:
    with pytest.raises(RobotFileError, match="the joint type 'drake:ball' is unknown"):
        read(MODELS["planar"].replace('type="planar"', 'type="ball"'))
