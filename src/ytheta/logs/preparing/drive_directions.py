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
        velocity = self.rates @ qd
        width = np.hypot(velocity, self.smooth_speeds[:, None])
        return velocity / np.where(width > 0.0, width, 1.0)
