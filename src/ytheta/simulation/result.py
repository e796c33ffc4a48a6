"""The result of a simulation: the runs, their reference and true parameters, and the resulting errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.control.laws.law import Law
from ytheta.dynamics.kernels import AnyKernel
from ytheta.logs.log import Log
from ytheta.robot.parameters import is_dissipative
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped
from ytheta.simulation.parameter_changes import ParameterChange
from ytheta.simulation.plants.smooth_friction import REVOLUTE_COULOMB_SPEED, find_chattering_drives
from ytheta.simulation.plants.substeps import MAX_SAMPLES
from ytheta.simulation.references.reference import SampledReference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensors import Sensors

MAX_SATURATED_SHARE = 0.02  # fraction of instants with a torque at its limit; above it, a remark is made
MAX_RELATIVE_ERROR = 0.7  # RMS tracking error divided by RMS motion of the reference; above it, a run does not track
ERROR_TOLERANCE = 0.1  # rad or m; with a smaller RMS error a run counts as tracking, even if its motion is small
FINAL_SHARE = 0.2  # the last fifth of a run; by then, an adaptive controller has had time to adapt


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Runs of one robot under one controller.

    ``theta`` contains the initial standard parameters of the plant. ``gain_names`` names the gains of the controller
    that differ between runs. ``gains`` contains the factors of these gains.
    """

    robot: Robot
    controller: Law
    plant: str
    period: float
    reference: SampledReference  # at the instants of ``runs``
    runs: Runs
    theta: Float[np.ndarray, "runs params"]
    parameter_changes: tuple[ParameterChange, ...] = ()
    gain_names: tuple[str, ...] = ()
    gains: Float[np.ndarray, "runs gains"] | None = None
    sensors: Sensors | None = None

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        summary = f"{len(self)} x {self.runs.seconds:g} s, {np.count_nonzero(self.finished)} finished"
        return f"Simulation({self.robot.name} under {self.controller.name}: {summary})"

    @property
    def finished(self) -> np.ndarray:
        """Which runs did not diverge."""
        return self.runs.finished

    @cached_property
    def tracks(self) -> Shaped[np.ndarray, "runs"]:
        """Which runs finished and had, in the last fifth of the time, an error that is small relative to the motion."""
        motion = np.sqrt(np.mean((self.reference.q - self.reference.q.mean(axis=0)) ** 2))
        max_error = max(MAX_RELATIVE_ERROR * motion, ERROR_TOLERANCE)
        return self.finished & (np.sqrt(np.mean(self.last_rms**2, axis=1)) <= max_error)

    @property
    def advice(self) -> str:
        """A message about runs that diverged or do not track, with a remedy; empty if all runs track."""
        not_tracking = np.flatnonzero(self.finished & ~self.tracks)
        if self.runs.advice or not len(not_tracking):
            return self.runs.advice
        others = f"; {len(not_tracking)} of {len(self)} runs do not track" if len(not_tracking) > 1 else ""
        return (
            f"run {not_tracking[0]} does not track: its error in the last fifth of the time is as large as the motion "
            "itself; choose other gains, a higher rate, a slower reference, or a start closer to the reference"
            f"{others}"
        )

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """Remarks that help to interpret the results, for example about torques at their limits."""
        remarks, finished = [], self.finished
        limits = self.controller.max_torque
        if limits is not None and finished.any():
            share = np.mean(np.abs(self.runs.tau[finished]) >= (1.0 - 1e-9) * limits, axis=(0, 1))
            if share.max() > MAX_SATURATED_SHARE:
                k = int(share.argmax())
                remarks.append(
                    f"the torque of {self.robot.actuated[k]} is at its limit in {100.0 * share[k]:.0f} % of the "
                    "instants, at which the stability proof of the controller does not hold; choose smaller "
                    "gains or a slower reference"
                )
        chattering = self._chattering
        if chattering:
            remarks.append(
                f"the Coulomb friction of {', '.join(chattering)} changes its sign abruptly at zero speed and is so "
                "large that plant and controller chatter near rest; set a coulomb_speed in the description, such "
                f"as {REVOLUTE_COULOMB_SPEED:g} rad/s, or use with_smooth_friction(robot)"
            )
        friction = [k for k, name in enumerate(self.unknown_names) if is_dissipative(name)]
        if friction and not self.truth[:, friction].any():
            remarks.append(
                "the controller estimates friction, but the robot as described has none, so that the true values are 0"
            )
        if self.unknown_names and finished.any():
            growth = (self.parameter_error - self.initial_parameter_error)[finished]
            if np.median(growth) > 0.0:
                remarks.append(
                    "the estimates end farther from the true values than they began, because tracking does "
                    "not require true parameters; a longer or more exciting motion brings the estimates closer, and "
                    "natural or composite adaptation often does, too"
                )
        return tuple(remarks)

    @property
    def tracking_rms(self) -> Float[np.ndarray, "runs"]:
        """RMS tracking error of each run, for all instants and joints together, in rad or m."""
        return self.runs.tracking_rms

    @cached_property
    def last_rms(self) -> Float[np.ndarray, "runs joints"]:
        """RMS tracking error of each run and joint in the last fifth of the time, in rad or m."""
        is_final = self.runs.t >= min((1.0 - FINAL_SHARE) * self.runs.seconds, self.runs.t[-1])
        return np.sqrt(np.mean(self.tracking_error[:, is_final] ** 2, axis=1))

    @property
    def tracking_error(self) -> Float[np.ndarray, "runs instants joints"]:
        """q - qr at the recorded instants, in rad or m."""
        return self.runs.q - self.reference.q

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """The names of the parameters that the controller adapts."""
        return self.controller.unknown_names

    @cached_property
    def truth(self) -> Float[np.ndarray, "runs unknown"]:
        """The true values of the unknown parameters at the end of each run."""
        return self.controller.unknowns.extract(self._compute_theta(self.runs.seconds - self.period))

    @property
    def estimate(self) -> Float[np.ndarray, "runs unknown"]:
        """The estimates of the unknown parameters at the end of each run."""
        return self.runs.final_estimate

    @property
    def initial_estimate(self) -> Float[np.ndarray, "runs unknown"]:
        return self.runs.estimate[:, 0]

    @property
    def parameter_error(self) -> Float[np.ndarray, "runs"]:
        """|estimate - truth| / |truth| of each run at the end; NaN if there are no true values, or if all are 0."""
        return _compute_relative_error(self.estimate, self.truth)

    @property
    def initial_parameter_error(self) -> Float[np.ndarray, "runs"]:
        """|estimate - truth| / |truth| of each run at the start, with the true values at the start."""
        return _compute_relative_error(
            self.initial_estimate, self.controller.unknowns.extract(self._compute_theta(0.0))
        )

    def truth_of(self, run: int) -> Float[np.ndarray, "instants unknown"]:
        """Return the true values of the unknown parameters of a run at the recorded instants."""
        truth = np.empty((len(self.runs.t), len(self.unknown_names)))
        for start in sorted({0.0, *(self._find_start_time(change) for change in self.parameter_changes)}):
            theta = self._compute_theta(start, slice(run, run + 1))
            truth[self.runs.t >= start - 1e-9] = self.controller.unknowns.extract(theta)
        return truth

    def lyapunov(self, run: int) -> Float[np.ndarray, "instants"]:
        """Return the controller's Lyapunov function at the recorded instants, with the true values of each instant."""
        reference = (self.reference.q, self.reference.qd, self.reference.qdd)
        factors = []
        if self.gains is not None:
            factors = [np.tile(self.gains[run], (len(self.runs.t), 1))]
        motion = (self.runs.q[run], self.runs.qd[run])
        return self._lyapunov(*motion, *reference, self.runs.controller_state[run], *factors, self.truth_of(run))[:, 0]

    def log(self, run: int = 0) -> Log:
        """Return the readings of a run as a log."""
        return self.runs.log(run)

    @property
    def _chattering(self) -> tuple[str, ...]:
        if self.plant == "mujoco":  # MuJoCo has its own law of Coulomb friction
            return ()
        samples = np.unique(np.linspace(0, len(self.reference.q) - 1, MAX_SAMPLES).round().astype(int))
        return find_chattering_drives(self.robot, self.reference.q[samples], self.period)

    @cached_property
    def _lyapunov(self) -> AnyKernel:
        return self.controller.compile(self.controller.lyapunov_graph(self.gain_names))

    def _find_start_time(self, change: ParameterChange) -> float:
        """Return the time of the control instant at which a change takes effect."""
        return change.find_instant(self.period) * self.period

    def _compute_theta(self, t: float, runs: slice | None = None) -> Float[np.ndarray, "_ params"]:
        """Return the standard parameters of these runs, or of all runs, at time t."""
        theta = self.theta[slice(None) if runs is None else runs].copy()
        columns = {name: k for k, name in enumerate(self.robot.parameter_names)}
        for change in sorted(self.parameter_changes, key=lambda change: change.t):
            if self._find_start_time(change) <= t + 1e-9:
                for name, value in change.values.items():
                    theta[:, columns[name]] = value
        return theta


def _compute_relative_error(
    estimate: Float[np.ndarray, "runs unknown"], truth: Float[np.ndarray, "runs unknown"]
) -> Float[np.ndarray, "runs"]:
    size = np.linalg.norm(truth, axis=1)
    return np.where(size > 0.0, np.linalg.norm(estimate - truth, axis=1) / np.where(size > 0.0, size, 1.0), np.nan)
