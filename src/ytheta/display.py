"""Values that show themselves as the tables, the JSON object, the figures and the page of the command line.

These are made in ``report``, above all packages that define such values. ``report/views.py`` registers here how the
values of each type are shown; it is loaded when the first value is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console


@runtime_checkable
class View(Protocol):
    """How the values of one type are shown."""

    def print(self, console: Console, value: Any, **options: bool) -> None:
        """Print the tables of a value on a console."""

    def render_text(self, value: Any, *, width: int | None = None, **options: bool) -> str:
        """Return the tables of a value as text without colours."""

    def render_html(self, value: Any) -> str:
        """Return the tables of a value as preformatted HTML."""

    def summarize(self, value: Any) -> dict[str, Any]:
        """Return a value as plain data."""

    def make_figures(self, value: Any) -> dict[str, go.Figure]:
        """Return the Plotly figures of a value by name."""

    def write_page(self, value: Any, path: str | Path) -> Path:
        """Write the page of a value; return its path."""


_VIEWS: dict[str, View] = {}  # by the name of the type


def register_views(views: Mapping[str, View]) -> None:
    """Register the views of types, by the names of the types."""
    _VIEWS.update(views)


def find_view(value: object) -> View:
    """Return the view of the type of a value."""
    if not _VIEWS:
        import_module("ytheta.report.views")  # registers all views; nothing else here knows about ``report``
    for each in type(value).__mro__:
        if each.__name__ in _VIEWS:
            return _VIEWS[each.__name__]
    raise LookupError(f"report/views.py has no view of {type(value).__name__}")


class Displayed:
    """A value with a table as ``str``, HTML for notebooks, and a dictionary of plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the object that the command prints with ``--json``."""
        return find_view(self).summarize(self)

    def __str__(self) -> str:
        return find_view(self).render_text(self)

    def _repr_html_(self) -> str:
        return find_view(self).render_html(self)


class Reported(Displayed):
    """A result that also has figures and an HTML page; both need the extra ``report``."""

    def figures(self) -> dict[str, go.Figure]:
        """Return the Plotly figures of the page by name."""
        return find_view(self).make_figures(self)

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page with figures, tables and findings; return its path."""
        return find_view(self).write_page(self, path)
