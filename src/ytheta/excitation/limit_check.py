"""The check of a finished trajectory on a fine grid, with bounds for the time between samples.

Position, velocity, acceleration and jerk: between samples at a distance h, a function exceeds its samples by at most
h²/8 times a bound of its second derivative, which follows from the coefficients. Torque: likewise, with twice the
largest second difference in place of such a bound, since torques have none in closed form. Margins of path constraints:
a margin that is m_1 and m_2 at two samples is at least (m_1 + m_2 - L·s) / 2 between them, if the joints move by at
most s, and L bounds how fast the margin changes with each joint. Intervals for which this is negative are divided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ytheta.excitation.constraints import Constraints, PathConstraint
from ytheta.excitation.trajectories import ACCELERATION, POSITION, VELOCITY, SampledTrajectory, Trajectory
from ytheta.robot.parts import Joint
from ytheta.shapes import Float, SamplesByJoint

# Samples per period of the check; the motion between them is bounded, not sampled. Chosen on: rule of thumb.
CHECK_POINTS = 1000
# Factor of the largest second difference of the torque, in place of a bound of its second derivative. Chosen on:
# rule of thumb.
TORQUE_SAFETY = 2.0
# An interval between samples is halved at most this many times; then the bound of its margin counts. Chosen on: rule
# of thumb.
MAX_DIVISIONS = 9
# Relative excess of a limit that counts as rounding. Chosen on: reasoning, far above rounding errors, and far below
# what a robot can measure.
ROUNDING = 1e-9
QUANTITIES = ("position", "velocity", "acceleration", "jerk")


@dataclass(frozen=True)
class LimitUse:
    """How far a trajectory uses one limit.

    Attributes
    ----------
    quantity  "position", "velocity", "acceleration", "jerk", "torque", "clearance" or "closure"
    name      the joint, or the name of a path constraint's margin
    value     the value nearest to the limit, with the bound between samples
    limit     the limit; for "position" the nearer one, for "clearance" 0 m
    time      s, when the value is nearest to the limit
    share     value relative to the limit; for "position" relative to half the range; NaN for "clearance"
    violated  whether the limit is exceeded
    """

    quantity: str
    name: str
    value: float
    limit: float
    time: float
    share: float
    violated: bool

    @property
    def text(self) -> str:
        """The use as one sentence."""
        if self.quantity == "closure":
            return f"loops of {self.name} do not close, or are nearly singular, during the motion"
        state = "exceeds" if self.violated else "keeps"
        subject = f"{self.quantity} of {self.name}" if self.quantity != "clearance" else f"clearance {self.name}"
        return f"{subject}: {self.value:.6g} {state} {self.limit:.6g} at t = {self.time:.4g} s"


def check_limits(trajectory: Trajectory, constraints: Constraints) -> tuple[LimitUse, ...]:
    """Return how far the trajectory uses every limit, joint by joint."""
    motion = trajectory.sample_period(CHECK_POINTS)
    uses = [*_check_positions(trajectory, motion, constraints), *_check_rates(trajectory, motion, constraints)]
    x = constraints.kernels.close(motion.q)
    if x is None:
        name = constraints.kernels.robot.name
        return (*uses, LimitUse("closure", name, np.inf, 0.0, 0.0, np.inf, violated=True))
    uses += _check_passive_joints(motion, constraints, x)
    uses += _check_torques(motion, constraints, x)
    for path in constraints.paths:
        uses += _check_path(trajectory, constraints, path)
    return tuple(uses)


def check_torque_limits(trajectory: Trajectory, constraints: Constraints) -> tuple[LimitUse, ...]:
    """Return how far the trajectory uses the torque limits of all joints."""
    motion = trajectory.sample_period(CHECK_POINTS)
    x = constraints.kernels.close(motion.q)
    return () if x is None else tuple(_check_torques(motion, constraints, x))


def list_violations(uses: tuple[LimitUse, ...]) -> tuple[LimitUse, ...]:
    return tuple(use for use in uses if use.violated)


def _check_positions(trajectory: Trajectory, motion: SampledTrajectory, constraints: Constraints) -> Iterator[LimitUse]:
    bounds, slack = constraints.bounds, _bound_between(trajectory, POSITION)
    for k, name in enumerate(bounds.joints):
        offset = motion.q[:, k] - bounds.middle[k]
        row = int(np.argmax(abs(offset)))
        share = float((abs(offset[row]) + slack[k]) / bounds.half_range[k])
        limit = bounds.upper[k] if offset[row] > 0.0 else bounds.lower[k]
        value = float(motion.q[row, k] + np.sign(offset[row]) * slack[k])
        yield LimitUse("position", name, value, float(limit), float(motion.t[row]), share, share > 1.0 + ROUNDING)


def _check_rates(trajectory: Trajectory, motion: SampledTrajectory, constraints: Constraints) -> Iterator[LimitUse]:
    for order, limits in enumerate(constraints.bounds.rates, start=VELOCITY):
        values = abs((motion.q, motion.qd, motion.qdd, motion.jerk)[order])
        slack = _bound_between(trajectory, order)
        yield from _compare(QUANTITIES[order], constraints, motion, values, slack, limits)


def _check_torques(motion: SampledTrajectory, constraints: Constraints, x: np.ndarray) -> Iterator[LimitUse]:
    torques = constraints.compute_torques(x, motion.qd, motion.qdd)
    largest, slack = abs(torques).max(axis=0), bound_torque_between(torques)
    yield from _compare("torque", constraints, motion, largest, slack, constraints.bounds.effort)


def _compare(
    quantity: str,
    constraints: Constraints,
    motion: SampledTrajectory,
    values: np.ndarray,
    slack: np.ndarray,
    limits: np.ndarray,
) -> Iterator[LimitUse]:
    for k, name in enumerate(constraints.bounds.joints):
        row = int(np.argmax(values[:, k]))
        value, limit = float(values[row, k] + slack[k]), float(limits[k])
        share = value / limit
        yield LimitUse(quantity, name, value, limit, float(motion.t[row]), share, share > 1.0 + ROUNDING)


def _check_passive_joints(motion: SampledTrajectory, constraints: Constraints, x: np.ndarray) -> Iterator[LimitUse]:
    """Check position, velocity, acceleration and torque of joints that loops or couplings move, at the samples."""
    torques = find_mimic_torques(motion, constraints, x)
    passive = find_passive_motion(motion, constraints, x)
    for joint, positions, velocity, acceleration in passive:
        low, high = joint.limits.lower, joint.limits.upper
        lack = np.maximum(low - positions, positions - high)
        row = int(np.argmax(lack))
        limit = high if positions[row] - high >= low - positions[row] else low
        if np.isfinite(limit):
            value, time = float(positions[row]), float(motion.t[row])
            share = 1.0 + float(lack[row]) / max(0.5 * (high - low), 1e-12) if np.isfinite(high - low) else np.nan
            yield LimitUse("position", joint.name, value, limit, time, share, bool(lack[row] > ROUNDING))
        for quantity, values, largest in (
            ("velocity", abs(velocity), joint.limits.velocity),
            ("acceleration", abs(acceleration), joint.limits.acceleration),
            *([("torque", *torques[joint.name])] if joint.name in torques else []),
        ):
            if largest and np.isfinite(largest):
                row = int(np.argmax(values))
                share = float(values[row]) / largest
                yield LimitUse(
                    quantity, joint.name, float(values[row]), largest, float(motion.t[row]), share, share > 1.0
                )


def find_passive_motion(
    motion: SampledTrajectory, constraints: Constraints, x: np.ndarray
) -> list[tuple[Joint, Float[np.ndarray, " samples"], Float[np.ndarray, " samples"], Float[np.ndarray, " samples"]]]:
    """Return the joints that loops or couplings move, with reduced limits, their positions, velocities, accelerations.

    Velocity and acceleration are differences of fourth order over the period.
    """
    robot = constraints.kernels.robot
    if not robot.loops and not robot.couplings:
        return []
    positions = constraints.kernels.compute_joint_positions(x)
    step = float(motion.t[1] - motion.t[0])

    def shift(values: np.ndarray, count: int) -> np.ndarray:
        return np.roll(values, -count)

    passive = []
    for k, joint in enumerate(robot.merged.movable):
        if joint.name in robot.actuated:
            continue
        q = positions[:, k]
        velocity = (8.0 * (shift(q, 1) - shift(q, -1)) - (shift(q, 2) - shift(q, -2))) / (12.0 * step)
        acceleration = (16.0 * (shift(q, 1) + shift(q, -1)) - (shift(q, 2) + shift(q, -2)) - 30.0 * q) / (
            12.0 * step**2
        )
        reduced = constraints.bounds.margins.reduce(joint.limits)
        passive.append((replace(joint, limits=reduced), q, velocity, acceleration))
    return passive


def find_mimic_torques(
    motion: SampledTrajectory, constraints: Constraints, x: np.ndarray
) -> dict[str, tuple[Float[np.ndarray, " samples"], float]]:
    """Return the absolute torques of joints that couplings move, and their limits with the margin for the model.

    Only joints with such a limit are contained. Torques of robots with loops are not unique, and are left out.
    """
    robot = constraints.kernels.robot
    limits = {
        k: constraints.bounds.margins.reduce(joint.limits).effort
        for k, joint in enumerate(robot.merged.movable)
        if joint.name not in robot.actuated and joint.limits.effort and np.isfinite(joint.limits.effort)
    }
    if robot.loops or not limits:
        return {}
    torques = [abs(kernels.compute_tree_torque(x, motion.qd, motion.qdd)) for kernels in constraints.loads]
    largest = np.max(torques, axis=0)
    return {robot.merged.movable[k].name: (largest[:, k], limit) for k, limit in limits.items()}


def _check_path(trajectory: Trajectory, constraints: Constraints, path: PathConstraint) -> Iterator[LimitUse]:
    lowest, times = bound_margins(trajectory, constraints, path)
    for name, value, time in zip(path.names, lowest, times, strict=True):
        yield LimitUse("clearance", name, float(value), 0.0, float(time), np.nan, bool(value < 0.0))


def bound_torque_between(torques: Float[np.ndarray, "loads samples joints"]) -> Float[np.ndarray, " joints"]:
    """Return how much torques of a period can exceed their samples, from second differences."""
    second = torques - 0.5 * (np.roll(torques, 1, axis=1) + np.roll(torques, -1, axis=1))
    return TORQUE_SAFETY * 2.0 * abs(second).max(axis=(0, 1)) / 8.0


def bound_margins(
    trajectory: Trajectory, constraints: Constraints, path: PathConstraint
) -> tuple[Float[np.ndarray, " margins"], Float[np.ndarray, " margins"]]:
    """Return the lowest margins over the period, and their times.

    If a margin is not negative here, it is not negative at any time.
    """
    step = trajectory.basis.period / CHECK_POINTS
    left = np.arange(CHECK_POINTS) * step
    q = _find_joint_positions(trajectory, constraints, left)
    if q is None:
        return np.full(len(path.names), -np.inf), np.zeros(len(path.names))
    margins = path.compute_margins(q)
    q_right, m_right = np.roll(q, -1, axis=0), np.roll(margins, -1, axis=0)
    lowest, times = margins.min(axis=0), left[margins.argmin(axis=0)]
    acceleration = trajectory.bound(ACCELERATION)
    for _ in range(MAX_DIVISIONS + 1):
        speed = abs(trajectory.derive(left + 0.5 * step, VELOCITY)) + 0.5 * step * acceleration
        moved = constraints.kernels.bound_joint_steps(step * speed, abs(q_right - q))
        bound = 0.5 * (margins + m_right - moved @ path.lipschitz.T)
        unsure = (bound < np.minimum(lowest, 0.0)).any(axis=1)
        if not unsure.any():
            return lowest, times
        step *= 0.5
        middle = left[unsure] + step
        q_middle = _find_joint_positions(trajectory, constraints, middle)
        if q_middle is None:
            return np.full(len(path.names), -np.inf), times
        m_middle = path.compute_margins(q_middle)
        times = np.where(m_middle.min(axis=0) < lowest, middle[m_middle.argmin(axis=0)], times)
        lowest = np.minimum(lowest, m_middle.min(axis=0))
        left = np.concatenate([left[unsure], middle])
        q, q_right = np.concatenate([q[unsure], q_middle]), np.concatenate([q_middle, q_right[unsure]])
        margins, m_right = np.concatenate([margins[unsure], m_middle]), np.concatenate([m_middle, m_right[unsure]])
    return np.minimum(lowest, bound.min(axis=0)), times


def keeps_path(trajectory: Trajectory, constraints: Constraints, path: PathConstraint, q: SamplesByJoint) -> bool:
    """Return whether no margin is negative at any time; ``q`` are samples that are looked at first."""
    return bool((path.compute_margins(q) >= 0.0).all()) and bool(
        (bound_margins(trajectory, constraints, path)[0] >= 0.0).all()
    )


def _find_joint_positions(trajectory: Trajectory, constraints: Constraints, t: np.ndarray) -> np.ndarray | None:
    x = constraints.kernels.close(trajectory.derive(t, POSITION))
    return None if x is None else constraints.kernels.compute_joint_positions(x)


def _bound_between(trajectory: Trajectory, order: int) -> Float[np.ndarray, " joints"]:
    """Return how much a derivative of the motion can exceed its samples on the grid of the check."""
    step = trajectory.basis.period / CHECK_POINTS
    return step**2 / 8.0 * trajectory.bound(order + 2)
