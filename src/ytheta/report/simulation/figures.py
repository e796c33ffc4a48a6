"""What the terminal, the page and the JSON say alike of a simulation.

Only runs that stayed within all bounds count; where none did, figures are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ytheta.identifiability.standard_parameters import sliding_joints
from ytheta.report.numbers import plain, unit
from ytheta.shapes import Float, Int

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation

QUANTILES = (0.05, 0.5, 0.95)
INSTANTS = 500  # of quantiles over time
PLANTS = {"own": "ytheta's own plant", "mujoco": "MuJoCo"}


@dataclass(frozen=True, eq=False)
class Parameter:
    """An unknown parameter in one run; a combination has a star in its ``name``, and ``expression`` says of what."""

    unknown: str
    name: str
    expression: str
    truth: float
    start: float
    end: float

    @property
    def percent(self) -> float:
        """The estimate's error at the end; NaN where the truth is zero."""
        return 100.0 * (self.end - self.truth) / abs(self.truth) if self.truth else np.nan


@dataclass(frozen=True, eq=False)
class Figures:
    """The figures of a simulation."""

    found: Simulation

    @cached_property
    def finished(self) -> Int[np.ndarray, "finished"]:
        """The numbers of the runs that count."""
        return np.flatnonzero(self.found.finished)

    @cached_property
    def lost(self) -> list[tuple[int, float]]:
        """The other runs, and when they left all bounds; the first one first."""
        gone = np.flatnonzero(~self.found.finished)
        return sorted(((int(run), float(self.found.runs.diverged_at[run])) for run in gone), key=lambda each: each[1])

    @cached_property
    def shown(self) -> int:
        """The run to show: the median by tracking error; where all were lost, the one that lasted longest."""
        if not len(self.finished):
            return self.lost[-1][0]
        order = np.argsort(self.found.tracking_rms[self.finished], kind="stable")
        return int(self.finished[order[(len(order) - 1) // 2]])

    @cached_property
    def until(self) -> float:
        """When the run that is shown was lost; infinite where it was not."""
        return float(self.found.runs.diverged_at[self.shown])

    @cached_property
    def tracking(self) -> Float[np.ndarray, "joints"]:
        """Root mean square of each joint's tracking error, over all control instants."""
        return _root(self.found.runs.rms[self.finished])

    @cached_property
    def last_tracking(self) -> Float[np.ndarray, "joints"]:
        """The same in the last fifth of the time, over the instants that were kept."""
        return _root(self.found.last_rms[self.finished])

    @cached_property
    def largest_torque(self) -> Float[np.ndarray, "joints"]:
        """At the instants that were kept."""
        tau = self.found.runs.tau[self.finished]
        return abs(tau).max(axis=(0, 1)) if len(tau) else np.full(tau.shape[2], np.nan)

    @cached_property
    def limits(self) -> Float[np.ndarray, "joints"]:
        """Of the torques: the controller's, or the description's; infinite where there are none."""
        given = self.found.controller.max_torque
        if given is not None:
            return given
        return np.array([limits.effort for limits in self.found.robot.actuated_limits])

    @property
    def limited(self) -> bool:
        """Whether the controller kept to the limits."""
        return self.found.controller.torque_limits is not None

    @property
    def total_tracking(self) -> float:
        """Over joints, instants and runs, rad and m mixed."""
        return _total(self.tracking)

    @property
    def total_last_tracking(self) -> float:
        return _total(self.last_tracking)

    @property
    def parameter_error(self) -> float:
        """The median over runs at the end; NaN where nothing is learnt."""
        return self._median(self.found.parameter_error)

    @property
    def initial_parameter_error(self) -> float:
        return self._median(self.found.initial_parameter_error)

    @cached_property
    def quantiles(self) -> dict[str, Float[np.ndarray, "quantiles"]]:
        """Of what runs differ in; nothing where there are not two that count."""
        if len(self.finished) < 2:
            return {}
        columns = {"tracking_rms": self.found.tracking_rms, "last_tracking_rms": _root(self.found.last_rms.T)}
        if self.found.unknown_names:
            columns["initial_parameter_error"] = self.found.initial_parameter_error
            columns["parameter_error"] = self.found.parameter_error
        return {name: np.quantile(values[self.finished], QUANTILES) for name, values in columns.items()}

    @cached_property
    def parameters(self) -> list[Parameter]:
        """What is learnt, in the run that is shown."""
        found, run = self.found, self.shown
        base = found.controller.unknowns.base
        known: dict[str, tuple[str, str]] = {}
        if base is not None:
            known = dict(zip(base.independent, zip(base.names, base.expressions, strict=True), strict=True))
        columns = zip(found.unknown_names, found.truth[run], found.initial_estimate[run], found.estimate[run], strict=True)
        return [
            Parameter(unknown, *known.get(unknown, (unknown, "")), float(truth), float(start), float(end))
            for unknown, truth, start, end in columns
        ]

    @cached_property
    def instants(self) -> Int[np.ndarray, "instants"]:
        """At which quantiles are shown."""
        kept = len(self.found.runs.t)
        return np.unique(np.linspace(0, kept - 1, min(INSTANTS, kept)).round().astype(np.intp))

    @cached_property
    def tracking_over_time(self) -> Float[np.ndarray, "runs instants"]:
        """Root mean square over the joints."""
        reference = self.found.reference.q[self.instants]
        rows = [self.found.runs.q[run, self.instants] - reference for run in self.finished]
        return _rows([np.sqrt(np.mean(error**2, axis=1)) for error in rows], len(self.instants))

    @cached_property
    def parameter_error_over_time(self) -> Float[np.ndarray, "runs instants"]:
        """|estimate - truth| / |truth|, with the truth of each instant; NaN where that is zero."""
        rows = [self.parameter_error_of(int(run), self.instants) for run in self.finished]
        return _rows(rows, len(self.instants))

    def parameter_error_of(self, run: int, instants: Int[np.ndarray, "instants"]) -> Float[np.ndarray, "instants"]:
        truth = self.found.truth_of(run)[instants]
        wrong = np.linalg.norm(self.found.runs.estimate[run, instants] - truth, axis=1)
        size = np.linalg.norm(truth, axis=1)
        return np.divide(wrong, size, out=np.full(len(size), np.nan), where=size > 0.0)

    @property
    def units(self) -> list[str]:
        """Of each joint's position."""
        sliding = sliding_joints(self.found.robot)
        return ["m" if name in sliding else "rad" for name in self.found.robot.actuated]

    @property
    def unit(self) -> str:
        """Of all of them together."""
        kinds = set(self.units)
        return kinds.pop() if len(kinds) == 1 else "rad and m"

    @property
    def headline(self) -> str:
        """One sentence for whoever has to judge the controller."""
        found = self.found
        plant, rate = PLANTS.get(found.plant, found.plant), plain(1.0 / found.period, 4)
        who = f"{found.robot.name} under {found.controller.name}"
        return f"{who}, {plain(found.runs.seconds)} s at {rate} Hz on {plant}: {self._stayed}{self._told}"

    @property
    def _stayed(self) -> str:
        runs, stayed = len(self.found), len(self.finished)
        astray = stayed - int(np.count_nonzero(self.found.tracks))
        if runs == 1:
            but = " but does not track" if astray else ""
            return f"the run stayed within all bounds{but}" if stayed else "the run left all bounds"
        but = f", {astray} do not track" if astray else ""
        if stayed in (0, runs):
            return f"all {runs} runs {'stayed within' if stayed else 'left'} all bounds{but}"
        return f"{stayed} of {runs} runs stayed within all bounds{but}"

    @property
    def _told(self) -> str:
        if not len(self.finished):
            return "."
        told = (
            f"; tracking error {plain(self.total_tracking)} {self.unit} RMS, "
            f"{plain(self.total_last_tracking)} in the last fifth of the time"
        )
        if not self.found.unknown_names:
            return f"{told}; nothing is learnt."
        median = " (medians)" if len(self.finished) > 1 else ""
        first, last = (written_share(each) for each in (self.initial_parameter_error, self.parameter_error))
        return f"{told}; parameter error {first} → {last}{median}."

    def worst(self) -> list[Parameter]:
        """Those first that are farthest from the truth, measured by the largest value among those of their unit."""
        sliding = sliding_joints(self.found.robot)
        kinds = [unit(each.unknown, sliding) for each in self.parameters]
        sizes: dict[str, float] = {}
        for kind, each in zip(kinds, self.parameters, strict=True):
            sizes[kind] = max(sizes.get(kind, 0.0), abs(each.truth), abs(each.start))
        wrong = [
            abs(each.end - each.truth) / sizes[kind] if sizes[kind] else abs(each.end)
            for kind, each in zip(kinds, self.parameters, strict=True)
        ]
        return [self.parameters[k] for k in np.argsort(-np.array(wrong), kind="stable")]

    def _median(self, values: Float[np.ndarray, "runs"]) -> float:
        own = values[self.finished]
        return float(np.median(own)) if len(own) else np.nan


def written_share(value: float) -> str:
    """A part of one as percent."""
    return f"{plain(100.0 * value)} %" if np.isfinite(value) else plain(value)


def _root(values: Float[np.ndarray, "rows columns"]) -> Float[np.ndarray, "columns"]:
    """Root mean square of every column."""
    return np.sqrt(np.mean(values**2, axis=0)) if len(values) else np.full(values.shape[1], np.nan)


def _total(values: Float[np.ndarray, "joints"]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _rows(rows: list[np.ndarray], width: int) -> Float[np.ndarray, "runs instants"]:
    return np.array(rows).reshape(len(rows), width)
