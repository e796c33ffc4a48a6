"""Low-passed drive directions, which multiply the Coulomb friction in the regressor.

Coulomb friction jumps when a drive reverses. The low-pass smooths the jump in the measured torque, so the sign of the
drive's velocity must pass through the same low-pass: both sides of tau = Y beta are filtered by the same operator.

The sign should be that of the unfiltered velocity, but noise would change it. Therefore it is computed from a velocity
with a higher cut-off, ``CUTOFF_RATIO`` times that of the motion, which changes sign closer to the moment of reversal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.shapes import ChannelsBySample, Float

CUTOFF_RATIO = 2.0


@dataclass(frozen=True, eq=False)
class DriveDirections:
    """The drives whose directions are needed; ``rates`` @ qd are their velocities.

    ``smooth_speeds`` are the speeds over which the friction of each drive changes sign smoothly; 0 if it jumps.
    """

    rates: Float[np.ndarray, "drives joints"]
    smooth_speeds: Float[np.ndarray, "drives"]

    def evaluate(self, qd: ChannelsBySample) -> Float[np.ndarray, "drives samples"]:
        """Return directions between -1 and 1 at each sample, before the low-pass."""
        velocity = self.rates @ qd
        width = np.hypot(velocity, self.smooth_speeds[:, None])
        return velocity / np.where(width > 0.0, width, 1.0)
