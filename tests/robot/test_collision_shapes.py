"""Collision shapes: capsules by their ends, checks, and the variants of a robot that carry them along."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from tests.support.revolute_chains import revolute_chain
from ytheta.errors import InputError, RobotError
from ytheta.files.symbols import symbol
from ytheta.robot.frame import Frame, Vector
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.parts import CollisionShape, Joint, JointKind, Link, ShapeKind, make_capsule

ARM = revolute_chain(("q1", "base", "arm"))


@pytest.mark.parametrize("end", [(0.1, 0.2, 0.9), (0.1, 0.2, -0.4), (-0.5, 0.2, 0.3), (0.4, -0.3, 0.8)])
def test_the_ends_of_a_capsule_are_those_of_its_frame(end: Vector) -> None:
    start = (0.1, 0.2, 0.3)
    shape = make_capsule("arm", start, end, 0.05)
    half = np.array([0.0, 0.0, shape.size[1] / 2.0])
    ends = [shape.frame.matrix[:3, :3] @ offset + shape.frame.matrix[:3, 3] for offset in (-half, half)]
    assert ends == pytest.approx(np.array([start, end]), abs=1e-12)


def test_equal_ends_are_a_sphere_and_infinite_ones_are_refused() -> None:
    assert make_capsule("arm", (1.0, 2.0, 3.0), (1.0, 2.0, 3.0), 0.1).kind is ShapeKind.SPHERE
    with pytest.raises(InputError, match=r"the ends .* of a capsule are not finite"):
        make_capsule("arm", (0.0, 0.0, 0.0), (inf, 0.0, 0.0), 0.1)


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (CollisionShape("leg", ShapeKind.SPHERE, (0.1,)), r"belongs to link 'leg', which the robot does not have"),
        (CollisionShape("arm", ShapeKind.BOX, (0.1, 0.2)), r"the box of link 'arm': its size is .* give x, y, z"),
        (
            CollisionShape("arm", ShapeKind.SPHERE, (0.0,)),
            r"the sphere of link 'arm': its radius is 0; give a positive",
        ),
        (CollisionShape("arm", ShapeKind.CAPSULE, (0.1, -1.0)), r"the capsule of link 'arm': its length is -1"),
        (CollisionShape("arm", ShapeKind.SPHERE, (nan,)), r"the sphere of link 'arm': its size is \(nan,\)"),
        (CollisionShape("arm", ShapeKind.SPHERE, (0.1,), Frame.shift(x=inf)), r"the frame of the sphere of link 'arm'"),
    ],
)
def test_wrong_shapes_are_refused(shape: CollisionShape, words: str) -> None:
    with pytest.raises(RobotError, match=words):
        replace(ARM, collision=(shape,))


def test_shapes_move_with_merged_links_and_changed_frames() -> None:
    placement = Frame.shift(z=0.5) @ Frame.from_rpy(0.1, 0.2, 0.3)
    tool = Joint("flange", JointKind.FIXED, "arm", "tool", placement=placement)
    shape = CollisionShape("tool", ShapeKind.SPHERE, (0.1,), Frame.shift(x=0.2))
    robot = replace(ARM, links=(*ARM.links, Link("tool")), joints=(*ARM.joints, tool), collision=(shape,))
    (merged,) = robot.merged.collision
    assert merged.link == "arm"
    assert merged.frame.matrix == pytest.approx(placement.matrix @ shape.frame.matrix)
    (changed,) = change_link_frames(robot, {"tool": Frame.shift(x=0.2)}).collision
    assert changed.frame.matrix == pytest.approx(np.eye(4))


def test_symbolic_lengths_of_shapes_get_numbers() -> None:
    shape = CollisionShape("arm", ShapeKind.SPHERE, (0.1,), Frame.shift(x=symbol("l1")))
    robot = replace(ARM, collision=(shape,), lengths=(("l1", 0.7),))
    assert robot.symbolic_lengths == {"l1"}
    assert robot.numeric.collision[0].frame.translation == (0.7, 0.0, 0.0)


def test_robots_that_differ_in_shapes_are_equal() -> None:
    assert replace(ARM, collision=(CollisionShape("arm", ShapeKind.SPHERE, (0.1,)),)) == ARM
