"""Plots of a simulation."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.support.browser import Page
from tests.support.plot_data import only, plot_of, plotted
from tests.support.simulate_cases import LEARN, PUMA, make_slotine_li
from tests.support.simulated_loops import RUNS, simulate_loops, with_all_diverged
from ytheta.report.simulation import SimulationStatistics
from ytheta.report.simulation_page import (
    MAX_NAMED_LINES,
    MAX_PARAMETER_PLOTS,
    describe_diverged_runs,
    describe_shown_run,
    simulation_html,
)
from ytheta.simulation.result import Simulation
from ytheta.simulation.variation import ParameterChange


def test_plots_are_those_of_the_run(simulation: Simulation, page: Page) -> None:
    for j in range(2):
        tracking, torque = plot_of(page, f"tracking-{j + 1}"), plot_of(page, f"torque-{j + 1}")
        np.testing.assert_array_equal(only(tracking, "position"), simulation.runs.q[0, :, j].astype(np.float32))
        np.testing.assert_array_equal(only(tracking, "reference"), simulation.reference.q[:, j].astype(np.float32))
        error = simulation.runs.q[0, :, j] - simulation.reference.q[:, j]
        np.testing.assert_array_equal(only(tracking, "error"), error.astype(np.float32))
        np.testing.assert_array_equal(only(torque, "torque"), simulation.runs.tau[0, :, j].astype(np.float32))
    near = [abs(simulation.runs.tau[0, :, j]).max() > 60.0 / 2.5 for j in range(2)]
    assert [("limit" in plotted(plot_of(page, f"torque-{j + 1}"))) for j in range(2)] == near == [True, False]
    parameter = plot_of(page, "parameter-1")
    np.testing.assert_array_equal(only(parameter, "estimate"), simulation.runs.estimate[0, :, 0].astype(np.float32))
    np.testing.assert_allclose(only(parameter, "truth"), simulation.truth[0, 0], rtol=1e-6)
    first, second = parameter["data"]  # type: ignore[misc]
    assert first["line"]["color"] == second["line"]["color"]  # type: ignore[has-type]
    assert (first["line"]["dash"], second["line"]["dash"]) == ("dash", "solid")  # type: ignore[has-type]
    V = only(plot_of(page, "lyapunov"), "V")
    np.testing.assert_allclose(V, simulation.lyapunov(0), rtol=1e-6)


def test_many_parameters_are_shown_by_their_units(crowd: Simulation) -> None:
    assert len(crowd.unknown_names) > MAX_PARAMETER_PLOTS
    page = Page(simulation_html(crowd))
    names = [name for name in page.scripts if re.fullmatch(r"parameter-\d+", name)]
    assert len(names) == 3  # kg, kg m, kg m²
    lines = {name: pairs[0][1] for plot in names for name, pairs in plotted(plot_of(page, plot)).items()}
    assert set(lines) == set(crowd.unknown_names)
    wrong = crowd.runs.estimate[0] - crowd.truth_of(0)
    for k, name in enumerate(crowd.unknown_names):
        np.testing.assert_allclose(lines[name], wrong[:, k], rtol=1e-6, atol=1e-9)
    for plot in names:
        assert sum(trace["showlegend"] for trace in plot_of(page, plot)["data"]) <= MAX_NAMED_LINES  # type: ignore[attr-defined]
    assert sorted(page.parameters) == sorted(crowd.unknown_names)
    together = only(plot_of(page, "parameter-error"), "parameter error")
    assert together[0] == pytest.approx(100.0 * crowd.initial_parameter_error[0], rel=1e-5)


def test_quantiles_and_histograms_of_runs(batch: Simulation) -> None:
    page = Page(simulation_html(batch))
    statistics, stayed = SimulationStatistics(batch), batch.finished
    errors = np.sqrt(np.mean(batch.tracking_error[stayed] ** 2, axis=2))
    ((x, y),) = plotted(plot_of(page, "tracking-error"))["median"]
    np.testing.assert_allclose(x, batch.runs.t, rtol=1e-6)
    np.testing.assert_allclose(y, np.median(errors, axis=0), rtol=1e-6)
    ((_, band),) = plotted(plot_of(page, "tracking-error"))["5 … 95 % of the runs"]
    outline = np.concatenate([np.quantile(errors, 0.95, axis=0), np.quantile(errors, 0.05, axis=0)[::-1]])
    np.testing.assert_allclose(band, outline, rtol=1e-6)
    wrong = (
        np.linalg.norm(batch.runs.estimate - batch.truth[:, None], axis=2)
        / np.linalg.norm(batch.truth, axis=1)[:, None]
    )
    median = only(plot_of(page, "parameter-error"), "median")
    np.testing.assert_allclose(median, 100.0 * np.median(wrong[stayed], axis=0), rtol=1e-5)
    assert median[-1] != pytest.approx(100.0 * np.median(wrong[:, -1]), rel=1e-3)  # lost runs would be seen
    steps = only(plot_of(page, "tracking-histogram"), "tracking RMS")
    assert steps[1:-1:2].sum() == stayed.sum()
    for name in ("start", "end"):
        assert only(plot_of(page, "parameter-histogram"), name)[1:-1:2].sum() == stayed.sum()
    for text in (
        describe_shown_run(statistics),
        describe_diverged_runs(statistics),
        f"run {statistics.shown}",
        "3 of 24 runs diverged",
        f"{RUNS - 3} / {RUNS}",
    ):
        assert text in page.text
    position = only(plot_of(page, "tracking-1"), "position")
    np.testing.assert_array_equal(position, batch.runs.q[statistics.shown, :, 0].astype(np.float32))


def test_a_diverged_run_is_shown_until_it_diverged(batch: Simulation) -> None:
    gone = with_all_diverged(batch)
    page = Page(simulation_html(gone))
    assert "24 of 24 runs diverged" in page.text
    assert gone.findings[-1].text[1:] in page.text
    assert "tracking-histogram" not in page.scripts
    for plot, name in (("tracking-2", "position"), ("torque-2", "torque"), ("parameter-1", "estimate")):
        known = np.isfinite(only(plot_of(page, plot), name))
        np.testing.assert_array_equal(known, gone.runs.t < 0.4)


def test_parameter_changes_are_marked() -> None:
    parameter_changes = (ParameterChange(0.3, {"load.m": 1.5}),)
    simulation = simulate_loops(PUMA, make_slotine_li(PUMA, LEARN), 0.6, parameter_changes=parameter_changes)
    page = Page(simulation_html(simulation))
    for plot in ("tracking-1", "torque-1", "parameter-1", "parameter-error", "lyapunov"):
        (mark,) = plot_of(page, plot)["layout"]["shapes"]  # type: ignore[index]
        assert mark["x0"] == mark["x1"] == 0.3
    truth = only(plot_of(page, "parameter-2"), "truth")
    np.testing.assert_allclose(truth, np.where(simulation.runs.t < 0.3 - 1e-9, 0.5, 1.5), rtol=1e-6)
    assert "load.m = 1.5" in page.text
    still = Page(simulation_html(replace(simulation, parameter_changes=())))
    assert "shapes" not in plot_of(still, "tracking-1")["layout"]  # type: ignore[operator]


def test_figures_are_those_of_the_page(simulation: Simulation, batch: Simulation, crowd: Simulation) -> None:
    for value in (simulation, batch, crowd):
        page = Page(simulation_html(value))
        drawn = [plot_of(page, name) for name, text in page.scripts.items() if text.startswith('{"data"')]
        figures = value.figures()
        assert len(figures) == len(drawn)
        for figure in figures.values():
            lines = {trace.name for trace in figure.data}
            assert any({trace["name"] for trace in plot["data"]} == lines for plot in drawn)  # type: ignore[attr-defined]
    names = list(simulation.figures())
    assert names[:2] == [f"tracking of {name}" for name in simulation.robot.actuated]
    assert names[-1] == "lyapunov"
    assert {"tracking error", "tracking histogram", "parameter histogram"} <= set(batch.figures())
    assert not {"tracking error", "tracking histogram"} & set(names)
    assert simulation.figures()[names[0]].layout.showlegend  # the page has its own legend
    assert plot_of(Page(simulation_html(simulation)), "tracking-1")["layout"]["showlegend"] is False  # type: ignore[index]
