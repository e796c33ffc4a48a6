"""Frames of SDF: names, cycles, and poses relative to other frames. Torques of such files: see test_reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.sdf_models import ON_WORLD, make_document, make_joint, make_link
from ytheta.errors import RobotFileError
from ytheta.files.xml_document import Node, parse_xml
from ytheta.robot.frame import Frame
from ytheta.robot.reading.sdf.models import FrameGraph, FramePlacement, Scope
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.reading.snap import Snapper


def make_frame(name: str, pose: str, relative_to: str = "") -> Node:
    text = f'<frame name="{name}"><pose relative_to="{relative_to}">{pose}</pose></frame>'
    return parse_xml(text.encode(), Path("model.sdf"))


def read(content: str) -> None:
    path = Path("model.sdf")
    read_sdf(parse_xml(make_document(content).encode(), path), path, 0.0)


def test_relative_poses_are_products_of_the_steps_between_two_frames() -> None:
    scope = Scope()
    placed = {
        "a": FramePlacement(make_frame("a", "1 2 3 0.1 0.2 0.3"), scope),
        "b": FramePlacement(make_frame("b", "0.1 0 0 0 0.5 0", "a"), scope),
        "c": FramePlacement(make_frame("c", "0 0.2 0 0.4 0 0", "b"), scope),
        "d": FramePlacement(make_frame("d", "0 0 0.3 0 0 0.6", "a"), scope),
    }
    graph = FrameGraph(placed, Snapper(0.0))
    b = Frame.shift(0.1) @ Frame.from_rpy(0.0, 0.5, 0.0)
    c = Frame.shift(0.0, 0.2) @ Frame.from_rpy(0.4, 0.0, 0.0)
    d = Frame.shift(0.0, 0.0, 0.3) @ Frame.from_rpy(0.0, 0.0, 0.6)
    assert graph.relate("c", "a") == b @ c  # without the pose of a, so without rounding errors
    assert np.allclose(graph.relate("c", "d").matrix, (d.inverse() @ b @ c).matrix, atol=1e-15)
    assert np.allclose((graph.relate("d", "c") @ graph.relate("c", "d")).matrix, np.eye(4), atol=1e-15)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            make_link("a", "0 0 0 0 0 0", attributes='relative_to="nobody"'),
            "there is no link, joint, frame or model 'nob",
        ),
        (
            make_link("base")
            + make_link("a", "0 0 0 0 0 0", attributes='relative_to="j"')
            + make_joint("j", "base", "a"),
            "its pose is relative to itself",
        ),
        (
            make_link("base") + '<frame name="f" attached_to="f"/>' + make_joint("j", "base", "f"),
            "is relative to itself|is attached to itself",
        ),
        (make_link("a") + '<frame name="a"/>', "the name 'a' is used twice in one model"),
        (
            make_link("a") + f'<model name="m" placement_frame="a">{make_link("b")}</model>',
            "its placement_frame is not one of its own frames",
        ),
        (make_link("base") + make_joint("j", "base", "base"), "connects .* to itself"),
        (
            make_link("base") + ON_WORLD + make_joint("j", "base", "none"),
            "there is no link, joint, frame or model 'none'",
        ),
        (make_link(""), "the name is empty"),
        ("", "there is no model with a link"),
    ],
)
def test_frames_that_are_refused(content: str, reason: str) -> None:
    with pytest.raises(RobotFileError, match=reason):
        read(content)


def test_a_long_chain_of_frames() -> None:
    """Poses are resolved without recursion."""
    frames = "".join(f'<frame name="f{k}" attached_to="f{k - 1}"/>' for k in range(1, 3000))
    read(
        make_link("base")
        + '<frame name="f0" attached_to="base"/>'
        + frames
        + make_link("a")
        + make_joint("j", "f2999", "a")
    )
