"""The exact last step into the limits: amplitudes are reduced about a pose that keeps all limits at rest.

Limits of position, velocity, acceleration and jerk hold joint by joint, and a motion is proportional to its amplitude:
the largest factor of each joint follows in closed form. Torques and path constraints need a common factor, which is
reduced until the check between samples finds no violation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.excitation.constraints.check import (
    CHECK_POINTS,
    bound_margins,
    bound_torque_between,
    find_mimic_torques,
    find_passive_motion,
)
from ytheta.excitation.constraints.penalty import Constraints
from ytheta.excitation.trajectories.basis import POSITION, VELOCITY
from ytheta.excitation.trajectories.rest_to_rest import RestToRest, Unknowns
from ytheta.excitation.trajectories.trajectory import SampledTrajectory, Trajectory
from ytheta.shapes import PerJoint

FINE_STEP, COARSE_RATIO, FINE_STEPS = 0.0025, 0.85, 20  # factors 1, 0.9975 …, then each 0.85 times the one before
MIN_FACTOR = 1e-4  # smaller motion is useless
SHARE_KEPT = 1.0 - 1e-9  # share of a limit that a shrunk joint may use; the rest is for rounding


@dataclass(frozen=True)
class Shrunk:
    """Unknowns of a trajectory that keeps all limits, and the smallest factor that was applied to a joint."""

    x: Unknowns
    factor: float


def shrink(space: RestToRest, x: Unknowns, constraints: Constraints) -> Shrunk | None:
    """Return the trajectory with amplitudes reduced into all limits; None if not even tiny motion keeps them."""
    factors = find_joint_factors(space, x, constraints)
    scaled = x * factors
    common, step = 1.0, 0
    while common >= MIN_FACTOR:
        if _keeps_torques_and_paths(space.build(scaled * common), constraints):
            return Shrunk(scaled * common, float(factors.min() * common))
        step += 1
        common = common - FINE_STEP if step <= FINE_STEPS else common * COARSE_RATIO
    return None


def find_joint_factors(space: RestToRest, x: Unknowns, constraints: Constraints) -> PerJoint:
    """Return the largest factor, at most one, of each joint that keeps position, velocity, acceleration and jerk."""
    t = np.arange(CHECK_POINTS) * (space.basis.period / CHECK_POINTS)
    coefficients = space.null_space @ (x * space.scale)
    slack = (space.basis.period / CHECK_POINTS) ** 2 / 8.0
    bounds = constraints.bounds
    offset = space.basis.evaluate(t, POSITION) @ coefficients
    between = slack * space.basis.bound(coefficients, POSITION + 2)
    room = np.stack([bounds.upper - space.center, space.center - bounds.lower])
    reach = np.stack([offset.max(axis=0) + between, between - offset.min(axis=0)])
    factors = _divide(room, np.maximum(reach, 0.0)).min(axis=0)
    for order, limit in enumerate(bounds.rates, start=VELOCITY):
        largest = abs(space.basis.evaluate(t, order) @ coefficients).max(axis=0)
        factors = np.minimum(factors, _divide(limit, largest + slack * space.basis.bound(coefficients, order + 2)))
    return np.minimum(1.0, SHARE_KEPT * factors)


def _keeps_torques_and_paths(trajectory: Trajectory, constraints: Constraints) -> bool:
    motion = trajectory.sample_period(CHECK_POINTS)
    x = constraints.kernels.close(motion.q)
    if x is None or not _keeps_passive_limits(motion, constraints, x):
        return False
    torques = constraints.compute_torques(x, motion.qd, motion.qdd)
    if (abs(torques).max(axis=(0, 1)) + bound_torque_between(torques) > constraints.bounds.effort).any():
        return False
    return all((bound_margins(trajectory, constraints, path)[0] >= 0.0).all() for path in constraints.paths)


def _keeps_passive_limits(motion: SampledTrajectory, constraints: Constraints, x: np.ndarray) -> bool:
    """Return whether joints that loops or couplings move stay within their limits."""
    for joint, q, velocity, acceleration in find_passive_motion(motion, constraints, x):
        limits = joint.limits
        pairs = ((velocity, limits.velocity), (acceleration, limits.acceleration))
        if (q < limits.lower).any() or (q > limits.upper).any():
            return False
        if any(largest and abs(values).max() > largest for values, largest in pairs):
            return False
    mimic_torques = find_mimic_torques(motion, constraints, x).values()
    return all(torque.max() <= limit for torque, limit in mimic_torques)


def _divide(limit: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(value > limit * MIN_FACTOR, limit / np.where(value > 0.0, value, 1.0), np.inf)
