"""The registry of controllers: the name of each control law and its class, which is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ytheta.errors import UnknownNameError, suggest_names

if TYPE_CHECKING:
    from ytheta.control.laws.law import Law

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
