"""The text of a simulation on terminals of any width."""

from __future__ import annotations

import pytest

import ytheta
from tests.support.browser import Page
from tests.support.simulate_cases import PUMA
from tests.support.simulated_loops import DIVERGED, RUNS, simulate_loops, with_all_diverged
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.report.numbers import format_plain
from ytheta.report.simulation import MAX_PARAMETERS, SimulationStatistics, summarize_simulation
from ytheta.report.simulation_page import simulation_html
from ytheta.simulation.result import Simulation


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_fits_the_width(batch: Simulation, crowd: Simulation, width: int) -> None:
    for simulation in (batch, crowd):
        text = simulation.to_text(width=width)
        statistics = SimulationStatistics(simulation)
        fitting = [line for line in text.splitlines() if line not in [finding.text for finding in simulation.findings]]
        assert max(map(len, fitting)) <= width
        for values in (statistics.tracking, statistics.last_tracking, statistics.largest_torque):
            for value in values:
                assert f"{format_plain(value)} " in text
        for each in statistics.by_decreasing_error()[:MAX_PARAMETERS]:
            for value in (each.truth, each.start, each.end):
                assert format_plain(value, 4) in text
    assert text.count("…") == 0  # no name is cut


def test_the_text_of_a_batch(batch: Simulation) -> None:
    text = batch.to_text(width=80)
    statistics = SimulationStatistics(batch)
    assert " ".join(text.split()).startswith(statistics.headline)
    assert text.splitlines()[-1] == batch.findings[-1].text
    for level, value in zip((5, 50, 95), statistics.quantiles["parameter_error"], strict=True):
        assert f"{level} %" in text
        assert f"{format_plain(100.0 * value)} %" in text
    assert f"{RUNS - len(DIVERGED)} runs" in text
    assert f"run {statistics.shown}, the median" in text
    gone = with_all_diverged(batch).to_text(width=80)
    assert "all 24 runs diverged" in " ".join(gone.split())
    assert "–" in gone
    assert "nan" not in gone


def test_verbose_text_lists_all_parameters(crowd: Simulation) -> None:
    short, long = crowd.to_text(), crowd.to_text(verbose=True)
    assert len(crowd.unknown_names) > MAX_PARAMETERS
    assert sum(name in short.split() for name in crowd.unknown_names) == MAX_PARAMETERS
    assert f"all {len(crowd.unknown_names)}: --verbose" in short
    assert all(name in long.split() for name in crowd.unknown_names)
    assert "--verbose" not in long
    worst = SimulationStatistics(crowd).by_decreasing_error()
    masses = [each for each in worst if each.unknown.endswith(".m")]
    wrong = [abs(each.end - each.truth) for each in masses]
    assert wrong == sorted(wrong, reverse=True)
    assert masses[0].unknown in short


def test_stars_mark_base_parameters() -> None:
    base = ytheta.base_parameters(PUMA)
    law = SlotineLi(PUMA, base, convergence=10.0, damping=8.0, adaptation=0.01)
    simulation = simulate_loops(PUMA, law, 0.1)
    statistics = SimulationStatistics(simulation)
    assert [each.name for each in statistics.parameters] == list(base.names)
    assert any(name.endswith("*") for name in base.names)
    page = Page(simulation_html(simulation))
    assert page.parameters == list(base.names)
    assert [row["name"] for row in summarize_simulation(simulation)["parameters"]] == list(base.independent)
    assert f"{len(base)} of them base parameters" in page.text
