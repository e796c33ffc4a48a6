"""The frame of every page: one HTML file that needs nothing else, for people to read and for programs (the JSON in it).

Plotly's library is five megabytes of text; it goes in compressed, and the browser unpacks it.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

import ytheta
from ytheta.errors import MissingExtraError
from ytheta.files.atomic import check_writable, write_atomically


def check_installed() -> None:
    """MissingExtraError where a library that makes pages is missing; modules that write pages ask when imported."""
    try:
        import jinja2
        import plotly.offline

        assert jinja2, plotly
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"reports are made with {error.name}, which is not installed; run: pip install 'ytheta[report]'"
        ) from None


def rendered(template: str, content: Mapping[str, object]) -> str:
    """A page as text: ``base.html`` with what the template puts into it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=PackageLoader("ytheta.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    given = {"version": ytheta.__version__, "library": packed(get_plotlyjs()), **content}
    return environment.get_template(template).render(given)


def write_page(path: str | Path, page: Callable[[], str]) -> Path:
    """Write a page. The file appears whole or not at all, and nothing is worked out where it cannot be written."""
    path = check_writable(path)
    content = page().encode("utf-8", "replace")  # file names may hold what is no character
    with write_atomically(path) as file:
        file.write_bytes(content)
    return path


def packed(text: str) -> str:
    """A text in gzip's format and base64; the same text gives the same letters."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
