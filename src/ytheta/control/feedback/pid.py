"""PID feedback at the actuated joints.

Identity      eta_j = -K_p e - K_i z - K_d ed,   dz/dt = e
              S_j = a e² / 2 + (K_i / Lambda) (e + Lambda z)² / 2,   a = K_p - Lambda K_d - K_i / Lambda
              P_j = -K_d r² - Lambda a e²,   because d/dt (e + Lambda z) = r
Reference     [walker1988] sec. 4: "a fairly broad class which include classical PID controllers"; (17): e + Lambda z is
              Qtilde = Q - Qhat of the reference trajectory Qhat, up to its initial value
Notation      code        meaning                                                          shape
              stiffness   K_p: gain of e = q - qr, in Nm/rad or N/m                        actuated
              integral    K_i: gain of z, in Nm/(rad s) or N/(m s)                         actuated
              damping     K_d: gain of ed, in Nm s/rad or N s/m                            actuated
Condition     K_p >= Lambda K_d + K_i / Lambda
"""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.control.feedback.feedback import Feedback, JointErrors, Response
from ytheta.control.gains import PER_COORDINATE, Gain, to_diagonal
from ytheta.dynamics.vectors import zeros
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PIDFeedback(Feedback):
    """PID feedback at every actuated joint, beside the model terms of Walker's controller.

    Attributes
    ----------
    stiffness  K_p, one number or one per actuated joint; at least convergence * damping + integral / convergence
    integral   K_i, one number or one per actuated joint
    damping    K_d, one number or one per actuated joint
    """

    stiffness: Gain
    integral: Gain
    damping: Gain

    @property
    def remedy(self) -> str:
        return "give a stiffness of at least convergence * damping + integral / convergence"

    @property
    def joint_states(self) -> int:
        return 1

    def check(self, robot: Robot) -> None:
        for name in ("stiffness", "integral", "damping"):
            to_diagonal(name, getattr(self, name), len(robot.actuated), per=PER_COORDINATE)

    def at_joint(self, joint: JointErrors) -> Response:
        if joint.index is None:
            return Response(zeros(1))
        K_p, K_i, K_d = (joint.pick(gain) for gain in (self.stiffness, self.integral, self.damping))
        e, z, Lambda = joint.position_error, joint.state, joint.convergence
        Qtilde, b = e + Lambda * z, K_i / Lambda
        spring = K_p - Lambda * K_d - b
        storage = (0.5 * spring * e) @ e + (0.5 * b * Qtilde) @ Qtilde
        return Response(e * -K_p - z * K_i - joint.position_error_rate * K_d, state_rate=e, storage=storage)


# PD feedback at the actuated joints.
#
# Identity      eta_j = -K_p e - K_d ed,   S_j = (K_p - Lambda K_d) e² / 2,
#               P_j = -K_d r² - Lambda (K_p - Lambda K_d) e²
# Reference     [walker1988] sec. 4: "a fairly broad class which include classical PID controllers"; (17)
# Notation      code        meaning                                                          shape
#               stiffness   K_p: gain of e = q - qr, in Nm/rad or N/m                        actuated
#               r           Qtildedot = ed + Lambda e                                        actuated
#               damping     K_d: gain of ed, in Nm s/rad or N s/m                            actuated
# Condition     K_p >= Lambda K_d. For K_p = Lambda K_d, eta_j = -K_d r, as in slotine-li with a diagonal damping.


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
