"""Robots with loops: those of the catalog, and artificial ones with spatial loops and other kinds of cut joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Link, Loop, Motor
from ytheta.robot.robot import Robot

R, P = JointKind.REVOLUTE, JointKind.PRISMATIC
CATALOG = ("walker", "five-bar", "palletiser")


def add_drives(robot: Robot) -> Robot:
    """The same robot with rotor inertia and all kinds of friction at every joint, also at cut joints."""

    def add_drive(joint: Joint, k: int) -> Joint:
        return replace(joint, drive=Drive(0.02 + 0.01 * k, 2.0, 0.7 + 0.2 * k, 0.3 + 0.1 * k, 0.1 - 0.05 * k))

    joints = tuple(add_drive(joint, k) if joint.moves else joint for k, joint in enumerate(robot.joints))
    loops = tuple(Loop(add_drive(loop.joint, k)) if loop.joint.moves else loop for k, loop in enumerate(robot.loops))
    return replace(robot, joints=joints, loops=loops)


def make_link(name: str, seed: int) -> Link:
    rng = np.random.default_rng(seed)
    inertia = Inertia()
    for _ in range(4):
        x, y, z = rng.uniform(-0.4, 0.4, 3)
        inertia = inertia + Inertia.point_mass(float(rng.uniform(0.2, 1.0)), (float(x), float(y), float(z)))
    return Link(name, inertia)


def make_ring() -> Robot:
    """Seven revolute joints in a spatial ring, one of which is cut; Jp has one block of five passive joints."""
    rng = np.random.default_rng(4)
    joints = tuple(
        Joint(f"j{k}", R, f"l{k - 1}" if k > 1 else "base", f"l{k}", _draw_frame(rng), axis)
        for k, axis in enumerate(AXES, 1)
    )
    robot = Robot(
        "ring", (Link("base"), *(make_link(f"l{k}", k) for k in range(1, 7))), joints, gravity=(1.0, 2.0, -9.0)
    )
    at_home = tuple((f"j{k}", 0.2 * k - 0.7) for k in range(1, 7))
    last = Frame.from_matrix(link_poses(robot, np.array([value for _, value in at_home]))["l6"])
    cut = Loop(Joint("cut", R, "l6", "base", Frame.shift(0.1), (0.0, 0.6, 0.8), (last @ Frame.shift(0.1)).inverse()))
    return replace(robot, loops=(cut,), actuated=("j1",), home=at_home)


AXES = (
    (0.0, 0.0, 1.0),
    (1.0, 0.0, 0.0),
    (0.0, 0.6, 0.8),
    (0.0, -1.0, 0.0),
    (0.8, 0.0, -0.6),
    (0.0, 0.0, 1.0),
)


def make_ball_loop() -> Robot:
    """A chain of three joints and one of a single joint that meet in a ball joint; Jp has one block of three rows."""
    rng = np.random.default_rng(7)
    links = (Link("base"), *(make_link(name, k) for k, name in enumerate("abcd", 11)))
    joints = (
        Joint("j1", R, "base", "a", _draw_frame(rng)),
        Joint("j2", R, "a", "b", _draw_frame(rng), (0.0, 1.0, 0.0)),
        Joint("j3", P, "b", "c", _draw_frame(rng), (0.6, 0.0, 0.8)),
        Joint("j4", R, "base", "d", _draw_frame(rng), (1.0, 0.0, 0.0)),
    )
    robot = Robot("ball", links, joints)
    home = (("j1", 0.3), ("j2", -0.4), ("j3", 0.2), ("j4", 0.5))
    poses = link_poses(robot, np.array([value for _, value in home]))
    seat = (Frame.from_matrix(poses["c"]) @ Frame.shift(0.2, 0.1, 0.3)).inverse() @ Frame.from_matrix(poses["d"])
    cut = Loop(Joint("ball", JointKind.POINT, "c", "d", Frame.shift(0.2, 0.1, 0.3), seat=seat))
    return replace(robot, loops=(cut,), actuated=("j1",), home=home)


def make_slide_loop() -> Robot:
    """A triangle in a tilted plane, cut at its slide, with a wrist that is coupled to a joint and a motor."""
    tilt, along_x = Frame.from_rpy(0.4, -0.7, 1.1), Frame.from_rpy(0.0, np.pi / 2, 0.0)
    return Robot(
        "slide",
        links=(Link("base"), *(make_link(name, k) for k, name in enumerate(("beam", "barrel", "rod", "tool"), 21))),
        joints=(
            Joint("beam", R, "base", "beam", tilt),
            Joint("pivot", R, "base", "barrel", tilt @ Frame.shift(0.5)),
            Joint("pin", R, "beam", "rod", Frame.shift(0.8)),
            Joint("wrist", R, "rod", "tool", Frame.shift(0.1, 0.2, 0.3), (0.0, 1.0, 0.0)),
        ),
        loops=(Loop(Joint("slide", P, "barrel", "rod", along_x, seat=along_x.inverse())),),
        couplings=(Coupling("wrist", (("pin", 0.5), ("motor", 2.0)), 0.1),),
        motors=(Motor("motor", drive=Drive(0.03, 1.5, 0.2, 0.1, 0.05)),),
        actuated=("motor", "beam"),
        home=(("beam", 1.0), ("pivot", 2.0), ("pin", 1.0)),
    )


def _draw_frame(rng: np.random.Generator) -> Frame:
    x, y, z, roll, pitch, yaw = (float(value) for value in rng.uniform(-0.5, 0.5, 6))
    return Frame.shift(x, y, z) @ Frame.from_rpy(roll, pitch, yaw)


def make_looped_robot(name: str) -> Robot:
    """The robot with loops of this name, with drives at all joints."""
    artificial = {"ring": make_ring, "ball": make_ball_loop, "slide": make_slide_loop}
    return add_drives(artificial[name]() if name in artificial else ytheta.load(name))


NAMES = (*CATALOG, "ring", "ball", "slide")
