"""Robots with a floating base: conversion, files, and functions that are made for a fixed base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import ytheta
from tests.support.example_robots import urdf
from tests.support.mjcf_models import GEOM, read_text, world_text
from ytheta.conventions import BASE_COORDINATES, LINK_PARAMETERS
from ytheta.errors import InputError, RobotError
from ytheta.robot.floating import (
    compute_coordinate_rates,
    compute_twist,
    fix_base,
    float_base,
    quaternions_from_rotation_vectors,
    rotation_matrices,
    rotation_vector_from_matrix,
    rotation_vectors_from_quaternions,
    to_base_axes,
    to_world_axes,
    unwrap_rotation_vectors,
)
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Drive, Joint, JointKind, Limits, Link, Loop
from ytheta.robot.robot import Robot

QUADRUPED = world_text(
    f"""<body name="trunk" pos="0 0 0.5" euler="0 0 90"><freejoint/>{GEOM}
      <body name="leg" pos="0.2 0 0"><joint name="hip" axis="0 1 0"/>{GEOM}</body></body>""",
    '<keyframe><key name="home" qpos="1 2 3 0 0 0 1 0.4"/></keyframe>',
)


def test_a_floating_base_has_parameters_and_six_coordinates() -> None:
    robot = ytheta.load("ur10")
    floating = float_base(robot)
    assert floating.floating
    assert not robot.floating
    assert floating.actuated == (*BASE_COORDINATES, *robot.actuated)
    assert floating.parameter_names[:10] == tuple(f"{robot.base.name}.{p}" for p in LINK_PARAMETERS)
    assert len(floating.parameter_names) == len(robot.parameter_names) + 10
    assert floating.actuated_limits[:6] == (Limits(),) * 6
    assert "floating base, 6 joints" in repr(floating)
    assert fix_base(floating).actuated == robot.actuated


def test_the_mounting_becomes_the_home_of_the_base() -> None:
    robot = ytheta.load("ur10")
    mounted = replace(robot, mounting=Frame.shift(0.1, 0.2, 0.3) @ Frame.from_rpy(0.0, 0.0, 0.7))
    floating = float_base(mounted)
    home = floating.home_coordinates
    np.testing.assert_allclose(home[:6], [0.1, 0.2, 0.3, 0.0, 0.0, 0.7], atol=1e-14)
    q = np.zeros(len(floating.position_names))
    q[:6] = home[:6]
    poses, fixed = ytheta.link_poses(floating, q), ytheta.link_poses(fix_base(floating), q[6:])
    for link in robot.links:
        np.testing.assert_allclose(poses[link.name], fixed[link.name], atol=1e-12)
        expected = mounted.mounting.matrix @ ytheta.link_poses(robot, q[6:])[link.name]
        np.testing.assert_allclose(poses[link.name], expected, atol=1e-12)


def test_weight_in_any_orientation() -> None:
    """The wrench that holds a robot is its weight, in the axes of the base."""
    robot = float_base(ytheta.load(urdf("go2.urdf")))
    q = np.random.default_rng(0).uniform(-1.0, 1.0, len(robot.actuated))
    force = ytheta.gravity(robot).one(q)[:3]
    mass = sum(link.inertia.mass for link in robot.links)
    np.testing.assert_allclose(ytheta.to_world_axes(force[None], q[None]), [[0.0, 0.0, 9.81 * mass]], atol=1e-9)


def test_the_keyframe_of_an_mjcf_is_the_home() -> None:
    robot = read_text(QUADRUPED)
    assert robot.floating
    np.testing.assert_allclose(robot.home_coordinates, [1.0, 2.0, 3.0, 0.0, 0.0, np.pi, 0.4], atol=1e-12)
    without = read_text(QUADRUPED.replace('name="home"', 'name="other"'))
    np.testing.assert_allclose(without.home_coordinates, [0.0, 0.0, 0.5, 0.0, 0.0, np.pi / 2, 0.0], atol=1e-12)


def test_files_keep_a_floating_base(tmp_path: Path) -> None:
    robot = float_base(ytheta.load("ur10"))
    ytheta.save_robot(robot, tmp_path / "saved.toml")
    assert ytheta.load(tmp_path / "saved.toml") == robot
    (tmp_path / "other.toml").write_text('extends = "ur10"\nfloating = true\n')
    assert ytheta.load(tmp_path / "other.toml").joints == robot.joints
    assert ytheta.load("ur10", floating_base=True) == robot
    assert ytheta.load(tmp_path / "saved.toml", floating_base=True) == robot
    assert not ytheta.load(tmp_path / "saved.toml", fix_base=True).floating
    with pytest.raises(
        InputError, match=r"--fix-base \(fix_base\) and --floating-base \(floating_base\) contradict each other"
    ):
        ytheta.load("ur10", fix_base=True, floating_base=True)


def test_a_world_link_of_a_urdf_stays_the_world(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(
        '<robot name="r"><link name="world"/><link name="a"/><joint name="j" type="fixed"><parent link="world"/>'
        '<child link="a"/><origin xyz="0 0 2"/></joint></robot>'
    )
    robot = ytheta.load(tmp_path / "r.urdf", floating_base=True)
    assert [link.name for link in robot.links] == ["world", "a"]
    assert robot.home == (("base_z", 2.0),)


LINKS = (Link("world"), Link("a"), Link("b"))
FREE = Joint("base", JointKind.FREE, "world", "a")
HINGE = Joint("hinge", JointKind.REVOLUTE, "a", "b")


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (
            (FREE, Joint("h", JointKind.REVOLUTE, "world", "b")),
            "several parts move on the world 'world' \\('a', 'b'\\)",
        ),
        ((FREE, Joint("f", JointKind.FREE, "world", "b")), "several parts move"),
        (
            (Joint("h", JointKind.REVOLUTE, "world", "a"), Joint("f", JointKind.FREE, "a", "b")),
            "only the base of a robot",
        ),
        ((Joint("f", JointKind.FREE, "world", "a", Frame.shift(z=1.0)), HINGE), "give the position of the base under"),
        ((Joint("f", JointKind.FREE, "world", "a", drive=Drive(viscous=1.0)), HINGE), "has no drive"),
        ((FREE, Joint("base_x", JointKind.REVOLUTE, "a", "b")), "the coordinate name 'base_x' is used 2 times"),
    ],
)
def test_contradictory_floating_bases(joints: tuple[Joint, ...], message: str) -> None:
    Robot("r", LINKS, (FREE, HINGE))
    with pytest.raises(RobotError, match=message):
        Robot("r", LINKS, joints)


def test_contradictory_loops_and_coordinates() -> None:
    with pytest.raises(RobotError, match="connects the floating base with the world"):
        Robot("r", LINKS, (FREE, HINGE), loops=(Loop(Joint("cut", JointKind.POINT, "b", "world")),))
    with pytest.raises(RobotError, match="cannot close a loop"):
        Robot("r", LINKS, (FREE, HINGE), loops=(Loop(Joint("cut", JointKind.FREE, "b", "a")),))
    listed = Robot("r", LINKS, (FREE, HINGE), actuated=("hinge", *BASE_COORDINATES))
    assert listed.actuated == (*BASE_COORDINATES, "hinge")
    assert Robot("r", LINKS, (FREE, HINGE), actuated=("hinge",)).actuated == (*BASE_COORDINATES, "hinge")
    with pytest.raises(InputError, match="floats already"):
        float_base(Robot("r", LINKS, (FREE, HINGE)))


@pytest.mark.parametrize(
    "call",
    [
        lambda robot: ytheta.excite(robot),
        lambda robot: ytheta.simulate(robot, controller="computed-torque"),
        lambda robot: ytheta.default_reference(robot, 1.0),
        lambda robot: ytheta.to_modified_dh(robot),
        lambda robot: ytheta.derive_regressor(robot),
        lambda robot: ytheta.control.ComputedTorque(robot, stiffness=1.0, damping=1.0),
        lambda robot: ytheta.base_parameters(robot, method="ha"),
    ],
)
def test_functions_for_a_fixed_base_say_so(call: Callable[[Robot], object]) -> None:
    with pytest.raises(InputError, match="floating base"):
        call(float_base(ytheta.load("ur10")))


# Twists and rates of a floating base against differences of orientations.


STEP = 1e-4


def move(t: np.ndarray, size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates of a base and their first two derivatives; ``size`` is about the largest angle."""
    a = size * np.array([1.0, -0.7, 0.5, 0.5, -0.6, 0.6])
    w, phase = np.array([1.0, 1.7, 2.3, 1.1, 1.9, 0.7]), np.arange(6.0)
    angle = np.outer(t, w) + phase
    return a * np.sin(angle), a * w * np.cos(angle), -a * w * w * np.sin(angle)


def differentiate_twist(t: np.ndarray, size: float) -> np.ndarray:
    """The twist by central differences of positions and orientations."""
    (before, _, _), (q, _, _), (after, _, _) = (move(t + s * STEP, size) for s in (-1.0, 0.0, 1.0))
    turn = Rotation.from_rotvec(before[:, 3:]).inv() * Rotation.from_rotvec(after[:, 3:])
    v = Rotation.from_rotvec(q[:, 3:]).inv().apply((after[:, :3] - before[:, :3]) / (2.0 * STEP))
    return np.hstack([v, turn.as_rotvec() / (2.0 * STEP)])


@pytest.mark.parametrize("size", [1e-9, 5e-3, 0.02, 1.0, 4.0])
def test_twist_by_differences(size: float) -> None:
    t = np.linspace(0.0, 4.0, 41)
    twist, rate = compute_twist(*move(t, size))
    tolerance = 1e-6 * max(size, 1e-3)
    np.testing.assert_allclose(twist, differentiate_twist(t, size), rtol=0.0, atol=tolerance)
    change = differentiate_twist(t + STEP, size) - differentiate_twist(t - STEP, size)
    np.testing.assert_allclose(rate, change / (2.0 * STEP), rtol=0.0, atol=1e-4 * max(size, 1e-2))
    q, qd, qdd = move(t, size)
    np.testing.assert_allclose(compute_coordinate_rates(q, twist), qd, rtol=0.0, atol=1e-10 * max(size, 1e-3))
    if size >= 1.0:  # the rates of the coordinates are not the twist, and the inverse rotation gives another one
        assert np.abs(twist - qd).max() > 0.1
        q[:, 3:] *= -1.0
        assert np.abs(compute_twist(q, qd, qdd)[0] - twist).max() > 0.1


def test_jacobian_is_smooth_where_its_series_ends() -> None:
    q, qd, qdd = (np.tile(each, (2, 1)) for each in move(np.array([0.3]), 1.0))
    q[:, 3:] *= (1e-2 + np.array([[-1e-13], [1e-13]])) / np.linalg.norm(q[:, 3:], axis=1, keepdims=True)
    twist, rate = compute_twist(q, qd, qdd)
    np.testing.assert_allclose(twist[0], twist[1], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(rate[0], rate[1], rtol=0.0, atol=1e-7)


def test_quaternions_have_the_order_of_pinocchio() -> None:
    import pinocchio as pin

    vectors = np.array([[0.1, -0.2, 0.3], [2.0, 1.0, -1.0], [0.0, 0.0, 0.0]])
    quaternions = quaternions_from_rotation_vectors(vectors)
    for vector, quaternion in zip(vectors, quaternions, strict=True):
        np.testing.assert_allclose(pin.Quaternion(quaternion).matrix(), pin.exp3(vector), atol=1e-14)
    np.testing.assert_allclose(rotation_vectors_from_quaternions(3.0 * quaternions), vectors, atol=1e-14)
    with pytest.raises(InputError, match="not all zero"):
        rotation_vectors_from_quaternions(np.zeros((1, 4)))


def test_vectors_change_axes_and_back() -> None:
    q = np.array([[9.0, 9.0, 9.0, 0.0, 0.0, np.pi / 2]])
    x = np.array([[1.0, 0.0, 0.0]])
    np.testing.assert_allclose(to_world_axes(x, q), [[0.0, 1.0, 0.0]], atol=1e-15)
    np.testing.assert_allclose(to_base_axes(to_world_axes(x, q), q), x, atol=1e-15)


def test_rotation_matrices_equal_those_of_scipy() -> None:
    """At all angles, the smallest too; the rotation by the opposite angle differs."""
    sizes = np.array([[0.0], [1e-200], [1e-9], [1e-4], [0.3], [3.1], [np.pi], [6.0], [40.0]])
    vectors = sizes * np.array([0.6, -0.64, 0.48])
    expected = Rotation.from_rotvec(vectors).as_matrix()
    np.testing.assert_allclose(rotation_matrices(vectors), expected, rtol=0.0, atol=1e-14)
    assert np.abs(rotation_matrices(-vectors) - expected).max(axis=(1, 2))[4:6].min() > 0.05


@pytest.mark.parametrize("axis", [(0.6, -0.64, 0.48), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.6, 2.5, 3.1])
def test_rotation_vector_of_a_matrix_equals_that_of_scipy(axis: tuple[float, ...], angle: float) -> None:
    """Zero entries stay exactly zero; the vector of the inverse rotation differs."""
    vector = angle * np.array(axis)
    matrix = Rotation.from_rotvec(vector).as_matrix()
    result = rotation_vector_from_matrix(matrix)
    np.testing.assert_allclose(result, Rotation.from_matrix(matrix).as_rotvec(), rtol=0.0, atol=1e-14)
    assert not result[vector == 0.0].any()
    assert angle < 0.1 or np.abs(rotation_vector_from_matrix(matrix.T) - vector).max() > 0.1


def test_half_turns_have_a_rotation_vector() -> None:
    for axis in np.vstack([np.eye(3), [0.6, 0.0, 0.8]]):
        matrix = 2.0 * np.outer(axis, axis) - np.eye(3)
        np.testing.assert_allclose(np.abs(rotation_vector_from_matrix(matrix)), np.pi * axis, atol=1e-14)


def test_unwrapped_vectors_pass_half_a_turn() -> None:
    angles = np.linspace(0.0, 6.0, 200)
    wrapped = Rotation.from_rotvec(np.outer(angles, [0.6, 0.0, 0.8])).as_rotvec()
    assert np.abs(np.diff(wrapped, axis=0)).max() > 1.0
    np.testing.assert_allclose(unwrap_rotation_vectors(wrapped), np.outer(angles, [0.6, 0.0, 0.8]), atol=1e-12)


def test_a_whole_turn_is_refused() -> None:
    q = np.zeros((2, 6))
    q[1, 4] = 6.2
    with pytest.raises(InputError, match=r"turned by 6.2 rad in row 1; .* split the log"):
        compute_twist(q, 0 * q, 0 * q)
