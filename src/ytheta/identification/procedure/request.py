"""What is to be identified, from which logs and how: the checked arguments of ``identify``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identification.bodies.bounds import BodyBounds
from ytheta.identification.equations.friction import find_smooth_speeds
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.evidence.empirical_bayes import EmpiricalBayes
from ytheta.identification.fitting import Selection
from ytheta.identification.inputs.log_checks import find_held_joints
from ytheta.identification.priors.prior import Family
from ytheta.identification.priors.settings import PriorSettings
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, PerJoint


@dataclass(frozen=True, eq=False)
class Request:
    """The arguments of ``identify``, checked and read.

    ``min_speed`` are the speeds below which equations are left out, if they are given; ``leaves_out_rest`` says whether
    they are left out while a joint rests, by a rule from the logs.
    """

    robot: Robot
    fit_logs: tuple[Log, ...]
    validation_logs: tuple[Log, ...]
    estimator: Estimator
    form: str
    selection: Selection
    prior: PriorSettings
    bounds: BodyBounds
    window: float | None
    settings: PreparationSettings
    report_cutoff: float | None
    min_speed: PerJoint | None
    leaves_out_rest: bool
    threads: int | None

    @property
    def logs(self) -> tuple[Log, ...]:
        return (*self.fit_logs, *self.validation_logs)

    @cached_property
    def held_joints(self) -> Bool[np.ndarray, "joints"]:
        """True for joints that do not move in any log of the fit."""
        return find_held_joints(self.robot, self.fit_logs)

    @cached_property
    def considered(self) -> tuple[Family, ...]:
        """The families of parameters about which the data decide."""
        is_known = not (self.robot.unset_symbols or self.selection.unknown_geometry)
        uses_evidence = isinstance(self.estimator, EmpiricalBayes) and is_known
        return self.selection.list_considered(self.robot, self.form) if uses_evidence else ()

    @cached_property
    def lowest_transition_speeds(self) -> dict[str, float]:
        """The lowest speeds at which Coulomb friction changes its sign gradually.

        They depend on the logs. Kernels do not contain them, so that logs share kernels.
        """
        return find_smooth_speeds(self.robot, self.fit_logs)

    @cached_property
    def sticking_rates(self) -> Float[np.ndarray, "drives joints"]:
        """The rates of the drives whose rests are left out."""
        if not self.leaves_out_rest:
            return np.zeros((0, len(self.robot.actuated)))
        return self.selection.find_sticking_rates(self.robot)
