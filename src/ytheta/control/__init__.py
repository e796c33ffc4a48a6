"""Controllers that keep learning the parameters: ``init → step``, one per file.

The names below load their modules when first used: ``ytheta.control.SlotineLi(robot, …)``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.control.composite import Composite as Composite
    from ytheta.control.computed_torque import ComputedTorque as ComputedTorque
    from ytheta.control.controller import Reference as Reference
    from ytheta.control.craig import Craig as Craig
    from ytheta.control.dead_zone import DeadZone as DeadZone
    from ytheta.control.gradient import Gradient as Gradient
    from ytheta.control.leakage import Leakage as Leakage
    from ytheta.control.modified_slotine_li import ModifiedSlotineLi as ModifiedSlotineLi
    from ytheta.control.modified_slotine_li import QuasiComputedTorque as QuasiComputedTorque
    from ytheta.control.natural import Natural as Natural
    from ytheta.control.pd_gravity import PDGravity as PDGravity
    from ytheta.control.projection import Projection as Projection
    from ytheta.control.slotine_li import SlotineLi as SlotineLi
    from ytheta.control.walker import Walker as Walker

_MODULES = {
    "Composite": "composite",
    "ComputedTorque": "computed_torque",
    "Craig": "craig",
    "DeadZone": "dead_zone",
    "Gradient": "gradient",
    "Leakage": "leakage",
    "ModifiedSlotineLi": "modified_slotine_li",
    "Natural": "natural",
    "PDGravity": "pd_gravity",
    "Projection": "projection",
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
