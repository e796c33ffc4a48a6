"""Export a model or a robot to another format: the registry of formats, and the public function.

A ``Format`` renders files and can tell what it does not express; ``export`` writes the files, all of them or none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from ytheta.arguments import check_path
from ytheta.conventions import SNAP
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.exporting.source import ExportInput, ExportSource, Format, find_source
from ytheta.files.atomic import (
    check_writable,
    create_temporary,
    create_temporary_folder,
    declare_output,
    exchange_folders,
    write_atomically,
    write_together,
)
from ytheta.findings import Finding

MAX_OTHER_FILES = 100  # in a folder of exported files that is replaced as a whole

# The module and the name of every format; modules are imported when they are needed.
FORMATS = {
    "c": "ytheta.exporting.c.render:C",
    "casadi": "ytheta.exporting.casadi:CASADI",
    "urdf": "ytheta.exporting.urdf:URDF",
    "mjcf": "ytheta.exporting.mjcf:MJCF",
    "toml": "ytheta.exporting.toml:TOML",
    "franka-load": "ytheta.exporting.load_settings:FRANKA_LOAD",
    "ur-payload": "ytheta.exporting.load_settings:UR_PAYLOAD",
    "friction-table": "ytheta.exporting.actuator_settings:FRICTION_TABLE",
    "mujoco-actuators": "ytheta.exporting.actuator_settings:MUJOCO_ACTUATORS",
    "isaac-actuators": "ytheta.exporting.actuator_settings:ISAAC_ACTUATORS",
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
    find_format(to)
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
    form = find_format(to)
    options = form.options() if options is None else options
    if not isinstance(options, form.options):
        raise InputError(
            f"options is a value of type {type(options).__name__}; for {to!r}, give {form.options.__name__}(…) or None"
        )
    if source.must_keep and not form.keeps_content:
        raise InputError(f"the format {to!r} keeps nothing of {source.description}; remove the description")
    path = check_path(path, "the export")
    files = form.render(source, path, options)
    check_targets(files, force=force, force_option=force_option)
    leftovers = find_leftovers(source, to=to, path=path, options=options) if force else ()
    written = write_files(files)
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    return written


def find_leftovers(source: ExportSource, *, to: str, path: str | Path, options: Any = None) -> tuple[Path, ...]:
    """Return files that an earlier export wrote under another name in the same folder; ``force`` removes them."""
    form = find_format(to)
    if form.find_leftovers is None:
        return ()
    return form.find_leftovers(source, Path(path), form.options() if options is None else options)


def find_losses(source: ExportSource, *, to: str, path: str | Path) -> tuple[Finding, ...]:
    """Return what a format cannot express of a source, such as laws of friction that it does not have."""
    find = find_format(to).find_losses
    return () if find is None else find(source, Path(path))


def make_options(to: str, settings: Mapping[str, Any]) -> Any:
    """Return the options of a format with these settings, given by name; InputError if it does not have one of them."""
    options_type = find_format(to).options
    names = [field.name for field in fields(options_type)]
    for name in settings:
        if name not in names:
            known = f"its settings are {', '.join(names)}" if names else "it has no settings"
            raise InputError(f"the format {to!r} has no setting {name!r}; {known}")
    return options_type(**settings)


def find_format(name: object) -> Format:
    """Return a format by its name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise UnknownNameError(f"there is no export format {name!r}{suggest_names(name, FORMATS)}")
    module, _, value = FORMATS[name].partition(":")
    form: Format = getattr(import_module(module), value)
    return form


# Writing the files of an export: all of them whole, or none.


def check_targets(paths: Iterable[Path], *, force: bool, force_option: str = "force=True") -> None:
    """Raise InputError if a file cannot be written, or if it exists and ``force`` is false.

    ``force_option`` is how the caller's user spells ``force``.
    """
    for path in paths:
        if path.exists() and not path.is_dir() and not force:
            raise InputError(f"{path} exists; choose another name, or use {force_option} to overwrite it")
        if path.parent.is_dir() or not path.parent.parent.is_dir():
            check_writable(path)
        elif path.parent.exists():
            raise InputError(f"{path.parent} is a file; choose another name for the folder")


def write_files(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write files, and return their paths. Several files in a folder appear all at once, with the folder.

    If a folder exists, a new one with the old and the new files takes its place in one step. On systems that cannot do
    this, and in folders with folders in them, every file is written to a temporary one first, so that a full disk
    changes nothing. If one of them cannot be renamed, those that were renamed before get their old content back.
    """
    done: set[Path] = set()
    for folder in {path.parent for path in files}:
        contents = {path.name: content for path, content in files.items() if path.parent == folder}
        if not folder.exists():
            _write_folder(folder, contents)
            done.add(folder)
        elif len(contents) > 1 and _swap_folder(folder, contents):
            done.add(folder)
    replaced = {path: content for path, content in files.items() if path.parent not in done}
    with ExitStack() as backups:
        if len(replaced) > 1:  # a single file is replaced in one step
            for path in replaced:
                backups.enter_context(_restore_on_failure(path))
        with write_together():
            for path, content in replaced.items():
                with write_atomically(path) as file:
                    file.write_bytes(content)
    return tuple(files)


@contextmanager
def _restore_on_failure(path: Path) -> Iterator[None]:
    """Keep a copy of a file, or its absence, and restore it if anything is raised, an interruption included."""
    target = Path(os.path.realpath(path))  # what is written if the path is a link
    with ExitStack() as stack:
        try:
            before = target.stat() if target.exists() else None
            backup = None if before is None else stack.enter_context(create_temporary(target))
            if backup is not None:
                shutil.copy2(target, backup)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}; check the folder") from None
        try:
            yield
        except BaseException:
            if backup is None:
                target.unlink(missing_ok=True)
            elif before is not None and not (target.exists() and os.path.samestat(before, target.stat())):
                os.replace(backup, target)
            raise


def _write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder under another name, and rename it."""
    try:
        with create_temporary_folder(folder) as temporary:
            temporary.chmod(0o755)
            for name, content in files.items():
                (temporary / name).write_bytes(content)
            temporary.rename(folder)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}; check the folder") from None


def _swap_folder(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Let a new folder, with the other files of the old one, take its place in one step; return whether it did.

    A folder in which somebody works stays, and so does one with folders, links or many other files.
    """
    target = Path(os.path.realpath(folder))
    for name in files:
        declare_output(target / name)
    try:
        entries = list(os.scandir(target))
        others = [entry for entry in entries if entry.name not in files]
        if Path.cwd().is_relative_to(target) or target.is_mount() or len(others) > MAX_OTHER_FILES:
            return False
        if not all(entry.is_file(follow_symlinks=False) for entry in entries):
            return False
        with create_temporary_folder(target) as temporary:
            shutil.copystat(target, temporary)
            for name, content in files.items():
                (temporary / name).write_bytes(content)
                if (target / name).exists():
                    shutil.copymode(target / name, temporary / name)
            for entry in others:
                os.link(entry.path, temporary / entry.name)
            exchange_folders(temporary, target)  # what is removed at the end is the old folder
    except OSError:  # not on this system, or the disk is full: writing the files one by one will tell
        return False
    return True
