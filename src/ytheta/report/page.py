"""The report: one HTML file that needs nothing else, for people to read and for programs (the JSON in it).

Plotly's library is five megabytes of text; it goes in compressed, and the browser unpacks it. Where a library that
makes reports is missing, importing this module says so: before anything is worked out for a report.
"""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import ytheta
from ytheta.errors import MissingExtraError
from ytheta.whole_file import check_writable, whole_file

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"reports are made with {error.name}, which is not installed; run: pip install 'ytheta[report]'"
    ) from None

from ytheta.report import remarks, tables
from ytheta.report.plots import correlation_plot, torque_plot
from ytheta.report.summary import summary

if TYPE_CHECKING:
    from ytheta.identification.result import Identification


def write_report(found: Identification, path: str | Path) -> Path:
    """Write the report of an identification. The file appears whole or not at all."""
    path = check_writable(path)
    content = report_html(found).encode("utf-8", "replace")  # file names may hold what is no character
    with whole_file(path) as file:
        file.write_bytes(content)
    return path


def report_html(found: Identification) -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("ytheta.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    judged = found.fit if found.validation is None else found.validation
    joints = found.base.robot.actuated
    return environment.get_template("page.html").render(
        found=found,
        version=ytheta.__version__,
        tables=tables,
        remarks=remarks,
        summary=summary(found),
        torque_plots=[
            (name, torque_plot(judged.trace, j, tables.torque_unit(found, name))) for j, name in enumerate(joints)
        ],
        correlation=correlation_plot(found),
        library=packed(get_plotlyjs()),
    )


def packed(text: str) -> str:
    """A text in gzip's format and base64; the same text gives the same letters."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
