"""Compiled closed loops for thousands of runs: one kernel computes plant, controller and integrator in SIMD lanes.

The runs are divided into batches that fit into the cache. All periods of a batch are simulated before the next batch
begins. Threads, or the processes of a cluster, simulate different batches at the same time.
A run depends only on its own row of ``InitialStates``, its own stream of noise, and the reference and parameter changes
that all runs share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.control.controller import Controller, Reference, State
from ytheta.dynamics.loop_solver import solve
from ytheta.engine.engine import Engine, PickledByFields
from ytheta.engine.registry import open_engine
from ytheta.errors import InputError, UnstableError
from ytheta.native import Kernel
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.own_plant import EquationsOfMotion
from ytheta.simulation.period_graph import ControlPeriod, PeriodGraphBuilder, Slots
from ytheta.simulation.references import ReferenceTrajectory, sample_reference
from ytheta.simulation.runs import Record, Runs
from ytheta.simulation.sensors import SensorReader, Sensors
from ytheta.simulation.substeps import check_timing, count_periods
from ytheta.simulation.variation import ParameterChange, apply_changes, group_by_instant

RUNS_PER_BATCH = 512  # The states of 512 runs need about 200 kB; affects only time and memory


@dataclass(frozen=True, eq=False)
class InitialStates:
    """The initial state of every run, and the values that differ between runs: plant parameters and factors of gains.

    ``x`` contains all coordinates of the plant, with loops closed.
    """

    x: Float[np.ndarray, "runs coordinates"]
    qd: Float[np.ndarray, "runs joints"]
    controller_state: Float[np.ndarray, "runs states"]
    theta: Float[np.ndarray, "runs varied"]
    factors: Float[np.ndarray, "runs gains"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedLoop(PickledByFields):
    """A closed loop of a plant, given as a robot, and a controller, for many runs at once; ``init``, then ``run``.

    Attributes
    ----------
    plant         the robot
    controller    the controller
    period        time between two control instants, s
    substeps      integration steps per period
    continuous    whether the controller computes a new torque at every stage of the integrator instead of once per
                  period
    varied        standard parameters of the plant that differ between runs or change during a run
    varied_gains  gains of the controller that differ between runs
    sensors       errors of the sensors; None for exact readings
    """

    plant: Robot
    controller: Controller
    period: float = 1e-3
    substeps: int = 1
    continuous: bool = False
    varied: tuple[str, ...] = ()
    varied_gains: tuple[str, ...] = ()
    sensors: Sensors | None = None

    def __post_init__(self) -> None:
        check_timing(self.period, self.substeps, self.controller.max_step)

    @property
    def kernel(self) -> Kernel:
        """The kernel of one period; with several substeps, the kernel of the controller's part of the period."""
        return self._control_period.kernel

    @property
    def slots(self) -> Slots:
        return self._builder.slots

    def init(
        self,
        q: Float[np.ndarray, "runs joints"],
        qd: Float[np.ndarray, "runs joints"],
        *,
        estimate: Float[np.ndarray, "runs unknown"] | None = None,
        parameters: Mapping[str, Float[np.ndarray, " runs"]] | None = None,
        gains: Mapping[str, Float[np.ndarray, " runs"]] | None = None,
    ) -> InitialStates:
        """Return the initial states, one run per row.

        ``parameters`` maps names in ``varied`` to values; the default is the value in the description. ``gains`` maps
        names in ``varied_gains`` to factors of the gains; the default is 1.
        """
        parameters, gains = dict(parameters or {}), dict(gains or {})
        for names, inputs, field in ((parameters, self.varied, "varied"), (gains, self.varied_gains, "varied_gains")):
            for name in names:
                if name not in inputs:
                    raise InputError(f"{name!r} is not an input of this closed loop; add it to ``{field}``")
        runs = len(q)
        for name, values in (("q", q), ("qd", qd)):
            _check_array(name, values, (runs, len(self.plant.actuated)))
        if estimate is not None:
            _check_array("estimate", estimate, (runs, len(self.controller.unknown_names)))
        for name, values in (*parameters.items(), *gains.items()):
            _check_array(name, values, (runs,))
        self.controller.check_factors(gains)
        described = dict(zip(self.plant.parameter_names, self.plant.numeric.theta.tolist(), strict=True))
        theta = [np.broadcast_to(parameters.get(name, described[name]), runs) for name in self.varied]
        factors = [np.broadcast_to(gains.get(name, 1.0), runs) for name in self.varied_gains]
        x = solve(self._builder.plant.loops, q).or_raise().x if self.plant.loops else q
        controller_state = np.empty((runs, self.slots.controller_states))
        for k in range(runs):
            estimate_k = None if estimate is None else estimate[k]
            controller_state[k] = self.controller.init(q[k], qd[k], estimate=estimate_k).x
        return InitialStates(x, qd, controller_state, _stack_columns(theta, runs), _stack_columns(factors, runs))

    def run(
        self,
        initial: InitialStates,
        reference: ReferenceTrajectory,
        seconds: float,
        *,
        parameter_changes: Sequence[ParameterChange] = (),
        rng: np.random.Generator | None = None,
        every: int = 10,
        engine: str | Engine = "local",
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Runs:
        """Simulate all runs. The results are bit-identical for every engine and number of threads.

        Every ``every``-th control instant is recorded. ``engine`` is an open engine or the name of an engine, see
        ``engine.registry``. An engine given by name is opened with this number of ``threads``. ``progress`` is called
        with the number of completed runs.
        """
        steps = count_periods(seconds, self.period, every)
        if self.sensors is not None and rng is None:
            raise InputError("sensors need rng=np.random.default_rng(seed), so that a run can be repeated")
        count, control_period = len(initial.x), self._control_period
        if self.sensors is not None:
            self.sensors.check(len(self.plant.actuated), count)
        changes = group_by_instant(parameter_changes, self.period, self.varied, steps)
        samples = self._sample_reference(reference, steps)
        simulator = BatchSimulator(control_period, self.sensors, samples, changes, every)
        record = Record.allocate(control_period, count, simulator.recorded_count)
        with open_engine(engine, threads=threads) as workers:
            for rows, part in workers.map_in_order(simulator.run, self._split_into_batches(initial, rng)):
                record.insert(rows, part)
                if progress is not None:
                    progress(rows.stop)
        instants = every * np.arange(simulator.recorded_count)
        names = {"joints": self.plant.actuated, "unknown_names": self.controller.unknown_names}
        runs = record.to_runs(control_period, instants, steps=steps, **names)
        return (
            runs if runs.finished.all() else replace(runs, reason=self._find_divergence_reason(runs, record, reference))
        )

    def _find_divergence_reason(self, runs: Runs, record: Record, reference: ReferenceTrajectory) -> str:
        """Return the controller's error message at the last state of the run that diverged first, or an empty text."""
        run = int(np.argmin(runs.diverged_at))
        t = np.array([runs.diverged_at[run] - self.period])
        q, qd, qdd = (values[0] for values in reference(t))
        state = State(float(t[0]), runs.final_controller_state[run])
        acceleration = record.final[run, self.slots.qdd]
        try:
            motion = (runs.final_q[run], runs.final_qd[run], Reference(q, qd, qdd), acceleration)
            self.controller.step(state, float(t[0]), *motion)
        except UnstableError as error:
            return str(error)
        return ""

    def _split_into_batches(self, initial: InitialStates, rng: np.random.Generator | None) -> Iterator[RunBatch]:
        state, count = self.pack_states(initial), len(initial.x)
        for first in range(0, count, RUNS_PER_BATCH):
            rows = slice(first, min(first + RUNS_PER_BATCH, count))
            streams = rng.spawn(rows.stop - rows.start) if rng is not None and self.sensors is not None else []
            yield RunBatch(rows, state[rows], initial.theta[rows], initial.factors[rows], streams)

    @cached_property
    def _control_period(self) -> ControlPeriod:
        return ControlPeriod.build(self._builder)

    @cached_property
    def _builder(self) -> PeriodGraphBuilder:
        return PeriodGraphBuilder(
            EquationsOfMotion(self.plant, self.varied),
            self.controller.graph_with(self.varied_gains) if self.varied_gains else self.controller.graph,
            self.period,
            self.substeps,
            continuous=self.continuous,
            has_sensors=self.sensors is not None,
            factors=len(self.varied_gains),
            reset=getattr(self.controller, "reset_graph", None),
        )

    def pack_states(self, initial: InitialStates) -> Float[np.ndarray, "runs slots"]:
        """Return the states of all runs before the first period, in the layout ``Slots`` of the kernel."""
        slots = self.slots
        state = np.zeros((len(initial.x), slots.size))
        state[:, slots.x], state[:, slots.qd] = initial.x, initial.qd
        state[:, slots.controller_state] = initial.controller_state
        return state

    def _sample_reference(self, reference: ReferenceTrajectory, steps: int) -> Float[np.ndarray, "steps numbers"]:
        """Return the reference input of the kernel, one row per period."""
        parts = 2 if self.continuous else 1
        t = self.period / parts * np.arange(parts * steps + 1)
        samples = sample_reference(reference, self.plant, t)
        rows = np.concatenate([samples.q, samples.qd, samples.qdd], axis=1)
        if not self.continuous:
            return rows[:-1]
        return np.concatenate([rows[:-1:2], rows[1::2], rows[2::2]], axis=1)


def _stack_columns(columns: Sequence[np.ndarray], runs: int) -> Float[np.ndarray, "runs columns"]:
    return np.stack(columns, axis=1) if columns else np.empty((runs, 0))


def _check_array(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    if values.shape != shape or not np.isfinite(values).all():
        problem = f"has shape {values.shape}" if values.shape != shape else "contains numbers that are not finite"
        raise InputError(f"{name} {problem}; give an array of shape {shape}, one row for every run")


# The simulation of a batch of runs, from the first control period to the last.


@dataclass(frozen=True, eq=False)
class RunBatch:
    """The initial states and varied values of runs that are simulated together.

    Their number is chosen such that a batch fits into the cache of the processor.
    """

    rows: slice
    state: Float[np.ndarray, "runs slots"]
    theta: Float[np.ndarray, "runs varied"]
    factors: Float[np.ndarray, "runs gains"]
    streams: Sequence[np.random.Generator]


@dataclass(frozen=True, eq=False)
class BatchSimulator(PickledByFields):
    """Simulates batches of runs with the same reference, sensors and parameter changes.

    ``changes`` contains the parameter changes of each control instant, see ``group_by_instant``.
    """

    control_period: ControlPeriod
    sensors: Sensors | None
    reference: Float[np.ndarray, "steps numbers"]
    changes: Mapping[int, Sequence[tuple[int, float]]]
    every: int

    @property
    def recorded_count(self) -> int:
        """The number of instants that are recorded."""
        return len(range(0, len(self.reference), self.every))

    def run(self, batch: RunBatch) -> tuple[slice, Record]:
        """Simulate all periods of a batch. Return ``batch.rows`` and the record of the runs."""
        control_period, tau = self.control_period, self.control_period.slots.tau
        record = Record.allocate(control_period, len(batch.state), self.recorded_count)
        theta, measured_slots = batch.theta.copy(), control_period.measured_slots
        state, next_state, scratch = batch.state.copy(), np.empty_like(batch.state), np.empty_like(batch.state)
        varied = [values for values in (theta, batch.factors) if values.shape[1]]
        reader, readings = self._make_reader(batch), list[np.ndarray]()
        for k in range(len(self.reference)):
            if k in self.changes:
                apply_changes(theta, self.changes[k])
            if reader is not None:
                readings = [reader.read_motion(state.take(measured_slots, axis=1))]
            control_period.advance(
                state, self.reference[k], *readings, *varied, theta=theta, out=next_state, scratch=scratch
            )
            is_recorded = k % self.every == 0
            if is_recorded or reader is not None:
                mean_torque = (
                    next_state[:, tau]
                    if k == 0 or not control_period.holds_torque
                    else 0.5 * (state[:, tau] + next_state[:, tau])
                )
                read_torque = mean_torque if reader is None else reader.delay_torque(mean_torque)
                if is_recorded:
                    self._record_instant(record, k // self.every, state, next_state, readings, read_torque)
            state, next_state = next_state, state
        if reader is not None:
            reader.add_torque_errors(record.read[2])
        record.final[:] = state
        return batch.rows, record

    def _make_reader(self, batch: RunBatch) -> SensorReader | None:
        """Return the sensor reader of a batch, or None if the controller receives the true motion."""
        if self.sensors is None:
            return None
        period, joints = self.control_period, self.control_period.slots.joints
        return SensorReader(
            self.sensors, joints, period.period, batch.rows, batch.streams, uses_accelerations=period.uses_accelerations
        )

    def _record_instant(
        self,
        record: Record,
        instant: int,
        state: np.ndarray,
        next_state: np.ndarray,
        readings: list[np.ndarray],
        read_torque: np.ndarray,
    ) -> None:
        slots, n = self.control_period.slots, self.control_period.slots.joints
        record.q[:, instant] = state[:, self.control_period.actuated]
        record.qd[:, instant] = state[:, slots.qd]
        record.controller_state[:, instant] = state[:, slots.controller_state]
        record.tau[:, instant] = next_state[:, slots.tau]
        record.read[2][:, instant] = read_torque
        for motion in readings:
            record.read[0][:, instant], record.read[1][:, instant] = motion[:, :n], motion[:, n : 2 * n]
