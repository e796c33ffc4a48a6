"""Suggested gains: the settings of a controller for a robot, a motion and a rate.

The gains are computed from the inertias of the robot description, at samples of the reference trajectory. The rules are
above ``suggest_feedback`` and ``suggest_adaptation``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.arguments import check_number, is_positive
from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.adaptation.composite import Composite
from ytheta.control.adaptation.natural import LINK_FROM_PSEUDO, POSITIVE_PARAMETERS, Natural
from ytheta.control.feedback.pid import PDFeedback, PIDFeedback
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import AdaptiveLaw, Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.control.settings import (
    ADAPTATIONS,
    DEFAULT_ADAPTATION,
    DEFAULT_FEEDBACK,
    FEEDBACKS,
    check_choice,
    find_controller,
)
from ytheta.control.unknowns import Unknowns
from ytheta.conventions import ALL_JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, JointMatrices, PerUnknown, SamplesByJoint, Shaped, UnknownByUnknown

# Largest number of samples of the motion for which gains are chosen. Chosen on: rule of thumb.
MAX_SAMPLES = 300


def suggest_gains(
    name: str,
    robot: Robot,
    base: BaseParameters | None = None,
    *,
    learn: Sequence[str] | None = None,
    motion: ReferenceSamples,
    rate: float = 1000.0,
    adaptation: str = DEFAULT_ADAPTATION,
    feedback: str = DEFAULT_FEEDBACK,
) -> dict[str, Any]:
    """Return the gains of a controller, given by its name: arguments for its class, such as ``SlotineLi``.

    ``motion`` contains samples of the reference trajectory: q, qd and qdd with one row per sample. ``rate`` is the
    number of controller steps per second. ``adaptation`` is gradient, natural or composite; the returned setting
    ``adaptation`` is the gain of the gradient, or the adaptation law itself. ``feedback`` is the feedback law of
    walker, inertial, pd or pid; other laws ignore it. Laws without adaptation ignore ``base`` and ``learn``; walker
    ignores ``base``.
    """
    law = find_controller(name)
    check_is_robot(robot)
    refuse_floating_base(robot, "a controller")
    check_number("rate", rate, "a positive number of Hz, such as 1000", allow=is_positive)
    q, qd, qdd = _select_samples(robot, motion)
    task = TuningTask(robot, (q, qd, qdd), 1.0 / rate)
    settings, K_D = suggest_feedback(law, task, feedback)
    if issubclass(law, AdaptiveLaw):
        unknowns = law.select_unknowns(robot, base, learn)
        settings["adaptation"] = suggest_adaptation(adaptation, ErrorDynamics.of(law, task, unknowns, K_D))
    return settings


def _select_samples(robot: Robot, motion: ReferenceSamples) -> tuple[Float[np.ndarray, "kept joints"], ...]:
    """Return at most MAX_SAMPLES samples, evenly spaced."""
    if callable(motion):
        raise InputError(
            "motion is a function of time; give its values at some times, such as "
            "motion=reference(np.linspace(0.0, 10.0, 500))"
        )
    try:
        q, qd, qdd = (np.asarray(values, dtype=float) for values in motion)
    except (TypeError, ValueError):
        raise InputError("motion is not (q, qd, qdd); give three arrays with one row for each sample") from None
    shape = (len(q), len(robot.actuated))
    if not len(q) or not (q.shape == qd.shape == qdd.shape == shape):
        raise InputError(
            f"motion has shapes {q.shape}, {qd.shape} and {qdd.shape}; give q, qd and qdd with one row for each sample "
            f"and {shape[1]} columns"
        )
    kept = np.unique(np.linspace(0, len(q) - 1, min(len(q), MAX_SAMPLES)).round().astype(int))
    return q[kept], qd[kept], qdd[kept]


# Suggested feedback gains, for each control law.
#
# Identity      with the right model every law has the same error dynamics: (p + lambda) (p + kappa) e = 0
# Accepts       robots on which every coordinate moves a mass or an inertia; every control law of the registry
# Notation      code     meaning                                                                  shape
#               lam      lambda in 1/s, the rate at which the position error follows the law's error r
#               kappa    rate at which r decays, in 1/s
#               M        mass matrix of the description at samples of the motion                  samples x joints²
#               M_mean   mean of M on the motion                                                  joints x joints
#               K_D      damping of r at the same samples; one matrix if it is constant           samples x joints²
#
# Poles. kappa = 2 lambda. A model with an error of 20 % causes the tracking error 0.2 a / (lambda kappa), where a is
# the largest acceleration M^-1 tau on the motion, gravity included. lambda = sqrt(a) limits this error to 0.1 rad.
# sqrt(a) exceeds 10/s only for arms of at most 10 cm. All other arms get lambda = 10/s, with which errors decay within
# half a second. A torque that is held for a period h acts h/2 late, so that the velocity feedback has a phase lag of h
# (lambda + kappa) / 2. lambda is at most 0.04 / h, so this lag is at most 3.4 degrees.
#
# Damping. Laws with a damping matrix (slotine-li, modified-slotine-li, pd-gravity) get K_D = c M_mean. The rates at
# which r decays depend on the pose: they are the eigenvalues of M(q)^-1 K_D. c is chosen so that the smallest rate on
# the motion is kappa, unless the largest rate would then exceed 0.5 / h. A sampled loop becomes unstable at a rate of 2
# / h. With rates up to 0.5 / h, the loop stays stable even if links are half as heavy as described. On arms that pass
# poses with coinciding axes (panda, iiwa14), the rates differ by a factor of 60 to 80, so the smallest rate is below
# kappa. A diagonal K_D is not better for any robot of the catalog. In modified-slotine-li and quasi-computed-torque, C
# acts against the damping: dV/dt = -sᵀ (K - C) s. For these laws, the chosen rate is therefore at least twice the
# largest eigenvalue of M^-1 (C + Cᵀ) / 2 on the motion.
#
# Other laws. The law quasi-computed-torque has K_D = convergence M(q) and two equal poles at -convergence, the
# geometric mean of lambda and kappa. The law walker has K_D = feedback M_l(q), where M_l is M without rotors. Joints
# whose rotors are heavier than their links (the wrist of a puma560) are therefore damped slowly; slotine-li is better
# for such joints. With pd and pid as feedback, walker has a diagonal K_D in proportion to the diagonal of M_mean, and a
# stiffness half as large again as its proof requires, so that factors of convergence up to 1.5 keep the proof.
#
# Units. The units of M_mean and K_D depend on the coordinates, radians or metres; lambda is always in 1/s. If all
# masses and inertias are multiplied by 1000, K_D is multiplied by 1000 too, and the motion is the same.


ReferenceSamples: TypeAlias = tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint]  # q, qd, qdd

# Smallest lambda in 1/s, unless a long period requires a smaller one. Chosen on: reasoning (Poles): errors decay
# within half a second, and sqrt(a) is larger only for arms of at most 10 cm.
MIN_LAMBDA = 10.0
# Largest lambda times the period of the controller. Chosen on: reasoning (Poles): a phase lag of 3.4 degrees.
MAX_LAMBDA_TIMES_PERIOD = 0.04
# Rate at which r decays, relative to lambda. Chosen on: rule of thumb.
KAPPA_PER_LAMBDA = 2.0
# Largest rate of decay times the period. Chosen on: reasoning (Damping): a quarter of the limit of stability.
MAX_RATE_TIMES_PERIOD = 0.5
# Smallest rate of decay relative to that with which C acts against the damping. Chosen on: reasoning (Damping).
MIN_KAPPA_PER_CORIOLIS_RATE = 2.0
# Stiffness of pd relative to the smallest that the stability proof allows, convergence * damping. Chosen on: reasoning,
# so that factors of convergence up to 1.5 keep the proof.
SPRING_RATIO = 1.5
# Integral gain of pid, relative to convergence² * damping. Chosen on: rule of thumb.
INTEGRAL_SHARE = 0.25
DIFFERENCE_STEP = 1e-4  # s, step of the central difference for dM/dt
# Smallest eigenvalue of M scaled to a diagonal of ones, or of M_links relative to M; below it, no mass moves.
# Chosen on: rule of thumb.
MIN_SCALED_EIGENVALUE = 1e-9
BACKEND = "interpreter"  # faster than compiling, for a few hundred samples


@dataclass(frozen=True, eq=False)
class TuningTask:
    """A robot, samples of its reference trajectory, and the period of its controller."""

    robot: Robot
    motion: ReferenceSamples
    period: float

    @cached_property
    def lam(self) -> float:
        tau = kernels.inverse_dynamics(self.robot, backend=BACKEND)(*self.motion)
        acceleration = float(np.abs(np.linalg.solve(self.M, tau[:, :, None])).max())
        return min(max(MIN_LAMBDA, float(np.sqrt(acceleration))), MAX_LAMBDA_TIMES_PERIOD / self.period)

    @property
    def kappa(self) -> float:
        return KAPPA_PER_LAMBDA * self.lam

    @property
    def max_rate(self) -> float:
        """The largest rate that the sampled controller may have, in 1/s."""
        return MAX_RATE_TIMES_PERIOD / self.period

    @cached_property
    def M(self) -> JointMatrices:
        M = kernels.mass_matrix(self.robot, backend=BACKEND)(self.motion[0])
        diagonal = np.diagonal(M, axis1=1, axis2=2)
        has_inertia = diagonal.min(axis=0) > 0.0
        if has_inertia.all():
            size = np.sqrt(diagonal)
            smallest = np.linalg.eigvalsh(M / (size[:, :, None] * size[:, None, :]))[:, 0].min()
            if smallest > MIN_SCALED_EIGENVALUE:
                return M
            reason = "some motion of its joints moves no mass, or negative mass"
        else:
            names = [name for name, inertia in zip(self.robot.actuated, has_inertia, strict=True) if not inertia]
            reason = f"the description has no inertia that moves with {', '.join(names)}"
        raise InputError(
            f"robot {self.robot.name!r}: {reason}, so no gains can be suggested; give its links masses and inertias, "
            "or its drives rotor inertia"
        )

    @cached_property
    def M_mean(self) -> Float[np.ndarray, "joints joints"]:
        return self.M.mean(axis=0)

    @cached_property
    def coriolis_rate(self) -> float:
        """The largest eigenvalue of M^-1 (C + Cᵀ) / 2 on the motion, in 1/s; C + Cᵀ is dM/dt."""
        q, qd, _ = self.motion
        M = kernels.mass_matrix(self.robot, backend=BACKEND)
        M_rate = (M(q + DIFFERENCE_STEP * qd) - M(q - DIFFERENCE_STEP * qd)) / (2.0 * DIFFERENCE_STEP)
        return float(compute_generalized_eigenvalues(M_rate / 2.0, self.M).max())

    @cached_property
    def M_links(self) -> JointMatrices:
        """M without rotor inertia."""
        if not any(drive.rotor_inertia for _, drive in self.robot.drives):
            return self.M
        without_rotors = self.robot.with_drives(lambda _, drive: replace(drive, rotor_inertia=0.0))
        M = kernels.mass_matrix(without_rotors, backend=BACKEND)(self.motion[0])
        if not (compute_generalized_eigenvalues(M, self.M)[:, 0] > MIN_SCALED_EIGENVALUE).all():
            raise InputError(
                f"robot {self.robot.name!r}: some motion of its joints moves only rotors. The feedback of walker uses "
                "the inertias of the links and would not damp it; give the links inertias, or use slotine-li"
            )
        return M

    def scale_damping(self, K: JointMatrices, rate: float) -> JointMatrices:
        """Scale K so that the smallest eigenvalue of M^-1 K is ``rate``.

        If the largest eigenvalue would then exceed ``max_rate``, scale K so that the largest is ``max_rate`` instead.
        """
        rates = compute_generalized_eigenvalues(K, self.M)
        return K * min(rate / float(rates.min()), self.max_rate / float(rates.max()))


Feedback: TypeAlias = tuple[dict[str, Any], JointMatrices]  # settings of the law, and K_D


def suggest_feedback(law: type[Law], task: TuningTask, feedback: str = DEFAULT_FEEDBACK) -> Feedback:
    """Return the feedback gains of a law, and its damping K_D at the samples of the task.

    ``feedback`` is the name of the feedback law of walker.
    """
    check_choice("feedback", feedback, FEEDBACKS)
    if law is Walker and feedback != DEFAULT_FEEDBACK:
        return _suggest_joint_feedback(task, integral=feedback == "pid")
    return FEEDBACK_RULES[law](task)


def _suggest_slotine_li(task: TuningTask) -> Feedback:
    K_D = task.scale_damping(task.M_mean[None], task.kappa)
    return {"convergence": task.lam, "damping": K_D[0]}, K_D


def _suggest_modified_slotine_li(task: TuningTask) -> Feedback:
    rate = max(task.kappa, MIN_KAPPA_PER_CORIOLIS_RATE * task.coriolis_rate)
    K_D = task.scale_damping(task.M_mean[None], rate)
    return {"convergence": task.lam, "damping": K_D[0]}, K_D


def _suggest_quasi_computed_torque(task: TuningTask) -> Feedback:
    rate = max(float(np.sqrt(task.lam * task.kappa)), MIN_KAPPA_PER_CORIOLIS_RATE * task.coriolis_rate)
    lam = min(rate, 0.5 * task.max_rate)
    return {"convergence": lam}, lam * task.M


def _suggest_craig(task: TuningTask) -> Feedback:
    settings, _ = _suggest_computed_torque(task)
    return {**settings, "filtering": task.lam}, task.kappa * np.eye(len(task.M_mean))[None]


def _suggest_computed_torque(task: TuningTask) -> Feedback:
    return {"stiffness": task.lam * task.kappa, "damping": task.lam + task.kappa}, task.kappa * task.M


def _suggest_pd_gravity(task: TuningTask) -> Feedback:
    K_d = task.scale_damping(task.M_mean[None], task.lam + task.kappa)
    return {"stiffness": task.lam * task.kappa / (task.lam + task.kappa) * K_d[0], "damping": K_d[0]}, K_d


def _suggest_walker(task: TuningTask) -> Feedback:
    K_D = task.scale_damping(task.M_links, task.kappa)
    return {"convergence": task.lam, "feedback": float(K_D[0, 0, 0] / task.M_links[0, 0, 0])}, K_D


def _suggest_joint_feedback(task: TuningTask, *, integral: bool) -> Feedback:
    K_D = task.scale_damping(np.diag(task.M_mean.diagonal())[None], task.kappa)
    K_d = K_D[0].diagonal()
    K_i = INTEGRAL_SHARE * task.lam**2 * K_d
    K_p = SPRING_RATIO * task.lam * K_d
    law = (
        PIDFeedback(stiffness=K_p + K_i / task.lam, integral=K_i, damping=K_d)
        if integral
        else PDFeedback(stiffness=K_p, damping=K_d)
    )
    return {"convergence": task.lam, "feedback": law}, K_D


def compute_generalized_eigenvalues(
    A: Shaped[np.ndarray, "_ joints joints"], M: Shaped[np.ndarray, "samples joints joints"]
) -> Shaped[np.ndarray, "samples joints"]:
    """Return the eigenvalues of M^-1 A, for symmetric A, in ascending order."""
    L = np.linalg.cholesky(M)
    half = np.linalg.solve(L, np.broadcast_to(A, M.shape))
    return np.linalg.eigvalsh(np.linalg.solve(L, half.transpose(0, 2, 1)))


FEEDBACK_RULES: dict[type[Law], Callable[[TuningTask], Feedback]] = {
    SlotineLi: _suggest_slotine_li,
    ModifiedSlotineLi: _suggest_modified_slotine_li,
    QuasiComputedTorque: _suggest_quasi_computed_torque,
    Craig: _suggest_craig,
    ComputedTorque: _suggest_computed_torque,
    PDGravity: _suggest_pd_gravity,
    Walker: _suggest_walker,
}


# Suggested adaptation gains, for each adaptation law.
#
# Notation      code     meaning                                                      shape
#               Y        regressor of the unknown parameters                          samples x joints x unknown
#               M, K_D   mass and damping: M rdot + K_D r = Y theta_tilde             samples x joints x joints
#               slope    gradient that the law passes to its adaptation law: Yᵀ r     unknown
#               S        matrix of natural adaptation at the nominal parameters:      unknown x unknown
#                        d estimate/dt = -gain S slope
#
# If adaptation is slow, r = K_D^-1 Y theta_tilde, and theta_tilde decays at the rates of Gamma Yᵀ K_D^-1 Y. With
# gamma_j = g / mean(Y_jᵀ K_D^-1 Y_j), this rate is the same for every single parameter, whatever its unit and
# magnitude. Feedback and adaptation together are the second-order system
#
#     M rdot + K_D r = Y theta_tilde,   d theta_tilde/dt = -Gamma Yᵀ r,   so   M rddot + K_D rdot + Y Gamma Yᵀ r = 0
#
# for constant M and Y. This system oscillates if the oscillation ratio, the largest eigenvalue of Y Gamma Yᵀ relative
# to K_D M^-1 K_D / 4, exceeds 1. g is chosen so that the largest oscillation ratio on the motion is 8
# (``MAX_OSCILLATION_RATIO``). With this choice, no simulated run diverged on any robot of the catalog. The runs started
# with estimates of 0 to 3 times the truth and position errors of 0.2 rad (0.04 rad for robots with loops).
#
# Y is evaluated on the motion and on the same motion with tracking errors of 0.05 rad or 0.02 m. A parameter that the
# reference hardly excites thus does not get a gain that makes the loop unstable at the first tracking error. The effect
# of parameter j is mean(Y_jᵀ K_D^-1 Y_j). This effect is raised to at least 1e-6 of the largest effect among parameters
# of the same kind (masses, first moments, …).
#
# In the law ``craig``, the gradient is Yᵀ H_hat^-1 times the filtered error ed + Psi e. With Psi = lambda (the setting
# ``filtering``), this error is H^-1 Y theta_tilde, filtered by 1 / (p + kappa). The result is the system above with
# H^-1 Y instead of Y, 1 instead of M, and kappa instead of K_D. H_hat must stay positive definite during adaptation, so
# the oscillation ratio is at most 1. With ``craig``, runs that started at half the true parameters diverged on the
# five-bar only; runs that started at 0.3 times the true parameters diverged on half of the robots of the catalog.


# Largest oscillation ratio on the motion; the damping ratio at that instant is 0.35. Chosen on: simulated runs of all
# robots of the catalog, of which none diverged.
MAX_OSCILLATION_RATIO = 8.0
# The same for craig. Chosen on: reasoning, since H_hat must stay positive definite.
MAX_OSCILLATION_RATIO_CRAIG = 1.0
# Smallest effect of a parameter, relative to the largest effect of its kind; smaller effects are raised.
# Chosen on: rule of thumb.
MIN_RELATIVE_EFFECT = 1e-6
# Tracking errors in rad and m with which Y is evaluated. Chosen on: rule of thumb.
ANGLE_ERROR, LENGTH_ERROR = 0.05, 0.02


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
