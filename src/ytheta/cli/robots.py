"""``ytheta robots``: the catalog."""

from __future__ import annotations

import ytheta as yt
from ytheta.cli.options import AsJson, print_value


def robots(as_json: AsJson = False) -> None:
    """List the robots that come with ytheta.

    Example: `ytheta robots`, then `ytheta inspect panda`.
    """
    print_value(yt.robots(), as_json=as_json)
