"""Export a model or a robot to another format: the registry of formats, and the public function.

Every format is a module with two names. ``Options`` is a frozen dataclass with the settings of the format. ``render``
returns the content of every file, by its path; it writes nothing. ``export`` writes the files. A format that cannot
express everything also has ``find_losses``, and one that writes several files may have ``find_leftovers``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from ytheta.conventions import SNAP
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.exporting.output import check_targets, write_files
from ytheta.exporting.source import ExportInput, ExportSource, find_source
from ytheta.files.paths import check_path
from ytheta.findings import Finding

# The module of every format: render(source: ExportSource, path: Path, *, options: Options) -> Mapping[Path, bytes].
FORMATS = {
    "c": "ytheta.exporting.c.render",
    "casadi": "ytheta.exporting.casadi",
    "urdf": "ytheta.exporting.descriptions.urdf",
    "mjcf": "ytheta.exporting.descriptions.mjcf",
    "toml": "ytheta.exporting.descriptions.toml",
    "franka-load": "ytheta.exporting.settings.franka_load",
    "ur-payload": "ytheta.exporting.settings.ur_payload",
    "friction-table": "ytheta.exporting.settings.friction_table",
    "mujoco-actuators": "ytheta.exporting.settings.mujoco_actuators",
    "isaac-actuators": "ytheta.exporting.settings.isaac_actuators",
}


def export(
    model: ExportInput,
    *,
    to: str,
    path: str | Path,
    options: Any = None,
    description: str | Path | None = None,
    force: bool = False,
    snap: float = SNAP,
    fix_base: bool = False,
    floating_base: bool = False,
    lengths: Mapping[str, float] | None = None,
    angles: Mapping[str, float] | None = None,
    xacro_args: Mapping[str, str] | None = None,
    package_paths: Sequence[str | Path] = (),
) -> tuple[Path, ...]:
    """Write a model or a robot in another format, and return the paths of the written files.

    ``model``: a model file, the file of a description or a name in the catalog, or a Robot, Model or Identification.
    ``to``: the format, one of ``FORMATS``; ``path``: the file or, for C, the folder to write.
    ``options``: settings of the format, such as ``yt.COptions(precision="float")`` for C.
    ``description``: the URDF or MJCF file whose other content is kept; only formats that keep it use it. Of a xacro
    file, the expansion is kept.
    ``force``: overwrite existing files, remove those that an export to C under another name wrote to the same folder,
    and export models that are inconsistent or should not be used.
    ``snap``, ``fix_base``, ``floating_base``, ``lengths``, ``angles``, ``xacro_args``, ``package_paths``: how a
    description is read, as in ``load``.

    Files appear whole or not at all.
    """
    _find_format(to)
    source = find_source(
        model,
        description=description,
        force=force,
        snap=snap,
        fix_base=fix_base,
        floating_base=floating_base,
        lengths=lengths,
        angles=angles,
        xacro_args=xacro_args,
        package_paths=package_paths,
    )
    return export_source(source, to=to, path=path, options=options, force=force)


def export_source(
    source: ExportSource,
    *,
    to: str,
    path: str | Path,
    options: Any = None,
    force: bool = False,
    force_option: str = "force=True",
) -> tuple[Path, ...]:
    """Write a checked source in another format, and return the paths of the written files; see ``export``.

    ``force_option`` is how the user spells ``force``, for messages.
    """
    module = _find_format(to)
    options_type = module.Options
    options = options_type() if options is None else options
    if not isinstance(options, options_type):
        raise InputError(
            f"options is a value of type {type(options).__name__}; for {to!r}, give {options_type.__name__}(…) or None"
        )
    if source.must_keep and not hasattr(module, "ROOT_TAG"):
        raise InputError(f"the format {to!r} keeps nothing of {source.description}; remove the description")
    path = check_path(path, "the export")
    files = module.render(source, path, options=options)
    check_targets(files, force=force, force_option=force_option)
    leftovers = find_leftovers(source, to=to, path=path, options=options) if force else ()
    written = write_files(files)
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    return written


def find_leftovers(source: ExportSource, *, to: str, path: str | Path, options: Any = None) -> tuple[Path, ...]:
    """Return files that an earlier export wrote under another name in the same folder; ``force`` removes them."""
    module = _find_format(to)
    find = getattr(module, "find_leftovers", None)
    leftovers: tuple[Path, ...] = (
        () if find is None else find(source, Path(path), options=module.Options() if options is None else options)
    )
    return leftovers


def find_losses(source: ExportSource, *, to: str, path: str | Path) -> tuple[Finding, ...]:
    """Return what a format cannot express of a source, such as laws of friction that it does not have."""
    find = getattr(_find_format(to), "find_losses", None)
    losses: tuple[Finding, ...] = () if find is None else find(source, Path(path))
    return losses


def make_options(to: str, settings: Mapping[str, Any]) -> Any:
    """Return the options of a format with these settings, given by name; InputError if it does not have one of them."""
    options_type = _find_format(to).Options
    names = [field.name for field in fields(options_type)]
    for name in settings:
        if name not in names:
            known = f"its settings are {', '.join(names)}" if names else "it has no settings"
            raise InputError(f"the format {to!r} has no setting {name!r}; {known}")
    return options_type(**settings)


def _find_format(name: object) -> Any:
    if not isinstance(name, str) or name not in FORMATS:
        raise UnknownNameError(f"there is no export format {name!r}{suggest_names(name, FORMATS)}")
    return import_module(FORMATS[name])
