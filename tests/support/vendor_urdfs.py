"""Vendor URDFs with published counts of base parameters."""

from __future__ import annotations

URDFS = (
    "ur10_robot.urdf", "panda.urdf", "tiago_no_hand.urdf", "kinova.urdf", "talos_left_arm.urdf", "finger_edu.urdf",
    "xarm7.urdf", "z1.urdf", "solo12.urdf", "double_pendulum.urdf",
)  # fmt: skip


def gen3() -> str:
    """Axes and offsets of a Kinova Gen3 as its vendor's URDF prints them, rounded angles included."""
    rows = [
        ("0 0 0.15643", "3.1416 2.7629E-18 -4.9305E-36"),
        ("0 0.005375 -0.12838", "1.5708 2.1343E-17 -1.1102E-16"),
        ("0 -0.21038 -0.006375", "-1.5708 1.2326E-32 -2.9122E-16"),
        ("0 0.006375 -0.21038", "1.5708 -6.6954E-17 -1.6653E-16"),
        ("0 -0.20843 -0.006375", "-1.5708 2.2204E-16 -6.373E-17"),
        ("0 0.00017505 -0.10593", "1.5708 9.2076E-28 -8.2157E-15"),
        ("0 -0.10593 -0.00017505", "-1.5708 -5.5511E-17 9.6396E-17"),
    ]
    inertia = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{k}">{inertia if k else ""}</link>' for k in range(8))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
        for k, (xyz, rpy) in enumerate(rows, start=1)
    )
    return f'<robot name="gen3">{links}{joints}</robot>'
