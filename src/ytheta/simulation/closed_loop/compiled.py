"""Closed loops by the thousand: plant, controller and integrator compiled into one step that runs in SIMD lanes.

A batch is many runs side by side, cut into blocks that stay in the cache. Each block goes through all of time before
the next begins; threads, or processes of a cluster, share the blocks. What a run does depends on nothing but its own
row of ``Start``, its own stream of noise, and the reference that all runs share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.control.controller import Controller, Reference, State
from ytheta.dynamics.loops.loops import solve
from ytheta.engine.description import Description
from ytheta.engine.engine import Engine
from ytheta.engine.registry import engine as opened
from ytheta.errors import InputError, UnstableError
from ytheta.native import Kernel
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.closed_loop.batch import Block, Schedule
from ytheta.simulation.closed_loop.record import Record
from ytheta.simulation.closed_loop.control_period import ControlPeriod
from ytheta.simulation.closed_loop.period_graph import Slots, PeriodGraphBuilder
from ytheta.simulation.parameter_changes import ParameterChange, group_by_instant
from ytheta.simulation.plants.equations_of_motion import EquationsOfMotion
from ytheta.simulation.references.reference import ReferenceTrajectory, check_period, periods, sample_reference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensors import Sensors

RUNS_PER_BATCH = 512  # runs; their states take some 200 kB


@dataclass(frozen=True, eq=False)
class Start:
    """How each run begins: closed coordinates, velocities, what the controller remembers; and what it has of its own:
    parameters of the plant, and factors of gains."""

    x: Float[np.ndarray, "runs coordinates"]
    qd: Float[np.ndarray, "runs joints"]
    memory: Float[np.ndarray, "runs states"]
    theta: Float[np.ndarray, "runs varied"]
    factors: Float[np.ndarray, "runs gains"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedLoop(Description):
    """A robot as the plant, a controller with its gains baked in, and the period at which it works.

    ``varied`` names the standard parameters of the plant of which each run has its own values, or which jump;
    ``varied_gains`` the gains of the controller of which each run has its own.
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
        check_period(self.period, self.substeps, self.controller.max_step)

    @property
    def kernel(self) -> Kernel:
        """One period for a batch of runs; with substeps, the controller's part of it."""
        return self._step.kernel

    @property
    def slots(self) -> Slots:
        return self._maker.slots

    def init(
        self,
        q: Float[np.ndarray, "runs joints"],
        qd: Float[np.ndarray, "runs joints"],
        *,
        estimate: Float[np.ndarray, "runs unknown"] | None = None,
        parameters: Mapping[str, Float[np.ndarray, "runs"]] | None = None,
        gains: Mapping[str, Float[np.ndarray, "runs"]] | None = None,
    ) -> Start:
        """One run for every row; parameters of the plant that are not given are the description's.

        ``gains`` holds factors: what each run multiplies a gain of the controller with, 1 where it is not given.
        """
        given, multiplied = dict(parameters or {}), dict(gains or {})
        for names, known, field in ((given, self.varied, "varied"), (multiplied, self.varied_gains, "varied_gains")):
            for name in names:
                if name not in known:
                    raise InputError(f"{name!r} is no input of this closed loop; add it to ``{field}``")
        wanted = (len(q), len(self.plant.actuated))
        for name, values in (("q", q), ("qd", qd)):
            _check(name, values, wanted)
        if estimate is not None:
            _check("estimate", estimate, (len(q), len(self.controller.unknown_names)))
        for name, values in (*given.items(), *multiplied.items()):
            _check(name, values, (len(q),))
        self.controller.check_factors(multiplied)
        own = dict(zip(self.plant.parameter_names, self.plant.numeric.theta.tolist(), strict=True))
        theta = [np.broadcast_to(given.get(name, own[name]), len(q)) for name in self.varied]
        factors = [np.broadcast_to(multiplied.get(name, 1.0), len(q)) for name in self.varied_gains]
        x = solve(self._maker.plant.loops, q).or_raise().x if self.plant.loops else q
        rows = [(q[k], qd[k], None if estimate is None else estimate[k]) for k in range(len(q))]
        memory = [self.controller.init(at, rate, estimate=guess).x for at, rate, guess in rows]
        remembered = np.array(memory).reshape(len(q), self.slots.memory)
        return Start(x, qd, remembered, _columns(theta, len(q)), _columns(factors, len(q)))

    def run(
        self,
        start: Start,
        course: ReferenceTrajectory,
        seconds: float,
        *,
        parameter_changes: Sequence[ParameterChange] = (),
        rng: np.random.Generator | None = None,
        every: int = 10,
        engine: str | Engine = "local",
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Runs:
        """All runs, over as many periods as fit into ``seconds``; the same to the last bit whatever the engine is.

        ``every``: of how many instants one is kept. ``engine`` is one that is open, or the name of one with so many
        ``threads``; see ``engine.choice``. ``progress`` hears how many runs are done.
        """
        steps = periods(seconds, self.period, every)
        if self.sensors is not None and rng is None:
            raise InputError("sensors need rng=np.random.default_rng(seed), so that a run can be repeated")
        runs, step = len(start.x), self._step
        if self.sensors is not None:
            self.sensors.check(len(self.plant.actuated), runs)
        changes = group_by_instant(parameter_changes, self.period, self.varied, steps)
        schedule = Schedule(step, self.sensors, self._reference(course, steps), changes, every)
        streams = rng.spawn(runs) if rng is not None and self.sensors is not None else []
        record = Record.empty(step, runs, schedule.kept)
        with opened(engine, threads=threads) as workers:
            for rows, part in workers.in_order(schedule.run, self._blocks(start, streams)):
                record.put(rows, part)
                if progress is not None:
                    progress(rows.stop)
        instants = every * np.arange(schedule.kept)
        names = {"joints": self.plant.actuated, "unknown_names": self.controller.unknown_names}
        found = record.runs(step, instants, steps=steps, **names)
        return found if found.finished.all() else replace(found, reason=self._reason(found, record, course))

    def _reason(self, found: Runs, record: Record, course: ReferenceTrajectory) -> str:
        """What the controller says where the run that was lost first had come to; empty where it is content."""
        run = int(np.argmin(found.lost))
        t = np.array([found.lost[run] - self.period])
        q, qd, qdd = (values[0] for values in course(t))
        remembered = State(float(t[0]), found.final_controller_state[run])
        measured = record.final[run, self.slots.qdd]
        try:
            given = (found.final_q[run], found.final_qd[run], Reference(q, qd, qdd), measured)
            self.controller.step(remembered, float(t[0]), *given)
        except UnstableError as error:
            return str(error)
        return ""

    def _blocks(self, start: Start, streams: Sequence[np.random.Generator]) -> Iterator[Block]:
        state, runs = self.states(start), len(start.x)
        for first in range(0, runs, RUNS_PER_BATCH):
            rows = slice(first, min(first + RUNS_PER_BATCH, runs))
            yield Block(rows, state[rows], start.theta[rows], start.factors[rows], streams[rows])

    @cached_property
    def _step(self) -> ControlPeriod:
        return ControlPeriod.of(self._maker)

    @cached_property
    def _maker(self) -> PeriodGraphBuilder:
        return PeriodGraphBuilder(
            EquationsOfMotion(self.plant, self.varied),
            self.controller.graph_with(self.varied_gains) if self.varied_gains else self.controller.graph,
            self.period,
            self.substeps,
            continuous=self.continuous,
            measured=self.sensors is not None,
            factors=len(self.varied_gains),
        )

    def states(self, start: Start) -> Float[np.ndarray, "runs slots"]:
        """What the kernel takes first, before the first period; see ``Slots``."""
        slots = self.slots
        state = np.zeros((len(start.x), slots.size))
        state[:, slots.x], state[:, slots.qd], state[:, slots.controller_state] = start.x, start.qd, start.memory
        return state

    def _reference(self, course: ReferenceTrajectory, steps: int) -> Float[np.ndarray, "steps numbers"]:
        """What every step is told of the reference, one row each."""
        parts = 2 if self.continuous else 1
        t = self.period / parts * np.arange(parts * steps + 1)
        wanted = sample_reference(course, self.plant, t)
        each = np.concatenate([wanted.q, wanted.qd, wanted.qdd], axis=1)
        if not self.continuous:
            return each[:-1]
        return np.concatenate([each[:-1:2], each[1::2], each[2::2]], axis=1)


def _columns(found: Sequence[np.ndarray], runs: int) -> Float[np.ndarray, "runs columns"]:
    return np.stack(found, axis=1) if found else np.empty((runs, 0))


def _check(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    if values.shape != shape or not np.isfinite(values).all():
        found = f"has shape {values.shape}" if values.shape != shape else "holds numbers that are not finite"
        raise InputError(f"{name} {found}; give an array of shape {shape}, one row for every run")
