"""Findings about a payload: unknown errors of the model, and a mass that contradicts the torques."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.verdict import Verdict
from ytheta.identification.prediction.torque_model import TorqueModel
from ytheta.payload.estimation import PayloadFit

MIN_MASS_DIFFERENCE = 3.0  # standard deviations between a known mass and that of the torques


class PayloadFindingCode(StrEnum):
    """The kind of a finding about a payload."""

    MODEL = "model"  # errors of the model without payload are unknown, or it predicts poorly
    MASS = "mass"  # the known mass contradicts the torques
    LOG = "log"  # a log without payload is one from which the model was identified


def judge_identification(verdict: Verdict) -> Finding:
    """Return the verdict on the model that was identified from the logs without payload."""
    severity = Severity.NOTE if verdict.solved else Severity.WARNING
    statement = f"the robot was identified from the logs without payload: {verdict.sentence.rstrip('.')}"
    return Finding(PayloadFindingCode.MODEL, severity, statement)


def judge_model(model: TorqueModel) -> list[Finding]:
    """Return a finding about a model whose errors are unknown."""
    if model.identified is not None:
        return []
    statement = "the model is a description, whose errors are unknown: they are not part of the standard deviations"
    remedy = "identify the robot first, or give a log without payload"
    return [Finding(PayloadFindingCode.MODEL, Severity.WARNING, statement, remedy)]


def judge_mass(fit: PayloadFit) -> list[Finding]:
    """Return a finding if a known mass contradicts the torques."""
    known, torque = fit.posterior.mass, float(fit.free.theta[0])
    std = float(np.sqrt(fit.free.theta_covariance[0, 0]))
    if known is None or abs(torque - known) <= MIN_MASS_DIFFERENCE * std:
        return []
    statement = (
        f"the torques say that the payload has {torque:.4g} ± {std:.2g} kg, but its known mass is {known:g} kg, a "
        f"ratio of {torque / known:.3g}"
    )
    remedy = "check the torque constants and gear ratios, by whose errors all torques scale, and the scale"
    return [Finding(PayloadFindingCode.MASS, Severity.WARNING, statement, remedy, fields={"mass": torque, "std": std})]
