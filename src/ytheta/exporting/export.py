"""Export a model or a robot to another format: the registry of formats, and the public function.

Every format is a module with two names. ``Options`` is a frozen dataclass with the settings of the format. ``render``
returns the content of every file, by its path; it writes nothing. ``export`` writes the files.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.exporting.output import check_targets, write_files
from ytheta.exporting.source import ExportInput, find_source
from ytheta.files.paths import check_path

# The module of every format: render(source: ExportSource, path: Path, *, options: Options) -> Mapping[Path, bytes].
FORMATS = {
    "c": "ytheta.exporting.c.render",
    "casadi": "ytheta.exporting.casadi",
    "urdf": "ytheta.exporting.descriptions.urdf",
    "mjcf": "ytheta.exporting.descriptions.mjcf",
    "toml": "ytheta.exporting.descriptions.toml",
}


def export(
    model: ExportInput,
    *,
    to: str,
    path: str | Path,
    options: Any = None,
    description: str | Path | None = None,
    force: bool = False,
) -> tuple[Path, ...]:
    """Write a model or a robot in another format, and return the paths of the written files.

    ``model``: a model file, the file of a description or a name in the catalog, or a Robot, Model or Identification.
    ``to``: the format, one of ``FORMATS``; ``path``: the file or, for C, the folder to write.
    ``options``: settings of the format, such as ``yt.COptions(precision="float")`` for C.
    ``description``: the URDF or MJCF file whose other content is kept; only formats that keep it use it.
    ``force``: overwrite existing files, and export models that are inconsistent or should not be used.

    Files appear whole or not at all.
    """
    module = _find_format(to)
    options_type = module.Options
    if options is not None and not isinstance(options, options_type):
        raise InputError(
            f"options is a value of type {type(options).__name__}; for {to!r}, give {options_type.__name__}(…) or None"
        )
    path = check_path(path, "the export")
    source = find_source(model, description=description, force=force)
    files = module.render(source, path, options=options_type() if options is None else options)
    check_targets(files, force=force)
    return write_files(files)


def _find_format(name: object) -> Any:
    if not isinstance(name, str) or name not in FORMATS:
        raise UnknownNameError(f"there is no export format {name!r}{suggest_names(name, FORMATS)}")
    return import_module(FORMATS[name])
