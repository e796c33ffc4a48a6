"""Export to the TOML format of ytheta: the whole robot, to the last digit, without the table of an identification.

Only collision meshes are not written, because their paths are valid only in the folder of the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ytheta.errors import InputError
from ytheta.exporting.losses import find_shape_losses
from ytheta.exporting.source import ExportSource, Format, NoOptions
from ytheta.files.atomic import TOML_MARK
from ytheta.findings import Finding
from ytheta.robot.toml_writer import to_toml

SUFFIX = ".toml"


def render(source: ExportSource, path: Path, options: NoOptions) -> Mapping[Path, bytes]:
    """Return the content of the TOML file."""
    del options
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"{path}: robots in TOML need the extension {SUFFIX}; change the name")
    return {path: f"{TOML_MARK}\n{to_toml(source.robot)}".encode()}


def find_losses(source: ExportSource, path: Path) -> tuple[Finding, ...]:
    """Return the collision meshes, which are all that TOML does not express."""
    del path
    return find_shape_losses(source.robot, to="toml")


TOML = Format(render, find_losses=find_losses)
