"""MJCF files with other inertias, armature and friction: read back by us and by MuJoCo; all other bytes unchanged."""

from __future__ import annotations

import importlib.util
import re
import struct
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

import ytheta as yt
from tests.support.exported_robots import (
    TOLERANCE,
    change_bodies,
    compute_mujoco_torque,
    compute_pinocchio_torque,
    compute_torque,
    measure_difference,
)
from tests.support.loop_motion import differentiate_motion, draw_motion
from tests.support.loop_robots import CATALOG, make_looped_robot
from tests.support.mjcf_models import read
from ytheta.errors import InputError, RobotFileError
from ytheta.exporting.export import export, find_losses
from ytheta.exporting.mjcf import read_mjcf_file
from ytheta.exporting.source import find_source
from ytheta.files.xml_document import parse_xml
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Coupling, Drive, Loop
from ytheta.robot.robot import Robot

GYMNASIUM = ("reacher.xml", "pusher.xml", "half_cheetah.xml", "humanoid.xml", "walker2d.xml")

ARM = """<!-- kept: ünïcode & <tags> -->
<mujoco model='arm'>
  <compiler angle="degree" autolimits='true'{settings}/>
  <default>
    <joint damping="0.3" armature="0.05"/>
    <default class="big"><joint damping="2 0.1" frictionloss="0.7"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 0.5" childclass="big"><!-- the first -->
      <joint name="a1" axis="0 1 0"   ref="10"/>
      <frame euler="10 20 30" pos="0.1 0 0">
        <inertial pos="0 0 0.1" mass="2" diaginertia="0.02 0.02 0.01" quat="1 0.1 0 0"/>
      </frame>
      <body name="fixed" pos="0 0 0.2"><geom type="box" size="0.05 0.04 0.03" mass="0.2"/></body>
      {include}
    </body>
  </worldbody>
  <actuator><motor joint="a1" gear="2" armature="0.01" damping="0.05"/></actuator>
</mujoco>
"""
SECOND = """<body name="b" pos="0 0 0.4" euler="0 15 0">
        <joint axis="1 0 0" class="main"/><joint name="b2" axis="0 0 1" type="slide" damping="1 0.2"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0 0 0.3"/> <!-- a > b -->
      </body>"""


def write_arm(folder: Path, *, include: str = SECOND, settings: str = "") -> Path:
    path = folder / "arm.xml"
    path.write_bytes(ARM.format(include=include, settings=settings).encode())
    return path


def export_back(robot: Robot, source: Path, folder: Path) -> Path:
    (path,) = export(robot, to="mjcf", path=folder / "new.xml", description=source)
    return path


def check_torque(robot: Robot, source: Path, path: Path, names: dict[str, str] | None = None) -> None:
    """Compare with our reader and with MuJoCo; the file before the export must differ."""
    expected = compute_torque(robot)
    assert measure_difference(expected, compute_torque(read(path, fix_base=True))) < TOLERANCE
    assert measure_difference(expected, compute_mujoco_torque(path, robot, names)) < TOLERANCE
    assert measure_difference(expected, compute_mujoco_torque(source, robot, names)) > 1e-3


UNNAMED = {"b.joint": ""}


@pytest.mark.parametrize("settings", ["", ' inertiafromgeom="true"', ' settotalmass="7"', ' boundinertia="1e-6"'])
def test_an_arm_gives_the_torques_of_the_new_robot(settings: str, tmp_path: Path) -> None:
    source = write_arm(tmp_path, settings=settings)
    robot = change_bodies(read(source))
    path = export_back(robot, source, tmp_path)
    check_torque(robot, source, path, UNNAMED)
    text = path.read_text(encoding="utf-8")
    for kept in ("<!-- kept: ünïcode & <tags> -->\n<mujoco model='arm'>", "<!-- a > b -->", "autolimits='true'"):
        assert kept in text
    assert re.search(r'name="b2"[^>]* damping="0\.7 0\.2"', text)  # the quadratic damping stays


def test_actuators_with_more_armature_than_the_model_are_named(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    robot = read(source).with_drives(lambda _, drive: replace(drive, rotor_inertia=0.03))
    with pytest.raises(RobotFileError, match=r"line 11, <joint name='a1'>: its actuators have more armature"):
        export_back(robot, source, tmp_path)


def test_other_lines_stay(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    path = export_back(change_bodies(read(source)), source, tmp_path)
    old, new = (file.read_text(encoding="utf-8").splitlines() for file in (source, path))
    added = [line for line in new if line not in old]
    assert len(added) == len(new) - len([line for line in old if line in new])
    assert [line for line in added if not re.search(r"<(inertial|joint) ", line)] == []
    (path,) = export(read(source), to="mjcf", path=tmp_path / "copy.xml", description=source)
    assert path.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name", GYMNASIUM)
def test_installed_models_give_the_torques_of_the_new_robot(name: str, tmp_path: Path) -> None:
    spec = importlib.util.find_spec("gymnasium")
    assert spec is not None
    assert spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0]) / "envs/mujoco/assets" / name
    robot = change_bodies(read(source, fix_base=True))
    if not (source.is_file() and robot.movable):
        pytest.skip(f"gymnasium has no {name}")
    check_torque(robot, source, export_back(robot, source, tmp_path))


def test_included_files_that_change_are_inserted(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "second.xml").write_text(f"<mujocoinclude>\n  {SECOND}\n</mujocoinclude>\n")
    (tmp_path / "parts" / "sensors.xml").write_text(
        "<mujocoinclude><sensor><jointpos joint='a1'/></sensor></mujocoinclude>"
    )
    source = write_arm(tmp_path, include='<include file="parts/second.xml"/>')
    text = source.read_text(encoding="utf-8").replace("</mujoco>", '<include file="parts/sensors.xml"/></mujoco>')
    source.write_text(text, encoding="utf-8")
    robot = change_bodies(read(source))
    path = export_back(robot, source, tmp_path)
    check_torque(robot, source, path, UNNAMED)
    new = path.read_text(encoding="utf-8")
    assert "parts/second.xml" not in new
    assert '<include file="parts/sensors.xml"/>' in new
    assert "<!-- a > b -->" in new


def test_a_body_with_a_mesh_gets_an_inertial(tmp_path: Path) -> None:
    corners = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]], dtype="<f4")
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    triangles = b"".join(struct.pack("<3f", 0, 0, 0) + corners[list(f)].tobytes() + b"\0\0" for f in faces)
    (tmp_path / "m.stl").write_bytes(b"\0" * 80 + struct.pack("<I", 4) + triangles)
    mesh = SECOND.replace("<geom ", '<geom type="mesh" mesh="m"/><geom ')
    source = write_arm(tmp_path, include=mesh)
    text = source.read_text(encoding="utf-8").replace(
        "<worldbody>", '<asset><mesh name="m" file="m.stl"/></asset><worldbody>'
    )
    source.write_text(text, encoding="utf-8")
    assert read(source).link("b").inertia.mass > read(write_arm(tmp_path)).link("b").inertia.mass
    robot = change_bodies(read(write_arm(tmp_path)))
    source.write_text(text, encoding="utf-8")
    path = export_back(robot, source, tmp_path)
    check_torque(robot, source, path, UNNAMED)
    root = parse_xml(source.read_bytes(), source)
    assert read_mjcf_file(root, source, yt.load("ur10")).unknown == {"b"}


def test_a_load_becomes_a_body(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    load = Inertia.point_mass(0.7, (0.01, 0.02, 0.03))
    robot = read(source).with_load(load, on="b", frame=Frame.shift(0.1) @ Frame.from_rpy(0.3, 0.2, 0.1))
    path = export_back(robot, source, tmp_path)
    check_torque(robot, source, path, UNNAMED)


def test_springs_get_their_new_stiffness(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    spring = source.read_text(encoding="utf-8").replace('name="b2"', 'name="b2" springref="0.1" stiffness="3 0.5"')
    source.write_text(spring, encoding="utf-8")
    robot = read(source)
    assert [force.name for force in robot.forces] == ["b2_spring", "b2_spring2"]
    robot = replace(robot, forces=tuple(replace(force, value=2.0 * force.value) for force in robot.forces))
    path = export_back(robot, source, tmp_path)
    assert find_losses(find_source(robot, description=source), to="mjcf", path=path) == ()
    for file, factor in ((source, 1.0), (path, 2.0)):
        model = mujoco.MjModel.from_xml_path(str(file))
        data = mujoco.MjData(model)
        data.qpos[model.joint("b2").qposadr] = 0.4
        mujoco.mj_forward(model, data)
        torque = data.qfrc_spring[model.joint("b2").dofadr]
        assert float(torque[0]) == pytest.approx(-factor * (3 * 0.3 + 0.5 * 0.3**2), rel=1e-12)


def test_a_description_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    source = write_arm(tmp_path)
    robot = read(source)
    with pytest.raises(InputError, match=r"arm\.xml is not a file that starts with <robot>"):
        export(robot, to="urdf", path=tmp_path / "new.urdf", description=source)
    with pytest.raises(InputError, match=r"the format 'toml' keeps nothing of .*arm\.xml; remove the description"):
        export(robot, to="toml", path=tmp_path / "new.toml", description=source)
    source.write_text(re.sub(r' armature="[^"]*"', "", source.read_text(encoding="utf-8")), encoding="utf-8")
    (path,) = export(source, to="urdf", path=tmp_path / "new.urdf")
    expected = compute_torque(read(source))
    assert measure_difference(expected, compute_pinocchio_torque(path, robot)) < TOLERANCE


def test_bounds_that_would_change_an_inertia_are_named(tmp_path: Path) -> None:
    source = write_arm(tmp_path, settings=' boundmass="30"')
    light = change_bodies(read(write_arm(tmp_path)))
    write_arm(tmp_path, settings=' boundmass="30"')
    with pytest.raises(InputError, match=r"compiler settings of arm\.xml .* would change the new inertia of 'a'"):
        export_back(light, source, tmp_path)


# --- new files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur10", "panda", "iiwa14"])
def test_robots_of_the_catalog_as_new_files(name: str, tmp_path: Path) -> None:
    robot = change_bodies(yt.load(name))
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml")
    (old,) = export(yt.load(name), to="mjcf", path=tmp_path / "old.xml", force=True)
    check_torque(robot, old, path)


@pytest.mark.parametrize("name", [*CATALOG, "ring", "ball"])
def test_loops_are_equality_constraints(name: str, tmp_path: Path) -> None:
    described = make_looped_robot(name)
    robot = change_bodies(described).with_drives(lambda _, drive: replace(drive, coulomb=0.0, offset=0.0))
    robot = without_cut_drives(robot)
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml", force=True)
    Q, Qd, Qdd = draw_motion(name)
    x, xd, xdd = differentiate_motion(name)
    expected = np.asarray(yt.inverse_dynamics(robot).one(Q, Qd, Qdd))
    A, b = robot.coupling_map
    assert measure_difference(expected, project_torque(path, robot, A @ x + b, A @ xd, A @ xdd)) < 1e-6
    plain = described.with_drives(lambda *_: Drive())
    (path,) = export(plain, to="mjcf", path=tmp_path / "old.xml", force=True)
    assert measure_difference(expected, project_torque(path, robot, A @ x + b, A @ xd, A @ xdd)) > 1e-3


def without_cut_drives(robot: Robot) -> Robot:
    """The robot without drives at its cut joints, since constraints of MuJoCo have none."""
    return replace(robot, loops=tuple(Loop(replace(loop.joint, drive=Drive())) for loop in robot.loops))


def project_torque(path: Path, robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Torques of the actuated joints: those of the tree, projected on the motions that MuJoCo's constraints allow."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    order = [int(model.joint(joint.name).dofadr[0]) for joint in robot.movable]
    data.qpos[order], data.qvel[order] = q, qd
    mujoco.mj_forward(model, data)
    data.qacc[order] = qdd
    torque = np.zeros(model.nv)
    mujoco.mj_rne(model, data, 1, torque)
    torque += model.dof_armature * data.qacc + np.reshape(model.dof_damping, model.nv) * data.qvel
    equality = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert abs(data.efc_pos[equality]).max() < 1e-6  # the constraints hold at closed poses
    J = data.efc_J.reshape(-1, model.nv)[equality]
    actuated = [int(model.joint(name).dofadr[0]) for name in robot.actuated]
    passive = [k for k in range(model.nv) if k not in actuated]
    E = np.zeros((model.nv, len(actuated)))
    E[actuated] = np.eye(len(actuated))
    E[passive] = -np.linalg.lstsq(J[:, passive], J[:, actuated], rcond=1e-8)[0]
    return E.T @ torque


@pytest.mark.parametrize("name", ["walker", "five-bar"])  # the palletiser has a tendon, which our reader ignores
def test_loops_are_read_back(name: str, tmp_path: Path) -> None:
    robot = without_cut_drives(yt.load(name))
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml", force=True)
    Q, Qd, Qdd = draw_motion(name)
    back = yt.load(path)
    order = [back.actuated.index(joint) for joint in robot.actuated]
    put = np.argsort(order)
    one = np.asarray(yt.inverse_dynamics(back).one(Q[put], Qd[put], Qdd[put]))[order]
    assert measure_difference(np.asarray(yt.inverse_dynamics(robot).one(Q, Qd, Qdd)), one) < TOLERANCE


def test_couplings_and_home(tmp_path: Path) -> None:
    robot = yt.load("ur10")
    first, second, third, *_ = (joint.name for joint in robot.movable)
    couplings = (Coupling(second, ((first, 0.5),), 0.2), Coupling(third, ((first, 0.5), ("wrist_1_joint", 2.0)), 0.1))
    robot = replace(robot, couplings=couplings, actuated=(), home=((first, 0.3),))
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    assert len(data.efc_pos) == 2
    assert abs(data.efc_pos).max() < 1e-12
    data.qpos[0] += 0.1
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos).max() > 0.01
    assert yt.load(path).couplings[0] == couplings[0]
    np.testing.assert_allclose(yt.load(path).coupling_map[0], robot.coupling_map[0], atol=1e-12)
    assert dict(yt.load(path).home)[first] == 0.3


def test_what_mujoco_does_not_accept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="loop 'slide' is cut at a prismatic joint"):
        export(make_looped_robot("slide"), to="mjcf", path=tmp_path / "new.xml", force=True)
    for name in ("puma560", "lu-two-link"):
        with pytest.raises(InputError, match="link 'link1' moves, but its mass or a moment of inertia"):
            export(name, to="mjcf", path=tmp_path / "new.xml", force=True)


def test_hostile_names_survive(tmp_path: Path) -> None:
    hostile = "a\"/><body name='x'>&--"
    robot = replace(yt.load("ur10"), name=hostile)
    (path,) = export(robot, to="mjcf", path=tmp_path / "new.xml")
    assert yt.load(path).name == hostile
