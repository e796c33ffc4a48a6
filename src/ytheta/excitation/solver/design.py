"""The objective of a design: criterion plus penalties, as a function of the unknowns, with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.engine.engine import PickledByFields
from ytheta.excitation.constraints.penalty import Constraints
from ytheta.excitation.criteria.information import Criterion, Grams, compute_grams
from ytheta.excitation.trajectories.basis import ACCELERATION, POSITION, VELOCITY
from ytheta.excitation.trajectories.rest_to_rest import RestToRest, Unknowns
from ytheta.excitation.trajectories.trajectory import Trajectory
from ytheta.shapes import Float

UNREACHABLE = 1e3  # value of a motion along which loops do not close; far above that of any other motion


@dataclass(frozen=True, eq=False)
class Design(PickledByFields):
    """What is designed: trajectories of a space, by a criterion, within constraints."""

    space: RestToRest
    constraints: Constraints
    criterion: Criterion

    @property
    def shape(self) -> tuple[int, int]:
        return self.space.unknowns, len(self.space.joints)

    def evaluate(
        self, flat: Float[np.ndarray, "_"], sharpness: float, penalty_weight: float
    ) -> tuple[float, Float[np.ndarray, "_"]]:
        """Return the objective and its gradient for the unknowns as one vector."""
        motion = self.space.move(flat.reshape(self.shape))
        kernels = self.constraints.kernels
        x = kernels.close(motion[POSITION])
        if x is None:
            return UNREACHABLE, np.zeros_like(flat)
        qd, qdd = motion[VELOCITY], motion[ACCELERATION]
        Y = kernels.compute_regressor(x, qd, qdd)
        value, sensitivities = self.criterion.evaluate(compute_grams(Y), sharpness)
        slopes = np.matmul(Y.transpose(1, 0, 2), sensitivities).transpose(1, 0, 2) * (2.0 / len(Y))
        penalty, gradient = self.constraints.penalize(motion, x)
        gradient *= penalty_weight
        gradient[:3] += kernels.pull_back_regressor(x, qd, qdd, slopes).transpose(1, 0, 2)
        return value + penalty_weight * penalty, self.space.pull_back(gradient).ravel()

    def measure(self, x: Unknowns) -> float:
        """Return the exact value of the criterion, without penalties."""
        return self.criterion.measure(self.compute_grams(self.space.build(x)))

    def compute_grams(self, trajectory: Trajectory) -> Grams:
        """Return the Gram matrices of one period of a trajectory, at the samples of the design."""
        return sample_grams(self.constraints, trajectory, self.space.points)


def sample_grams(constraints: Constraints, trajectory: Trajectory, points: int) -> Grams:
    """Return the Gram matrices of one period of a trajectory, from ``points`` samples."""
    motion = trajectory.sample_period(points)
    x = constraints.kernels.close(motion.q)
    if x is None:
        count = len(constraints.kernels.base)
        return np.zeros((len(trajectory.joints), count, count))
    return compute_grams(constraints.kernels.compute_regressor(x, motion.qd, motion.qdd))
