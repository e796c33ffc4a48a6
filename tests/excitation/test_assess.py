"""assess_trajectory: a saved design gives the same figures again, at any speed, and what it exceeds is said."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.designed_motion import ASKED, design_motion, make_arm
from tests.support.pinocchio_peer import peer
from ytheta.errors import InputError
from ytheta.excitation.result import DesignFindingCode


def test_a_saved_design_is_assessed_like_the_design(tmp_path: Path) -> None:
    designed = design_motion()
    assessed = yt.assess_trajectory(make_arm(), designed.save(tmp_path / "motion.toml"), **ASKED)
    assert assessed.design is None
    assert designed.design is not None
    assert assessed.condition_number == pytest.approx(designed.condition_number, rel=1e-12)
    assert assessed.std == pytest.approx(designed.std, rel=1e-9)
    assert [use.value for use in assessed.uses] == pytest.approx([use.value for use in designed.uses], rel=1e-9)
    assert (assessed.grade, assessed.unchecked) == (designed.grade, designed.unchecked)
    assert "criterion d" not in str(assessed)
    assert "assessed, not designed" in str(assessed)
    assert "criterion d" in str(designed)
    assert assessed.to_dict()["search"] is None
    page = assessed.report(tmp_path / "assessed.html").read_text()
    assert "assessed, not designed" in page
    assert "<dt>Criterion</dt>" not in page
    assert "<dt>Criterion</dt>" in designed.report(tmp_path / "designed.html").read_text()


def test_a_slowed_motion_has_the_condition_number_and_torques_of_the_slower_path() -> None:
    assessed = yt.assess_trajectory(make_arm(), design_motion().trajectory, slow=4.0, **ASKED)
    assert assessed.seconds == 4.0 * design_motion().seconds
    assert assessed.condition_number == pytest.approx(design_motion().slowed[1].condition_number, rel=1e-9)
    assert "25 % of the speed of the file" in assessed.columns
    motion = assessed.trajectory.sample_period(500)
    oracle = peer(make_arm())
    tau = np.array([oracle.torque(*row) for row in zip(motion.q, motion.qd, motion.qdd, strict=True)])
    largest = [use.value for use in assessed.uses if use.quantity == "torque"]
    assert abs(tau).max(axis=0) == pytest.approx(largest, rel=2e-3)
    assert not assessed.violations


def test_a_motion_that_is_too_fast_exceeds_its_limits() -> None:
    assessed = yt.assess_trajectory(make_arm(), design_motion().trajectory, slow=0.5, **ASKED)
    speeds = [use for use in assessed.violations if use.quantity == "velocity"]
    assert speeds
    assert "do not run this motion" in str(assessed)


def test_joints_in_another_order_move_alike() -> None:
    trajectory, robot = design_motion().trajectory, make_arm()
    backwards = trajectory.order_joints(robot.actuated[::-1])
    assert backwards.start == pytest.approx(trajectory.start[::-1])
    assert yt.assess_trajectory(robot, backwards, **ASKED).std == pytest.approx(design_motion().std, rel=1e-9)
    wrong = replace(backwards, joints=robot.actuated)  # the twin: names in one order, numbers in the other
    assert yt.assess_trajectory(robot, wrong, **ASKED).std != pytest.approx(design_motion().std, rel=1e-2)


def test_parameters_that_the_motion_does_not_reveal_are_named() -> None:
    trajectory, robot = design_motion().trajectory, make_arm()
    coefficients = trajectory.coefficients.copy()
    coefficients[1:, 0] = 0.0
    coefficients[0, 0] = 0.1  # the first joint stands still
    assessed = yt.assess_trajectory(robot, replace(trajectory, coefficients=coefficients), **ASKED)
    assert assessed.condition_number == math.inf
    (finding,) = [each for each in assessed.findings if each.code == DesignFindingCode.UNSEEN]
    assert finding.is_warning
    hidden = [name for name in assessed.base.names if name.startswith("joint1.f")]
    assert hidden
    assert set(hidden) <= set(finding.names)
    assert all(each.code != DesignFindingCode.UNSEEN for each in design_motion().findings)


@pytest.mark.parametrize(
    ("slow", "message"),
    [
        (0.0, "slow is 0; give a positive number"),
        (math.nan, "slow is nan; give"),
        (1e12, "a period takes 1e\\+13 s"),
    ],
)
def test_wrong_factors_are_refused(slow: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        yt.assess_trajectory(make_arm(), design_motion().trajectory, slow=slow, **ASKED)


def test_trajectories_of_other_robots_are_refused() -> None:
    with pytest.raises(InputError, match=r"moves joint1, .* which the robot does not actuate and lacks left"):
        yt.assess_trajectory(yt.load("five-bar"), design_motion().trajectory, velocity=2.0, effort=20.0)


def test_floating_bases_are_refused_by_name() -> None:
    floating = yt.float_base(make_arm())
    with pytest.raises(InputError, match="floating base, which the assessment of trajectories does not support"):
        yt.assess_trajectory(floating, "motion.toml")
    with pytest.raises(InputError, match="floating base, which the design of trajectories does not support"):
        yt.excite(floating)
