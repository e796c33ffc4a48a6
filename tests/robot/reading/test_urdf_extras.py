"""Elements of Gazebo and Drake in a URDF: rotors are read, the others are named in warnings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError, RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.parts import ShapeKind
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot

ARM = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="q1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>{joint}</joint>
{extra}</robot>"""
ROTOR = """<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="q1"/>
<actuator name="m"><drake:rotor_inertia value="0.002"/>{ratio}</actuator></transmission>"""


def read(extra: str = "", joint: str = "") -> Robot:
    path = Path("r.urdf")
    return read_urdf(parse_xml(ARM.format(extra=extra, joint=joint).encode(), path), path, 0.0)


@pytest.mark.parametrize(
    ("extra", "joint", "statement"),
    [
        (
            '<gazebo><joint name="end" type="revolute"><parent>a</parent><child>base</child></joint></gazebo>',
            "",
            "joints in <gazebo>, which may close loops, are ignored: end",
        ),
        (
            '<gazebo reference="q1"><springStiffness>3</springStiffness></gazebo>',
            "",
            "springs of joints are ignored: q1",
        ),
        ("", '<dynamics damping="1" spring_stiffness="3"/>', "springs of joints are ignored: q1"),
        (
            "<drake:linear_bushing_rpy/><loop_joint/>",
            "",
            "elements that URDF does not define are ignored, although they may change the dynamics: "
            "<drake:linear_bushing_rpy> (line 5), <loop_joint> (line 5)",
        ),
    ],
)
def test_elements_that_may_change_the_dynamics_are_named(extra: str, joint: str, statement: str) -> None:
    (finding,) = read(extra, joint).findings
    assert finding.is_warning
    assert finding.text.startswith(statement)


@pytest.mark.parametrize(
    ("extra", "joint"),
    [
        ('<gazebo reference="q1"><implicitSpringDamper>1</implicitSpringDamper></gazebo>', ""),
        ('<gazebo reference="q1"><springStiffness>0.0</springStiffness></gazebo>', ""),
        ('<gazebo><plugin name="p" filename="f"><joint name="q1"/></plugin></gazebo>', ""),
        ("", '<dynamics spring_stiffness="0" spring_reference="0"/>'),
        ('<drake:collision_filter_group name="g"/><ros2_control name="c"><joint name="q1"/></ros2_control>', ""),
    ],
)
def test_other_elements_are_not_named(extra: str, joint: str) -> None:
    assert read(extra, joint).findings == ()


def test_joints_of_drake_are_refused() -> None:
    with pytest.raises(RobotFileError, match=r"line 5, <drake:joint name='k'>: .* type 'planar', are not supported"):
        read('<drake:joint name="k" type="planar"/>')


@pytest.mark.parametrize(("ratio", "reflected"), [("", 0.002), ('<drake:gear_ratio value="50"/>', 5.0)])
def test_rotors_of_drake_have_the_reflected_inertia(ratio: str, reflected: float) -> None:
    """Drake adds rotor inertia times the square of the gear ratio to the mass matrix."""
    with_rotor, without = (yt.mass_matrix(read(extra))(np.zeros((1, 1))) for extra in (ROTOR.format(ratio=ratio), ""))
    assert np.isclose(float(with_rotor[0, 0, 0] - without[0, 0, 0]), reflected, rtol=1e-9)


def test_transmissions_without_a_rotor_change_nothing() -> None:
    reduction = "<mechanicalReduction>50</mechanicalReduction>"
    other = '<transmission name="t"><joint name="q1"/><actuator name="m">{}</actuator></transmission>'
    assert read(other.format(reduction)).joints == read().joints


def test_acceleration_limits_of_drake_are_read() -> None:
    assert read(joint='<limit drake:acceleration="7"/>').joint("q1").limits.acceleration == 7.0


def test_a_world_that_is_not_in_the_file_is_added() -> None:
    weld = '<joint name="weld" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 1"/></joint>'
    robot = read(weld)
    assert robot.base.name == "world"
    assert [finding.text for finding in robot.findings] == [
        "the link 'world' is not in the file; a link without mass is added, as Drake does"
    ]
    declared = read(weld + '<link name="world"/>')
    assert {joint.name: joint for joint in declared.joints} == {joint.name: joint for joint in robot.joints}
    assert declared.findings == ()
    with pytest.raises(InputError, match="its parent link 'wrld' does not exist"):
        read(weld.replace("world", "wrld"))


@pytest.mark.parametrize(
    ("shape", "kind", "size"),
    [
        ('<drake:capsule radius="0.1" length="0.5"/>', ShapeKind.CAPSULE, (0.1, 0.5)),
        ('<drake:ellipsoid a="0.1" b="0.2" c="0.3"/>', ShapeKind.ELLIPSOID, (0.1, 0.2, 0.3)),
    ],
)
def test_shapes_of_drake_are_read(shape: str, kind: ShapeKind, size: tuple[float, ...]) -> None:
    robot = read(
        f'<link name="b"><collision><geometry>{shape}</geometry></collision></link>'
        '<joint name="f" type="fixed"><parent link="a"/><child link="b"/></joint>'
    )
    assert [(shape.kind, shape.size) for shape in robot.collision] == [(kind, size)]
