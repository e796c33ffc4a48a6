"""Orientations in MJCF files against MuJoCo."""

from __future__ import annotations

import pytest

from tests.support.mjcf_models import (
    check_agreement,
    check_refused,
    read_both,
    world_text,
)


@pytest.mark.parametrize("sequence", ["xyz", "zyx", "XYZ", "ZYX", "xYz", "zxz", "YxZ"])
@pytest.mark.parametrize("unit", ["degree", "radian"])
def test_euler_sequences(sequence: str, unit: str) -> None:
    text = world_text(
        '<body euler="0.3 -1.2 2.5"><joint/><geom type="box" size=".1 .2 .3" euler="3 2 1"/></body>',
        f'<compiler eulerseq="{sequence}"/><compiler angle="{unit}"/>',
    )
    check_agreement(*read_both(text))


@pytest.mark.parametrize(
    "turn",
    [
        'quat="1 -2 3 4"',
        'axisangle="1 2 3 40"',
        'euler="10 20 30"',
        'xyaxes="1 2 3 -1 0.5 1"',
        'zaxis="1 2 -3"',
        'zaxis="0 0 -1"',
        'zaxis="0 0 1"',
    ],
)
def test_orientations(turn: str) -> None:
    text = world_text(
        f'<frame {turn} pos="1 0 0"><body {turn}><joint axis="1 1 0"/>'
        f'<geom type="box" size=".1 .2 .3" pos="1 2 3" {turn}/>'
        f'<body {turn}><joint/><inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5" {turn}/></body></body></frame>'
    )
    check_agreement(*read_both(text))


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ('<body quat="0 0 0 0"/>', "", "a quaternion of zeros is not a rotation"),
        ('<body zaxis="0 0 1e-20"/>', "", "zaxis='0 0 1e-20' does not define a direction"),
        ('<body><geom type="capsule" size="1" fromto="0 0 0 1e200 0 0"/></body>', "", "is too large; give smaller"),
        ('<body euler="1e308 0 0"/>', "", "the angle .* rad is larger than"),
        ('<body quat="1 0 0 0" euler="0 0 0"/>', "", "the orientation is given twice, by 'quat' and 'euler'; keep one"),
        ('<body zaxis="0 0 0"/>', "", "zaxis='0 0 0' does not define a direction"),
        ('<body xyaxes="1 0 0 2 0 0"/>', "", "xyaxes='1 0 0 2 0 0' does not define a direction"),
        ('<body axisangle="0 0 0 90"/>', "", "axisangle='0 0 0 90' does not define a direction"),
        ('<body pos="1 2"/>', "", "pos='1 2' should contain 3 numbers"),
        (
            '<body><geom type="box" size="1" fromto="1 1 1 1 1 1"/></body>',
            "",
            "the two ends of fromto='1 1 1 1 1 1' coincide",
        ),
        (
            '<body><geom type="box" size="1" pos="1 0 0" fromto="0 0 0 1 1 1"/></body>',
            "",
            "'pos' and 'fromto' are both given",
        ),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)
