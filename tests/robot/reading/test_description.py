"""The tolerance of loops from the digits of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.files.xml_document import parse_xml
from ytheta.robot.reading.description import find_closure_tolerance


@pytest.mark.parametrize(
    ("attributes", "tolerance"),
    [
        ('pos="0.1 0.25 -3"', 1e-1 * 1e-0),
        ('pos="0.0123456 0 0"', 1e-5),
        ('quat="0.70710678 0 0 0.7071"', 1e-7),
        ('euler="1.2345678e-3 0 0"', 1e-7),
        ('pos="0.12345678901234567 0 0"', CLOSURE_TOLERANCE),
        ('size="0.12345678"', CLOSURE_TOLERANCE),  # not a pose
        ('pos="words"', CLOSURE_TOLERANCE),
    ],
)
def test_tolerance(attributes: str, tolerance: float) -> None:
    root = parse_xml(f"<a><b {attributes}/></a>".encode(), Path("x.xml"))
    assert find_closure_tolerance(root.descendants()) == pytest.approx(min(tolerance, 1e-3))
