"""The regressor of all standard parameters of links, drives and forces, also with couplings and loops.

The columns of the links come from any formulation.

Identity      tau = Y @ theta   for every theta, in the order of ``robot.parameter_names``
Reference     [walker1988] sec. 3: tau = E^T rho; (13) and (22) for friction, which cut joints have too
Accepts       every robot; without loops and couplings no operation is added to those of the formulation

By virtual work, a unit torque on a drive contributes the drive's row of the drive Jacobian, transposed, to tau. The
four columns of a drive are this vector times the drive's acceleration (Ia), its velocity (fv), the sign of its velocity
(fc), and one (fo); see ``drive_motion``. Each declared force has one column, after those of the drives; see
``declared_forces``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ytheta.dynamics.declared_forces import compute_force_shapes
from ytheta.dynamics.drive_motion import compute_drive_motion
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import PER_DRIVE, PER_LINK, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import dot, zeros
from ytheta.shapes import AnyPerActuated, Shaped

LinkRegressor: TypeAlias = Callable[[Mechanism, Motion], np.ndarray]


def full_regressor(
    constraint: Constraint,
    link_regressor: LinkRegressor,
    Qd: AnyPerActuated,
    Vd: AnyPerActuated,
    V: AnyPerActuated | None = None,
) -> Shaped[np.ndarray, "actuated params"]:
    """The regressor of all standard parameters from a formulation's regressor of the links."""
    m = compute_drive_motion(constraint, Qd, Vd, V)
    links = PER_LINK * len(constraint.mechanism.bodies)
    factors = m.parameter_factors
    shapes = compute_force_shapes(constraint, m.joints.q)
    Y = zeros(len(Qd), links + factors.size + shapes.shape[1])
    Y[:, :links] = dot(m.joint_jacobian.T, link_regressor(constraint.mechanism, m.joints))
    for k, row in enumerate(m.drive_jacobian):
        start = links + PER_DRIVE * k
        Y[:, start : start + PER_DRIVE] = dot(row[:, None], factors[k][None])
    Y[:, links + factors.size :] = dot(m.drive_jacobian.T, shapes)
    return Y
