"""Sensor errors in lu1993 V-B: both schemes, sampled, with noise or a bias in the measured accelerations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.control.laws.law import Law
from ytheta.reproduction.lu1993.schemes import (
    INITIAL_ERROR,
    LINK4_MASS,
    OMEGA,
    SECONDS,
    TRUE_M4,
    make_craig,
    make_modified,
    make_reference,
)
from ytheta.reproduction.tracking import compute_rms
from ytheta.shapes import Float
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.sensors import Sensor, Sensors

NOISES = (0.0, 50.0, 100.0, 200.0, 400.0)  # rad/s²; the mean acceleration of the reference is 80
BIASES = (0.0, 10.0, 20.0, 40.0)  # rad/s²
SEEDS = 16
PERIOD = 5e-4  # s, of a controller with sensors


@dataclass(frozen=True, eq=False)
class SensorErrorRuns:
    """Runs of a sampled scheme with errors in the measured accelerations, one row per size of the error.

    ``tracking`` (rad, of all joints) and ``m4_error`` (kg) are rms values while the arm settles, from 0.1 to 0.5 s.
    """

    sizes: tuple[float, ...]
    t: Float[np.ndarray, "instants"]
    m4: Float[np.ndarray, "sizes runs instants"]
    tracking: Float[np.ndarray, "sizes runs"]
    m4_error: Float[np.ndarray, "sizes runs"]


def simulate_sensor_errors(law: Law, kind: str, sizes: tuple[float, ...], runs: int) -> SensorErrorRuns:
    """Simulate ``runs`` runs from the same start for every size of the noise or the bias, in rad/s²."""
    rows = np.repeat(sizes, runs)
    per_joint = np.tile(rows[:, None], (1, len(law.robot.actuated)))
    sensors = Sensors(qdd=Sensor(noise=per_joint) if kind == "noise" else Sensor(bias=per_joint))
    loop = ClosedLoop(plant=law.robot, controller=law, period=PERIOD, sensors=sensors)
    reference = make_reference(OMEGA)
    q, qd, _ = (np.repeat(part, len(rows), axis=0) for part in reference(np.zeros(1)))
    start = loop.init((1.0 + INITIAL_ERROR) * q, qd, estimate=np.zeros((len(rows), 1)))
    result = loop.run(start, reference, SECONDS, rng=np.random.default_rng(1), every=2)
    error, m4 = result.q - reference(result.t)[0], LINK4_MASS + result.estimate[:, :, 0]
    early, shape = (result.t >= 0.1) & (result.t < 0.5), (len(sizes), runs)
    tracking = np.where(result.finished, compute_rms(error[:, early], (1, 2)), np.inf)
    m4_error = np.where(result.finished, compute_rms(m4[:, early] - TRUE_M4, 1), np.inf)
    return SensorErrorRuns(sizes, result.t, m4.reshape(*shape, -1), tracking.reshape(shape), m4_error.reshape(shape))


def compare_sensor_errors(kind: str) -> dict[str, SensorErrorRuns]:
    """Simulate both schemes with noise or with a bias."""
    sizes, runs = (NOISES, SEEDS) if kind == "noise" else (BIASES, 1)
    return {
        "modified": simulate_sensor_errors(make_modified(), kind, sizes, runs),
        "Craig": simulate_sensor_errors(make_craig(), kind, sizes, runs),
    }
