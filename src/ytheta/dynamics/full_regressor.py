"""The regressor of all standard parameters of links, drives and forces, also with couplings and loops.

The columns of the links come from any formulation.

Identity      tau = Y @ theta   for every theta, in the order of ``robot.parameter_names``; with load-dependent
              friction, only for the theta of the robot itself
Reference     [walker1988] sec. 3: tau = E^T rho; (13) and (22) for friction, which cut joints have too
Accepts       every robot; without loops and couplings no operation is added to those of the formulation

By virtual work, a unit torque on a drive contributes the drive's row of the drive Jacobian, transposed, to tau. The
four columns of a drive are this vector times the drive's acceleration (Ia), its velocity (fv), the sign of its velocity
(fc), and one (fo); see ``drive_motion``. A drive with a ``root`` has the column fs, sign times root of the speed. A
drive with a ``load`` has the column fl, sign times size of the torque that the drive transmits. This torque depends on
the inertial parameters, so that the column is computed with the values of the robot. Each declared force has one
column, after those of the drives; see ``declared_forces``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS
from ytheta.dynamics.declared_forces import compute_force_shapes
from ytheta.dynamics.drive_motion import compute_drive_motion
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.symbolic_model import SymbolicModel, compute_load_factors
from ytheta.dynamics.vectors import array, dot, zeros
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
    shapes = compute_force_shapes(constraint, m.joints.q)
    link_columns = link_regressor(constraint.mechanism, m.joints)
    theta = constraint.robot.theta.tolist()
    model = SymbolicModel(constraint, exact_array(theta) if theta else zeros(0))
    load_factors = zeros(len(m.velocity))
    if model.has_load_friction:
        r = model.compute_transmitted_torque(m, dot(link_columns[m.driven], model.link_theta), shapes)
        load_factors = compute_load_factors(m, r)
    Y = zeros(len(Qd), len(model.theta))
    Y[:, :links] = dot(m.joint_jacobian.T, link_columns)
    columns = zip(
        m.drive_jacobian, m.parameter_factors, m.root_factors, load_factors, m.drives, model.drive_slices, strict=True
    )
    for row, factors, root, load, drive, place in columns:
        values = dict(zip(ALL_JOINT_PARAMETERS, (*factors, root, load), strict=True))
        Y[:, place] = dot(row[:, None], array([values[symbol] for symbol in drive.parameter_symbols])[None])
    Y[:, len(model.theta) - shapes.shape[1] :] = dot(m.drive_jacobian.T, shapes)
    return Y
