"""Low-passed directions of drives, with which Coulomb friction is compared.

Coulomb friction jumps when a drive reverses. The measured torque has passed a low-pass that spreads the jump, so the
sign of the velocity must pass the same low-pass before the two are compared: all of tau = Y beta goes through one
operator.

The sign should be that of the velocity before the low-pass, but noise would flip it. Therefore the velocity is taken
after a low-pass at ``CUTOFF_RATIO`` times the cut-off: it changes sign closer to the moment of reversal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.shapes import ChannelsBySample, Float

CUTOFF_RATIO = 2.0


@dataclass(frozen=True, eq=False)
class DriveDirections:
    """Drives whose directions are wanted: ``rates`` @ qd are their velocities.

    ``smooth_speeds`` are the speeds within which a drive's friction changes its sign, apart from the low-pass; 0 for a
    jump.
    """

    rates: Float[np.ndarray, "drives joints"]
    smooth_speeds: Float[np.ndarray, "drives"]

    def evaluate(self, qd: ChannelsBySample) -> Float[np.ndarray, "drives samples"]:
        """Directions between -1 and 1 at each sample, before any low-pass."""
        velocity = self.rates @ qd
        width = np.hypot(velocity, self.smooth_speeds[:, None])
        return velocity / np.where(width > 0.0, width, 1.0)
