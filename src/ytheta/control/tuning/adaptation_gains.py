"""Suggested adaptation gains, for each adaptation law.

Notation      code     meaning                                                      shape
              Y        regressor of the unknown parameters                          samples x joints x unknown
              M, K_D   mass and damping: M rdot + K_D r = Y theta_tilde             samples x joints x joints
              slope    gradient that the law passes to its adaptation law: Yᵀ r     unknown
              S        matrix of natural adaptation at the nominal parameters:      unknown x unknown
                       d estimate/dt = -gain S slope

If adaptation is slow, r = K_D^-1 Y theta_tilde, and theta_tilde decays at the rates of Gamma Yᵀ K_D^-1 Y. With
gamma_j = g / mean(Y_jᵀ K_D^-1 Y_j), this rate is the same for every single parameter, whatever its unit and magnitude.
Feedback and adaptation together are the second-order system

    M rdot + K_D r = Y theta_tilde,   d theta_tilde/dt = -Gamma Yᵀ r,   so   M rddot + K_D rdot + Y Gamma Yᵀ r = 0

for constant M and Y. This system oscillates if the oscillation ratio, the largest eigenvalue of Y Gamma Yᵀ relative to
K_D M^-1 K_D / 4, exceeds 1. g is chosen so that the largest oscillation ratio on the motion is 8
(``MAX_OSCILLATION_RATIO``). With this choice, no simulated run diverged on any robot of the catalog. The runs started
with estimates of 0 to 3 times the truth and position errors of 0.2 rad (0.04 rad for robots with loops).

Y is evaluated on the motion and on the same motion with tracking errors of 0.05 rad or 0.02 m. A parameter that the
reference hardly excites thus does not get a gain that makes the loop unstable at the first tracking error. The effect
of parameter j is mean(Y_jᵀ K_D^-1 Y_j). This effect is raised to at least 1e-6 of the largest effect among parameters
of the same kind (masses, first moments, …).

In the law ``craig``, the gradient is Yᵀ H_hat^-1 times the filtered error ed + Psi e. With Psi = lambda (the setting
``filtering``), this error is H^-1 Y theta_tilde, filtered by 1 / (p + kappa). The result is the system above with
H^-1 Y instead of Y, 1 instead of M, and kappa instead of K_D. H_hat must stay positive definite during adaptation, so
the oscillation ratio is at most 1. With ``craig``, runs that started at half the true parameters diverged on the
five-bar only; runs that started at 0.3 times the true parameters diverged on half of the robots of the catalog.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.adaptation.composite import Composite
from ytheta.control.adaptation.natural import LINK_FROM_PSEUDO, POSITIVE_PARAMETERS, Natural
from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.craig import Craig
from ytheta.control.settings import ADAPTATIONS, check_choice
from ytheta.control.tuning.feedback_gains import BACKEND, ReferenceSamples, TuningTask, compute_generalized_eigenvalues
from ytheta.control.unknowns import Unknowns
from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.dynamics import kernels
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float, JointMatrices, PerUnknown, UnknownByUnknown

MAX_OSCILLATION_RATIO = 8.0  # largest ratio on the motion; the damping ratio at that instant is 0.35
MAX_OSCILLATION_RATIO_CRAIG = 1.0  # smaller, because H_hat must stay invertible
MIN_RELATIVE_EFFECT = 1e-6  # of a parameter, relative to the largest effect of its kind; smaller effects are raised
ANGLE_ERROR, LENGTH_ERROR = 0.05, 0.02  # rad and m, the tracking errors with which Y is evaluated


@dataclass(frozen=True, eq=False)
class ErrorDynamics:
    """Feedback and adaptation on a motion: M rdot + K_D r = Y theta_tilde.

    ``torque_weights`` give a torque error the same weight as the error r that the torque error causes.
    ``max_oscillation_ratio`` bounds the ratio of Y Gamma Yᵀ to the value at which the system begins to oscillate.
    """

    unknowns: Unknowns
    Y: Float[np.ndarray, "samples joints unknown"]
    M: Float[np.ndarray, "samples joints joints"]
    K_D: Float[np.ndarray, "samples joints joints"]
    torque_weights: Float[np.ndarray, "joints joints"]
    max_oscillation_ratio: float
    period: float

    @staticmethod
    def of(law: type[AdaptiveLaw], task: TuningTask, unknowns: Unknowns, K_D: JointMatrices) -> ErrorDynamics:
        Y = kernels.regressor(task.robot, parameters=unknowns.names, backend=BACKEND)(*_add_tracking_errors(task))
        M, K_D = np.concatenate([task.M, task.M]), np.broadcast_to(K_D, task.M.shape)
        weights, ratio = np.linalg.inv(K_D.mean(axis=0)), MAX_OSCILLATION_RATIO
        if law is Craig:  # errors of Craig's law are accelerations: M^-1 times torque errors
            Y, M = np.linalg.solve(M, Y), np.broadcast_to(np.eye(M.shape[1]), M.shape)
            weights = np.linalg.inv(task.M_mean @ task.M_mean) / task.kappa
            ratio = MAX_OSCILLATION_RATIO_CRAIG
        return ErrorDynamics(unknowns, Y, M, np.concatenate([K_D, K_D]), weights, ratio, task.period)

    @cached_property
    def gradient(self) -> PerUnknown:
        """The gains of gradient adaptation: gamma_j = g / mean(Y_jᵀ K_D^-1 Y_j)."""
        effect = np.einsum("sju,sju->u", self.Y, np.linalg.solve(self.K_D, self.Y)) / len(self.Y)
        kinds = np.array([name.rpartition(".")[2] for name in self.unknowns.names])
        for kind in np.unique(kinds):
            same_kind = kinds == kind
            effect[same_kind] = np.maximum(effect[same_kind], MIN_RELATIVE_EFFECT * effect[same_kind].max())
        if not effect.any():
            return np.ones(len(effect))
        gamma = 1.0 / np.where(effect > 0.0, effect, effect.max())
        return gamma * (self.max_oscillation_ratio / self.compute_oscillation_ratio(np.diag(gamma)))

    @property
    def natural(self) -> Natural:
        """Natural adaptation with the same oscillation ratio, where Gamma = gain S.

        Offsets and declared forces get the smallest of their gains for gradient adaptation.
        """
        S, signed = np.zeros((len(self.unknowns.names),) * 2), np.ones(len(self.unknowns.names), dtype=bool)
        owners = [name.rpartition(".") for name in self.unknowns.names]
        for link in dict.fromkeys(owner for owner, _, kind in owners if kind in LINK_PARAMETERS):
            group = [k for k, (owner, _, kind) in enumerate(owners) if owner == link and kind in LINK_PARAMETERS]
            if len(group) == len(LINK_PARAMETERS):  # ``Natural`` refuses links with fewer unknown parameters
                P = Inertia(tuple(self.unknowns.nominal[group].tolist())).pseudo
                S[np.ix_(group, group)] = LINK_FROM_PSEUDO @ np.kron(P, P) @ LINK_FROM_PSEUDO.T
            signed[group] = False
        for k, (_, _, kind) in enumerate(owners):
            if kind in ALL_JOINT_PARAMETERS and kind in POSITIVE_PARAMETERS:
                S[k, k], signed[k] = self.unknowns.nominal[k] ** 2, False
        gain = self.max_oscillation_ratio / self.compute_oscillation_ratio(S) if S.any() else 1.0
        return Natural(gain, step=self.period, signed=float(self.gradient[signed].min()) if signed.any() else None)

    @property
    def composite(self) -> Composite:
        """Composite adaptation with the gains of gradient adaptation; the bandwidth is the slowest decay rate of r."""
        rate = float(compute_generalized_eigenvalues(self.K_D, self.M).min())
        return Composite(self.gradient, prediction=self.torque_weights, bandwidth=rate)

    def compute_oscillation_ratio(self, Gamma: UnknownByUnknown) -> float:
        """Return the largest ratio of Y Gamma Yᵀ to K_D M^-1 K_D / 4; above 1, the system oscillates."""
        critical = 0.25 * self.K_D @ np.linalg.solve(self.M, self.K_D)
        stiffness = np.einsum("sju,uw,skw->sjk", self.Y, Gamma, self.Y, optimize=True)
        return float(compute_generalized_eigenvalues(stiffness, critical).max())


def suggest_adaptation(name: str, dynamics: ErrorDynamics) -> PerUnknown | Adaptation:
    """Return a value for the setting ``adaptation`` of a law: a property of ``ErrorDynamics`` with this name."""
    check_choice("adaptation", name, ADAPTATIONS)
    suggested: PerUnknown | Adaptation = getattr(dynamics, name)
    return suggested


def _add_tracking_errors(task: TuningTask) -> ReferenceSamples:
    """Return the motion twice: as it is, and with tracking errors."""
    prismatic = task.robot.prismatic_joints
    size = np.array([LENGTH_ERROR if name in prismatic else ANGLE_ERROR for name in task.robot.actuated])
    q, qd, qdd = task.motion
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, *q.shape))  # a fixed seed: the same gains every time
    return (
        np.concatenate([q, q]),
        np.concatenate([qd, qd + task.lam * size * signs[0]]),
        np.concatenate([qdd, qdd + task.lam**2 * size * signs[1]]),
    )
