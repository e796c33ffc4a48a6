"""Loops of robot.yaml beside a URDF against Pinocchio's constraints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

from tests.support.paths import SHARED_ROBOTS
from ytheta.errors import InputError, RobotFileError
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.reading.load import load

FOLDER = SHARED_ROBOTS / "gepetto"
NAMES = ("5bar_linkage", "digit_like", "robot_delta")
needs_samples = pytest.mark.skipif(not FOLDER.is_dir(), reason="the robots of Gepetto are not in ../shared/robots")


def count_freedom(folder: Path, q_by_name: dict[str, float]) -> int:
    """Degrees of freedom by the rank of Pinocchio's constraint Jacobian at a pose."""
    model = pin.buildModelFromUrdf(str(folder / "robot.urdf"))
    table = yaml.safe_load((folder / "robot.yaml").read_text())
    contacts = []
    for (first, second), kind in zip(table["closed_loop"], table["type"], strict=True):
        frames = [model.frames[model.getFrameId(name)] for name in (first, second)]
        contacts.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_6D if kind.lower() == "6d" else pin.ContactType.CONTACT_3D,
                model,
                frames[0].parentJoint,
                frames[0].placement,
                frames[1].parentJoint,
                frames[1].placement,
                pin.ReferenceFrame.LOCAL,
            )
        )
    q = pin.neutral(model)
    for name, value in q_by_name.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    datas = [contact.createData() for contact in contacts]
    jacobian = np.vstack(
        [pin.getConstraintJacobian(model, data, contact, d) for contact, d in zip(contacts, datas, strict=True)]
    )
    return model.nv - int(np.linalg.matrix_rank(jacobian, tol=1e-6))


@needs_samples
@pytest.mark.parametrize("name", NAMES)
def test_loops_leave_as_many_coordinates_free_as_in_pinocchio(name: str) -> None:
    robot = load(FOLDER / name)
    closure = close_loops(robot).or_raise()
    positions = dict(zip([joint.name for joint in robot.movable], closure.q, strict=True))
    assert len(robot.actuated) == closure.freedom == count_freedom(FOLDER / name, positions)
    table = yaml.safe_load((FOLDER / name / "robot.yaml").read_text())
    assert len(robot.loops) == len(table["closed_loop"])
    assert set(table["name_mot"]) <= set(robot.actuated)


@needs_samples
@pytest.mark.parametrize("file", ["", "robot.yaml", "robot.urdf"])
def test_the_folder_and_both_files_name_the_robot(file: str) -> None:
    robot = load(FOLDER / "5bar_linkage" / file)
    assert len(robot.loops) == 1
    assert any("1 loops are closed as robot.yaml says" in finding.text for finding in robot.findings)


LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/>'
    '<axis xyz="0 0 1"/></joint>'
)
FOUR_BAR = (
    '<robot name="r"><link name="base"/>'
    + "".join(LINK.format(name) for name in "abc")
    + JOINT.format("ja", "base", "a", "0 0 0")
    + JOINT.format("jb", "a", "b", "0 0.5 0")
    + JOINT.format("jc", "base", "c", "1 0 0")
    + '<link name="end"/><link name="top"/>'
    + '<joint name="je" type="fixed"><parent link="b"/><child link="end"/><origin xyz="1 0 0"/></joint>'
    + '<joint name="jt" type="fixed"><parent link="c"/><child link="top"/><origin xyz="0 0.5 0"/></joint>'
    + "</robot>"
)


def write(folder: Path, table: str) -> Path:
    (folder / "robot.urdf").write_text(FOUR_BAR)
    (folder / "robot.yaml").write_text(table)
    return folder


def test_points_coincide(tmp_path: Path) -> None:
    robot = load(write(tmp_path, "closed_loop: [[end, top]]\ntype: [3D]\nname_mot: [ja]\n"))
    assert robot.actuated == ("ja",)
    closure = close_loops(robot, {"ja": 0.4}).or_raise()
    assert closure.coordinates["jb"] == pytest.approx(-0.4)  # a parallelogram
    assert closure.coordinates["jc"] == pytest.approx(0.4)


def test_spherical_and_universal_joints_are_hinges(tmp_path: Path) -> None:
    table = "closed_loop: [[je, jt]]\ntype: [3d]\nname_mot: [ja]\n"
    robot = load(write(tmp_path, table + "joint_name: [jb, jc]\njoint_type: [SPHERICAL, UJOINT_ZY]\n"))
    assert [joint.name for joint in robot.movable] == ["ja", "jb.x", "jb.y", "jb.z", "jc.z", "jc.y"]
    assert close_loops(robot).or_raise().freedom == 3
    assert {link.name for link in robot.links if not link.has_inertia} == {"b.x", "b.y", "c.z"}
    owners = {name.rpartition(".")[0] for name in base_parameters(robot).selected}
    assert owners == {"a", "b", "c"}
    plain = load(write(tmp_path, table))  # the twin: links without mass in the URDF are those of the user
    assert all(link.has_inertia for link in plain.links)


def test_a_table_that_belongs_to_another_file_is_said(tmp_path: Path) -> None:
    write(tmp_path, "closed_loop: [[end, top]]\ntype: [3d]\n")
    other = tmp_path / "other.urdf"
    other.write_text(FOUR_BAR)
    robot = load(other)
    assert not robot.loops
    (finding,) = [finding for finding in robot.findings if finding.code == "loops"]
    assert finding.is_warning
    assert "are not used: the robot is read as an open tree; load the folder" in finding.text


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("closed_loop: [[end, nothing]]\ntype: [3d]\n", "there is no joint or link 'nothing'"),
        ("closed_loop: [[end]]\ntype: [3d]\n", "should be a pair of names of frames"),
        ("closed_loop: [[end, top]]\ntype: []\n", "there are 1 closed loops, but 0 entries in 'type'"),
        ("closed_loop: [[end, top]]\ntype: [4d]\n", "type: '4d' is unknown; use 6d or 3d"),
        ("closed_loop: [[end, top]]\ntype: [3d]\nname_mot: [jx]\n", "name_mot: there is no movable joint 'jx'"),
        ("closed_loop: [[end, top]]\ntype: [3d]\njoint_name: [jb]\n", "there are 1 joint_name, but 0 joint_type"),
        (
            "closed_loop: [[end, top]]\ntype: [3d]\njoint_name: [jb]\njoint_type: [SCREW]\n",
            "joint_type: 'SCREW' is unknown",
        ),
        ("closed_loop: &a [[end, top]]\ntype: *a\n", "has aliases"),
        ("[1, 2", "is not valid YAML"),
        ("- 1\n", "should contain keys"),
        ("closed_loop: 3\n", "closed_loop should be a list"),
    ],
)
def test_mistakes(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=message):
        load(write(tmp_path, table))


def test_loops_that_cannot_close_are_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path, "closed_loop: [[end, top]]\ntype: [3d]\nname_mot: [ja]\n")
    (folder / "robot.urdf").write_text(FOUR_BAR.replace('xyz="1 0 0"/><axis', 'xyz="9 0 0"/><axis'))
    with pytest.raises(InputError, match="cannot close"):
        load(folder)
