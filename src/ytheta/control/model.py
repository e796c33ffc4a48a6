"""The robot's equations with symbols for parameters: what control laws are written with.

Identity      torque(qd, vd, v) = Y_S(q, qd, v, vd) theta = M vd + C(q, qd) v + g + friction
              pulled_back(torque, w) = Yᵀ w, the gradient of wᵀ tau by the parameters
Reference     [lu1993] (1), (12); [fernandez2000] (28), (30)
Accepts       every robot; with loops q stands for all coordinates, closed
Notation      code       meaning                                                            shape
              q          actuated coordinates                                               actuated
              theta      parameters as columns of Y carry them, numbers and symbols         params
Differs from  the papers in: no law forms the regressor. tau is a recursion in theta, and Yᵀ w comes from it by
              automatic differentiation backwards, so that the work grows with the number of joints, not its square.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.dynamics import composite_body, rigid_body
from ytheta.dynamics.declared_forces import force_shapes
from ytheta.dynamics.formulations.newton_euler import PER_LINK, inverse_dynamics
from ytheta.dynamics.full_regressor import Moved, moved
from ytheta.dynamics.loops.constraint import Constraint, column
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.shapes import AnyPerActuated, Shaped

if TYPE_CHECKING:
    import casadi

PER_JOINT = len(JOINT_PARAMETERS)


@dataclass(frozen=True, eq=False)
class Model:
    """A robot in symbols, with parameters that may be symbols too."""

    loops: Constraint
    theta: Shaped[np.ndarray, "params"]

    @property
    def q(self) -> AnyPerActuated:
        return scalars(self.loops.x)[list(self.loops.actuated)]

    def torque(self, qd: AnyPerActuated, vd: AnyPerActuated, v: AnyPerActuated | None = None) -> AnyPerActuated:
        """M vd + C v + g and friction; C qd where v is left out. Viscous friction is that of v, Coulomb's of qd."""
        m = moved(self.loops, qd, vd, v)
        links = inverse_dynamics(self.loops.mechanism, m.motion, self._links)
        felt = [dot(own[None], values)[0] for own, values in zip(self._drives, m.values, strict=True)]
        drives = array(felt)
        drives[: len(links)] = drives[: len(links)] + links
        drives = drives + dot(force_shapes(self.loops, m.motion.q), self._forces)
        return dot(m.drives.T, drives)

    @cached_property
    def mass_matrix(self) -> Shaped[np.ndarray, "actuated actuated"]:
        """M, rotor inertia included."""
        m = self._at_rest
        links = composite_body.mass_matrix(self.loops.mechanism, m.motion, self._links)
        M = dot(dot(m.joints.T, links), m.joints)
        return M + dot(dot(m.drives.T, np.diag(self._drives[:, 0])), m.drives)

    @property
    def held(self) -> AnyPerActuated:
        """The torque that holds the robot at rest: weight and declared forces, without friction and offsets."""
        m = self._at_rest
        weight = rigid_body.gravity(self.loops.mechanism, m.motion, self._links)
        forces = dot(force_shapes(self.loops, m.motion.q), self._forces)
        return dot(m.joints.T, weight) + dot(m.drives.T, forces)

    @cached_property
    def _at_rest(self) -> Moved:
        still = zeros(len(self.loops.actuated))
        return moved(self.loops, still, still)

    @property
    def _bodies(self) -> int:
        return PER_LINK * len(self.loops.mechanism.bodies)

    @property
    def _links(self) -> Shaped[np.ndarray, "link_params"]:
        return self.theta[: self._bodies]

    @property
    def _drives(self) -> Shaped[np.ndarray, "drives 4"]:
        return self.theta[self._bodies : len(self.theta) - len(self._forces)].reshape(-1, PER_JOINT)

    @property
    def _forces(self) -> Shaped[np.ndarray, "forces"]:
        return self.theta[len(self.theta) - len(self.loops.robot.forces) :]


def pulled_back(torque: AnyPerActuated, unknown: casadi.SX, w: AnyPerActuated) -> Shaped[np.ndarray, "unknown"]:
    """Y_uᵀ w for the torque Y_k theta_k + Y_u theta_u; w counts as constant, whatever it is made of."""
    import casadi

    if not unknown.numel():
        return zeros(0)
    found = casadi.densify(casadi.jtimes(column(torque), unknown, column(w), True))
    return array([0 if entry.is_zero() else entry for entry in scalars(found)])
