"""The feedback of Walker's paper: each link is damped in proportion to its initial inertia.

Identity      F_j = -gamma_j I0_j vtilde_j,   eta_j = 0,   S = 0
              dV/dt = -sum over links of gamma_j vtilde_j' I0_j vtilde_j
Reference     [walker1988] (21), (22), and the last lines of the proof
Notation      code    paper     meaning                                                              shape
              gain    gamma_j   gain of the spatial velocity error of a link                         links
"""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.control.feedback.feedback import Feedback, LinkErrors, Response
from ytheta.control.gains import Gain, to_diagonal
from ytheta.dynamics.constraint import build_constraint
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class InertialFeedback(Feedback):
    """Damping of every link by its initial inertia. Walker uses it if its setting ``feedback`` is a gain.

    Attributes
    ----------
    gain  gamma_j in 1/s: one number, or one for each moving link
    """

    gain: Gain

    @property
    def remedy(self) -> str:
        return "the initial inertia is not physically consistent: give consistent inertias as initial"

    def check(self, robot: Robot) -> None:
        to_diagonal("feedback", self.gain, len(build_constraint(robot).mechanism.bodies), per="link")

    def at_link(self, link: LinkErrors) -> Response:
        return Response(link.momentum_error * -link.pick(self.gain))  # (21)
