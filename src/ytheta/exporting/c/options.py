"""Options of the export to C."""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.arguments import check_kind, check_words
from ytheta.control.laws.law import Law
from ytheta.errors import InputError, UnknownNameError, suggest_names

PRECISIONS = ("double", "float")
PARAMETER_MODES = ("baked", "passed")
TRIGONOMETRY = ("own", "libm")
FUNCTIONS = (
    "inverse_dynamics",
    "gravity",
    "friction",
    "regressor",
    "mass_matrix",
    "forward_dynamics",
    "momentum_observer",
)


@dataclass(frozen=True, eq=False)
class COptions:
    """Settings of the export to C.

    Attributes
    ----------
    precision     "double" or "float", the type of all numbers
    parameters    "baked": the code contains the values of the parameters; "passed": the functions of the robot take
                  the base parameters in a struct
    functions     the functions to export; None for all that the robot has
    controllers   control laws whose step is exported; their gains and known parameters are always baked in
    name          prefix of all names and files; None to derive it from the name of the robot
    trigonometry  "own": a sine and cosine pair that needs no library; "libm": sin and cos of the C library
    """

    precision: str = "double"
    parameters: str = "baked"
    functions: tuple[str, ...] | None = None
    controllers: tuple[Law, ...] = ()
    name: str | None = None
    trigonometry: str = "own"

    def __post_init__(self) -> None:
        _check_choice("precision", self.precision, PRECISIONS)
        _check_choice("parameters", self.parameters, PARAMETER_MODES)
        _check_choice("trigonometry", self.trigonometry, TRIGONOMETRY)
        if self.functions is not None:
            for name in check_words("functions", self.functions, "names", FUNCTIONS[:2]):
                _check_choice("functions", name, FUNCTIONS)
        check_kind("controllers", self.controllers, (tuple, list), "a list of control laws")
        for law in self.controllers:
            check_kind("controllers", law, Law, "a list of control laws, such as (yt.control.PDGravity(robot, …),)")
        if self.name is not None and not (
            isinstance(self.name, str) and self.name.isascii() and self.name.isprintable()
        ):
            raise InputError(f"name is {self.name!r}; give ASCII letters, digits and underscores")


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UnknownNameError(f"{name} has the value {value!r}{suggest_names(value, known)}")
