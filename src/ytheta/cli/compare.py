"""``ytheta compare A B …``: models of the same robot side by side."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.log_options import LogOptions, Verbose, parse_gain, parse_rows, show_progress, take_log_options
from ytheta.cli.options import AsJson, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report

ModelArguments = Annotated[
    list[str], typer.Argument(metavar="MODELS", help="Two or more models of the same robot, written by identify.")
]
LogOption = Annotated[
    str | None, typer.Option(metavar="LOG", help="Also compare the torques that the models predict for this log.")
]
Report = Annotated[str | None, typer.Option(metavar="HTML", help="Write a report for a browser to this file.")]


@take_log_options
def compare(
    models: ModelArguments,
    log: LogOption = None,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    *,
    log_options: LogOptions,
) -> None:
    """Compare models: parameters with their difference in standard deviations, friction, torques on a log.

    Differences are those from the first model.

    Example: `ytheta compare january.model.toml june.model.toml --log check.parquet --report change.html`
    """
    check_output(report, PAGE_SUFFIXES, (*models, log, *(log_options.mapping or ())), force=force)
    check_report(report)
    with show_progress() as report_stage:
        comparison = yt.compare(
            models,
            log=log,
            mapping=log_options.single_mapping,
            degrees=log_options.degrees,
            rows=parse_rows(log_options.rows),
            rate=log_options.rate,
            gain=parse_gain(log_options.gain),
            topic=log_options.topic,
            report_stage=report_stage,
        )
        if report is not None:
            report_stage("writing the report")
            print_note(f"wrote {comparison.report(report)}")
    print_value(comparison, as_json=as_json, verbose=verbose)
