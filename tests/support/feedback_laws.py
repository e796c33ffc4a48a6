"""Feedback laws of a user: nonlinear ones that meet the conditions of Walker's proof, and ones that break them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.control.feedback.feedback import Feedback, JointErrors, LinkErrors, Response


@dataclass(frozen=True, eq=False, repr=False)
class Saturating(Feedback):
    """A torque of every joint, also of passive ones, that no velocity error makes larger than ``limit``."""

    limit: float
    width: float

    def at_joint(self, joint: JointErrors) -> Response:
        return Response(-self.limit * np.tanh(joint.velocity_error / self.width))


@dataclass(frozen=True, eq=False, repr=False)
class SaturatingIntegral(Feedback):
    """Saturating damping and a saturating integral: S = stiffness log cosh z, a storage that is not quadratic."""

    damping: float
    stiffness: float

    @property
    def joint_states(self) -> int:
        return 1

    def at_joint(self, joint: JointErrors) -> Response:
        z = joint.state
        if joint.index is None:
            return Response(0.0 * joint.velocity_error)
        output = -self.damping * np.tanh(joint.velocity_error) - self.stiffness * np.tanh(z)
        return Response(output, state_rate=joint.velocity_error, storage=self.stiffness * np.log(np.cosh(z))[0])


@dataclass(frozen=True, eq=False, repr=False)
class LinkSprings(Feedback):
    """Springs and dampers between every link and its reference motion, weighted by the initial inertia.

    z is the integral of the spatial velocity error in link axes, and S = stiffness z' I0 z / 2.
    """

    stiffness: float
    damping: float

    @property
    def link_states(self) -> int:
        return 6

    def at_link(self, link: LinkErrors) -> Response:
        spring = LinkErrors(link.name, link.index, link.state, link.state, link.initial, link.state).momentum_error
        output = -self.damping * link.momentum_error - self.stiffness * spring
        storage = 0.5 * self.stiffness * (link.state[:3] @ spring[3:] + link.state[3:] @ spring[:3])
        # Link inertias may be singular (rods): a small spring of the state alone keeps the storage positive.
        return Response(
            output - 1e-3 * np.roll(link.state, 3), link.velocity_error, storage + 0.5e-3 * (link.state @ link.state)
        )


@dataclass(frozen=True, eq=False, repr=False)
class Scaled(Feedback):
    """Another feedback law times a factor."""

    inner: Feedback
    factor: float

    @property
    def joint_states(self) -> int:
        return self.inner.joint_states

    @property
    def link_states(self) -> int:
        return self.inner.link_states

    def at_joint(self, joint: JointErrors) -> Response:
        return self._scale(self.inner.at_joint(joint))

    def at_link(self, link: LinkErrors) -> Response:
        return self._scale(self.inner.at_link(link))

    def _scale(self, response: Response) -> Response:
        return Response(self.factor * response.output, response.state_rate, self.factor * response.storage)


@dataclass(frozen=True, eq=False, repr=False)
class AntiDamping(Feedback):
    """Damps slow errors and drives fast ones: it breaks the condition on dissipation above a velocity error of ½."""

    gain: float

    def at_joint(self, joint: JointErrors) -> Response:
        r = joint.velocity_error
        return Response(-self.gain * r * (1.0 - 4.0 * r * r) / (1.0 + r * r))
