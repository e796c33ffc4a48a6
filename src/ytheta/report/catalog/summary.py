"""The catalog as plain data: the output of ``ytheta robots --json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ytheta.robot.reading.catalog import Catalog


def summarize_catalog(catalog: Catalog) -> dict[str, Any]:
    """Return name, joints, loops and description of each robot of the catalog."""
    return {"robots": [asdict(entry) for entry in catalog]}
