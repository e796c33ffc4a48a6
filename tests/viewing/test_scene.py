"""Scenes: poses against Pinocchio, positions of coupled joints and loops, lines between the joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from tests.support.pinocchio_peer import peer
from ytheta.errors import UnsetLengthError
from ytheta.viewing.scene import make_scene

MOTIONS = np.random.default_rng(1).uniform(-1.0, 1.0, (4, 7))


@pytest.mark.parametrize("name", ["panda", "iiwa14", "puma560", "stanford"])
def test_poses_are_those_of_pinocchio(name: str) -> None:
    robot = yt.load(name)
    scene, oracle = make_scene(robot), peer(robot)
    for sample in MOTIONS[:, : len(robot.actuated)]:
        (q,) = scene.compute_joint_positions(sample[None])
        data = oracle.model.createData()
        pin.framesForwardKinematics(oracle.model, data, q)
        poses = scene.compute_poses(q)
        mounting = robot.mounting.matrix
        for link in scene.robot.links[1:]:
            index = oracle.model.getFrameId(link.name, pin.FrameType.OP_FRAME)
            np.testing.assert_allclose(poses[link.name], mounting @ data.oMf[index].homogeneous, atol=1e-9)
        last = scene.robot.links[-1].name
        twin = scene.compute_poses(q + 0.01)[last]
        assert abs(twin - poses[last]).max() > 1e-4


@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_bones_meet_at_the_joints(name: str) -> None:
    """The line of a link ends where the axis of the next joint is, whatever its position."""
    scene = make_scene(yt.load(name))
    q = MOTIONS[0, : len(scene.robot.actuated)]
    poses, moved = scene.compute_poses(q), scene.compute_poses(q + np.eye(len(q))[2])
    joint = scene.robot.movable[2]
    ends = [poses[bone.link] @ np.append(bone.end, 1.0) for bone in scene.bones if bone.link == joint.parent]
    starts = [
        pose[bone.link] @ np.append(bone.start, 1.0)
        for pose in (poses, moved)
        for bone in scene.bones
        if bone.link == joint.child
    ]
    axis_points = [poses[joint.parent] @ joint.placement.matrix @ [0.0, 0.0, 0.0, 1.0]]
    for point in (*ends[:1], *starts):
        np.testing.assert_allclose(point, axis_points[0], atol=1e-9)


@pytest.mark.parametrize("name", ["five-bar", "palletiser"])
def test_loops_are_closed(name: str) -> None:
    robot = yt.load(name)
    scene = make_scene(robot)
    home = dict(zip(robot.coordinates, robot.home_coordinates.tolist(), strict=True))
    actuated = {each: home[each] + 0.05 for each in robot.actuated}
    (q,) = scene.compute_joint_positions(np.array([list(actuated.values())]))
    closure = yt.close_loops(robot, actuated)
    assert closure.closed
    np.testing.assert_allclose(q, closure.q, atol=1e-8)
    assert abs(q - yt.close_loops(robot).q).max() > 1e-3  # the twin: home


def test_unknown_geometry_cannot_be_drawn() -> None:
    robot = yt.load("lu-two-link")
    assert make_scene(robot).bones
    name = min(robot.symbolic_lengths)
    with pytest.raises(UnsetLengthError, match="has no value"):
        make_scene(replace(robot, lengths=tuple((each, None if each == name else v) for each, v in robot.lengths)))
