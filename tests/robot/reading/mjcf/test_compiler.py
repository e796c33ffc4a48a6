"""Mistakes in compiler settings, choices and limits of MJCF files."""

from __future__ import annotations

import pytest

from tests.support.mjcf_models import (
    check_refused,
)


@pytest.mark.parametrize(
    ("content", "top", "message"),
    [
        ('<body><joint damping=""/></body>', "", "damping='' should contain numbers; give at least one"),
        (
            '<body><joint limited="true" range="2 1"/></body>',
            "",
            "range='2 1' should be a smaller and a larger",
        ),
        ('<body><joint limited="maybe"/></body>', "", "limited='maybe' is unknown; use one of true, false, auto"),
        ("", '<compiler coordinate="global"/>', r"coordinate='global' is no longer part of MJCF.*save it"),
        ("", '<compiler angle="grad"/>', "angle='grad' is unknown; use one of degree, radian"),
        ("", '<compiler eulerseq="xyw"/>', "eulerseq='xyw' should be three of the letters"),
    ],
)
def test_mistakes(content: str, top: str, message: str) -> None:
    check_refused(content, top, message)
