"""Reference trajectories as functions of time, and their samples, which all runs share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from ytheta.arguments import check_number, is_positive
from ytheta.dynamics.constraint import LoopConstraint, build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.errors import ClosureError, InputError
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, InstantsByJoint, PerInstant, PerJoint
from ytheta.simulation.variation import make_generator

# A reference may exceed a limit by this fraction of the range between the limits, because of smoothing and rounding.
# The excess is also at most 1e-3 rad or m (rad/s or m/s for velocities). Chosen on: rule of thumb.
LIMIT_TOLERANCE = 1e-3

# One row per time, or no rows at all for a single time.
SampledMotion: TypeAlias = Float[np.ndarray, "*times joints"]


@runtime_checkable
class ReferenceTrajectory(Protocol):
    """A function that returns q, qd and qdd at given times (s), with one row per time and one column per joint."""

    def __call__(self, t: PerInstant, /) -> tuple[InstantsByJoint, InstantsByJoint, InstantsByJoint]: ...


@runtime_checkable
class TimedReference(Protocol):
    """A reference with a duration."""

    @property
    def seconds(self) -> float:
        """The duration in s."""


@dataclass(frozen=True, eq=False, repr=False)
class SampledReference:
    """The reference at the instants t.

    Attributes
    ----------
    t    times, s
    q    positions, one row per time and one column per joint, rad or m
    qd   velocities
    qdd  accelerations
    """

    t: PerInstant
    q: InstantsByJoint
    qd: InstantsByJoint
    qdd: InstantsByJoint

    def __repr__(self) -> str:
        return f"SampledReference({len(self.t)} instants, {self.q.shape[1]} joints)"


def evaluate_at_instant(reference: ReferenceTrajectory, t: Any) -> tuple[PerJoint, PerJoint, PerJoint]:
    """Return q, qd and qdd at one time, without the dimension of time."""
    q, qd, qdd = reference(np.array([check_number("t", t, "a number of seconds, or an array of them")]))
    return q[0], qd[0], qdd[0]


def sample_reference(reference: ReferenceTrajectory, robot: Robot, t: PerInstant) -> SampledReference:
    """Evaluate the reference at these times.

    Raise an error if a shape is wrong, a value is not finite, or a limit of the robot is exceeded.
    """
    shape = (len(t), len(robot.actuated))
    returned = reference(t)
    if not isinstance(returned, tuple | list) or len(returned) != 3:
        count = f"{len(returned)} values" if isinstance(returned, tuple | list) else "one value"
        raise InputError(f"the reference returned {count} for the times t; return three arrays, (q, qd, qdd)")
    columns = [np.ascontiguousarray(values, dtype=float) for values in returned]
    if [values.shape for values in columns] != [shape] * 3:
        raise InputError(
            f"the reference must return q, qd and qdd of shape {shape}, one column for each of "
            f"{', '.join(robot.actuated)}; it returns shapes {[values.shape for values in columns]}"
        )
    for name, values in zip(("q", "qd", "qdd"), columns, strict=True):
        not_finite = np.argwhere(~np.isfinite(values))
        if len(not_finite):
            k, joint = not_finite[0]
            raise InputError(
                f"the reference {name} of {robot.actuated[joint]!r} is {values[k, joint]} at t = {t[k]:g} s"
            )
    _check_limits(robot, t, columns[0], columns[1])
    return SampledReference(t, *columns)


def _check_limits(robot: Robot, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
    for k, (name, limits) in enumerate(zip(robot.actuated, robot.actuated_limits, strict=True)):
        max_speed = limits.velocity or np.inf  # exporters write 0 for an unknown limit
        for quantity, values, lower, upper in (
            ("position", q[:, k], limits.lower, limits.upper),
            ("velocity", qd[:, k], -max_speed, max_speed),
        ):
            tolerance = LIMIT_TOLERANCE * min(1.0, upper - lower or 1.0)
            outside = np.flatnonzero((values < lower - tolerance) | (values > upper + tolerance))
            if len(outside):
                first = outside[0]
                raise InputError(
                    f"the reference {quantity} of {name!r} is {values[first]:.8g} at t = {t[first]:.6g} s, outside its "
                    f"limits {lower:.8g} … {upper:.8g}; choose a smaller or slower reference"
                )


# The default reference trajectory: each joint follows a sum of sines within its limits, from rest to rest.
#
# Identity      q(t) = start + scale·window(t)·(center - start + reach·sum_k a_k sin(w_k t + phi_k)),  sum |a_k| = 1
# Accepts       every robot; if it has loops, they close along the motion, and singular poses are avoided
# Notation      code      meaning                                                                  shape
#               start     home, or the closest pose at the required distance from the limits       joints
#               center    the position around which a joint moves                                  joints
#               reach     the largest distance from the center                                     joints
#               window    a factor that rises smoothly from 0 to 1, stays 1, and falls to 0        instants
#
# Positions keep a distance of a tenth of the joint's range from either limit. Speeds and accelerations stay below 60 %
# of their limits. If the description has no limits, the defaults are ±1 rad or ±0.3 m around home, 3 rad/s or 1 m/s,
# and 15 rad/s² or 5 m/s². A limit of 0 for speed or acceleration is treated as missing, because exporters write it as a
# placeholder. A joint whose position limits are equal does not move. Each joint has five frequencies between 0.1 and
# 0.7 Hz: low frequencies excite gravity torques, high frequencies excite inertial torques. No two joints
# have the same frequency, so that the joints never repeat a combination of positions. If the speed limit of a
# joint does not allow these frequencies, the frequencies of the joint are reduced first. Its amplitude is reduced only
# if lower frequencies are not enough. Collisions are not considered.


HARMONICS = 5  # Sines of each joint. Chosen on: rule of thumb.
# Hz; range of their frequencies. Chosen on: reasoning, low ones excite gravity torques, high ones inertial torques.
MIN_FREQUENCY, MAX_FREQUENCY = 0.1, 0.7
RANGE_MARGIN = 0.1  # Distance from either position limit, relative to the range of the joint. Chosen on: rule of thumb.
LIMIT_SHARE = 0.6  # Largest speed and acceleration, relative to their limits. Chosen on: rule of thumb.
# Limits of joints whose description has none: positions, speed and acceleration. Chosen on: rule of thumb.
DEFAULT_LIMITS = {JointKind.REVOLUTE: Limits(-1.0, 1.0, 3.0, 15.0), JointKind.PRISMATIC: Limits(-0.3, 0.3, 1.0, 5.0)}
# The window rises during a quarter of the duration, but for at most 3 s. Chosen on: rule of thumb.
RAMP_SHARE, MAX_RAMP_SECONDS = 0.25, 3.0
# Condition number of the loops' Jacobian, divided by its value at home, above which a motion is not used. Chosen on:
# rule of thumb.
MAX_CONDITION_RATIO = 10.0
# An unreachable motion is multiplied by this factor until it is reachable. Chosen on: rule of thumb.
SCALE_FACTOR = 0.8
# Smallest product of these factors; if the motion is still unreachable, an error is raised. Chosen on: rule of
# thumb.
MIN_SCALE = 1e-3
CHECK_INTERVAL = 0.02  # s; time between checks of limits and loops. Chosen on: rule of thumb.
MIN_CHECKS, MAX_CHECKS = 20, 5000  # Smallest and largest number of these checks. Chosen on: rule of thumb.


@dataclass(frozen=True, eq=False, repr=False)
class FourierReference:
    """A reference of windowed sines; before t = 0 and after t = ``seconds``, it stays at ``start``.

    Attributes
    ----------
    seconds      duration, s
    ramp         time during which the window rises, s
    start        position at rest, one per joint
    center       position around which each joint moves
    amplitudes   amplitudes of the sines, one row per harmonic
    frequencies  their angular frequencies, rad/s
    phases       their phases, rad
    scale        factor of the motion of each joint
    """

    seconds: float
    ramp: float
    start: PerJoint
    center: PerJoint
    amplitudes: Float[np.ndarray, "harmonics joints"]
    frequencies: Float[np.ndarray, "harmonics joints"]
    phases: Float[np.ndarray, "harmonics joints"]
    scale: PerJoint

    def __repr__(self) -> str:
        return f"FourierReference({self.seconds:g} s, {len(self.start)} joints)"

    def __call__(self, t: PerInstant | float) -> tuple[SampledMotion, SampledMotion, SampledMotion]:
        """Return q, qd and qdd, with one row for each time, or one number per joint if t is one number."""
        if not isinstance(t, np.ndarray) or not t.ndim:
            return evaluate_at_instant(self, t)
        inside = np.clip(t, 0.0, self.seconds)
        angle = inside[:, None, None] * self.frequencies + self.phases
        sin, cos, a, w = np.sin(angle), np.cos(angle), self.amplitudes, self.frequencies
        s, sd, sdd = (a * sin).sum(axis=1), (a * w * cos).sum(axis=1), -(a * w**2 * sin).sum(axis=1)
        s = s + (self.center - self.start)
        u, ud, udd = (column[:, None] for column in _evaluate_window(inside, self.seconds, self.ramp))
        q, qd, qdd = u * s, ud * s + u * sd, udd * s + 2.0 * ud * sd + u * sdd
        return self.start + self.scale * q, self.scale * qd, self.scale * qdd


def default_reference(
    robot: Robot, seconds: float, *, rng: int | np.random.Generator = 0, scale: float = 1.0
) -> FourierReference:
    """Return a reference of this duration (s).

    ``scale`` is a factor of the motion, at most 1. ``rng`` is a seed or a random generator; another one gives another
    motion.
    """
    check_is_robot(robot)
    refuse_floating_base(robot, "a reference trajectory")
    check_number("seconds", seconds, "a positive number of seconds, such as 10", allow=is_positive)
    check_number("scale", scale, "a number above 0, at most 1", allow=lambda value: 0.0 < value <= 1.0)
    rng = make_generator(rng)
    loops = build_constraint(robot)
    limits = robot.actuated_limits
    home = loops.home[list(loops.actuated)]
    lower, upper, speed, acceleration, reach = _find_allowed_motion(robot, limits, home)
    start = np.clip(home, lower, upper)
    reach = np.minimum(reach, 0.5 * (upper - lower))
    center = start if robot.loops else np.clip(start, lower + reach, upper - reach)
    if robot.loops:
        reach = np.minimum(reach, np.minimum(start - lower, upper - start))
    factors = _compute_frequency_factors(reach, speed, seconds)
    reference = _sample_harmonics(rng, seconds, start, center, reach, frequency_factors=factors)
    t = np.linspace(0.0, seconds, 2 + max(MIN_CHECKS, min(MAX_CHECKS, round(seconds / CHECK_INTERVAL))))
    _, qd, qdd = (np.abs(values).max(axis=0) for values in reference(t))
    allowed = np.minimum(speed / np.maximum(qd, 1e-300), acceleration / np.maximum(qdd, 1e-300))
    reference = replace(reference, scale=scale * np.minimum(1.0, allowed))
    if not (reference.scale * reach).any():
        raise InputError(
            f"no joint of robot {robot.name!r} can move: {_describe_limits(robot, limits)}; correct the joint limits "
            "in the description (lower and upper of <limit> in a URDF), or give a reference within them"
        )
    return _scale_to_reachable(loops, reference, t)


def _describe_limits(robot: Robot, limits: tuple[Limits, ...]) -> str:
    pairs = list(zip(robot.actuated, limits, strict=True))
    text = ", ".join(f"{name!r} has the limits {limit.lower:g} … {limit.upper:g}" for name, limit in pairs[:3])
    return f"{text}{f' and {len(pairs) - 3} more joints' if len(pairs) > 3 else ''}"


def _find_allowed_motion(robot: Robot, limits: tuple[Limits, ...], home: PerJoint) -> tuple[PerJoint, ...]:
    """Return the lowest and highest position, the largest speed and acceleration, and the reach of each coordinate."""
    defaults = [_choose_default_limits(robot, name) for name in robot.actuated]
    reach = np.array([default.upper for default in defaults])
    lower, upper = np.array([limit.lower for limit in limits]), np.array([limit.upper for limit in limits])
    finite = np.isfinite(lower) & np.isfinite(upper)
    ranges = np.where(finite, upper, 1.0) - np.where(finite, lower, 0.0)
    margin = np.where(finite, RANGE_MARGIN * ranges, RANGE_MARGIN * reach)
    lower, upper = lower + margin, upper - margin
    # If a limit is missing, the range extends by twice the default reach from home or from the other limit.
    lower = np.where(np.isfinite(lower), lower, np.minimum(home, upper) - 2.0 * reach)
    upper = np.where(np.isfinite(upper), upper, np.maximum(home, lower) + 2.0 * reach)

    def reduce_limits(quantity: str) -> PerJoint:
        pairs = [(getattr(a, quantity), getattr(b, quantity)) for a, b in zip(limits, defaults, strict=True)]
        return LIMIT_SHARE * np.array([limit if limit and np.isfinite(limit) else default for limit, default in pairs])

    return lower, upper, reduce_limits("velocity"), reduce_limits("acceleration"), reach


def _choose_default_limits(robot: Robot, coordinate: str) -> Limits:
    """Return the limits of a coordinate within which every joint that it moves stays within ``DEFAULT_LIMITS``."""
    factors = robot.coupling_map[0][:, robot.coordinates.index(coordinate)]
    pairs = zip(robot.movable, factors, strict=True)
    moved_joints = [(DEFAULT_LIMITS[joint.kind], abs(float(factor))) for joint, factor in pairs if factor]
    if not moved_joints:
        return DEFAULT_LIMITS[JointKind.REVOLUTE]
    upper, velocity, acceleration = (
        min(getattr(limits, quantity) / factor for limits, factor in moved_joints)
        for quantity in ("upper", "velocity", "acceleration")
    )
    return Limits(-upper, upper, velocity, acceleration)


def _compute_frequency_factors(reach: PerJoint, speed: PerJoint, seconds: float) -> PerJoint:
    """Return factors that reduce the frequencies of joints with low speed limits."""
    typical_speed = 2.0 * np.pi * 0.5 * (MIN_FREQUENCY + MAX_FREQUENCY) * reach
    min_factor = min(1.0, 1.0 / (MAX_FREQUENCY * seconds))  # so that the highest frequency completes one period
    return np.clip(speed / np.maximum(typical_speed, 1e-300), min_factor, 1.0)


def _sample_harmonics(
    rng: np.random.Generator,
    seconds: float,
    start: PerJoint,
    center: PerJoint,
    reach: PerJoint,
    *,
    frequency_factors: PerJoint,
) -> FourierReference:
    """Return a reference with random phases; each joint has a frequency in each of ``HARMONICS`` parts of the band."""
    shape = (HARMONICS, len(start))
    # Within a part, the joints are spaced by the golden ratio modulo 1, so that their frequencies never coincide.
    place = (0.618034 * np.arange(1, len(start) + 1) + rng.uniform(0.0, 0.1, shape)) % 1.0
    band = MAX_FREQUENCY - MIN_FREQUENCY
    w = 2.0 * np.pi * frequency_factors * (MIN_FREQUENCY + band * (np.arange(HARMONICS)[:, None] + place) / HARMONICS)
    phases = rng.uniform(0.0, 2.0 * np.pi, shape)
    weights = rng.uniform(0.5, 1.0, shape) * (w[0] / w) ** 0.5  # higher harmonics have slightly smaller amplitudes
    amplitudes = reach * weights / weights.sum(axis=0)
    ramp = min(RAMP_SHARE * seconds, MAX_RAMP_SECONDS)
    reference = FourierReference(seconds, ramp, start, center, amplitudes, w, phases, np.ones(len(start)))
    # The sines rarely reach their maxima at the same time: enlarge them until the maximum of their sum is ``reach``.
    t = np.linspace(0.0, seconds, 1000)
    farthest = np.abs((amplitudes * np.sin(t[:, None, None] * w + phases)).sum(axis=1)).max(axis=0)
    return replace(reference, amplitudes=amplitudes * reach / np.maximum(farthest * 1.02, 1e-300))


def _evaluate_window(t: np.ndarray, seconds: float, ramp: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the window and its first two derivatives; the window rises as 10 x³ - 15 x⁴ + 6 x⁵ and falls likewise."""
    rising = t <= 0.5 * seconds
    x = np.clip(np.where(rising, t, seconds - t) / ramp, 0.0, 1.0)
    sign = np.where(rising, 1.0, -1.0)
    value = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    return value, sign * 30.0 * x**2 * (1.0 - x) ** 2 / ramp, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / ramp**2


def _scale_to_reachable(loops: LoopConstraint, reference: FourierReference, t: np.ndarray) -> FourierReference:
    """Reduce the reference until, at all times t, loops close and passive joints stay within their limits."""
    if not loops.robot.loops and not loops.robot.couplings:
        return reference
    min_scale = MIN_SCALE * float(reference.scale.max())
    while float(reference.scale.max()) >= min_scale:
        if _is_reachable(loops, reference(t)[0]):
            return reference
        reference = replace(reference, scale=SCALE_FACTOR * reference.scale)
    raise ClosureError(
        f"robot {loops.robot.name!r} cannot move away from its home configuration: its loops do not close or are "
        "singular, or a passive joint is at its limit; choose another [home], or give a reference"
    )


def _is_reachable(loops: LoopConstraint, Q: InstantsByJoint) -> bool:
    """Return whether loops close on the branch of home, away from singular poses, and with all joints within limits."""
    solution, home = solve(loops, Q), solve(loops, loops.home[list(loops.actuated)][None])
    if not solution.determined.all() or solution.condition.max() > MAX_CONDITION_RATIO * home.condition[0]:
        return False
    for k, joint in enumerate(loops.robot.movable):
        lower, upper, q = joint.limits.lower, joint.limits.upper, solution.q[:, k]
        if lower <= home.q[0, k] <= upper and not (lower <= q.min() and q.max() <= upper):
            return False
    return True
