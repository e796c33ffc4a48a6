"""Values of SDF elements and versions: faulty ones are errors that name the place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.sdf_models import MODELS, make_document, make_joint, make_link
from ytheta.errors import RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot

TEXT = make_document(make_link("x") + make_link("y", "0 0 0.1 0 0 0") + make_joint("j", "x", "y"))


def read(text: str, snap: float = 0.0) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, snap)


@pytest.mark.parametrize(
    ("original", "changed", "reason"),
    [
        ("0 0 0.1 0 0 0", "0 0 0.1", "<pose>: '0 0 0.1' should be 6 finite numbers separated by spaces"),
        ("0 0 0.1 0 0 0", "0 0 nan 0 0 0", "should be 6 finite numbers"),
        ("0 0 0.1 0 0 0", "0 0 x 0 0 0", "should be 6 finite numbers"),
        ("<pose >0 0 0.1", '<pose degrees="maybe">0 0 0.1', "'maybe' should be true or false"),
        ("<pose >0 0 0.1", '<pose rotation_format="euler">0 0 0.1', "rotation_format='euler' is unknown"),
        ("<mass>2.0<", "<mass>-2<", "the mass -2 kg is negative"),
        ("<mass>2.0<", "<mass>two<", "<mass>: 'two' should be a finite number"),
        ("<xyz>0 0 1<", "<xyz>0 0 0<", "the axis is zero"),
        ("<xyz>0 0 1<", "<xyz>0 1<", "should be 3 finite numbers"),
        ("revolute", "wheel", "the joint type 'wheel' is unknown; use one of revolute"),
        ("revolute", "universal", "<axis2> with <xyz> is missing"),
        ("<parent>x</parent>", "", "<parent> is missing or empty; add it"),
        ("<child>y</child>", "", "<child> is missing or empty; add it"),
        ('version="1.9"', "", "the attribute 'version' is missing"),
        ('version="1.9"', 'version="nine"', "version='nine' is not a version of SDF"),
        ('version="1.9"', 'version="1.0"', "SDF 1.0 is older than 1.2, the oldest version that is read; convert"),
        ('version="1.9"', 'version="2.0"', "SDF 2.0 is newer than 1.12"),
        ("</axis>", "<limit><lower>low</lower></limit></axis>", "'low' should be a number, or inf for none"),
        ("</sdf>", '<world name="a"/><world name="b"/></sdf>', "the file has several worlds"),
    ],
)
def test_faulty_values(original: str, changed: str, reason: str) -> None:
    assert original in TEXT
    with pytest.raises(RobotFileError, match=f"model.sdf, line .*{re.escape(reason)}"):
        read(TEXT.replace(original, changed, 1))


def test_rounded_angles_are_snapped_also_between_links() -> None:
    """The placement of b on a is a quarter turn, although neither pose is a multiple of pi/6."""
    text = make_document(
        make_link("a", "0 0 0 0.2 0 0") + make_link("b", "0 0 0 1.7708 0 0") + make_joint("j", "a", "b")
    )
    assert read(text, 1e-4).joint("j").placement.rotation == ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    assert read(text, 0.0).joint("j").placement.rotation[1][1] != 0.0


def test_differences_of_positions_have_no_rounding_errors() -> None:
    text = make_document(make_link("a", "0 0 0.1 0 0 0") + make_link("b", "0 0 0.3 0 0 0") + make_joint("j", "a", "b"))
    assert 0.3 - 0.1 != 0.2
    assert read(text).joint("j").placement.translation == (0.0, 0.0, 0.2)


def test_an_empty_pose_is_the_identity() -> None:
    assert read(TEXT.replace("0 0 0.1 0 0 0", "")).joint("j").placement.translation == (0.0, 0.0, 0.0)


def test_the_deepest_document_of_an_old_version_is_read() -> None:
    text = MODELS["version 1.4"].replace("</model>", "<plugin>" + "<x>" * 490 + "</x>" * 490 + "</plugin></model>")
    assert len(read(text).movable) == 2
