"""Values that show themselves as the tables, the JSON object, the figures and the page of the command line.

These are made in ``report``, above all packages that define such values. The classes here therefore import the
functions of ``report`` when a value is shown, by their names. For the subject "identification" these are, in
``report/identification``:

===============================  ========================================
``print_identification``         ``text.py``: the tables of the command
``summarize_identification``     ``summary.py``: the object of ``--json``
``make_identification_figures``  ``plots.py``: Plotly figures by name
``write_identification_report``  ``page.py``: the page of ``--report``
===============================  ========================================
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Displayed:
    """A value with a table as ``str``, HTML for notebooks, and a dictionary of plain data."""

    subject: ClassVar[str]  # the sub-package of ``report``

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the object that the command prints with ``--json``."""
        data: dict[str, Any] = load_report_function(self.subject, "summary", f"summarize_{self.subject}")(self)
        return data

    def __str__(self) -> str:
        terminal = import_module("ytheta.report.terminal")
        text: str = terminal.render_text(lambda console: self._print(console))
        return text

    def _repr_html_(self) -> str:
        terminal = import_module("ytheta.report.terminal")
        html: str = terminal.render_html(lambda console: self._print(console))
        return html

    def _print(self, console: Any) -> None:
        load_report_function(self.subject, "text", f"print_{self.subject}")(console, self)


class Reported(Displayed):
    """A result that also has figures and an HTML page; both need the extra ``report``."""

    def figures(self) -> dict[str, go.Figure]:
        """Return the Plotly figures of the page by name."""
        figures: dict[str, go.Figure] = load_report_function(self.subject, "plots", f"make_{self.subject}_figures")(
            self
        )
        return figures

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page with figures, tables and findings; return its path."""
        written: Path = load_report_function(self.subject, "page", f"write_{self.subject}_report")(self, path)
        return written


def load_report_function(subject: str, module: str, name: str) -> Any:
    """Return the function with this name of ``report/<subject>/<module>.py``."""
    return getattr(import_module(f"ytheta.report.{subject}.{module}"), name)
