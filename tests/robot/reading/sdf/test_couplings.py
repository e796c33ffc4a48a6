"""Couplings: mimic joints and gearboxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sdf_loops import LOOPS
from tests.support.sdf_models import ON_WORLD, make_document, make_joint, make_link
from ytheta.errors import RobotFileError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.parts import Coupling
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot


def read(text: str) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, 0.0)


def make_follower(mimic: str, kind: str = "revolute") -> str:
    second = "<axis2><xyz>1 0 0</xyz></axis2>" if kind == "universal" else ""
    return make_document(
        make_link("base")
        + make_link("a")
        + make_link("b")
        + ON_WORLD
        + make_joint("leader", "base", "a", kind=kind, axis="<xyz>0 1 0</xyz>", extra=second)
        + make_joint("follower", "a", "b", axis=f"<xyz>0 0 1</xyz>{mimic}"),
        "1.11",
    )


def test_a_mimic_joint_follows_its_leader_about_a_reference() -> None:
    mimic = '<mimic joint="leader"><multiplier>3</multiplier><offset>0.5</offset><reference>0.25</reference></mimic>'
    assert read(make_follower(mimic)).couplings == (Coupling("follower", (("leader", 3.0),), 0.5 - 0.75),)


def test_a_mimic_joint_follows_the_second_axis() -> None:
    mimic = '<mimic joint="leader" axis="axis2"><multiplier>2</multiplier></mimic>'
    assert read(make_follower(mimic, "universal")).couplings == (Coupling("follower", (("leader.2", 2.0),)),)


def test_a_mimic_joint_needs_a_joint() -> None:
    with pytest.raises(RobotFileError, match="'base' is not a joint of this model"):
        read(make_follower('<mimic joint="base"/>'))
    with pytest.raises(RobotFileError, match="there is no link, joint, frame or model 'leadr'; did you mean 'leader'"):
        read(make_follower('<mimic joint="leadr"/>'))


def test_a_mimic_joint_of_a_fixed_joint_is_reported() -> None:
    robot = read(make_follower('<mimic joint="fix"/>'))
    assert not robot.couplings
    assert any(
        "couplings of joints that close loops or do not move are ignored: follower" in f.text for f in robot.findings
    )


def test_a_gearbox_couples_two_hinges_with_the_signs_of_their_axes() -> None:
    """theta_2 = -ratio theta_1, seen from the base; jb measures the base seen from b, so its sign is reversed."""
    assert read(LOOPS["gearbox"]).couplings == (Coupling("jb", (("ja", 0.25),)),)
    turned = LOOPS["gearbox"].replace("<axis2><xyz>0 1 0<", "<axis2><xyz>0 -1 0<")
    assert read(turned).couplings == (Coupling("jb", (("ja", -0.25),)),)


def test_a_gearbox_without_hinges_is_reported() -> None:
    robot = read(LOOPS["gearbox"].replace("<axis2><xyz>0 1 0<", "<axis2><xyz>1 0 0<"))
    assert not robot.couplings
    assert any(finding.text.startswith("gearboxes are ignored unless") for finding in robot.findings)
