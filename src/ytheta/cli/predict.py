"""``ytheta predict MODEL LOG``: torques from a model, and their errors on a log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer

from ytheta.cli.log_options import (
    AUTO,
    Mappings,
    MinSpeed,
    StrictLogs,
    Threads,
    Verbose,
    parse_preparation,
    parse_speeds,
    print_findings,
    read_logs,
    show_progress,
)
from ytheta.cli.options import AsJson, FixBase, Lengths, Snap, make_console, print_json, print_note, read_robot
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.identification.model_file import read_identification_table
from ytheta.identification.predict import Prediction, predict_torques
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.report.prediction.summary import summarize_prediction
from ytheta.report.prediction.text import print_prediction
from ytheta.robot.robot import Robot

OUTPUT_SUFFIXES = (".csv", ".parquet")

ModelArgument = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A model written by identify, or any robot with inertias: a name or a file."),
]
LogArgument = Annotated[str, typer.Argument(metavar="LOG", help="Recorded motion: CSV, Parquet, NPZ or ROS bag.")]
Cutoff = Annotated[
    str | None, typer.Option(metavar="HZ|auto", help="Cut-off of the low-pass; by default that of the identification.")
]
Derivative = Annotated[
    str | None, typer.Option(metavar="NAME", help="central or spline; by default that of the identification.")
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
    """Predict the torques of a log from a model, and compare them with the measured ones.

    Measured and predicted torques pass the same low-pass. Without measured torques there are no errors to print.

    Example: `ytheta predict ur10e.model.toml run3.parquet -o torques.csv`
    """
    if output is not None and check_writable(output, *OUTPUT_SUFFIXES).exists() and Path(output).samefile(log):
        raise InputError(f"{output} is an input of this command and would be overwritten; choose another name")
    with show_progress() as report_stage:
        report_stage("reading the model")
        robot = read_robot(model, snap=snap, fix_base=fix_base, lengths=length)
        origin = read_identification_table(model) or {}
        settings = _merge_settings(origin, cutoff, derivative)
        speeds = parse_speeds(min_speed, robot) or origin.get("min_speed")
        report_stage("reading the log")
        (measured,) = read_logs([log], robot, mapping, require_torque=False, strict=strict, verbose=verbose)
        report_stage("predicting")
        min_speeds = None if speeds is None else np.array(speeds)
        result = predict_torques(robot, measured, settings, min_speed=min_speeds, threads=threads)
        print_findings(result.preparation.findings, verbose=verbose)
        if output is not None:
            _write_torques(result, robot, output)
            print_note(f"wrote {output}")
    if as_json:
        print_json(summarize_prediction(robot, result))
    else:
        print_prediction(make_console(), robot, result, log)


def _merge_settings(origin: Mapping[str, Any], cutoff: str | None, derivative: str | None) -> PreparationSettings:
    """Return the settings of the identification; options that are given replace them."""
    settings = parse_preparation(cutoff or AUTO, derivative or str(origin.get("derivative", "central")))
    return replace(settings, cutoff=float(origin["cutoff"])) if cutoff is None and "cutoff" in origin else settings


def _write_torques(result: Prediction, robot: Robot, output: str) -> None:
    columns = {"t": result.t}
    for kind, torques in (("measured", result.measured), ("predicted", result.predicted)):
        if torques is not None:
            columns |= {f"{kind}_{joint}": torques[:, k] for k, joint in enumerate(robot.actuated)}
    table = pl.DataFrame(columns)
    with write_atomically(output) as file:
        if file.suffix.lower() == ".csv":
            table.write_csv(file)
        else:
            table.write_parquet(file)
