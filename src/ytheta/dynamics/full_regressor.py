"""The regressor of all standard parameters: links of any formulation, drives, forces, couplings and loops.

Identity      tau = Y @ theta   for every theta, in the order of ``robot.parameter_names``
Reference     [walker1988] sec. 3: tau = E^T rho; (13) and (22) for friction, which cut joints have too
Accepts       every robot; without loops and couplings nothing is added to the formulation's own operations
Notation      code     meaning                                                                   shape
              E        dx/dQ of the constraint; 1 without loops                                  coordinates x actuated
              joints   dq/dQ = A E                                                               joints x actuated
              drives   rates of joints, moving cut joints and motors per Qd                      drives x actuated

By virtual work a force on a drive costs its row of ``drives`` transposed. The four columns of a drive are that row
times its acceleration (Ia), its rate (fv), the sign of its rate (fc), and one (fo). Declared forces have one column
each, after all others; see ``declared_forces``.

A drive with a ``coulomb_speed`` s has rate / sqrt(rate^2 + s^2) in the place of the sign: odd, smooth, and 1 far from
rest. Root and division are instructions that work on all lanes at once, where tanh would be a call for each of them.

Two velocities: controllers of the Slotine-Li kind ask for Y(x, Qd, V, Vd). Joints then have v = E V and
vd = E Vd + Edot V, where Edot belongs to the real motion Qd. Rotor inertia takes the acceleration that follows from V
and Vd, viscous friction the *reference* rate, so that both are linear in the reference as M vd + C v is; Coulomb
friction takes the sign of the *real* rate, smooth or not, which is what it opposes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.dynamics.declared_forces import force_shapes
from ytheta.dynamics.formulations import minimal_newton_euler
from ytheta.dynamics.formulations.equivalent_bodies import equivalent_bodies
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.loops.constraint import Constraint, column, joint_positions
from ytheta.dynamics.mechanism import Mechanism, exact
from ytheta.dynamics.motion import Motion, scalars
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.robot.frame import cos_sin
from ytheta.shapes import AnyPerActuated, AnyPerDrive, Shaped

LinkRegressor: TypeAlias = Callable[[Mechanism, Motion], np.ndarray]


@dataclass(frozen=True, eq=False)
class Moved:
    """How everything moves when the actuated coordinates do: joints, and drives with their two rates."""

    motion: Motion
    joints: Shaped[np.ndarray, "joints actuated"]
    drives: Shaped[np.ndarray, "drives actuated"]
    rate: AnyPerDrive
    reference: AnyPerDrive
    acceleration: AnyPerDrive
    coulomb_speeds: tuple[float, ...]

    @property
    def values(self) -> Shaped[np.ndarray, "drives 4"]:
        """What Ia, fv, fc and fo of each drive are multiplied by."""
        values = zeros(len(self.rate), len(JOINT_PARAMETERS))
        values[:, 0], values[:, 1], values[:, 3] = self.acceleration, self.reference, 1
        for k, (rate, speed) in enumerate(zip(self.rate, self.coulomb_speeds, strict=True)):
            values[k, 2] = _sign(rate, speed)
        return values


def moved(constraint: Constraint, Qd: AnyPerActuated, Vd: AnyPerActuated, V: AnyPerActuated | None = None) -> Moved:
    """The motion of joints and drives at the closed coordinates ``constraint.x``; V is Qd where it is left out."""
    A, E, cuts = constraint.A, constraint.E, constraint.cut_rates
    xd = dot(E, Qd)
    y = xd if V is None else dot(E, V)
    xdd = dot(E, Vd) + constraint.Edot_times(xd, y)
    qd, vd = dot(A, xd), dot(A, xdd)
    v = qd if V is None else dot(A, y)
    q, cos, sin = joint_positions(constraint.robot, scalars(constraint.x))
    motors = constraint.motors
    rate = np.concatenate([qd, dot(cuts, xd), dot(motors, xd)])
    joints = dot(A, E)
    return Moved(
        motion=Motion(q, cos, sin, qd, v, vd),
        joints=joints,
        drives=np.concatenate([joints, dot(cuts, E), dot(motors, E)]),
        rate=rate,
        reference=rate if V is None else np.concatenate([v, dot(cuts, y), dot(motors, y)]),
        acceleration=np.concatenate([vd, dot(cuts, xdd) + _turning(constraint, xd, y), dot(motors, xdd)]),
        coulomb_speeds=tuple(drive.coulomb_speed for _, drive in constraint.robot.drives),
    )


def full_regressor(
    constraint: Constraint,
    links: LinkRegressor,
    Qd: AnyPerActuated,
    Vd: AnyPerActuated,
    V: AnyPerActuated | None = None,
) -> Shaped[np.ndarray, "actuated params"]:
    """The regressor of all standard parameters from a formulation's regressor of the links."""
    m = moved(constraint, Qd, Vd, V)
    bodies = len(LINK_PARAMETERS) * len(constraint.mechanism.bodies)
    values = m.values
    shapes = force_shapes(constraint, m.motion.q)
    Y = zeros(len(Qd), bodies + values.size + shapes.shape[1])
    Y[:, :bodies] = dot(m.joints.T, links(constraint.mechanism, m.motion))
    for j, row in enumerate(m.drives):
        start = bodies + len(JOINT_PARAMETERS) * j
        Y[:, start : start + len(JOINT_PARAMETERS)] = dot(row[:, None], values[j][None])
    Y[:, bodies + values.size :] = dot(m.drives.T, shapes)
    return Y


def full_inverse_dynamics(
    constraint: Constraint,
    theta: Shaped[np.ndarray, "params"],
    Qd: AnyPerActuated,
    Qdd: AnyPerActuated,
    *,
    minimal: bool = False,
) -> AnyPerActuated:
    """tau for given standard parameters, without forming Y; ``minimal``: the links as they are in the robot, leaner."""
    m = moved(constraint, Qd, Qdd)
    bodies = len(LINK_PARAMETERS) * len(constraint.mechanism.bodies)
    if minimal:
        arm = equivalent_bodies(constraint.robot)
        rho = minimal_newton_euler.inverse_dynamics(arm, _turned(m.motion, arm.offsets))
    else:
        rho = inverse_dynamics(constraint.mechanism, m.motion, theta[:bodies])
    after = bodies + len(JOINT_PARAMETERS) * len(m.rate)
    drives = theta[bodies:after].reshape(-1, len(JOINT_PARAMETERS))
    felt = array([dot(own[None], value)[0] for own, value in zip(drives, m.values, strict=True)] or [0])[: len(drives)]
    felt[: len(rho)] = felt[: len(rho)] + rho
    felt = felt + dot(force_shapes(constraint, m.motion.q), theta[after:])
    return dot(m.drives.T, felt)


def _sign(rate: Any, speed: float) -> Any:
    """The sign of a rate, which changes gradually over about ``speed`` where that is not 0."""
    import casadi

    if type(rate) is int:  # by structure: a drive at rest
        return rate
    return rate / casadi.sqrt(rate * rate + speed * speed) if speed else casadi.sign(rate)


def _turned(motion: Motion, offsets: Shaped[np.ndarray, "joints"]) -> Motion:
    """The same motion with constant angles added to q; at quarter turns sine and cosine only change places."""
    import casadi

    cos, sin = motion.cos.copy(), motion.sin.copy()
    for k, angle in enumerate(offsets.tolist()):
        c, s = exact(list(cos_sin(angle)))
        if type(c) is int and type(s) is int:
            both = array([cos[k], sin[k]])
            cos[k], sin[k] = inner(array([c, -s]), both), inner(array([s, c]), both)
        else:
            cos[k], sin[k] = casadi.cos(motion.q[k] + angle), casadi.sin(motion.q[k] + angle)
    return replace(motion, cos=cos, sin=sin)


def _turning(constraint: Constraint, xd: np.ndarray, y: np.ndarray) -> Shaped[np.ndarray, "cuts"]:
    """(d/dt cut_rates) y along xd; nothing where they are constant, as in planar mechanisms."""
    import casadi

    rows = constraint.cut_rates
    still = casadi.SX.sym("y", len(y))
    rates = column(dot(rows, scalars(still)))
    change = casadi.jtimes(rates, constraint.x, column(xd))
    found = casadi.densify(casadi.substitute(change, still, column(y)))
    return array([0 if e.is_zero() else e for e in scalars(found)] or [0])[: len(rows)]
