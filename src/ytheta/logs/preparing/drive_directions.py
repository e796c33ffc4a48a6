"""Directions of motion as the low-pass shows them: what Coulomb friction is compared with.

Friction jumps where a drive turns round. The measured torque has passed a low-pass that spreads the jump, so the sign
of the speed must pass the same low-pass before the two are compared: all of tau = Y beta goes through one operator.

The sign belongs to the speed before the low-pass, and only noise forbids to take it there. A speed that was low-passed
at ``SHARPER`` times the cut-off turns round closer to the time the drive did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.shapes import ChannelsBySample, Float

SHARPER = 2.0


@dataclass(frozen=True, eq=False)
class DriveDirections:
    """Drives whose direction counts: ``rates`` @ qd are their speeds.

    ``softness`` is the speed within which a drive's friction changes its sign, beyond what the low-pass does; 0 for a
    jump.
    """

    rates: Float[np.ndarray, "drives joints"]
    softness: Float[np.ndarray, "drives"]

    def directions(self, qd: ChannelsBySample) -> Float[np.ndarray, "drives samples"]:
        """Between -1 and 1, before any low-pass; at each sample, as torques are recorded."""
        speed = self.rates @ qd
        width = np.hypot(speed, self.softness[:, None])
        return speed / np.where(width > 0.0, width, 1.0)
