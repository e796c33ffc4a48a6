"""Motion that is played: samples of logs and trajectories, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.viewing.motion import PICTURE_RATE, read_designed_motion, read_logged_motion


def test_logs_are_thinned(tmp_path: Path) -> None:
    t = np.arange(2000) / 200.0
    q = np.stack([np.sin(t), np.cos(t)], axis=1)
    np.savez(tmp_path / "run.npz", t=t + 5.0, q=q)
    motion = read_logged_motion(yt.load("lu-two-link"), tmp_path / "run.npz")
    assert motion.t[0] == 0.0
    assert PICTURE_RATE <= len(motion.t) / motion.seconds <= 1.5 * PICTURE_RATE
    for time in (0.0, 3.21, 9.9):
        sample = motion.find_sample(time)
        assert motion.t[sample] <= time
        np.testing.assert_allclose(motion.q[sample], [np.sin(motion.t[sample]), np.cos(motion.t[sample])], atol=1e-9)
    assert motion.find_sample(1e9) == len(motion.t) - 1


def test_trajectories_are_read_by_joint_names(tmp_path: Path) -> None:
    robot = yt.load("lu-two-link")
    position = dict.fromkeys(robot.actuated, (-1.5, 1.5))
    design = yt.excite(
        robot, seconds=4.0, harmonics=3, position=position, velocity=2.0, acceleration=10.0, effort=500.0, starts=4
    )
    file = yt.save_trajectory(design.trajectory, tmp_path / "a.toml")
    motion = read_designed_motion(robot, file)
    expected = design.trajectory.evaluate(motion.t).q
    np.testing.assert_allclose(motion.q, expected, atol=1e-9)
    assert motion.seconds == pytest.approx(design.trajectory.seconds)
    with pytest.raises(InputError, match="give a trajectory of this robot"):
        read_designed_motion(yt.load("panda"), file)
