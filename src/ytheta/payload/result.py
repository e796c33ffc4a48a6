"""The result of ``identify_payload``: mass, centre of mass and inertia with standard deviations, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ytheta.display import Displayed
from ytheta.files.atomic import TOML_MARK, check_writable, write_atomically
from ytheta.findings import Finding
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.assessment.verdict import PredictionQuality, Verdict, find_scales
from ytheta.identification.consistency.nearest import MARGIN
from ytheta.identification.consistency.solver import SIZE, Cone, LinkScale, Solution, solve_cone_program, to_svec
from ytheta.identification.consistency.standard_parameters import Mark, mark_parameters
from ytheta.identification.fit_statistics import compute_correlation
from ytheta.payload.attachment import Attachment
from ytheta.payload.estimation import PayloadFit
from ytheta.payload.posterior import PayloadPosterior
from ytheta.payload.verdict import QUANTITIES, compute_jacobian, compute_quantities, reach_payload_verdict
from ytheta.robot.inertia import Inertia, Ten, transport_matrix
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import to_toml
from ytheta.shapes import Float, Matrix3, PerJoint, Vector3


@dataclass(frozen=True, eq=False, repr=False)
class PayloadEstimate(Displayed):
    """What an arm holds.

    Attributes
    ----------
    mass            mass in kg
    center          centre of mass in m, in the frame ``frame``
    inertia         3 x 3 moments of inertia in kg m² about the centre of mass, in the axes of ``frame``
    std             standard deviations of mass, centre and moments, in the order of ``statistics.QUANTITIES``
    covariance      their covariance; ``correlation`` is their correlation matrix
    marks           what determines each of them: data, prior (a compact body of this mass), or both; None for a mass
                    that is known
    link, frame     where the payload is attached, and in whose frame its values are stated
    robot           the robot with the payload, which ``export``, ``simulate`` and others take
    verdict         a grade and its reason
    torque_scale    standard deviation of the scale of the torques, which is part of ``std``
    consistent      whether a body can have the parameters as estimated; the values above always belong to a body
    before, after   torque errors of the model without and with the payload, on the logs
    corrected_percent
                    relative torque error in percent if the errors of the model are estimated too, as they are for the
                    payload
    fit             the estimate with its noise
    noise           standard deviation of each joint's torque in the identification of the model; None if not known
    unloaded        names of the logs without payload
    findings        findings about the logs and the model
    """

    attachment: Attachment
    fit: PayloadFit
    before: TorqueErrors
    after: TorqueErrors
    logs: tuple[str, ...]
    unloaded: tuple[str, ...]
    arm_mass: float
    has_covariance: bool
    cutoff: float
    torque_scale: float = 0.0
    noise: PerJoint | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def link(self) -> str:
        return self.attachment.link

    @property
    def frame(self) -> str:
        return self.attachment.frame

    @property
    def known_mass(self) -> float | None:
        """The mass that was given, in kg; None if it was estimated."""
        return self.fit.posterior.mass

    @cached_property
    def consistent_payload(self) -> ConsistentPayload:
        """The nearest payload that can exist, in the frame of ``link``."""
        return find_consistent_payload(self.fit.posterior)

    @property
    def consistent(self) -> bool:
        return self.consistent_payload.distance == 0.0

    @property
    def inertia_in_link(self) -> Inertia:
        """The payload in the frame of ``link``."""
        return self.consistent_payload.inertia

    @property
    def values(self) -> Ten:
        """Mass, centre and moments in the order of ``statistics.QUANTITIES``, in the frame ``frame``."""
        return compute_quantities(self.inertia_in_link.seen_from(self.attachment.link_in_frame).vector)

    @property
    def mass(self) -> float:
        return float(self.values[0])

    @property
    def center(self) -> Vector3:
        return self.values[1:4]

    @property
    def center_in_link(self) -> Vector3:
        """Centre of mass in m, in the frame of ``link``."""
        return np.array(self.inertia_in_link.center)

    @property
    def inertia(self) -> Matrix3:
        return np.array(self.inertia_in_link.seen_from(self.attachment.link_in_frame).tensor_about_center)

    @cached_property
    def covariance(self) -> Float[np.ndarray, "10 10"]:
        scaled = (
            self.torque_scale * self.fit.posterior.theta
        )  # a wrong scale multiplies all parameters but a known mass
        if self.known_mass is not None:
            scaled[0] = 0.0
        return self._propagate(self.fit.posterior.theta_covariance + np.outer(scaled, scaled))

    @property
    def scale_std(self) -> float:
        """The part of the mass's standard deviation that is due to the scale of the torques, in kg."""
        return 0.0 if self.known_mass is not None else self.torque_scale * abs(float(self.fit.posterior.theta[0]))

    @property
    def std(self) -> Ten:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def correlation(self) -> Float[np.ndarray, "10 10"]:
        return compute_correlation(self.covariance)

    @cached_property
    def prior_std(self) -> Ten:
        """Standard deviations of the quantities before the data; those of centre and moments if the mass is known.

        With the unknown mass of the prior, the centre of a light payload would be uncertain by many metres, and all
        data would seem to determine it.
        """
        precision = self.fit.posterior.prior.precision
        given_mass = np.zeros((10, 10))
        given_mass[1:, 1:] = np.linalg.inv(precision[1:, 1:])
        std = np.sqrt(np.diag(self._propagate(given_mass)))
        std[0] = 0.0 if self.known_mass is not None else np.sqrt(np.linalg.inv(precision)[0, 0])
        return std

    @property
    def marks(self) -> tuple[Mark | None, ...]:
        marks = mark_parameters(self.std, self.prior_std)
        return marks if self.known_mass is None else (None, *marks[1:])

    @cached_property
    def verdict(self) -> Verdict:
        unexplained, residual = float(self.fit.unexplained.sum()), float(self.fit.residual.sum())
        estimate = Inertia(tuple(self.fit.posterior.theta.tolist())).seen_from(self.attachment.link_in_frame).vector
        return reach_payload_verdict(
            compute_quantities(estimate),
            self.std,
            distance=self.consistent_payload.distance,
            torque_scale=self.torque_scale,
            quality=self.quality,
            explained_share=1.0 - residual / unexplained if unexplained > 0.0 else 0.0,
            noise_ratio=self.noise_ratio,
            unseen=[name for name, mark in zip(QUANTITIES, self.marks, strict=True) if mark is Mark.PRIOR],
            mass_is_known=self.known_mass is not None,
            arm_mass=self.arm_mass,
        )

    @property
    def noise_ratio(self) -> float | None:
        """What remains of the torques, relative to the noise of the model's identification; None if not known."""
        if self.noise is None:
            return None
        judged = (self.fit.counts > 0.0) & (self.noise > 0.0)
        ratios = self.fit.residual[judged] / (self.fit.counts * self.noise**2)[judged]
        return float(np.sqrt(ratios.mean())) if judged.any() else None

    @property
    def quality(self) -> PredictionQuality:
        """Errors that remain after payload and errors of the model, relative to the variation of the torques."""
        robot = self.attachment.robot
        prismatic = [name in robot.prismatic_joints for name in robot.actuated]
        scale = find_scales(self.before.variation, self.before.torque_rms, prismatic=prismatic)
        rms = np.sqrt(self.fit.residual / np.maximum(self.fit.counts, 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.where((scale > 0.0) & (self.fit.counts > 0.0), 100.0 * rms / scale, 0.0)
        scale = scale * (self.fit.counts > 0.0)
        return PredictionQuality(error, np.zeros(len(scale)), scale, np.zeros(len(scale)), self.before.joint_rows)

    @property
    def corrected_percent(self) -> float:
        joints = self.before.joint_rows
        torque = float(self.before.torque[joints].sum())
        return 100.0 * float(np.sqrt(self.fit.residual[joints].sum() / torque)) if torque > 0.0 else 0.0

    @cached_property
    def robot(self) -> Robot:
        return self.attachment.attach(self.inertia_in_link)

    def save(self, path: str | Path) -> Path:
        """Write the robot with the payload to a ``.toml`` file, which every command accepts."""
        path = check_writable(path, ".toml")
        with write_atomically(path) as file:
            file.write_bytes("\n".join([TOML_MARK, to_toml(self.robot)]).encode("utf-8"))
        return path

    def _propagate(self, covariance: Float[np.ndarray, "10 10"]) -> Float[np.ndarray, "10 10"]:
        """Return the covariance of the quantities in ``frame`` from that of the ten parameters in ``link``."""
        inertia = self.inertia_in_link.seen_from(self.attachment.link_in_frame).vector
        if inertia[0] == 0.0:
            inertia = inertia + np.eye(10)[0]
        J = compute_jacobian(inertia) @ transport_matrix(self.attachment.link_in_frame)
        return J @ covariance @ J.T

    def __repr__(self) -> str:
        return f"PayloadEstimate({self.mass:.4g} ± {self.std[0]:.2g} kg on {self.link!r}, {self.verdict.grade.value})"


# The physically consistent payload nearest to an estimate, in the metric of its covariance.
#
# Identity      minimize ½ (theta - theta_hat)ᵀ cov⁻¹ (theta - theta_hat)   subject to   P(theta) >= margin P0
# Reference     P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent
#               Inertial Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018


@dataclass(frozen=True, eq=False)
class ConsistentPayload:
    """A payload that can exist.

    Attributes
    ----------
    inertia   its ten parameters
    distance  how far it is from the estimate, in standard deviations; 0 if the estimate can exist, infinite if the
              nearest body was not found and the compact body of the prior takes its place
    """

    inertia: Inertia
    distance: float


def find_consistent_payload(posterior: PayloadPosterior) -> ConsistentPayload:
    """Return the payload nearest to an estimate that can exist; its mass is positive."""
    theta, scale = posterior.theta, LinkScale.of(posterior.prior.reference)
    if scale.compute_smallest_eigenvalue(theta) >= MARGIN:
        return ConsistentPayload(_to_inertia(theta), 0.0)
    units = np.sqrt(np.diag(posterior.theta_covariance))
    units[units == 0.0] = 1.0
    values, vectors = np.linalg.eigh(posterior.theta_covariance / np.outer(units, units))
    B = units[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
    B = B[:, values > np.finfo(float).eps * values[-1]]
    cone = Cone(scale.to_scaled @ B, scale.to_scaled @ theta - MARGIN * to_svec(np.eye(SIZE)), is_matrix=True)
    outcome = solve_cone_program([cone])
    nearest = theta + B @ outcome.v
    is_found = outcome.solution is not Solution.INFEASIBLE and np.isfinite(nearest).all()
    if not is_found or scale.compute_smallest_eigenvalue(nearest) <= 0.0:
        return ConsistentPayload(Inertia.from_pseudo(posterior.prior.reference), np.inf)
    return ConsistentPayload(_to_inertia(nearest), float(np.linalg.norm(outcome.v)))


def _to_inertia(theta: Ten) -> Inertia:
    return Inertia(tuple(float(value) for value in theta))
