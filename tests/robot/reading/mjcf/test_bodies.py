"""Bodies and frames of MJCF files against MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.mjcf_models import (
    GEOM,
    check_agreement,
    check_refused,
    read_both,
    read_text,
    world_text,
)
from ytheta.robot.kinematics import link_poses


def test_frames_apply_to_all_elements_inside() -> None:
    text = world_text(
        f"""
        <frame pos="1 0 0" euler="0 0 90" childclass="damped">
          <body name="a" pos="0 1 0">
            <frame euler="30 40 50" pos="0.1 0.2 0.3">
              <joint name="j" pos="0 0.5 0" axis="1 0 0"/>
              <frame axisangle="0 1 0 20"><geom type="box" size=".1 .2 .3"/></frame>
              <body name="b" pos="0 0 1"><joint type="slide"/>{GEOM}</body>
            </frame>
            <body name="c"><joint class="main"/>{GEOM}</body>
            <frame pos="0 0 2"><body name="d"><joint/><frame pos="1 1 1" euler="0 9 0">
              <inertial pos="0 0 1" mass="1" diaginertia="1 2 2"/></frame></body></frame>
          </body>
        </frame>
        <body name="e"><joint/>{GEOM}</body>""",
        '<default><default class="damped"><joint damping="7"/></default></default>',
    )
    robot, model = read_both(text)
    check_agreement(robot, model)
    assert [link.name for link in robot.links] == ["world", "a", "b", "c", "d", "e"]


def test_generated_names_are_unique() -> None:
    text = world_text(
        f'<body name="body2"><joint name="body2.joint"/>{GEOM}</body><body><joint/><joint/>{GEOM}</body>'
        f'<body name="body2.joint"><joint/>{GEOM}</body><body name="body2_2.joint">{GEOM}</body>'
    )
    names = [link.name for link in read_text(text).links]
    assert names == ["world", "body2", "body2_2.joint_2", "body2_2", "body2.joint", "body2_2.joint"]


def test_long_chains_of_bodies_are_read() -> None:
    depth = 480
    text = world_text('<body pos="0.01 0 0">' * depth + f"<joint/>{GEOM}" + "</body>" * depth)
    robot = read_text(text)
    assert len(robot.links) == depth + 1
    assert link_poses(robot, np.zeros(1))[f"body{depth}"][0, 3] == pytest.approx(0.01 * depth)


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ('<body name="a"><body name="a"/></body>', "", "the body name 'a' is used twice"),
        ('<body name="world"><joint/></body>', "", "the body name 'world' is used twice"),
        (
            '<body><inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/></body>',
            "",
            "the body has two <inertial> elements; keep one",
        ),
        ("<body><composite/></body>", "", r"<composite> generates elements.*mj_saveLastXML"),
        ("<frame><flexcomp/></frame>", "", r"<flexcomp> generates elements.*mj_saveLastXML"),
        ('<frame scale="2"/>', "", "'scale' of a frame is not supported"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)
