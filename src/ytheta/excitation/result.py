"""The result of a design: a trajectory, what it will reveal, and the limits that it keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from ytheta.display import Reported
from ytheta.errors import ClosureError
from ytheta.excitation.clearance.link_capsules import UNCHECKED
from ytheta.excitation.clearance.obstacle_clearance import CONSTANT
from ytheta.excitation.clearance.self_collision import BY_DESIGN
from ytheta.excitation.constraints import RobotKernels
from ytheta.excitation.criteria import scale_columns
from ytheta.excitation.joint_bounds import JointBounds
from ytheta.excitation.limit_check import LimitUse, list_violations
from ytheta.excitation.solver import Ending, SearchOutcome
from ytheta.excitation.surroundings import FLOOR
from ytheta.excitation.trajectories import SampledTrajectory, Trajectory
from ytheta.excitation.trajectory_files import save_trajectory
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Float, InstantsByJoint, PerBase, PerJoint, SamplesByJoint, freeze

FIRST_RUN_SPEED = 0.25  # Share of the speed at which a motion should be run first. Chosen on: rule of thumb.
# Condition number with columns scaled to length one, above which parameters are collinear and a design is poor. Chosen
# on: Belsley, Kuh and Welsch (1980), Regression Diagnostics, who find harmful collinearity above 30.
MAX_SCALED_CONDITION = 30.0


class DesignGrade(StrEnum):
    """What a motion is worth: it reveals the parameters and was checked in all respects, or what it lacks."""

    GOOD = "good"
    UNCHECKED = "not all checked"
    POOR = "poor"
    UNSAFE = "limits exceeded"


@dataclass(frozen=True)
class SlowedCondition:
    """Condition numbers of W_b if the same path is passed at a share of the speed, and torque limits exceeded then."""

    speed: float
    condition_number: float
    scaled_condition_number: float
    violations: tuple[LimitUse, ...] = ()


@dataclass(frozen=True)
class SearchStatistics:
    """The work of a search.

    Attributes
    ----------
    starts         random starts
    feasible       starts that ended within all limits
    polished       candidates that were polished
    evaluations    evaluations of the objective and its gradient
    seconds        duration
    ending         whether the search is complete; otherwise the result depends on the speed of the machine
    first_seconds  time until the first trajectory within all limits
    """

    starts: int
    feasible: int
    polished: int
    evaluations: int
    seconds: float
    ending: Ending
    first_seconds: float


@dataclass(frozen=True)
class DesignRecord:
    """How a trajectory was designed: the criterion that was minimized, its value, and the work of the search."""

    criterion: str
    value: float
    statistics: SearchStatistics


@dataclass(frozen=True)
class ReferenceDeviations:
    """Expected standard deviations relative to those of a D-optimal trajectory within the same limits.

    ``mean`` compares geometric means, ``worst`` compares the largest ones.
    """

    mean: float
    worst: float


@dataclass(frozen=True, eq=False, repr=False)
class Excitation(Reported):
    """A trajectory that reveals the parameters of a robot.

    Attributes
    ----------
    robot                    the robot; with a payload design, the robot with its load
    base                     the parameters that the motion reveals
    trajectory               the motion
    slow                     how many times as slowly as in its file the path is passed; 1 for a design
    condition_number         of W_b, columns in SI units, rows not weighted
    scaled_condition_number  of W_b with columns scaled to length one
    std                      expected standard deviations of the base parameters
    std_before               those of earlier logs or models alone; None without them
    noise                    assumed standard deviations of the torque noise, Nm or N, in each sample
    rate                     samples per second with independent noise
    relative_to_d_optimal    expected standard deviations relative to D-optimality; None if it was not computed
    judged_condition_number  scaled condition number of the motion together with earlier measurements, if there are any
    slowed                   how the condition numbers grow if the motion is slowed
    bounds                   limits that were kept, reduced by ``bounds.margins``
    uses                     how far the motion uses each limit, with the bounds between samples
    violations               the limits that are exceeded; empty if none is
    unchecked                what was not checked, such as "a floor"
    grade                    good, not all checked, poor (a condition number above 30), or limits exceeded
    first_run                the same path at a quarter of the speed, for the first run; None if that exceeds a limit
    design                   criterion and work of the search; None if the trajectory was assessed, not designed
    findings                 notes and warnings
    """

    robot: Robot
    base: BaseParameters
    trajectory: Trajectory
    slow: float
    condition_number: float
    scaled_condition_number: float
    std: PerBase
    std_before: PerBase | None
    noise: PerJoint
    rate: float
    relative_to_d_optimal: ReferenceDeviations | None
    judged_condition_number: float
    slowed: tuple[SlowedCondition, ...]
    bounds: JointBounds
    uses: tuple[LimitUse, ...]
    design: DesignRecord | None
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        freeze(self.std)
        freeze(self.noise)

    def save(self, path: str | Path, *, rate: float = 100.0) -> Path:
        """Write the trajectory: .csv, .parquet, .npz, .toml, .yaml or .mcap; see ``save_trajectory``."""
        return save_trajectory(self.trajectory, path, rate=rate)

    @property
    def violations(self) -> tuple[LimitUse, ...]:
        return list_violations(self.uses)

    @property
    def unchecked(self) -> tuple[str, ...]:
        whats = (str(finding.fields["what"]) for finding in self.findings if finding.code == UNCHECKED)
        return tuple(dict.fromkeys(whats))

    @property
    def is_poor(self) -> bool:
        """Whether the motion does not tell some combinations of parameters apart."""
        return not self.judged_condition_number <= MAX_SCALED_CONDITION

    @property
    def grade(self) -> DesignGrade:
        if self.violations:
            return DesignGrade.UNSAFE
        if self.is_poor:
            return DesignGrade.POOR
        return DesignGrade.UNCHECKED if self.unchecked else DesignGrade.GOOD

    @property
    def first_run(self) -> Trajectory | None:
        slowest = self.slowed[-1]
        return None if self.violations or slowest.violations else self.trajectory.slow_down(1.0 / slowest.speed)

    @property
    def seconds(self) -> float:
        """Duration of the motion, s."""
        return self.trajectory.seconds

    @property
    def columns(self) -> str:
        """What the condition numbers belong to: number and kind of the columns of W_b, and the speed."""
        drive = [name for name in self.base.independent if name.rpartition(".")[2] in ("fv", "fc", "fo", "fs", "fl")]
        friction = f"{len(drive)} of them friction" if drive else "no friction"
        speed = "full speed" if self.slow == 1.0 else f"{100.0 / self.slow:.4g} % of the speed of the file"
        return f"{len(self.base)} base parameters, {friction}, unweighted rows, {speed}"

    @property
    def relative_std_percent(self) -> PerBase:
        """Expected standard deviations relative to the values of the description, in percent."""
        size = abs(self.base.beta)
        return np.asarray(100.0 * self.std / np.where(size > 0.0, size, np.finfo(float).tiny))

    def __repr__(self) -> str:
        return (
            f"Excitation({self.robot.name!r}, {self.seconds:g} s, condition number {self.condition_number:.4g}, "
            f"scaled {self.scaled_condition_number:.4g}, {len(self.violations)} violations)"
        )


# Findings about a design: what was assumed, how the motion degrades when slowed, what is weak, what is violated.


MAX_NAMED = 5  # affects only the length of a message
# Smallest component of a direction without information, relative to its largest one; parameters with smaller ones
# are not named. Chosen on: rule of thumb.
MIN_COMPONENT = 0.1


class DesignFindingCode(StrEnum):
    """The kind of a finding about a design."""

    ASSUMED_NOISE = "assumed noise"
    SLOWED = "slowed motion"
    FIRST_RUN = "first run"
    POOR = "poor design"
    STOPPED = "stopped early"
    INFEASIBLE_STARTS = "infeasible starts"
    WEAK = "weak parameters"
    UNSEEN = "unseen parameters"
    VIOLATION = "violation"


# Findings that the tables and the page state in other words.
IN_TABLES = (
    DesignFindingCode.ASSUMED_NOISE,
    DesignFindingCode.SLOWED,
    DesignFindingCode.POOR,
    DesignFindingCode.VIOLATION,
    UNCHECKED,
    FLOOR,
    CONSTANT,
    BY_DESIGN,
)


def describe_assumed_noise(noise: PerJoint, rate: float, *, is_assumed: bool) -> Iterator[Finding]:
    if is_assumed:
        yield Finding(
            DesignFindingCode.ASSUMED_NOISE,
            Severity.NOTE,
            f"the expected standard deviations assume torque noise of {', '.join(f'{s:.3g}' for s in noise)} (Nm or N; "
            f"1 % of the effort limits), independent in {rate:g} samples per second",
            "give the noise of your sensors with the options noise and rate",
            fields={"noise": noise.tolist(), "rate": rate},
        )


def describe_slowed(plain: float, scaled: float, slowed: Sequence[SlowedCondition]) -> Iterator[Finding]:
    growth = ", ".join(
        f"{each.condition_number:.4g} and {each.scaled_condition_number:.4g} at {each.speed:.0%}" for each in slowed
    )
    yield Finding(
        DesignFindingCode.SLOWED,
        Severity.NOTE,
        f"the condition numbers of W_b with plain and with scaled columns are {plain:.4g} and {scaled:.4g}; if the "
        f"motion is slowed, {growth} of its speed",
        "do not slow the motion more than safety demands",
        fields={f"{each.speed:g}": [each.condition_number, each.scaled_condition_number] for each in slowed},
    )


def describe_first_run(slowed: Sequence[SlowedCondition]) -> Iterator[Finding]:
    """Say that the slow motion for a first run exceeds limits, if it does."""
    slowest = slowed[-1]
    for use in slowest.violations:
        yield Finding(
            DesignFindingCode.FIRST_RUN,
            Severity.WARNING,
            f"at {slowest.speed:.0%} of the speed, where inertia does not help against gravity, {use.text}",
            "do not run the motion more slowly",
            names=(use.name,),
        )


def describe_poor_design(condition_number: float) -> Iterator[Finding]:
    if not condition_number <= MAX_SCALED_CONDITION:
        yield Finding(
            DesignFindingCode.POOR,
            Severity.WARNING,
            f"the scaled condition number is {condition_number:.3g}, above {MAX_SCALED_CONDITION:g}: the motion does "
            "not tell some combinations of parameters apart",
            "give the search more time, or the joints more room and speed, or select fewer parameters",
            fields={"condition_number": condition_number},
        )


def describe_ending(outcome: SearchOutcome) -> Iterator[Finding]:
    if outcome.ending in (Ending.TIME_LIMIT, Ending.INTERRUPTED):
        yield Finding(
            DesignFindingCode.STOPPED,
            Severity.NOTE,
            f"the search ended early ({outcome.ending}) after {outcome.starts} starts and {outcome.polished} polished "
            "candidates; its result depends on the speed of the machine",
            "give more time, or fewer starts, for a repeatable result",
            fields={"starts": outcome.starts, "polished": outcome.polished},
        )
    if outcome.feasible < outcome.starts:
        yield Finding(
            DesignFindingCode.INFEASIBLE_STARTS,
            Severity.NOTE,
            f"{outcome.starts - outcome.feasible} of {outcome.starts} random starts found no motion within the limits",
        )


def describe_unseen_parameters(
    base: BaseParameters, M: BaseByBase, std: PerBase, condition_number: float
) -> Iterator[Finding]:
    """Name the parameters of which the motion, with earlier measurements, tells nothing."""
    unseen = ~np.isfinite(std)
    if not unseen.any() and np.isfinite(condition_number):
        return
    if not unseen.any():
        weakest = abs(np.linalg.eigh(scale_columns(M))[1][:, 0])
        unseen = weakest > MIN_COMPONENT * weakest.max()
    names = [name for name, hidden in zip(base.names, unseen, strict=True) if hidden]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    yield Finding(
        DesignFindingCode.UNSEEN,
        Severity.WARNING,
        f"the motion does not reveal {', '.join(names[:MAX_NAMED])}{more}: the condition number of W_b is "
        f"{condition_number:.4g}",
        "let more joints move, with wider limits or more harmonics, or select fewer parameters",
        names=tuple(names),
    )


def describe_weak_parameters(base: BaseParameters, before: PerBase | None, std: PerBase) -> Iterator[Finding]:
    """Name the parameters that earlier measurements left weak and that the motion improves most."""
    if before is None:
        return
    gain = before / std
    weakest = np.argsort(-np.where(np.isnan(gain), 0.0, gain), kind="stable")[:MAX_NAMED]
    parts = ", ".join(f"{base.names[k]} ({before[k]:.2g} → {std[k]:.2g})" for k in weakest)
    yield Finding(
        DesignFindingCode.WEAK,
        Severity.NOTE,
        f"weakest after the earlier measurements, with expected standard deviations before and after: {parts}",
        names=tuple(base.names[k] for k in weakest),
    )


def describe_violations(uses: Sequence[LimitUse]) -> Iterator[Finding]:
    for use in uses:
        if use.violated:
            remedy = "do not run this motion"
            yield Finding(DesignFindingCode.VIOLATION, Severity.ERROR, use.text, remedy, names=(use.name,))


# The motion of a design as curves: joints, torques, and the paths of the tool, over one period.


CURVE_POINTS = 400  # Points per period of the curves; affects only the resolution of plots
MAX_TOOLS = 4  # Links whose paths are plotted; affects only the number of curves


@dataclass(frozen=True, eq=False)
class MotionCurves:
    """Curves over one period.

    Attributes
    ----------
    motion  positions, velocities, accelerations and jerk of the actuated coordinates
    torque  torques of the description, Nm or N
    paths   positions of the links or markers at the ends of the robot in the frame of its base, m
    """

    motion: SampledTrajectory
    torque: InstantsByJoint
    paths: Mapping[str, Float[np.ndarray, "instants 3"]]


def compute_curves(excitation: Excitation, *, points: int = CURVE_POINTS) -> MotionCurves:
    """Return the curves at ``points`` + 1 equally spaced times, from the start of a period to its end."""
    t = np.linspace(0.0, excitation.trajectory.basis.period, points + 1)
    motion = excitation.trajectory.evaluate(t)
    kernels = RobotKernels(excitation.robot, excitation.base)
    x = kernels.close(motion.q)
    if x is None:
        raise ClosureError(f"loops of robot {excitation.robot.name!r} do not close along the motion")
    torque = kernels.compute_torque(x, motion.qd, motion.qdd)
    return MotionCurves(motion, torque, _trace_tools(excitation.robot, kernels.compute_joint_positions(x)))


def find_tools(robot: Robot) -> tuple[str, ...]:
    """Return the frames at the ends of the robot: for each link that carries no other, its last marker or itself."""
    parents = {joint.parent for joint in robot.joints}
    ends = [link.name for link in robot.links if link.name not in parents]
    markers = {marker.link: marker.name for marker in robot.markers}
    return tuple(markers.get(name, name) for name in ends[:MAX_TOOLS])


def _trace_tools(robot: Robot, positions: SamplesByJoint) -> dict[str, Float[np.ndarray, "instants 3"]]:
    tools = find_tools(robot)
    poses = [link_poses(robot, q) for q in positions]
    return {name: np.array([pose[name][:3, 3] for pose in poses]) for name in tools}
