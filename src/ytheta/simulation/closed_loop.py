"""Closed loops by the thousand: plant, controller and integrator compiled into one step that runs in SIMD lanes.

A batch is many runs side by side, cut into blocks that stay in the cache. Each block goes through all of time before
the next begins; threads share the blocks. What a run does depends on nothing but its own row of ``Start``, its own
stream of noise, and the reference that all runs share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.control.controller import Controller
from ytheta.engine.local import in_order
from ytheta.errors import InputError
from ytheta.formulation.loops import solve
from ytheta.native import Kernel, compile_graph
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.simulation.block import Block, Record, keep_instants
from ytheta.simulation.course import Course, sampled
from ytheta.simulation.equations import Equations
from ytheta.simulation.events import Jump, by_instant
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors import Sensors
from ytheta.simulation.step_graph import Slots, StepMaker

BLOCK = 512  # runs; their states take some 200 kB


@dataclass(frozen=True, eq=False)
class Start:
    """How each run begins: closed coordinates, velocities, what the controller remembers, parameters that vary."""

    x: Float[np.ndarray, "runs coordinates"]
    qd: Float[np.ndarray, "runs joints"]
    memory: Float[np.ndarray, "runs states"]
    theta: Float[np.ndarray, "runs varied"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClosedLoop:
    """A robot as the plant, a controller with its gains baked in, and the period at which it works.

    ``varied`` names the standard parameters of the plant of which each run has its own values, or which jump.
    """

    plant: Robot
    controller: Controller
    period: float = 1e-3
    substeps: int = 1
    continuous: bool = False
    varied: tuple[str, ...] = ()
    sensors: Sensors | None = None

    def __post_init__(self) -> None:
        if not (self.period > 0.0 and np.isfinite(self.period)):
            raise InputError(f"the period of the controller is {self.period} s; give a positive one such as 1e-3")
        if self.substeps < 1:
            raise InputError(f"{self.substeps} steps of the plant per period; give at least 1")

    @cached_property
    def kernel(self) -> Kernel:
        """One period for a batch of runs."""
        return compile_graph(self._maker.graph())

    @property
    def slots(self) -> Slots:
        return self._maker.slots

    def start(
        self,
        q: Float[np.ndarray, "runs joints"],
        qd: Float[np.ndarray, "runs joints"],
        *,
        estimate: Float[np.ndarray, "runs unknown"] | None = None,
        parameters: Mapping[str, Float[np.ndarray, "runs"]] | None = None,
    ) -> Start:
        """One run for every row; parameters of the plant that are not given are the description's."""
        given = {} if parameters is None else dict(parameters)
        for name in given:
            if name not in self.varied:
                raise InputError(f"{name!r} is no input of this closed loop; add it to ``varied``")
        wanted = (len(q), len(self.plant.actuated))
        for name, values in (("q", q), ("qd", qd)):
            _check(name, values, wanted)
        if estimate is not None:
            _check("estimate", estimate, (len(q), len(self.controller.unknown)))
        for name, values in given.items():
            _check(name, values, (len(q),))
        own = dict(zip(self.plant.parameter_names, self.plant.numeric.theta.tolist(), strict=True))
        theta = [np.broadcast_to(given.get(name, own[name]), len(q)) for name in self.varied]
        x = solve(self._maker.plant.loops, q).or_raise().x if self.plant.loops else q
        rows = [(q[k], qd[k], None if estimate is None else estimate[k]) for k in range(len(q))]
        memory = [self.controller.init(at, rate, estimate=guess).x for at, rate, guess in rows]
        columns = np.stack(theta, axis=1) if theta else np.empty((len(q), 0))
        return Start(x, qd, np.array(memory).reshape(len(q), self.slots.memory), columns)

    def run(
        self,
        start: Start,
        course: Course,
        seconds: float,
        *,
        jumps: Sequence[Jump] = (),
        rng: np.random.Generator | None = None,
        every: int = 10,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Runs:
        """All runs, over as many periods as fit into ``seconds``.

        ``every``: of how many instants one is kept. ``progress`` hears how many runs are done.
        """
        steps = round(seconds / self.period)
        if steps < 1 or every < 1:
            raise InputError(f"{seconds} s in periods of {self.period} s, every {every}th kept; give at least one")
        if self.sensors is not None and rng is None:
            raise InputError("sensors need rng=np.random.default_rng(seed), so that a run can be repeated")
        runs = len(start.x)
        state = self.states(start)
        record = Record.empty(self._maker, runs, keep_instants(steps, every))
        streams = rng.spawn(runs) if rng is not None and self.sensors is not None else []
        shared = self._reference(course, steps)
        changes = by_instant(jumps, self.period, self.varied)

        def blocks() -> Iterator[Block]:
            for first in range(0, runs, BLOCK):
                rows = slice(first, min(first + BLOCK, runs))
                yield Block(self.kernel, self._maker, self.sensors, rows, state[rows], start.theta[rows], streams[rows])

        done = 0
        for block in in_order(lambda block: block.run(shared, changes, every, record), blocks(), threads=threads):
            done += block.stop - block.start
            if progress is not None:
                progress(done)
        return record.runs(self.plant.actuated, self.controller.unknown, self.period, steps)

    @cached_property
    def _maker(self) -> StepMaker:
        plant = Equations(self.plant, self.varied)
        return StepMaker(
            plant, self.controller.graph, self.period, self.substeps, self.continuous, self.sensors is not None
        )

    def states(self, start: Start) -> Float[np.ndarray, "runs slots"]:
        """What the kernel takes first, before the first period; see ``Slots``."""
        slots = self.slots
        state = np.zeros((len(start.x), slots.size))
        state[:, slots.x], state[:, slots.qd], state[:, slots.remembered] = start.x, start.qd, start.memory
        return state

    def _reference(self, course: Course, steps: int) -> Float[np.ndarray, "steps numbers"]:
        """What every step is told of the reference, one row each."""
        parts = 2 if self.continuous else 1
        t = self.period / parts * np.arange(parts * steps + 1)
        wanted = sampled(course, self.plant, t)
        each = np.concatenate([wanted.q, wanted.qd, wanted.qdd], axis=1)
        if not self.continuous:
            return each[:-1]
        return np.concatenate([each[:-1:2], each[1::2], each[2::2]], axis=1)


def _check(name: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    if values.shape != shape or not np.isfinite(values).all():
        found = f"has shape {values.shape}" if values.shape != shape else "holds numbers that are not finite"
        raise InputError(f"{name} {found}; give an array of shape {shape}, one row for every run")
