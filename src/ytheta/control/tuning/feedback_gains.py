"""Suggested feedback gains, for each control law.

Identity      with the right model every law has the same error dynamics: (p + lambda) (p + kappa) e = 0
Accepts       robots on which every coordinate moves a mass or an inertia; every control law of the registry
Notation      code     meaning                                                                  shape
              lam      lambda in 1/s, the rate at which the position error follows the law's error r
              kappa    rate at which r decays, in 1/s
              M        mass matrix of the description at samples of the motion                  samples x joints²
              M_mean   mean of M on the motion                                                  joints x joints
              K_D      damping of r at the same samples; one matrix if it is constant           samples x joints²

Poles. kappa = 2 lambda. A model with an error of 20 % causes the tracking error 0.2 a / (lambda kappa), where a is the
largest acceleration M^-1 tau on the motion, gravity included. lambda = sqrt(a) limits this error to 0.1 rad. sqrt(a)
exceeds 10/s only for arms of at most 10 cm. All other arms get lambda = 10/s, with which errors decay within half a
second. A torque that is held for a period h acts h/2 late, so that the velocity feedback has a phase lag of
h (lambda + kappa) / 2. lambda is at most 0.04 / h, so this lag is at most 3.4 degrees.

Damping. Laws with a damping matrix (slotine-li, modified-slotine-li, pd-gravity) get K_D = c M_mean. The rates at which
r decays depend on the pose: they are the eigenvalues of M(q)^-1 K_D. c is chosen so that the smallest rate on the
motion is kappa, unless the largest rate would then exceed 0.5 / h. A sampled loop becomes unstable at a rate of 2 / h.
With rates up to 0.5 / h, the loop stays stable even if links are half as heavy as described. On arms that pass poses
with coinciding axes (panda, iiwa14), the rates differ by a factor of 60 to 80, so the smallest rate is below kappa. A
diagonal K_D is not better for any robot of the catalog. In modified-slotine-li and quasi-computed-torque, C acts
against the damping: dV/dt = -sᵀ (K - C) s. For these laws, the chosen rate is therefore at least twice the largest
eigenvalue of M^-1 (C + Cᵀ) / 2 on the motion.

Other laws. The law quasi-computed-torque has K_D = convergence M(q) and two equal poles at -convergence, the geometric
mean of lambda and kappa. The law walker has K_D = feedback M_l(q), where M_l is M without rotors. Joints whose
rotors are heavier than their links (the wrist of a puma560) are therefore damped slowly; slotine-li is better for such
joints. With pd and pid as feedback, walker has a diagonal K_D in proportion to the diagonal of M_mean, and a stiffness
half as large again as its proof requires, so that factors of convergence up to 1.5 keep the proof.

Units. The units of M_mean and K_D depend on the coordinates, radians or metres; lambda is always in 1/s. If all masses
and inertias are multiplied by 1000, K_D is multiplied by 1000 too, and the motion is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.control.feedback.pd import PDFeedback
from ytheta.control.feedback.pid import PIDFeedback
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.control.settings import DEFAULT_FEEDBACK, FEEDBACKS, check_choice
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, JointMatrices, SamplesByJoint, Shaped

ReferenceSamples: TypeAlias = tuple[SamplesByJoint, SamplesByJoint, SamplesByJoint]  # q, qd, qdd

MIN_LAMBDA = 10.0  # 1/s; long periods require a smaller lambda
MAX_LAMBDA_TIMES_PERIOD = 0.04
KAPPA_PER_LAMBDA = 2.0
MAX_RATE_TIMES_PERIOD = 0.5
MIN_KAPPA_PER_CORIOLIS_RATE = 2.0
SPRING_RATIO = 1.5  # stiffness of pd relative to the smallest that the stability proof allows, convergence * damping
INTEGRAL_SHARE = 0.25  # integral of pid, relative to convergence² * damping
DIFFERENCE_STEP = 1e-4  # s, step of the central difference for dM/dt
MIN_SCALED_EIGENVALUE = 1e-9  # of M scaled to a diagonal of ones, or of M_links relative to M; below it, no mass moves
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


FEEDBACK_RULES: dict[type[Law], Callable[[TuningTask], Feedback]] = {
    SlotineLi: _suggest_slotine_li,
    ModifiedSlotineLi: _suggest_modified_slotine_li,
    QuasiComputedTorque: _suggest_quasi_computed_torque,
    Craig: _suggest_craig,
    ComputedTorque: _suggest_computed_torque,
    PDGravity: _suggest_pd_gravity,
    Walker: _suggest_walker,
}


def compute_generalized_eigenvalues(
    A: Shaped[np.ndarray, "_ joints joints"], M: Shaped[np.ndarray, "samples joints joints"]
) -> Shaped[np.ndarray, "samples joints"]:
    """Return the eigenvalues of M^-1 A, for symmetric A, in ascending order."""
    L = np.linalg.cholesky(M)
    half = np.linalg.solve(L, np.broadcast_to(A, M.shape))
    return np.linalg.eigvalsh(np.linalg.solve(L, half.transpose(0, 2, 1)))
