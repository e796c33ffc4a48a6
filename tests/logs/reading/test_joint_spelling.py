"""Joint names of a log that are spelled otherwise than in the robot."""

from __future__ import annotations

import pytest

from ytheta.logs.reading.joint_columns import spell_joints

UR = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
FR3 = ("fr3_joint1", "fr3_joint2", "fr3_joint3")


@pytest.mark.parametrize(
    ("names", "joints", "expected"),
    [
        (("elbow_joint", "gripper", "shoulder_pan_joint"), UR, ("elbow_joint", "gripper", "shoulder_pan_joint")),
        (("Elbow_Joint", "GRIPPER"), UR, ("elbow_joint", "GRIPPER")),
        (("ur10_elbow", "ur10_shoulder_lift", "ur10_shoulder_pan"), UR, (UR[2], UR[1], UR[0])),
        (("joint2", "joint1", "joint3"), FR3, ("fr3_joint2", "fr3_joint1", "fr3_joint3")),
        # beside other joints
        (("finger", *(f"left_{name}" for name in UR)), UR, ("finger", *UR)),
        (("finger_joint", "joint1", "joint2", "joint3"), FR3, ("finger_joint", *FR3)),
        # not explained by one rule: the names stay
        ((*(f"left_{name}" for name in UR), *(f"right_{name}" for name in UR)), UR, None),
        (("left_elbow_joint", "shoulder_lift", "shoulder_pan"), UR, None),
        (("a_elbow_joint", "b_shoulder_pan_joint", "c_shoulder_lift_joint"), UR, None),
        (("gripper",), ("joint1",), None),
        (("finger1", "finger2", "finger3"), ("joint1", "joint2", "joint3"), None),
        (("gripper", "wrist"), ("joint1",), None),
        (("a", "b"), (), None),
        ((), UR, None),
    ],
)
def test_one_rule_explains_all_names(
    names: tuple[str, ...], joints: tuple[str, ...], expected: tuple[str, ...] | None
) -> None:
    assert spell_joints(names, joints) == (names if expected is None else expected)


def test_a_single_joint_needs_its_own_name_as_the_end() -> None:
    assert spell_joints(["arm_joint1", "gripper"], ["joint1"]) == ("joint1", "gripper")
    assert spell_joints(["arm_joint1"], ["joint1"]) == ("joint1",)


def test_numbers_suffice_only_if_the_caller_says_so() -> None:
    names, joints = ["J2", "J1"], ["joint1", "joint2"]
    assert spell_joints(names, joints) == ("J2", "J1")
    assert spell_joints(names, joints, numbers_suffice=True) == ("joint2", "joint1")
