"""Attached models against MuJoCo."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from tests.support.mjcf_models import GEOM, check_agreement, pose_error, read, read_both, read_text, world_text
from ytheta.errors import RobotFileError
from ytheta.robot.robot import Robot

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


# Copies of a part of the tree against MuJoCo.


BODY = f'<body name="a" pos="1 0 0"><joint name="j"/>{GEOM}</body>'


@pytest.mark.parametrize("sequence", ["xyz", "XYZ"])
def test_copies_are_those_of_mujoco(sequence: str) -> None:
    copies = f'<replicate count="12" offset="0.1 0.2 0.3" euler="10 20 30" sep="-">{BODY}</replicate>'
    robot, model = read_both(world_text(copies, f'<compiler eulerseq="{sequence}"/>'))
    check_agreement(robot, model)
    assert robot.movable[3].name == "j-03"


def test_nested_copies() -> None:
    inner = f'<body name="b"><joint name="k" axis="1 0 0"/>{GEOM}</body>'
    outer = f'<body name="a"><joint name="j"/>{GEOM}<replicate count="2" offset="1 0 0">{inner}</replicate></body>'
    check_agreement(*read_both(world_text(f'<replicate count="11" euler="0 0 30">{outer}</replicate>')))


def test_another_offset_is_detected() -> None:
    text = world_text(f'<replicate count="3" offset="0.1 0 0" euler="0 0 30">{BODY}</replicate>')
    _, model = read_both(text)
    assert pose_error(read_text(text.replace("0.1 0 0", "0.1001 0 0")), model) > 1e-5


@pytest.mark.parametrize(
    ("count", "message"), [("1e9", "should be a whole number"), ("-1", "whole number"), ("1.5", "whole number")]
)
def test_counts_are_bounded(count: str, message: str) -> None:
    with pytest.raises(RobotFileError, match=message):
        read_text(world_text(f'<replicate count="{count}">{BODY}</replicate>'))


def test_nested_copies_are_bounded() -> None:
    text = BODY
    for _ in range(3):
        text = f'<replicate count="1000" offset="1 0 0">{text}</replicate>'
    with pytest.raises(RobotFileError, match="makes more than 200000 elements"):
        read_text(world_text(text))


# Tendons, constraints and actuators of copies against MuJoCo.


PAIR = f"""<body name="a" pos="0 0 1"><joint name="j"/><site name="s" pos="0.2 0 0"/>{GEOM}
  <body name="b" pos="1 0 0"><joint name="k"/>{GEOM}</body></body>"""
BESIDE = f'<body name="other"><joint name="o"/>{GEOM}</body>'


def read_copies(sections: str, tree: str = "") -> tuple[Robot, mujoco.MjModel]:
    tree = tree or f'<replicate count="2" offset="0 2 0" sep="-">{PAIR}</replicate>'
    return read_both(f"<mujoco><worldbody>{BESIDE}{tree}</worldbody>{sections}</mujoco>")


def test_couplings_of_copies_are_copied() -> None:
    equality = '<equality><joint name="e" joint1="k" joint2="j" polycoef="0 2 0 0 0"/></equality>'
    robot, model = read_copies(equality)
    assert [(c.joint, c.terms) for c in robot.couplings] == [("k-0", (("j-0", 2.0),)), ("k-1", (("j-1", 2.0),))]
    assert [model.equality(i).name for i in range(model.neq)] == ["e-0", "e-1"]


def test_loops_of_copies_are_copied() -> None:
    robot, model = read_copies('<equality><connect name="e" body1="b" anchor="0 0 0"/></equality>')
    assert [(loop.name, loop.joint.parent, loop.joint.child) for loop in robot.loops] == [
        ("e-0", "b-0", "world"),
        ("e-1", "b-1", "world"),
    ]
    assert model.neq == 2


def test_actuators_and_tendons_of_copies_are_copied() -> None:
    """A tendon may also move a joint beside the copies, and actuators of other joints stay as they are."""
    tendon = '<fixed name="t"><joint joint="j" coef="1"/><joint joint="o" coef="3"/></fixed>'
    actuators = '<motor tendon="t" forcerange="-2 2"/><motor joint="k" forcerange="-5 5"/><motor joint="o"/>'
    robot, model = read_copies(f"<tendon>{tendon}</tendon><actuator>{actuators}</actuator>")
    effort = {joint.name: joint.limits.effort for joint in robot.movable}
    assert effort == {"o": float("inf"), "j-0": 2.0, "k-0": 5.0, "j-1": 2.0, "k-1": 5.0}
    assert (model.ntendon, model.nu) == (2, 5)


def test_a_constraint_between_a_copy_and_the_rest_is_dropped_as_by_mujoco() -> None:
    robot, model = read_copies('<equality><joint joint1="j" joint2="o"/><joint joint1="o"/></equality>')
    assert [coupling.joint for coupling in robot.couplings] == ["o"]
    assert model.neq == 1


def test_names_belong_to_kinds_of_elements() -> None:
    """A joint beside the copies has the name of a body in them."""
    tree = f'<body name="c"><joint name="a"/>{GEOM}</body><replicate count="2" offset="0 2 0">{PAIR}</replicate>'
    robot, model = read_copies('<actuator><motor joint="a" forcerange="-3 3"/></actuator>', tree)
    assert robot.joint("a").limits.effort == 3.0
    assert model.nu == 1


def test_actuators_of_nested_copies() -> None:
    inner = f'<replicate count="2" offset="0 1 0">{PAIR}</replicate>'
    outer = f'<replicate count="3" offset="1 0 0">{inner}</replicate>'
    robot, model = read_copies('<actuator><motor joint="j" forcerange="-3 3"/></actuator>', outer)
    names = {model.joint(int(k)).name for k in model.actuator_trnid[:, 0]}
    assert {joint.name for joint in robot.movable if joint.limits.effort == 3.0} == names
    assert len(names) == 6


def test_copies_of_what_refers_are_bounded() -> None:
    actuators = '<motor joint="j"/>' * 200
    text = world_text(f'<replicate count="1500">{PAIR}</replicate>', f"<actuator>{actuators}</actuator>")
    with pytest.raises(RobotFileError, match="makes more than 200000 elements"):
        read_text(text)
