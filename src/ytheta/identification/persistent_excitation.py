"""Assessing whether a motion is persistently exciting: a log, a reference trajectory, or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from ytheta.display import Displayed
from ytheta.errors import InputError
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.estimators.lin.persistent_excitation import JointExcitation, compute_joint_excitation
from ytheta.identification.estimators.lin.serial_arm import explain_refusal
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

    subject: ClassVar[str] = "persistent_excitation"

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
