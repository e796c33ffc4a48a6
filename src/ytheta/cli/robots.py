"""``ytheta robots``: the catalog."""

from __future__ import annotations

from ytheta.cli.options import AsJson, make_console, print_json
from ytheta.report.catalog.summary import summarize_catalog
from ytheta.report.catalog.text import print_catalog


def robots(as_json: AsJson = False) -> None:
    """List the robots that come with ytheta.

    Example: `ytheta robots`, then `ytheta inspect panda`.
    """
    data = summarize_catalog()
    if as_json:
        print_json(data)
    else:
        print_catalog(make_console(), data)
