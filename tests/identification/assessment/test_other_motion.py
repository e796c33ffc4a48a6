"""Other motion of the same size: joints at other times."""

from __future__ import annotations

import numpy as np

from tests.support.known_arm import known_arm
from ytheta.identification.assessment.torque_errors import shift_joints


def test_every_joint_moves_as_before_at_another_time() -> None:
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 100, 4))
    motion = shift_joints(q, qd, qdd)
    for before, after in ((q, motion.q), (qd, motion.qd), (qdd, motion.qdd)):
        np.testing.assert_array_equal(np.sort(after, axis=0), np.sort(before, axis=0))
        np.testing.assert_array_equal(after[:, 0], before[:, 0])
    starts = [int(np.flatnonzero(motion.q[:, j] == q[0, j])[0]) for j in range(4)]
    assert len(set(starts)) == 4
    for j, start in enumerate(starts):  # position, velocity and acceleration of a joint stay together
        assert motion.qdd[start, j] == qdd[0, j]


def test_other_motion_is_less_certain_than_that_of_the_fit() -> None:
    """The sum of squares in the metric of the fit's own equations is smallest on average for the fit's own motion."""
    arm = known_arm()
    result = arm.identify(arm.draw_source(np.random.default_rng(0), None))
    other = result.fit.other_motion
    assert other is not None
    quality = result.other_motion_quality
    assert quality is not None
    assert quality.total_uncertainty > 0.9 * result.quality.total_uncertainty
    assert (quality.error == 0.0).all()
