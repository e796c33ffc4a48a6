"""How many steps the plant needs in a period of the controller: what damping slows down must not outrun a step.

Identity      M d(qd)/dt = … - F qd,   F = Dᵀ diag(fv + fc / s) D,   substeps = ceil(period * lambda_max(M^-1 F))
Reference     Hairer, Wanner, Solving Ordinary Differential EquationsOfMotion II (1996), sec. IV.2: RK4 is stable up to
              h lambda = 2.78; here it is at most 1, where a step is right to 1 %
Accepts       every robot that moves some mass with every motion
Notation      code    meaning                                                        shape
              D       rates of the drives per rate of the actuated coordinates       samples x drives x actuated
              fv, fc  viscous and Coulomb friction of the drives                     drives
              s       ``coulomb_speed``: at rest, friction rises by fc / s           drives
              rate    lambda_max(M^-1 F), 1/s, where it is largest on the motion     number

Coulomb friction without a speed has no slope; see ``smoothing``. With one, too few steps make it chatter within its own
size, but no run is lost by that: it asks for ``MOST`` steps and no more, where viscous friction is refused.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.control.tuning.adaptation_gains import eigenvalues
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.robot import Robot
from ytheta.shapes import SamplesByJoint, Shaped

MOST = 100  # substeps
SAMPLES = 100  # of the motion, at most
BACKEND = "interpreter"  # a hundred samples, once: less than a compilation takes


def choose_substeps(
    robot: Robot, q: SamplesByJoint, period: float, *, margin: float = 1.0, coulomb: bool = True
) -> int:
    """Steps of RK4 in a period, with which damping at these poses is integrated well; 1 where there is none.

    ``margin``: how many times faster than described the robot may be. ``coulomb``: whether Coulomb friction counts.
    """
    if not (period > 0.0 and np.isfinite(period)):
        raise InputError(f"the period of the controller is {period} s; give a positive one such as 1e-3")
    viscous = np.array([drive.viscous for _, drive in robot.drives])
    slopes = np.array([d.coulomb / d.coulomb_speed if coulomb and d.coulomb_speed else 0.0 for _, d in robot.drives])
    if not (viscous.any() or slopes.any()):
        return 1
    thinned = q[np.unique(np.linspace(0, len(q) - 1, min(len(q), SAMPLES)).round().astype(int))]
    D, M = drive_jacobian(robot, thinned), kernels.mass_matrix(robot, backend=BACKEND)(thinned)
    try:
        slow, fast = (
            float(eigenvalues(np.einsum("ska,k,skb->sab", D, friction, D), M).max())
            for friction in (viscous, viscous + slopes)
        )
    except np.linalg.LinAlgError:
        raise InputError(
            f"robot {robot.name!r} has friction, but some motion of its joints moves no mass, or a negative one: no "
            "step is short enough for that; give its links masses and inertias, or its drives rotor inertia"
        ) from None
    if not period * margin * slow <= MOST:
        raise InputError(
            f"robot {robot.name!r}: its viscous friction slows it down at a rate of {slow:.3g}/s, which takes "
            f"{math.ceil(min(period * margin * slow, 1e9))} steps of the plant in a period of {period:g} s, and more "
            f"than {MOST} are not made unasked; take a shorter period, more inertia (of rotors, say) or less damping, "
            "or give substeps"
        )
    return min(MOST, max(1, math.ceil(period * margin * fast)))


def drive_jacobian(robot: Robot, q: SamplesByJoint) -> Shaped[np.ndarray, "samples drives joints"]:
    """Rates of all drives per rate of the actuated coordinates: the columns of their offsets."""
    offsets = [f"{name}.{FRICTION_PARAMETERS['offset']}" for name in robot.moving]
    still = np.zeros_like(q)
    return kernels.regressor(robot, parameters=offsets, backend=BACKEND)(q, still, still).transpose(0, 2, 1)
