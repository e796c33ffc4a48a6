"""The base of all control laws: graph, step, torque limits and Lyapunov function.

A law defines its torque and the inputs of its adaptation law once, in symbols. The graph, the kernel that ``step``
calls and the kernels of simulations are derived from this definition. ``step`` advances x by explicit Euler, as the
controller of a real robot does: x(t) = x(t0) + (t - t0) xdot, where t0 is the time of the previous step and xdot the
rate for the measured motion. The torque is computed with x(t0). In laws of the Slotine–Li kind, the rate does not
depend on x, so the only error of explicit Euler is that it ignores the motion between samples.

Torque limits clip the torque. While a limit is active, the stability proof of the law does not hold.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, AdaptationInputs, NoAdaptation
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.controller import Reference, State
from ytheta.control.gains import (
    PER_COORDINATE,
    PER_UNKNOWN,
    Gain,
    GainShape,
    describe_gain,
    list_gain,
    scale_by,
    to_diagonal,
    to_matrix,
    to_number,
    to_torque_limits,
    to_vector,
)
from ytheta.control.unknowns import LawSymbols, Unknowns, make_symbols, select_unknowns
from ytheta.dynamics.constraint import LoopConstraint, build_constraint
from ytheta.dynamics.kernels import AnyKernel, ClosedKernel
from ytheta.dynamics.loop_solver import solve
from ytheta.dynamics.mechanism import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import array, zeros
from ytheta.engine.engine import PickledByFields
from ytheta.errors import InputError, UnknownNameError, UnstableError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import (
    AnyPerActuated,
    AnyPerState,
    AnyPerUnknown,
    Float,
    PerCoordinate,
    PerJoint,
    PerUnknown,
    SquareMatrix,
)

ADAPTATION = "adaptation"


class LawEquations(NamedTuple):
    """The torque of a law before clipping, and the error and the gradient that it passes to its adaptation law.

    The gradient ``slope`` is Y_uᵀ error, or Y_uᵀ H_hat^-1 error in Craig's law. ``state_rate`` is the rate of the
    states of the law itself.
    """

    tau: AnyPerActuated
    error: AnyPerActuated
    slope: AnyPerUnknown
    state_rate: AnyPerState = zeros(0)


@dataclass(frozen=True, eq=False, repr=False)
class Law(PickledByFields, ABC):
    """A ``Controller`` that is defined in symbols. Implementations are frozen dataclasses and are not subclassed.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    torque_limits  limits of the torques, one number or one per joint; None for no limits
    GAINS          the fields that are gains, and the form that each gain may have
    """

    robot: Robot
    _: KW_ONLY
    torque_limits: Gain | None = None

    GAINS: ClassVar[Mapping[str, GainShape]]

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def equations(self, s: LawSymbols) -> LawEquations: ...

    @abstractmethod
    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        """Return the Lyapunov function without the term of the adaptation law."""

    def __post_init__(self) -> None:
        """Raise if the settings are not valid."""
        check_is_robot(self.robot)
        refuse_floating_base(self.robot, "a controller")
        _ = self.max_torque, self.gains
        self.adaptation_law.check(self.robot, self.unknowns)

    def __repr__(self) -> str:
        gains = [f"{name}={describe_gain(getattr(self, name))}" for name in self.GAINS]
        if self.unknown_names:
            adaptation = self.adaptation_law
            gains += [f"{ADAPTATION}={type(adaptation).__name__}({describe_gain(adaptation.main_gain)})"]
            gains += [f"{len(self.unknown_names)} unknown parameters"]
        return f"{type(self).__name__}({', '.join([self.robot.name, *gains])})"

    def __str__(self) -> str:
        """Return the gains in full, one number for each joint, link or unknown parameter."""
        sections = {name: list_gain(gain, self._name_rows(len(gain))) for name, gain in self.gains.items()}
        sections |= {name: [repr(getattr(self, name))] for name in self.GAINS if name not in self.gains}
        if self.max_torque is not None:
            sections["torque limits"] = list_gain(self.max_torque, self.robot.actuated)
        if self.unknown_names:
            sections[ADAPTATION] = [f"{self.adaptation_law!r}"]
            gains = np.asarray(self.adaptation_law.main_gain, dtype=float)
            if gains.ndim < 2 or not np.count_nonzero(gains - np.diag(gains.diagonal())):  # a matrix is too large
                sections["adaptation gain"] = list_gain(gains, self.unknown_names)
            sections["unknown"] = [f"{len(self.unknown_names)} parameters: {', '.join(self.unknown_names)}"]
            if len(sections.get("adaptation gain", ())) > 1:  # these rows have the names
                sections["unknown"] = [f"{len(self.unknown_names)} parameters"]
        lines = [f"{self.name} for {self.robot.name}"]
        for title, rows in sections.items():
            lines += [f"  {title if not k else '':17}{row}" for k, row in enumerate(rows)]
        return "\n".join(lines)

    def _name_rows(self, count: int) -> tuple[str, ...]:
        actuated = self.robot.actuated
        return actuated if len(actuated) == count else tuple(f"body {k + 1}" for k in range(count))

    @property
    def unknowns(self) -> Unknowns:
        """The unknown parameters, and the values of all other parameters."""
        return Unknowns((), (), self.robot.numeric.theta)

    @property
    def adaptation_law(self) -> Adaptation:
        """The adaptation law of the unknown parameters."""
        return NoAdaptation()

    @property
    def max_torque(self) -> Float[np.ndarray, " actuated"] | None:
        """The torque limit of each actuated coordinate, which may be infinite; None without limits."""
        if self.torque_limits is None:
            return None
        return to_torque_limits(self.torque_limits, len(self.robot.actuated))

    @property
    def max_step(self) -> float:
        """The longest time between two steps, in s, for which the adaptation law keeps its guarantees."""
        return self.adaptation_law.max_step

    @property
    def needs_acceleration(self) -> bool:
        """Whether the law uses measured accelerations; the graph then has qdd after qd."""
        return False

    @property
    def law_states(self) -> int:
        """The number of states of the law itself, such as integrals; they start at zero and are the last part of x."""
        return 0

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """The names of the parameters that the law adapts; empty for a law without adaptation."""
        return self.unknowns.names

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The gains for which ``graph_with`` accepts factors."""
        return (*self.GAINS, ADAPTATION) if self.unknown_names else tuple(self.GAINS)

    def check_factors(self, factors: Mapping[str, Float[np.ndarray, " runs"]]) -> None:
        """Raise if the factors, one per run, lead to gains that the law refuses."""
        for name, values in factors.items():
            self._check_gain_name(name)
            invalid = np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))
            if len(invalid):
                run = invalid[0]
                raise InputError(f"the factor of {name} in run {run} is {values[run]:g}; give one above 0")

    @cached_property
    def gains(self) -> Mapping[str, SquareMatrix]:
        """The gains as matrices."""
        return {name: self._to_gain_matrix(name, shape) for name, shape in self.GAINS.items()}

    @cached_property
    def graph(self) -> Graph:
        """(q, qd, qr, qrd, qrdd, x) → (tau, dx/dt). With loops, q contains all coordinates, with loops closed."""
        return self.graph_with(())

    def graph_with(self, factors: Sequence[str]) -> Graph:
        """Return the graph with an additional last input: the factors by which these gains are multiplied."""
        inputs, s = self._make_symbols(factors, acceleration=self.needs_acceleration)
        tau, error, slope, law_rate = self.equations(s)
        if self.max_torque is not None:
            tau = _clip(tau, self.max_torque)
        adaptation_inputs = AdaptationInputs(s, error, slope, tau)
        rate, state_rate = self.adaptation_law.rate(adaptation_inputs)
        output = np.concatenate([tau, scale_by(rate, adaptation_inputs.gain_factor), state_rate, law_rate])
        return trace(self.name, inputs, output, made_from=f"{self.name} of {self.robot.name}")

    @cached_property
    def reset_graph(self) -> Graph | None:
        """(x) → x with which the next step begins, after resets of the estimate; None if there are no resets."""
        if not self.adaptation_law.resets:
            return None
        import casadi

        x = casadi.SX.sym("x", len(self.unknown_names) + self._adaptation_states + self.law_states)
        size = len(self.unknown_names)
        output = np.concatenate([self.adaptation_law.reset(self.unknowns, scalars(x[:size])), scalars(x[size:])])
        made_from = f"{self.name} of {self.robot.name}"
        return trace(f"resets of {self.name}", [(Input("x", x.numel()), x)], output, made_from=made_from)

    def lyapunov_graph(self, factors: Sequence[str] = ()) -> Graph:
        """Return the graph (q, qd, qr, qrd, qrdd, x [, factors], truth) → (V,), the Lyapunov function."""
        import casadi

        inputs, s = self._make_symbols(factors, acceleration=False)
        truth = casadi.SX.sym("truth", len(self.unknown_names))
        true = SymbolicModel(s.model.loops, self.unknowns.fill(scalars(truth)))
        estimate_term = self.adaptation_law.lyapunov_term(self.unknowns, s.estimate, scalars(truth))
        inputs = [*inputs, (Input("truth", len(self.unknown_names)), truth)]
        value = array([self.lyapunov_term(s, true) + estimate_term / s.factors.get(ADAPTATION, 1)])
        return trace(f"Lyapunov function of {self.name}", inputs, value, made_from=self.robot.name)

    def init(self, q: PerJoint, qd: PerJoint, *, estimate: PerUnknown | None = None, t: float = 0.0) -> State:
        """Return the state with which ``step`` begins.

        ``q`` and ``qd`` are the measured motion of the actuated coordinates. ``estimate`` is the initial estimate of
        the unknown parameters, in the order of ``unknown_names``; None for the values of the robot description, in
        which natural adaptation replaces links that are not bodies by plausible bodies. ``t`` is the time at the start,
        in s.
        """
        n = len(self.robot.actuated)
        q, qd = (to_vector(name, values, n, per=PER_COORDINATE) for name, values in (("q", q), ("qd", qd)))
        start = self.adaptation_law.choose_start(self.robot, self.unknowns) if estimate is None else estimate
        start = to_vector("estimate", start, len(self.unknown_names), per=PER_UNKNOWN)
        adaptation_state = self.adaptation_law.init(self.robot, self.unknowns, q, qd, start)
        return State(float(t), np.concatenate([start, adaptation_state, np.zeros(self.law_states)]))

    def step(
        self, state: State, t: float, q: PerJoint, qd: PerJoint, reference: Reference, qdd: PerJoint | None = None
    ) -> tuple[PerJoint, State]:
        """Return the torque to apply from time t on, and the state for the next step.

        ``t`` is the time in s, not the time between two steps: 0.0, 0.001, 0.002 … at 1 kHz. The estimate changes by
        its rate multiplied by the time since the previous step, so t must increase from step to step. ``q`` and ``qd``
        are the measured motion, ``reference`` is the motion to follow, and ``qdd`` is the measured acceleration, which
        only Craig's law needs.
        """
        elapsed = t - state.t
        if not elapsed > 0.0 and (state.stepped or not elapsed == 0.0):
            raise InputError(
                f"{self.name}: a step at t = {t:g} s follows a step at t = {state.t:g} s; t is the time, which must "
                "increase from step to step (0.001, 0.002, 0.003 …), not the time between two steps"
            )
        motion: tuple[PerJoint, ...] = (qd,)
        if self.needs_acceleration:
            if qdd is None:
                raise InputError(f"{self.name} needs measured accelerations; give qdd")
            motion = (qd, qdd)
        inputs = (*motion, reference.q, reference.qd, reference.qdd, state.x)
        evaluate, n, warm_start = self._evaluate, len(self.robot.actuated), None
        if isinstance(evaluate, WarmStartKernel):
            out, warm_start = evaluate(state.warm_start, q, *inputs)
        else:
            out = evaluate(q, *inputs)
        if not math.isfinite(out.dot(out)):
            raise UnstableError(f"{self.name}: at t = {t:g} {self.explain_divergence(state)}")
        x = state.x + elapsed * out[n:]
        return out[:n], State(t, x if self._reset is None else self._reset(x), warm_start, stepped=True)

    def explain_divergence(self, state: State) -> str:  # noqa: ARG002
        """Return the reason why torque or rates are not finite, and a remedy."""
        return "torque or adaptation rate is not finite: the loop is unstable; use smaller gains or steps"

    def lyapunov(self, state: State, q: PerJoint, qd: PerJoint, reference: Reference, truth: PerUnknown) -> float:
        """Return the Lyapunov function of the law's stability proof.

        ``truth`` contains the true values of the unknown parameters, in the order of ``unknown_names``.
        """
        kernel = self._lyapunov
        return float(kernel.one(q, qd, reference.q, reference.qd, reference.qdd, state.x, truth)[0])

    def compile(self, graph: Graph) -> AnyKernel:
        """Compile a graph of this law. The kernel needs only actuated coordinates as q, and closes the loops."""
        kernel = compile_graph(graph)
        return ClosedKernel(build_constraint(self.robot), kernel) if self.robot.loops else kernel

    @cached_property
    def _evaluate(self) -> WarmStartKernel | Callable[..., Any]:
        """The compiled graph that ``step`` calls."""
        if self.robot.loops:
            return WarmStartKernel(build_constraint(self.robot), self.graph)
        return compile_graph(self.graph).one

    @cached_property
    def _reset(self) -> Callable[..., Any] | None:
        """The compiled ``reset_graph``."""
        return None if self.reset_graph is None else compile_graph(self.reset_graph).one

    @cached_property
    def _lyapunov(self) -> AnyKernel:
        return self.compile(self.lyapunov_graph())

    def _make_symbols(
        self, factors: Sequence[str], *, acceleration: bool
    ) -> tuple[list[tuple[Input, Any]], LawSymbols]:
        for name in factors:
            self._check_gain_name(name)
        return make_symbols(
            self.robot,
            self.unknowns,
            self.gains,
            adaptation_states=self._adaptation_states,
            law_states=self.law_states,
            acceleration=acceleration,
            factors=factors,
        )

    @property
    def _adaptation_states(self) -> int:
        return self.adaptation_law.state_size(self.robot, self.unknowns)

    def _check_gain_name(self, gain: str) -> None:
        if gain not in self.gain_names:
            raise UnknownNameError(f"{self.name} has no gain {gain!r}{suggest_names(gain, self.gain_names)}")

    def _to_gain_matrix(self, name: str, shape: GainShape) -> SquareMatrix:
        gain, n = getattr(self, name), len(self.robot.actuated)
        if shape is GainShape.MATRIX:
            return to_matrix(name, gain, n, per=PER_COORDINATE)
        if shape is GainShape.DIAGONAL:
            return np.diag(to_diagonal(name, gain, n, per=PER_COORDINATE))
        if shape is GainShape.NUMBER:
            return to_number(name, gain) * np.eye(n)
        return np.diag(to_diagonal(name, gain, len(build_constraint(self.robot).mechanism.bodies), per="link"))


def _clip(tau: AnyPerActuated, limits: Float[np.ndarray, " actuated"]) -> AnyPerActuated:
    import casadi

    pairs = zip(tau, limits, strict=True)
    return array([casadi.fmin(casadi.fmax(t, -limit), limit) if np.isfinite(limit) else t for t, limit in pairs])


# The base of adaptive laws, the control laws with unknown parameters.


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveLaw(Law, ABC):
    """A control law that adapts unknown parameters.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           the base parameters; None to adapt standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law
    learn          the unknown parameters, by names or patterns; None selects the base parameters, or all parameters of
                   the links if ``base`` is None
    torque_limits  limits of the torques, one number or one per joint; None for no limits
    """

    base: BaseParameters | None = None
    _: KW_ONLY
    adaptation: Gain | Adaptation
    learn: Sequence[str] | None = None

    @classmethod
    def select_unknowns(cls, robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:
        """Return the unknown parameters of this law for the settings ``base`` and ``learn``."""
        return select_unknowns(robot, base, learn)

    @cached_property
    def unknowns(self) -> Unknowns:
        return self.select_unknowns(self.robot, self.base, self.learn)

    @cached_property
    def adaptation_law(self) -> Adaptation:
        return self.adaptation if isinstance(self.adaptation, Adaptation) else Gradient(self.adaptation)


# Control laws for robots with loops: Newton steps from the previous coordinates close the loops (warm start).
#
# The Newton steps are part of the law's machine code. Closing the loops from home, as the kernels of single poses do,
# takes milliseconds in Python. The loops are closed from home only at the first step of the controller, and if the
# Newton steps do not converge or change the coordinates by more than ``MAX_CHANGE``.


# Largest norm of the residuals of all loops, in m or rad, at which the loops are closed. Chosen on: rule of thumb.
MAX_RESIDUAL = 1e-11
# Largest norm of the change of all coordinates, in rad or m, that a warm start may cause. Chosen on: reasoning, since
# robots move less in one controller step.
MAX_CHANGE = 0.3


@dataclass(frozen=True, eq=False)
class WarmStartKernel:
    """The compiled graph of a control law whose first input is the vector of all coordinates, with closed loops."""

    loops: LoopConstraint
    graph: Graph

    def __call__(
        self, near: PerCoordinate | None, q: PerJoint, *others: np.ndarray
    ) -> tuple[Float[np.ndarray, " out"], PerCoordinate]:
        """Evaluate the law at actuated coordinates q. Return its output, and all coordinates with closed loops.

        ``near`` is the warm start: all coordinates at the previous step, or None at the first step.
        """
        size = self.graph.size
        result = self._kernel.one(q, self._close_from_home(q) if near is None else near, *others)
        if near is not None and not result[-1] <= 1.0:
            result = self._kernel.one(q, self._close_from_home(q), *others)
        return result[:size], result[size:-1]

    def _close_from_home(self, q: PerJoint) -> PerCoordinate:
        if not np.isfinite(q).all():
            return self.loops.home  # only a placeholder: the kernel raises an error about q
        return solve(self.loops, q[None]).or_raise().x[0]

    @cached_property
    def _kernel(self) -> Kernel:
        """(q, near, others) → output of the law, x, and excess.

        The excess is above 1 if the loops are not closed at x, or if x is too far from ``near``.
        """
        import casadi

        loops, rest = self.loops, self.graph.inputs[1:]
        inputs = [Input("q", len(loops.actuated)), Input("near", len(loops.home)), *rest]
        q, near, *others = symbols = [casadi.SX.sym(entry.name, entry.size) for entry in inputs]
        x = loops.close_near(q, near)
        residual, _ = loops.residual_and_step(x)
        excess = casadi.fmax(casadi.sumsqr(residual) / MAX_RESIDUAL**2, casadi.sumsqr(x - near) / MAX_CHANGE**2)
        output = casadi.vertcat(self.graph.apply(x, *others), x, excess)
        pairs = list(zip(inputs, symbols, strict=True))
        return compile_graph(trace(self.graph.name, pairs, scalars(output), made_from=self.graph.made_from))
