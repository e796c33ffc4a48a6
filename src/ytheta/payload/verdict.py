"""The verdict on an estimated payload: a grade and its reason in one sentence; its statistics and findings."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES
from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.verdict import Grade, PredictionQuality, Verdict, choose_grade
from ytheta.identification.torque_model import TorqueModel
from ytheta.payload.estimation import PayloadFit
from ytheta.robot.inertia import Inertia, Ten
from ytheta.shapes import Float

# Mass in standard deviations, below which no payload is seen. Chosen on: reasoning; noise alone exceeds it once in 44
# cases.
MIN_SIGNIFICANCE = 2.0
# Largest standard deviations of a good and of a usable mass, relative to the mass. Chosen on: rule of thumb.
MAX_GOOD_MASS_STD, MAX_USABLE_MASS_STD = 0.05, 0.2
# Largest standard deviations of a good and of a usable centre of mass, in m, of every coordinate. Chosen on: rule of
# thumb.
MAX_GOOD_CENTER_STD, MAX_USABLE_CENTER_STD = 0.02, 0.1
# Standard deviation of the mass relative to the robot's mass, above which the motion does not show a payload. Chosen
# on: rule of thumb.
MAX_ARM_SHARE = 0.02
# Distance of the nearest body that can exist from the estimate, in standard deviations, above which the payload is
# doubtful. Chosen on: rule of thumb.
MAX_DISTANCE = 5.0
# Ratio of what remains, on average over the joints, to the noise of the model's identification, above which the
# payload is doubtful. Chosen on: rule of thumb.
MAX_NOISE_RATIO = 4.0
# Share of the variance of the mass from which the scale of the torques is named as its cause. Chosen on: reasoning; no
# other cause is then larger.
MIN_SCALE_SHARE = 0.5
# Share of the torque that the model does not explain, which a payload must explain at least, if the rest is an error.
# Chosen on: rule of thumb.
MIN_EXPLAINED_SHARE = 0.5


def reach_payload_verdict(
    values: Ten,
    std: Ten,
    *,
    distance: float,
    quality: PredictionQuality,
    explained_share: float,
    noise_ratio: float | None,
    unseen: Sequence[str],
    mass_is_known: bool,
    arm_mass: float,
    torque_scale: float,
) -> Verdict:
    """Grade a payload by its most serious defect: not seen, impossible, torques unexplained, then uncertainty.

    ``values``, ``std``: of ``statistics.QUANTITIES`` before physical consistency. ``distance``: of the nearest body
    that can exist, in standard deviations. ``quality``: errors that remain.
    ``explained_share``: share of the squared torques that the model does not explain, which the payload explains.
    ``noise_ratio``: what remains, relative to the noise of the model's identification; None if that is not known.
    ``unseen``: names of the quantities that come from the prior alone. ``arm_mass``: mass of the robot in kg.
    ``torque_scale``: standard deviation of the scale of the torques, which is part of ``std``.
    """
    mass, mass_std = float(values[0]), float(std[0])
    seen = [value for name, value in zip(QUANTITIES[1:4], std[1:4].tolist(), strict=True) if name not in unseen]
    center_std = max(seen, default=float(std[1:4].max()))
    figure = f"{mass:.3g} ± {mass_std:.2g} kg"
    if not mass_is_known and mass < -MIN_SIGNIFICANCE * mass_std:
        return Verdict(
            Grade.DOUBTFUL,
            f"Doubtful: the mass is {figure}: the torques are smaller than those of the model alone; check the sign of "
            "the torques, and whether the model already contains a tool or payload.",
        )
    if not mass_is_known and mass < MIN_SIGNIFICANCE * mass_std:
        grade = Grade.NOT_EXCITING if mass_std > MAX_ARM_SHARE * arm_mass else Grade.DOUBTFUL
        remedy = (
            "move the joints that lift this link through many positions"
            if grade is Grade.NOT_EXCITING
            else "check that the log was recorded with the payload, and that the payload is on this link"
        )
        bound = max(mass, 0.0) + MIN_SIGNIFICANCE * mass_std
        return Verdict(
            grade,
            f"{grade.value.capitalize()}: no payload is seen that can be distinguished from nothing: its mass is below "
            f"{_format(bound)} kg; {remedy}.",
        )
    if explained_share < MIN_EXPLAINED_SHARE and choose_grade(quality) is Grade.POOR:
        return Verdict(
            Grade.POOR,
            f"Poor: a payload explains only {100.0 * explained_share:.0f} % of the torque that the model does not, and "
            f"the torque error remains {_format(quality.total_error)} % of the torque's variation: something other "
            "than a payload differs; identify the robot without payload, or give an unloaded log of the same day.",
        )
    if distance > MAX_DISTANCE:
        by = f", the nearest that can is {distance:.1f} standard deviations away" if np.isfinite(distance) else ""
        return Verdict(
            Grade.DOUBTFUL, f"Doubtful: no body has the estimated parameters{by}; check units and signs of the torques."
        )
    if noise_ratio is not None and noise_ratio > MAX_NOISE_RATIO:
        return Verdict(
            Grade.DOUBTFUL,
            f"Doubtful: the torque that remains is {_format(noise_ratio)} times the noise of the model's "
            "identification: something other than a payload on this link differs; check the link, move faster if the "
            "motion is slow, since friction differs most there, or give an unloaded log of the same day.",
        )
    relative = 0.0 if mass_is_known else mass_std / abs(mass)
    scale = _describe_scale(mass, mass_std, torque_scale)
    where = f"mass {mass:.4g} kg (known)" if mass_is_known else f"mass {figure}{scale}"
    figures = f"{where}, centre of mass ± {_format(1e3 * center_std)} mm"
    if relative > MAX_USABLE_MASS_STD or center_std > MAX_USABLE_CENTER_STD:
        return Verdict(
            Grade.NOT_EXCITING, f"Not exciting: {figures}; move the wrist through more orientations, and faster."
        )
    grade = choose_grade(quality)
    is_sure = relative <= MAX_GOOD_MASS_STD and center_std <= MAX_GOOD_CENTER_STD and len(seen) == 3
    grade = Grade.USABLE if grade is Grade.GOOD and not is_sure else grade
    rest = f"the torque error that remains is {_format(quality.total_error)} % of the torque's variation"
    return Verdict(grade, f"{grade.value.capitalize()}: {figures}; {rest}{_describe_unseen(unseen)}.")


def _describe_scale(mass: float, mass_std: float, torque_scale: float) -> str:
    """Return a clause about the scale of the torques, if it is the largest cause of the mass's standard deviation."""
    part = torque_scale * abs(mass)
    if part**2 < MIN_SCALE_SHARE * mass_std**2 or part == 0.0:
        return ""
    percent = _format(100.0 * torque_scale)
    return f" (± {part:.2g} kg of it because the scale of the torques is only known to {percent} %)"


def _describe_unseen(names: Sequence[str]) -> str:
    """Return a clause about the quantities that the motion does not show."""
    center = [name for name in names if name in QUANTITIES[1:4]]
    moments = [name for name in names if name in QUANTITIES[4:]]
    text = f"; the motion does not show {' and '.join(center)} of the centre of mass" if center else ""
    if len(moments) == 6:
        return f"{text}; the moments of inertia are those of a compact body, since the motion does not show them"
    verb = "is that" if len(moments) == 1 else "are those"
    return f"{text}; {', '.join(moments)} {verb} of a compact body" if moments else text


def _format(value: float) -> str:
    """Return a number with two digits and without exponents."""
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


# Mass, centre of mass and moments about it as functions of the ten parameters, with their covariance.
#
# Identity      c = h / m,   I_c = I - (hᵀh 1 - h hᵀ) / m;   cov(f(theta)) = J cov(theta) Jᵀ with J = df / dtheta
# Notation      m, h, I    mass, first moments and moments of inertia about the origin of the frame


QUANTITIES = ("mass", "cx", "cy", "cz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
UNITS = ("kg", *("m",) * 3, *("kg m²",) * 6)


def compute_quantities(theta: Ten) -> Ten:
    """Return mass, centre and moments about the centre in the order of QUANTITIES."""
    inertia = Inertia(tuple(float(value) for value in theta))
    about_center = inertia.tensor_about_center
    return np.array([inertia.mass, *inertia.center, *(about_center[row][column] for row, column in INERTIA_ENTRIES)])


def compute_jacobian(theta: Ten) -> Float[np.ndarray, "10 10"]:
    """Return the derivatives of the quantities with respect to the ten parameters; the mass must not be zero."""
    m, h = float(theta[0]), theta[1:4]
    J = np.eye(10)
    J[1:4, 1:4] /= m
    J[1:4, 0] = -h / m**2
    square = h @ h * np.eye(3) - np.outer(h, h)
    for place, (row, column) in enumerate(INERTIA_ENTRIES, start=4):
        J[place, 0] = square[row, column] / m**2
        for k in range(3):
            change = 2.0 * h[k] * (row == column) - h[column] * (row == k) - h[row] * (column == k)
            J[place, 1 + k] = -change / m
    return J


# Findings about a payload: unknown errors of the model, and a mass that contradicts the torques.


# Difference between a known mass and that of the torques in standard deviations, above which they contradict each
# other. Chosen on: reasoning; a normal variable exceeds it once in 370 cases.
MIN_MASS_DIFFERENCE = 3.0


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
        f"the torques say that the payload has {torque:.4g} ± {std:.2g} kg if their scale is right, but its known mass "
        f"is {known:g} kg, a ratio of {torque / known:.3g}"
    )
    remedy = "check the torque constants and gear ratios, by whose errors all torques scale, and the scale"
    return [Finding(PayloadFindingCode.MASS, Severity.WARNING, statement, remedy, fields={"mass": torque, "std": std})]
