"""What all controllers share: the graph of a law, its step, torque limits, its Lyapunov function.

A law is written once, in symbols: its torque, and what its adaptation needs. From it come the graph, the kernel behind
``step``, and whatever others compile from the graph. ``step`` moves x on by explicit Euler with the rate at the present
sample, as a robot's own controller does: x(t) = x(before) + (t - before) xdot. The torque is that of x(before). In
laws of the Slotine-Li kind the rate does not depend on x, so that nothing is lost but what happened between samples.

Torque limits cut the torque; the proofs of the laws end where they do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, Nothing, Seen
from ytheta.control.controller import Reference, State
from ytheta.control.gains import Gain, diagonal, matrix, scalar, scaled
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.control.symbols import Symbols, traced
from ytheta.control.unknowns import Unknowns
from ytheta.control.warm_start import Following
from ytheta.dynamics.kernels import AnyKernel, ClosedKernel
from ytheta.dynamics.loops.closing import constraint
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array
from ytheta.engine.description import Description
from ytheta.errors import InputError, UnknownNameError, UnstableError, suggest_names
from ytheta.native import compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, Float, PerJoint, PerUnknown, Shaped, SquareMatrix

ADAPTATION = "adaptation"
PER_COORDINATE = "actuated coordinate"


class Written(NamedTuple):
    """tau, before it is limited; the error a law works on, and its slope Y_uᵀ error."""

    tau: AnyPerActuated
    error: AnyPerActuated
    slope: Shaped[np.ndarray, "unknown"]


class Shape(Enum):
    """What a gain of a law may be."""

    MATRIX = "one number, one for each coordinate, or a matrix"
    DIAGONAL = "one number, or one for each coordinate"
    NUMBER = "one number"
    LINKS = "one number, or one for each link"


@dataclass(frozen=True, eq=False)
class Law(Description, ABC):
    """The methods of ``Controller`` for a law in symbols. Those who implement it are frozen dataclasses, and final.

    ``GAINS`` names the fields that are gains, and what they may be.
    """

    robot: Robot
    _: KW_ONLY
    torque_limits: Gain | None = None

    GAINS: ClassVar[Mapping[str, Shape]]

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def written(self, s: Symbols) -> Written: ...

    @abstractmethod
    def proof(self, s: Symbols, true: SymbolicModel) -> Any:
        """The Lyapunov function without the estimate's part."""

    def __post_init__(self) -> None:
        """Refuse settings that the law cannot work with."""
        _ = self.max_torque, self.gains
        self.adaptation_law.check(self.robot, self.unknowns)

    @property
    def unknowns(self) -> Unknowns:
        """What is learnt, and what the rest is taken for."""
        return Unknowns((), (), self.robot.numeric.theta)

    @property
    def adaptation_law(self) -> Adaptation:
        """How it is learnt."""
        return Nothing()

    @property
    def max_torque(self) -> Float[np.ndarray, "actuated"] | None:
        """The torque limits as numbers, one per coordinate; some may be infinite."""
        if self.torque_limits is None:
            return None
        limits, n = self.torque_limits, len(self.robot.actuated)
        try:
            free = np.isposinf(np.asarray(limits, dtype=float))
        except (TypeError, ValueError):
            free = np.zeros(n, dtype=bool)  # no numbers: ``diagonal`` says so
        found = diagonal("torque_limits", np.where(free, 1.0, limits) if free.any() else limits, n, per=PER_COORDINATE)
        own = free.diagonal() if free.ndim == 2 else np.broadcast_to(free, n)
        return np.where(own, np.inf, found) if free.any() else found

    @property
    def max_step(self) -> float:
        """The longest time between two steps, in s, with which bounds and bodies of the estimate hold."""
        return self.adaptation_law.max_step

    @property
    def needs_acceleration(self) -> bool:
        """Whether the graph has qdd after qd."""
        return False

    @property
    def unknown_names(self) -> tuple[str, ...]:
        return self.unknowns.names

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The gains that ``graph_with`` can take factors of."""
        return (*self.GAINS, ADAPTATION) if self.unknown_names else tuple(self.GAINS)

    def check_factors(self, factors: Mapping[str, Float[np.ndarray, "runs"]]) -> None:
        """Refuse factors, one for every run, that make gains which the law would refuse."""
        for name, values in factors.items():
            self._known(name)
            wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))
            if len(wrong):
                raise InputError(f"the factor of {name} in run {wrong[0]} is {values[wrong[0]]:g}; give one above 0")

    @cached_property
    def gains(self) -> Mapping[str, SquareMatrix]:
        """The gains as matrices."""
        return {name: self._gain(name, shape) for name, shape in self.GAINS.items()}

    @cached_property
    def graph(self) -> Graph:
        """(q, qd, qr, qrd, qrdd, x) → (tau, dx/dt); with loops the first input are all coordinates, closed."""
        return self.graph_with(())

    def graph_with(self, factors: Sequence[str]) -> Graph:
        """The graph with one more input: factors of these gains."""
        inputs, s = self._traced(factors, acceleration=self.needs_acceleration)
        tau, error, slope = self.written(s)
        if self.max_torque is not None:
            tau = _limited(tau, self.max_torque)
        rate, change = self.adaptation_law.rate(Seen(s, error, slope, tau))
        output = np.concatenate([tau, scaled(rate, s.factors.get(ADAPTATION, 1)), change])
        return trace(self.name, inputs, output, made_from=f"{self.name} of {self.robot.name}")

    def lyapunov_graph(self, factors: Sequence[str] = ()) -> Graph:
        """(q, qd, qr, qrd, qrdd, x [, factors], truth) → the Lyapunov function, an array of one entry."""
        import casadi

        inputs, s = self._traced(factors, acceleration=False)
        truth = casadi.SX.sym("truth", len(self.unknown_names))
        true = SymbolicModel(s.model.loops, self.unknowns.fill(scalars(truth)))
        away = self.adaptation_law.distance(self.unknowns, s.estimate, scalars(truth)) / s.factors.get(ADAPTATION, 1)
        inputs = [*inputs, (Input("truth", len(self.unknown_names)), truth)]
        value = array([self.proof(s, true) + away])
        return trace(f"Lyapunov function of {self.name}", inputs, value, made_from=self.robot.name)

    def init(self, q: PerJoint, qd: PerJoint, *, estimate: PerUnknown | None = None, t: float = 0.0) -> State:
        n = len(self.robot.actuated)
        q, qd = (_vector(name, given, n, PER_COORDINATE) for name, given in (("q", q), ("qd", qd)))
        begun = self.unknowns.nominal if estimate is None else estimate
        begun = _vector("estimate", begun, len(self.unknown_names), "unknown parameter")
        return State(float(t), np.concatenate([begun, self.adaptation_law.init(self.robot, self.unknowns, q, qd, begun)]))

    def step(
        self, state: State, t: float, q: PerJoint, qd: PerJoint, reference: Reference, qdd: PerJoint | None = None
    ) -> tuple[PerJoint, State]:
        passed = t - state.t
        if not passed >= 0.0:
            raise InputError(f"{self.name}: a step from t = {state.t:g} to {t:g}; time goes forwards")
        motion: tuple[PerJoint, ...] = (qd,)
        if self.needs_acceleration:
            if qdd is None:
                raise InputError(f"{self.name} needs measured accelerations; give qdd")
            motion = (qd, qdd)
        given = (*motion, reference.q, reference.qd, reference.qdd, state.x)
        one, n, closed = self._one, len(self.robot.actuated), None
        if isinstance(one, Following):
            out, closed = one(state.warm_start, q, *given)
        else:
            out = one(q, *given)
        if not math.isfinite(out.dot(out)):
            raise UnstableError(f"{self.name}: at t = {t:g} {self.trouble(state)}")
        return out[:n], State(t, state.x + passed * out[n:], closed)

    def trouble(self, state: State) -> str:  # noqa: ARG002
        """Why torque or rates are no longer numbers, and what to do."""
        return "torque or adaptation are too large to be numbers: the loop is unstable; take smaller gains or steps"

    def lyapunov(self, state: State, q: PerJoint, qd: PerJoint, reference: Reference, truth: PerUnknown) -> float:
        kernel = self._lyapunov
        return float(kernel.one(q, qd, reference.q, reference.qd, reference.qdd, state.x, truth)[0])

    def compile(self, graph: Graph) -> AnyKernel:
        """A graph of this law as a kernel that takes actuated coordinates, whether the robot has loops or not."""
        kernel = compile_graph(graph)
        return ClosedKernel(constraint(self.robot), kernel) if self.robot.loops else kernel

    @cached_property
    def _one(self) -> Following | Callable[..., Any]:
        """The call behind ``step``."""
        if self.robot.loops:
            return Following(constraint(self.robot), self.graph)
        return compile_graph(self.graph).one

    @cached_property
    def _lyapunov(self) -> AnyKernel:
        return self.compile(self.lyapunov_graph())

    def _traced(self, factors: Sequence[str], *, acceleration: bool) -> tuple[list[tuple[Input, Any]], Symbols]:
        for name in factors:
            self._known(name)
        more = self.adaptation_law.states(self.robot, self.unknowns)
        return traced(self.robot, self.unknowns, self.gains, more=more, acceleration=acceleration, varied=factors)

    def _known(self, gain: str) -> None:
        if gain not in self.gain_names:
            raise UnknownNameError(f"{self.name} has no gain {gain!r}{suggest_names(gain, self.gain_names)}")

    def _gain(self, name: str, shape: Shape) -> SquareMatrix:
        given, n = getattr(self, name), len(self.robot.actuated)
        if shape is Shape.MATRIX:
            return matrix(name, given, n, per=PER_COORDINATE)
        if shape is Shape.DIAGONAL:
            return np.diag(diagonal(name, given, n, per=PER_COORDINATE))
        if shape is Shape.NUMBER:
            return scalar(name, given) * np.eye(n)
        return np.diag(diagonal(name, given, len(constraint(self.robot).mechanism.bodies), per="link"))


def _limited(tau: AnyPerActuated, limits: Float[np.ndarray, "actuated"]) -> AnyPerActuated:
    import casadi

    def cut(entry: Any, most: float) -> Any:
        return casadi.fmin(casadi.fmax(entry, -most), most) if np.isfinite(most) else entry

    return array([cut(entry, most) for entry, most in zip(tau, limits, strict=True)])


def _vector(name: str, given: Any, size: int, per: str) -> np.ndarray:
    try:
        vector = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {given!r}; give {size} numbers, one per {per}") from None
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise InputError(f"{name} has shape {vector.shape}, or NaN in it; give {size} finite numbers, one per {per}")
    return vector
