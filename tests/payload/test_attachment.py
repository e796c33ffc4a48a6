"""Where a payload is attached."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.payload_cases import BODY
from ytheta.errors import InputError
from ytheta.payload.attachment import find_attachment, find_end
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind, Link, Marker
from ytheta.robot.robot import Robot

TOOL = Frame((0.0, 0.0, 0.2), ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))


@pytest.fixture(scope="module")
def arm() -> Robot:
    robot = yt.load("ur10")
    return replace(robot, markers=(*robot.markers, Marker("tool", robot.links[-1].name, TOOL)))


def test_the_end_of_an_arm_is_its_last_link(arm: Robot) -> None:
    assert find_end(arm) == arm.links[-1].name
    assert find_end(arm.with_load(BODY)) == arm.links[-1].name  # a load is not a link of the arm


def test_a_payload_has_the_same_torque_wherever_its_frame_is(arm: Robot) -> None:
    """The same body, given in the frame of the link and in that of the tool."""
    on_link = find_attachment(arm, link=None, frame="tool", name="held")
    on_tool = find_attachment(arm, link="tool", frame=None, name="held")
    seen = BODY.seen_from(on_link.link_in_frame)  # from the tool
    np.testing.assert_allclose(seen.center, (TOOL.inverse().matrix @ [*BODY.center, 1.0])[:3], atol=1e-15)
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 20, 6))
    torques = [yt.inverse_dynamics(robot)(q, qd, qdd) for robot in (on_link.attach(BODY), on_tool.attach(seen))]
    np.testing.assert_allclose(torques[0], torques[1], atol=1e-9)
    twin = yt.inverse_dynamics(on_tool.attach(BODY))(q, qd, qdd)  # numbers of the one frame in the other
    assert abs(twin - torques[0]).max() > 0.1


def test_a_payload_can_be_on_a_load(arm: Robot) -> None:
    """A gripper that is a load, whose frame its joint places on both sides, holds the payload."""
    end = arm.links[-1].name
    joint = Joint("grasp", JointKind.FIXED, end, "gripper", placement=TOOL, seat=Frame.shift(0.1, 0.2, 0.3))
    robot = replace(arm, links=(*arm.links, Link("gripper", load=True)), joints=(*arm.joints, joint))
    on_load = find_attachment(robot, link="gripper", frame=end, name="held")
    assert on_load.holder == end
    expected = TOOL.matrix @ Frame.shift(0.1, 0.2, 0.3).matrix
    for frame in (on_load.placement, on_load.link_in_frame):
        np.testing.assert_allclose(frame.matrix, expected, atol=1e-15)
    assert abs(TOOL.matrix - expected).max() > 0.05  # the twin: without the child's side of the joint


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"link": "hand"}, "no link or marker 'hand'"),
        ({"frame": "forearm"}, "no link or marker"),
        ({"frame": "link2"}, "moves relative to link"),
        ({"link": "base"}, "never moves"),
        ({"name": "tool"}, "already has a link or marker 'tool'"),
    ],
)
def test_wrong_places_are_refused(arm: Robot, options: dict[str, str], words: str) -> None:
    chosen: dict[str, str | None] = {"link": None, "frame": None, **options}
    names = {"link2": arm.links[2].name, "base": arm.links[0].name}
    link, frame = (names.get(chosen[key] or "", chosen[key]) for key in ("link", "frame"))
    with pytest.raises(InputError, match=words):
        find_attachment(arm, link=link, frame=frame, name=chosen.get("name") or "payload")


def test_an_arm_with_several_ends_needs_a_link(arm: Robot) -> None:
    links = (*arm.links, Link("finger"))
    joints = (*arm.joints, Joint("grip", JointKind.PRISMATIC, arm.links[3].name, "finger"))
    forked = replace(arm, links=links, joints=joints, actuated=(*arm.actuated, "grip"))
    with pytest.raises(InputError, match=r"2 ends .*name the link that carries the payload"):
        find_end(forked)


def test_the_ends_of_a_loop_carry_no_payload() -> None:
    """Of an arm with a parallelogram, the last link is the end, and not the links that the loop closes."""
    robot = yt.load("walker")
    loop_links = {link for loop in robot.loops for link in (loop.joint.parent, loop.joint.child)}
    assert find_end(robot) not in loop_links
