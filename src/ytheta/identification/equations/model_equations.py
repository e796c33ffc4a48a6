"""The equations of a fit: which parameters are estimated, from which motion, in which form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identifiability.registry import model_parameters
from ytheta.identification.arguments import FRICTION, SMOOTH
from ytheta.identification.equations.differential import Differential, KnownTorque, RigidTorque, subtract_known_torque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import Form
from ytheta.identification.equations.friction import find_sticking_rates
from ytheta.identification.equations.friction_laws import supports_load_friction, with_friction_laws
from ytheta.identification.equations.motion_sources import (
    CachedSource,
    Source,
    cache_sources,
    select_directions,
    select_pieces,
)
from ytheta.identification.priors.prior import Family
from ytheta.robot.parameters import FRICTION_PARAMETERS, match_parameters, select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerJoint

if TYPE_CHECKING:
    from ytheta.identification.equations.integral import Cumulative, Integral
    from ytheta.identification.equations.momentum import Momentum

# Samples from which a model is chosen: enough for thousands of independent equations. More would only need more time.
MAX_CHOICE_SAMPLES = 40_000
MAX_CHOICE_BYTES = 16 * 2**20  # of these samples, kept in memory while the model is chosen
FAMILY_OF_LAW = {"root": Family.ROOT, "load": Family.LOAD}


@dataclass(frozen=True)
class Selection:
    """Which parameters are estimated.

    Attributes
    ----------
    friction       kinds of friction; None for the default kinds, and friction laws if the data speak for them
    rotor_inertia  whether rotor inertias are estimated; None if the data decide
    parameters     names of standard parameters, which replace the choices above; empty if there are none
    unknown_geometry
                   whether all symbolic lengths and angles count as unknown
    smooth         whether the data choose how gradually Coulomb friction changes its sign
    """

    friction: tuple[str, ...] | None = None
    rotor_inertia: bool | None = None
    parameters: tuple[str, ...] = ()
    unknown_geometry: bool = False
    smooth: bool = False

    @classmethod
    def of(
        cls,
        kinds: tuple[str, ...] | None,
        rotor_inertia: bool | None,
        parameters: tuple[str, ...],
        *,
        unknown_geometry: bool,
    ) -> Selection:
        """Return a selection; the kind of friction "smooth" is not one of parameters, and one of the default kinds."""
        smooth = SMOOTH in kinds if kinds is not None else not parameters
        friction = None if kinds is None else tuple(kind for kind in kinds if kind != SMOOTH)
        return cls(friction, rotor_inertia, parameters, unknown_geometry, smooth)

    @property
    def basic_friction(self) -> tuple[str, ...]:
        """The kinds of friction without friction laws."""
        kinds = FRICTION if self.friction is None else self.friction
        return tuple(kind for kind in kinds if kind not in FAMILY_OF_LAW)

    @property
    def forced(self) -> tuple[Family, ...]:
        """The families that the model has in any case."""
        laws = [family for kind, family in FAMILY_OF_LAW.items() if kind in (self.friction or ())]
        return (*((Family.ROTOR,) if self.rotor_inertia else ()), *laws)

    def adopt(self, earlier: BaseParameters) -> Selection:
        """Return the selection with the families of an earlier model, wherever nothing was chosen."""
        symbols = {name.rpartition(".")[2] for name in earlier.selected}
        kinds = tuple(kind for kind, symbol in FRICTION_PARAMETERS.items() if symbol in symbols)
        return replace(
            self,
            friction=kinds if self.friction is None else self.friction,
            rotor_inertia="Ia" in symbols if self.rotor_inertia is None else self.rotor_inertia,
        )

    def find_sticking_rates(self, robot: Robot) -> Float[np.ndarray, "drives joints"]:
        """Return the rates of the drives whose Coulomb friction is estimated or described; see ``stiction``."""
        if self.parameters:
            return find_sticking_rates(robot, match_parameters(robot, self.parameters))
        return find_sticking_rates(robot, select_parameters(robot, rotor_inertia=False, friction=self.basic_friction))

    def list_scanned(self, robot: Robot) -> tuple[Family, ...]:
        """Return the families of the equations from which transition speeds of Coulomb friction are chosen.

        Root friction is one of them even if the model has none: both laws are steep at low speeds, and a gradual
        transition is not to replace the other law.
        """
        has_root = not (robot.loops or robot.unset_symbols or self.unknown_geometry)
        families = [family for family in self.forced if family is not Family.LOAD]
        return tuple(dict.fromkeys((*families, *((Family.ROOT,) if has_root else ()))))

    def list_considered(self, robot: Robot, form: str) -> tuple[Family, ...]:
        """Return the families about which the data decide.

        Friction laws need the differential form and velocity ratios that do not depend on the pose.
        """
        if self.parameters:
            return ()
        families = [Family.ROTOR] if self.rotor_inertia is None else []
        if self.friction is None and form == "differential" and not robot.loops:
            families += [Family.ROOT, *((Family.LOAD,) if supports_load_friction(robot) else ())]
        return tuple(families)


@dataclass(frozen=True, eq=False)
class FitEquations:
    """Makes the equations of models with different families of parameters, from the same motion.

    Attributes
    ----------
    robot      the robot
    selection  which parameters are estimated
    form       name of the equation form; ``window`` and ``min_speed`` are its settings
    considered families about which the data decide
    sources    the motion of the fit
    validation_sources
               the motion on which models are validated; empty if there is none
    """

    robot: Robot
    selection: Selection
    form: str
    window: float | None
    min_speed: PerJoint | None
    threads: int | None
    considered: tuple[Family, ...]
    sources: tuple[Source, ...]
    validation_sources: tuple[Source, ...]
    _bases: dict[tuple[Family, ...], ModelParameters] = field(default_factory=dict, repr=False)

    def find_parameters(self, families: Sequence[Family]) -> ModelParameters:
        """Return the identifiable parameters of the model with these families."""
        key = tuple(sorted(families))
        if key not in self._bases:
            self._bases[key] = self._find_parameters(families)
        return self._bases[key]

    def thin(self, max_samples: int = MAX_CHOICE_SAMPLES) -> FitEquations:
        """Return these equations for a part of the motion, which is enough to choose a model.

        Windows of other forms may be longer than a piece; then all of the motion is used.
        """
        if self.form != "differential":
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
        self, families: Sequence[Family], row_drives: Int[np.ndarray, "rows"], choices: Sequence[Sequence[int]]
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
                threads=self.threads,
            )
            for choice in choices
        ]

    def make_validation_problem(self, families: Sequence[Family], load: RigidTorque | None) -> EstimationProblem:
        """Return the equations of the validation motion, always in the differential form."""
        form = Differential(self.find_parameters(families), self.min_speed, load)
        return self._make_problem(form, self.validation_sources)

    def _make_form(self, families: Sequence[Family], load: RigidTorque | None) -> Form:
        base = self.find_parameters(families)
        form = create_form(self.form, base, min_speed=self.min_speed, window=self.window)
        return replace(form, load=load) if isinstance(form, Differential) else form

    def _make_problem(self, form: Form, sources: tuple[Source, ...]) -> EstimationProblem:
        known = KnownTorque(form.base)
        return EstimationProblem(form, subtract_known_torque(sources, known), threads=self.threads)

    def _find_parameters(self, families: Sequence[Family]) -> ModelParameters:
        selection, robot = self.selection, self.robot
        laws = tuple(kind for kind, family in FAMILY_OF_LAW.items() if family in families)
        # A law that is not considered stays as it is described: its torque is known.
        decided = {
            kind: True if kind in laws else False if family in self.considered else None
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


# Registry of the equation forms.
#
# differential   uses accelerations and every sample; for logs whose low-pass leaves little noise in the accelerations
# integral       needs no accelerations; uses the velocities at the two ends of each window
# cumulative     needs no accelerations; integrates from a fixed time, as printed in [ha1989], so that errors accumulate
# momentum       needs no accelerations; low-passes velocities like torques, so it tolerates the most noise


# The setting of each form.
OPTIONS = {"differential": "min_speed", "integral": "window", "cumulative": "window", "momentum": "corner"}
FORMS = tuple(OPTIONS)


def create_form(
    name: str,
    base: ModelParameters,
    *,
    min_speed: PerJoint | None = None,
    window: float | None = None,
    corner: float | None = None,
) -> Differential | Integral | Cumulative | Momentum:
    """Create the form of this name; ``OPTIONS`` lists the setting that each form accepts."""
    if name not in OPTIONS:
        raise UnknownNameError(f"there is no form {name!r}{suggest_names(name, FORMS)}")
    for option, value in (("min_speed", min_speed), ("window", window), ("corner", corner)):
        if value is not None and OPTIONS[name] != option:
            owners = " or ".join(other for other in FORMS if OPTIONS[other] == option)
            raise InputError(f"the {name} form has no {option!r}; leave it out, or use the {owners} form")
    if name == "differential":
        return Differential(base, min_speed)
    # Imported here, since most identifications use the differential form.
    from ytheta.identification.equations.integral import Cumulative, Integral
    from ytheta.identification.equations.momentum import Momentum

    if name == "momentum":
        return Momentum(base, corner)
    return Integral(base, window) if name == "integral" else Cumulative(base, window)
