"""Control laws and adaptation laws, one per file; settings, creation and suggested gains of controllers.

The names below are imported on first use: ``ytheta.control.SlotineLi(robot, …)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.control.adaptation.adaptation import Adaptation as Adaptation
    from ytheta.control.adaptation.composite import Composite as Composite
    from ytheta.control.adaptation.dead_zone import DeadZone as DeadZone
    from ytheta.control.adaptation.gradient import Gradient as Gradient
    from ytheta.control.adaptation.leakage import Leakage as Leakage
    from ytheta.control.adaptation.natural import Natural as Natural
    from ytheta.control.adaptation.projection import Projection as Projection
    from ytheta.control.adaptation.reset import Reset as Reset
    from ytheta.control.controller import Controller as Controller
    from ytheta.control.controller import Reference as Reference
    from ytheta.control.controller import State as State
    from ytheta.control.controller import SteppedController as SteppedController
    from ytheta.control.create import create_controller as create_controller
    from ytheta.control.feedback.feedback import Feedback as Feedback
    from ytheta.control.feedback.feedback import JointErrors as JointErrors
    from ytheta.control.feedback.feedback import LinkErrors as LinkErrors
    from ytheta.control.feedback.feedback import Response as Response
    from ytheta.control.feedback.inertial import InertialFeedback as InertialFeedback
    from ytheta.control.feedback.pid import PDFeedback as PDFeedback
    from ytheta.control.feedback.pid import PIDFeedback as PIDFeedback
    from ytheta.control.laws.computed_torque import ComputedTorque as ComputedTorque
    from ytheta.control.laws.craig import Craig as Craig
    from ytheta.control.laws.law import Law as Law
    from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi as ModifiedSlotineLi
    from ytheta.control.laws.modified_slotine_li import QuasiComputedTorque as QuasiComputedTorque
    from ytheta.control.laws.pd_gravity import PDGravity as PDGravity
    from ytheta.control.laws.slotine_li import SlotineLi as SlotineLi
    from ytheta.control.laws.spatial_control import SpatialControl as SpatialControl
    from ytheta.control.laws.walker import Walker as Walker
    from ytheta.control.settings import ControllerSettings as ControllerSettings
    from ytheta.control.tuning import suggest_gains as suggest_gains
else:  # The same names by module, for the time when they are first used; a test compares both lists.
    from ytheta.public_names import attach_public_names

    __getattr__, __dir__ = attach_public_names(
        __name__,
        {
            "adaptation.adaptation": "Adaptation",
            "adaptation.composite": "Composite",
            "adaptation.dead_zone": "DeadZone",
            "adaptation.gradient": "Gradient",
            "adaptation.leakage": "Leakage",
            "adaptation.natural": "Natural",
            "adaptation.projection": "Projection",
            "adaptation.reset": "Reset",
            "controller": "Controller Reference State SteppedController",
            "create": "create_controller",
            "feedback.feedback": "Feedback JointErrors LinkErrors Response",
            "feedback.inertial": "InertialFeedback",
            "feedback.pid": "PDFeedback PIDFeedback",
            "laws.computed_torque": "ComputedTorque",
            "laws.craig": "Craig",
            "laws.law": "Law",
            "laws.modified_slotine_li": "ModifiedSlotineLi QuasiComputedTorque",
            "laws.pd_gravity": "PDGravity",
            "laws.slotine_li": "SlotineLi",
            "laws.spatial_control": "SpatialControl",
            "laws.walker": "Walker",
            "settings": "ControllerSettings",
            "tuning": "suggest_gains",
        },
    )
