"""Wrench coordinates: names of the coordinates of floating bases and sensors, and their order."""

from __future__ import annotations

from ytheta.conventions import BASE_COORDINATES
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.structure import WrenchCoordinates

FREE = Joint("float", JointKind.FREE, "world", "base")
HINGE = Joint("q1", JointKind.REVOLUTE, "base", "arm")
SENSOR = Joint("ft", JointKind.SENSOR, "arm", "hand")


def test_a_floating_base_comes_first_and_sensors_last() -> None:
    wrench = WrenchCoordinates.of((FREE, HINGE, SENSOR))
    sensor = ("ft_fx", "ft_fy", "ft_fz", "ft_nx", "ft_ny", "ft_nz")
    assert wrench == WrenchCoordinates(BASE_COORDINATES, sensor)
    assert wrench.add_to(["ft_nx", "q1", BASE_COORDINATES[2]]) == (*BASE_COORDINATES, "q1", *sensor)
    assert wrench.translational == (*BASE_COORDINATES[:3], "ft_fx", "ft_fy", "ft_fz")


def test_a_fixed_robot_without_sensors_has_none() -> None:
    wrench = WrenchCoordinates.of((HINGE,))
    assert wrench == WrenchCoordinates((), ())
    assert wrench.add_to(["q1"]) == ("q1",)
    assert wrench.translational == ()
