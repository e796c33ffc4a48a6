"""Parameters in which the torque of a robot is linear and which can be identified: the interface of all kinds.

Two kinds exist. ``BaseParameters`` need the geometry: their regressor consists of columns of the standard regressor.
The parameters of a ``Regrouping`` contain the unknown lengths: their regressor needs no geometry. Equations,
estimators and assessment use only this interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from ytheta.identifiability.base_parameters import Identifiability
from ytheta.native.graph import Graph
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase


@runtime_checkable
class ModelParameters(Protocol):
    """Identifiable parameters of a robot; their number is the length.

    Attributes
    ----------
    robot            the robot to which the parameters belong
    noun             what the parameters are called: "base parameters" or "model parameters"
    method           the method that found them
    names            names of the parameters
    independent      the names without marks; the names of drive parameters are those of standard parameters
    expressions      the parameters as combinations of standard parameters, as text
    beta             values in the robot description, which estimators keep along directions that no data identify
    leading_terms    a standard parameter of each combination and the power of length that multiplies it: the unit
    selected         the standard parameters of which the parameters consist
    identifiability  by standard parameter: known alone, only in combination, or no effect
    """

    @property
    def robot(self) -> Robot: ...
    @property
    def noun(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def independent(self) -> tuple[str, ...]: ...
    @property
    def expressions(self) -> tuple[str, ...]: ...
    @property
    def beta(self) -> PerBase: ...
    @property
    def leading_terms(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def selected(self) -> tuple[str, ...]: ...
    @property
    def identifiability(self) -> Mapping[str, Identifiability]: ...
    def __len__(self) -> int: ...
    def check_robot(self, robot: Robot) -> None: ...
    def with_robot(self, robot: Robot) -> ModelParameters: ...
    def find_graph(self, name: str, robot: Robot, options: Mapping[str, Any]) -> Graph: ...
