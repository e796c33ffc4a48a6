"""Low-passed drive directions (signs of drive velocities), which multiply the Coulomb friction in the regressor.

Coulomb friction jumps when a drive reverses. The low-pass smooths this jump in the measured torque. Both sides of
tau = Y beta must be filtered by the same operator, so the drive direction must be low-passed in the same way.

The drive direction should be the sign of the unfiltered velocity, but noise would change this sign. Therefore the sign
is taken from a velocity filtered with ``CUTOFF_RATIO`` times the cut-off of the motion: at a reversal, this velocity
changes sign closer to the right time than the velocity of the motion does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.logs.temporary_arrays import allocate_temporary
from ytheta.shapes import ChannelsBySample, Float

CUTOFF_RATIO = 2.0


@dataclass(frozen=True, eq=False)
class DriveDirections:
    """The drives whose directions are needed; ``rates`` @ qd are the velocities of these drives.

    ``smooth_speeds``: for each drive, the speed s in the smooth sign v / sqrt(v^2 + s^2); 0 if its friction jumps.
    """

    rates: Float[np.ndarray, "drives joints"]
    smooth_speeds: Float[np.ndarray, "drives"]

    def evaluate(self, qd: ChannelsBySample) -> Float[np.ndarray, "drives samples"]:
        """Return directions between -1 and 1 at each sample, before the low-pass."""
        drives, samples = len(self.rates), qd.shape[1]
        velocity = np.matmul(self.rates, qd, out=allocate_temporary(drives * samples).reshape(drives, samples))
        for speeds, smooth_speed in zip(velocity, self.smooth_speeds, strict=True):  # one drive at a time and in place:
            width = speeds * speeds  # there are many times more samples than are kept
            width += smooth_speed**2
            np.sqrt(width, out=width)
            np.divide(speeds, width, out=speeds, where=width > 0.0)
        return velocity
