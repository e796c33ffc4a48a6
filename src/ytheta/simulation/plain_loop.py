"""One closed loop, simulated step by step in Python. It works with every plant and is a check of compiled loops.

The controller starts one period before the first instant, so that its state advances by a whole period at every
instant. Its state is integrated by explicit Euler steps, as in ``period_graph``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from ytheta.control.controller import Reference, State, SteppedController
from ytheta.errors import InputError, UnstableError
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, PerState
from ytheta.simulation.period_graph import MAX_MOTION_NORM
from ytheta.simulation.references import ReferenceTrajectory, sample_reference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors import SensorReader, Sensors
from ytheta.simulation.substeps import check_timing, count_periods
from ytheta.simulation.variation import ParameterChange, sort_changes


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainLoop:
    """A closed loop of a plant and a controller, stepped in Python; see ``ClosedLoop`` for many runs at once.

    Attributes
    ----------
    plant       the plant, such as ``MujocoPlant(robot)``
    controller  a control law, or a class of your own with ``robot``, ``unknown_names``, ``max_step``, ``init`` and
                ``step``
    period      time between two control instants, s
    substeps    integration steps per period
    sensors     errors of the sensors; None for exact readings
    """

    plant: Plant
    controller: SteppedController
    period: float = 1e-3
    substeps: int = 1
    sensors: Sensors | None = None

    def __post_init__(self) -> None:
        check_timing(self.period, self.substeps, self.controller.max_step)
        if self.controller.robot.actuated != self.plant.robot.actuated:
            raise InputError(
                f"the controller moves {', '.join(self.controller.robot.actuated)}, but the plant has "
                f"{', '.join(self.plant.robot.actuated)}; create controller and plant for the same robot"
            )

    def run(
        self,
        q: PerJoint,
        qd: PerJoint,
        reference: ReferenceTrajectory,
        seconds: float,
        *,
        estimate: Float[np.ndarray, " unknown"] | None = None,
        parameter_changes: Sequence[ParameterChange] = (),
        rng: np.random.Generator | None = None,
        every: int = 10,
        run: int = 0,
    ) -> Runs:
        """Simulate one run. ``run`` is the index of the run; it selects the row of sensor errors given per run."""
        steps = count_periods(seconds, self.period, every)
        if self.sensors is not None and rng is None:
            raise InputError("sensors need rng=np.random.default_rng(seed), so that a run can be repeated")
        samples = sample_reference(reference, self.plant.robot, self.period * np.arange(steps + 1))
        uses_accelerations = getattr(self.controller, "needs_acceleration", False)
        reader = None
        if self.sensors is not None and rng is not None:
            rows = slice(run, run + 1)
            reader = SensorReader(
                self.sensors, len(q), self.period, rows, rng.spawn(1), uses_accelerations=uses_accelerations
            )
        plant, state = self.plant, self.plant.init(q, qd)
        controller_state = self.controller.init(q, qd, estimate=estimate, t=-self.period)
        qdd, diverged_at, reason, squares = np.zeros_like(qd), np.inf, "", np.zeros_like(q)
        instant_rows: list[tuple[np.ndarray, ...]] = []
        changes = sort_changes(parameter_changes, self.period, steps)
        tau = np.zeros_like(q)
        for k in range(steps):
            for change in changes:
                if change.find_instant(self.period) == k:
                    plant = plant.with_parameters(change.values)
            q, qd = plant.get_motion(state)
            readings = _read_motion(reader, q, qd, qdd, uses_accelerations=uses_accelerations)
            target = Reference(samples.q[k], samples.qd[k], samples.qdd[k])
            advanced = None
            try:
                advanced = self._advance(plant, state, controller_state, samples.t[k], readings, target)
            except UnstableError as error:
                reason = str(error)
            # A run that diverges keeps its state before this period, as in compiled loops.
            torque, next_controller_state, next_state = (tau, controller_state, state) if advanced is None else advanced
            mean_torque = torque if k == 0 else 0.5 * (tau + torque)
            read_torque = mean_torque if reader is None else reader.delay_torque(mean_torque[None])[0]
            instant_rows.append((q, qd, torque, controller_state.x, readings[0], readings[1], read_torque))
            if advanced is None:
                diverged_at = self.period * (k + 1)
                break
            state, controller_state, tau = next_state, next_controller_state, torque
            squares = squares + (q - samples.q[k]) ** 2
            if uses_accelerations:
                _, qdd = plant.get_motion(plant.compute_rates(state, tau))
        completed = min(steps, max(1, round(diverged_at / self.period) - 1)) if np.isfinite(diverged_at) else steps
        rms = np.sqrt(squares / completed)
        instant_rows += instant_rows[-1:] * (steps - len(instant_rows))
        runs = self._to_runs(instant_rows, state, controller_state.x, rms, diverged_at, reason, every)
        if reader is not None:
            reader.add_torque_errors(runs.read_tau)
        return runs

    def _advance(
        self,
        plant: Plant,
        state: PerState,
        controller_state: State,
        t: float,
        readings: tuple[PerJoint, ...],
        target: Reference,
    ) -> tuple[PerJoint, State, PerState] | None:
        """Return the torque and the next states of controller and plant, or None if the plant diverged."""
        q, qd, qdd = readings
        tau, next_controller_state = self.controller.step(controller_state, t, q, qd, target, qdd)
        next_state = advance(plant, state, tau, self.period, self.substeps)
        bounded = float(next_state @ next_state) <= MAX_MOTION_NORM**2
        return (tau, next_controller_state, next_state) if bounded else None

    def _to_runs(
        self,
        rows: list[tuple[np.ndarray, ...]],
        state: np.ndarray,
        x: np.ndarray,
        rms: np.ndarray,
        diverged_at: float,
        reason: str,
        every: int,
    ) -> Runs:
        columns = (np.array(column)[None] for column in zip(*rows[::every], strict=True))
        q, qd, tau, controller_state, read_q, read_qd, read_tau = columns
        final_q, final_qd = self.plant.get_motion(state)
        return Runs(
            joints=self.plant.robot.actuated,
            unknown_names=self.controller.unknown_names,
            seconds=self.period * len(rows),
            t=self.period * np.arange(0, len(rows), every),
            q=q,
            qd=qd,
            tau=tau,
            controller_state=controller_state,
            read_q=read_q,
            read_qd=read_qd,
            read_tau=read_tau,
            final_q=final_q[None],
            final_qd=final_qd[None],
            final_controller_state=x[None],
            rms=rms[None],
            diverged_at=np.array([diverged_at]),
            reason=reason,
        )


def _read_motion(
    reader: SensorReader | None, q: PerJoint, qd: PerJoint, qdd: PerJoint, *, uses_accelerations: bool
) -> tuple[PerJoint, PerJoint, PerJoint]:
    """Return q, qd and qdd as the controller receives them: sensor readings, or true values if there are no sensors."""
    if reader is None:
        return q, qd, qdd
    n, motion = len(q), np.concatenate((q, qd, qdd) if uses_accelerations else (q, qd))
    readings = reader.read_motion(motion[None])[0]
    return readings[:n], readings[n : 2 * n], readings[2 * n :] if uses_accelerations else qdd


# Time integration of a plant: Runge–Kutta steps of fixed length, and an adaptive method for comparison.
#
# Reference     Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993): table II.1.2 (the classical
#               method of order 4), sec. II.5 (DOP853, by scipy)


Torque: TypeAlias = Callable[[float, PerJoint, PerJoint], PerJoint]


def take_rk4_step(plant: Plant, state: PerState, tau: PerJoint, h: float) -> PerState:
    """Return the state after h seconds with a constant torque; if h is much too long, the state may not be finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        k1 = _compute_rates(plant, state, tau)
        k2 = _compute_rates(plant, state + 0.5 * h * k1, tau)
        k3 = _compute_rates(plant, state + 0.5 * h * k2, tau)
        k4 = _compute_rates(plant, state + h * k3, tau)
        after = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return plant.close_loops(after) if np.isfinite(after).all() else after


def advance(plant: Plant, state: PerState, tau: PerJoint, period: float, substeps: int) -> PerState:
    """Return the state after a control period with a constant torque, integrated in ``substeps`` steps."""
    for _ in range(substeps):
        state = take_rk4_step(plant, state, tau, period / substeps)
    return state


@dataclass(frozen=True, eq=False)
class PlantTrajectory:
    """The states at the requested times.

    If the integration stopped early, the times after the stop are missing, and ``advice`` says why.
    """

    t: Float[np.ndarray, " instants"]
    states: Float[np.ndarray, "instants states"]
    advice: str

    @property
    def complete(self) -> bool:
        return not self.advice


def integrate_adaptively(
    plant: Plant, state: PerState, torque: Torque, t: Float[np.ndarray, " instants"], *, tolerance: float = 1e-11
) -> PlantTrajectory:
    """Integrate from t[0] to t[-1] with adaptive steps; ``torque`` is a function of time, q and qd."""
    from scipy.integrate import solve_ivp

    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise InputError(
            "an integration needs at least two times in increasing order; sort them and drop repeated ones"
        )

    def rates(now: float, current: PerState) -> PerState:
        return _compute_rates(plant, current, torque(now, *plant.get_motion(current)))

    solution = solve_ivp(rates, (t[0], t[-1]), state, method="DOP853", t_eval=t, rtol=tolerance, atol=tolerance)
    advice = ""
    if not solution.success:
        advice = f"the integration stopped at t = {solution.t[-1]:.4g} s: {solution.message}; choose a shorter time"
    return PlantTrajectory(solution.t, np.ascontiguousarray(solution.y.T), advice)


def _compute_rates(plant: Plant, state: PerState, tau: PerJoint) -> PerState:
    """Return d state / dt, or NaN if the state is not finite, so that adaptive methods take a shorter step."""
    if not (np.isfinite(state).all() and np.isfinite(tau).all()):
        return np.full_like(state, np.nan)
    return plant.compute_rates(state, tau)


# The interface of a plant: a simulated robot that torques act on.
#
# The state of a plant is one vector of positions and velocities. Each plant chooses its own coordinates. For a robot
# with loops, the state of ytheta's own plant contains all coordinates and the actuated velocities. The state of the
# MuJoCo plant contains positions and velocities of all joints. Torques and measured motion belong to the actuated
# coordinates, in the order of ``robot.actuated``. ``advance`` works with every plant.


@runtime_checkable
class Plant(Protocol):
    """A simulated robot: qdd = FD(q, qd, tau), in the coordinates of the plant."""

    @property
    def robot(self) -> Robot: ...

    def init(self, q: PerJoint, qd: PerJoint) -> PerState:
        """Return the state for these actuated positions and velocities. Raise ClosureError if loops cannot close."""

    def compute_rates(self, state: PerState, tau: PerJoint) -> PerState:
        """Return d state / dt."""

    def close_loops(self, state: PerState) -> PerState:
        """Return the state with loops closed; an integration step opens loops slightly."""

    def get_motion(self, state: PerState) -> tuple[PerJoint, PerJoint]:
        """Return q and qd of the actuated coordinates."""

    def with_parameters(self, values: Mapping[str, float]) -> Plant:
        """Return the plant with other values of standard parameters, such as those of a grasped load."""
