"""Options of the export to C."""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.arguments import check_kind, check_number, check_words
from ytheta.control.laws.law import Law
from ytheta.control.settings import ControllerSettings
from ytheta.errors import InputError
from ytheta.exporting.functions import BASE_ORIENTATIONS, FUNCTIONS, PARAMETER_MODES, ROTATION_VECTOR, check_choice

PRECISIONS = ("double", "float")
TRIGONOMETRY = ("own", "libm")


@dataclass(frozen=True, eq=False)
class COptions:
    """Settings of the export to C.

    Attributes
    ----------
    precision     "double" or "float", the type of all numbers
    parameters    "baked": the code contains the values of the parameters; "passed": the functions of the robot take
                  the base parameters in a struct
    functions     the functions to export; None for all that the robot has
    controllers   controllers whose step is exported: control laws, settings or names such as "computed-torque". Gains
                  that are not given are suggested for the default reference; gains and known parameters are always
                  baked in
    rate          steps of the controllers per second, for which gains are suggested
    name          prefix of all names and files; None to derive it from the name of the robot
    trigonometry  "own": a sine and cosine pair that needs no library; "libm": sin and cos of the C library
    base_orientation
                  how functions receive the orientation of a floating base: "rotation-vector", "quaternion" (x, y, z, w)
                  or "gravity" (in base axes)
    """

    precision: str = "double"
    parameters: str = "baked"
    functions: tuple[str, ...] | None = None
    controllers: tuple[Law | ControllerSettings | str, ...] = ()
    rate: float = 1000.0
    name: str | None = None
    trigonometry: str = "own"
    base_orientation: str = ROTATION_VECTOR

    def __post_init__(self) -> None:
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("parameters", self.parameters, PARAMETER_MODES)
        check_choice("trigonometry", self.trigonometry, TRIGONOMETRY)
        check_choice("base_orientation", self.base_orientation, BASE_ORIENTATIONS)
        if self.functions is not None:
            for name in check_words("functions", self.functions, "names", FUNCTIONS[:2]):
                check_choice("functions", name, FUNCTIONS)
        form = 'a list of control laws or their names, such as ("computed-torque",)'
        check_kind("controllers", self.controllers, (tuple, list), form)
        for controller in self.controllers:
            check_kind("controllers", controller, (Law, ControllerSettings, str), form)
        check_number("rate", self.rate, "the steps per second, such as 1000", allow=lambda rate: rate > 0.0)
        if self.name is not None and not (
            isinstance(self.name, str) and self.name.isascii() and self.name.isprintable()
        ):
            raise InputError(f"name is {self.name!r}; give ASCII letters, digits and underscores")
