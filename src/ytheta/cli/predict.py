"""``ytheta predict MODEL LOG``: torques from a model, errors against a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from rich.text import Text

from ytheta.cli.log_options import (
    AUTO,
    Mappings,
    MinSpeed,
    StrictLogs,
    Threads,
    Verbose,
    preparation,
    progress,
    read_logs,
    speeds,
    tell_findings,
)
from ytheta.cli.options import AsJson, FixBase, Lengths, Snap, console, print_json, read_robot, remark
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.identification.model_file import figures, identification_table
from ytheta.identification.predict import Prediction, prediction
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.report.identification.summary import finite
from ytheta.report.identification.text_tables import print_joints
from ytheta.report.numbers import plain
from ytheta.report.printable import printable
from ytheta.robot.robot import Robot

ENDINGS = (".csv", ".parquet")
ERRORS = (
    "relative_error_percent",
    "per_joint_percent",
    "raw_relative_error_percent",
    "raw_per_joint_percent",
    "of_variation_percent",
    "rms",
    "torque_rms",
)

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="What identify wrote, or any robot with inertias: a name or a file.")
]
LogArgument = Annotated[str, typer.Argument(metavar="LOG", help="Recorded motion: CSV, Parquet, NPZ, bag.")]
Cutoff = Annotated[
    str | None, typer.Option(metavar="HZ|auto", help="The low-pass; by default the one the model was learnt with.")
]
Derivative = Annotated[
    str | None, typer.Option(metavar="NAME", help="central or spline; by default as the model was learnt.")
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write t, measured and predicted torques: .csv or .parquet."),
]


def predict(
    model: ModelArgument,
    log: LogArgument,
    mapping: Mappings = None,
    cutoff: Cutoff = None,
    derivative: Derivative = None,
    min_speed: MinSpeed = None,
    threads: Threads = None,
    output: Output = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    strict: StrictLogs = False,
    snap: Snap = SNAP,
    fix_base: FixBase = False,
    length: Lengths = None,
) -> None:
    """Predict the torques of a log from a model, and say how far they are from the measured ones.

    Measured and predicted torques pass the same low-pass. A log without torques has predictions and no errors.

    Example: `ytheta predict ur10e.model.toml run3.parquet -o torques.csv`
    """
    if output is not None and check_writable(output, *ENDINGS).exists() and Path(output).samefile(log):
        raise InputError(f"{output} is the log itself and would be overwritten; choose another name")
    with progress() as tell:
        tell("reading the model")
        robot = read_robot(model, snap=snap, fix_base=fix_base, lengths=length)
        learnt = identification_table(model) or {}
        settings = _settings(learnt, cutoff, derivative)
        least = speeds(min_speed, robot) or learnt.get("min_speed")
        tell("reading the log")
        (read,) = read_logs([log], robot, mapping, torque=False, strict=strict, verbose=verbose)
        tell("predicting")
        found = prediction(robot, read, settings, min_speed=None if least is None else np.array(least), threads=threads)
        tell_findings(found.preparation.findings, verbose=verbose)
        if output is not None:
            _write(found, robot, output)
            remark(f"wrote {output}")
    if as_json:
        print_json(answer(robot, found))
    else:
        _print(robot, found, log)


def answer(robot: Robot, found: Prediction) -> dict[str, Any]:
    """A prediction's errors as plain data; None where there is nothing to compare with."""
    size = {"samples": len(found.t), "seconds": len(found.t) / found.preparation.rate}
    errors = dict.fromkeys(ERRORS) | size if found.errors is None else figures(found.errors)
    data: dict[str, Any] = finite({"robot": robot.name, "cutoff": float(found.preparation.settings.cutoff), **errors})
    return data


def _settings(learnt: Mapping[str, Any], cutoff: str | None, derivative: str | None) -> PreparationSettings:
    """As the model was learnt, where it was and nobody says otherwise."""
    settings = preparation(cutoff or AUTO, derivative or str(learnt.get("derivative", "central")))
    return replace(settings, cutoff=float(learnt["cutoff"])) if cutoff is None and "cutoff" in learnt else settings


def _write(found: Prediction, robot: Robot, output: str) -> None:
    columns = {"t": found.t}
    for kind, torques in (("measured", found.measured), ("predicted", found.predicted)):
        if torques is not None:
            columns |= {f"{kind}_{joint}": torques[:, k] for k, joint in enumerate(robot.actuated)}
    table = pl.DataFrame(columns)
    with write_atomically(output) as file:
        if file.suffix.lower() == ".csv":
            table.write_csv(file)
        else:
            table.write_parquet(file)


def _print(robot: Robot, found: Prediction, log: str) -> None:
    out, errors, rate = console(), found.errors, found.preparation.rate
    size = f"{len(found.t) / rate:.4g} s, {len(found.t)} samples at {rate:.4g} Hz"
    low_pass = f"low-pass {float(found.preparation.settings.cutoff):.3g} Hz"
    out.print(Text(printable(f"{robot.name} on {Path(log).name}: {size}, {low_pass}")))
    if errors is None:
        out.print(Text("torques were predicted (-o writes them); the log holds none to compare them with"))
        return
    print_joints(out, robot, errors, None)
    out.print(
        Text(f"predicts the torque to {plain(errors.relative_percent)} % ({plain(errors.raw_relative_percent)} % raw)")
    )
