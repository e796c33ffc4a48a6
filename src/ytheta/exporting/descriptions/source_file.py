"""The file that an export edits: the one that is given, or the one that it extends."""

from __future__ import annotations

from pathlib import Path

from ytheta.errors import InputError
from ytheta.exporting.source import ExportSource
from ytheta.files.bounded import read_bytes, resolve_reference
from ytheta.files.toml_document import parse_toml
from ytheta.files.xml_document import Node, parse_xml
from ytheta.findings import Finding, Severity
from ytheta.robot.reading.read_file import XACRO_EXTENSION
from ytheta.robot.reading.xacro.expand import expand_xacro

MAX_EXTENDED_FILES = 16


def find_xml(source: ExportSource, root_tag: str) -> tuple[Path, bytes, Node] | None:
    """Return the path, content and root element of the source file; None if it is not a file with this root element.

    A xacro file is a template, which cannot be edited: the content is that of its expansion.
    """
    found = _find_xml(source, root_tag)
    if found is None and source.must_keep:
        raise InputError(
            f"{source.description} is not a file that starts with <{root_tag}>; give a description in the format of "
            "the export, or none"
        )
    return found


def check_extension(path: Path, to: str, *extensions: str) -> None:
    """Raise InputError if a file to write does not have one of the extensions of its format."""
    if path.suffix.lower() not in extensions and not path.is_dir():  # a folder is refused when it is written
        raise InputError(f"{path}: files in {to} need the extension {' or '.join(extensions)}; change the name")


def find_missing_source(source: ExportSource, to: str) -> tuple[Finding, ...]:
    """Return a note about the new file if an identified model is exported without its source file."""
    if source.table is None:
        return ()
    statement = f"no {to} file is known from which {source.robot.name!r} was identified, so a new one without meshes"
    remedy = "to keep the content of a file, give it with --description"
    return (Finding("new file", Severity.NOTE, f"{statement} is written", remedy),)


def _find_xml(source: ExportSource, root_tag: str) -> tuple[Path, bytes, Node] | None:
    path = source.description
    for _ in range(MAX_EXTENDED_FILES):
        if path is None or path.suffix.lower() != ".toml":
            break
        path = _find_extended(path)
    if path is None or path.suffix.lower() == ".toml":
        return None
    if path.suffix.lower() == XACRO_EXTENSION:
        content = expand_xacro(path, source.xacro_args, source.package_paths)
    else:
        content = read_bytes(path)
    root = parse_xml(content, path)
    return (path, content, root) if root.tag == root_tag else None


def _find_extended(path: Path) -> Path | None:
    """Return the file that a TOML file extends, if there is one in its folder."""
    reference = parse_toml(read_bytes(path), str(path)).get("extends")
    if not isinstance(reference, str):
        return None
    extended = resolve_reference(reference, path, f"{path.name}, extends")
    return extended if extended is not None and extended.is_file() else None
