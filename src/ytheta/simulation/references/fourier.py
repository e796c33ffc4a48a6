"""The reference of a robot nobody gave one for: every joint wanders around, within its limits, and comes back to rest.

Identity      q(t) = start + size window(t) (middle - start + reach sum_k a_k sin(w_k t + phi_k)),  sum |a_k| = 1
Accepts       every robot; with loops, motion that closes them, away from singular poses
Notation      code      meaning                                                                  shape
              start     home, or the pose nearest to it that is well within the limits           joints
              middle    around which a joint moves                                               joints
              reach     how far it goes from there                                               joints
              window    rises from 0 to 1, stays, and falls again; its ends are at rest          instants

Where the numbers come from. Positions keep a tenth of a joint's range away from either end, speeds and accelerations at
60 % of their limits. A description that is silent means ±1 rad or ±0.3 m around home, 3 rad/s or 1 m/s, and 15 rad/s²
or 5 m/s², and so does a limit of 0 for speed or acceleration, a placeholder of exporters; a joint whose limits of
position are equal stays there. Five frequencies a joint, between 0.1 and 0.7 Hz: slow ones show weights, fast ones
inertias, and no two joints share one, so that what the joints do is never the same combination twice. A joint whose
speed limit does not allow that moves more slowly first, and less far only then. Collisions are nobody's concern here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ytheta.dynamics.loops.closing import constraint
from ytheta.dynamics.loops.constraint import Constraint
from ytheta.dynamics.loops.loops import solve
from ytheta.errors import ClosureError, InputError
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint
from ytheta.simulation.references.reference import Columns

HARMONICS = 5
SLOWEST, FASTEST = 0.1, 0.7  # Hz
MARGIN = 0.1  # of a joint's range, at either end
SHARE = 0.6  # of the limits of speed and acceleration
USUAL = {True: Limits(-1.0, 1.0, 3.0, 15.0), False: Limits(-0.3, 0.3, 1.0, 5.0)}  # turning (rad) and sliding (m)
RAMP, LONGEST_RAMP = 0.25, 3.0  # of the time, and seconds, in which the window rises
SINGULAR = 10.0  # times the condition number at home: nearer to a singular pose it does not go
SHRINK = 0.8
SMALLEST = 1e-3
CHECKED, MOST = 0.02, 5000  # s between the instants at which limits and loops are looked at; how many at most


@dataclass(frozen=True, eq=False)
class FourierReference:
    """A course; before 0 it stands at its start, after ``seconds`` at its end, which is the same pose."""

    seconds: float
    ramp: float
    start: PerJoint
    middle: PerJoint
    amplitudes: Float[np.ndarray, "harmonics joints"]
    frequencies: Float[np.ndarray, "harmonics joints"]
    phases: Float[np.ndarray, "harmonics joints"]
    size: PerJoint

    def __call__(self, t: Float[np.ndarray, "instants"]) -> tuple[Columns, Columns, Columns]:
        """q, qd and qdd at any instants."""
        inside = np.clip(t, 0.0, self.seconds)
        angle = inside[:, None, None] * self.frequencies + self.phases
        sin, cos, a, w = np.sin(angle), np.cos(angle), self.amplitudes, self.frequencies
        s, sd, sdd = (a * sin).sum(axis=1), (a * w * cos).sum(axis=1), -(a * w**2 * sin).sum(axis=1)
        s = s + (self.middle - self.start)
        u, ud, udd = (column[:, None] for column in _window(inside, self.seconds, self.ramp))
        q, qd, qdd = u * s, ud * s + u * sd, udd * s + 2.0 * ud * sd + u * sdd
        return self.start + self.size * q, self.size * qd, self.size * qdd


def default_reference(robot: Robot, seconds: float, *, rng: np.random.Generator | None = None, size: float = 1.0) -> FourierReference:
    """Motion for so many seconds; ``size`` is the part of it that is made, ``rng`` gives another one each time."""
    if not (seconds > 0.0 and np.isfinite(seconds)):
        raise InputError(f"a reference of {seconds} s; give a positive number of seconds, such as 10")
    if not 0.0 < size <= 1.0:
        raise InputError(f"a reference of size {size}; give a number between 0 and 1, of what the limits allow")
    loops = constraint(robot)
    limits = robot.actuated_limits
    home = loops.home[list(loops.actuated)]
    lower, upper, speed, acceleration, reach = _room(robot, limits, home)
    start = np.clip(home, lower, upper)
    reach = np.minimum(reach, 0.5 * (upper - lower))
    middle = start if robot.loops else np.clip(start, lower + reach, upper - reach)
    if robot.loops:
        reach = np.minimum(reach, np.minimum(start - lower, upper - start))
    rng = np.random.default_rng(0) if rng is None else rng
    course = _drawn(rng, seconds, start, middle, reach, slowness=_slowness(reach, speed, seconds))
    t = np.linspace(0.0, seconds, 2 + min(MOST, round(seconds / CHECKED)))
    _, qd, qdd = (np.abs(values).max(axis=0) for values in course(t))
    allowed = np.minimum(speed / np.maximum(qd, 1e-300), acceleration / np.maximum(qdd, 1e-300))
    course = replace(course, size=size * np.minimum(1.0, allowed))
    if not (course.size * reach).any():
        raise InputError(
            f"no joint of robot {robot.name!r} can move: {_ranges(robot, limits)}; correct the limits of its joints in "
            "the description (lower and upper of <limit> in a URDF) or, where they leave room, give a reference"
        )
    return _closing(loops, course, t)


def _ranges(robot: Robot, limits: tuple[Limits, ...]) -> str:
    named = list(zip(robot.actuated, limits, strict=True))
    shown = ", ".join(f"{name!r} has the limits {own.lower:g} … {own.upper:g}" for name, own in named[:3])
    return f"{shown}{f' and {len(named) - 3} more' if len(named) > 3 else ''}"


def _room(robot: Robot, limits: tuple[Limits, ...], home: PerJoint) -> tuple[PerJoint, ...]:
    """Of every actuated coordinate: least and greatest position, speed, acceleration, and how far it goes."""
    usual = [_usual(robot, name) for name in robot.actuated]
    reach = np.array([own.upper for own in usual])
    lower, upper = np.array([own.lower for own in limits]), np.array([own.upper for own in limits])
    finite = np.isfinite(lower) & np.isfinite(upper)
    margin = np.where(finite, MARGIN * (np.where(finite, upper, 1.0) - np.where(finite, lower, 0.0)), MARGIN * reach)
    lower, upper = lower + margin, upper - margin
    # A range open at one end reaches as far as it would without limits, from home or from its one end.
    lower = np.where(np.isfinite(lower), lower, np.minimum(home, upper) - 2.0 * reach)
    upper = np.where(np.isfinite(upper), upper, np.maximum(home, lower) + 2.0 * reach)

    def share(which: str) -> PerJoint:
        pairs = [(getattr(own, which), getattr(other, which)) for own, other in zip(limits, usual, strict=True)]
        return SHARE * np.array([own if own and np.isfinite(own) else other for own, other in pairs])

    return lower, upper, share("velocity"), share("acceleration"), reach


def _usual(robot: Robot, coordinate: str) -> Limits:
    """Of a coordinate whose limits nobody gave: such that no joint it moves goes farther than one would by itself."""
    factors = robot.coupling_map[0][:, robot.coordinates.index(coordinate)]
    turns = [joint.kind is JointKind.REVOLUTE for joint in robot.movable]
    moved = [(USUAL[turn], abs(float(f))) for turn, f in zip(turns, factors, strict=True) if f]
    if not moved:
        return USUAL[True]
    own = {name: min(getattr(u, name) / f for u, f in moved) for name in ("upper", "velocity", "acceleration")}
    return Limits(-own["upper"], own["upper"], own["velocity"], own["acceleration"])


def _slowness(reach: PerJoint, speed: PerJoint, seconds: float) -> PerJoint:
    """What frequencies are multiplied with so that speeds stay within limits; not so slow that nothing moves."""
    typical = 2.0 * np.pi * 0.5 * (SLOWEST + FASTEST) * reach
    least = min(1.0, 1.0 / (FASTEST * seconds))  # one period of the fastest in all the time
    return np.clip(speed / np.maximum(typical, 1e-300), least, 1.0)


def _drawn(
    rng: np.random.Generator, seconds: float, start: PerJoint, middle: PerJoint, reach: PerJoint, *, slowness: PerJoint
) -> FourierReference:
    """Frequencies spread evenly over the band, one in each part of it, and phases anywhere."""
    shape = (HARMONICS, len(start))
    # The places of the joints within the parts are multiples of the golden section: never twice the same.
    place = (0.618034 * np.arange(1, len(start) + 1) + rng.uniform(0.0, 0.1, shape)) % 1.0
    w = 2.0 * np.pi * slowness * (SLOWEST + (FASTEST - SLOWEST) * (np.arange(HARMONICS)[:, None] + place) / HARMONICS)
    phases = rng.uniform(0.0, 2.0 * np.pi, shape)
    weights = rng.uniform(0.5, 1.0, shape) * (w[0] / w) ** 0.5  # fast ones a little smaller
    amplitudes = reach * weights / weights.sum(axis=0)
    course = FourierReference(
        seconds, min(RAMP * seconds, LONGEST_RAMP), start, middle, amplitudes, w, phases, np.ones(len(start))
    )
    # Sines seldom add up: use the room there is, but no more of it.
    t = np.linspace(0.0, seconds, 1000)
    away = np.abs((amplitudes * np.sin(t[:, None, None] * w + phases)).sum(axis=1)).max(axis=0)
    return replace(course, amplitudes=amplitudes * reach / np.maximum(away * 1.02, 1e-300))


def _window(t: np.ndarray, seconds: float, ramp: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """10 x³ - 15 x⁴ + 6 x⁵ up and down, with its derivatives."""
    rising = t <= 0.5 * seconds
    x = np.clip(np.where(rising, t, seconds - t) / ramp, 0.0, 1.0)
    sense = np.where(rising, 1.0, -1.0)
    value = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    return value, sense * 30.0 * x**2 * (1.0 - x) ** 2 / ramp, 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / ramp**2


def _closing(loops: Constraint, course: FourierReference, t: np.ndarray) -> FourierReference:
    """The course, made smaller until what follows from the actuated coordinates is well within bounds all the way."""
    if not loops.robot.loops and not loops.robot.couplings:
        return course
    while float(course.size.max()) >= SMALLEST:
        if _reachable(loops, course(t)[0]):
            return course
        course = replace(course, size=SHRINK * course.size)
    raise ClosureError(
        f"robot {loops.robot.name!r} can hardly leave its home: its loops do not close, are singular, or a joint that "
        "follows others is at its limit, wherever it goes; choose another [home], or give a reference"
    )


def _reachable(loops: Constraint, Q: Columns) -> bool:
    """Loops close on the branch of home, away from singular poses, and joints that follow stay within limits."""
    found, home = solve(loops, Q), solve(loops, loops.home[list(loops.actuated)][None])
    if not found.determined.all() or found.condition.max() > SINGULAR * home.condition[0]:
        return False
    for k, joint in enumerate(loops.robot.movable):
        at_home = joint.limits.lower <= home.q[0, k] <= joint.limits.upper
        if at_home and not (joint.limits.lower <= found.q[:, k].min() and found.q[:, k].max() <= joint.limits.upper):
            return False
    return True
