"""Choice of the model: transition speeds of friction, then rotor inertias and friction laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from ytheta.identification.equations.differential import RigidTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import list_smooth_speeds
from ytheta.identification.estimators.evidence.model_choice import ModelChoice, choose_model
from ytheta.identification.estimators.evidence.transition_speeds import (
    choose_transition_speeds,
    compute_transition_covariance,
    improve_transition_speeds,
)
from ytheta.identification.fitting import FitEquations
from ytheta.identification.priors.prior import Family
from ytheta.identification.procedure.equation_maker import EquationMaker
from ytheta.shapes import BaseByBase


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The model that the data chose, and its equations.

    Attributes
    ----------
    maker               makes equations with other transition speeds
    equations           the equations of models with other families
    choice              what was chosen, and what the alternatives would have given
    families            families of parameters of the model
    load                torque that drives transmit, if friction depends on it
    transition_speeds   those of Coulomb friction, by drive
    """

    maker: EquationMaker
    equations: FitEquations
    choice: ModelChoice
    families: tuple[Family, ...]
    load: RigidTorque | None
    transition_speeds: Mapping[str, float]

    def make_problem(self) -> EstimationProblem:
        """Return the equations of the model."""
        return self.equations.make_problem(self.families, self.load)

    def compute_transition_covariance(self) -> BaseByBase | None:
        """Return the part of the covariance that is due to uncertain transition speeds; None if none was chosen."""
        request = self.maker.request
        make_alternatives = partial(self.maker.make_alternatives, self.families)
        lowest = request.lowest_transition_speeds
        return compute_transition_covariance(request.robot, make_alternatives, lowest, self.transition_speeds)


def select_model(maker: EquationMaker, *, contradictory: tuple[Family, ...] = ()) -> SelectedModel:
    """Choose the model of a request; ``contradictory``: families that the model cannot have."""
    request = maker.request
    robot, selection, lowest = request.robot, request.selection, request.lowest_transition_speeds
    speeds: Mapping[str, float] = lowest
    equations = maker.make(lowest)
    if selection.smooth and "coulomb" in selection.basic_friction and not list_smooth_speeds(robot).all():
        make_scanned = partial(maker.make_alternatives, selection.list_scanned(robot))
        speeds = choose_transition_speeds(robot, make_scanned, lowest)
        equations = equations if speeds == lowest else maker.make(speeds)
    thinned = equations.thin()
    choice, load = choose_model(
        thinned.make_problem,
        thinned.make_validation_problem if equations.validation_sources else None,
        considered=[family for family in equations.considered if family not in contradictory],
        forced=selection.forced,
        prior=request.prior,
    )
    choice = replace(choice, contradictory=(*choice.contradictory, *contradictory))
    del thinned  # frees its motion
    families = (*choice.kept, *selection.forced)
    if speeds != lowest:  # they were chosen with other families
        speeds = improve_transition_speeds(robot, partial(maker.make_alternatives, families), lowest, speeds)
        equations = maker.make(speeds)
    return SelectedModel(maker, equations, choice, families, load, speeds)
