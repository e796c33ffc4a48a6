"""Simulation: closed loops that were run, with what was wanted and what was true, and the errors that follow."""

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
from ytheta.simulation.plants.smooth_friction import TURNING, find_chattering_drives
from ytheta.simulation.plants.substeps import SAMPLES
from ytheta.simulation.references.reference import SampledReference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors.sensors import Sensors

ALL = slice(None)
OFTEN = 0.02  # of the instants
ASTRAY, SMALL = 0.7, 0.1  # of the RMS motion of the reference; rad or m
LAST = 0.2  # of the time: the part in which a controller has had time to learn


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """Runs of one robot under one controller.

    ``theta`` are the standard parameters of the plant in every run at the start. ``gain_names`` are those gains of the
    controller of which every run has its own, ``gains`` times as large as the controller's.
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
        done = f"{len(self)} x {self.runs.seconds:g} s, {np.count_nonzero(self.finished)} finished"
        return f"Simulation({self.robot.name} under {self.controller.name}: {done})"

    @property
    def finished(self) -> np.ndarray:
        """Which runs stayed within all bounds to the end."""
        return self.runs.finished

    @cached_property
    def tracks(self) -> Shaped[np.ndarray, "runs"]:
        """Which runs follow the reference: their error in the last fifth of the time is small beside its motion."""
        motion = np.sqrt(np.mean((self.reference.q - self.reference.q.mean(axis=0)) ** 2))
        return self.finished & (np.sqrt(np.mean(self.last_rms**2, axis=1)) <= max(ASTRAY * motion, SMALL))

    @property
    def advice(self) -> str:
        """What happened to runs that did not finish or do not track, and what to do; empty where all did."""
        astray = np.flatnonzero(self.finished & ~self.tracks)
        if self.runs.advice or not len(astray):
            return self.runs.advice
        others = f"; {len(astray)} of {len(self)} runs do not" if len(astray) > 1 else ""
        return (
            f"run {astray[0]} does not track: its error in the last fifth of the time is of the size of the motion "
            f"itself; take other gains, a higher rate, slower motion, or begin nearer to the reference{others}"
        )

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the figures should know: torques at their limits, estimates that went astray."""
        found, done = [], self.finished
        limits = self.controller.max_torque
        if limits is not None and done.any():
            share = np.mean(np.abs(self.runs.tau[done]) >= (1.0 - 1e-9) * limits, axis=(0, 1))
            if share.max() > OFTEN:
                k = int(share.argmax())
                found.append(
                    f"the torque of {self.robot.actuated[k]} is at its limit in {100.0 * share[k]:.0f} % of the time, "
                    "where the controller's proof ends; smaller gains or slower motion keep away from it"
                )
        chattering = self._chattering
        if chattering:
            found.append(
                f"the Coulomb friction of {', '.join(chattering)} is the bare sign of the speed and changes it by much "
                "within a period: near rest plant and controller chatter; a coulomb_speed in the description, such as "
                f"{TURNING:g} rad/s, or with_smooth_friction(robot) mends that"
            )
        rubbed = [k for k, name in enumerate(self.unknown_names) if is_dissipative(name)]
        if rubbed and not self.truth[:, rubbed].any():
            found.append("friction is learnt, but the robot as described has none: its true values are all zero")
        if self.unknown_names and done.any() and np.median((self.parameter_error - self.initial_parameter_error)[done]) > 0.0:
            found.append(
                "the estimates end farther from the truth than they began: tracking needs no true ones; longer motion "
                "that excites more brings them closer, and often natural or composite adaptation does"
            )
        return tuple(found)

    @property
    def tracking_rms(self) -> Float[np.ndarray, "runs"]:
        """Of each run, over all instants and joints, in rad or m."""
        return self.runs.tracking_rms

    @cached_property
    def last_rms(self) -> Float[np.ndarray, "runs joints"]:
        """Of each joint in the last fifth of the time."""
        late = self.runs.t >= min((1.0 - LAST) * self.runs.seconds, self.runs.t[-1])
        return np.sqrt(np.mean(self.tracking_error[:, late] ** 2, axis=1))

    @property
    def tracking_error(self) -> Float[np.ndarray, "runs instants joints"]:
        """q - qr at the kept instants."""
        return self.runs.q - self.reference.q

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """What the controller learns."""
        return self.controller.unknown_names

    @cached_property
    def truth(self) -> Float[np.ndarray, "runs unknown"]:
        """The true values of the unknown at the end."""
        return self.controller.unknowns.extract(self._theta_at(self.runs.seconds - self.period))

    @property
    def estimate(self) -> Float[np.ndarray, "runs unknown"]:
        """What the controller takes them for at the end."""
        return self.runs.final_estimate

    @property
    def initial_estimate(self) -> Float[np.ndarray, "runs unknown"]:
        return self.runs.estimate[:, 0]

    @property
    def parameter_error(self) -> Float[np.ndarray, "runs"]:
        """|estimate - truth| / |truth| of each run at the end; NaN where nothing is learnt, or all of it is zero."""
        return _relative(self.estimate, self.truth)

    @property
    def initial_parameter_error(self) -> Float[np.ndarray, "runs"]:
        """The same at the start, against what is true then."""
        return _relative(self.initial_estimate, self.controller.unknowns.extract(self._theta_at(0.0)))

    def truth_of(self, run: int) -> Float[np.ndarray, "instants unknown"]:
        """The true values of the unknown at the kept instants: parameters may jump."""
        truths = np.empty((len(self.runs.t), len(self.unknown_names)))
        for begin in sorted({0.0, *(self._jumps_at(jump) for change in self.parameter_changes)}):
            truths[self.runs.t >= begin - 1e-9] = self.controller.unknowns.extract(
                self._theta_at(begin, slice(run, run + 1))
            )
        return truths

    def lyapunov(self, run: int) -> Float[np.ndarray, "instants"]:
        """The controller's Lyapunov function at the kept instants, with the truth of each."""
        wanted = (self.reference.q, self.reference.qd, self.reference.qdd)
        factors = []
        if self.gains is not None:
            factors = [np.tile(self.gains[run], (len(self.runs.t), 1))]
        given = (self.runs.q[run], self.runs.qd[run], *wanted, self.runs.controller_state[run], *factors, self.truth_of(run))
        return self._lyapunov(*given)[:, 0]

    def log(self, run: int = 0) -> Log:
        """What was read in a run, as a log."""
        return self.runs.log(run)

    @property
    def _chattering(self) -> tuple[str, ...]:
        if self.plant == "mujoco":  # its dry friction is its own law
            return ()
        few = np.unique(np.linspace(0, len(self.reference.q) - 1, SAMPLES).round().astype(int))
        return find_chattering_drives(self.robot, self.reference.q[few], self.period)

    @cached_property
    def _lyapunov(self) -> AnyKernel:
        return self.controller.compile(self.controller.lyapunov_graph(self.gain_names))

    def _jumps_at(self, jump: ParameterChange) -> float:
        return change.instant(self.period) * self.period

    def _theta_at(self, t: float, runs: slice = ALL) -> Float[np.ndarray, "_ params"]:
        theta = self.theta[runs].copy()
        columns = {name: k for k, name in enumerate(self.robot.parameter_names)}
        for change in sorted(self.parameter_changes, key=lambda change: change.t):
            if self._jumps_at(jump) <= t + 1e-9:
                for name, value in change.values.items():
                    theta[:, columns[name]] = value
        return theta


def _relative(estimate: Float[np.ndarray, "runs unknown"], truth: Float[np.ndarray, "runs unknown"]) -> np.ndarray:
    size = np.linalg.norm(truth, axis=1)
    return np.where(size > 0.0, np.linalg.norm(estimate - truth, axis=1) / np.where(size > 0.0, size, 1.0), np.nan)
