"""Known torque: the torque of the parameters that are not estimated and keep the values of the description.

Identity      tau - Y_k theta_k = Y_u theta_u
Reference     [lu1993] (15)-(18): known and unknown parameters

Examples are the torques of a cable force that was measured separately, or of friction from a data sheet. The known
torque is subtracted from the measured torque before the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ytheta.identifiability.base_parameters import without_regrouping
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.friction_laws import is_rigid
from ytheta.identification.equations.motion_sources import ChangedSource, Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot
from ytheta.shapes import JointsBySample, PerBase


@dataclass(frozen=True, eq=False)
class KnownTorque:
    """The torque of the standard parameters that are not among ``base.selected``."""

    base: ModelParameters
    only_rigid: bool = False  # leave out friction and offsets

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters that are neither estimated nor zero."""
        robot, selected = self.base.robot, set(self.base.selected)
        values = zip(robot.parameter_names, robot.theta, strict=True)
        unknown = selected if not self.only_rigid else {*selected, *filter(_is_friction, robot.parameter_names)}
        return tuple(name for name, value in values if value and name not in unknown)

    def __bool__(self) -> bool:
        return bool(self.names)

    def torque(self, motion: MotionSamples) -> JointsBySample:
        """Return the known torque of a motion; its Coulomb friction is low-passed too."""
        return self._form.torque(motion, self.values)

    @property
    def values(self) -> PerBase:
        """The values of the known parameters, in the order of ``names``."""
        return self._form.base.beta

    def find_regressor_graph(self) -> Graph:
        """Return the graph (q, qd, qdd) → Y of the known parameters."""
        return self._form.base.find_graph("regressor_graph", self._robot, {"formulation": "", "reference": False})

    @cached_property
    def _form(self) -> Differential:
        return Differential(without_regrouping(self._robot, self.names))

    @property
    def _robot(self) -> Robot:
        """The robot, with arbitrary values of lengths and angles that have none.

        With unknown geometry, all link parameters are estimated. The known torque is that of drives, and does not
        depend on the geometry.
        """
        robot = self.base.robot
        if not robot.unset_symbols:
            return robot
        lengths, angles = (dict.fromkeys(names, 1.0) for names in (robot.unset_lengths, robot.unset_angles))
        return replace(robot, inertias_unknown=False).with_lengths(**lengths).with_angles(**angles)


def _is_friction(name: str) -> bool:
    return not is_rigid(name)


def subtract_known_torque(sources: tuple[Source, ...], known: KnownTorque) -> tuple[Source, ...]:
    """Return sources from whose torques the known torque is subtracted."""

    def subtract(motion: MotionSamples) -> MotionSamples:
        return motion if motion.tau is None else replace(motion, tau=motion.tau - known.torque(motion).T)

    return tuple(ChangedSource(source, subtract) for source in sources) if known else sources
