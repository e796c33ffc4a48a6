"""Assessing whether a motion is persistently exciting: a log, a reference trajectory, or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ytheta.display import Displayed
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.normal_equations import NormalDecomposition
from ytheta.identification.estimators.lin_serial_arm import SerialArm, explain_refusal
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.reading.read import LogInput, read_log
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import SamplesByJoint

if TYPE_CHECKING:

    class SampledMotion(Protocol):
        """Positions, velocities and accelerations, such as those of a sampled reference."""

        @property
        def q(self) -> SamplesByJoint: ...
        @property
        def qd(self) -> SamplesByJoint: ...
        @property
        def qdd(self) -> SamplesByJoint: ...

    MotionInput = LogInput | tuple[Any, Any, Any] | list[Any] | SampledMotion
else:  # a value of another type is refused with a sentence that says what is accepted
    MotionInput = Any

QUANTITIES = ("q", "qd", "qdd")


@dataclass(frozen=True, eq=False, repr=False)
class PersistentExcitation(Displayed):
    """How well a motion determines the parameters of each joint, by the condition numbers of Lin's matrices A_i.

    Attributes
    ----------
    joints             the joints, from the base to the tip
    samples            number of samples of the motion
    exciting           whether the motion is persistently exciting: every A_i has full rank
    condition_number   the largest condition number of a joint; infinite if the motion is not persistently exciting
    """

    joints: tuple[JointExcitation, ...]
    samples: int

    @property
    def exciting(self) -> bool:
        return bool(np.isfinite(self.condition_number))

    @property
    def condition_number(self) -> float:
        return max(joint.condition_number for joint in self.joints)

    def __repr__(self) -> str:
        return f"PersistentExcitation({len(self.joints)} joints, condition number {self.condition_number:.4g})"


def assess_persistent_excitation(
    robot: Robot,
    motion: MotionInput,
    *,
    rotor_inertia: bool = False,
    friction: Sequence[str] = (),
) -> PersistentExcitation:
    """Assess a motion by the condition number of every joint's own equations, as in Lin's procedure.

    Parameters
    ----------
    robot          a serial arm of revolute and prismatic joints; its inertias do not matter
    motion         a log: a file, a DataFrame, a dict of arrays or a Log, which is low-passed and differentiated as in
                   ``identify``; or (q, qd, qdd), or a value with these attributes, such as a sampled reference
    rotor_inertia  whether the rotor inertias are to be identified too
    friction       kinds of friction to be identified: viscous, coulomb, offset
    """
    check_is_robot(robot)
    reason = explain_refusal(robot)
    if reason is not None:
        raise InputError(f"the condition numbers of single joints need a serial arm: {reason}")
    base = base_parameters(robot, rotor_inertia=rotor_inertia, friction=friction)
    q, qd, qdd = _read_motion(robot, motion)
    return PersistentExcitation(compute_joint_excitation(base, q, qd, qdd), len(q))


def _read_motion(robot: Robot, motion: Any) -> tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint]:
    """Return q, qd and qdd of a log, of an object with these attributes, or of three arrays."""
    given: Sequence[Any]
    if all(hasattr(motion, name) for name in QUANTITIES):
        given = tuple(getattr(motion, name) for name in QUANTITIES)
    elif isinstance(motion, tuple | list):
        if len(motion) != len(QUANTITIES):
            raise InputError(f"motion has {len(motion)} entries; give (q, qd, qdd), or a log")
        given = motion
    else:
        prepared = prepare_log(read_log(motion, robot)).motion
        return prepared.q, prepared.qd, prepared.qdd
    arrays = [_check_array(robot, name, values) for name, values in zip(QUANTITIES, given, strict=True)]
    if len({len(values) for values in arrays}) > 1:
        raise InputError(
            f"motion: q, qd and qdd have {', '.join(str(len(x)) for x in arrays)} rows; give equal numbers"
        )
    return arrays[0], arrays[1], arrays[2]


def _check_array(robot: Robot, name: str, values: Any) -> SamplesByJoint:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"motion: {name} is not an array of numbers; give one row per sample") from None
    if array.ndim != 2 or array.shape[1] != len(robot.actuated) or not len(array):
        raise InputError(f"motion: {name} has the shape {array.shape}; give (samples, {len(robot.actuated)})")
    if not np.isfinite(array).all():
        raise InputError(f"motion: {name} contains numbers that are not finite; remove these samples")
    return array


# Persistent excitation by the condition numbers of the joints' own equations, as in Lin's procedure.
#
# Identity      A_i w_i = gamma_i;   the motion is persistently exciting if M_i = A_iᵀ A_i is positive definite for all
#               i
# Reference     [lin1995] sec. IV, (107), (109), (117)
# Accepts       serial arms of revolute and prismatic joints; see ``lin_serial_arm``
# Differs from  the paper in: the columns of A_i are also scaled to length one, so that the condition number does not
#               depend on units; parameters of the drives
#
# A_i depends on the motion and on the geometry of the robot only, not on its parameters. The error bound of w_i is
# proportional to the condition number of A_i.


# Samples whose motion is in memory at the same time. It affects only time and memory.
BLOCK_LENGTH = 4096


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
