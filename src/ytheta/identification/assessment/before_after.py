"""Before and after: torque errors of the description and of the identified model on the same samples.

Before is the robot as it was described, with the friction and rotor inertias that its description contains; a
description without friction predicts none. After is the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.robot.missing_meshes import list_incomplete_links
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """Torque errors of the description and of the identified model.

    Attributes
    ----------
    before          errors of the description
    after           errors of the identified model, of the same samples
    is_validation   whether these are the validation logs; otherwise those of the fit, to which the model was adapted
    has_friction    whether the description contains friction
    """

    before: TorqueErrors
    after: TorqueErrors
    is_validation: bool
    has_friction: bool

    @property
    def ratio(self) -> float:
        """How many times smaller the error became; infinite if none is left, 1 if there was none."""
        return float(_divide(np.array([self.before.relative_percent]), np.array([self.after.relative_percent]))[0])

    @property
    def joint_ratios(self) -> PerJoint:
        """How many times smaller the error of each joint became."""
        return _divide(self.before.per_joint_percent, self.after.per_joint_percent)


def is_described(robot: Robot) -> bool:
    """Return whether the description contains inertias of links that move, so that it predicts torques."""
    if robot.unset_symbols or list_incomplete_links(robot):
        return False
    return any(not robot.link(joint.child).inertia.massless for joint in robot.joints)


def has_friction(robot: Robot) -> bool:
    """Return whether the description contains friction of a drive."""
    drives = (drive for _, drive in robot.drives)
    return any(any((each.viscous, each.coulomb, each.offset, each.root, each.load)) for each in drives)


def compute_differences(
    values: Float[np.ndarray, "params"], described: Float[np.ndarray, "params"], std: Float[np.ndarray, "params"]
) -> Float[np.ndarray, "params"]:
    """Return the differences from the description in standard deviations; NaN if those are infinite or zero."""
    known = np.isfinite(std) & (std > 0.0)
    return np.where(known, (values - described) / np.where(known, std, 1.0), np.nan)


def _divide(before: PerJoint, after: PerJoint) -> PerJoint:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((before == 0.0) & (after == 0.0), 1.0, before / after)
