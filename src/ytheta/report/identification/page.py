"""The report of an identification: one HTML file that needs nothing else.

Where a library that makes reports is missing, importing this module says so: before anything is worked out for one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import check_installed, rendered, write_page
from ytheta.report.identification import remarks, tables
from ytheta.report.identification.plots import correlation_plot, torque_plot
from ytheta.report.identification.summary import summary

if TYPE_CHECKING:
    from ytheta.identification.result import Identification

check_installed()


def write_report(found: Identification, path: str | Path) -> Path:
    """Write the report of an identification. The file appears whole or not at all."""
    return write_page(path, lambda: report_html(found))


def report_html(found: Identification) -> str:
    """The page as text."""
    judged = found.fit if found.validation is None else found.validation
    joints = found.base.robot.actuated
    content = {
        "found": found,
        "tables": tables,
        "remarks": remarks,
        "summary": summary(found),
        "torque_plots": [
            (name, torque_plot(judged.trace, j, tables.torque_unit(found, name))) for j, name in enumerate(joints)
        ],
        "correlation": correlation_plot(found),
    }
    return rendered("page.html", content)
