"""Persistent excitation by the condition numbers of the joints' own equations, as in Lin's procedure.

Identity      A_i w_i = gamma_i;   the motion is persistently exciting if M_i = A_iᵀ A_i is positive definite for all i
Reference     [lin1995] sec. IV, (107), (109), (117)
Accepts       serial arms of revolute and prismatic joints; see ``serial_arm``
Differs from  the paper in: the columns of A_i are also scaled to length one, so that the condition number does not
              depend on units; parameters of the drives

A_i depends on the motion and on the geometry of the robot only, not on its parameters. The error bound of w_i is
proportional to the condition number of A_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.lin.serial_arm import SerialArm
from ytheta.shapes import SamplesByJoint

BLOCK_LENGTH = 4096  # samples whose motion is in memory at the same time


@dataclass(frozen=True)
class JointExcitation:
    """How well a motion determines the combinations that belong to one joint.

    Attributes
    ----------
    joint                      name of the joint
    parameters                 names of the combinations w_i: constants of composite bodies, and the drive's parameters
    rank                       number of combinations that the joint's own equations identify
    condition_number           of A_i with columns scaled to length one; infinite if the rank is not full
    unscaled_condition_number  of A_i itself, in SI units, as in the paper
    """

    joint: str
    parameters: tuple[str, ...]
    rank: int
    condition_number: float
    unscaled_condition_number: float


def compute_joint_excitation(
    base: BaseParameters, q: SamplesByJoint, qd: SamplesByJoint, qdd: SamplesByJoint
) -> tuple[JointExcitation, ...]:
    """Compute the condition number of A_i for every joint, from the base to the tip.

    ``q``, ``qd`` and ``qdd`` have one row per sample and one column per actuated joint. Raise InputError if the
    procedure does not accept the robot.
    """
    arm = SerialArm.of(base)
    triangles: list[np.ndarray] = [np.zeros((0, len(joint.names))) for joint in arm.joints]
    for first in range(0, len(q), BLOCK_LENGTH):
        rows = slice(first, first + BLOCK_LENGTH)
        bodies, velocities, accelerations = arm.propagate(q[rows], qd[rows], qdd[rows])
        for i, (joint, body) in enumerate(zip(arm.joints, bodies, strict=True)):
            A = joint.compute_columns(body, velocities[i], accelerations[i], None).T
            triangles[i] = np.asarray(np.linalg.qr(np.concatenate([triangles[i], A]), mode="r"))
    return tuple(
        _assess(joint.name, joint.names, triangle) for joint, triangle in zip(arm.joints, triangles, strict=True)
    )


def _assess(joint: str, parameters: tuple[str, ...], R: np.ndarray) -> JointExcitation:
    """Assess A_i from the factor R of its QR decomposition."""
    decomposition = NormalDecomposition.of(R.T @ R)  # (117)
    condition_number = decomposition.condition_number
    unscaled = float(np.linalg.cond(R)) if np.isfinite(condition_number) else np.inf
    return JointExcitation(joint, parameters, decomposition.rank, condition_number, unscaled)
