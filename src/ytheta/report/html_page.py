"""Self-contained HTML pages for browsers; programs can read the embedded JSON.

Plotly's library is five megabytes of text. It is embedded in compressed form, and the browser unpacks it.

Every page has a content security policy: the browser runs only the scripts whose hashes the page names, and requests
nothing. Plotly sets styles of its elements, so styles within the page are allowed.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import ytheta
from ytheta.conventions import PAGE_SUFFIXES
from ytheta.errors import MissingExtraError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.findings import Finding, Severity
from ytheta.report.figure import figure_to_json

# The order of findings on a page.
SEVERITY_ORDER = (Severity.ERROR, Severity.WARNING, Severity.REPAIRED, Severity.NOTE)


def check_installed() -> None:
    """Raise MissingExtraError if a library for pages is missing."""
    try:
        import jinja2
        import plotly.offline

        assert jinja2, plotly
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"reports are made with {error.name}, which is not installed; run: pip install 'ytheta[report]'"
        ) from None


def render_page(template: str, content: Mapping[str, object], functions: Sequence[Callable[..., object]] = ()) -> str:
    """Return a page as text: a template that extends ``base.html``, filled with the content.

    The template calls the functions by their names.
    """
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
    page_script, library = environment.get_template("page.js").render(), get_plotlyjs()
    variables = {
        "version": ytheta.__version__,
        "policy": make_policy(page_script, library),
        "page_script": page_script,
        "library": compress_text(library),
        "sort_findings": sort_findings,
        **content,
        **{function.__name__: function for function in functions},
    }
    return environment.get_template(template).render(variables)


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, the most serious first."""
    return sorted(findings, key=lambda finding: SEVERITY_ORDER.index(finding.severity))


def make_policy(*scripts: str) -> str:
    """Return a content security policy that allows these scripts, styles within the page, and no requests."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def write_page(path: str | Path, make_page: Callable[[], str]) -> Path:
    """Write a page atomically; the page is not made if a library is missing or the file cannot be written."""
    check_installed()
    path = check_writable(path, *PAGE_SUFFIXES)
    content = make_page().encode("utf-8", "replace")  # file names may contain bytes that are not valid characters
    with write_atomically(path) as file:
        file.write_bytes(content)
    return path


def compress_text(text: str) -> str:
    """Return a text compressed by gzip and encoded in base64; equal texts give equal results."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
