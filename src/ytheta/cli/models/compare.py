"""``ytheta compare A B …``: models of the same robot side by side."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.log_options import Verbose, show_progress
from ytheta.cli.options import AsJson, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report

ModelArguments = Annotated[
    list[str], typer.Argument(metavar="MODELS", help="Two or more models of the same robot, written by identify.")
]
LogOption = Annotated[
    str | None, typer.Option(metavar="LOG", help="Also compare the torques that the models predict for this log.")
]
ColumnMapping = Annotated[
    str | None,
    typer.Option(
        "--mapping", metavar="TOML", help="Meaning of the columns: a file with lines such as [columns] q = 'angle{}'."
    ),
]
Report = Annotated[str | None, typer.Option(metavar="HTML", help="Write a report for a browser to this file.")]


def compare(
    models: ModelArguments,
    log: LogOption = None,
    mapping: ColumnMapping = None,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> None:
    """Compare models: parameters with their difference in standard deviations, friction, torques on a log.

    Differences are those from the first model.

    Example: `ytheta compare january.model.toml june.model.toml --log check.parquet --report change.html`
    """
    check_output(report, PAGE_SUFFIXES, (*models, log, mapping), force=force)
    check_report(report)
    with show_progress() as report_stage:
        comparison = yt.compare(models, log=log, mapping=mapping, report_stage=report_stage)
        if report is not None:
            report_stage("writing the report")
            print_note(f"wrote {comparison.report(report)}")
    print_value(comparison, as_json=as_json, verbose=verbose)
