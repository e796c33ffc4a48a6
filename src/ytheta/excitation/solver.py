"""The search: rounds of random starts, the best of which are polished, until rounds gain nothing more.

The amount of work is counted in starts and iterations, not in seconds, so that the same seed gives the same answer on
every machine and with any number of workers. A time limit, if the user gives one, only stops the search early; the
result says so, because it then depends on the speed of the machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.optimize import minimize

from ytheta.engine.engine import Engine, PickledByFields
from ytheta.errors import InputError
from ytheta.excitation import limit_check
from ytheta.excitation.constraints import Constraints, PathConstraint, SamplesByMargin
from ytheta.excitation.criteria import Criterion, Grams, compute_grams
from ytheta.excitation.trajectories import (
    ACCELERATION,
    POSITION,
    VELOCITY,
    RestToRest,
    SampledTrajectory,
    Trajectory,
    Unknowns,
)
from ytheta.shapes import Float, PerJoint, SamplesByJoint, Shaped


class Ending(StrEnum):
    """Why a search ended."""

    COMPLETE = "complete"
    STALLED = "no more gain"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Budget:
    """Largest amount of work: number of random starts, and number of the best of them that are polished."""

    starts: int
    polished: int

    def list_rounds(self) -> Iterator[Budget]:
        """Yield the starts and polished candidates at the end of each round."""
        rounds = math.ceil(self.starts / ROUND_STARTS)
        for k in range(1, rounds + 1):
            yield Budget(self.starts * k // rounds, max(1, self.polished * k // rounds))


@dataclass(frozen=True)
class Progress:
    """The state of a search: ``best`` is the smallest value of the criterion so far."""

    stage: str
    done: int
    total: int
    best: float
    seconds: float


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """The best candidates, best first; ``feasible`` of ``starts`` random starts ended within all limits."""

    candidates: tuple[Candidate, ...]
    ending: Ending
    starts: int
    feasible: int
    polished: int
    evaluations: int
    seconds: float


ProgressFunction = Callable[[Progress], None]


# Random starts of one round. Chosen on: rule of thumb.
ROUND_STARTS = 8
# Smallest gain of the criterion, a logarithm, in this number of rounds; below it, the search ends. Chosen on: rule of
# thumb.
MIN_GAIN, STALLED_ROUNDS = 0.01, 2
EXPLORATION_SHARE = 0.4  # Share of the remaining time for the starts of a round. Chosen on: rule of thumb.


class Clock:
    """Time since the beginning of all searches, and the time at which they stop.

    Deadlines are times of the system, since other processes must understand them; they are infinite without a limit.
    """

    def __init__(self, time_limit: float | None) -> None:
        self._begin = time.time()
        self.deadline = math.inf if time_limit is None else self._begin + time_limit

    @property
    def seconds(self) -> float:
        return time.time() - self._begin

    def keep(self, seconds: float) -> None:
        """Let the search stop earlier, so that this time is left for what follows it."""
        self.deadline -= seconds

    def set_deadline(self, share: float, until: float = math.inf) -> float:
        """Return the time at which this share of the time until a deadline has passed."""
        now, end = time.time(), min(self.deadline, until)
        return end if math.isinf(end) else now + share * max(end - now, 0.0)


def search(
    design: Design,
    budget: Budget,
    *,
    seed: int,
    engine: Engine,
    progress: ProgressFunction,
    clock: Clock,
    stage: str = "",
    deadline: float = math.inf,
) -> SearchOutcome:
    """Return the best trajectories found; after KeyboardInterrupt, the best found until then.

    ``deadline`` is the time at which the search ends, if it is before that of the clock.
    """
    begin, deadline = clock.seconds, min(deadline, clock.deadline)
    explored: list[Candidate] = []
    polished: list[Candidate] = []
    best: list[float] = []  # after each round
    done, ending = 0, Ending.COMPLETE
    name = f"{stage} " if stage else ""

    def report(kind: str, count: int, total: int) -> None:
        value = min((each.value for each in (*explored, *polished)), default=math.inf)
        progress(Progress(f"{name}{kind}", count, total, value, clock.seconds))

    try:
        for goal in budget.list_rounds():
            until = clock.set_deadline(EXPLORATION_SHARE, deadline)
            for candidate in engine.map_in_order(Exploration(design, seed, until), range(done, goal.starts)):
                done += 1
                if candidate is not None:
                    explored.append(candidate)
                report("starts", done, budget.starts)
                if time.time() > until:
                    break
            known = {each.start for each in polished}
            fresh = [each for each in sorted(explored, key=_rank) if each.start not in known]
            for refined in engine.map_in_order(Polish(design, deadline), fresh[: goal.polished - len(polished)]):
                polished.append(refined)
                report("polish", len(polished), budget.polished)
            if time.time() > deadline:
                ending = Ending.TIME_LIMIT
                break
            best.append(min((each.value for each in (*explored, *polished)), default=math.inf))
            if len(best) > STALLED_ROUNDS and not best[-1] < best[-1 - STALLED_ROUNDS] - MIN_GAIN:
                ending = Ending.STALLED if done < budget.starts else Ending.COMPLETE
                break
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
    candidates = tuple(sorted([*polished, *explored], key=_rank))
    evaluations = sum(each.evaluations for each in explored) + sum(each.evaluations for each in polished)
    seconds = clock.seconds - begin
    return SearchOutcome(candidates, ending, done, len(explored), len(polished), evaluations, seconds)


def _rank(candidate: Candidate) -> tuple[float, int]:
    return candidate.value, candidate.start


# Descent from one start: L-BFGS with rising sharpness and penalties, then the last shrink into the limits.


CORRECTIONS = 20  # Pairs of vectors from which L-BFGS estimates second derivatives. Chosen on: rule of thumb.


@dataclass(frozen=True)
class Stage:
    """One minimization: sharpness of the criterion, weight of the penalties, largest number of iterations."""

    sharpness: float
    penalty_weight: float
    iterations: int


# Sharpness, weight of the penalties and iterations of the stages after a random start, and of those that polish a
# candidate. Chosen on: rule of thumb.
EXPLORATION = (Stage(1.0, 10.0, 60), Stage(4.0, 30.0, 60))
POLISH = (Stage(4.0, 100.0, 200), Stage(16.0, 300.0, 200), Stage(64.0, 1000.0, 200), Stage(128.0, 3000.0, 300))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A trajectory that keeps all limits.

    Attributes
    ----------
    start        number of the random start from which it came
    x            its unknowns
    before       unknowns before the last shrink, from which a further descent starts
    value        exact value of the criterion
    factor       smallest factor of the last shrink
    evaluations  number of evaluations of the objective so far
    """

    start: int
    x: Unknowns
    before: Unknowns
    value: float
    factor: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class Exploration(PickledByFields):
    """Random start, then a short descent. Called with the number of the start; equal numbers give equal results."""

    design: Design
    seed: int
    deadline: float = math.inf
    stages: tuple[Stage, ...] = EXPLORATION

    def __call__(self, start: int) -> Candidate | None:
        first = self.draw(start)
        return None if first is None else descend(self.design, first, self.stages, self.deadline)

    def draw(self, start: int) -> Candidate | None:
        """Return a random trajectory that keeps all limits; None if the shrink finds none."""
        return _make_candidate(self.design, start, self.draw_unknowns(start), 0)

    def draw_unknowns(self, start: int) -> Unknowns:
        """Return random unknowns, whose trajectory may exceed limits."""
        return np.random.default_rng([self.seed, start]).normal(size=self.design.shape)


@dataclass(frozen=True, eq=False)
class Polish(PickledByFields):
    """A long descent from a candidate."""

    design: Design
    deadline: float = math.inf
    stages: tuple[Stage, ...] = POLISH

    def __call__(self, candidate: Candidate) -> Candidate:
        return descend(self.design, candidate, self.stages, self.deadline)


def descend(design: Design, candidate: Candidate, stages: Sequence[Stage], deadline: float = math.inf) -> Candidate:
    """Return a better candidate, or the same one if the descent, until the deadline, does not improve the criterion."""
    x, evaluations = candidate.before.ravel(), candidate.evaluations

    def stop_late(xk: np.ndarray) -> None:  # noqa: ARG001  # the name by which SciPy knows it
        if time.time() > deadline:
            raise StopIteration

    if time.time() > deadline:
        return candidate
    for stage in stages:
        if time.time() > deadline:
            break
        result = minimize(
            design.evaluate,
            x,
            args=(stage.sharpness, stage.penalty_weight),
            jac=True,
            method="L-BFGS-B",
            callback=stop_late,
            options={"maxiter": stage.iterations, "maxcor": CORRECTIONS},
        )
        x, evaluations = result.x, evaluations + int(result.nfev)
    improved = _make_candidate(design, candidate.start, x.reshape(design.shape), evaluations)
    if improved is None or not improved.value <= candidate.value:
        return Candidate(candidate.start, candidate.x, candidate.before, candidate.value, candidate.factor, evaluations)
    return improved


def _make_candidate(design: Design, start: int, x: Unknowns, evaluations: int) -> Candidate | None:
    shrunk = shrink(design.space, x, design.constraints)
    if shrunk is None:
        return None
    # A random start is continued from within the limits, an optimized one from where the penalties left it.
    before = x if evaluations else shrunk.x
    return Candidate(start, shrunk.x, before, design.measure(shrunk.x), shrunk.factor, evaluations)


# The objective of a design: criterion plus penalties, as a function of the unknowns, with exact derivatives.


# Value of a motion along which loops do not close. Chosen on: reasoning, far above that of any other motion, since
# values are logarithms.
UNREACHABLE = 1e3


@dataclass(frozen=True, eq=False)
class Design(PickledByFields):
    """What is designed: trajectories of a space, by a criterion, within constraints."""

    space: RestToRest
    constraints: Constraints
    criterion: Criterion

    @property
    def shape(self) -> tuple[int, int]:
        return self.space.unknowns, len(self.space.joints)

    def evaluate(
        self, flat: Float[np.ndarray, " _"], sharpness: float, penalty_weight: float
    ) -> tuple[float, Float[np.ndarray, " _"]]:
        """Return the objective and its gradient for the unknowns as one vector."""
        motion = self.space.move(flat.reshape(self.shape))
        kernels = self.constraints.kernels
        x = kernels.close(motion[POSITION])
        if x is None:
            return UNREACHABLE, np.zeros_like(flat)
        qd, qdd = motion[VELOCITY], motion[ACCELERATION]
        Y = kernels.compute_regressor(x, qd, qdd)
        value, sensitivities = self.criterion.evaluate(compute_grams(Y), sharpness)
        slopes = np.matmul(Y.transpose(1, 0, 2), sensitivities).transpose(1, 0, 2) * (2.0 / len(Y))
        penalty, gradient = self.constraints.penalize(motion, x)
        gradient *= penalty_weight
        gradient[:3] += kernels.pull_back_regressor(x, qd, qdd, slopes).transpose(1, 0, 2)
        return value + penalty_weight * penalty, self.space.pull_back(gradient).ravel()

    def measure(self, x: Unknowns) -> float:
        """Return the exact value of the criterion, without penalties."""
        return self.criterion.measure(self.compute_grams(self.space.build(x)))

    def compute_grams(self, trajectory: Trajectory) -> Grams:
        """Return the Gram matrices of one period of a trajectory, at the samples of the design."""
        return sample_grams(self.constraints, trajectory, self.space.points)


def sample_grams(constraints: Constraints, trajectory: Trajectory, points: int) -> Grams:
    """Return the Gram matrices of one period of a trajectory, from ``points`` samples."""
    motion = trajectory.sample_period(points)
    x = constraints.kernels.close(motion.q)
    if x is None:
        count = len(constraints.kernels.base)
        return np.zeros((len(trajectory.joints), count, count))
    return compute_grams(constraints.kernels.compute_regressor(x, motion.qd, motion.qdd))


# The exact last step into the limits: amplitudes are reduced about a pose that keeps all limits at rest.
#
# Limits of position, velocity, acceleration and jerk hold joint by joint, and a motion is proportional to its
# amplitude: the largest factor of each joint follows in closed form. Torques and path constraints need a common factor,
# which is reduced until the check between samples finds no violation.


# Factors that are tried for torques and margins: 1, 0.9975 …, then each 0.85 times the one before. Chosen on: rule
# of thumb.
FINE_STEP, COARSE_RATIO, FINE_STEPS = 0.0025, 0.85, 20
FEW = 5  # Every fifth sample is looked at first, since most factors that are too large fail there; affects only time.
MIN_FACTOR = 1e-4  # Smallest factor; smaller motion is useless, and the start is given up. Chosen on: rule of thumb.
# Share of a limit that a shrunk joint may use; the rest is for rounding. Chosen on: reasoning, like the excess that
# the check counts as rounding.
SHARE_KEPT = 1.0 - 1e-9


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
    t = np.arange(limit_check.CHECK_POINTS) * (space.basis.period / limit_check.CHECK_POINTS)
    coefficients = space.null_space @ (x * space.scale)
    slack = (space.basis.period / limit_check.CHECK_POINTS) ** 2 / 8.0
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
    motion = trajectory.sample_period(limit_check.CHECK_POINTS)
    x = constraints.kernels.close(motion.q)
    if x is None or not _keeps_passive_limits(motion, constraints, x):
        return False
    torques = constraints.compute_torques(x, motion.qd, motion.qdd)
    if (abs(torques).max(axis=(0, 1)) + limit_check.bound_torque_between(torques) > constraints.bounds.effort).any():
        return False
    few = constraints.kernels.compute_joint_positions(x[::FEW])
    return all(limit_check.keeps_path(trajectory, constraints, path, few) for path in constraints.paths)


def _keeps_passive_limits(motion: SampledTrajectory, constraints: Constraints, x: np.ndarray) -> bool:
    """Return whether joints that loops or couplings move stay within their limits."""
    for joint, q, velocity, acceleration in limit_check.find_passive_motion(motion, constraints, x):
        limits = joint.limits
        pairs = ((velocity, limits.velocity), (acceleration, limits.acceleration))
        if (q < limits.lower).any() or (q > limits.upper).any():
            return False
        if any(largest and abs(values).max() > largest for values, largest in pairs):
            return False
    mimic_torques = limit_check.find_mimic_torques(motion, constraints, x).values()
    return all(torque.max() <= limit for torque, limit in mimic_torques)


def _divide(limit: np.ndarray, value: np.ndarray) -> np.ndarray:
    return np.where(value > limit * MIN_FACTOR, limit / np.where(value > 0.0, value, 1.0), np.inf)


# The pose about which trajectories shrink: it must keep all limits at rest.


# Poses that are tried if the middle of the ranges does not keep all limits; if none does, the limits are refused.
# Chosen on: rule of thumb.
RANDOM_POSES = 2000
WANTED_CENTER_MARGIN = 0.005  # m; wanted distance of the center from path constraints. Chosen on: rule of thumb.

Holds = Shaped[np.ndarray, "samples"]


def find_center(constraints: Constraints, rng: np.random.Generator) -> PerJoint:
    """Return the middle of the ranges, home, or a random pose, whichever keeps all limits first and is far from them.

    Raise an InputError that names the contradicting limits if there is no such pose.
    """
    bounds, robot = constraints.bounds, constraints.kernels.robot
    home = constraints.kernels.home
    first = [home, bounds.middle] if robot.loops else [bounds.middle, home]
    poses = np.concatenate([first, rng.uniform(bounds.lower, bounds.upper, (RANDOM_POSES, len(bounds.joints)))])
    for some in (poses[: len(first)], poses):  # nearly always, one of the first poses keeps all limits
        holds = _check_rest(constraints, some)
        room = np.where(np.all(list(holds.values()), axis=0), _measure_room(constraints, some), -np.inf)
        best = int(room.argmax())  # the first one that is far enough from all path constraints
        if room[best] >= WANTED_CENTER_MARGIN or (len(some) == len(poses) and room[best] > 0.0):
            return some[best]
    worst = sorted(holds.items(), key=lambda pair: int(np.count_nonzero(pair[1])))
    text = "; ".join(f"{name}: {np.count_nonzero(each)} of {len(poses)} poses" for name, each in worst[:4])
    raise InputError(
        f"the limits of robot {robot.name!r} contradict each other: no pose keeps all of them at rest. Kept alone are "
        f"{text}; relax the first of these, or give a start pose. If the floor is among them, give its height, or say "
        "that there is none, with the option floor"
    )


def check_start(constraints: Constraints, start: PerJoint) -> None:
    """Raise an InputError if the start pose does not keep all limits at rest, with the names of these limits."""
    broken = [name for name, holds in _check_rest(constraints, start[None]).items() if not holds[0]]
    if broken:
        pose = ", ".join(f"{n} = {v:.4g}" for n, v in zip(constraints.bounds.joints, start, strict=True))
        raise InputError(
            f"the start pose ({pose}) does not keep {', '.join(broken)}; choose another start pose, or leave it out"
        )


def _check_rest(constraints: Constraints, q: SamplesByJoint) -> dict[str, Holds]:
    """Return for every limit, by its name, whether each pose keeps it at rest."""
    bounds, kernels = constraints.bounds, constraints.kernels
    inside = (q > bounds.lower) & (q < bounds.upper)
    holds = {f"position of {name}": inside[:, k] for k, name in enumerate(bounds.joints)}
    if kernels.robot.loops:
        holds["closure of the loops"] = np.array([kernels.close(row[None]) is not None for row in q])
    torques = _hold_torque(constraints, q) < bounds.effort
    holds |= {f"torque of {name}": torques[:, k] for k, name in enumerate(bounds.joints)}
    for path in constraints.paths:
        margins = _find_margins(constraints, path, q)
        holds |= {f"clearance {name}": margins[:, k] > 0.0 for k, name in enumerate(path.names)}
    return holds


def _measure_room(constraints: Constraints, q: SamplesByJoint) -> Float[np.ndarray, " samples"]:
    """Return the smallest margin of each pose, m; margins above the wanted one count the same."""
    rooms = [_find_margins(constraints, path, q).min(axis=1) for path in constraints.paths]
    return np.min([np.full(len(q), WANTED_CENTER_MARGIN), *rooms], axis=0)


def _find_margins(constraints: Constraints, path: PathConstraint, q: SamplesByJoint) -> SamplesByMargin:
    """Return the margins of poses; minus infinity where loops do not close."""
    kernels = constraints.kernels
    margins = np.full((len(q), len(path.names)), -np.inf)
    poses = [kernels.close(row[None]) for row in q] if kernels.robot.loops else []
    if not kernels.robot.loops:
        return path.compute_margins(kernels.compute_joint_positions(np.ascontiguousarray(q)))
    for k, x in enumerate(poses):
        if x is not None:
            margins[k] = path.compute_margins(kernels.compute_joint_positions(x))[0]
    return margins


def _hold_torque(constraints: Constraints, q: SamplesByJoint) -> SamplesByJoint:
    """Return the absolute torques at rest; infinite where loops do not close."""
    kernels, rest = constraints.kernels, np.zeros((1, q.shape[1]))
    if not kernels.robot.loops:
        return abs(constraints.compute_torques(np.ascontiguousarray(q), np.zeros_like(q), np.zeros_like(q))).max(axis=0)
    torque = np.full(q.shape, np.inf)
    for k, row in enumerate(q):
        x = kernels.close(row[None])
        if x is not None:
            torque[k] = abs(constraints.compute_torques(x, rest, rest)).max(axis=0)[0]
    return torque
