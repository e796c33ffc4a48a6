"""Floating bases and sensors in URDF and MJCF: read by Pinocchio and MuJoCo, and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from tests.support.example_robots import urdf
from tests.support.exported_robots import change_bodies, measure_difference
from ytheta.errors import InputError
from ytheta.exporting.export import export, find_losses
from ytheta.exporting.source import find_source
from ytheta.robot.floating import add_wrench_sensor, float_base
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Drive, JointKind
from ytheta.robot.robot import Robot

TOLERANCE = 1e-9  # relative to the largest torque

DOG = """<mujoco model="dog"><!-- kept --><worldbody><body name="floor" pos="0 0 -1"/>
  <body name="trunk" pos="0.1 0.2 0.4" euler="10 20 30"><freejoint/><inertial pos="0 0 0.1" mass="5"
    diaginertia="0.1 0.2 0.25"/>
    <body name="thigh" pos="0.2 0 0"><joint name="hip" axis="1 0 0" armature="0.01" damping="0.1" frictionloss="0.2"/>
      <inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.002"/>
      <body name="foot" pos="0 0 -0.2" euler="0 30 0"><inertial pos="0 0 -0.05" mass="0.3"
        diaginertia="0.001 0.001 0.001"/></body></body></body></worldbody>
  <actuator><motor joint="hip"/></actuator></mujoco>"""


def draw_states(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, qd, qdd = np.random.default_rng(5).uniform(-1.2, 1.2, (3, 3, len(robot.position_names)))
    for values in (q, qd, qdd):
        values[:, len(robot.base_coordinates) + len(robot.movable) :] = 0.0  # sensors
    return q, qd, qdd


def compute_torque(robot: Robot) -> np.ndarray:
    """Our torques at all states, base and movable joints, in the order of ``position_names``."""
    free = replace(robot, couplings=(), actuated=(), motors=(), forces=(), home=())
    tau = np.asarray(yt.inverse_dynamics(free)(*draw_states(robot)))
    return tau[:, : len(robot.base_coordinates) + len(robot.movable)]


def compute_pinocchio_torque(path: Path, robot: Robot) -> np.ndarray:
    """Torques of a URDF file whose root link floats, with friction."""
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    joints = [model.joints[model.getJointId(joint.name)] for joint in robot.movable]
    order = [*range(6), *(joint.idx_v for joint in joints)]
    rows = []
    for q, qd, qdd in zip(*(x[:, : len(order)] for x in draw_states(robot)), strict=True):
        x, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        x[:3], x[3:7] = q[:3], pin.Quaternion(pin.exp3(q[3:6])).coeffs()
        for joint, position in zip(joints, q[6:], strict=True):
            angle = (np.cos(position), np.sin(position)) if joint.nq == 2 else (position,)
            x[joint.idx_q : joint.idx_q + joint.nq] = angle
        v[order], a[order] = qd, qdd
        tau = pin.rnea(model, data, x, v, a) + model.damping * v + model.friction * np.sign(v)
        rows.append(tau[order])
    return np.array(rows)


def compute_mujoco_torque(path: Path, robot: Robot, names: dict[str, str] | None = None) -> np.ndarray:
    """Torques of an MJCF file by ``mj_inverse``; MuJoCo has the linear velocity and force of the base in world axes."""
    spec = mujoco.MjSpec.from_file(str(path))
    for part in (*spec.geoms, *spec.meshes):
        spec.delete(part)
    model = spec.compile()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # dry friction is added below
    data = mujoco.MjData(model)
    joints = [model.joint((names or {}).get(joint.name, joint.name)) for joint in robot.movable]
    places, order = [int(j.qposadr[0]) for j in joints], [int(j.dofadr[0]) for j in joints]
    rows = []
    for q, qd, qdd in zip(*(x[:, : 6 + len(order)] for x in draw_states(robot)), strict=True):
        R = pin.exp3(q[3:6])
        x, y, z, w = pin.Quaternion(R).coeffs()
        data.qpos[:7], data.qpos[places] = [*q[:3], w, x, y, z], q[6:]
        data.qvel[:6], data.qvel[order] = [*(R @ qd[:3]), *qd[3:6]], qd[6:]
        acceleration = R @ (qdd[:3] + np.cross(qd[3:6], qd[:3]))
        data.qacc[:6], data.qacc[order] = [*acceleration, *qdd[3:6]], qdd[6:]
        mujoco.mj_inverse(model, data)
        tau = data.qfrc_inverse + model.dof_frictionloss * np.sign(data.qvel)
        rows.append(np.concatenate([R.T @ tau[:3], tau[3:6], tau[order]]))
    return np.array(rows)


def write_dog(folder: Path, text: str = DOG) -> Path:
    path = folder / "dog.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["go2.urdf", "hyq_no_sensors.urdf", "talos_reduced.urdf"])
def test_a_new_urdf_floats_in_pinocchio(name: str, tmp_path: Path) -> None:
    robot = change_bodies(float_base(yt.load(urdf(name), snap=0.0)), rotor_inertia=False)
    (path,) = export(robot, to="urdf", path=tmp_path / "new.urdf")
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE
    back = yt.load(path, snap=0.0)
    assert back.floating
    assert back.parameter_names == robot.parameter_names
    np.testing.assert_allclose(back.theta, robot.theta, rtol=1e-9, atol=1e-12)
    assert not yt.load(path, fix_base=True).floating
    (other,) = export(float_base(yt.load(urdf(name))), to="urdf", path=tmp_path / "old.urdf", force=True)
    assert measure_difference(expected, compute_pinocchio_torque(other, robot)) > 1e-3  # the twin


@pytest.mark.parametrize("name", ["go2.urdf", "talos_reduced.urdf"])
def test_a_urdf_file_keeps_its_text_and_gets_the_inertia_of_the_base(name: str, tmp_path: Path) -> None:
    source = urdf(name)
    robot = change_bodies(yt.load(source, snap=0.0, floating_base=True), rotor_inertia=False)
    given = find_source(robot, description=source)
    (path,) = export(robot, to="urdf", path=tmp_path / "new.urdf", description=source)
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE
    assert measure_difference(expected, compute_pinocchio_torque(source, robot)) > 1e-3
    assert "<ytheta" not in path.read_text()
    (note,) = (loss for loss in find_losses(given, to="urdf", path=path) if loss.code == "floating base")
    assert "--floating-base" in note.text
    (copy,) = export(source, to="urdf", path=tmp_path / "copy.urdf", floating_base=True, force=True)
    assert copy.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name", ["go2.urdf", "talos_reduced.urdf", "dog"])
def test_a_new_mjcf_floats_in_mujoco(name: str, tmp_path: Path) -> None:
    described = yt.load(write_dog(tmp_path), snap=0.0) if name == "dog" else float_base(yt.load(urdf(name), snap=0.0))
    home = (("base_z", 0.4), ("base_rx", 0.1), ("base_ry", -0.2))
    robot = change_bodies(replace(described, home=home))
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml")
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_mujoco_torque(path, robot)) < TOLERANCE
    assert measure_difference(expected + 1e-3, compute_mujoco_torque(path, robot)) > 1e-9
    back = yt.load(path, snap=0.0)
    assert back.parameter_names == robot.parameter_names
    np.testing.assert_allclose(back.theta, robot.theta, rtol=1e-9, atol=1e-12)
    assert dict(back.home) == pytest.approx(dict(home), abs=1e-12)
    key = mujoco.MjModel.from_xml_path(str(path)).key_qpos[0]
    assert key[3:7] == pytest.approx(pin.Quaternion(pin.exp3(np.array([0.1, -0.2, 0.0]))).coeffs()[[3, 0, 1, 2]])


def test_an_mjcf_file_with_a_free_joint_gets_the_inertia_of_the_base(tmp_path: Path) -> None:
    source = write_dog(tmp_path)
    robot = change_bodies(yt.load(source, snap=0.0))
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml", description=source)
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_mujoco_torque(path, robot)) < TOLERANCE
    assert measure_difference(expected, compute_mujoco_torque(source, robot)) > 1e-3
    assert "<!-- kept -->" in path.read_text()
    fixed = change_bodies(yt.load(source, snap=0.0, fix_base=True))
    (path,) = export(fixed, to="mjcf", path=tmp_path / "fixed.xml", description=source)
    assert "<freejoint/>" in path.read_text()


def test_an_mjcf_file_without_a_free_joint_cannot_float(tmp_path: Path) -> None:
    source = write_dog(tmp_path, DOG.replace("<freejoint/>", ""))
    robot = float_base(yt.load(source))
    with pytest.raises(InputError, match="'dog' has a floating base, but the file has no free joint; add <freejoint/>"):
        export(robot, to="mjcf", path=tmp_path / "new.xml", description=source)


def make_sensed_arm(*, below: bool) -> Robot:
    arm = yt.load("ur10").with_load(yt.Inertia.point_mass(2.0, (0.1, 0.0, 0.2)), name="tool")
    arm = replace(arm, links=tuple(replace(link, load=False) for link in arm.links))
    frame = Frame.shift(0.0, 0.01, -0.02) @ Frame.from_rpy(0.1, 0.0, 0.3)
    return add_wrench_sensor(arm, None if below else "tool_grasp", frame=frame).with_drives(lambda *_: Drive())


@pytest.mark.parametrize("below", [False, True])
def test_a_sensor_is_a_fixed_joint_of_other_programs(below: bool, tmp_path: Path) -> None:
    robot = make_sensed_arm(below=below)
    (path,) = export(robot, to="urdf", path=tmp_path / "arm.urdf")
    assert 'type="fixed"' in path.read_text()
    back = yt.load(path, snap=0.0)
    assert back.actuated == robot.actuated
    q, qd, qdd = draw_states(robot)
    tau = yt.inverse_dynamics(robot)(q, qd, qdd)
    assert measure_difference(tau, yt.inverse_dynamics(back)(q, qd, qdd)) < TOLERANCE
    model = pin.buildModelFromUrdf(str(path))
    assert (model.nv, model.inertias[1:].tolist() == []) == (6, False)
    rnea = [pin.rnea(model, model.createData(), *(x[k, :6] for x in (q, qd, qdd))) for k in range(len(q))]
    assert measure_difference(tau[:, :6], np.array(rnea)) < TOLERANCE


@pytest.mark.parametrize("below", [False, True])
def test_mujoco_measures_the_same_wrench(below: bool, tmp_path: Path) -> None:
    robot = make_sensed_arm(below=below)
    (path,) = export(robot, to="mjcf", path=tmp_path / "arm.xml")
    name = robot.sensor_coordinates[0].removesuffix("_fx")
    losses = find_losses(find_source(robot), to="mjcf", path=path)
    assert f"MJCF cannot express the type 'sensor' of {name}" in [loss.text for loss in losses]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    q, qd, qdd = draw_states(robot)
    for k, tau in enumerate(np.asarray(yt.inverse_dynamics(robot)(q, qd, qdd))):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[k, :6], qd[k, :6], tau[:6]
        mujoco.mj_forward(model, data)
        assert data.qacc == pytest.approx(qdd[k, :6], abs=1e-6)
        wrench = np.concatenate([data.sensor(f"{name}_force").data, data.sensor(f"{name}_torque").data])
        assert measure_difference(tau[6:], wrench) < 1e-7  # the accelerations of forward dynamics are not exact
        assert measure_difference(tau[6:], -wrench) > 1e-2


def test_sensors_of_a_file_are_its_fixed_joints(tmp_path: Path) -> None:
    """The parameters of the link behind a sensor are those of the link in the file."""
    (source,) = export(without_sensors(make_sensed_arm(below=False)), to="urdf", path=tmp_path / "arm.urdf")
    described = add_wrench_sensor(yt.load(source, snap=0.0), "tool_grasp")
    for sensed in (described, add_wrench_sensor(yt.load(source, snap=0.0))):
        robot = change_bodies(sensed)
        (path,) = export(robot, to="urdf", path=tmp_path / "new.urdf", description=source, force=True)
        back = yt.load(path, snap=0.0)
        child = next(joint.child for joint in robot.joints if joint.kind is JointKind.SENSOR)
        np.testing.assert_allclose(back.link(child).inertia.vector, robot.link(child).inertia.vector, rtol=1e-9)
        assert not np.allclose(back.link(child).inertia.vector, described.link(child).inertia.vector, rtol=1e-3)
    renamed = replace(described, joints=tuple(replace(j, name=f"{j.name}x") for j in described.joints), actuated=())
    with pytest.raises(InputError, match="the sensor 'tool_graspx' of 'ur10' is not a fixed joint"):
        export(renamed, to="urdf", path=tmp_path / "new.urdf", description=source, force=True)


def test_a_sensor_at_another_place_than_in_the_file_is_refused(tmp_path: Path) -> None:
    (source,) = export(without_sensors(make_sensed_arm(below=False)), to="urdf", path=tmp_path / "arm.urdf")
    described = add_wrench_sensor(yt.load(source, snap=0.0), "tool_grasp")
    moved = tuple(
        replace(joint, placement=joint.placement @ Frame.shift(0.05, 0.0, 0.0)) if joint.name == "tool_grasp" else joint
        for joint in described.joints
    )
    export(described, to="urdf", path=tmp_path / "new.urdf", description=source, force=True)
    with pytest.raises(InputError, match="tool_grasp"):
        export(replace(described, joints=moved), to="urdf", path=tmp_path / "new.urdf", description=source, force=True)


def without_sensors(robot: Robot) -> Robot:
    kinds = {JointKind.SENSOR: JointKind.FIXED}
    joints = tuple(replace(joint, kind=kinds.get(joint.kind, joint.kind)) for joint in robot.joints)
    return replace(robot, joints=joints, actuated=())


def test_axes_of_a_ball_joint_have_no_drives_in_a_file(tmp_path: Path) -> None:
    source = tmp_path / "ball.xml"
    source.write_text(
        '<mujoco><worldbody><body name="arm"><joint name="shoulder" type="ball"/>'
        '<inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>'
    )
    described = yt.load(source)
    inertia = yt.Inertia.point_mass(1.0, (0.0, 0.0, -0.1)) + described.link("arm").inertia
    robot = described.with_inertias({"arm": inertia}).with_drives(lambda *_: Drive(viscous=0.1))
    given = find_source(robot, description=source)
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml", description=source)
    np.testing.assert_allclose(yt.load(path).link("arm").inertia.vector, inertia.vector, rtol=1e-9, atol=1e-12)
    loss, error = find_losses(given, to="mjcf", path=path)
    assert error.fields["after_percent"] == error.fields["without_fit_percent"] > 0.0  # there is nothing to fit
    assert loss.names == ("shoulder.x", "shoulder.y", "shoulder.z")
    assert not find_losses(find_source(described, description=source), to="mjcf", path=path)
