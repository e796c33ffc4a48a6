"""A simulation for a terminal of any width, as the output of ``ytheta simulate --json``, and the statistics of both."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import ytheta
from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_plain, parameter_unit, replace_nonfinite
from ytheta.report.terminal import TerminalColumn, fit_table, print_note, print_table, safe_text, safe_texts
from ytheta.shapes import Float, Int
from ytheta.simulation.result import FAILURES, REMARKS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ytheta.simulation.result import Simulation

MAX_PARAMETERS = 12  # rows of the table of parameters, unless the output is verbose
SIGNIFICANT_DIGITS = 4
QUANTILE_LABELS = {
    "tracking_rms": "tracking RMS",
    "last_tracking_rms": "tracking RMS, last fifth",
    "initial_parameter_error": "parameter error at the start",
    "parameter_error": "parameter error at the end",
}


def print_simulation(console: Console, simulation: Simulation, *, verbose: bool = False) -> None:
    """Print outcome, joints, parameters and remarks. Advice about runs that diverged is the last line."""
    statistics = SimulationStatistics(simulation)
    console.print(safe_text(statistics.headline, "bold"))
    _print_joints(console, statistics)
    if simulation.unknown_names:
        _print_parameters(console, statistics, verbose=verbose)
    if statistics.quantiles:
        _print_quantiles(console, statistics)
    for remark in statistics.remarks:
        console.print(safe_text(remark), soft_wrap=True)
    if statistics.advice:
        console.print(safe_text(statistics.advice, "bold red"), soft_wrap=True)


def _print_joints(console: Console, statistics: SimulationStatistics) -> None:
    """Print the errors of each joint in the runs that did not diverge. The last row is for all joints together."""
    robot = statistics.simulation.robot
    torque_units = ["N" if name in robot.prismatic_joints else "Nm" for name in robot.actuated]
    unlimited = not statistics.enforces_limits and math.isinf(min(statistics.limits, default=math.inf))

    def positions(values: Iterable[float], total: float) -> list[Text]:
        cells = [_format_with_unit(value, unit) for value, unit in zip(values, statistics.units, strict=True)]
        return safe_texts(
            [*cells, _format_with_unit(total, statistics.unit if statistics.unit in statistics.units else "")]
        )

    def torques(values: Iterable[float]) -> list[Text]:
        cells = [_format_with_unit(value, unit) for value, unit in zip(values, torque_units, strict=True)]
        return safe_texts([*cells, ""])

    columns = [
        TerminalColumn("joint", safe_texts([*robot.actuated, "all joints"]), align_left=True),
        TerminalColumn("tracking RMS", positions(statistics.tracking, statistics.total_tracking), short_heading="RMS"),
        TerminalColumn("last fifth", positions(statistics.last_tracking, statistics.total_last_tracking)),
        TerminalColumn("largest torque", torques(statistics.largest_torque), short_heading="torque"),
    ]
    if not unlimited:
        columns.append(TerminalColumn("limit", torques(statistics.limits), drop_priority=1))
    print_table(console, fit_table(columns, console.width, has_total_row=True))
    if not unlimited and not statistics.enforces_limits:
        print_note(console, "torque limits are those of the description; the controller does not enforce them")


def _print_parameters(console: Console, statistics: SimulationStatistics, *, verbose: bool) -> None:
    sliding = statistics.simulation.robot.prismatic_joints
    complete = verbose or len(statistics.parameters) <= MAX_PARAMETERS
    rows = statistics.parameters if complete else statistics.by_decreasing_error()[:MAX_PARAMETERS]
    columns = [
        TerminalColumn("parameter", safe_texts(row.name for row in rows), align_left=True),
        TerminalColumn("truth", safe_texts(format_plain(row.truth, SIGNIFICANT_DIGITS) for row in rows)),
        TerminalColumn("start", safe_texts(format_plain(row.start, SIGNIFICANT_DIGITS) for row in rows)),
        TerminalColumn("end", safe_texts(format_plain(row.end, SIGNIFICANT_DIGITS) for row in rows)),
        TerminalColumn("error %", safe_texts(map(_format_error, rows))),
        TerminalColumn(
            "unit", safe_texts(parameter_unit(row.unknown, sliding) for row in rows), align_left=True, drop_priority=1
        ),
    ]
    print_table(console, fit_table(columns, console.width))
    if len(rows) < len(statistics.parameters):
        limit = f"the {MAX_PARAMETERS} with the largest errors, relative to the largest value of their unit"
        print_note(
            console,
            f"{limit}; all {len(statistics.parameters)}: --verbose, or simulation.to_text(verbose=True) in Python",
        )
    if any(row.name != row.unknown for row in rows):
        print_note(console, "a star marks combinations; ytheta base shows them, or base_parameters(robot) in Python")
    if len(statistics.simulation) > 1:
        which = "the median by tracking error" if len(statistics.finished) else "the one that lasted longest"
        print_note(console, f"parameters are those of run {statistics.shown}, {which}")


def _print_quantiles(console: Console, statistics: SimulationStatistics) -> None:
    names = list(statistics.quantiles)
    columns = [
        TerminalColumn(
            f"{len(statistics.finished)} runs", safe_texts(QUANTILE_LABELS[name] for name in names), align_left=True
        )
    ]
    for k, level in enumerate(QUANTILES):
        cells = [_format_quantile(name, float(statistics.quantiles[name][k]), statistics.unit) for name in names]
        columns.append(TerminalColumn(f"{100.0 * level:g} %", safe_texts(cells)))
    print_table(console, fit_table(columns, console.width))


def _format_quantile(name: str, value: float, unit: str) -> str:
    if name.endswith("parameter_error"):
        return _format_with_unit(100.0 * value, "%")
    return _format_with_unit(value, unit if unit in ("rad", "m") else "")


def _format_with_unit(value: float, unit: str) -> str:
    if math.isnan(value):
        return NO_VALUE
    return f"{format_plain(value)} {unit}".rstrip() if math.isfinite(value) else format_plain(value)


def _format_error(row: Parameter) -> str:
    if not math.isfinite(row.percent):
        return NO_VALUE
    sign = "+" if row.percent > 0.0 else ""
    if abs(row.percent) > MAX_PERCENT:
        return f"> +{MAX_PERCENT:g}" if sign else f"< -{MAX_PERCENT:g}"
    return f"{sign}{format_plain(row.percent)}"


# A simulation as plain data: the output of ``ytheta simulate --json``, also embedded in the page.
#
# ``tracking_rms`` is the root mean square of the tracking error q - qr of all joints, control instants and finished
# runs. If a robot has both revolute and prismatic joints, ``tracking_rms`` mixes rad and m. ``parameter_error`` is the
# median of |estimate - truth| / |truth| at the end of the finished runs; it is None if there are no unknown parameters.
# Both are None if no run finished.


def summarize_simulation(simulation: Simulation) -> dict[str, Any]:
    """Return the results of a simulation; infinite and undefined numbers become None."""
    statistics = SimulationStatistics(simulation)
    columns = (
        statistics.units,
        statistics.tracking,
        statistics.last_tracking,
        statistics.largest_torque,
        statistics.limits,
    )
    keys = ("name", "unit", "tracking_rms", "last_tracking_rms", "largest_torque", "torque_limit")
    rows = zip(simulation.robot.actuated, columns[0], *(column.tolist() for column in columns[1:]), strict=True)
    data = {
        "ytheta": ytheta.__version__,
        "robot": simulation.robot.name,
        "controller": simulation.controller.name,
        "plant": simulation.plant,
        "seconds": float(simulation.runs.seconds),
        "period": float(simulation.period),
        "runs": len(simulation),
        "finished": len(statistics.finished),
        "tracking_rms": statistics.total_tracking,
        "last_tracking_rms": statistics.total_last_tracking,
        "parameter_error": statistics.parameter_error,
        "initial_parameter_error": statistics.initial_parameter_error,
        "joints": [dict(zip(keys, row, strict=True)) for row in rows],
        "shown_run": statistics.shown,
        "parameters": [
            {"name": each.unknown, "truth": each.truth, "start": each.start, "end": each.end}
            for each in statistics.parameters
        ],
        "parameter_changes": [
            {"t": float(change.t), "values": dict(change.values)} for change in simulation.parameter_changes
        ],
        "quantiles": _quantiles(statistics),
        "diverged": [{"run": run, "t": t} for run, t in statistics.diverged],
        "advice": statistics.advice,
        "remarks": statistics.remarks,
        "findings": [finding.data for finding in simulation.findings],
    }
    return {key: replace_nonfinite(value) for key, value in data.items()}


def _quantiles(statistics: SimulationStatistics) -> dict[str, list[float]] | None:
    if not statistics.quantiles:
        return None
    quantiles = {name: values.tolist() for name, values in statistics.quantiles.items()}
    return {"percent": [100.0 * level for level in QUANTILES]} | quantiles


# Statistics of a simulation that the terminal, the page and the JSON share.
#
# The statistics cover the runs that did not diverge. If all runs diverged, the statistics are NaN.


QUANTILES = (0.05, 0.5, 0.95)
MAX_INSTANTS = 500  # instants at which quantiles are computed
PLANT_NAMES = {"own": "ytheta's own plant", "mujoco": "MuJoCo"}


@dataclass(frozen=True, eq=False)
class Parameter:
    """An unknown parameter in one run. The name of a combination has a star; ``expression`` is the combination."""

    unknown: str
    name: str
    expression: str
    truth: float
    start: float
    end: float

    @property
    def percent(self) -> float:
        """Error of the estimate at the end, in percent of the true value; NaN if the true value is zero."""
        return 100.0 * (self.end - self.truth) / abs(self.truth) if self.truth else np.nan


@dataclass(frozen=True, eq=False)
class SimulationStatistics:
    """The statistics of a simulation."""

    simulation: Simulation

    @cached_property
    def finished(self) -> Int[np.ndarray, "finished"]:
        """Indices of the runs that did not diverge."""
        return np.flatnonzero(self.simulation.finished)

    @cached_property
    def diverged(self) -> list[tuple[int, float]]:
        """The indices of the runs that diverged and the times of divergence, the earliest first."""
        runs = np.flatnonzero(~self.simulation.finished)
        return sorted(
            ((int(run), float(self.simulation.runs.diverged_at[run])) for run in runs), key=lambda each: each[1]
        )

    @cached_property
    def remarks(self) -> list[str]:
        """Findings that help to interpret the results, as sentences."""
        return [finding.text for finding in self.simulation.findings if finding.code in REMARKS]

    @cached_property
    def advice(self) -> str:
        """The finding about runs that diverged or do not track, as a sentence; empty if all runs track."""
        return next((finding.text for finding in self.simulation.findings if finding.code in FAILURES), "")

    @cached_property
    def shown(self) -> int:
        """The run to show: the run with the median tracking error; if all runs diverged, the one that diverged last."""
        if not len(self.finished):
            return self.diverged[-1][0]
        order = np.argsort(self.simulation.tracking_rms[self.finished], kind="stable")
        return int(self.finished[order[(len(order) - 1) // 2]])

    @cached_property
    def until(self) -> float:
        """Time at which the run that is shown diverged; infinite if that run did not diverge."""
        return float(self.simulation.runs.diverged_at[self.shown])

    @cached_property
    def tracking(self) -> Float[np.ndarray, " joints"]:
        """RMS tracking error of each joint, for all control instants and runs."""
        return _column_rms(self.simulation.runs.rms[self.finished])

    @cached_property
    def last_tracking(self) -> Float[np.ndarray, " joints"]:
        """RMS tracking error of each joint at the recorded instants in the last fifth of the time."""
        return _column_rms(self.simulation.last_rms[self.finished])

    @cached_property
    def largest_torque(self) -> Float[np.ndarray, " joints"]:
        """Largest torque of each joint at the recorded instants."""
        tau = self.simulation.runs.tau[self.finished]
        return abs(tau).max(axis=(0, 1)) if len(tau) else np.full(tau.shape[2], np.nan)

    @cached_property
    def limits(self) -> Float[np.ndarray, " joints"]:
        """The controller's torque limits; if it has none, those of the description.

        A limit that is missing in the description, too, is infinite.
        """
        given = self.simulation.controller.max_torque
        if given is not None:
            return given
        return np.array([limits.effort for limits in self.simulation.robot.actuated_limits])

    @property
    def enforces_limits(self) -> bool:
        """Whether the controller enforces the limits."""
        return self.simulation.controller.torque_limits is not None

    @property
    def total_tracking(self) -> float:
        """RMS tracking error of all joints, instants and runs.

        For a robot with both revolute and prismatic joints, it mixes rad and m.
        """
        return _rms(self.tracking)

    @property
    def total_last_tracking(self) -> float:
        return _rms(self.last_tracking)

    @property
    def parameter_error(self) -> float:
        """Median of the parameter errors of all runs at the end; NaN if there are no unknown parameters."""
        return self._median(self.simulation.parameter_error)

    @property
    def initial_parameter_error(self) -> float:
        return self._median(self.simulation.initial_parameter_error)

    @cached_property
    def quantiles(self) -> dict[str, Float[np.ndarray, "quantiles"]]:
        """Quantiles of the errors of the runs; empty if fewer than two runs finished."""
        if len(self.finished) < 2:
            return {}
        columns = {
            "tracking_rms": self.simulation.tracking_rms,
            "last_tracking_rms": _column_rms(self.simulation.last_rms.T),
        }
        if self.simulation.unknown_names:
            columns["initial_parameter_error"] = self.simulation.initial_parameter_error
            columns["parameter_error"] = self.simulation.parameter_error
        return {name: np.quantile(values[self.finished], QUANTILES) for name, values in columns.items()}

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The unknown parameters in the run that is shown."""
        simulation, run = self.simulation, self.shown
        base = simulation.controller.unknowns.base
        known: dict[str, tuple[str, str]] = {}
        if base is not None:
            known = dict(zip(base.independent, zip(base.names, base.expressions, strict=True), strict=True))
        columns = zip(
            simulation.unknown_names,
            simulation.truth[run],
            simulation.initial_estimate[run],
            simulation.estimate[run],
            strict=True,
        )
        return [
            Parameter(unknown, *known.get(unknown, (unknown, "")), float(truth), float(start), float(end))
            for unknown, truth, start, end in columns
        ]

    @cached_property
    def instants(self) -> Int[np.ndarray, "instants"]:
        """Indices of the instants at which quantiles are shown."""
        kept = len(self.simulation.runs.t)
        return np.unique(np.linspace(0, kept - 1, min(MAX_INSTANTS, kept)).round().astype(np.intp))

    @cached_property
    def tracking_over_time(self) -> Float[np.ndarray, "runs instants"]:
        """RMS tracking error of all joints at each instant."""
        reference = self.simulation.reference.q[self.instants]
        rows = [self.simulation.runs.q[run, self.instants] - reference for run in self.finished]
        return _stack_rows([np.sqrt(np.mean(error**2, axis=1)) for error in rows], len(self.instants))

    @cached_property
    def parameter_error_over_time(self) -> Float[np.ndarray, "runs instants"]:
        """|estimate - truth| / |truth| with the true values at each instant; NaN if all true values are 0."""
        rows = [self.parameter_error_of(int(run), self.instants) for run in self.finished]
        return _stack_rows(rows, len(self.instants))

    def parameter_error_of(self, run: int, instants: Int[np.ndarray, "instants"]) -> Float[np.ndarray, "instants"]:
        truth = self.simulation.truth_of(run)[instants]
        wrong = np.linalg.norm(self.simulation.runs.estimate[run, instants] - truth, axis=1)
        size = np.linalg.norm(truth, axis=1)
        return np.divide(wrong, size, out=np.full(len(size), np.nan), where=size > 0.0)

    @property
    def units(self) -> list[str]:
        """Unit of the position of each joint."""
        sliding = self.simulation.robot.prismatic_joints
        return ["m" if name in sliding else "rad" for name in self.simulation.robot.actuated]

    @property
    def unit(self) -> str:
        """Unit of all positions; "rad and m" if joints have different units."""
        kinds = set(self.units)
        return kinds.pop() if len(kinds) == 1 else "rad and m"

    @property
    def headline(self) -> str:
        """One sentence about the outcome."""
        simulation = self.simulation
        plant, rate = PLANT_NAMES.get(simulation.plant, simulation.plant), format_plain(simulation.rate, 4)
        subject = f"{simulation.robot.name} under {simulation.controller.name}"
        setup = f"{subject}, {format_plain(simulation.runs.seconds)} s at {rate} Hz on {plant}"
        return f"{setup}: {self._describe_runs()}{self._describe_errors()}"

    def _describe_runs(self) -> str:
        runs, finished = len(self.simulation), len(self.finished)
        not_tracking = finished - int(np.count_nonzero(self.simulation.tracks))
        if runs == 1:
            if not finished:
                return "the run diverged"
            return "the run does not track" if not_tracking else "the run tracks"
        if not finished:
            return f"all {runs} runs diverged"
        diverged = f"{runs - finished} of {runs} runs diverged" if finished < runs else f"no run of {runs} diverged"
        return diverged + (f", {not_tracking} do not track" if not_tracking else "")

    def _describe_errors(self) -> str:
        if not len(self.finished):
            return "."
        errors = (
            f"; tracking error {format_plain(self.total_tracking)} {self.unit} RMS, "
            f"{format_plain(self.total_last_tracking)} in the last fifth of the time"
        )
        if not self.simulation.unknown_names:
            return f"{errors}; no parameter is adapted."
        median = " (medians)" if len(self.finished) > 1 else ""
        first, last = (format_share(each) for each in (self.initial_parameter_error, self.parameter_error))
        return f"{errors}; parameter error {first} → {last}{median}."

    def by_decreasing_error(self) -> list[Parameter]:
        """Return the parameters by decreasing error. Errors are relative to the largest value with the same unit."""
        sliding = self.simulation.robot.prismatic_joints
        kinds = [parameter_unit(each.unknown, sliding) for each in self.parameters]
        sizes: dict[str, float] = {}
        for kind, each in zip(kinds, self.parameters, strict=True):
            sizes[kind] = max(sizes.get(kind, 0.0), abs(each.truth), abs(each.start))
        errors = [
            abs(each.end - each.truth) / sizes[kind] if sizes[kind] else abs(each.end)
            for kind, each in zip(kinds, self.parameters, strict=True)
        ]
        return [self.parameters[k] for k in np.argsort(-np.array(errors), kind="stable")]

    def _median(self, values: Float[np.ndarray, " runs"]) -> float:
        finished = values[self.finished]
        return float(np.median(finished)) if len(finished) else np.nan


def format_share(value: float) -> str:
    """Return a fraction as percent."""
    return f"{format_plain(100.0 * value)} %" if np.isfinite(value) else format_plain(value)


def _column_rms(values: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, " columns"]:
    """Return the RMS of each column."""
    return np.sqrt(np.mean(values**2, axis=0)) if len(values) else np.full(values.shape[1], np.nan)


def _rms(values: Float[np.ndarray, " joints"]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _stack_rows(rows: list[np.ndarray], width: int) -> Float[np.ndarray, "runs instants"]:
    return np.array(rows).reshape(len(rows), width)
