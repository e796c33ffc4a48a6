"""Contacts along designed trajectories, found by MuJoCo with kinematics and collision checks of its own."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import ytheta as yt
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parts import ShapeKind

FLOOR = 0.0  # m
SAMPLES = 4000  # of one period


def build_model(robot: yt.Robot) -> mujoco.MjModel:
    """Return the robot with the collision shapes of its description, and a floor; neighbours do not collide."""
    spec = mujoco.MjSpec.from_string(to_mjcf(robot))
    bodies = {body.name: body for body in spec.bodies}
    kinds = {ShapeKind.CAPSULE: mujoco.mjtGeom.mjGEOM_CAPSULE, ShapeKind.SPHERE: mujoco.mjtGeom.mjGEOM_SPHERE}
    for k, shape in enumerate(robot.collision):
        radius, *lengths = shape.size
        geom = bodies.get(shape.link, spec.worldbody).add_geom(name=f"{shape.link}[{k}]", type=kinds[shape.kind])
        geom.size, geom.pos = [radius, 0.5 * sum(lengths), 0.0], shape.frame.translation
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, np.array(shape.frame.rotation).ravel())
        geom.quat = quaternion
    floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE)
    floor.size, floor.pos = [0.0, 0.0, 1.0], [0.0, 0.0, FLOOR]
    # MuJoCo leaves out pairs of parent and child, but not if the parent is the world, to which the base belongs.
    spec.add_exclude(bodyname1="world", bodyname2=robot.joints[0].child)
    return spec.compile()


def find_contacts(robot: yt.Robot, trajectory: yt.Trajectory) -> set[tuple[str, str]]:
    """Return the pairs of links, or of link and floor, that touch each other at any sample of a period."""
    model = build_model(robot)
    data = mujoco.MjData(model)
    order = [int(model.joint(name).qposadr[0]) for name in trajectory.joints]
    touching = set()
    for q in trajectory.sample_period(SAMPLES).q:
        data.qpos[order] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        for contact in data.contact[: data.ncon]:
            if contact.dist < 0.0:
                pair = sorted(model.geom(int(k)).name.partition("[")[0] for k in (contact.geom1, contact.geom2))
                touching.add((pair[0], pair[1]))
    return touching


def test_designed_motion_has_no_contacts_in_mujoco() -> None:
    """The twin is designed without self-collision and floor; MuJoCo finds that links touch each other and the floor."""
    robot = yt.load("panda")
    small: dict[str, Any] = {"criterion": "plain", "seconds": 10.0, "starts": 1, "polished": 1}
    safe = yt.excite(robot, floor=FLOOR, **small)
    assert not safe.violations
    assert find_contacts(robot, safe.trajectory) == set()
    careless = yt.excite(robot, self_collision=False, **small)
    assert not careless.violations  # of the limits that were asked for
    touching = find_contacts(robot, careless.trajectory)
    assert any("floor" in pair for pair in touching)
    assert any("floor" not in pair for pair in touching)
