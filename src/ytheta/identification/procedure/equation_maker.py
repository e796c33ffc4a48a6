"""Equations of the logs of a request: with one transition speed per drive, or with several to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.cached_source import cache_sources
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import list_smooth_speeds, make_drive_directions, with_smooth_speeds
from ytheta.identification.equations.motion_sources import LogSource
from ytheta.identification.equations.stiction import make_rest_rules
from ytheta.identification.estimators.evidence.transition_speeds import ChoiceByDrive, SpeedsByDrive
from ytheta.identification.fitting import FitEquations
from ytheta.identification.preparing.plan import PreparationPlan, plan_preparations
from ytheta.identification.preparing.velocity_referee import choose_velocity
from ytheta.identification.priors.prior import Family
from ytheta.identification.procedure.request import Request
from ytheta.logs.preparing.drive_directions import AnyDirections
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.rest import RestRule

MAX_SCAN_SAMPLES = 10_000  # from which the transition speeds of friction are chosen
MAX_REFEREE_SAMPLES = 4096  # of a log, from which the source of its velocity is chosen


def plan_logs(request: Request) -> PreparationPlan:
    """Plan how the logs are prepared for the fit and for the judgement."""

    def make_problem(preparation: Preparation) -> EstimationProblem:
        directions = make_drive_directions(with_smooth_speeds(request.robot, request.lowest_transition_speeds))
        rests = make_rest_rules((preparation,), request.sticking_rates, request.held_joints)
        source = LogSource(preparation, directions, request.held_joints, *rests)
        only = FitEquations(
            request.robot,
            request.selection,
            "differential",
            None,
            request.min_speed,
            request.threads,
            request.considered,
            (source,),
            (),
        )
        return only.thin(MAX_REFEREE_SAMPLES).make_problem(request.selection.forced, None)

    return plan_preparations(
        request.fit_logs,
        request.validation_logs,
        request.settings,
        report_cutoff=request.report_cutoff,
        referee=lambda preparation: choose_velocity(preparation, make_problem),
    )


@dataclass(frozen=True, eq=False)
class EquationMaker:
    """Makes equations from the logs of a request, prepared as planned."""

    request: Request
    plan: PreparationPlan

    def make(self, transition_speeds: Mapping[str, float]) -> FitEquations:
        """Return the equations with these transition speeds, by drive; raise InputError if there are none."""
        request = self.request
        directions = make_drive_directions(with_smooth_speeds(request.robot, transition_speeds))
        equations = self._make_with(directions, request.form, request.window)
        _check_equations(equations)
        return equations

    def make_alternatives(
        self, families: Sequence[Family], speeds: Sequence[SpeedsByDrive], choices: Sequence[ChoiceByDrive]
    ) -> list[EstimationProblem]:
        """Return the equations of several choices among transition speeds, from a part of the motion."""
        robot = self.request.robot
        directions = make_drive_directions(robot)
        all_speeds = np.array([list_smooth_speeds(with_smooth_speeds(robot, each)) for each in speeds])
        equations = self._make_with(directions.with_alternatives(all_speeds), "differential", None)
        return equations.thin(MAX_SCAN_SAMPLES).make_alternatives(families, directions.row_drives, choices)

    def _make_with(self, directions: AnyDirections, form: str, window: float | None) -> FitEquations:
        request, (rests, validation_rests) = self.request, self._rests
        sources = tuple(
            LogSource(each, directions, request.held_joints, rest)
            for each, rest in zip(self.plan.own.fit, rests, strict=True)
        )
        validation_sources = tuple(
            LogSource(each, directions, rest=rest)
            for each, rest in zip(self.plan.judged.validation, validation_rests, strict=True)
        )
        return FitEquations(
            request.robot,
            request.selection,
            form,
            window,
            request.min_speed,
            request.threads,
            request.considered,
            cache_sources(sources),
            cache_sources(validation_sources),
        )

    @cached_property
    def _rests(self) -> tuple[tuple[RestRule | None, ...], tuple[RestRule | None, ...]]:
        """The rules of rest of the logs of the fit and of the validation logs."""
        rates = self.request.sticking_rates
        return (
            make_rest_rules(self.plan.own.fit, rates, self.request.held_joints),
            make_rest_rules(self.plan.judged.validation, rates, None),
        )


def _check_equations(fit_equations: FitEquations) -> None:
    """Raise an error if no parameter has an effect, or if no segment is long enough for a window."""
    problem = fit_equations.make_problem(fit_equations.selection.forced, None)
    if not len(problem.base):
        raise InputError(
            f"robot {fit_equations.robot.name!r}: no parameter has any effect on its torques; nothing can be identified"
        )
    if not any(True for _ in problem.tasks()):
        remedy = "use the differential form" if fit_equations.window is None else "use a shorter window"
        raise InputError(f"no segment is as long as a window of the {fit_equations.form} form; {remedy}")
