"""Adaptive control with and without the identified model: how much does it help to start from it?

The true arm of ``examples.mujoco_log`` moves in MuJoCo under the adaptive controller of Slotine and Li, twice: once the
controller starts from the parameters of the description, once from those of the identified model. Gains and reference
trajectory are the same.

    python -m examples.adaptive_control report/ur10.model.toml report/ur10.truth.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import ytheta as yt
from ytheta.robot.parameters import with_parameters
from ytheta.simulation.substeps import with_smooth_friction

LAW = "slotine-li"
FRICTION = ("viscous", "coulomb")  # adapted besides the base parameters of the links
RATE = 1000.0  # Hz, of the controller
TUNING_SAMPLES = 300  # of the reference, from which gains are suggested


def compute_tracking_errors(model: Path, truth: Path, *, seconds: float = 10.0) -> tuple[float, float]:
    """Return the RMS tracking error (rad) if the controller starts from the description, and from the model."""
    true = json.loads(truth.read_text())
    described = with_smooth_friction(yt.load(true["robot"]).merged)
    identified = with_smooth_friction(yt.load(model).merged)
    plant = with_smooth_friction(with_parameters(described, true["parameters"]))
    reference = yt.default_reference(described, seconds)
    q, qd, qdd = reference(np.linspace(0.0, seconds, TUNING_SAMPLES))
    base = yt.base_parameters(described, friction=FRICTION)
    gains = yt.control.suggest_gains(LAW, described, base, motion=(q, qd, qdd), rate=RATE)

    def track(start: yt.Robot) -> float:
        settings = yt.control.ControllerSettings(LAW, gains=gains, friction=FRICTION)
        law = yt.control.create_controller(settings, start, motion=(q, qd, qdd), rate=RATE)
        simulation = yt.simulate(plant, law, seconds=seconds, reference=reference, plant="mujoco", rate=RATE)
        return float(simulation.tracking_rms[0])

    return track(described), track(identified)


def format_tracking_errors(described: float, identified: float) -> str:
    """Return one line: the tracking error with and without the model."""
    return (
        f"tracking error {1e3 * described:.3g} mrad (RMS) if the adaptive controller starts from the description, "
        f"{1e3 * identified:.3g} mrad if it starts from the model"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate adaptive control with and without an identified model.")
    parser.add_argument("model", type=Path, help="the model written by ytheta identify")
    parser.add_argument("truth", type=Path, help="the truth written by examples.mujoco_log")
    arguments = parser.parse_args()
    print(format_tracking_errors(*compute_tracking_errors(arguments.model, arguments.truth)))


if __name__ == "__main__":
    main()
