"""Closure of the loops of a robot: from actuated coordinates to a pose at which both sides of all cut joints meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType

import numpy as np

from ytheta.arguments import check_kind, check_number
from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.errors import ClosureError, InputError, UnknownNameError, suggest_names
from ytheta.robot.loops import equations
from ytheta.robot.loops.solver import MAX_STRIDE, continue_to
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Bool, Float, PerCoordinate, SamplesByCoordinate

# Largest number of strides between home and the goal, which allow sixteen turns. Chosen on: reasoning, no mechanism
# needs more.
MAX_STRIDES = 1000
# Largest position (rad or m) and gap; larger ones are mistakes, and too large for the solver. Chosen on: reasoning.
MAX_POSITION = 1e6
# Largest number of Newton's iterations if the loops cannot close, when it converges slowly. Chosen on: rule of thumb.
MAX_ITERATIONS_TO_SMALLEST_GAP = 200


@dataclass(frozen=True, repr=False)
class Closure:
    """The outcome of closing a robot's loops, with advice if the loops do not close.

    Attributes
    ----------
    coordinates  positions of all coordinates, by name
    q            joint positions
    loops        gap and position of each cut joint
    freedom      number of coordinates that the loops leave free at this pose
    determined   whether the actuated coordinates are ``freedom`` in number and determine all other coordinates
    reached      False if a loop opens on the way from home; the pose is then the last one with closed loops
    advice       "closed", or what to do
    tolerance    gap up to which a loop counts as closed
    closed       whether the pose was reached and all loops are closed
    """

    coordinates: dict[str, float]
    q: Float[np.ndarray, " joints"]
    loops: tuple[equations.LoopState, ...]
    freedom: int
    determined: bool
    reached: bool
    advice: str
    tolerance: float = CLOSURE_TOLERANCE

    @property
    def closed(self) -> bool:
        """Whether the pose was reached and all loops are closed."""
        return self.reached and all(loop.gap <= self.tolerance for loop in self.loops)

    def __repr__(self) -> str:
        loops = f"{len(self.loops)} loop{'' if len(self.loops) == 1 else 's'} {'closed' if self.closed else 'open'}"
        freedom = f"freedom {self.freedom}{'' if self.determined else ', not determined by the actuated coordinates'}"
        return f"Closure({loops}, {freedom})"

    def or_raise(self) -> Closure:
        """Return this outcome, or raise ClosureError with its advice."""
        if not self.closed or not self.determined:
            raise ClosureError(self.advice)
        return self


def close_loops(robot: Robot, actuated: Mapping[str, float] | None = None) -> Closure:
    """Close all loops at the home configuration, then move the actuated coordinates to the given values.

    The coordinates move in short strides, so that the mechanism keeps the assembly that it has at home.
    """
    check_is_robot(robot)
    form = 'a dictionary of positions by actuated coordinate, such as {"q1": 0.5}'
    check_kind("actuated", actuated, (Mapping, NoneType), form)
    robot = robot.numeric
    home = robot.home_coordinates
    goal = _make_goal(robot, dict(actuated or {}))
    _check_gaps_at_home(robot)
    prescribed = [k for k, name in enumerate(robot.coordinates) if name in robot.actuated]
    free = [k for k in range(len(home)) if k not in prescribed]
    x, closed = equations.close_near(robot, home[None], free, max_iterations=MAX_ITERATIONS_TO_SMALLEST_GAP)
    if not closed.all():
        return _assess_pose(robot, x[0], free, _explain_open_home(robot, x[0]))
    in_loops = equations.find_loop_coordinates(robot)
    driving = [k for k in prescribed if robot.coordinates[k] in in_loops]
    distance = np.abs(goal - home)[driving].max(initial=0.0)
    share = min(1.0, MAX_STRIDES * MAX_STRIDE / distance) if distance else 1.0
    target = goal.copy()
    target[driving] = (home + share * (goal - home))[driving]
    x, covered = continue_to(
        lambda trial, before: _close_on_branch(robot, trial, before, free),
        lambda trial: equations.compute_tangents(robot, trial, driving, free),
        x,
        target[None],
        driving,
        free,
    )
    if covered[0] < 1.0:
        return _assess_pose(robot, x[0], free, _explain_stop(robot, x[0], goal, free))
    if share < 1.0:
        raise InputError(
            "this pose is too far from [home], where the step-by-step closure of the loops starts; "
            f"stay within {MAX_STRIDES * MAX_STRIDE:g} metres or radians of it"
        )
    return _assess_pose(robot, x[0], free)


def _close_on_branch(
    robot: Robot, x: SamplesByCoordinate, before: SamplesByCoordinate, free: Sequence[int]
) -> tuple[SamplesByCoordinate, Bool[np.ndarray, " samples"]]:
    """Close samples that come from the poses ``before``. Return them, and whether each is closed and on its branch."""
    x, closed = equations.close_near(robot, x, free)
    return x, closed & equations.are_on_same_side(robot, before, x, free)


def _make_goal(robot: Robot, positions: dict[str, float]) -> PerCoordinate:
    """The home configuration, but with the named actuated coordinates at the given positions."""
    x = robot.home_coordinates.copy()
    for name, position in positions.items():
        if name not in robot.actuated:
            raise UnknownNameError(f"{name!r} is not an actuated coordinate{suggest_names(name, robot.actuated)}")
        form = f"a number in rad or m between {-MAX_POSITION:g} and {MAX_POSITION:g}"
        x[robot.coordinates.index(name)] = check_number(
            f"the position of {name!r}", position, form, allow=lambda number: abs(number) <= MAX_POSITION
        )
    for name, position in zip(robot.coordinates, x, strict=True):
        if not abs(position) <= MAX_POSITION:
            raise InputError(
                f"{name} = {position:g} is not a joint position; "
                f"give a value between {-MAX_POSITION:g} and {MAX_POSITION:g}"
            )
    return x


def _check_gaps_at_home(robot: Robot) -> None:
    """Raise ClosureError if the gaps at home are too large for floating-point arithmetic."""
    with np.errstate(all="ignore"):
        gap = np.abs(equations.compute_closure_residuals(robot, robot.home_coordinates)).max(initial=0.0)
    if not gap <= MAX_POSITION:
        raise ClosureError(
            f"the loops of robot {robot.name!r} have a gap of {gap:g} (metres or radians) at [home]; check its lengths"
        )


def _assess_pose(robot: Robot, x: PerCoordinate, free: list[int], failure: str = "") -> Closure:
    factors, offset = robot.coupling_map
    q = factors @ x + offset
    jacobian = equations.compute_closure_jacobian(robot, x)
    freedom = len(x) - equations.compute_rank(jacobian)
    determined = equations.compute_rank(jacobian[:, free]) == len(free) and freedom == len(robot.actuated)
    return Closure(
        coordinates=dict(zip(robot.coordinates, (float(value) for value in x), strict=True)),
        q=q,
        loops=equations.compute_loop_states(robot, q),
        freedom=freedom,
        determined=determined,
        reached=not failure,
        advice=failure or ("closed" if determined else _explain_choice(robot, freedom)),
        tolerance=robot.closure_tolerance,
    )


def _explain_open_home(robot: Robot, x: PerCoordinate) -> str:
    """Explain open loops at home: too many actuated coordinates, or lengths with which the loops cannot close.

    Too many coordinates are actuated if the loops close as soon as all coordinates are free.
    """
    released, closed = equations.close_near(robot, robot.home_coordinates[None], range(len(x)))
    freedom = len(x) - equations.compute_rank(equations.compute_closure_jacobian(robot, released[0]))
    if closed.all() and freedom < len(robot.actuated):
        return _explain_choice(robot, freedom)
    return _explain_gap(robot, x)


def _explain_gap(robot: Robot, x: PerCoordinate, limit: str = "") -> str:
    factors, offset = robot.coupling_map
    worst = max(equations.compute_loop_states(robot, factors @ x + offset), key=lambda state: state.gap)
    return (
        f"loop {worst.name!r} of robot {robot.name!r} cannot close at this pose: the sides of its cut joint stay "
        f"{worst.gap:.3g} (metres or radians) apart{limit}; change the pose, the [home] configuration, or the lengths"
    )


def _explain_stop(robot: Robot, last: PerCoordinate, goal: PerCoordinate, free: list[int]) -> str:
    """Explain why the motion from home stopped at the pose ``last``.

    Either the loops cannot close at the goal, or they close there only in another assembly.
    """
    start = goal.copy()
    start[free] = last[free]
    nearest, closed = equations.close_near(robot, start[None], free, max_iterations=MAX_ITERATIONS_TO_SMALLEST_GAP)
    moved = np.flatnonzero(goal != robot.home_coordinates)
    positions = ", ".join(f"{robot.coordinates[k]} = {last[k]:.4g}" for k in moved)
    if closed.all():
        return (
            f"the loops of robot {robot.name!r} close at this pose only in another assembly: from [home] they cannot "
            f"be moved beyond {positions}; change the pose, or the [home] configuration"
        )
    return _explain_gap(robot, nearest[0], f", and from [home] the robot cannot be moved beyond {positions}")


def _explain_choice(robot: Robot, freedom: int) -> str:
    """Explain why the actuated coordinates do not determine a pose: too many, too few, or unsuitable ones."""
    count, names = len(robot.actuated), ", ".join(robot.actuated) or "none"
    statement = f"the loops of robot {robot.name!r} leave {freedom} coordinate{'s' if freedom != 1 else ''} free, but"
    if count > freedom:
        return f"{statement} {count} are actuated; remove {count - freedom} of {names} from 'actuated'"
    return (
        f"{statement} the actuated ones ({names}) do not determine the rest; choose {freedom} of "
        f"{', '.join(robot.coordinates)} as 'actuated', or change this pose if it is singular"
    )
