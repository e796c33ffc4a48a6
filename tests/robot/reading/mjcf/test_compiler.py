"""Limits, and mistakes in compiler settings, choices and limits, of MJCF files."""

from __future__ import annotations

import pytest

from tests.support.mjcf_models import check_refused, joint_error, read_both, world_text


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        (
            '<body><joint limited="true" range="2 1"/></body>',
            "",
            "range='2 1' should be a smaller and a larger",
        ),
        ('<body><joint range="-1 nan"/></body>', "", "range='-1 nan' should contain finite numbers"),
        ('<body><joint limited="maybe"/></body>', "", "limited='maybe' is unknown; use one of true, false, auto"),
        ("", '<compiler coordinate="global"/>', r"coordinate='global' is no longer part of MJCF.*save it"),
        ("", '<compiler angle="grad"/>', "angle='grad' is unknown; use one of degree, radian"),
        ("", '<compiler eulerseq="xyw"/>', "eulerseq='xyw' should be three of the letters"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)


@pytest.mark.parametrize("limits", ["-inf inf", "-inf 30", "-0.5 inf"])
def test_limits_may_be_infinite(limits: str) -> None:
    content = f'<body><joint range="{limits}" actuatorfrcrange="{limits}"/><geom size="0.1"/></body>'
    robot, model = read_both(world_text(content))
    assert joint_error(robot, model) == 0.0
    assert model.jnt_limited.all()
