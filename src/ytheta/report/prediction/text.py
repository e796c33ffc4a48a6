"""A prediction for a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ytheta.identification.predict import Prediction
from ytheta.report.identification.text import print_joint_errors
from ytheta.report.numbers import format_plain
from ytheta.report.terminal import safe_text
from ytheta.robot.robot import Robot


def print_prediction(console: Console, robot: Robot, prediction: Prediction, log: str) -> None:
    """Print the errors of each joint and of all joints together."""
    errors, rate, samples = prediction.errors, prediction.preparation.rate, len(prediction.t)
    low_pass = f"low-pass {float(prediction.preparation.settings.cutoff):.3g} Hz"
    size = f"{samples / rate:.4g} s, {samples} samples at {rate:.4g} Hz"
    console.print(safe_text(f"{robot.name} on {Path(log).name}: {size}, {low_pass}"))
    if errors is None:
        console.print(Text("torques were predicted (-o writes them); the log has none to compare them with"))
        return
    print_joint_errors(console, robot, errors, None)
    percent, raw = format_plain(errors.relative_percent), format_plain(errors.raw_relative_percent)
    console.print(Text(f"torque error {percent} % ({raw} % against the unfiltered torque)"))
