"""The steps of the identification of a payload after model and logs have been read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, parameter_name
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import without_regrouping
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.equations.motion_sources import LogSource
from ytheta.identification.equations.stiction import find_sticking_rates, make_rest_rules
from ytheta.identification.inputs.log_checks import find_zero_torques
from ytheta.identification.prediction.torque_model import TorqueModel
from ytheta.logs.preparing.preparation import Preparation
from ytheta.payload.attachment import Attachment
from ytheta.payload.columns import PayloadEquations
from ytheta.payload.estimation import estimate_payload
from ytheta.payload.findings import judge_mass
from ytheta.payload.model_errors import make_model_errors
from ytheta.payload.result import PayloadEstimate
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint


@dataclass(frozen=True, eq=False)
class PayloadRequest:
    """What ``identify_payload`` was asked for, after model and logs have been read.

    Attributes
    ----------
    model            the model without payload
    attachment       where the payload is attached
    loaded           prepared logs with the payload
    unloaded         prepared logs without it, which the model does not know yet
    min_speed        one speed per joint below which its equations are left out, or None
    leaves_out_rest  whether the equations of joints that rest and may stick are left out
    friction_drift   expected relative change of friction
    mass             the known mass in kg, or None
    threads          number of threads, or None
    """

    model: TorqueModel
    attachment: Attachment
    loaded: Sequence[Preparation]
    unloaded: Sequence[Preparation]
    min_speed: PerJoint | None
    leaves_out_rest: bool
    friction_drift: float
    mass: float | None
    threads: int | None


def run_payload_identification(request: PayloadRequest, report: Callable[[str], None]) -> PayloadEstimate:
    """Estimate the payload, and compute the torque errors without and with it."""
    robot, attachment, min_speed = request.model.base.robot, request.attachment, _leave_out_zero_torques(request)
    loaded, unloaded = (_make_sources(request, part) for part in (request.loaded, request.unloaded))
    report("comparing the torques with those of the model")
    before = compute_errors(_make_form(robot, min_speed), loaded, robot.theta, threads=request.threads)
    if not before.counts.any():
        raise InputError(
            f"{', '.join(source.name for source in loaded)}: "
            + (
                "no joint ever moves, and joints with Coulomb friction may stick at rest; move the arm, or set "
                "min_speed to 0 to use rest too"
                if request.leaves_out_rest
                else "no joint ever reaches its min_speed; lower min_speed"
            )
        )
    errors = make_model_errors(request.model, request.friction_drift)
    payload = without_regrouping(
        attachment.attach(Inertia()), [parameter_name(attachment.name, each) for each in LINK_PARAMETERS]
    )
    arm_mass = float(sum(max(each.inertia.mass, 0.0) for each in robot.links))
    fit = estimate_payload(
        PayloadEquations(robot, Differential(payload, min_speed), None if errors is None else errors.base, min_speed),
        np.zeros((0, 0)) if errors is None else errors.factor,
        loaded,
        unloaded,
        torque_squares=before.torque,
        arm_mass=arm_mass,
        mass=request.mass,
        threads=request.threads,
        report=report,
    )
    preparations = (*request.loaded, *request.unloaded)
    result = PayloadEstimate(
        attachment=attachment,
        fit=fit,
        before=before,
        after=before,
        logs=tuple(each.log.source for each in request.loaded),
        unloaded=tuple(each.log.source for each in request.unloaded),
        arm_mass=arm_mass,
        has_covariance=request.model.identified is not None,
        cutoff=min(float(each.settings.cutoff) for each in request.loaded),
        noise=None if request.model.identified is None else request.model.identified.noise,
        findings=(*(finding for each in preparations for finding in each.findings), *judge_mass(fit)),
    )
    report("computing the torque errors with the payload")
    form = _make_form(result.robot, min_speed)
    return replace(result, after=compute_errors(form, loaded, result.robot.theta, threads=request.threads))


def _leave_out_zero_torques(request: PayloadRequest) -> PerJoint | None:
    """Return the speeds below which equations are left out: all of those of joints whose torque is always zero.

    The torque of such a joint was not measured, and its equations would say that the payload weighs nothing.
    """
    names = {name for finding in find_zero_torques([each.log for each in request.loaded]) for name in finding.names}
    if not names:
        return request.min_speed
    joints = request.model.base.robot.actuated
    speeds = np.zeros(len(joints)) if request.min_speed is None else request.min_speed
    return np.where([name in names for name in joints], np.inf, speeds)


def _make_form(robot: Robot, min_speed: PerJoint | None) -> Differential:
    """Return the form of all standard parameters."""
    return Differential(without_regrouping(robot, robot.parameter_names), min_speed)


def _make_sources(request: PayloadRequest, preparations: Sequence[Preparation]) -> tuple[LogSource, ...]:
    robot = request.model.base.robot
    rates = find_sticking_rates(robot, ())
    rules = make_rest_rules(preparations, rates) if request.leaves_out_rest else [None] * len(preparations)
    directions = make_drive_directions(robot)
    return tuple(LogSource(each, directions, rest=rest) for each, rest in zip(preparations, rules, strict=True))
