"""Default classes of MJCF files against MuJoCo."""

from __future__ import annotations

import pytest

from tests.support.mjcf_models import (
    check_agreement,
    check_refused,
    read_both,
    world_text,
)


def test_default_classes_inherit() -> None:
    text = world_text(
        """
        <body childclass="outer">
          <joint name="1"/><joint name="2" axis="1 0 0" class="inner"/>
          <geom/><geom class="inner" size="0.5"/><geom class="main" type="sphere" size="0.2"/>
          <body childclass="inner" pos="0 0 1"><joint name="3" damping="9"/><geom quat="1 1 0 0"/></body>
          <body pos="0 1 0"><joint name="4"/><geom mass="3" size="0.3 0.2"/></body>
        </body>
        <body pos="3 0 0"><joint name="5"/><geom type="sphere" size="1"/></body>
        <body pos="4 0 0"><joint name="6" class="late"/><geom type="sphere" size="1"/></body>""",
        """
        <default>
          <default class="outer">
            <geom type="box" size="0.1 0.2 0.3" euler="0 0 45" density="500"/>
            <default class="inner"><joint frictionloss="2" type="slide"/><geom size="0.4"/></default>
            <joint damping="1 2 3" range="-10 10"/>
          </default>
          <joint armature="0.5"/>
        </default>
        <default class="main"><joint armature="0.7"/><default class="late"><joint damping="3"/></default></default>""",
    )
    check_agreement(*read_both(text))


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        (
            '<body><geom class="nope" size="1"/></body>',
            "",
            "the default class 'nope' does not exist; choose from: main",
        ),
        ("", "<default><default/></default>", "the attribute 'class' is missing"),
        (
            "",
            '<default><default class="a"/><default class="a"/></default>',
            "the default class 'a' is defined twice; rename one",
        ),
        ("", '<default class="a"/>', "the outermost default class must be called 'main'"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)
