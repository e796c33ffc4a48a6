"""Motion that is unsafe unless the limits in use count: those of the user, of mimic joints, and clearances."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.pinocchio_peer import peer
from ytheta.conventions import LINK_PARAMETERS
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
MIMIC = '<limit lower="-3" upper="3" velocity="%g" effort="%g"/><mimic joint="j1" multiplier="1.5"/>'


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


@pytest.mark.parametrize("velocity", [0.4, 100.0])
def test_limits_of_mimic_joints_are_kept(velocity: float, tmp_path: Path) -> None:
    """The elbow moves 1.5 times as fast as the shoulder; the twin has a limit that does not matter."""
    robot = load_arm(tmp_path, MIMIC % (velocity, 100.0))
    excitation = yt.excite(robot, starts=2, polished=1, self_collision=False)
    speed = 1.5 * abs(excitation.trajectory.evaluate(np.linspace(0.0, 20.0, 4001)).qd).max()
    assert speed <= velocity
    assert bool(speed > 0.4) is (velocity > 1.0)
    assert not excitation.violations
    assert any(use.name == "j2" and use.quantity == "velocity" for use in excitation.uses)


@pytest.mark.parametrize("effort", [0.5, 100.0])
def test_effort_limits_of_mimic_joints_are_kept(effort: float, tmp_path: Path) -> None:
    """The torque of the elbow is that of an arm whose elbow moves alone; the twin has a limit that does not matter."""
    robot = load_arm(tmp_path, MIMIC % (100.0, effort))
    excitation = yt.excite(robot, starts=2, polished=1, self_collision=False, effort_margin=0.2)
    motion = excitation.trajectory.sample_period(400)
    oracle = peer(load_arm(tmp_path, LIMITED))
    rows = [np.array([row[0], 1.5 * row[0]]) for values in (motion.q, motion.qd, motion.qdd) for row in values]
    q, qd, qdd = np.array(rows).reshape(3, 400, 2)
    elbow = max(abs(oracle.torque(*row)[1]) for row in zip(q, qd, qdd, strict=True))
    assert elbow <= 0.8 * effort
    assert bool(elbow > 0.8 * 0.5) is (effort > 1.0)
    assert not excitation.violations
    (use,) = [use for use in excitation.uses if use.name == "j2" and use.quantity == "torque"]
    assert use.limit == pytest.approx(0.8 * effort)
    assert use.value == pytest.approx(elbow, rel=1e-2)


@pytest.mark.parametrize("has_counterweight", [True, False])
def test_a_payload_design_keeps_torques_without_the_load_too(has_counterweight: bool) -> None:
    """A counterweight that balances the load makes torques larger without it; without counterweight, it is the twin."""
    arm = yt.load("lu-two-link")
    reach = dict(arm.lengths)["l2"]
    assert reach is not None
    load = yt.Inertia.point_mass(10.0, (0.1, 0.0, 0.0))  # from the end of the arm
    if has_counterweight:
        weight = yt.Inertia.point_mass(10.0, (-reach - 0.1, 0.0, 0.0))
        arm = arm.with_inertias({"link2": yt.Inertia.from_names(_add(arm.link("link2").inertia, weight))})
    limits = {
        "position": dict.fromkeys(arm.actuated, (-1.0, 1.0)),
        "velocity": 2.0,
        "effort": {"joint1": 400.0, "joint2": 60.0},
    }
    result = yt.excite(arm, payload=load, criterion="d", starts=1, polished=1, **limits)  # type: ignore[arg-type]
    assert not result.violations
    motion = result.trajectory.sample_period(500)
    rows = list(zip(motion.q, motion.qd, motion.qdd, strict=True))
    loaded, empty = (
        np.abs([peer(each).torque(*row) for row in rows]).max(axis=0)
        for each in (result.robot, result.robot.with_inertias({"load": yt.Inertia()}))
    )
    assert (np.maximum(loaded, empty) <= result.bounds.effort).all()
    assert bool((empty > loaded).any()) is has_counterweight
    assert result.robot.link("load").inertia == load


def _add(first: yt.Inertia, second: yt.Inertia) -> dict[str, float]:
    return dict(zip(LINK_PARAMETERS, np.add(first.parameters, second.parameters).tolist(), strict=True))
