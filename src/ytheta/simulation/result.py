"""The result of a simulation: the runs, their reference and true parameters, and the resulting errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import numpy as np

from ytheta.arguments import check_kind
from ytheta.control.laws.law import Law
from ytheta.display import Reported, find_view
from ytheta.dynamics.kernels import AnyKernel
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, refuse_unknown_fields
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.write import SUFFIXES, write_marked_log
from ytheta.robot.parameters import is_dissipative
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped
from ytheta.simulation.references import SampledReference
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors import Sensors
from ytheta.simulation.substeps import MAX_SAMPLES, REVOLUTE_COULOMB_SPEED, find_chattering_drives
from ytheta.simulation.variation import ParameterChange

# RMS tracking error divided by RMS motion of the reference; above it, a run does not track. Chosen on: rule of
# thumb.
MAX_RELATIVE_ERROR = 0.7
# rad or m; with a smaller RMS error a run counts as tracking, even if its motion is small. Chosen on: rule of thumb.
ERROR_TOLERANCE = 0.1
# Share of a run at its end in which tracking is judged; by then, an adaptive controller has had time to adapt.
# Chosen on: rule of thumb.
FINAL_SHARE = 0.2


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Reported):
    """Runs of one robot under one controller.

    Attributes
    ----------
    robot              the plant
    controller         the control law
    plant              the forward dynamics: "own" or "mujoco"
    period             time between two control instants, s
    reference          the reference at the recorded instants
    runs               motion, torques, readings and estimates of all runs at the recorded instants
    theta              standard parameters of the plant at the start, one row per run
    parameter_changes  parameters of the plant that change during the runs
    gain_names         gains of the controller that differ between runs
    gains              factors of these gains, one row per run; None if no gains differ
    sensors            errors of the sensors; None for exact readings
    input_findings     findings about the robot and the reference, and about what is recorded
    """

    robot: Robot
    controller: Law
    plant: str
    period: float
    reference: SampledReference
    runs: Runs
    theta: Float[np.ndarray, "runs params"]
    parameter_changes: tuple[ParameterChange, ...] = ()
    gain_names: tuple[str, ...] = ()
    gains: Float[np.ndarray, "runs gains"] | None = None
    sensors: Sensors | None = None
    input_findings: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        summary = f"{len(self)} x {self.runs.seconds:g} s, {np.count_nonzero(self.finished)} finished"
        return f"Simulation({self.robot.name} under {self.controller.name}: {summary})"

    @property
    def rate(self) -> float:
        """The rate of the controller, in Hz."""
        return 1.0 / self.period

    @property
    def finished(self) -> np.ndarray:
        """Which runs did not diverge."""
        return self.runs.finished

    @cached_property
    def tracks(self) -> Shaped[np.ndarray, " runs"]:
        """Which runs finished and had, in the last fifth of the time, an error that is small relative to the motion."""
        motion = np.sqrt(np.mean((self.reference.q - self.reference.q.mean(axis=0)) ** 2))
        max_error = max(MAX_RELATIVE_ERROR * motion, ERROR_TOLERANCE)
        return self.finished & (np.sqrt(np.mean(self.last_rms**2, axis=1)) <= max_error)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings about the inputs and the runs; a finding about runs that diverged or do not track is the last."""
        return (*self.input_findings, *assess_simulation(self))

    @property
    def tracking_rms(self) -> Float[np.ndarray, " runs"]:
        """RMS tracking error of each run, for all instants and joints together, in rad or m; NaN if it diverged."""
        return self.runs.tracking_rms

    @cached_property
    def last_rms(self) -> Float[np.ndarray, "runs joints"]:
        """RMS tracking error of each run and joint in the last fifth of the time, in rad or m; NaN if it diverged."""
        is_final = self.runs.t >= min((1.0 - FINAL_SHARE) * self.runs.seconds, self.runs.t[-1])
        return np.where(self.finished[:, None], np.sqrt(np.mean(self.tracking_error[:, is_final] ** 2, axis=1)), np.nan)

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
        """The estimates of the unknown parameters at the start of each run."""
        return self.runs.estimate[:, 0]

    @property
    def parameter_error(self) -> Float[np.ndarray, " runs"]:
        """|estimate - truth| / |truth| of each run at the end.

        It is NaN for a run that diverged, and if there are no true values or all are 0.
        """
        return np.where(self.finished, _compute_relative_error(self.estimate, self.truth), np.nan)

    @property
    def initial_parameter_error(self) -> Float[np.ndarray, " runs"]:
        """|estimate - truth| / |truth| of each run at the start, with the true values at the start."""
        return _compute_relative_error(
            self.initial_estimate, self.controller.unknowns.extract(self._compute_theta(0.0))
        )

    def truth_of(self, run: int) -> Float[np.ndarray, "instants unknown"]:
        """Return the true values of the unknown parameters of a run at the recorded instants."""
        self.runs.check_run(run)
        truth = np.empty((len(self.runs.t), len(self.unknown_names)))
        for start in sorted({0.0, *(self._find_start_time(change) for change in self.parameter_changes)}):
            theta = self._compute_theta(start, slice(run, run + 1))
            truth[self.runs.t >= start - 1e-9] = self.controller.unknowns.extract(theta)
        return truth

    def lyapunov(self, run: int) -> Float[np.ndarray, " instants"]:
        """Return the controller's Lyapunov function at the recorded instants, with the true values of each instant."""
        self.runs.check_run(run)
        reference = (self.reference.q, self.reference.qd, self.reference.qdd)
        factors = []
        if self.gains is not None:
            factors = [np.tile(self.gains[run], (len(self.runs.t), 1))]
        motion = (self.runs.q[run], self.runs.qd[run])
        return self._lyapunov(*motion, *reference, self.runs.controller_state[run], *factors, self.truth_of(run))[:, 0]

    def log(self, run: int = 0) -> Log:
        """Return the readings of a run as a log; a run that diverged has no log."""
        return self.runs.log(run)

    def save(self, path: str | Path) -> Path | tuple[Path, ...]:
        """Write the log of the first run and return its path.

        If the name contains ``{run}``, as ``"log-{run}.csv"`` does, write the log of every run that did not diverge,
        and return a tuple of paths. The extension .csv, .parquet or .npz selects the format. If the first run diverged,
        or with ``{run}`` every run, there is nothing to write and an error says so.
        """
        written = self.save_finished(path)
        if not written:
            raise InputError(
                f"{path} is not written: run 0 diverged at t = {self.runs.diverged_at[0]:.4g} s and has no log; choose "
                "smaller gains or a higher rate"
            )
        return written if names_every_run(path) else written[0]

    def save_finished(self, path: str | Path) -> tuple[Path, ...]:
        """Write logs as ``save`` does and return their paths; there may be none, as findings about logs say."""
        paths = list_log_paths(path, len(self))
        return tuple(
            write_marked_log(self.log(run), each, "simulation") for run, each in enumerate(paths) if self.finished[run]
        )

    def to_text(self, *, width: int = 120, verbose: bool = False) -> str:
        """Return the tables of the command as text of this width; with ``verbose``, all parameters are listed."""
        return find_view(self).render_text(self, width=width, verbose=verbose)

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
) -> Float[np.ndarray, " runs"]:
    size = np.linalg.norm(truth, axis=1)
    return np.where(size > 0.0, np.linalg.norm(estimate - truth, axis=1) / np.where(size > 0.0, size, 1.0), np.nan)


# Findings about the runs of a simulation: torques at their limits, chattering, estimates, runs that failed.


# Fraction of instants with a torque at its limit; above it, there is a finding. Chosen on: rule of thumb.
MAX_SATURATED_SHARE = 0.02
MAX_RUNS_LISTED = 6  # affects only the length of a message


def assess_simulation(simulation: Simulation) -> Iterator[Finding]:
    """Yield the findings about the runs; runs that failed are last."""
    yield from _check_torque_limits(simulation)
    yield from _check_chattering(simulation)
    yield from _check_estimates(simulation)
    yield from _check_runs(simulation)


def _check_torque_limits(simulation: Simulation) -> Iterator[Finding]:
    limits, finished = simulation.controller.max_torque, simulation.finished
    if limits is None or not finished.any():
        return
    share = np.mean(np.abs(simulation.runs.tau[finished]) >= (1.0 - 1e-9) * limits, axis=(0, 1))
    k = int(share.argmax())
    if share[k] > MAX_SATURATED_SHARE:
        joint = simulation.robot.actuated[k]
        yield Finding(
            SimulationFindingCode.TORQUE_LIMIT,
            Severity.WARNING,
            f"the torque of {joint} is at its limit in {100.0 * share[k]:.0f} % of the instants, at which the "
            "stability proof of the controller does not hold",
            "choose smaller gains or a slower reference",
            names=(joint,),
            fields={"percent": 100.0 * float(share[k])},
        )


def _check_chattering(simulation: Simulation) -> Iterator[Finding]:
    if simulation.plant == "mujoco":  # MuJoCo has its own law of Coulomb friction
        return
    q = simulation.reference.q
    samples = np.unique(np.linspace(0, len(q) - 1, MAX_SAMPLES).round().astype(int))
    chattering = find_chattering_drives(simulation.robot, q[samples], simulation.period)
    if chattering:
        yield Finding(
            SimulationFindingCode.CHATTERING,
            Severity.WARNING,
            f"the Coulomb friction of {', '.join(chattering)} changes its sign abruptly at zero speed and is so large "
            "that plant and controller chatter near rest",
            f"set a coulomb_speed in the description, such as {REVOLUTE_COULOMB_SPEED:g} rad/s, or use "
            "with_smooth_friction(robot)",
            names=chattering,
        )


def _check_estimates(simulation: Simulation) -> Iterator[Finding]:
    friction = [k for k, name in enumerate(simulation.unknown_names) if is_dissipative(name)]
    if friction and not simulation.truth[:, friction].any():
        yield Finding(
            SimulationFindingCode.NO_FRICTION,
            Severity.NOTE,
            "the controller estimates friction, but the robot as described has none, so that the true values are 0",
        )
    if simulation.unknown_names and simulation.finished.any():
        growth = (simulation.parameter_error - simulation.initial_parameter_error)[simulation.finished]
        if np.median(growth) > 0.0:
            yield Finding(
                SimulationFindingCode.PARAMETER_ERROR,
                Severity.NOTE,
                "the estimates end farther from the true values than they began, because tracking does not require "
                "true parameters",
                "a longer or more exciting motion brings the estimates closer, and natural or composite adaptation "
                "often does, too",
                fields={"growth": float(np.median(growth))},
            )


def _check_runs(simulation: Simulation) -> Iterator[Finding]:
    diverged = np.flatnonzero(~simulation.finished)
    if len(diverged):
        runs = diverged.tolist()
        listed = ", ".join(map(str, runs[:MAX_RUNS_LISTED]))
        more = f" and {len(runs) - MAX_RUNS_LISTED} more" if len(runs) > MAX_RUNS_LISTED else ""
        yield Finding(
            SimulationFindingCode.NO_LOG,
            Severity.WARNING,
            f"{'run' if len(runs) == 1 else 'runs'} {listed}{more} diverged; "
            f"{'its log is' if len(runs) == 1 else 'their logs are'} not written",
            fields={"runs": runs},
        )
        statement, remedy = simulation.runs.describe_divergence()
        times = simulation.runs.diverged_at[diverged].tolist()
        yield Finding(
            SimulationFindingCode.DIVERGED, Severity.WARNING, statement, remedy, fields={"runs": runs, "t": times}
        )
        return
    not_tracking = np.flatnonzero(~simulation.tracks)
    if len(not_tracking):
        others = f"; {len(not_tracking)} of {len(simulation)} runs do not track" if len(not_tracking) > 1 else ""
        yield Finding(
            SimulationFindingCode.NOT_TRACKING,
            Severity.WARNING,
            f"run {not_tracking[0]} does not track: its error in the last fifth of the time is as large as the motion "
            f"itself{others}",
            "choose other gains, a higher rate, a slower reference, or a start closer to the reference",
            fields={"runs": not_tracking.tolist()},
        )


# Codes of the findings about a simulation, for programs and for ``--json``.


class SimulationFindingCode(StrEnum):
    """The kind of a finding about a simulation."""

    # what was decided before the simulation
    SMOOTH_FRICTION = "smooth friction"  # Coulomb friction was smoothed near zero speed
    RECORDING = "recording"  # not all control instants are recorded

    # how to interpret the results
    TORQUE_LIMIT = "torque limit"  # a torque is often at its limit
    CHATTERING = "chattering"  # Coulomb friction makes plant and controller chatter
    NO_FRICTION = "no friction"  # the controller estimates friction of a robot without friction
    PARAMETER_ERROR = "parameter error"  # the estimates end farther from the true values than they began

    # runs that failed
    NO_LOG = "no log"  # diverged runs have no log
    NOT_TRACKING = "not tracking"  # a run finished, but does not follow the reference
    DIVERGED = "diverged"  # a run diverged: its positions or velocities grew without bound


REMARKS = (
    SimulationFindingCode.TORQUE_LIMIT,
    SimulationFindingCode.CHATTERING,
    SimulationFindingCode.NO_FRICTION,
    SimulationFindingCode.PARAMETER_ERROR,
)
FAILURES = (SimulationFindingCode.DIVERGED, SimulationFindingCode.NOT_TRACKING)
ABOUT_LOGS = (SimulationFindingCode.RECORDING, SimulationFindingCode.NO_LOG)


# Names of the files to which the logs of runs are written.


RUN_FIELD = "{run}"  # placeholder in the name of a log; it is replaced by the number of the run
MAX_LOGS = 100  # Logs of a simulation with many runs; more are refused. Chosen on: rule of thumb.


def names_every_run(path: str | Path) -> bool:
    """Return whether a name contains ``{run}``, so that every run has its own log."""
    return RUN_FIELD in str(path)


def list_log_paths(path: str | Path, runs: int) -> tuple[Path, ...]:
    """Return the path of the log of the first run, or of every run if the name contains ``{run}``.

    Raise an error if a file cannot be written, or if there are too many.
    """
    check_kind("path", path, (str, Path), "the name of a file, such as 'log.csv'")
    refuse_unknown_fields(path, RUN_FIELD, "the number of the run")
    if not names_every_run(path):
        return (check_writable(path, *SUFFIXES),)
    if runs > MAX_LOGS:
        raise InputError(f"{path} would write {runs} logs; write at most {MAX_LOGS} logs, or only the first run")
    return tuple(check_writable(str(path).replace(RUN_FIELD, str(run)), *SUFFIXES) for run in range(runs))
