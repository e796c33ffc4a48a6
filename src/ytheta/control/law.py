"""What all controllers share: symbols, the graph of a law, its step, torque limits, its Lyapunov function.

A law is written once, in symbols: torque and the rate of what is remembered. From it come the graph, the kernel behind
``step``, and whatever others compile from the graph. ``step`` moves x on by explicit Euler with the rate at the present
sample, as a robot's own controller does: x(t) = x(before) + (t - before) xdot. The torque is that of x(before). In
laws of the Slotine-Li kind the rate does not depend on x, so that nothing is lost but what happened between samples.

Torque limits cut the torque; the proofs of the laws end where they do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.control.controller import Joints, Reference, State, Unknown
from ytheta.control.gains import Gain, diagonal
from ytheta.control.learnt import Learnt
from ytheta.control.model import Model
from ytheta.control.symbols import Actuated, Symbols, traced
from ytheta.errors import InputError
from ytheta.formulation.closing import constraint
from ytheta.formulation.graph import Graph, Input, trace
from ytheta.formulation.motion import scalars
from ytheta.formulation.vectors import array
from ytheta.kernels import AnyKernel, ClosedKernel
from ytheta.native import compile_graph
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped


class Law(ABC):
    """The methods of ``Controller`` for a law in symbols. Those who implement it are frozen dataclasses, and final."""

    robot: Robot
    torque_limits: Gain | None

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def learnt(self) -> Learnt:
        """What is learnt, and what the rest is taken for."""

    @abstractmethod
    def written(self, s: Symbols) -> tuple[Actuated, Shaped[np.ndarray, "unknown"]]:
        """tau, before it is limited, and dx/dt."""

    @abstractmethod
    def proof(self, s: Symbols, true: Model, wrong: Shaped[np.ndarray, "unknown"]) -> Any:
        """The Lyapunov function; ``wrong`` is the estimate minus the truth."""

    def check(self) -> None:
        """Refuse settings that no law can work with; the laws check their gains themselves."""
        if self.torque_limits is not None:
            diagonal("torque_limits", self.torque_limits, len(self.robot.actuated), per="actuated coordinate")

    @property
    def measures_acceleration(self) -> bool:
        """Whether the graph has qdd after qd."""
        return False

    @property
    def unknown(self) -> tuple[str, ...]:
        return self.learnt.names

    @cached_property
    def graph(self) -> Graph:
        """(q, qd, qr, qrd, qrdd, x) → (tau, dx/dt); with loops the first input are all coordinates, closed."""
        inputs, s = traced(self.robot, self.learnt, acceleration=self.measures_acceleration)
        tau, rate = self.written(s)
        if self.torque_limits is not None:
            tau = _limited(tau, diagonal("torque_limits", self.torque_limits, len(tau), per="actuated coordinate"))
        return trace(self.name, inputs, np.concatenate([tau, rate]), made_from=f"{self.name} of {self.robot.name}")

    @cached_property
    def lyapunov_graph(self) -> Graph:
        """(q, qd, qr, qrd, qrdd, x, truth) → the Lyapunov function, an array of one entry."""
        import casadi

        inputs, s = traced(self.robot, self.learnt, acceleration=False)
        truth = casadi.SX.sym("truth", len(self.unknown))
        true = Model(s.model.loops, self.learnt.filled(scalars(truth)))
        value = self.proof(s, true, scalars(s.unknown) - scalars(truth))
        inputs = [*inputs, (Input("truth", len(self.unknown)), truth)]
        return trace(f"Lyapunov function of {self.name}", inputs, array([value]), made_from=self.robot.name)

    def init(self, q: Joints, qd: Joints, *, estimate: Unknown | None = None, t: float = 0.0) -> State:
        n = len(self.robot.actuated)
        _vector("q", q, n, "actuated coordinate")
        _vector("qd", qd, n, "actuated coordinate")
        x = self.learnt.described if estimate is None else estimate
        return State(float(t), _vector("estimate", x, len(self.unknown), "unknown parameter").copy())

    def step(
        self, state: State, t: float, q: Joints, qd: Joints, reference: Reference, qdd: Joints | None = None
    ) -> tuple[Joints, State]:
        passed = t - state.t
        if not passed >= 0.0:
            raise InputError(f"{self.name}: a step from t = {state.t:g} to {t:g}; time goes forwards")
        one, n = self._one
        if self.measures_acceleration:
            if qdd is None:
                raise InputError(f"{self.name} needs measured accelerations; give qdd")
            out = one(q, qd, qdd, reference.q, reference.qd, reference.qdd, state.x)
        else:
            out = one(q, qd, reference.q, reference.qd, reference.qdd, state.x)
        if not math.isfinite(out.dot(out)):
            raise InputError(f"{self.name}: at t = {t:g} {self.trouble(state)}")
        return out[:n], State(t, state.x + passed * out[n:])

    def trouble(self, state: State) -> str:  # noqa: ARG002
        """Why torque or rates are no longer numbers, and what to do."""
        return "torque or adaptation are too large to be numbers: the loop is unstable; take smaller gains or steps"

    def lyapunov(self, state: State, q: Joints, qd: Joints, reference: Reference, truth: Unknown) -> float:
        kernel = self._lyapunov
        return float(kernel.one(q, qd, reference.q, reference.qd, reference.qdd, state.x, truth)[0])

    @cached_property
    def _one(self) -> tuple[Any, int]:
        """The call behind ``step``, and how many entries of its answer are torques."""
        return self._compiled(self.graph).one, len(self.robot.actuated)

    @cached_property
    def _lyapunov(self) -> AnyKernel:
        return self._compiled(self.lyapunov_graph)

    def _compiled(self, graph: Graph) -> AnyKernel:
        kernel = compile_graph(graph)
        return ClosedKernel(constraint(self.robot), kernel) if self.robot.loops else kernel


def nothing_learnt(robot: Robot) -> Learnt:
    """Of laws that know everything."""
    return Learnt((), (), robot.numeric.theta)


def _limited(tau: Actuated, limits: Float[np.ndarray, "actuated"]) -> Actuated:
    import casadi

    return array([casadi.fmin(casadi.fmax(entry, -most), most) for entry, most in zip(tau, limits, strict=True)])


def _vector(name: str, given: Any, size: int, per: str) -> np.ndarray:
    try:
        vector = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {given!r}; give {size} numbers, one per {per}") from None
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise InputError(f"{name} has shape {vector.shape}, or NaN in it; give {size} finite numbers, one per {per}")
    return vector
