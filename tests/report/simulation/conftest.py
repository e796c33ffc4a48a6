"""Simulations to report: one run, a batch in which runs diverge, and many unknown parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.browser import EVIL, Page
from tests.support.paths import ROOT
from tests.support.simulate_cases import LEARN, PUMA, make_slotine_li
from tests.support.simulated_loops import DIVERGED, RUNS, simulate_loops
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.report.simulation_page import simulation_html
from ytheta.simulation.result import Simulation


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """One run of a two-link arm with wicked names; its torques are limited."""
    text = (ROOT / "src" / "ytheta" / "robot" / "catalog" / "lu-two-link.toml").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("robot") / "arm.toml"
    path.write_text(text.replace('"link2"', f'"{EVIL}"').replace('"joint2"', f'"{EVIL}j"'), encoding="utf-8")
    robot = replace(ytheta.load(str(path)), name=f"{EVIL} arm")
    law = SlotineLi(
        robot, convergence=10.0, damping=[8.0, 6.0], adaptation=2.0, learn=(f"{EVIL}.m",), torque_limits=60.0
    )
    return simulate_loops(robot, law, 1.0)


@pytest.fixture(scope="module")
def batch() -> Simulation:
    """Runs of an arm with different loads; some of them are lost."""
    loads = 0.5 * np.exp(0.3 * np.random.default_rng(2).normal(size=RUNS))
    loads[list(DIVERGED)] = [-30.0, -28.0, -26.0]
    return simulate_loops(PUMA, make_slotine_li(PUMA, LEARN), 1.0, runs=RUNS, loads=loads)


@pytest.fixture(scope="module")
def crowd() -> Simulation:
    """A controller that learns all parameters of all links."""
    return simulate_loops(PUMA, SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=0.01), 0.5)


@pytest.fixture(scope="module")
def page(simulation: Simulation) -> Page:
    return Page(simulation_html(simulation))
