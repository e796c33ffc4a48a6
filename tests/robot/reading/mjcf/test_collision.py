"""Collision shapes of MJCF: the geoms that MuJoCo lets collide, with its sizes and poses."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from tests.support.mjcf_models import read
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import CollisionShape, ShapeKind
from ytheta.robot.robot import Robot

MODEL = """<mujoco>
  <compiler angle="radian"/>
  <default>
    <geom size="0.11 0.12 0.13"/>
    <default class="visual"><geom contype="0" conaffinity="0"/></default>
    <default class="bar"><geom type="capsule"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <geom type="box" pos="0 0 -1"/>
    <body name="a" pos="0.1 0.2 0.3" euler="0.1 0.2 0.3">
      <joint name="q1"/>
      <geom class="visual" type="box"/>
      <geom name="ball" pos="0.3 0 0"/>
      <geom name="half" contype="0" conaffinity="2" type="ellipsoid" quat="1 2 3 4"/>
      <body name="b" pos="0 0 1">
        <joint name="q2" axis="0 1 0"/>
        <frame pos="0 0.1 0" euler="0.4 0 0">
          <geom class="bar" size="0.05" fromto="0 0 0 0.3 0.4 0.5"/>
          <geom class="bar" euler="0.3 0.2 0.1"/>
          <geom type="cylinder" size="0.06" fromto="0 0 0 0 0 -0.5"/>
          <geom type="box" size="0.05" fromto="0 0.2 0 0.4 0 0"/>
        </frame>
      </body>
    </body>
  </worldbody>
</mujoco>"""

KINDS = {
    mujoco.mjtGeom.mjGEOM_SPHERE: ShapeKind.SPHERE,
    mujoco.mjtGeom.mjGEOM_CAPSULE: ShapeKind.CAPSULE,
    mujoco.mjtGeom.mjGEOM_CYLINDER: ShapeKind.CYLINDER,
    mujoco.mjtGeom.mjGEOM_BOX: ShapeKind.BOX,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ShapeKind.ELLIPSOID,
}


def compare(robot: Robot, model: mujoco.MjModel) -> None:
    """Every shape is that of a geom of MuJoCo, at its pose; one for each geom that can collide, except planes."""
    data = mujoco.MjData(model)
    data.qpos[:] = [0.3, -0.4]
    mujoco.mj_kinematics(model, data)
    geoms = [
        k
        for k in range(model.ngeom)
        if (model.geom_contype[k] or model.geom_conaffinity[k]) and model.geom_type[k] != mujoco.mjtGeom.mjGEOM_PLANE
    ]
    poses = link_poses(robot, data.qpos)
    assert len(robot.collision) == len(geoms)
    for shape, k in zip(robot.collision, geoms, strict=True):
        assert shape.kind is KINDS[mujoco.mjtGeom(model.geom_type[k])]
        assert shape.link == model.body(model.geom_bodyid[k]).name
        assert halve(shape) == pytest.approx(model.geom_size[k][: len(shape.size)])
        pose = poses[shape.link] @ shape.frame.matrix
        assert pose[:3, 3] == pytest.approx(data.geom_xpos[k], abs=1e-12)
        assert pose[:3, :3] == pytest.approx(data.geom_xmat[k].reshape(3, 3), abs=1e-9)


def halve(shape: CollisionShape) -> np.ndarray:
    """The sizes as MuJoCo has them."""
    factors = {ShapeKind.BOX: (0.5, 0.5, 0.5), ShapeKind.CAPSULE: (1.0, 0.5), ShapeKind.CYLINDER: (1.0, 0.5)}
    return np.array(shape.size) * factors.get(shape.kind, 1.0)


def test_shapes_are_those_of_mujoco(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(MODEL)
    compare(read(path), mujoco.MjModel.from_xml_string(MODEL))
    with pytest.raises(AssertionError):
        compare(read(path), mujoco.MjModel.from_xml_string(MODEL.replace('pos="0.3 0 0"', 'pos="0.31 0 0"')))


MESHES = """<mujoco>
  <compiler meshdir="assets"/>
  <asset>
    <mesh file="arm.stl" scale="0.001 0.001 0.001"/>
    <mesh name="inline" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <mesh name="moved" file="arm.stl" refpos="1 0 0"/>
  </asset>
  <worldbody><body name="a"><joint name="q1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <geom type="mesh" mesh="arm" pos="0 0 1"/><geom type="mesh" mesh="inline"/><geom type="capsule" mesh="moved"/>
    <geom type="mesh" mesh="missing"/><geom type="box" size="0.1"/>
  </body></worldbody>
</mujoco>"""


def test_meshes_are_located_and_faulty_geoms_are_named(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(MESHES)
    robot = read(path)
    arm, inline, moved = robot.collision
    assert arm.kind is ShapeKind.MESH
    assert arm.file == str((tmp_path / "assets" / "arm.stl").resolve())
    assert arm.size == (0.001, 0.001, 0.001)
    assert inline.file == "the vertices of mesh 'inline' are not in a file; save the mesh as a file"
    assert moved.file.startswith("mesh 'moved' is moved by 'refpos', which is not supported")
    (finding,) = [finding for finding in robot.findings if "collision" in finding.text]
    assert finding.is_warning
    assert "there is no mesh 'missing' in <asset>" in finding.text
    assert "should start with 3 positive numbers" in finding.text
