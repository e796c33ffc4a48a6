"""One closed loop, simulated step by step in Python. It works with every plant and is a check of compiled loops.

The controller starts one period before the first instant, so that its state advances by a whole period at every
instant. Its state is integrated by explicit Euler steps, as in ``period_graph``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.control.controller import Reference, State, SteppedController
from ytheta.errors import InputError, UnstableError
from ytheta.shapes import Float, PerJoint, PerState
from ytheta.simulation.closed_loop.period_graph import MAX_MOTION_NORM
from ytheta.simulation.parameter_changes import ParameterChange, sort_changes
from ytheta.simulation.plants.integration import advance
from ytheta.simulation.plants.plant import Plant
from ytheta.simulation.references.reference import ReferenceTrajectory, sample_reference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensor_reader import SensorReader
from ytheta.simulation.sensors.sensors import Sensors
from ytheta.simulation.timing import check_timing, count_periods


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
        estimate: Float[np.ndarray, "unknown"] | None = None,
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
