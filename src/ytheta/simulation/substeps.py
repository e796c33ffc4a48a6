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
considered here; see ``with_smooth_friction``. With a ``coulomb_speed``, too few steps cause chatter, but friction
itself limits the chatter, and runs do not diverge. The number of steps for these laws is therefore limited to
``MAX_SUBSTEPS``. Viscous friction that requires more steps raises an error.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ytheta.control.tuning import compute_generalized_eigenvalues
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, SamplesByJoint, Shaped

# Steps per control period; a plant whose viscous friction needs more is refused, and dry friction gets no more.
# Chosen on: rule of thumb.
MAX_SUBSTEPS = 100
MAX_SAMPLES = 100  # Poses of the motion at which the damping is computed. Chosen on: rule of thumb.
MAX_ROOT_SLOPE = 0.824  # Largest slope of u sqrt(|u|) / sqrt(u^2 + 1), rounded up, at u = 0.54. Fixed by: mathematics.
BACKEND = "interpreter"  # for a hundred samples, the interpreter needs less time than a compilation


def choose_substeps(
    robot: Robot, q: SamplesByJoint, period: float, *, margin: float = 1.0, coulomb: bool = True
) -> int:
    """Return the number of RK4 steps per period that the damping at these poses requires; 1 without friction.

    ``margin`` is the factor by which the damping rate may exceed that of the description. ``coulomb`` says whether
    Coulomb friction of drives without load-dependent friction is considered.
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


def compute_load_friction(robot: Robot, q: SamplesByJoint) -> Float[np.ndarray, " drives"]:
    """Return the largest load-dependent friction of every drive while the robot is held at these poses."""
    loads = np.array([drive.load or 0.0 for _, drive in robot.drives])
    if not loads.any():
        return loads
    torques = np.abs(kernels.gravity(robot, backend=BACKEND)(q)).max(axis=0)
    return loads * torques[[robot.actuated.index(name) for name in robot.moving]]


def _compute_slopes(robot: Robot, q: SamplesByJoint, *, coulomb: bool) -> Float[np.ndarray, " drives"]:
    """Return the largest slopes of root, Coulomb and load-dependent friction; 0 for drives without a ``coulomb_speed``.

    If ``coulomb`` is false, Coulomb friction is considered only beside load-dependent friction.
    """
    drives = [drive for _, drive in robot.drives]
    dry = np.array([drive.coulomb if coulomb or drive.load else 0.0 for drive in drives])
    dry = dry + compute_load_friction(robot, q)
    roots = np.array([drive.root or 0.0 for drive in drives])
    speeds = np.array([drive.coulomb_speed or math.inf for drive in drives])
    return dry / speeds + MAX_ROOT_SLOPE * roots / np.sqrt(speeds)


def compute_drive_jacobian(robot: Robot, q: SamplesByJoint) -> Shaped[np.ndarray, "samples drives joints"]:
    """Return the Jacobian of the drive speeds with respect to the actuated velocities.

    Its rows are the regressor columns of the drives' torque offsets.
    """
    offsets = [f"{name}.{FRICTION_PARAMETERS['offset']}" for name in robot.moving]
    rest = np.zeros_like(q)
    return kernels.regressor(robot, parameters=offsets, backend=BACKEND)(q, rest, rest).transpose(0, 2, 1)


# Smooth Coulomb friction: the drives that need it, and its addition to a robot.
#
# Coulomb friction without a ``coulomb_speed`` is fc times the sign of the speed. Load-dependent friction has the same
# sign, and root friction an infinite slope at rest; both are smoothed together with Coulomb friction. A sign that is
# wrong for a period h changes the speed of a drive by h·fc·dᵀ M^-1 d, where d is the gradient of the drive's speed with
# respect to the actuated velocities. For a single joint, this change is h·fc / M_jj. Both the integrator and the
# controller make this error whenever a drive changes its direction. If the error is large, joints chatter instead of
# coming to rest. With a ``coulomb_speed``, integrator and controller use a smooth law.


# rad/s, m/s; speed over which Coulomb friction without a coulomb_speed is smoothed. Chosen on: rule of thumb.
REVOLUTE_COULOMB_SPEED, PRISMATIC_COULOMB_SPEED = 0.05, 0.02
# rad/s or m/s; change of speed by a wrong sign of friction during one period above which a drive chatters. Chosen
# on: rule of thumb.
MAX_SPEED_ERROR = 0.01


def with_smooth_friction(robot: Robot) -> Robot:
    """Return the robot with a ``coulomb_speed`` in all nonsmooth drives; the robot itself if there are none."""
    check_is_robot(robot)
    if not find_nonsmooth_drives(robot):
        return robot

    def smooth(name: str, drive: Drive) -> Drive:
        speed = PRISMATIC_COULOMB_SPEED if name in robot.prismatic_joints else REVOLUTE_COULOMB_SPEED
        return replace(drive, coulomb_speed=speed) if _is_nonsmooth(drive) else drive

    return robot.with_drives(smooth)


def find_nonsmooth_drives(robot: Robot) -> tuple[str, ...]:
    """Return the names of drives with Coulomb, root or load-dependent friction but without a ``coulomb_speed``."""
    return tuple(name for name, drive in robot.drives if _is_nonsmooth(drive))


def find_chattering_drives(robot: Robot, q: SamplesByJoint, period: float) -> tuple[str, ...]:
    """Return the names of nonsmooth drives that chatter at one of these poses.

    A drive chatters if a wrong sign of its friction changes its speed by more than ``MAX_SPEED_ERROR`` in one period.
    """
    nonsmooth = set(find_nonsmooth_drives(robot))
    if not nonsmooth:
        return ()
    D, M = compute_drive_jacobian(robot, q), kernels.mass_matrix(robot, backend=BACKEND)(q)
    coulomb = np.array([drive.coulomb for _, drive in robot.drives]) + compute_load_friction(robot, q)
    try:
        mobility = np.einsum("ska,sak->sk", D, np.linalg.solve(M, D.transpose(0, 2, 1))).max(axis=0)
    except np.linalg.LinAlgError:  # M is singular, because there is a motion that moves no mass
        mobility = np.full(len(coulomb), np.inf)
    chatters = dict(zip(robot.moving, period * np.abs(coulomb) * mobility > MAX_SPEED_ERROR, strict=True))
    return tuple(name for name in robot.moving if name in nonsmooth and chatters[name])


def _is_nonsmooth(drive: Drive) -> bool:
    return bool(drive.coulomb or drive.root or drive.load) and drive.coulomb_speed == 0.0


# Checks of the control period and the substeps, and the number of control periods in a simulation.


def check_period(period: float) -> None:
    """Raise an error unless the control period is a positive number of seconds."""
    if not (period > 0.0 and np.isfinite(period)):
        raise InputError(f"the control period is {period} s; give a positive number such as 1e-3")


def check_timing(period: float, substeps: int, max_step: float) -> None:
    """Raise an error if the period or the number of substeps is not valid, or if the period exceeds ``max_step``.

    ``max_step`` is the longest period for which the guarantees of the adaptation law hold.
    """
    check_period(period)
    if substeps < 1:
        raise InputError(f"there are {substeps} substeps per control period; give at least 1")
    if period > max_step * (1.0 + 1e-9):
        raise InputError(
            f"the guarantees of the adaptation law hold for periods up to {max_step:g} s, but the control period is "
            f"{period:g} s; set step={period:g} in the adaptation law"
        )


def count_periods(seconds: float, period: float, every: int) -> int:
    """Return the number of control periods in this duration (s), rounded to the nearest integer.

    Raise an error if the duration is shorter than one period, or if ``every`` is less than 1.
    """
    if not np.isfinite(seconds) or round(seconds / period) < 1:
        raise InputError(f"{seconds} s is shorter than one control period of {period} s; give at least one period")
    if every < 1:
        raise InputError(f"every={every}: give 1 to record every control instant, or n to record every n-th one")
    return round(seconds / period)
