"""The number of integration steps per control period that the damping of the plant requires.

Identity      M d(qd)/dt = … - F qd,   F = Dᵀ diag(fv + fc / s + …) D,   substeps = ceil(period * lambda_max(M^-1 F))
Reference     Hairer, Wanner, Solving Ordinary Differential Equations II (1996), sec. IV.2: RK4 is stable up to
              h·lambda = 2.78; here h·lambda is at most 1, for which the error of a step is about 1 %
Accepts       robots in which every motion moves a mass
Notation      code    meaning                                                        shape
              D       Jacobian of the drive speeds by the actuated velocities        samples x drives x actuated
              fv, fc  viscous and Coulomb friction of the drives                     drives
              s       ``coulomb_speed``; at rest d(friction) / d(speed) is fc / s    drives
              fs      root friction, whose slope is at most 0.824 fs / sqrt(s)       drives
              fl      load-dependent friction, whose slope at rest is fl |r| / s     drives
              r       the torque that a drive transmits, here when holding the arm   drives
              rate    the largest lambda_max(M^-1 F) along the motion, 1/s           number

Without a ``coulomb_speed``, Coulomb, root and load-dependent friction have no finite derivative at rest and are not
considered here; see ``smooth_friction``. With a ``coulomb_speed``, too few steps cause chatter, but friction itself
limits the chatter, and runs do not diverge. The number of steps for these laws is therefore limited to
``MAX_SUBSTEPS``. Viscous friction that requires more steps raises an error.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.control.tuning import compute_generalized_eigenvalues
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, SamplesByJoint, Shaped
from ytheta.simulation.timing import check_period

MAX_SUBSTEPS = 100
MAX_SAMPLES = 100  # poses of the motion at which the damping is computed
MAX_ROOT_SLOPE = 0.824  # largest slope of u sqrt(|u|) / sqrt(u^2 + 1), rounded up, at u = 0.54
BACKEND = "interpreter"  # for a hundred samples, the interpreter needs less time than a compilation


def choose_substeps(
    robot: Robot, q: SamplesByJoint, period: float, *, margin: float = 1.0, coulomb: bool = True
) -> int:
    """Return the number of RK4 steps per period that the damping at these poses requires; 1 without friction.

    ``margin`` is the factor by which the damping rate may exceed that of the description. ``coulomb`` says whether
    Coulomb and load-dependent friction are considered.
    """
    check_period(period)
    viscous = np.array([drive.viscous for _, drive in robot.drives])
    slopes = _compute_slopes(robot, q, coulomb=coulomb)
    if not (viscous.any() or slopes.any()):
        return 1
    samples = q[np.unique(np.linspace(0, len(q) - 1, min(len(q), MAX_SAMPLES)).round().astype(int))]
    D, M = compute_drive_jacobian(robot, samples), kernels.mass_matrix(robot, backend=BACKEND)(samples)
    try:
        viscous_rate, rate = (
            float(compute_generalized_eigenvalues(np.einsum("ska,k,skb->sab", D, friction, D), M).max())
            for friction in (viscous, viscous + slopes)
        )
    except np.linalg.LinAlgError:
        raise InputError(
            f"robot {robot.name!r} has friction, but some motion of its joints moves no mass or a negative mass, and "
            "no time step is short enough for that; give its links masses and inertias, or its drives rotor inertia"
        ) from None
    if not period * margin * viscous_rate <= MAX_SUBSTEPS:
        required_steps = math.ceil(min(period * margin * viscous_rate, 1e9))
        raise InputError(
            f"robot {robot.name!r}: the viscous friction has a damping rate of {viscous_rate:.3g}/s, which needs "
            f"{required_steps} integration steps per control period of {period:g} s, but at most {MAX_SUBSTEPS} are "
            "chosen automatically; choose a higher rate, more inertia (of rotors, for example) or less damping, or "
            "set substeps"
        )
    return min(MAX_SUBSTEPS, max(1, math.ceil(period * margin * rate)))


def compute_load_friction(robot: Robot, q: SamplesByJoint) -> Float[np.ndarray, "drives"]:
    """Return the largest load-dependent friction of every drive while the robot is held at these poses."""
    loads = np.array([drive.load or 0.0 for _, drive in robot.drives])
    if not loads.any():
        return loads
    torques = np.abs(kernels.gravity(robot, backend=BACKEND)(q)).max(axis=0)
    return loads * torques[[robot.actuated.index(name) for name in robot.moving]]


def _compute_slopes(robot: Robot, q: SamplesByJoint, *, coulomb: bool) -> Float[np.ndarray, "drives"]:
    """Return the largest slopes of root, Coulomb and load-dependent friction; 0 for drives without a ``coulomb_speed``.

    If ``coulomb`` is false, only root friction is considered.
    """
    drives = [drive for _, drive in robot.drives]
    dry = np.array([drive.coulomb for drive in drives]) + compute_load_friction(robot, q)
    roots = np.array([drive.root or 0.0 for drive in drives])
    speeds = np.array([drive.coulomb_speed or math.inf for drive in drives])
    return (dry if coulomb else 0.0) / speeds + MAX_ROOT_SLOPE * roots / np.sqrt(speeds)


def compute_drive_jacobian(robot: Robot, q: SamplesByJoint) -> Shaped[np.ndarray, "samples drives joints"]:
    """Return the Jacobian of the drive speeds with respect to the actuated velocities.

    Its rows are the regressor columns of the drives' torque offsets.
    """
    offsets = [f"{name}.{FRICTION_PARAMETERS['offset']}" for name in robot.moving]
    rest = np.zeros_like(q)
    return kernels.regressor(robot, parameters=offsets, backend=BACKEND)(q, rest, rest).transpose(0, 2, 1)
