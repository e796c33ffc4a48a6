"""Robots with a floating base: conversion, files, and functions that are made for a fixed base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.example_robots import urdf
from tests.support.mjcf_models import GEOM, read_text, world_text
from ytheta.conventions import BASE_COORDINATES, LINK_PARAMETERS
from ytheta.errors import InputError, RobotError
from ytheta.robot.floating import fix_base, float_base
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
