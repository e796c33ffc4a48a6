"""The result of a design: a trajectory, what it will reveal, and the limits that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ytheta.display import Reported
from ytheta.excitation.constraints.check import LimitUse, list_violations
from ytheta.excitation.constraints.joint_bounds import JointBounds
from ytheta.excitation.solver.search import Ending
from ytheta.excitation.trajectories.trajectory import Trajectory
from ytheta.excitation.writing.save import save_trajectory
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase, PerJoint, freeze

SELF_COLLISION_UNCHECKED = "self-collision not checked"  # code of a finding


@dataclass(frozen=True)
class SlowedCondition:
    """Condition numbers of W_b if the same path is passed at a share of the speed."""

    speed: float
    condition_number: float
    scaled_condition_number: float


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
    slowed                   how the condition numbers grow if the motion is slowed
    bounds                   limits that were kept; ``bounds.effort`` contains the margin for the model
    uses                     how far the motion uses each limit, with the bounds between samples
    violations               the limits that are exceeded; empty if none is
    design                   criterion and work of the search; None if the trajectory was assessed, not designed
    findings                 notes and warnings
    """

    subject: ClassVar[str] = "excitation"

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
    def is_self_collision_checked(self) -> bool:
        """False if self-collision was to be checked, but could not be."""
        return all(finding.code != SELF_COLLISION_UNCHECKED for finding in self.findings)

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
