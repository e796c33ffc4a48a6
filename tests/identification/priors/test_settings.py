"""Settings of the prior: strengths, and priors that belong to another robot."""

from __future__ import annotations

from dataclasses import replace

import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.identification.priors.prior import PriorSettings, check_same_parts


@pytest.mark.parametrize("strength", [0.0, -5.0, float("nan"), float("inf")])
def test_a_strength_is_positive_and_finite(strength: float) -> None:
    with pytest.raises(InputError, match=r"prior_strength is .*; give a positive number, such as 5 for a description"):
        PriorSettings(strength=strength)


def test_a_flat_prior_has_no_strength() -> None:
    with pytest.raises(InputError, match="prior_strength needs a prior; remove it, or remove prior='none'"):
        PriorSettings(flat=True, strength=5.0)
    assert PriorSettings(strength=5.0).strength == 5.0


def test_a_robot_with_other_inertias_and_drives_has_the_same_parts() -> None:
    robot = yt.load("ur10")
    heavier = robot.with_inertias({link.name: link.inertia + link.inertia for link in robot.links[1:]})
    check_same_parts(robot, heavier.with_drives(lambda _name, drive: replace(drive, viscous=3.0)))


def test_the_differing_joints_are_named() -> None:
    robot, name = yt.load("ur10"), yt.load("ur10").actuated[2]
    renamed = replace(
        robot, joints=tuple(replace(j, name="other") if j.name == name else j for j in robot.joints), actuated=()
    )
    with pytest.raises(
        InputError, match=f"only 'ur10' has {name}; only 'ur10' has other; give a prior of robot 'ur10'"
    ):
        check_same_parts(robot, renamed)
    moved = replace(
        robot,
        joints=tuple(
            replace(j, placement=yt.load("ur10").joints[0].placement) if j.name == name else j for j in robot.joints
        ),
    )
    with pytest.raises(InputError, match=f"belongs to another robot: {name} differ in kind, link, position or axis"):
        check_same_parts(robot, moved)


def test_another_robot_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"only 'panda' has .*_joint7.*give a prior of robot 'lu-two-link'|another robot"
    ):
        check_same_parts(yt.load("lu-two-link"), yt.load("panda"))
