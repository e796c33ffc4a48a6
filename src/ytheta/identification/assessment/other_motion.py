"""Other motion of the same size as a recorded motion, for which nothing was measured.

Every joint moves as it did, but at another time than the other joints: positions, velocities and accelerations of a
joint are shifted in time by a share of the whole duration. All ranges and speeds are those of the log, but the poses
and the combinations of velocities are new. The uncertainty of a prediction for this motion shows whether parameters
are certain enough for more than repetitions of the log.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.prediction_std import RegressorSamples
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import PerJoint, SamplesByJoint, freeze

# Shift between consecutive joints, relative to the duration. It is irrational, so that a shift is not a whole number of
# periods if the motion is periodic.
SHIFT_RATIO = 0.5 * (np.sqrt(5.0) - 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class OtherMotion:
    """The regressor of other motion, and the size of the predicted torques. The arrays are read-only."""

    regressor: RegressorSamples
    torque_variation: PerJoint  # standard deviation over time, in Nm or N
    torque_rms: PerJoint

    def __post_init__(self) -> None:
        freeze(self.torque_variation)
        freeze(self.torque_rms)


def shift_joints(q: SamplesByJoint, qd: SamplesByJoint, qdd: SamplesByJoint) -> MotionSamples:
    """Return a motion in which each joint is later than the joint before it, and continues at its beginning."""
    count, joints = q.shape
    shifts = [round(count * (SHIFT_RATIO * j % 1.0)) for j in range(joints)]

    def shift(values: SamplesByJoint) -> SamplesByJoint:
        columns = [np.roll(values[:, j], amount) for j, amount in enumerate(shifts)]
        return np.ascontiguousarray(np.stack(columns, axis=1))

    samples = np.arange(count)
    return MotionSamples(samples.astype(float), shift(q), shift(qd), shift(qdd), None, None, samples)
