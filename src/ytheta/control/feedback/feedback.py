"""The interface of feedback laws: what a law adds to the model terms of Walker's controller at each link and joint.

Identity      Fhat_j = (model term) + F_j,   etahat_j = d_hat_j qd_j + eta_j,   tau = Eᵀ rhohat
              V = (26) + S,   dV/dt = P,   P = sum over links and joints of (vtilde_j' F_j + qtildedot_j eta_j) + dS/dt
Reference     [walker1988] sec. 4: the class of feedback laws, (16), (21), (22), and the proof (26)-(29)
Notation      code                paper         meaning                                                    shape
              velocity_error      vtilde_j      v_j - vhat_j of a link: angular, then linear, link axes    6
                                  qtildedot_j   of a joint: qd_j - qhatdot_j                               1
              reference_velocity  vhat_j, qhatdot_j                                                        6 or 1
              position_error      Q_e           q - qr of an actuated joint                                1
              convergence         Lambda_jj     of an actuated joint                                       1
              initial             m0_j          the ten parameters of I0_j                                 10
              output              F_j           force, then moment about the origin of the link frame      6
                                  eta_j         torque of a joint, or force of a prismatic joint           1
              state               -             the law's own states, such as integrals; zero at the start
              storage             S_j           energy that the law stores in position errors and states
Conditions    The paper allows any functions of desired and actual motion, and proves stability for (21) and (22). Its
              proof holds for every law that meets these conditions, checked when the controller is created:
              finite       F_j, eta_j, rates and S_j are finite for every motion
              equilibrium  they are zero at zero errors and zero states
              storage      S_j >= 0, and S_j > 0 if a state is not zero, so that V (26) is bounded from below and
                           bounds the states; S_j does not depend on velocities
              dissipation  vtilde_j' F_j + dS_j/dt <= 0, likewise for joints: dV/dt <= 0, by (27)-(29)
              damping      P < 0 for every Qtildedot that is not zero, so that dV/dt → 0 implies Qtildedot → 0
                           (last lines of the proof, I0_j > 0 in the paper)
              continuity   F_j and eta_j approach zero with the errors: dV/dt → 0 follows from dV/dt <= 0 only if dV/dt
                           is uniformly continuous, which the paper does not mention
              model        in ``SpatialControl``, Fhat_j and etahat_j contain the model terms of (21) and (22); a law
                           without them is accepted, but its errors need not vanish
Sufficient    Dissipation is required of each link and each joint, not only of their sum, so that a refusal names one.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ytheta.control.gains import Gain, describe_gain
from ytheta.dynamics.formulations.spatial_tree import momentum_columns
from ytheta.dynamics.vectors import dot, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnySpatialVector, Shaped

NO_STATES, NO_TORQUE, NO_FORCE = zeros(0), zeros(1), zeros(6)


@dataclass(frozen=True, eq=False)
class LinkErrors:
    """The arguments of a feedback law at one link; velocities are in the axes of the link, angular part first.

    Attributes
    ----------
    name                name of the link
    index               its place among the moving links
    velocity_error      vtilde_j: angular and linear velocity of the link minus those that follow from the reference
    reference_velocity  vhat_j
    initial             the ten parameters of the initial inertia I0_j, in the order of ``conventions``
    state               the states of the feedback law at this link
    model_force         in ``SpatialControl``, the force of (21) that cancels the dynamics of the link; elsewhere zero,
                        since the controller adds it
    """

    name: str
    index: int
    velocity_error: AnySpatialVector
    reference_velocity: AnySpatialVector
    initial: Shaped[np.ndarray, "10"]
    state: AnyPerState
    model_force: AnySpatialVector = field(default_factory=lambda: NO_FORCE)

    @property
    def velocity(self) -> AnySpatialVector:
        return self.reference_velocity + self.velocity_error

    @property
    def momentum_error(self) -> AnySpatialVector:
        """I0_j vtilde_j: momentum, then angular momentum, of the velocity error."""
        return dot(momentum_columns(self.velocity_error), self.initial)

    def pick(self, gain: Gain) -> float:
        """Return the entry of a gain that belongs to this link; the gain is one number, or one for each link."""
        return _pick(gain, self.index)


@dataclass(frozen=True, eq=False)
class JointErrors:
    """The arguments of a feedback law at one joint; vectors have one entry.

    Attributes
    ----------
    name                name of the joint
    index               its place among the actuated coordinates; None if the joint is not actuated
    velocity_error      qtildedot_j
    reference_velocity  qhatdot_j
    position_error      Q_e = q - qr; zero if the joint is not actuated
    position_error_rate its derivative
    convergence         Lambda_jj; zero if the joint is not actuated
    state               the states of the feedback law at this joint; empty if the joint is not actuated
    model_torque        in ``SpatialControl``, the torque of (22) that cancels friction, rotor and declared forces of
                        the joint; elsewhere zero, since the controller adds it
    """

    name: str
    index: int | None
    velocity_error: Shaped[np.ndarray, "1"]
    reference_velocity: Shaped[np.ndarray, "1"]
    position_error: Shaped[np.ndarray, "1"]
    position_error_rate: Shaped[np.ndarray, "1"]
    convergence: Shaped[np.ndarray, "1"]
    state: AnyPerState
    model_torque: Shaped[np.ndarray, "1"] = field(default_factory=lambda: NO_TORQUE)

    @property
    def velocity(self) -> Shaped[np.ndarray, "1"]:
        return self.reference_velocity + self.velocity_error

    def pick(self, gain: Gain) -> float:
        """Return the entry of a gain for this actuated joint; the gain is one number, or one for each coordinate."""
        return _pick(gain, self.index)


class Response(NamedTuple):
    """What a feedback law returns for one link or joint.

    Attributes
    ----------
    output      F_j of a link: force, then moment, 6 entries; or eta_j of a joint, one entry
    state_rate  time derivative of the law's states at this link or joint
    storage     S_j, a number or symbol
    """

    output: Shaped[np.ndarray, " size"]
    state_rate: AnyPerState = NO_STATES
    storage: Any = 0.0


class Feedback(ABC):  # noqa: B024 - a law may act at links only, at joints only, or at both
    """A feedback law. Implementations are frozen dataclasses and are not subclassed.

    Write ``at_joint``, ``at_link`` or both with NumPy functions of arrays. They are called with symbols to build the
    graph of the controller, and with numbers.
    """

    def __repr__(self) -> str:
        settings = [f"{name}={describe_gain(getattr(self, name))}" for name in self.gain_names]
        return f"{type(self).__name__}({', '.join(settings)})"

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The names of the settings."""
        return tuple(each.name for each in fields(self))  # type: ignore[arg-type]

    @property
    def remedy(self) -> str:
        """What to do if the law does not dissipate; the end of an error message."""
        return (
            "let the output oppose the velocity error (at a link, the output is force, then moment, and the velocity "
            "error angular, then linear), and count the energy that the law stores as storage"
        )

    @property
    def joint_states(self) -> int:
        """The number of states of each actuated joint."""
        return 0

    @property
    def link_states(self) -> int:
        """The number of states of each moving link."""
        return 0

    def at_joint(self, joint: JointErrors) -> Response:  # noqa: ARG002
        """Return eta_j, the rates of the states and the storage of a joint; also called for passive joints."""
        return Response(zeros(1))

    def at_link(self, link: LinkErrors) -> Response:  # noqa: ARG002
        """Return F_j, the rates of the states and the storage of a link."""
        return Response(zeros(6))

    def check(self, robot: Robot) -> None:  # noqa: B027 - laws without settings have nothing to check
        """Raise if the settings do not fit the robot."""


def _pick(gain: Gain, index: int | None) -> float:
    entries = np.asarray(gain, dtype=float)
    return float(entries[index] if entries.ndim else entries)
