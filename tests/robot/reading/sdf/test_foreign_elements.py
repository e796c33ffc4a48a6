"""Elements that SDF does not define are named in a warning, unless they are harmless or read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sdf_loops import LOOPS
from tests.support.sdf_models import HAND, MODELS, ON_WORLD, make_document, make_joint, make_link
from ytheta.files.xml_document import parse_xml
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot


def read(text: str) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, 0.0)


def make_arm(*, model: str = "", link: str = "", joint: str = "", axis: str = "") -> str:
    return make_document(
        make_link("base")
        + make_link("a", extra=link)
        + ON_WORLD
        + make_joint("j", "base", "a", axis=f"<xyz>0 0 1</xyz>{axis}", extra=joint)
        + model,
    ).replace("<sdf ", '<sdf xmlns:drake="http://drake.mit.edu" ')


def find_warnings(robot: Robot) -> list[str]:
    return [finding.text for finding in robot.findings if "does not define" in finding.text and finding.is_warning]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (make_arm(model="<drake:ball_constraint/>"), "<drake:ball_constraint> in <model>"),
        (make_arm(model="<drake:linear_bushing_rpy/>" * 3), "<drake:linear_bushing_rpy> in <model>"),
        (make_arm(link="<soft_shape><total_mass>2</total_mass></soft_shape>"), "<soft_shape> in <link>"),
        (make_arm(link="<weight>2</weight>"), "<weight> in <link>"),
        (make_arm(joint='<drake:mimic joint="i"/>'), "<drake:mimic> in <joint>"),
        (make_arm(joint="<dynamics><damping>1</damping></dynamics>"), "<dynamics> in <joint>"),
        (make_arm(axis="<damping>1</damping>"), "<damping> in <axis>"),
        (make_arm(axis="<dynamics><stiffness>1</stiffness></dynamics>"), "<stiffness> in <dynamics>"),
        (make_arm().replace("<mass>2.0</mass>", "<mass>2</mass><com>0 0 1</com>"), "<com> in <inertial>"),
    ],
)
def test_elements_that_sdf_does_not_define_are_named_once(text: str, place: str) -> None:
    (warning,) = find_warnings(read(text))
    assert warning == (
        "elements that SDF does not define are ignored, although they may change the dynamics: "
        f"{place} (model.sdf, line {1 + text[: text.index(place[1 : place.index('>')])].count(chr(10))})"
    )


@pytest.mark.parametrize(
    "text",
    [
        make_arm(link="<contact><lateral_friction>1</lateral_friction></contact>"),
        make_arm(joint="<drake:controller_gains p='1' d='2'/>"),
        make_arm(model="<drake:collision_filter_group name='g'/>"),
        make_arm(model='<plugin name="p" filename="f"><anything/></plugin>'),
        make_arm(joint="<physics><ode><provide_feedback>1</provide_feedback></ode></physics>"),
        make_arm(link='<sensor name="s" type="imu"><own/></sensor>'),
        make_arm(axis="<limit><lower>0</lower><stiffness>1</stiffness></limit>"),
        *MODELS.values(),
        *LOOPS.values(),
        HAND,
    ],
)
def test_elements_of_sdf_and_harmless_ones_are_not_named(text: str) -> None:
    assert find_warnings(read(text)) == []


def test_other_models_of_a_world_are_not_searched() -> None:
    table = make_document(make_link("t", extra="<cushion/>"), name="table")
    both = make_arm(model="<spring/>").replace("</sdf>", "") + table.removeprefix('<sdf version="1.9">')
    text = both.replace("<model", '<world name="w"><model', 1).replace("</sdf>", "</world></sdf>")
    (warning,) = find_warnings(read(text))
    assert "<spring>" in warning
    assert "<cushion>" not in warning


def test_the_acceleration_limit_of_drake_is_read() -> None:
    limit = "<limit><drake:acceleration>7</drake:acceleration></limit>"
    robot = read(make_arm(axis=limit))
    assert robot.joint("j").limits.acceleration == 7.0
    assert find_warnings(robot) == []
