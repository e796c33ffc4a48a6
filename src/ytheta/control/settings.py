"""Settings from which ``create_controller`` and ``simulate`` create a controller for any robot.

This module is imported for the help of the command line, so it does not import NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.control.gains import Gain

DEFAULT_CONTROLLER = "slotine-li"
ADAPTATIONS = ("gradient", "natural", "composite")
DEFAULT_ADAPTATION = ADAPTATIONS[0]


@dataclass(frozen=True, eq=False)
class ControllerSettings:
    """A controller by name. Everything that is not set is chosen for the robot, its motion and the rate.

    Attributes
    ----------
    name           the control law, such as ``"slotine-li"`` or ``"computed-torque"``
    gains          gains by name, each one number, one per joint, or a matrix; other gains are suggested
    adaptation     the adaptation law: ``"gradient"``, ``"natural"`` or ``"composite"``
    learn          the parameters to adapt, as names or patterns such as ``"link3.*"``; empty for the base parameters
    friction       kinds of friction of all joints that are adapted, too: ``"viscous"``, ``"coulomb"``, ``"offset"``
    leakage        rate in 1/s at which estimates return to the values of the description; None for no leakage
    dead_zone      adaptation stops if the error is smaller than this width, in rad/s or m/s; None for no dead zone
    torque_limits  whether the torque limits of the description are enforced
    """

    name: str = DEFAULT_CONTROLLER
    gains: Mapping[str, Gain] = field(default_factory=dict)
    adaptation: str = DEFAULT_ADAPTATION
    learn: Sequence[str] = ()
    friction: Sequence[str] = ()
    leakage: float | None = None
    dead_zone: float | None = None
    torque_limits: bool = True

    def __post_init__(self) -> None:
        for name in ("learn", "friction"):
            words = getattr(self, name)
            if isinstance(words, str):
                raise InputError(f"{name} is a list of names, such as ({words!r},), not a single string")
            object.__setattr__(self, name, tuple(words))
