"""Settings from which ``create_controller`` and ``simulate`` create a controller for any robot.

This module is imported for the help of the command line, so it does not import NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ytheta.arguments import check_kind, check_number, is_positive
from ytheta.errors import InputError, UnknownNameError, suggest_names

if TYPE_CHECKING:
    from ytheta.control.gains import Gain
    from ytheta.control.laws.law import Law

DEFAULT_CONTROLLER = "slotine-li"
ADAPTATIONS = ("gradient", "natural", "composite")
DEFAULT_ADAPTATION = ADAPTATIONS[0]
FEEDBACKS = ("inertial", "pd", "pid")
DEFAULT_FEEDBACK = FEEDBACKS[0]


@dataclass(frozen=True, eq=False)
class ControllerSettings:
    """A controller by name. Everything that is not set is chosen for the robot, its motion and the rate.

    Attributes
    ----------
    name           the control law, such as ``"slotine-li"`` or ``"computed-torque"``
    gains          gains by name, each one number, one per joint, or a matrix; other gains are suggested
    adaptation     the adaptation law: ``"gradient"``, ``"natural"`` or ``"composite"``
    feedback       the feedback law of walker: ``"inertial"`` (that of the paper), ``"pd"`` or ``"pid"``
    learn          the parameters to adapt, as names or patterns such as ``"link3.*"``; empty for the base parameters
    friction       kinds of friction of all joints that are adapted, too: ``"viscous"``, ``"coulomb"``, ``"offset"``,
                   and ``"root"``, ``"load"`` if the drives have these laws
    leakage        rate in 1/s at which estimates return to the values of the description; None for no leakage
    dead_zone      adaptation stops if the error is smaller than this width, in rad/s or m/s; None for no dead zone
    torque_limits  True for the torque limits of the description, False for none, or limits of your own in Nm or N:
                   one number, or one per joint
    """

    name: str = DEFAULT_CONTROLLER
    gains: Mapping[str, Gain] = field(default_factory=dict)
    adaptation: str = DEFAULT_ADAPTATION
    feedback: str = DEFAULT_FEEDBACK
    learn: Sequence[str] = ()
    friction: Sequence[str] = ()
    leakage: float | None = None
    dead_zone: float | None = None
    torque_limits: bool | Gain = True

    def __post_init__(self) -> None:
        check_kind("name", self.name, str, "the name of a control law, such as 'slotine-li'")
        check_kind("gains", self.gains, Mapping, "a dictionary, such as {'damping': 35.0}")
        check_kind("adaptation", self.adaptation, str, f"one of {', '.join(map(repr, ADAPTATIONS))}")
        check_kind("feedback", self.feedback, str, f"one of {', '.join(map(repr, FEEDBACKS))}")
        check_choice("adaptation", self.adaptation, ADAPTATIONS)
        check_choice("feedback", self.feedback, FEEDBACKS)
        if self.leakage is not None:
            check_number("leakage", self.leakage, "a rate above 0 in 1/s, or None", allow=is_positive)
        if isinstance(self.dead_zone, int | float | str):  # a width for each joint is checked by the dead zone
            check_number("dead_zone", self.dead_zone, "a width above 0 in rad/s or m/s, or None", allow=is_positive)
        if self.torque_limits is None or isinstance(self.torque_limits, str):
            raise InputError(
                f"torque_limits is {self.torque_limits!r}; give True for the limits of the description, False for "
                "none, or numbers in Nm or N"
            )
        for name in ("learn", "friction"):
            words = getattr(self, name)
            if isinstance(words, str):
                raise InputError(f"{name} is a list of names, such as ({words!r},), not a single string")
            check_kind(name, words, Iterable, "a list of names")
            object.__setattr__(self, name, tuple(words))


def check_choice(name: str, value: str, known: Sequence[str]) -> None:
    """Raise if the value of a setting is not one of the known names."""
    if value not in known:
        raise UnknownNameError(f"there is no {name} {value!r}{suggest_names(value, known)}")


# The registry of controllers: the name of each control law and its class, which is imported on first use.


CONTROLLERS = {
    "slotine-li": "SlotineLi",
    "modified-slotine-li": "ModifiedSlotineLi",
    "quasi-computed-torque": "QuasiComputedTorque",
    "craig": "Craig",
    "computed-torque": "ComputedTorque",
    "pd-gravity": "PDGravity",
    "walker": "Walker",
}


def find_controller(name: str) -> type[Law]:
    """Return the class of a controller by its name, such as slotine-li; its fields are the settings."""
    from ytheta import control

    classes = {_normalize(key): class_name for key, class_name in CONTROLLERS.items()}
    if _normalize(name) not in classes:
        raise UnknownNameError(f"there is no controller {name!r}{suggest_names(name, CONTROLLERS)}")
    law: type[Law] = getattr(control, classes[_normalize(name)])
    return law


def _normalize(name: str) -> str:
    """Map slotine-li, slotine_li and SlotineLi to the same key."""
    return name.lower().replace("_", "").replace("-", "")
