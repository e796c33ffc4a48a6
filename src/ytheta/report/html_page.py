"""Self-contained HTML pages for browsers; programs can read the embedded JSON.

Plotly's library is five megabytes of text. It is embedded in compressed form, and the browser unpacks it.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

import ytheta
from ytheta.conventions import PAGE_SUFFIXES
from ytheta.errors import MissingExtraError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.report.plotly_figure import figure_to_json


def check_installed() -> None:
    """Raise MissingExtraError if a library for pages is missing. Modules that write pages call this when imported."""
    try:
        import jinja2
        import plotly.offline

        assert jinja2, plotly
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"reports are made with {error.name}, which is not installed; run: pip install 'ytheta[report]'"
        ) from None


def render_page(template: str, content: Mapping[str, object]) -> str:
    """Return a page as text: a template that extends ``base.html``, filled with the content."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("ytheta.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plotly_json"] = figure_to_json
    variables = {"version": ytheta.__version__, "library": compress_text(get_plotlyjs()), **content}
    return environment.get_template(template).render(variables)


def write_page(path: str | Path, make_page: Callable[[], str]) -> Path:
    """Write a page atomically; the page is not made if the file cannot be written."""
    path = check_writable(path, *PAGE_SUFFIXES)
    content = make_page().encode("utf-8", "replace")  # file names may contain bytes that are not valid characters
    with write_atomically(path) as file:
        file.write_bytes(content)
    return path


def compress_text(text: str) -> str:
    """Return a text compressed by gzip and encoded in base64; equal texts give equal results."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
