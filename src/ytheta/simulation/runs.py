"""Runs: what came out of closed loops, one row for every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.shapes import Float, RunsByInstantByJoint, Shaped


@dataclass(frozen=True, eq=False)
class Runs:
    """Motion at kept instants, and sums over all of them.

    ``q``, ``qd`` are true, ``tau`` is the torque given from that instant on; ``read_q`` … are what the sensors said,
    the same arrays where there are none. ``read_tau`` is the torque around the instant: the mean of the one held until
    then and the one from then on, since a torque that is held acts half a period late. ``lost`` is when a run left all
    bounds, infinite where it did not; what is kept of it later on is its last state within them.
    """

    joints: tuple[str, ...]
    unknown_names: tuple[str, ...]
    seconds: float
    t: Float[np.ndarray, "instants"]
    q: RunsByInstantByJoint
    qd: RunsByInstantByJoint
    tau: RunsByInstantByJoint
    memory: Float[np.ndarray, "runs instants states"]
    read_q: RunsByInstantByJoint
    read_qd: RunsByInstantByJoint
    read_tau: RunsByInstantByJoint
    final_q: Float[np.ndarray, "runs joints"]
    final_qd: Float[np.ndarray, "runs joints"]
    final_controller_state: Float[np.ndarray, "runs states"]
    rms: Float[np.ndarray, "runs joints"]
    lost: Float[np.ndarray, "runs"]
    reason: str = ""  # what a controller said of the first run it gave up

    def __len__(self) -> int:
        return len(self.lost)

    @property
    def finished(self) -> Shaped[np.ndarray, "runs"]:
        """Which runs stayed within all bounds to the end."""
        return np.isinf(self.lost)

    @property
    def tracking_rms(self) -> Float[np.ndarray, "runs"]:
        """Root mean square of the tracking errors over all control instants and joints; until it was lost."""
        return np.sqrt(np.mean(self.rms**2, axis=1))

    @property
    def estimate(self) -> Float[np.ndarray, "runs instants unknown"]:
        """The controller's estimate of its unknown parameters."""
        return self.memory[:, :, : len(self.unknown_names)]

    @property
    def final_estimate(self) -> Float[np.ndarray, "runs unknown"]:
        return self.final_controller_state[:, : len(self.unknown_names)]

    def parameter_error(self, truth: Float[np.ndarray, "runs unknown"]) -> Float[np.ndarray, "runs unknown"]:
        """The last estimates minus the truth of each run."""
        return self.final_estimate - truth

    @property
    def advice(self) -> str:
        """What happened to runs that did not finish, and what to do; empty where all did."""
        gone = np.flatnonzero(~self.finished)
        if not len(gone):
            return ""
        first = int(gone[np.argmin(self.lost[gone])])
        others = f"; {len(gone)} of {len(self)} runs did in all" if len(gone) > 1 else ""
        why = self.reason or "smaller step or gains"
        return f"run {first} left all bounds at t = {self.lost[first]:.4g} s: {why}{others}"

    def log(self, run: int) -> Log:
        """What was read in a run that finished, as a log."""
        if not 0 <= run < len(self):
            raise InputError(f"there is no run {run}; there are {len(self)}, from 0 on")
        if not self.finished[run]:
            raise InputError(f"run {run} left all bounds at t = {self.lost[run]:.4g} s; no log of it is of use")
        return Log(
            self.joints,
            self.t,
            self.read_q[run],
            self.read_tau[run],
            self.read_qd[run],
            source=f"simulation, run {run}",
        )


def join_runs(parts: Sequence[Runs]) -> Runs:
    """Runs that were made one after the other, over the same instants, as one batch."""
    first = parts[0]
    rows: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Runs)
        if isinstance(getattr(first, field.name), np.ndarray) and field.name != "t"
    }
    return replace(first, **rows, reason=next((part.reason for part in parts if part.reason), ""))
