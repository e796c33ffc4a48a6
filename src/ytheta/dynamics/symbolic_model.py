"""The equations of motion of a whole robot, with symbolic coordinates and parameters of any scalar type.

Identity      torque(qd, vd, v) = Y(q, qd, v, vd) theta = M vd + C(q, qd) v + g + friction + declared forces
              multiply_transposed_regressor(torque, unknowns, w) = Y_uᵀ w, the gradient of wᵀ tau by the unknowns
Reference     [lu1993] (1), (12); [fernandez2000] (28), (30); [walker1988] sec. 3 for tau = E^T rho
Accepts       every robot; with loops, M, C, g and Y depend on all coordinates x, at which the loops must be closed
Notation      code       meaning                                                            shape
              q          actuated coordinates                                               actuated
              theta      standard parameters in the order of Y, numbers or symbols          params
Differs from  the papers in: the regressor is not formed. A recursion computes tau, and reverse automatic
              differentiation of tau gives Yᵀ w, so that the number of operations grows linearly with the number of
              joints instead of quadratically.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.dynamics.declared_forces import compute_force_shapes
from ytheta.dynamics.drive_motion import DriveMotion, compute_drive_motion
from ytheta.dynamics.formulations import minimal_newton_euler
from ytheta.dynamics.formulations.composite import composite_newton_euler
from ytheta.dynamics.formulations.composite.composite_bodies import find_composite_bodies
from ytheta.dynamics.formulations.equivalent_bodies import find_equivalent_bodies
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics
from ytheta.dynamics.links import composite_body, rigid_body
from ytheta.dynamics.loops.constraint import Constraint, column
from ytheta.dynamics.mechanism import PER_DRIVE, PER_LINK, exact_array
from ytheta.dynamics.motion import Motion, scalars
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.robot.frame import cos_sin
from ytheta.shapes import AnyPerActuated, AnyPerJoint, AnyPerUnknown, Shaped

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True, eq=False)
class SymbolicModel:
    """A robot with symbols for its coordinates and numbers or symbols for its parameters."""

    loops: Constraint
    theta: Shaped[np.ndarray, "params"]

    @property
    def q(self) -> AnyPerActuated:
        return scalars(self.loops.x)[list(self.loops.actuated)]

    @property
    def link_theta(self) -> Shaped[np.ndarray, "link_params"]:
        return self.theta[: PER_LINK * len(self.loops.mechanism.bodies)]

    @property
    def drive_theta(self) -> Shaped[np.ndarray, "drives 4"]:
        """Ia, fv, fc and fo of every drive."""
        return self.theta[len(self.link_theta) : len(self.theta) - len(self.force_theta)].reshape(-1, PER_DRIVE)

    @property
    def force_theta(self) -> Shaped[np.ndarray, "forces"]:
        return self.theta[len(self.theta) - len(self.loops.robot.forces) :]

    def torque(
        self,
        qd: AnyPerActuated,
        vd: AnyPerActuated,
        v: AnyPerActuated | None = None,
        *,
        recursion: str = "newton_euler",
    ) -> AnyPerActuated:
        """M vd + C v + g, plus friction and declared forces. Without v, the reference velocity is qd.

        Viscous friction depends on v, Coulomb friction on qd. The torque of the links comes from ``recursion``, a name
        of ``registry.RECURSIONS``. All but newton_euler use the robot's parameter values instead of ``theta`` and need
        v = qd.
        """
        m = compute_drive_motion(self.loops, qd, vd, v)
        links = self._compute_link_torque(m.joints, recursion)
        drives = zeros(len(m.velocity))
        for k, (theta, factors) in enumerate(zip(self.drive_theta, m.parameter_factors, strict=True)):
            drives[k] = inner(theta, factors)
        drives[: len(links)] = drives[: len(links)] + links
        drives = drives + dot(compute_force_shapes(self.loops, m.joints.q), self.force_theta)
        return dot(m.drive_jacobian.T, drives)

    def _compute_link_torque(self, motion: Motion, recursion: str) -> AnyPerJoint:
        if recursion == "newton_euler":
            return inverse_dynamics(self.loops.mechanism, motion, self.link_theta)
        if recursion == "composite_newton_euler":
            composite = find_composite_bodies(self.loops.robot)
            return composite_newton_euler.inverse_dynamics(composite, _add_offsets(motion, composite.offsets))
        equivalent = find_equivalent_bodies(self.loops.robot)
        return minimal_newton_euler.inverse_dynamics(equivalent, _add_offsets(motion, equivalent.offsets))

    @cached_property
    def mass_matrix(self) -> Shaped[np.ndarray, "actuated actuated"]:
        """The mass matrix of the actuated coordinates, from the links and the rotor inertia of all drives."""
        links = composite_body.mass_matrix(self.loops.mechanism, self._at_rest.joints, self.link_theta)
        joints, drives = self._at_rest.joint_jacobian, self._at_rest.drive_jacobian
        return dot(dot(joints.T, links), joints) + dot(dot(drives.T, np.diag(self.drive_theta[:, 0])), drives)

    @property
    def holding_torque(self) -> AnyPerActuated:
        """The torque that holds the robot at rest: weight and declared forces, without friction and offsets."""
        weight = rigid_body.gravity(self.loops.mechanism, self._at_rest.joints, self.link_theta)
        return dot(self._at_rest.joint_jacobian.T, weight) + dot(self.force_columns, self.force_theta)

    @property
    def force_columns(self) -> Shaped[np.ndarray, "actuated forces"]:
        """The columns of the declared forces in Y."""
        return dot(self._at_rest.drive_jacobian.T, compute_force_shapes(self.loops, self._at_rest.joints.q))

    @cached_property
    def _at_rest(self) -> DriveMotion:
        zero = zeros(len(self.loops.actuated))
        return compute_drive_motion(self.loops, zero, zero)


def multiply_transposed_regressor(torque: AnyPerActuated, unknowns: casadi.SX, w: AnyPerActuated) -> AnyPerUnknown:
    """Y_uᵀ w for the torque Y_k theta_k + Y_u theta_u. w is treated as a constant, even if it depends on symbols."""
    import casadi

    if not unknowns.numel():
        return zeros(0)
    product = casadi.densify(casadi.jtimes(column(torque), unknowns, column(w), True))
    return array([0 if entry.is_zero() else entry for entry in scalars(product)])


def _add_offsets(motion: Motion, offsets: Shaped[np.ndarray, "joints"]) -> Motion:
    """Replace cos q and sin q by those of q + offsets. For quarter turns, cos and sin are only swapped or negated."""
    import casadi

    cos, sin = motion.cos.copy(), motion.sin.copy()
    for k, angle in enumerate(offsets.tolist()):
        c, s = exact_array(list(cos_sin(angle)))
        if type(c) is int and type(s) is int:
            both = array([cos[k], sin[k]])
            cos[k], sin[k] = inner(array([c, -s]), both), inner(array([s, c]), both)
        else:
            cos[k], sin[k] = casadi.cos(motion.q[k] + angle), casadi.sin(motion.q[k] + angle)
    return replace(motion, cos=cos, sin=sin)
