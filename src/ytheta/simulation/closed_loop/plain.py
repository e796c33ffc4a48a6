"""One closed loop, step by step in Python: for every plant, and the reference that compiled loops are compared with.

The controller starts one period before the first instant, so that what it remembers moves on by a whole period at every
instant: explicit Euler, as in ``step_graph``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.control.controller import Controller, Reference, State
from ytheta.errors import InputError, UnstableError
from ytheta.shapes import Float, PerJoint, PerState
from ytheta.simulation.closed_loop.period_graph import FARTHEST
from ytheta.simulation.parameter_changes import ParameterChange, sort_changes
from ytheta.simulation.plants.integration import advance
from ytheta.simulation.plants.plant import Plant
from ytheta.simulation.references.reference import ReferenceTrajectory, check_period, periods, sample_reference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensor_reader import SensorReader
from ytheta.simulation.sensors.sensors import Sensors


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainLoop:
    """A plant and a controller that works with a period; see ``ClosedLoop`` for many runs at once."""

    plant: Plant
    controller: Controller
    period: float = 1e-3
    substeps: int = 1
    sensors: Sensors | None = None

    def __post_init__(self) -> None:
        check_period(self.period, self.substeps, self.controller.max_step)
        if self.controller.robot.actuated != self.plant.robot.actuated:
            raise InputError(
                f"the controller moves {', '.join(self.controller.robot.actuated)}, the plant has "
                f"{', '.join(self.plant.robot.actuated)}; were they made for one robot?"
            )

    def run(
        self,
        q: PerJoint,
        qd: PerJoint,
        course: ReferenceTrajectory,
        seconds: float,
        *,
        estimate: Float[np.ndarray, "unknown"] | None = None,
        parameter_changes: Sequence[ParameterChange] = (),
        rng: np.random.Generator | None = None,
        every: int = 10,
        run: int = 0,
    ) -> Runs:
        """One run, over as many periods as fit into ``seconds``; ``run`` is its row among errors of sensors."""
        steps = periods(seconds, self.period, every)
        if self.sensors is not None and rng is None:
            raise InputError("sensors need rng=np.random.default_rng(seed), so that a run can be repeated")
        wanted = sample_reference(course, self.plant.robot, self.period * np.arange(steps + 1))
        accelerations = len(self.controller.graph.inputs) == 7
        readings = None
        if self.sensors is not None and rng is not None:
            given = (self.sensors, len(q), self.period, slice(run, run + 1), rng.spawn(1))
            readings = SensorReader(*given, accelerations=accelerations)
        plant, state = self.plant, self.plant.init(q, qd)
        memory = self.controller.init(q, qd, estimate=estimate, t=-self.period)
        qdd, lost, reason, squares = np.zeros_like(qd), np.inf, "", np.zeros_like(q)
        rows: list[tuple[np.ndarray, ...]] = []
        changes = sort_changes(parameter_changes, self.period, steps)
        tau = np.zeros_like(q)
        for k in range(steps):
            for change in changes:
                if change.instant(self.period) == k:
                    plant = plant.with_parameters(change.values)
            q, qd = plant.motion(state)
            reading = _read(readings, q, qd, qdd, accelerations=accelerations)
            reference = Reference(wanted.q[k], wanted.qd[k], wanted.qdd[k])
            moved = None
            try:
                moved = self._moved(plant, state, memory, wanted.t[k], reading, reference)
            except UnstableError as error:
                reason = str(error)
            # A run that is lost stays as it was before, as in compiled loops.
            asked, after, ahead = (tau, memory, state) if moved is None else moved
            felt = asked if k == 0 else 0.5 * (tau + asked)
            torque = felt if readings is None else readings.torque(felt[None])[0]
            rows.append((q, qd, asked, memory.x, reading[0], reading[1], torque))
            if moved is None:
                lost = self.period * (k + 1)
                break
            state, memory, tau, squares = ahead, after, asked, squares + (q - wanted.q[k]) ** 2
            if accelerations:
                _, qdd = plant.motion(plant.rates(state, tau))
        lived = min(steps, max(1, round(lost / self.period) - 1)) if np.isfinite(lost) else steps
        rms = np.sqrt(squares / lived)
        rows += rows[-1:] * (steps - len(rows))
        found = self._runs(rows, state, memory.x, rms, lost, reason, every)
        if readings is not None:
            readings.end(found.read_tau)
        return found

    def _moved(
        self,
        plant: Plant,
        state: PerState,
        memory: State,
        t: float,
        reading: tuple[PerJoint, ...],
        reference: Reference,
    ) -> tuple[PerJoint, State, PerState] | None:
        """Torque, and what controller and plant are a period later; None where the plant left all bounds."""
        q, qd, qdd = reading
        tau, after = self.controller.step(memory, t, q, qd, reference, qdd)
        ahead = advance(plant, state, tau, self.period, self.substeps)
        return (tau, after, ahead) if float(ahead @ ahead) <= FARTHEST**2 else None

    def _runs(
        self,
        rows: list[tuple[np.ndarray, ...]],
        state: np.ndarray,
        x: np.ndarray,
        rms: np.ndarray,
        lost: float,
        reason: str,
        every: int,
    ) -> Runs:
        q, qd, tau, memory, read_q, read_qd, read_tau = (np.array(c)[None] for c in zip(*rows[::every], strict=True))
        final_q, final_qd = self.plant.motion(state)
        return Runs(
            joints=self.plant.robot.actuated,
            unknown_names=self.controller.unknown_names,
            seconds=self.period * len(rows),
            t=self.period * np.arange(0, len(rows), every),
            q=q,
            qd=qd,
            tau=tau,
            memory=memory,
            read_q=read_q,
            read_qd=read_qd,
            read_tau=read_tau,
            final_q=final_q[None],
            final_qd=final_qd[None],
            final_controller_state=x[None],
            rms=rms[None],
            lost=np.array([lost]),
            reason=reason,
        )


def _read(
    readings: SensorReader | None, q: PerJoint, qd: PerJoint, qdd: PerJoint, *, accelerations: bool
) -> tuple[PerJoint, PerJoint, PerJoint]:
    """What the controller is told of the motion."""
    if readings is None:
        return q, qd, qdd
    n, seen = len(q), np.concatenate((q, qd, qdd) if accelerations else (q, qd))
    read = readings.motion(seen[None])[0]
    return read[:n], read[n : 2 * n], read[2 * n :] if accelerations else qdd
