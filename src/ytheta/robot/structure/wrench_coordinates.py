"""Coordinates whose torques are the components of a wrench: six of a floating base, and six of each sensor joint.

A sensor joint does not move, so its coordinates are always zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ytheta.conventions import BASE_COORDINATES, WRENCH_COMPONENTS
from ytheta.robot.parts import Joint, JointKind


@dataclass(frozen=True)
class WrenchCoordinates:
    """Names of the coordinates of a floating base and of sensor joints; the other coordinates are between them."""

    base: tuple[str, ...]
    sensors: tuple[str, ...]

    @staticmethod
    def of(joints: Sequence[Joint]) -> WrenchCoordinates:
        """Return the wrench coordinates of the joints of a tree."""
        floating = any(joint.kind is JointKind.FREE for joint in joints)
        sensors = (joint.name for joint in joints if joint.kind is JointKind.SENSOR)
        names = tuple(f"{name}_{component}" for name in sensors for component in WRENCH_COMPONENTS)
        return WrenchCoordinates(BASE_COORDINATES if floating else (), names)

    @property
    def translational(self) -> tuple[str, ...]:
        """Names of the coordinates whose torques are forces: three of the base, and three of each sensor."""
        forces = (name for name in self.sensors if name.rpartition("_")[2] in WRENCH_COMPONENTS[:3])
        return (*self.base[:3], *forces)

    def add_to(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names with those of a floating base before and those of sensors after them, each once."""
        own = {*self.base, *self.sensors}
        return (*self.base, *(name for name in names if name not in own), *self.sensors)
