"""The equations of a fit: of which parameters, from which motion, in which form.

``LogEquations`` knows the logs and makes equations for any transition speeds of Coulomb friction. ``ModelEquations``
knows the motion with certain transition speeds and makes the equations of models with different families of parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identifiability.registry import model_parameters
from ytheta.identification.equations.differential import Differential, KnownTorque, RigidTorque, subtract_known_torque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import Form, create_form
from ytheta.identification.equations.friction import (
    list_smooth_speeds,
    make_drive_directions,
    make_rest_rules,
    with_smooth_speeds,
)
from ytheta.identification.equations.friction_laws import with_friction_laws
from ytheta.identification.equations.selection import FAMILY_OF_LAW, ParameterSelection
from ytheta.identification.priors.prior import Family
from ytheta.logs.preparing.drives import AnyDirections, RestRule
from ytheta.logs.preparing.motion_sources import (
    CachedSource,
    LogSource,
    Source,
    cache_sources,
    select_directions,
    select_pieces,
)
from ytheta.logs.preparing.preparation import Preparation
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, Int, PerJoint

# Samples from which a model is chosen. Chosen on: reasoning; enough for thousands of independent equations, and more
# would only need more time.
MAX_CHOICE_SAMPLES = 40_000
# Memory for these samples while the model is chosen. It affects only time and memory.
MAX_CHOICE_BYTES = 16 * 2**20
# Samples from which the transition speeds of friction are chosen. Chosen on: rule of thumb.
MAX_SCAN_SAMPLES = 10_000
# Samples of a log from which the source of its velocity is chosen. Chosen on: rule of thumb.
MAX_REFEREE_SAMPLES = 4096

SpeedsByDrive: TypeAlias = Mapping[str, float]
ChoiceByDrive: TypeAlias = Sequence[int]  # for each drive, the number of one of several alternatives


@dataclass(frozen=True, eq=False)
class EquationSettings:
    """What equations are made of.

    Attributes
    ----------
    robot       the robot
    selection   which parameters are estimated
    considered  families of parameters about which the data decide
    form        name of the equation form; ``window`` and ``min_speed`` are its settings
    threads     number of threads; None uses all cores
    """

    robot: Robot
    selection: ParameterSelection
    considered: tuple[Family, ...] = ()
    form: str = "differential"
    window: float | None = None
    min_speed: PerJoint | None = None
    threads: int | None = None


@dataclass(frozen=True, eq=False)
class ModelEquations:
    """Makes the equations of models with different families of parameters, from the same motion.

    Attributes
    ----------
    settings   what the equations are made of
    sources    the motion of the fit
    validation_sources
               the motion on which models are validated; empty if there is none
    """

    settings: EquationSettings
    sources: tuple[Source, ...]
    validation_sources: tuple[Source, ...] = ()
    _bases: dict[tuple[Family, ...], ModelParameters] = field(default_factory=dict, repr=False)

    def find_parameters(self, families: Sequence[Family]) -> ModelParameters:
        """Return the identifiable parameters of the model with these families."""
        key = tuple(sorted(families))
        if key not in self._bases:
            self._bases[key] = self._find_parameters(families)
        return self._bases[key]

    def thin(self, max_samples: int = MAX_CHOICE_SAMPLES) -> ModelEquations:
        """Return these equations for a part of the motion, which is enough to choose a model.

        Windows of other forms may be longer than a piece; then all of the motion is used.
        """
        if self.settings.form != "differential":
            return self
        return replace(
            self,
            sources=_thin_sources(self.sources, max_samples),
            validation_sources=_thin_sources(self.validation_sources, max_samples),
        )

    def make_problem(self, families: Sequence[Family], load: RigidTorque | None) -> EstimationProblem:
        """Return the equations of the fit; ``load``: torque that drives transmit, if friction depends on it."""
        return self._make_problem(self._make_form(families, load), self.sources)

    def make_alternatives(
        self, families: Sequence[Family], row_drives: Int[np.ndarray, " rows"], choices: Sequence[Sequence[int]]
    ) -> list[EstimationProblem]:
        """Return the equations of several choices among the directions with alternative smoothing speeds.

        ``row_drives``: the drive of every row of one alternative. Each of the ``choices`` has the number of the
        alternative for every drive.
        """
        rows = np.arange(len(row_drives))
        form = self._make_form(families, None)
        sources = cache_sources(subtract_known_torque(self.sources, KnownTorque(form.base)))  # they share the form
        return [
            EstimationProblem(
                form,
                tuple(
                    select_directions(source, np.asarray(choice)[row_drives] * len(rows) + rows) for source in sources
                ),
                threads=self.settings.threads,
            )
            for choice in choices
        ]

    def make_validation_problem(self, families: Sequence[Family], load: RigidTorque | None) -> EstimationProblem:
        """Return the equations of the validation motion, always in the differential form."""
        form = Differential(self.find_parameters(families), self.settings.min_speed, load)
        return self._make_problem(form, self.validation_sources)

    def _make_form(self, families: Sequence[Family], load: RigidTorque | None) -> Form:
        settings, base = self.settings, self.find_parameters(families)
        form = create_form(settings.form, base, min_speed=settings.min_speed, window=settings.window)
        return replace(form, load=load) if isinstance(form, Differential) else form

    def _make_problem(self, form: Form, sources: tuple[Source, ...]) -> EstimationProblem:
        known = KnownTorque(form.base)
        return EstimationProblem(form, subtract_known_torque(sources, known), threads=self.settings.threads)

    def _find_parameters(self, families: Sequence[Family]) -> ModelParameters:
        selection, robot = self.settings.selection, self.settings.robot
        laws = tuple(kind for kind, family in FAMILY_OF_LAW.items() if family in families)
        # A law that is not considered stays as it is described: its torque is known.
        decided = {
            kind: True if kind in laws else False if family in self.settings.considered else None
            for kind, family in FAMILY_OF_LAW.items()
        }
        robot = with_friction_laws(robot, root=decided["root"], load=decided["load"])
        return model_parameters(
            robot,
            method="ha" if robot.unset_symbols else "auto",
            rotor_inertia=Family.ROTOR in families,
            friction=() if selection.parameters else (*selection.basic_friction, *laws),
            parameters=selection.parameters,
            unknown_geometry=selection.unknown_geometry,
        )


def _thin_sources(sources: tuple[Source, ...], max_samples: int) -> tuple[Source, ...]:
    """Return a part of cached sources, with a cache of its own that can be freed before that of all samples fills."""
    uncached = tuple(each.source if isinstance(each, CachedSource) else each for each in sources)
    pieces = select_pieces(uncached, max_samples)
    return sources if pieces is uncached else cache_sources(pieces, MAX_CHOICE_BYTES)


@dataclass(frozen=True, eq=False)
class LogEquations:
    """Makes equations from logs, for any transition speeds of Coulomb friction.

    Attributes
    ----------
    settings       what the equations are made of
    held_joints    True for joints that do not move in any log of the fit
    sticking_rates rates of the drives whose rests are left out, see ``find_sticking_rates``
    lowest_speeds  the lowest speeds at which Coulomb friction changes its sign gradually, by drive. They depend on the
                   logs. Kernels do not contain them, so that logs share kernels
    fit, validation
                   preparations of the logs; empty as long as they are not chosen
    rests, validation_rests
                   the rules by which their drives rest, or None
    """

    settings: EquationSettings
    held_joints: Bool[np.ndarray, " joints"]
    sticking_rates: Float[np.ndarray, "drives joints"]
    lowest_speeds: SpeedsByDrive
    fit: tuple[Preparation, ...] = ()
    validation: tuple[Preparation, ...] = ()
    rests: tuple[RestRule | None, ...] = ()
    validation_rests: tuple[RestRule | None, ...] = ()

    def make(self, transition_speeds: SpeedsByDrive) -> ModelEquations:
        """Return the equations with these transition speeds, by drive; raise InputError if there are none."""
        directions = make_drive_directions(with_smooth_speeds(self.settings.robot, transition_speeds))
        equations = self._make_with(directions, self.settings)
        _check_equations(equations)
        return equations

    def make_alternatives(
        self, families: Sequence[Family], speeds: Sequence[SpeedsByDrive], choices: Sequence[ChoiceByDrive]
    ) -> list[EstimationProblem]:
        """Return the equations of several choices among transition speeds, from a part of the motion."""
        robot = self.settings.robot
        directions = make_drive_directions(robot)
        all_speeds = np.array([list_smooth_speeds(with_smooth_speeds(robot, each)) for each in speeds])
        equations = self._make_with(directions.with_alternatives(all_speeds), self._differential)
        return equations.thin(MAX_SCAN_SAMPLES).make_alternatives(families, directions.row_drives, choices)

    def make_log_problem(self, preparation: Preparation) -> EstimationProblem:
        """Return the equations of a part of one log, with which its preparation is chosen."""
        directions = make_drive_directions(with_smooth_speeds(self.settings.robot, self.lowest_speeds))
        rests = make_rest_rules((preparation,), self.sticking_rates, self.held_joints)
        source = LogSource(preparation, directions, self.held_joints, *rests)
        equations = ModelEquations(self._differential, (source,))
        return equations.thin(MAX_REFEREE_SAMPLES).make_problem(self.settings.selection.forced, None)

    def _make_with(self, directions: AnyDirections, settings: EquationSettings) -> ModelEquations:
        sources = tuple(
            LogSource(each, directions, self.held_joints, rest) for each, rest in zip(self.fit, self.rests, strict=True)
        )
        validation_sources = tuple(
            LogSource(each, directions, rest=rest)
            for each, rest in zip(self.validation, self.validation_rests, strict=True)
        )
        return ModelEquations(settings, cache_sources(sources), cache_sources(validation_sources))

    @property
    def _differential(self) -> EquationSettings:
        return replace(self.settings, form="differential", window=None)


def _check_equations(equations: ModelEquations) -> None:
    """Raise an error if no parameter has an effect, or if no segment is long enough for a window."""
    settings = equations.settings
    problem = equations.make_problem(settings.selection.forced, None)
    if not len(problem.base):
        raise InputError(
            f"robot {settings.robot.name!r}: no parameter has any effect on its torques; nothing can be identified"
        )
    if not any(True for _ in problem.tasks()):
        remedy = "use the differential form" if settings.window is None else "use a shorter window"
        raise InputError(f"no segment is as long as a window of the {settings.form} form; {remedy}")
