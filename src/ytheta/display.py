"""Values that show themselves as the tables and the JSON object of the command line.

The tables are made in ``report``, above all packages that define such values. ``Displayed`` therefore imports the
functions of ``report`` when a value is shown, by their names: for the subject "identification" these are
``print_identification`` of ``report/identification/text.py`` and ``summarize_identification`` of
``report/identification/summary.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class Displayed:
    """A value with a table as ``str``, HTML for notebooks, and a dictionary of plain data."""

    subject: ClassVar[str]  # the sub-package of ``report``

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the object that the command prints with ``--json``."""
        data: dict[str, Any] = load_report_function(self.subject, "summary", "summarize")(self)
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
        load_report_function(self.subject, "text", "print")(console, self)


def load_report_function(subject: str, module: str, verb: str) -> Any:
    """Return a function of ``report``, such as ``print_identification``."""
    return getattr(import_module(f"ytheta.report.{subject}.{module}"), f"{verb}_{subject}")
