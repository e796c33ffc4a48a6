"""The MJCF reader: gravity, home configuration, actuated coordinates, findings, errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from tests.support.mjcf_models import (
    GEOM,
    check_agreement,
    check_refused,
    mechanism_text,
    read_both,
    read_text,
    world_text,
)
from ytheta.errors import InputError, RobotError


def test_gravity_and_name() -> None:
    body = f"<worldbody><body><joint/>{GEOM}</body></worldbody>"
    robot = read_text(f'<mujoco model="arm"><option gravity="1 2 3"/><option timestep="0.1"/>{body}</mujoco>')
    assert (robot.gravity, robot.name, robot.source) == ((1.0, 2.0, 3.0), "arm", "model.xml")
    plain = read_text(f"<mujoco>{body}</mujoco>")
    assert (plain.gravity, plain.name) == ((0.0, 0.0, -9.81), "model")
    off = read_text(f'<mujoco><option gravity="1 2 3"><flag gravity="disable"/></option>{body}</mujoco>')
    assert off.gravity == (0.0, 0.0, 0.0)


def test_home_is_read_from_the_keyframe() -> None:
    keys = '<keyframe><key name="other" qpos="9 9 9 9 9"/><key name="home" qpos="1 2 3 0.4 0"/></keyframe>'
    robot = read_text(mechanism_text('<joint joint1="a2" joint2="d1"/>', keys))
    assert robot.home == (("a1", 1.0), ("b1", 3.0), ("c1", 0.4))
    short = read_text(mechanism_text("", '<keyframe><key name="home" qpos="1 2"/></keyframe>'))
    assert short.home == (("a1", math.radians(20)), ("c1", 0.3))


def test_positions_of_a_fixed_base_are_left_out_of_keyframes() -> None:
    text = (
        f'<mujoco><worldbody><body><freejoint/>{GEOM}<body><joint name="j"/>{GEOM}</body></body></worldbody>'
        '<keyframe><key name="home" qpos="0 0 0 1 0 0 0 0.5"/></keyframe></mujoco>'
    )
    assert read_text(text, fix_base=True).home == (("j", 0.5),)


@pytest.mark.parametrize(
    ("actuators", "equality", "expected"),
    [
        ("", "", ("e", "a1", "a2")),
        ('<motor joint="c1"/><motor joint="b1"/><motor joint="c1"/>', "", ("c1", "b1", "e")),
        ('<motor joint="e"/>', "", ("e", "a1", "a2")),
        ('<motor joint="a1"/>', '<joint joint1="a1" joint2="d1" polycoef="0 2"/>', ("d1", "e")),
        ('<motor tendon="t"/>', "", ("c1", "e", "a1")),
    ],
)
def test_actuated_coordinates_of_loops(actuators: str, equality: str, expected: Sequence[str]) -> None:
    tendon = '<tendon><fixed name="t"><joint joint="c1" coef="2"/></fixed></tendon>'
    text = mechanism_text(
        f'<connect body1="b" body2="d" anchor="0 0 0"/>{equality}', f"<actuator>{actuators}</actuator>{tendon}"
    )
    robot = read_text(text.replace("</worldbody>", f'<body><joint name="e"/>{GEOM}</body></worldbody>'))
    assert robot.actuated == tuple(expected)


def test_without_loops_all_coordinates_are_actuated() -> None:
    robot = read_text(mechanism_text('<joint joint1="a1" joint2="d1"/>', '<actuator><motor joint="b1"/></actuator>'))
    assert robot.actuated == ("a2", "b1", "c1", "d1")


def test_ignored_elements_give_warnings() -> None:
    text = (
        '<mujoco><option density="1.2" viscosity="0.1"/><worldbody><body name="a" gravcomp="1">'
        '<joint name="j" damping="1 2"/>'
        f'<joint name="k" axis="1 0 0" springdamper="0.1 1" damping="4"/>{GEOM}</body></worldbody>'
        '<tendon><fixed name="t" stiffness="2"><joint joint="j" coef="1"/></fixed><spatial name="s"/></tendon>'
        '<equality><tendon tendon1="s"/><joint joint1="j" joint2="k" polycoef="0 1 1"/></equality></mujoco>'
    )
    robot = read_text(text)
    warnings = "\n".join(note.text for note in robot.findings if note.is_warning)
    for piece in (
        "the quadratic and cubic damping of joints is ignored: j",
        "(springdamper) are ignored: k",
        "(gravcomp) of bodies is ignored: a",
        "springs, dampers, friction, rotor inertia and limits of tendons are ignored: t",
        "spatial tendons are ignored, with their springs, dampers and actuators: s",
        "nonlinear couplings of joints are ignored, so that these joints move independently: <joint> in line 1",
        "forces of the fluid around the robot are ignored: density, viscosity",
        "equality constraints of tendons and flexes are ignored: <tendon> in line 1",
    ):
        assert piece in warnings
    assert (robot.joint("j").drive.viscous, robot.joint("k").drive.viscous) == (1.0, 0.0)


def test_other_elements_are_ignored() -> None:
    text = world_text(
        f'<light/><camera/><geom type="plane" size="1 1 1"/><body><joint/>{GEOM}<camera/><site/></body>',
        "<visual/><statistic/><size/><sensor/><contact/><custom/><extension/><deformable/><keyframe/><asset/>",
    )
    check_agreement(*read_both(text))


def test_rounded_angles_are_snapped_and_noted() -> None:
    text = world_text(
        f"""
        <body name="a" euler="1.5708 0 0"><joint name="j" axis="1e-5 0 1" ref="1.5708"/>
          <geom type="box" size="1 2 3" euler="1.5708 0 0"/>
          <frame quat="0.70711 0.7071 0 0"><body name="b"><joint/>{GEOM}</body></frame></body>""",
        '<compiler angle="radian"/>',
    )
    robot = read_text(text, snap=1e-4)
    first, second = robot.joint("j"), robot.joint("b.joint")
    assert first.placement.rotation == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    assert first.axis == (0.0, 0.0, 1.0)
    assert first.seat.rotation == ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert second.placement.rotation == first.placement.rotation
    assert any("4 rounded angles" in note.text for note in robot.findings)
    kept, model = read_both(text)
    check_agreement(kept, model)
    assert not kept.findings
    assert kept.links[1].inertia == robot.links[1].inertia


@pytest.mark.parametrize(
    "text",
    [
        world_text(f'<body name="a"><joint name="j"/>{GEOM}</body><body name="b"><joint name="j"/>{GEOM}</body>'),
    ],
)
def test_contradictions_are_robot_errors(text: str) -> None:
    with pytest.raises(RobotError):
        read_text(text)


def test_every_error_is_an_input_error() -> None:
    with pytest.raises(InputError):
        read_text(world_text("<replicate/>"))


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ("", "", "<worldbody> has no body; load the main file of the model"),
        ("<flexcomp/>", "", "<worldbody> has only soft bodies .flexcomp., which are not supported"),
        ("<body/>", '<option gravity="0 0"/>', "gravity='0 0' should contain 3 numbers"),
        ("<body/>", '<option><flag gravity="off"/></option>', "gravity='off' is unknown; use one of enable, disable"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)


ARM = f'<body name="a"><joint name="j"/>{GEOM}{{}}</body>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            world_text('<flexcomp name="cloth" type="grid" count="3 3 1" spacing="1 1 1" dim="2"/>' + ARM.format("")),
            "soft bodies (flex) are ignored, and so are their forces on the robot: cloth",
        ),
        (
            world_text(ARM.format(""), '<deformable><flex name="band" dim="1" body="a world"/></deformable>'),
            "soft bodies (flex) are ignored, and so are their forces on the robot: band",
        ),
        (
            world_text(ARM.format('<plugin plugin="mujoco.elasticity.cable"/>')),
            "forces of plugins on bodies are ignored: a",
        ),
    ],
)
def test_parts_that_a_robot_cannot_have_are_ignored_with_a_warning(text: str, message: str) -> None:
    robot = read_text(text)
    assert robot == read_text(world_text(ARM.format("")))
    assert [finding.text for finding in robot.findings if finding.is_warning] == [message]


def test_skins_are_only_for_the_eye() -> None:
    skin = '<skin name="s" vertex="0 0 0"><bone body="a" bindpos="0 0 0" vertid="0" vertweight="1"/></skin>'
    assert not read_text(world_text(ARM.format(""), f"<deformable>{skin}</deformable>")).findings


def test_a_soft_body_that_a_link_carries_is_refused() -> None:
    check_refused(ARM.format("<flexcomp/>"), "", "<flexcomp> generates elements")
