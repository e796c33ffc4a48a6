"""JSON files with an origin; JSON is also YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ytheta.errors import InputError
from ytheta.exporting.source import ExportSource

ENDINGS = (".json", ".yaml", ".yml")


def render_json(source: ExportSource, path: Path, units: Mapping[str, str], values: Mapping[str, Any]) -> bytes:
    """Return a JSON file with the name of the robot, its origin, the units and these values."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path}: this file must have the extension {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    data = {"robot": source.robot.name, "origin": source.origin, "units": dict(units), **values}
    return (json.dumps(data, indent=2, allow_nan=False) + "\n").encode("ascii")
