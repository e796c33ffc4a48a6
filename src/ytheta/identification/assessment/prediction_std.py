"""Standard deviation of a predicted torque: the covariance of the parameters, propagated through the regressor.

Identity      std_j(t)² = y_j(t) C y_j(t)ᵀ + r_j(t)²  with row y_j(t) of Y for joint j at time t
              C   covariance of beta
              r   error of friction near reversals: of Coulomb friction if the drives reverse half a recorded sample
                  earlier or later, since a log contains no more about the time of a reversal; and of root friction,
                  whose low-pass is approximated, see ``friction_laws``

It is the standard deviation of the difference between the torque that the model predicts for a motion and the torque
without noise. A new measurement differs from the prediction by its noise too: its variance is std² + noise².
Otherwise the regressor counts as known: load-dependent friction contributes by its coefficients, not by its load.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.form import RegressorLayout
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import BaseByBase, Float, JointsBySample, NonzerosBySample, PerBase, PerJoint, freeze

# A predicted torque is unknown if its regressor row has a larger component, relative to the length of the row, along a
# direction that the data do not identify.
MAX_UNIDENTIFIED_SHARE = 1e-6
REVERSAL_SAMPLES = 0.5  # standard deviation of the time of a reversal, in recorded samples


@dataclass(frozen=True, eq=False)
class ParameterUncertainty:
    """Covariance of beta, and the directions along which beta is unknown; the covariance is zero along them."""

    covariance: BaseByBase
    unidentified: Float[np.ndarray, "base unidentified"]

    def compute_std(self, layout: RegressorLayout, values: NonzerosBySample) -> JointsBySample:
        """Return the standard deviation of Y beta; infinite if it depends on a direction that is not identified."""
        std = np.empty((len(layout.slices), values.shape[1]))
        for joint, (part, columns) in enumerate(zip(layout.slices, layout.columns, strict=True)):
            Y = values[part]
            variance = np.einsum("ks,ks->s", Y, self.covariance[np.ix_(columns, columns)] @ Y)
            std[joint] = np.sqrt(np.maximum(variance, 0.0))
            if self.unidentified.shape[1]:
                component = np.linalg.norm(self.unidentified[columns].T @ Y, axis=0)
                std[joint, component > MAX_UNIDENTIFIED_SHARE * np.linalg.norm(Y, axis=0)] = np.inf
        return std


@dataclass(frozen=True, eq=False, repr=False)
class RegressorSamples:
    """The regressor at selected samples, with a column of NaN between segments. The arrays are read-only.

    ``mask`` is 1 for samples that count, and 0 for those at which a joint is too slow.
    """

    layout: RegressorLayout
    values: Float[np.ndarray, "nonzeros shown"]
    reversal_std: Float[np.ndarray, "joints shown"]  # r of the module docstring
    mask: Float[np.ndarray, "joints shown"]

    def __post_init__(self) -> None:
        for array in (self.values, self.reversal_std, self.mask):
            freeze(array)

    def compute_std(self, uncertainty: ParameterUncertainty) -> Float[np.ndarray, "joints shown"]:
        """Return the standard deviation of the predicted torque at every sample."""
        return np.hypot(uncertainty.compute_std(self.layout, self.values), self.reversal_std)

    def compute_rms_std(self, uncertainty: ParameterUncertainty) -> PerJoint:
        """Return for each joint the root mean square of the standard deviation over the samples that count."""
        std = self.compute_std(uncertainty)
        counts = (self.mask > 0.0) & ~np.isnan(std)
        squares = np.where(counts, std, 0.0) ** 2
        return np.sqrt(squares.sum(axis=1) / np.maximum(counts.sum(axis=1), 1))


def compute_reversal_std(form: Differential, motion: MotionSamples, beta: PerBase) -> JointsBySample:
    """Return r of the module docstring; zero if Coulomb friction is not low-passed, as in robots with loops."""
    rows = float(motion.rows[-1] - motion.rows[0]) if len(motion) > 1 else 0.0
    if motion.direction is None or rows <= 0.0:
        return np.zeros((len(form.layout.slices), len(motion)))
    rows_per_sample = rows / (len(motion) - 1)
    change = np.gradient(motion.direction, axis=0) / rows_per_sample
    coulomb = REVERSAL_SAMPLES * form.compute_coulomb_torque(np.ascontiguousarray(change.T), beta)
    return np.hypot(coulomb, form.compute_root_error(motion, beta))
