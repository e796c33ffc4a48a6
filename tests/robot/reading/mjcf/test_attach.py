"""Attached models against MuJoCo."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from tests.support.mjcf_models import check_agreement, pose_error, read
from ytheta.errors import RobotFileError

CHILD = """<mujoco model="c"><compiler angle="radian"/>
<default><geom density="500"/><joint armature="0.1"/><default class="k"><joint damping="3"/></default></default>
<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<worldbody><body name="root" pos="0 0 1" euler="0.3 0 0" childclass="k"><joint name="j" range="-1 1" ref="0.2"/>
<geom size="0.1"/><site name="s"/><body name="b" pos="0 1 0" axisangle="0 1 0 0.5"><joint name="j2" axis="0 1 0"/>
<geom type="mesh" mesh="m"/></body></body><body name="other"><joint name="o"/><geom size="0.1"/></body></worldbody>
<equality><joint joint1="j" joint2="j2"/><joint joint1="j" joint2="o"/></equality>
<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
<actuator><motor name="m" joint="j" ctrlrange="-2 2"/><motor joint="o"/><motor tendon="t"/></actuator></mujoco>"""
PARENT = """<mujoco><default><joint damping="7"/><geom density="100"/></default>
<asset><model name="cm" file="c.xml"/></asset><worldbody><body name="base" pos="1 2 3"><joint name="first"/>
<geom size="0.1"/><frame euler="0 90 0" pos="0 0 5"><attach model="cm" {body} prefix="x_"/></frame></body></worldbody>
</mujoco>"""


def write(folder: Path, child: str = CHILD, parent: str = PARENT, body: str = 'body="root"') -> Path:
    (folder / "c.xml").write_text(child)
    (folder / "p.xml").write_text(parent.format(body=body))
    return folder / "p.xml"


@pytest.mark.parametrize("body", ['body="root"', 'body="b"', ""])
def test_an_attached_model_is_that_of_mujoco(tmp_path: Path, body: str) -> None:
    path = write(tmp_path, body=body)
    robot, model = read(path), mujoco.MjModel.from_xml_path(str(path))
    check_agreement(robot, model)
    assert len(robot.couplings) == model.neq


def test_the_part_keeps_its_own_names_actuators_and_constraints(tmp_path: Path) -> None:
    robot = read(write(tmp_path))
    assert [joint.name for joint in robot.movable] == ["first", "x_j", "x_j2"]
    assert [coupling.joint for coupling in robot.couplings] == ["x_j"]  # that of 'other' is left out
    assert robot.joint("x_j").limits.effort == float("inf")  # the motor of the tendon has no limit


@pytest.mark.parametrize(("root", "name"), [("<mujoco>", "MuJoCo Model"), ('<mujoco model="c">', "c")])
def test_a_model_without_a_name_has_that_of_its_file(tmp_path: Path, root: str, name: str) -> None:
    parent = PARENT.replace('<model name="cm"', "<model").replace('model="cm"', f'model="{name}"')
    path = write(tmp_path, CHILD.replace('<mujoco model="c">', root), parent)
    check_agreement(read(path), mujoco.MjModel.from_xml_path(str(path)))


def test_copies_of_an_attached_model(tmp_path: Path) -> None:
    """Each copy has the joints, constraints, tendons and actuators of the attached model."""
    attach = '<attach model="cm" {body} prefix="x_"/>'
    path = write(tmp_path, parent=PARENT.replace(attach, f'<replicate count="2" euler="0 0 9">{attach}</replicate>'))
    robot, model = read(path), mujoco.MjModel.from_xml_path(str(path))
    check_agreement(robot, model)
    assert [joint.name for joint in robot.movable] == ["first", "x_j0", "x_j20", "x_j1", "x_j21"]
    assert [coupling.joint for coupling in robot.couplings] == ["x_j0", "x_j1"]
    assert (model.neq, model.ntendon, model.nu) == (2, 2, 4)


def test_units_of_the_attached_model_are_converted(tmp_path: Path) -> None:
    path = write(tmp_path)
    wrong = read(path), mujoco.MjModel.from_xml_path(str(write(tmp_path, CHILD.replace("0.3 0 0", "0.3001 0 0"))))
    assert pose_error(*wrong) > 1e-5


@pytest.mark.parametrize(
    ("child", "parent", "body", "message"),
    [
        (CHILD, PARENT, 'body="rot"', "the attached model has no body 'rot'.*'root'"),
        (CHILD, PARENT.replace('model="cm"', 'model="xm"'), "", "there is no model 'xm' in <asset>"),
        (CHILD.replace('"c"', '"d"'), PARENT.replace(' name="cm"', ""), "", "no model 'cm' in <asset>; choose from: d"),
        (CHILD, PARENT.replace("c.xml", "p.xml"), "", "the model attaches itself"),
        (CHILD, PARENT.replace("c.xml", "../c.xml"), "", "leaves the robot's folder"),
        (CHILD.replace('angle="radian"', 'boundmass="1"'), PARENT, "", "another compiler setting 'boundmass'"),
        ('<robot name="c"/>', PARENT, "", "is not an MJCF file"),
    ],
)
def test_mistakes(tmp_path: Path, child: str, parent: str, body: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=message):
        read(write(tmp_path, child, parent, body))
