"""Settings of a simulation in words."""

from __future__ import annotations

import numpy as np

from tests.support.browser import EVIL
from tests.support.simulate_cases import LEARN, PUMA, make_slotine_li
from tests.support.simulated_loops import simulate_loops
from ytheta.report.simulation import SimulationStatistics
from ytheta.report.simulation_page import describe_settings, format_setting
from ytheta.simulation.result import Simulation
from ytheta.simulation.sensors import Sensor, Sensors


def test_settings_in_words(simulation: Simulation, batch: Simulation) -> None:
    own = dict(describe_settings(SimulationStatistics(simulation), "a sine"))
    assert (own["Convergence"], own["Damping"], own["Adaptation"]) == ("10", "8, 6", "2")
    assert own["Torque limits"].startswith("60;")
    assert (own["Reference"], own["Sensors"]) == ("a sine", "without errors")
    assert own["Unknown parameters"] == f"1 parameter: {EVIL}.m"
    assert (
        "1 of 66 parameters differs between runs" in dict(describe_settings(SimulationStatistics(batch), ""))["Plant"]
    )
    noisy = simulate_loops(
        PUMA, make_slotine_li(PUMA, LEARN), 0.2, sensors=Sensors(q=Sensor(noise=1e-4), qd=Sensor(bias=0.02))
    )
    said = dict(describe_settings(SimulationStatistics(noisy), ""))["Sensors"]
    assert said == "position noise 0.0001; velocity bias 0.02"
    assert format_setting(np.diag([1.0, 2.0])) == "diagonal 1, 2"
    assert format_setting([[2.0, 1.0], [1.0, 2.0]]) == "2 × 2 matrix, diagonal 2 for each of 2"
    assert format_setting(np.linspace(0.5, 4.0, 30)) == "30 numbers, 0.5 … 4"
    assert format_setting(Sensor(noise=0.5)).startswith("Sensor (noise 0.5")
