"""A closed loop to be run by engines."""

from __future__ import annotations

import numpy as np

from tests.support.simulate_cases import PUMA, make_puma_loop, sample_starts, swing
from ytheta.engine.engine import Engine
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.runs import Runs
from ytheta.simulation.sensors import Sensor, Sensors
from ytheta.simulation.variation import ParameterChange

NOISE = Sensors(q=Sensor(noise=1e-4, step=1e-5, delay=2e-3), qd=Sensor(noise=1e-3), tau=Sensor(noise=0.1))


def noisy_puma_loop() -> ClosedLoop:
    """A closed loop with sensor noise whose runs have their own load and damping."""
    return make_puma_loop(varied=("load.m",), varied_gains=("damping",), sensors=NOISE)


def run_puma_loop(loop: ClosedLoop, engine: Engine | str, progress: list[int]) -> Runs:
    """Run the closed loop eleven times, with a change of the load; ``progress`` collects the reported counts."""
    q, qd = sample_starts(PUMA, 11)
    start = loop.init(
        q, qd, parameters={"load.m": np.linspace(0.3, 1.0, 11)}, gains={"damping": np.linspace(0.5, 2.0, 11)}
    )
    return loop.run(
        start,
        swing(PUMA),
        0.1,
        parameter_changes=[ParameterChange(0.05, {"load.m": 2.0})],
        rng=np.random.default_rng(5),
        engine=engine,
        progress=progress.append,
    )
