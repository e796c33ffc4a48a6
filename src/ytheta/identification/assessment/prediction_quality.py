"""How well a model predicts torques: errors and standard deviations relative to what the torque of each joint varies.

Notation      code         meaning                                                                       per joint
              scale        standard deviation of the torque, at least MIN_SCALE_RATIO times the torque
                           RMS of the strongest joint                                                    Nm or N
              error        RMS of the residual / scale                                                   percent
              uncertainty  RMS of the standard deviation of the predicted torque / scale                 percent

The lower bound keeps joints with hardly any torque, such as a wrist without load or a joint at rest, from spoiling the
verdict: noise and friction are most of their torque, but the drives of wrists are built for about this share of the
torque of the shoulder, so that the error is small for the drive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.shapes import PerJoint, freeze

# Torque of a joint relative to that of the strongest joint of its kind. In their URDFs, the effort limits of the last
# joint of the Panda, UR10e, LWR4+, TX40 and KR300 are 0.14, 0.16, 0.22, 0.23 and 0.60 times those of the first joint.
MIN_SCALE_RATIO = 0.15


@dataclass(frozen=True, eq=False)
class PredictionQuality:
    """Errors and uncertainties in percent of the scales; see the module docstring. The arrays are read-only.

    ``joint_rows`` are the rows that count in the errors of all joints together, see ``TorqueErrors``.
    """

    error: PerJoint
    uncertainty: PerJoint
    scale: PerJoint
    joint_rows: slice = field(default_factory=lambda: slice(None))

    def __post_init__(self) -> None:
        for values in (self.error, self.uncertainty, self.scale):
            freeze(values)

    @classmethod
    def without_errors(cls, std: PerJoint, scale: PerJoint, *, joint_rows: slice) -> PredictionQuality:
        """Return the quality for motion whose torques were not measured; its errors are zero."""
        return cls(np.zeros(len(scale)), _divide(std, scale), scale, joint_rows)

    @property
    def total_error(self) -> float:
        """Error of all joints together, in percent."""
        return self._combine(self.error)

    @property
    def total_uncertainty(self) -> float:
        """Uncertainty of all joints together, in percent."""
        return self._combine(self.uncertainty)

    def add_uncertainty(self, other: PredictionQuality) -> PredictionQuality:
        """Return the quality that is expected on the motion of ``other``, where nothing was measured.

        The error is that of this motion, which the model lacks or which is noise, and the uncertainty there.
        """
        error = np.hypot(self.error, other.uncertainty)
        return PredictionQuality(error, other.uncertainty, self.scale, self.joint_rows)

    def _combine(self, percents: PerJoint) -> float:
        joints = self.joint_rows if self.scale[self.joint_rows].any() else slice(None)
        percents, scale = percents[joints], self.scale[joints]
        total = np.linalg.norm(scale)
        return float(np.linalg.norm(percents * scale) / total if total > 0.0 else np.max(percents, initial=0.0))


def measure_quality(errors: TorqueErrors, std: PerJoint, *, prismatic: Sequence[bool]) -> PredictionQuality:
    """Return errors and uncertainties of a model on a motion.

    ``std``: RMS of the standard deviation of each joint's predicted torque. ``prismatic``: which joints have forces
    instead of torques. A joint that nearly always rests has no error, and does not count.
    """
    scale = find_scales(errors.variation, errors.torque_rms, prismatic=prismatic)
    judged = errors.judged if errors.judged.any() else np.ones(len(scale), dtype=bool)
    error = _divide(errors.rms, scale) * judged
    return PredictionQuality(error, _divide(std, scale), scale * judged, errors.joint_rows)


def find_scales(variation: PerJoint, torque_rms: PerJoint, *, prismatic: Sequence[bool]) -> PerJoint:
    """Return the scale of each joint; torques are compared with torques, and forces with forces."""
    slides = np.array(prismatic, dtype=bool)
    strongest = np.zeros(len(variation))
    for kind in (slides, ~slides):
        strongest[kind] = torque_rms[kind].max(initial=0.0)
    return np.maximum(variation, MIN_SCALE_RATIO * strongest)


def _divide(values: PerJoint, scale: PerJoint) -> PerJoint:
    """Return percentages; zero relative to zero is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((scale > 0.0) | (values != 0.0), 100.0 * values / scale, 0.0)
