"""The registry of controllers: classes by name."""

from __future__ import annotations

from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.craig import Craig
from ytheta.control.laws.law import Law
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.control.laws.walker import Walker
from ytheta.errors import UnknownNameError, suggest_names

CONTROLLERS: dict[str, type[Law]] = {
    "slotine-li": SlotineLi,
    "modified-slotine-li": ModifiedSlotineLi,
    "quasi-computed-torque": QuasiComputedTorque,
    "craig": Craig,
    "computed-torque": ComputedTorque,
    "pd-gravity": PDGravity,
    "walker": Walker,
}


def find_controller(name: str) -> type[Law]:
    """Return the class of a controller by its name, such as slotine-li; its fields are the settings."""
    laws = {_normalize(key): law for key, law in CONTROLLERS.items()}
    if _normalize(name) not in laws:
        raise UnknownNameError(f"there is no controller {name!r}{suggest_names(name, CONTROLLERS)}")
    return laws[_normalize(name)]


def _normalize(name: str) -> str:
    """Map slotine-li, slotine_li and SlotineLi to the same key."""
    return name.lower().replace("_", "").replace("-", "")
