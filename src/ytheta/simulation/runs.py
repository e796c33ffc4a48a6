"""The recorded motion of simulated runs, one row for every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ytheta.arguments import check_count
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.shapes import Float, Int, RunsByInstantByJoint, Shaped
from ytheta.simulation.period_graph import ControlPeriod


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """The motion of every run at the recorded instants, and tracking errors from all control instants.

    Attributes
    ----------
    joints, unknown_names    names of the actuated coordinates, and of the parameters that the controller adapts
    seconds                  duration, s
    t                        recorded instants, s
    q, qd                    the true motion
    tau                      the torque that the controller commands at an instant
    controller_state         the state of the controller, which begins with the estimate
    read_q, read_qd          readings of the sensors; without sensors, the true motion
    read_tau                 reading of the mean of the torques before and after an instant, because a torque that is
                             constant during a period acts half a period late on average
    final_q, final_qd, final_controller_state
                             the state at the end
    rms                      RMS tracking error of each joint at all control instants, or those before it diverged
    diverged_at              time (s) at which a run diverged, or infinity. At later instants, a diverged run keeps its
                             last state within the bounds
    reason                   error message of the controller in the run that diverged first
    """

    joints: tuple[str, ...]
    unknown_names: tuple[str, ...]
    seconds: float
    t: Float[np.ndarray, " instants"]
    q: RunsByInstantByJoint
    qd: RunsByInstantByJoint
    tau: RunsByInstantByJoint
    controller_state: Float[np.ndarray, "runs instants states"]
    read_q: RunsByInstantByJoint
    read_qd: RunsByInstantByJoint
    read_tau: RunsByInstantByJoint
    final_q: Float[np.ndarray, "runs joints"]
    final_qd: Float[np.ndarray, "runs joints"]
    final_controller_state: Float[np.ndarray, "runs states"]
    rms: Float[np.ndarray, "runs joints"]
    diverged_at: Float[np.ndarray, " runs"]
    reason: str = ""

    def __len__(self) -> int:
        return len(self.diverged_at)

    def __repr__(self) -> str:
        return f"Runs({len(self)} x {self.seconds:g} s, {len(self.t)} recorded instants, {len(self.joints)} joints)"

    @property
    def finished(self) -> Shaped[np.ndarray, " runs"]:
        """Which runs did not diverge."""
        return np.isinf(self.diverged_at)

    @property
    def tracking_rms(self) -> Float[np.ndarray, " runs"]:
        """RMS tracking error of each run, for all joints and all control instants; NaN for a run that diverged."""
        return np.where(self.finished, np.sqrt(np.mean(self.rms**2, axis=1)), np.nan)

    @property
    def estimate(self) -> Float[np.ndarray, "runs instants unknown"]:
        """The controller's estimate of its unknown parameters."""
        return self.controller_state[:, :, : len(self.unknown_names)]

    @property
    def final_estimate(self) -> Float[np.ndarray, "runs unknown"]:
        """The estimate at the end."""
        return self.final_controller_state[:, : len(self.unknown_names)]

    def parameter_error(self, truth: Float[np.ndarray, "runs unknown"]) -> Float[np.ndarray, "runs unknown"]:
        """Return the final estimate of each run minus the truth; NaN for a run that diverged."""
        return np.where(self.finished[:, None], self.final_estimate - truth, np.nan)

    def describe_divergence(self) -> tuple[str, str]:
        """Return a statement that says when and why a run diverged, and a remedy; both are empty if all finished."""
        diverged = np.flatnonzero(~self.finished)
        if not len(diverged):
            return "", ""
        first = int(diverged[np.argmin(self.diverged_at[diverged])])
        others = f"; {len(diverged)} of {len(self)} runs diverged" if len(diverged) > 1 else ""
        reason = f": {self.reason}" if self.reason else ""  # contains a remedy
        remedy = "" if self.reason else "choose smaller gains or a higher rate"
        return f"run {first} diverged at t = {self.diverged_at[first]:.4g} s{reason}{others}", remedy

    @property
    def advice(self) -> str:
        """A message that says when and why a run diverged, with a remedy; empty if all runs finished."""
        return "; ".join(filter(None, self.describe_divergence()))

    def check_run(self, run: int) -> None:
        """Raise an error unless there is a run with this number."""
        if check_count("run", run, "the number of a run, 0 or more", minimum=0) >= len(self):
            raise InputError(f"there is no run {run}; the runs are numbered from 0 to {len(self) - 1}")

    def log(self, run: int) -> Log:
        """Return the readings of a finished run as a log."""
        self.check_run(run)
        if not self.finished[run]:
            raise InputError(
                f"run {run} diverged at t = {self.diverged_at[run]:.4g} s and has no log; choose a run that finished"
            )
        return Log(
            self.joints,
            self.t,
            self.read_q[run],
            self.read_tau[run],
            self.read_qd[run],
            source=f"simulation, run {run}",
        )


def join_runs(parts: Sequence[Runs]) -> Runs:
    """Join the results of runs that were simulated one after the other, with the same recorded instants."""
    first = parts[0]
    rows: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Runs)
        if isinstance(getattr(first, field.name), np.ndarray) and field.name != "t"
    }
    return replace(first, **rows, reason=next((part.reason for part in parts if part.reason), ""))


# Arrays in which runs are recorded during a simulation.


@dataclass(frozen=True, eq=False)
class Record:
    """The recorded instants and final states of all runs, or of the runs of a batch.

    ``read`` contains the sensor readings of q, qd and tau. Without sensors, the first two arrays of ``read`` are ``q``
    and ``qd``.
    """

    q: RunsByInstantByJoint
    qd: RunsByInstantByJoint
    tau: RunsByInstantByJoint
    controller_state: Float[np.ndarray, "runs instants states"]
    read: tuple[RunsByInstantByJoint, RunsByInstantByJoint, RunsByInstantByJoint]
    final: Float[np.ndarray, "runs slots"]

    @staticmethod
    def allocate(control_period: ControlPeriod, runs: int, instants: int) -> Record:
        slots = control_period.slots

        def make_array(width: int) -> np.ndarray:
            return np.empty((runs, instants, width))

        motion = (make_array(slots.joints), make_array(slots.joints), make_array(slots.joints))
        read_motion = (make_array(slots.joints), make_array(slots.joints)) if control_period.has_sensors else motion[:2]
        read = (*read_motion, make_array(slots.joints))
        return Record(*motion, make_array(slots.controller_states), read, np.empty((runs, slots.size)))

    def insert(self, rows: slice, part: Record) -> None:
        """Copy the record of a batch into these rows."""
        for destination, source in zip(self._arrays, part._arrays, strict=True):
            destination[rows] = source

    def to_runs(
        self,
        control_period: ControlPeriod,
        instants: Int[np.ndarray, " instants"],
        *,
        joints: tuple[str, ...],
        unknown_names: tuple[str, ...],
        steps: int,
    ) -> Runs:
        slots, final, period = control_period.slots, self.final, control_period.period
        count = final[:, slots.period_count]
        completed = np.where(count < 0.0, -count - 1.0, count)
        read_q, read_qd, read_tau = self.read
        return Runs(
            joints=joints,
            unknown_names=unknown_names,
            seconds=period * steps,
            t=period * instants,
            q=self.q,
            qd=self.qd,
            tau=self.tau,
            controller_state=self.controller_state,
            read_q=read_q,
            read_qd=read_qd,
            read_tau=read_tau,
            final_q=final[:, list(control_period.actuated)],
            final_qd=final[:, slots.qd].copy(),
            final_controller_state=final[:, slots.controller_state].copy(),
            rms=np.sqrt(final[:, slots.squared_errors] / np.maximum(1.0, completed)[:, None]),
            diverged_at=np.where(count < 0.0, -period * count, np.inf),
        )

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        read = self.read[2:] if self.read[0] is self.q else self.read
        return (self.q, self.qd, self.tau, self.controller_state, self.final, *read)
