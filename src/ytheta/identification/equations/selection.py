"""Which parameters are estimated: rotor inertias, kinds of friction, or parameters by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.arguments import check_words
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.friction import find_sticking_rates
from ytheta.identification.equations.friction_laws import supports_load_friction
from ytheta.identification.priors.prior import Family
from ytheta.robot.parameters import FRICTION_PARAMETERS, match_parameters, select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

FRICTION = ("viscous", "coulomb", "offset")  # the kinds of friction that are estimated by default
SMOOTH = "smooth"  # Coulomb friction whose transition speed the data choose
ASYMMETRIC = "asymmetric"  # Coulomb friction and offset: friction that differs between forward and backward motion
FAMILY_OF_LAW = {"root": Family.ROOT, "load": Family.LOAD}


@dataclass(frozen=True)
class ParameterSelection:
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
    ) -> ParameterSelection:
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

    def adopt(self, earlier: BaseParameters) -> ParameterSelection:
        """Return the selection with the families of an earlier model, wherever nothing was chosen."""
        symbols = {name.rpartition(".")[2] for name in earlier.selected}
        kinds = tuple(kind for kind, symbol in FRICTION_PARAMETERS.items() if symbol in symbols)
        return replace(
            self,
            friction=kinds if self.friction is None else self.friction,
            rotor_inertia="Ia" in symbols if self.rotor_inertia is None else self.rotor_inertia,
        )

    def find_sticking_rates(self, robot: Robot) -> Float[np.ndarray, "drives joints"]:
        """Return the rates of the drives whose Coulomb friction is estimated or described; see ``friction``."""
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


def expand_friction(friction: Sequence[str] | None) -> tuple[str, ...]:
    """Return the kinds of friction without duplicates; "asymmetric" stands for two kinds, None for ``FRICTION``."""
    if friction is None:
        return FRICTION
    words = check_words("friction", friction, "kinds", FRICTION)
    for kind in words:
        if kind not in (known := (*FRICTION_PARAMETERS, ASYMMETRIC, SMOOTH)):
            raise UnknownNameError(f"there is no friction {kind!r}{suggest_names(kind, known)}")
    parts = {ASYMMETRIC: ("coulomb", "offset"), SMOOTH: ("coulomb", SMOOTH)}
    return tuple(dict.fromkeys(each for kind in words for each in parts.get(kind, (kind,))))


def check_friction_laws(robot: Robot, kinds: Sequence[str]) -> None:
    """Raise an InputError if kinds of friction cannot be estimated for this robot."""
    if "load" in kinds and not supports_load_friction(robot):
        raise InputError(
            f"robot {robot.name!r} has loops, couplings or motors, with which the torque that a drive transmits is not "
            "that of one joint; remove 'load' from friction"
        )
    if SMOOTH in kinds and all(drive.coulomb_speed for _, drive in robot.drives):
        reason = "has a coulomb_speed for every drive in its description"
        raise InputError(f"robot {robot.name!r} {reason}, so there is nothing to choose; remove 'smooth' from friction")


def check_parameters(
    parameters: Sequence[str] | None, friction: Sequence[str] | None, *, rotor_inertia: bool | None
) -> tuple[str, ...]:
    """Return the names or patterns of the parameters to estimate; an empty tuple if they are chosen otherwise."""
    if parameters is None:
        return ()
    names = check_words("parameters", parameters, "names or patterns", ("link*", "*.fv"))
    if not names:
        raise InputError("parameters is empty; give names or patterns such as ('link*', '*.fv'), or remove it")
    if friction is not None or rotor_inertia:
        other, kind = ("friction", "'*.fv,*.fc,*.fo'") if friction is not None else ("rotor_inertia", "'*.Ia'")
        raise InputError(f"parameters lists all parameters to estimate; remove {other} and add {kind} to the list")
    return names
