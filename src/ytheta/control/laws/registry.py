"""The controllers by their names."""

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
    """The class of a controller, however its name is written; its fields are the settings."""
    found = {_plain(known): law for known, law in CONTROLLERS.items()}
    if _plain(name) not in found:
        raise UnknownNameError(f"there is no controller {name!r}{suggest_names(name, CONTROLLERS)}")
    return found[_plain(name)]


def _plain(name: str) -> str:
    """slotine_li, slotine-li and SlotineLi are the same."""
    return name.lower().replace("_", "").replace("-", "")
