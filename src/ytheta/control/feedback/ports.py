"""The places where a feedback law acts: every drive (joints, joints that close loops, motors) and every moving link.

A feedback law sees arrays of symbols or of floats, never the structural zeros of ``dynamics.vectors``, because NumPy
functions cannot be applied to a mixture of integers and symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.control.feedback.feedback import NO_FORCE, NO_TORQUE, Feedback, JointErrors, LinkErrors, Response
from ytheta.dynamics.constraint import LoopConstraint
from ytheta.dynamics.mechanism import PER_LINK, scalars
from ytheta.dynamics.vectors import array, zeros
from ytheta.errors import InputError
from ytheta.shapes import AnyPerActuated, AnyPerState, Float, Shaped

MAX_QUOTED = 120  # characters of an error message of NumPy or CasADi
PLACE_IN_SOURCES = re.compile(r"^\S+\.[ch]pp:\d+: ")  # such as ".../casadi/core/sx_elem.cpp:166: "


@dataclass(frozen=True, eq=False)
class CoordinateErrors:
    """Errors of the actuated coordinates, Lambda_jj, and the states of the feedback law.

    The states of the actuated joints come first, one joint after the other, then those of the links.
    """

    position: AnyPerActuated
    position_rate: AnyPerActuated
    convergence: AnyPerActuated
    state: AnyPerState


@dataclass(frozen=True, eq=False)
class FeedbackPorts:
    """A feedback law at the joints and links of a robot. ``initial`` contains m0_j of all links."""

    feedback: Feedback
    loops: LoopConstraint
    initial: Float[np.ndarray, " link_params"]

    def __post_init__(self) -> None:
        _check_state_count(self.feedback, "joint_states", "actuated joint")
        _check_state_count(self.feedback, "link_states", "moving link")

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The names of the drives, in the order of ``DriveMotion``."""
        return self.loops.robot.moving

    @cached_property
    def links(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.loops.mechanism.bodies)

    @property
    def state_size(self) -> int:
        coordinates = len(self.loops.robot.actuated)
        return coordinates * self.feedback.joint_states + len(self.links) * self.feedback.link_states

    def respond_at_joint(
        self,
        drive: int,
        error: Shaped[np.ndarray, "1"],
        reference: Shaped[np.ndarray, "1"],
        coordinates: CoordinateErrors,
        model_torque: Shaped[np.ndarray, "1"] = NO_TORQUE,
    ) -> Response:
        """Return the response at a drive with these velocity error and reference velocity."""
        name = self.joints[drive]
        k = self.find_coordinate(drive)
        place = slice(0, 0) if k is None else slice(k, k + 1)
        position = [v[place] if k is not None else zeros(1) for v in _list_vectors(coordinates)]
        states = 0 if k is None else self.feedback.joint_states
        state = coordinates.state[: len(self.loops.robot.actuated) * self.feedback.joint_states]
        own = state.reshape(-1, states)[k] if states else state[:0]
        arguments = (error, reference, *position, own, model_torque)
        joint = JointErrors(name, k, *_unify_scalars(arguments))
        response = self._respond(self.feedback.at_joint, joint, f"joint {name!r}")
        return self._check_response(response, f"joint {name!r}", size=1, states=states)

    def respond_at_link(
        self,
        link: int,
        error: Shaped[np.ndarray, "6"],
        reference: Shaped[np.ndarray, "6"],
        state: AnyPerState,
        model_force: Shaped[np.ndarray, "6"] = NO_FORCE,
    ) -> Response:
        """Return the response at a link; ``state`` contains all states of the feedback law."""
        states, name = self.feedback.link_states, self.links[link]
        first = len(state) - len(self.links) * states + link * states
        error, reference, own, model = _unify_scalars((error, reference, state[first : first + states], model_force))
        initial = self.initial[PER_LINK * link : PER_LINK * (link + 1)]
        errors = LinkErrors(name, link, error, reference, initial, own, model)
        response = self._respond(self.feedback.at_link, errors, f"link {name!r}")
        return self._check_response(response, f"link {name!r}", size=6, states=states)

    def find_coordinate(self, drive: int) -> int | None:
        """Return the index of the actuated coordinate that is the position of a drive, or None."""
        name, actuated = self.joints[drive], self.loops.robot.actuated
        return actuated.index(name) if name in actuated else None

    def compute_storage(self, coordinates: CoordinateErrors) -> Any:
        """Return S. It does not depend on velocities, which are set to zero."""
        total: Any = 0.0
        for drive in range(len(self.joints)):
            total = total + self.respond_at_joint(drive, zeros(1), zeros(1), coordinates).storage
        if self.feedback.link_states:
            for link in range(len(self.links)):
                total = total + self.respond_at_link(link, zeros(6), zeros(6), coordinates.state).storage
        return total

    def _respond(self, method: Callable[[Any], Any], errors: JointErrors | LinkErrors, place: str) -> Any:
        """Call a method of the feedback law; raise if it cannot be evaluated with symbols."""
        try:
            return method(errors)
        except (TypeError, RuntimeError) as error:
            raise InputError(
                f"feedback {type(self.feedback).__name__} cannot be evaluated with symbols at {place} "
                f"({_quote(error)}); conditions, np.sign, np.clip, np.maximum and np.where "
                "need numbers: use functions such as np.tanh, np.sqrt and np.abs"
            ) from error

    def _check_response(self, response: Any, place: str, *, size: int, states: int) -> Response:
        """Return the response with arrays as output and rates; raise if they have wrong sizes.

        A column is accepted: NumPy returns one if an array is multiplied by a symbol, such as ``e * np.sum(e**2)``.
        """
        name = type(self.feedback).__name__
        if not isinstance(response, Response):
            raise InputError(
                f"feedback {name} returns {type(response).__name__} at {place}; return Response(output, …), with an "
                f"output of {size} entr{'y' if size == 1 else 'ies'}"
            )
        response = response._replace(output=_flatten(response.output), state_rate=_flatten(response.state_rate))
        for title, vector, length in (("output", response.output, size), ("state_rate", response.state_rate, states)):
            shape = getattr(vector, "shape", None) or np.shape(vector)  # NumPy warns about symbols of CasADi
            if shape != (length,):
                raise InputError(
                    f"feedback {name} returns {title} of shape {shape} at {place}; return an array of shape ({length},)"
                )
        return response


def _check_state_count(feedback: Feedback, name: str, per: str) -> None:
    """Raise unless a property of a feedback law is a number of states."""
    count = getattr(feedback, name)
    if callable(count):
        raise InputError(
            f"{name} of feedback {type(feedback).__name__} is a method; write @property above it, so that it is the "
            f"number of states of each {per}"
        )
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise InputError(
            f"{name} of feedback {type(feedback).__name__} is {count!r}; return the number of states of each {per}, a "
            "whole number that is not negative"
        )


def _flatten(vector: Any) -> Any:
    """Return a column of symbols or numbers as a vector, and everything else as it is."""
    import casadi

    if isinstance(vector, casadi.SX | casadi.DM) and vector.is_column():
        return scalars(casadi.SX(vector))
    return vector[:, 0] if isinstance(vector, np.ndarray) and vector.ndim == 2 and vector.shape[1] == 1 else vector


def _quote(error: Exception) -> str:
    """Return the first line of an error message, without the place in the sources of CasADi."""
    return PLACE_IN_SOURCES.sub("", str(error).partition("\n")[0]).rstrip(".")[:MAX_QUOTED]


def _list_vectors(coordinates: CoordinateErrors) -> tuple[np.ndarray, ...]:
    return coordinates.position, coordinates.position_rate, coordinates.convergence


def _unify_scalars(vectors: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Return arrays of floats if no entry is a symbol, else object arrays of symbols."""
    import casadi

    if not any(isinstance(entry, casadi.SX) for vector in vectors for entry in vector):
        return [np.asarray(vector, dtype=float) for vector in vectors]
    return [array([casadi.SX(entry) for entry in vector]) for vector in vectors]
