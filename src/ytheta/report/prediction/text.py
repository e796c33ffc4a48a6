"""A prediction for a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ytheta.report.identification.text import print_joint_errors
from ytheta.report.numbers import format_plain
from ytheta.report.terminal import Column, fit_table, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from ytheta.identification.predict import Prediction


def print_prediction(console: Console, prediction: Prediction, *, verbose: bool = False) -> None:  # noqa: ARG001
    """Print the errors of each joint and of all joints together; without measured torques, the predicted ones."""
    errors, rate, samples = prediction.errors, prediction.preparation.rate, len(prediction.t)
    low_pass = f"low-pass {float(prediction.preparation.settings.cutoff):.3g} Hz"
    size = f"{samples / rate:.4g} s, {samples} samples at {rate:.4g} Hz"
    log = Path(prediction.source).name or "log"
    if (recorded := prediction.recorded) is not None:
        size = (
            f"{recorded.seconds:.4g} s, {recorded.samples} samples at {recorded.rate:.4g} Hz, of which {samples} at "
            f"{rate:.4g} Hz are predicted"
        )
    console.print(safe_text(f"{prediction.robot.name} on {log}: {size}, {low_pass}"))
    if errors is None:
        _print_predicted(console, prediction)
        console.print(Text("torques were predicted (-o or save writes them); the log has none to compare them with"))
        return
    print_joint_errors(console, prediction.robot, errors, None, std=prediction.rms_std)
    percent, raw = format_plain(errors.relative_percent), format_plain(errors.raw_relative_percent)
    console.print(Text(f"torque error {percent} % ({raw} % against the unfiltered torque)"))


def _print_predicted(console: Console, prediction: Prediction) -> None:
    """Print the root mean square and the range of the predicted torque of each joint."""
    robot, predicted = prediction.robot, prediction.predicted
    units = ["N" if name in robot.prismatic_joints else "Nm" for name in robot.actuated]
    columns = [Column("joint", safe_texts(robot.actuated), align_left=True)]
    for heading, values in (
        ("predicted RMS", (predicted**2).mean(axis=0) ** 0.5),
        ("lowest", predicted.min(axis=0)),
        ("highest", predicted.max(axis=0)),
    ):
        cells = [f"{format_plain(value)} {unit}" for value, unit in zip(values.tolist(), units, strict=True)]
        columns.append(Column(heading, safe_texts(cells)))
    print_table(console, fit_table(columns, console.width))
