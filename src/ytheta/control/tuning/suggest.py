"""Gains that nobody had to choose: from the masses of a robot, the motion it is to make, and the controller's period.

Identity      every law is given the same feedback where its model is right: (p + lambda) (p + kappa) e = 0
Accepts       every robot whose coordinates all feel some inertia, and every law in ``choice``
Notation      code     meaning                                                                  shape
              lam      lambda, 1/s: how fast the position error follows r, the law's own error  1
              kappa    1/s: how fast r decays                                                   1
              M        mass matrix of the description at samples of the motion                  samples x joints²
              Mm       its mean over the motion                                                 joints x joints
              Y        regressor of what is learnt at the same samples                          joints x unknown

The poles. kappa = 2 lambda. A model that is wrong by a fifth leaves the error 0.2 a / (lambda kappa), where a is the
largest acceleration M^-1 tau on the motion, weight included: lambda² = a makes that 0.1 rad, and matters to arms of 10
cm and less. All others have lambda = 10/s: errors are gone within half a second. A torque that is held for a period h
acts h/2 late and costs velocity feedback the phase h (lambda + kappa) / 2: lambda is no faster than 0.04 / h, which
costs 3.4 degrees. Laws with damping of their own (slotine_li, modified_slotine_li, pd_gravity) have K_D = c Mm, whose
rates differ from pose to pose: they lie between the smallest and the largest eigenvalue of M(q)^-1 K_D. c is such that
the slowest is kappa, unless the fastest would then be more than 0.5 / h; at 2 / h a sampled loop breaks, so that links
may be half as heavy as described. Arms that pass poses where axes coincide (panda, iiwa14) have rates that differ by a
factor of 60 to 80, and the slowest is then slow; a diagonal K_D does better on no robot of the catalog. Where C counts
against the damping, sᵀ (K - C) s, the rate is at least twice the largest eigenvalue of M^-1 (C + Cᵀ) / 2 on the motion.

Units. Mm is a matrix of masses in the units of the coordinates, radians or metres, so K_D is a damping in the same, and
lambda is 1/s whatever they are. Masses times 1000 give gains times
1000 and the same motion.

The adaptation. wrong decays as Gamma Yᵀ K_D^-1 Y, and gamma_j = g / mean(Y_jᵀ K_D^-1 Y_j) makes that alike for every
parameter by itself, whatever its unit and size. Together they make the second-order system

    M rdot + K_D r = Y wrong,   d wrong/dt = -Gamma Yᵀ r    that is    M rddot + K_D rdot + Y Gamma Yᵀ r = 0

for M and Y that stand still; it begins to swing where Y Gamma Yᵀ is more than K_D M^-1 K_D / 4 in some direction. g is
such that at the worst instant of the motion it is EAGER = 8 times that, and less at the others. With it no run of the
catalog was lost that began with estimates of 0 to 3 times the truth and errors of 0.2 rad (0.04 rad with loops).
Y is taken on the motion and on one that is disturbed by errors of 0.05 rad or 0.02 m, so that a parameter which the
reference hardly shows does not get a gain that the first error turns against the robot. What shows less than 1e-6 of
what the best shown of its kind (masses, first moments, …) does counts as showing that: it has next to no effect.

craig adapts by Yᵀ H_hat^-1 of a filtered error; with filtering = lambda that is 1 / (p + kappa) of H^-1 Y wrong: the
same system with H^-1 Y in the place of Y and 1 in that of M. H_hat has to stay positive definite while it is learnt,
so EAGER is 1; of the runs above those from half the truth on were lost on the five-bar alone, from 0.3 of it on half of
the catalog. quasi_computed_torque has K_D = lambda M(q) and both poles at the geometric mean. walker has
K_D = feedback M_l(q), M_l being M without rotors: joints whose rotors outweigh their links (the wrist of a puma560) are
damped slowly, and slotine_li does better there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.registry import find_controller
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.control.tuning.adaptation_gains import Learning, adaptation_gain, eigenvalues
from ytheta.control.unknowns import Unknowns, select_unknowns
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, JointMatrices

Columns: TypeAlias = Float[np.ndarray, "samples joints"]
Motion: TypeAlias = tuple[Columns, Columns, Columns]
Fewer: TypeAlias = tuple[Float[np.ndarray, "fewer joints"], ...]

SLOWEST = 10.0  # 1/s, lambda, where the period allows
PER_PERIOD = 0.04  # lambda times the period, at most
RATIO = 2.0  # kappa over lambda
FASTEST = 0.5  # the fastest rate times the period, at most
OUTWEIGHS = 2.0  # kappa over the largest eigenvalue of M^-1 C
EAGER = 8.0  # over what would begin to swing, at the worst instant: 0.35 of critical damping there
CAUTIOUS = 1.0  # where H_hat is inverted
BACKEND = "interpreter"  # a few hundred samples, once: less than a compilation takes
SAMPLES = 300  # of the motion
DISTURBED = {True: 0.05, False: 0.02}  # rad where coordinates turn, m where they slide
MOMENT = 1e-4  # s, of differences
MASSLESS = 1e-9  # smallest eigenvalue of M, its diagonal being 1


def suggest_gains(
    name: str,
    robot: Robot,
    base: BaseParameters | None = None,
    *,
    learn: Sequence[str] | None = None,
    motion: Motion,
    period: float,
    adaptation: str = "gradient",
) -> dict[str, Any]:
    """Settings of a controller by its name, such that ``find_controller(name)(robot, base, learn=learn, **settings)`` works.

    ``motion`` are samples of the reference: q, qd and qdd, one row each. ``adaptation`` is gradient, of which settings
    hold the gain, or natural or composite, of which they hold the adaptation itself. Laws that know everything take
    neither base nor learn; walker takes no base.
    """
    law = find_controller(name)
    if not (period > 0.0 and np.isfinite(period)):
        raise InputError(f"the period of the controller is {period} s; give a positive one such as 1e-3")
    q, qd, qdd = _thinned(robot, motion)
    task = Task(robot, (q, qd, qdd), period)
    settings, K_D = TUNED[law](task)
    if issubclass(law, AdaptiveLaw):
        learning = _learning(task, law, _unknown(law, robot, base, learn), K_D)
        settings["adaptation"] = adaptation_gain(adaptation, learning)
    return settings


@dataclass(frozen=True, eq=False)
class Task:
    """A robot, its motion, and the period of its controller: what gains are made of."""

    robot: Robot
    motion: Motion
    period: float

    @cached_property
    def lam(self) -> float:
        tau = kernels.inverse_dynamics(self.robot, backend=BACKEND)(*self.motion)
        strongest = float(np.abs(np.linalg.solve(self.M, tau[:, :, None])).max())
        return min(max(SLOWEST, float(np.sqrt(strongest))), PER_PERIOD / self.period)

    @property
    def kappa(self) -> float:
        return RATIO * self.lam

    @property
    def fastest(self) -> float:
        """The fastest rate that a sampled controller may have."""
        return FASTEST / self.period

    @cached_property
    def M(self) -> JointMatrices:
        M = kernels.mass_matrix(self.robot, backend=BACKEND)(self.motion[0])
        diagonal = np.diagonal(M, axis1=1, axis2=2)
        felt = diagonal.min(axis=0) > 0.0
        if felt.all():
            size = np.sqrt(diagonal)
            weakest = np.linalg.eigvalsh(M / (size[:, :, None] * size[:, None, :]))[:, 0].min()
            if weakest > MASSLESS:
                return M
            what = "some motion of its joints moves no mass, or a negative one"
        else:
            names = [name for name, own in zip(self.robot.actuated, felt, strict=True) if not own]
            what = f"the description has no inertia that {', '.join(names)} would feel"
        raise InputError(
            f"robot {self.robot.name!r}: {what}, and no gains follow from it; give its links masses and inertias, or "
            "its drives rotor inertia"
        )

    @cached_property
    def Mm(self) -> Float[np.ndarray, "joints joints"]:
        return self.M.mean(axis=0)

    @cached_property
    def turning(self) -> float:
        """The largest eigenvalue of M^-1 (C + Cᵀ) / 2 on the motion; C + Cᵀ is dM/dt."""
        q, qd, _ = self.motion
        M = kernels.mass_matrix(self.robot, backend=BACKEND)
        return float(eigenvalues((M(q + MOMENT * qd) - M(q - MOMENT * qd)) / (4.0 * MOMENT), self.M).max())

    def damping(self, rate: float, K: JointMatrices) -> JointMatrices:
        """The multiple of K that makes M^-1 K this fast where it is slowest, and not too fast where it is fastest."""
        rates = eigenvalues(K, self.M)
        return K * min(rate / float(rates.min()), self.fastest / float(rates.max()))


Tuned: TypeAlias = tuple[dict[str, Any], JointMatrices]  # settings and K_D


def _slotine_li(task: Task) -> Tuned:
    K_D = task.damping(task.kappa, task.Mm[None])
    return {"convergence": task.lam, "damping": K_D[0]}, K_D


def _modified_slotine_li(task: Task) -> Tuned:
    K_D = task.damping(max(task.kappa, OUTWEIGHS * task.turning), task.Mm[None])
    return {"convergence": task.lam, "damping": K_D[0]}, K_D


def _quasi_computed_torque(task: Task) -> Tuned:
    both = max(float(np.sqrt(task.lam * task.kappa)), OUTWEIGHS * task.turning)
    lam = min(both, 0.5 * task.fastest)
    return {"convergence": lam}, lam * task.M


def _craig(task: Task) -> Tuned:
    settings, _ = _computed_torque(task)
    return {**settings, "filtering": task.lam}, task.kappa * np.eye(len(task.Mm))[None]


def _computed_torque(task: Task) -> Tuned:
    return {"stiffness": task.lam * task.kappa, "damping": task.lam + task.kappa}, task.kappa * task.M


def _pd_gravity(task: Task) -> Tuned:
    K_d = task.damping(task.lam + task.kappa, task.Mm[None])
    return {"stiffness": task.lam * task.kappa / (task.lam + task.kappa) * K_d[0], "damping": K_d[0]}, K_d


def _walker(task: Task) -> Tuned:
    links = _links_alone(task)
    K_D = task.damping(task.kappa, links)
    return {"convergence": task.lam, "feedback": float(K_D[0, 0, 0] / links[0, 0, 0])}, K_D


TUNED: dict[type[Law], Callable[[Task], Tuned]] = {
    SlotineLi: _slotine_li,
    ModifiedSlotineLi: _modified_slotine_li,
    QuasiComputedTorque: _quasi_computed_torque,
    Craig: _craig,
    ComputedTorque: _computed_torque,
    PDGravity: _pd_gravity,
    Walker: _walker,
}


def _links_alone(task: Task) -> JointMatrices:
    """M without rotors."""
    robot = task.robot
    if not any(drive.rotor_inertia for _, drive in robot.drives):
        return task.M
    links_alone = robot.with_drives(lambda _, drive: replace(drive, rotor_inertia=0.0))
    M = kernels.mass_matrix(links_alone, backend=BACKEND)(task.motion[0])
    if not (eigenvalues(M, task.M)[:, 0] > MASSLESS).all():
        raise InputError(
            f"robot {robot.name!r}: some motion of its joints moves rotors alone, and walker's feedback, which is that "
            "of the links' inertias, would not damp it; give the links inertias, or take slotine-li"
        )
    return M


def _learning(task: Task, law: type[AdaptiveLaw], unknown: Unknowns, K_D: JointMatrices) -> Learning:
    Y = kernels.regressor(task.robot, parameters=unknown.names, backend=BACKEND)(*_disturbed(task))
    M, damping = np.concatenate([task.M, task.M]), np.broadcast_to(K_D, task.M.shape)
    weights = np.linalg.inv(damping.mean(axis=0))
    if law is Craig:  # its errors are those of accelerations, M^-1 times those of torques
        Y, M = np.linalg.solve(M, Y), np.broadcast_to(np.eye(M.shape[1]), M.shape)
        weights = np.linalg.inv(task.Mm @ task.Mm) / task.kappa
    both = np.concatenate([damping, damping])
    return Learning(unknown, Y, M, both, weights, CAUTIOUS if law is Craig else EAGER, task.period)


def _unknown(law: type[AdaptiveLaw], robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:
    """What the law learns."""
    if law is Walker and learn is None:
        learn = select_parameters(robot, rotor_inertia=False, friction=("viscous",))
    return select_unknowns(robot, None if law is Walker else base, learn)


def _disturbed(task: Task) -> Motion:
    """The motion, and once more with errors."""
    sliding = task.robot.sliding_joints
    size = np.array([DISTURBED[name not in sliding] for name in task.robot.actuated])
    q, qd, qdd = task.motion
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, *q.shape))  # any; the same each time
    return (
        np.concatenate([q, q]),
        np.concatenate([qd, qd + task.lam * size * signs[0]]),
        np.concatenate([qdd, qdd + task.lam**2 * size * signs[1]]),
    )


def _thinned(robot: Robot, motion: Motion) -> Fewer:
    """At most so many samples, evenly taken."""
    q, qd, qdd = (np.asarray(values, dtype=float) for values in motion)
    wanted = (len(q), len(robot.actuated))
    if not len(q) or not (q.shape == qd.shape == qdd.shape == wanted):
        raise InputError(
            f"motion has shapes {q.shape}, {qd.shape} and {qdd.shape}; give q, qd and qdd with one row for each sample "
            f"and {wanted[1]} columns"
        )
    chosen = np.unique(np.linspace(0, len(q) - 1, min(len(q), SAMPLES)).round().astype(int))
    return q[chosen], qd[chosen], qdd[chosen]
