"""PD feedback at the actuated joints.

Identity      eta_j = -K_p e - K_d ed,   S_j = (K_p - Lambda K_d) e² / 2,   P_j = -K_d r² - Lambda (K_p - Lambda K_d) e²
Reference     [walker1988] sec. 4: "a fairly broad class which include classical PID controllers"; (17)
Notation      code        meaning                                                          shape
              stiffness   K_p: gain of e = q - qr, in Nm/rad or N/m                        actuated
              r           Qtildedot = ed + Lambda e                                        actuated
              damping     K_d: gain of ed, in Nm s/rad or N s/m                            actuated
Condition     K_p >= Lambda K_d. For K_p = Lambda K_d, eta_j = -K_d r, as in slotine-li with a diagonal damping.
"""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.control.feedback.feedback import Feedback, JointErrors, Response
from ytheta.control.gains import PER_COORDINATE, Gain, to_diagonal
from ytheta.dynamics.vectors import zeros
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PDFeedback(Feedback):
    """A spring and a damper at every actuated joint, beside the model terms of Walker's controller.

    Attributes
    ----------
    stiffness  K_p, one number or one per actuated joint; at least convergence times damping
    damping    K_d, one number or one per actuated joint
    """

    stiffness: Gain
    damping: Gain

    @property
    def remedy(self) -> str:
        return "give a stiffness of at least convergence * damping"

    def check(self, robot: Robot) -> None:
        for name in ("stiffness", "damping"):
            to_diagonal(name, getattr(self, name), len(robot.actuated), per=PER_COORDINATE)

    def at_joint(self, joint: JointErrors) -> Response:
        if joint.index is None:
            return Response(zeros(1))
        e, K_p, K_d = joint.position_error, joint.pick(self.stiffness), joint.pick(self.damping)
        spring = K_p - joint.convergence * K_d
        return Response(e * -K_p - joint.position_error_rate * K_d, storage=(0.5 * spring * e) @ e)
