"""The graph of one control period of a closed loop: controller, plant, integrator, bookkeeping.

::

    (state, reference [, measured] [, theta] [, factors]) → next state

The state of a run is one vector, laid out by ``Slots``. The next state has the same layout, so that two arrays
suffice for a batch of runs: they swap roles after every period. The controller computes the torque once per period.
The torque stays constant while the plant is integrated by ``substeps`` steps of RK4. The state x of the controller
advances by period * dx/dt, as in ``Controller.step``.

With more than one substep there are two graphs: one of the controller's part of the period, and one of a single
substep of the plant, which is evaluated ``substeps`` times. The compilation of one graph with a hundred substeps would
take minutes.

With ``continuous``, controller and plant are integrated together, as in the simulations of papers. The reference is
then needed at the beginning, the middle and the end of the period.

A run diverges if the norm of its motion or of its control variables exceeds a bound. It then keeps its last state
within the bounds, and its ``period_count`` becomes negative. The state is therefore always finite, and the other SIMD
lanes continue.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ytheta.dynamics.mechanism import scalars
from ytheta.engine.engine import PickledByFields
from ytheta.errors import InputError
from ytheta.native import Kernel, compile_graph
from ytheta.native.graph import Graph, Input, trace
from ytheta.shapes import RunsBySlot
from ytheta.simulation.own_plant import EquationsOfMotion

# Norm of the vector of positions and velocities (rad, m, rad/s, m/s) above which a run has diverged. Chosen on:
# reasoning, far above the values of any real motion.
MAX_MOTION_NORM = 1e4
# Norm of the vector of controller state, torques and accelerations above which a run has diverged. Chosen on:
# reasoning, far above the values of any real motion.
MAX_CONTROL_NORM = 1e12


@dataclass(frozen=True)
class Slots:
    """The layout of the state of a run."""

    coordinates: int
    joints: int
    controller_states: int

    @property
    def x(self) -> slice:
        """All coordinates of the plant, with loops closed."""
        return slice(0, self.coordinates)

    @property
    def qd(self) -> slice:
        """The actuated velocities."""
        return slice(self.x.stop, self.x.stop + self.joints)

    @property
    def controller_state(self) -> slice:
        return slice(self.qd.stop, self.qd.stop + self.controller_states)

    @property
    def tau(self) -> slice:
        """The torque of the previous period."""
        return slice(self.controller_state.stop, self.controller_state.stop + self.joints)

    @property
    def qdd(self) -> slice:
        """The acceleration at the end of the previous period."""
        return slice(self.tau.stop, self.tau.stop + self.joints)

    @property
    def squared_errors(self) -> slice:
        """The sum of the squared tracking errors of each joint at all instants so far."""
        return slice(self.qdd.stop, self.qdd.stop + self.joints)

    @property
    def period_count(self) -> int:
        """The number of completed periods; -n if the run diverged in its n-th period."""
        return self.squared_errors.stop

    @property
    def size(self) -> int:
        return self.period_count + 1


class VariedSymbols(NamedTuple):
    """Symbols of the values that differ between runs: plant parameters, and factors of gains if gains differ."""

    theta: Any
    factors: list[Any]


@dataclass(frozen=True, eq=False)
class PeriodGraphBuilder:
    """Builds the graphs of one control period.

    ``factors`` is the number of gains with a factor. If it is not 0, the factors are the last input of the controller.
    ``reset`` is applied to the state of the controller after every period.
    """

    plant: EquationsOfMotion
    controller: Graph
    period: float
    substeps: int = 1
    continuous: bool = False
    has_sensors: bool = False
    factors: int = 0
    reset: Graph | None = None

    def __post_init__(self) -> None:
        n, c = self.plant.actuated, self.plant.coordinates
        sizes, gains = [entry.size for entry in self._inputs], [entry.size for entry in self._factor_inputs]
        expected = [n] * (len(sizes) - 2)
        if len(sizes) not in (6, 7) or sizes[1:-1] != expected or sizes[0] not in (n, c) or sum(gains) != self.factors:
            raise InputError(
                f"the controller has inputs of sizes {sizes + gains}, but a plant with {n} actuated coordinates "
                "needs (q, qd, qr, qrd, qrdd, x), with qdd after qd if the law uses measured accelerations; create "
                "controller and plant for the same robot"
            )
        if self.controller.size != n + sizes[-1]:
            raise InputError(
                f"the controller returns {self.controller.size} numbers; it must return {n} torques and dx/dt"
            )
        if self.continuous and (self.substeps != 1 or self.has_sensors or self.uses_accelerations):
            raise InputError(
                "a continuous loop cannot have substeps, sensors or measured accelerations; leave them out, or leave "
                "out continuous=True"
            )

    @property
    def _inputs(self) -> tuple[Input, ...]:
        """The inputs of the controller without the factors of gains."""
        inputs = self.controller.inputs
        return inputs[:-1] if self.factors else inputs

    @property
    def _factor_inputs(self) -> tuple[Input, ...]:
        return self.controller.inputs[len(self._inputs) :]

    @property
    def uses_accelerations(self) -> bool:
        """Whether the controller uses measured accelerations."""
        return len(self._inputs) == 7

    @property
    def slots(self) -> Slots:
        return Slots(self.plant.coordinates, self.plant.actuated, self._inputs[-1].size)

    def build_graph(self) -> Graph:
        """Return the graph of a period; with several substeps, the graph does not contain the motion of the plant."""
        import casadi

        s, n = self.slots, self.plant.actuated
        entries = [Input("state", s.size), Input("reference", 3 * n * (3 if self.continuous else 1), shared=True)]
        entries += [Input("measured", 3 * n if self.uses_accelerations else 2 * n)] if self.has_sensors else []
        entries += [Input("theta", len(self.plant.varied))] if self.plant.varied else []
        entries += [Input("factors", self.factors)] if self.factors else []
        symbols = {entry.name: casadi.SX.sym(entry.name, entry.size) for entry in entries}
        state = symbols["state"]
        varied = VariedSymbols(symbols.get("theta", casadi.SX(0, 1)), [symbols["factors"]] if self.factors else [])
        reference = [symbols["reference"][3 * n * k : 3 * n * (k + 1)] for k in range(3 if self.continuous else 1)]
        advance = self._advance_continuous if self.continuous else self._advance_held
        x, qd, controller, tau, qdd = advance(state, reference, symbols.get("measured"), varied)
        error = self.plant.select_actuated(state[s.x]) - reference[0][:n]
        next_state = casadi.vertcat(x, qd, controller, tau, qdd, state[s.squared_errors] + error * error)
        bounded = self._is_bounded(casadi.vertcat(x, qd), casadi.vertcat(controller, tau, qdd))
        count = state[s.period_count]
        continues = casadi.logic_and(count >= 0, bounded)
        diverged_count = casadi.if_else(count >= 0, -1 - count, count)
        output = casadi.vertcat(
            casadi.if_else(continues, next_state, state[: s.period_count]),
            casadi.if_else(continues, count + 1, diverged_count),
        )
        inputs = [(entry, symbols[entry.name]) for entry in entries]
        made_from = f"{self.controller.made_from or self.controller.name} and {self.plant.robot.name}"
        return trace("closed loop", inputs, scalars(casadi.densify(output)), made_from=made_from)

    def build_substep_graph(self) -> Graph:
        """Return the graph of one substep of the plant, (state [, theta]) → state.

        If the run diverges, its period count becomes negative.
        """
        import casadi

        s, varied = self.slots, len(self.plant.varied)
        entries = [Input("state", s.size), *([Input("theta", varied)] if varied else [])]
        symbols = {entry.name: casadi.SX.sym(entry.name, entry.size) for entry in entries}
        state, theta = symbols["state"], symbols.get("theta", casadi.SX(0, 1))
        tau, count = state[s.tau], state[s.period_count]
        x, qd, qdd = self._advance_plant(state[s.x], state[s.qd], tau, theta, state[s.qdd])
        next_state = casadi.vertcat(x, qd, state[s.controller_state], tau, qdd, state[s.squared_errors])
        bounded = self._is_bounded(casadi.vertcat(x, qd), casadi.vertcat(state[s.controller_state], tau, qdd))
        continues = casadi.logic_and(count >= 0, bounded)
        output = casadi.vertcat(
            casadi.if_else(continues, next_state, state[: s.period_count]),
            casadi.if_else(continues, count, -casadi.fabs(count)),
        )
        inputs = [(entry, symbols[entry.name]) for entry in entries]
        return trace("substep", inputs, scalars(casadi.densify(output)), made_from=self.plant.robot.name)

    def _advance_held(self, state: Any, reference: Any, measured: Any, varied: VariedSymbols) -> tuple[Any, ...]:
        """Advance by one period with a constant torque."""
        s, n = self.slots, self.plant.actuated
        x, qd, controller = state[s.x], state[s.qd], state[s.controller_state]
        motion = (self.plant.select_actuated(x), qd, state[s.qdd])
        if measured is not None:
            motion = (measured[:n], measured[n : 2 * n], measured[2 * n :])
        tau, rate = self._apply_controller(motion, reference[0], controller, varied, warm_start=x)
        qdd = state[s.qdd]
        if self.substeps == 1:
            x, qd, qdd = self._advance_plant(x, qd, tau, varied.theta, qdd)
        return x, qd, self._apply_reset(controller + self.period * rate), tau, qdd

    def _advance_plant(self, x: Any, qd: Any, tau: Any, theta: Any, qdd: Any) -> tuple[Any, ...]:
        """Advance the plant by one substep with a constant torque; update qdd only if the controller uses it."""
        h = self.period / self.substeps
        x, qd = self._take_rk4_step(lambda v: self.plant.compute_rates(v[0], v[1], tau, theta), (x, qd), h)
        x = self.plant.loops.take_newton_step(x)
        return x, qd, self.plant.compute_rates(x, qd, tau, theta)[1] if self.uses_accelerations else qdd

    def _advance_continuous(self, state: Any, reference: Any, _measured: Any, varied: VariedSymbols) -> tuple[Any, ...]:
        """Advance by one period in which the controller computes a new torque at every stage of RK4."""
        s = self.slots
        start = (state[s.x], state[s.qd], state[s.controller_state])
        torques = []

        def compute_rates(v: tuple[Any, ...], stage: int) -> tuple[Any, ...]:
            motion, target = (self.plant.select_actuated(v[0]), v[1]), reference[(0, 1, 1, 2)[stage]]
            tau, rate = self._apply_controller(motion, target, v[2], varied, warm_start=v[0])
            torques.append(tau)
            return (*self.plant.compute_rates(v[0], v[1], tau, varied.theta), rate)

        stages = iter(range(4))
        x, qd, controller = self._take_rk4_step(lambda v: compute_rates(v, next(stages)), start, self.period)
        return self.plant.loops.take_newton_step(x), qd, self._apply_reset(controller), torques[0], state[s.qdd]

    def _apply_reset(self, controller: Any) -> Any:
        return controller if self.reset is None else self.reset.apply(controller)

    @staticmethod
    def _take_rk4_step(rates: Any, v: tuple[Any, ...], h: float) -> tuple[Any, ...]:
        def shift(k: tuple[Any, ...], share: float) -> tuple[Any, ...]:
            return tuple(a + share * h * b for a, b in zip(v, k, strict=True))

        k1 = rates(v)
        k2 = rates(shift(k1, 0.5))
        k3 = rates(shift(k2, 0.5))
        k4 = rates(shift(k3, 1.0))
        return tuple(a + h / 6.0 * (b + 2.0 * c + 2.0 * d + e) for a, b, c, d, e in zip(v, k1, k2, k3, k4, strict=True))

    def _apply_controller(
        self, motion: tuple[Any, ...], reference: Any, controller: Any, varied: VariedSymbols, *, warm_start: Any
    ) -> tuple[Any, Any]:
        """Return tau and dx/dt of the controller."""
        n = self.plant.actuated
        closes_loops = self.controller.inputs[0].size != n
        q = self.plant.loops.close_near(motion[0], warm_start) if closes_loops else motion[0]
        measured = (q, motion[1], motion[2]) if self.uses_accelerations else (q, motion[1])
        target = (reference[:n], reference[n : 2 * n], reference[2 * n :])
        output = self.controller.apply(*measured, *target, controller, *varied.factors)
        return output[:n, 0], output[n:, 0]  # slices stay columns even if they have one row or none

    @staticmethod
    def _is_bounded(motion: Any, control: Any) -> Any:
        """Return whether both norms are within their bounds; an entry that is not finite counts as out of bounds."""
        import casadi

        return casadi.logic_and(
            casadi.sumsqr(motion) <= MAX_MOTION_NORM**2, casadi.sumsqr(control) <= MAX_CONTROL_NORM**2
        )


# One control period of a closed loop. Its graphs are sent to the workers, and each worker compiles them.


@dataclass(frozen=True, eq=False)
class ControlPeriod(PickledByFields):
    """The graphs of a control period and the layout of their inputs; the robot and the controller are not included."""

    graph: Graph
    slots: Slots
    actuated: tuple[int, ...]
    period: float
    has_sensors: bool
    uses_accelerations: bool  # whether the controller uses measured accelerations
    holds_torque: bool  # whether the torque is constant during a period
    substeps: int = 1
    substep_graph: Graph | None = None  # None if there is one substep

    @staticmethod
    def build(builder: PeriodGraphBuilder) -> ControlPeriod:
        return ControlPeriod(
            builder.build_graph(),
            builder.slots,
            builder.plant.loops.actuated,
            builder.period,
            builder.has_sensors,
            builder.uses_accelerations,
            not builder.continuous,
            builder.substeps,
            builder.build_substep_graph() if builder.substeps > 1 else None,
        )

    def advance(
        self, state: RunsBySlot, *inputs: np.ndarray, theta: np.ndarray, out: RunsBySlot, scratch: RunsBySlot
    ) -> None:
        """Write the state after one period to ``out``.

        ``inputs`` are the inputs of ``kernel`` after the state. ``scratch`` receives intermediate states of substeps.
        """
        substep = self._substep
        self.kernel(state, *inputs, out=scratch if self.substeps % 2 and substep is not None else out, threads=1)
        if substep is None:
            return
        varied = [theta] if theta.shape[1] else []
        target, source = (out, scratch) if self.substeps % 2 else (scratch, out)
        for _ in range(self.substeps):
            substep(source, *varied, out=target, threads=1)
            target, source = source, target
        count = self.slots.period_count
        diverged = np.flatnonzero((out[:, count] < 0.0) & (state[:, count] >= 0.0))
        out[diverged, :count] = state[diverged, :count]  # diverged runs keep the state before this period

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel of one period; with several substeps, the kernel of the controller's part of the period.

        Machine code is reused if it is in the memory of this process or in the cache on disk.
        """
        return compile_graph(self.graph)

    @cached_property
    def _substep(self) -> Kernel | None:
        return None if self.substep_graph is None else compile_graph(self.substep_graph)

    @property
    def measured_slots(self) -> list[int]:
        """The slots that sensors measure: q, qd, and qdd if the controller uses it."""
        slots = self.slots
        indices = [*self.actuated, *range(slots.qd.start, slots.qd.stop)]
        return indices + list(range(slots.qdd.start, slots.qdd.stop)) if self.uses_accelerations else indices
