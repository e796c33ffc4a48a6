"""Motion that is unsafe unless the limits in use count: those of the user, of mimic joints, and clearances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.excitation.result import Excitation

# The sphere at the end of the arm meets that of the base if the elbow is folded, which its description excludes.
ARM = """
<robot name="folding">
  <link name="base"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="upper"><inertial><mass value="1"/><origin xyz="0.2 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="lower"><inertial><mass value="1"/><origin xyz="0.3 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
    <collision><origin xyz="0.5 0 0"/><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="j1" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="3" effort="100"/></joint>
  <joint name="j2" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0.5 0 0"/>
    <axis xyz="0 0 1"/>%s</joint>
</robot>
"""
LIMITED = '<limit lower="-0.5" upper="0.5" velocity="3" effort="100"/>'
MIMIC = '<limit lower="-3" upper="3" velocity="%g" effort="100"/><mimic joint="j1" multiplier="1.5"/>'


def load_arm(folder: Path, elbow: str) -> yt.Robot:
    path = folder / "arm.urdf"
    path.write_text(ARM % elbow)
    return yt.load(path)


def compute_gap(excitation: Excitation) -> float:
    """Return the smallest distance between the spheres along the motion, from plain trigonometry."""
    q = excitation.trajectory.evaluate(np.linspace(0.0, excitation.trajectory.seconds, 4001)).q
    return float(np.min(np.hypot(0.5 + 0.5 * np.cos(q[:, 1]), 0.5 * np.sin(q[:, 1])) - 0.2))


@pytest.mark.parametrize("self_collision", [True, False])
def test_limits_of_the_user_decide_which_links_can_collide(self_collision: bool, tmp_path: Path) -> None:
    """The twin does not keep the links apart, and they meet."""
    robot = load_arm(tmp_path, LIMITED)
    excitation = yt.excite(
        robot, position={"j2": (-3.1, 3.1)}, starts=4, polished=2, rng=2, self_collision=self_collision
    )
    assert bool(compute_gap(excitation) >= 0.0) is self_collision
    assert not excitation.violations
    assert any(use.quantity == "clearance" for use in excitation.uses) is self_collision


@pytest.mark.parametrize("clearance", [-1.0, float("nan"), 5.0])
def test_wrong_clearances_are_refused(clearance: float, tmp_path: Path) -> None:
    """At 5 m no pair can keep the clearance; then contact is checked, and a warning says so."""
    robot, limits = load_arm(tmp_path, LIMITED), {"j2": (-3.1, 3.1)}
    if clearance == 5.0:
        excitation = yt.excite(robot, position=limits, starts=2, polished=1, clearance=clearance)
        assert any(finding.is_warning and "contact only" in finding.text for finding in excitation.findings)
        assert compute_gap(excitation) >= 0.0
        return
    with pytest.raises(InputError, match="clearance is"):
        yt.excite(robot, position=limits, clearance=clearance)


def test_a_clearance_that_cannot_be_checked_is_refused() -> None:
    limits = {"position": {"joint1": (-1.0, 1.0), "joint2": (-1.0, 1.0)}, "velocity": 1.0, "effort": 100.0}
    with pytest.raises(InputError, match="self-collision cannot be checked"):
        yt.excite(yt.load("lu-two-link"), clearance=0.05, **limits)  # type: ignore[arg-type]  # of several kinds


@pytest.mark.parametrize("velocity", [0.4, 100.0])
def test_limits_of_mimic_joints_are_kept(velocity: float, tmp_path: Path) -> None:
    """The elbow moves 1.5 times as fast as the shoulder; the twin has a limit that does not matter."""
    robot = load_arm(tmp_path, MIMIC % velocity)
    excitation = yt.excite(robot, starts=2, polished=1, self_collision=False)
    speed = 1.5 * abs(excitation.trajectory.evaluate(np.linspace(0.0, 20.0, 4001)).qd).max()
    assert speed <= velocity
    assert bool(speed > 0.4) is (velocity > 1.0)
    assert not excitation.violations
    assert any(use.name == "j2" and use.quantity == "velocity" for use in excitation.uses)
