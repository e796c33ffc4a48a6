"""Low-passed drive directions (signs of drive velocities), which multiply the Coulomb friction in the regressor.

Coulomb friction jumps when a drive reverses. The low-pass smooths this jump in the measured torque. Both sides of
tau = Y beta must be filtered by the same operator, so the drive direction must be low-passed in the same way.

The drive direction should be the sign of the unfiltered velocity, but noise would change this sign. Therefore the sign
is taken from a velocity filtered with ``CUTOFF_RATIO`` times the cut-off of the motion: at a reversal, this velocity
changes sign closer to the right time than the velocity of the motion does.

If a drive turns with several joints, its friction acts on each of them in proportion to a velocity ratio. Without loops
the ratios are constants, which multiply the low-passed direction. With loops they depend on the pose
(``PoseDirections``): then the products of ratio and direction are low-passed. Ratios change as smoothly as positions;
only directions jump. Ratios are therefore computed at the rate of the kept samples and interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ytheta.logs.log import allocate_temporary
from ytheta.shapes import Bool, ChannelsBySample, Float, Int, SamplesByJoint

# Cut-off of the velocity whose sign is the drive direction, divided by that of the motion. Chosen on: reasoning; a
# sharper velocity reverses closer to the right time, a noisier one at wrong times.
CUTOFF_RATIO = 2.0
MIN_RATIO_SAMPLES = 4  # from which ratios are interpolated by cubic polynomials. Fixed by: mathematics.

PairsBySample: TypeAlias = Float[np.ndarray, "pairs samples"]


@dataclass(frozen=True, eq=False)
class DriveDirections:
    """The drives whose directions are needed; ``rates`` @ qd are the velocities of these drives.

    ``smooth_speeds``: for each drive, the speed s in the smooth sign v / sqrt(v^2 + s^2); 0 if its friction jumps.
    """

    rates: Float[np.ndarray, "drives joints"]
    smooth_speeds: Float[np.ndarray, "drives"]

    @property
    def row_count(self) -> int:
        return len(self.rates)

    @property
    def row_drives(self) -> Int[np.ndarray, "rows"]:
        """The drive of every row of an alternative."""
        return np.arange(self.rates.shape[0])

    def evaluate(self, qd: ChannelsBySample) -> Float[np.ndarray, "drives samples"]:
        """Return directions between -1 and 1 at each sample, before the low-pass."""
        drives, samples = len(self.rates), qd.shape[1]
        velocity = np.matmul(self.rates, qd, out=allocate_temporary(drives * samples).reshape(drives, samples))
        for speeds, smooth_speed in zip(velocity, self.smooth_speeds, strict=True):  # one drive at a time and in place:
            _take_smooth_sign(speeds, smooth_speed)  # there are many times more samples than are kept
        return velocity

    def without_joints(self, held: Bool[np.ndarray, "joints"]) -> DriveDirections:
        """Return the directions while these joints do not move."""
        return replace(self, rates=self.rates * ~held)

    def with_alternatives(self, speeds: Float[np.ndarray, "alternatives drives"]) -> DriveDirections:
        """Return the directions with each of several rows of smoothing speeds, one alternative after the other."""
        return DriveDirections(np.tile(self.rates, (len(speeds), 1)), speeds.ravel())


@dataclass(frozen=True, eq=False)
class PoseDirections:
    """Drives whose velocity ratios depend on the pose: their directions times these ratios.

    Attributes
    ----------
    pairs          drive and joint of every ratio that is not always zero
    compute_rates  positions → ratios of these pairs: velocity of the drive per unit velocity of the joint
    smooth_speeds  as in ``DriveDirections``; several rows for several alternatives
    moves          whether each joint moves; the velocities of the others are only noise
    """

    pairs: Int[np.ndarray, "pairs 2"]
    compute_rates: Callable[[SamplesByJoint], PairsBySample]
    smooth_speeds: Float[np.ndarray, "alternatives drives"]
    moves: Bool[np.ndarray, "joints"]

    @property
    def row_count(self) -> int:
        return len(self.smooth_speeds) * len(self.pairs)

    @property
    def row_drives(self) -> Int[np.ndarray, "rows"]:
        """The drive of every row of an alternative."""
        return self.pairs[:, 0]

    def evaluate(self, qd: ChannelsBySample, rates: PairsBySample) -> Iterator[Float[np.ndarray, "samples"]]:
        """Yield ratio times direction of every pair at each sample, before the low-pass."""
        drives, joints = self.pairs.T
        velocity = np.zeros((self.smooth_speeds.shape[1], qd.shape[1]))
        for drive, joint, rate in zip(drives, joints, rates, strict=True):
            if self.moves[joint]:
                velocity[drive] += rate * qd[joint]
        for speeds in self.smooth_speeds:
            for drive, rate in zip(drives, rates, strict=True):
                direction = velocity[drive].copy()
                _take_smooth_sign(direction, speeds[drive])
                direction *= rate
                yield direction

    def interpolate_rates(self, q: ChannelsBySample, step: int) -> PairsBySample:
        """Return the ratios at all samples, computed at every ``step``-th one."""
        from scipy.interpolate import CubicSpline  # imported here, since only robots with loops need it

        count = q.shape[1]
        step = max(1, min(step, (count - 1) // MIN_RATIO_SAMPLES))
        chosen = np.union1d(np.arange(0, count, step), [count - 1])
        rates = self.compute_rates(np.ascontiguousarray(q[:, chosen].T))
        return rates if step == 1 else np.asarray(CubicSpline(chosen, rates, axis=1)(np.arange(count)))

    def without_joints(self, held: Bool[np.ndarray, "joints"]) -> PoseDirections:
        """Return the directions while these joints do not move."""
        return replace(self, moves=self.moves & ~held)

    def with_alternatives(self, speeds: Float[np.ndarray, "alternatives drives"]) -> PoseDirections:
        """Return the directions with each of several rows of smoothing speeds, one alternative after the other."""
        return replace(self, smooth_speeds=speeds)


AnyDirections: TypeAlias = DriveDirections | PoseDirections


def _take_smooth_sign(speeds: Float[np.ndarray, "samples"], smooth_speed: float) -> None:
    """Replace velocities by directions between -1 and 1, in place."""
    width = speeds * speeds
    width += smooth_speed**2
    np.sqrt(width, out=width)
    np.divide(speeds, width, out=speeds, where=width > 0.0)
