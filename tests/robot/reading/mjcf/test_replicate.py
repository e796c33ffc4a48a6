"""Copies of a part of the tree against MuJoCo."""

from __future__ import annotations

import pytest

from tests.support.mjcf_models import GEOM, check_agreement, pose_error, read_both, read_text, world_text
from ytheta.errors import RobotFileError

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
