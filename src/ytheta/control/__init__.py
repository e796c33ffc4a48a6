"""Controllers that keep learning the parameters: ``init → step``, one per file.

The names below load their modules when first used: ``ytheta.control.SlotineLi(robot, …)``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.control.computed_torque import ComputedTorque as ComputedTorque
    from ytheta.control.controller import Reference as Reference
    from ytheta.control.craig import Craig as Craig
    from ytheta.control.modified_slotine_li import ModifiedSlotineLi as ModifiedSlotineLi
    from ytheta.control.modified_slotine_li import QuasiComputedTorque as QuasiComputedTorque
    from ytheta.control.pd_gravity import PDGravity as PDGravity
    from ytheta.control.slotine_li import SlotineLi as SlotineLi
    from ytheta.control.walker import Walker as Walker

_MODULES = {
    "ComputedTorque": "computed_torque",
    "Craig": "craig",
    "ModifiedSlotineLi": "modified_slotine_li",
    "PDGravity": "pd_gravity",
    "QuasiComputedTorque": "modified_slotine_li",
    "Reference": "controller",
    "SlotineLi": "slotine_li",
    "Walker": "walker",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'ytheta.control' has no attribute {name!r}")
    return getattr(import_module(f"ytheta.control.{_MODULES[name]}"), name)
