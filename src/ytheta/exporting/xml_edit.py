"""Edits of XML text that change nothing else: attributes set, children inserted, elements removed.

An element is given by the index of its first byte, ``Node.start``. Comments, order, quotes and white space stay as they
are. The encoding must agree with ASCII in the ASCII characters, as UTF-8 and Latin-1 do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ytheta.errors import InputError, RobotFileError
from ytheta.exporting.source import ExportSource
from ytheta.files.bounded import XACRO_EXTENSION, read_bytes, resolve_reference
from ytheta.files.toml import parse_toml
from ytheta.files.xml_document import Node, parse_xml
from ytheta.findings import Finding, Severity
from ytheta.robot.inertia import Inertia
from ytheta.robot.reading.xacro import expand_xacro

_NAME = re.compile(rb"<([^\s/>]+)")
_ATTRIBUTE = re.compile(rb"(\s+)([^\s=/>]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_TAG_END = re.compile(rb"\s*(/?)>")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00")
_QUOTES = {'"': "&quot;", "'": "&apos;"}


@dataclass(frozen=True)
class Edit:
    """Replaces the bytes from ``start`` to ``end`` by ``text``."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True)
class _Tag:
    """A start tag: where its name and attributes end, where it ends, and whether its element is empty.

    ``attributes`` maps names to the matches of whole attributes, of which group 3 is the value with its quotes.
    """

    name: bytes
    attributes: Mapping[str, re.Match[bytes]]
    attributes_end: int
    end: int
    is_empty: bool


def check_encoding(content: bytes, path: Path) -> None:
    """Raise RobotFileError if a file has an encoding that cannot be edited."""
    if content.startswith(_UTF16_MARKS):
        raise RobotFileError(f"{path.name} is encoded as UTF-16, which cannot be edited; save it as UTF-8")


def apply_edits(content: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the content with all edits applied; insertions at the same place keep their order."""
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position:
            raise ValueError(f"two edits overlap at byte {edit.start}")
        pieces += [content[position : edit.start], edit.text]
        position = edit.end
    return b"".join([*pieces, content[position:]])


def set_attributes(content: bytes, start: int, values: Mapping[str, str | None]) -> list[Edit]:
    """Return edits that set attributes of an element; None removes an attribute. New ones follow the existing ones."""
    tag = _scan_tag(content, start)
    edits, added = [], ""
    for key, value in values.items():
        match = tag.attributes.get(key)
        if match is None:
            added += "" if value is None else f' {key}="{_escape(value, chr(34))}"'
        elif value is None:
            edits.append(Edit(match.start(), match.end(), b""))
        else:
            quote = chr(content[match.start(3)])
            edits.append(Edit(match.start(3), match.end(3), f"{quote}{_escape(value, quote)}{quote}".encode()))
    if added:
        edits.append(Edit(tag.attributes_end, tag.attributes_end, added.encode()))
    return edits


def insert_children(content: bytes, start: int, texts: Iterable[str], *, last: bool = False) -> list[Edit]:
    """Return edits that insert elements before the first or behind the last child, each on a line of its own."""
    tag, lines = _scan_tag(content, start), [text.encode() for text in texts]
    if not lines:
        return []
    newline = b"\r\n" if b"\r\n" in content else b"\n"
    outer = find_indentation(content, start)
    if tag.is_empty:
        inner = b"".join(newline + outer + b"  " + line for line in lines)
        slash = content.rindex(b"/", start, tag.end)
        return [Edit(slash, tag.end, b">" + inner + newline + outer + b"</" + tag.name + b">")]
    space = re.compile(rb"\s*").match(content, tag.end)
    assert space is not None
    separator = space.group() if b"\n" in space.group() and content[space.end() :][:2] != b"</" else newline + outer
    indentation = separator[separator.rindex(b"\n") + 1 :] if b"\n" in space.group() else outer + b"  "
    if not last:
        return [Edit(tag.end, tag.end, b"".join(newline + indentation + line for line in lines))]
    end = find_end_tags(content)[start]
    before = len(content[:end].rstrip(b" \t\r\n"))
    return [Edit(before, before, b"".join(newline + indentation + line for line in lines))]


def remove_element(content: bytes, start: int) -> Edit:
    """Return the edit that removes an element, and the white space before it."""
    tag = _scan_tag(content, start)
    end = tag.end if tag.is_empty else content.index(b">", find_end_tags(content)[start]) + 1
    return Edit(len(content[:start].rstrip(b" \t\r\n")), end, b"")


def replace_element(content: bytes, start: int, text: bytes) -> Edit:
    """Return the edit that replaces an element by a text."""
    tag = _scan_tag(content, start)
    end = tag.end if tag.is_empty else content.index(b">", find_end_tags(content)[start]) + 1
    return Edit(start, end, text)


def find_inner_span(content: bytes, start: int) -> tuple[int, int]:
    """Return where the content of an element begins and ends."""
    tag = _scan_tag(content, start)
    return tag.end, tag.end if tag.is_empty else find_end_tags(content)[start]


def find_end_tags(content: bytes) -> dict[int, int]:
    """Return where the end tag of each element begins, by the start of the element."""
    parser, ends = expat.ParserCreate(), {}
    open_elements: list[int] = []

    def end(_tag: str) -> None:
        ends[open_elements.pop()] = parser.CurrentByteIndex

    parser.StartElementHandler = lambda _tag, _attributes: open_elements.append(parser.CurrentByteIndex)
    parser.EndElementHandler = end
    parser.Parse(content, True)
    return ends


def find_indentation(content: bytes, start: int) -> bytes:
    """Return the white space between the beginning of a line and an element; empty if other text precedes it."""
    before = content[content.rfind(b"\n", 0, start) + 1 : start]
    return b"" if before.strip() else before


def _scan_tag(content: bytes, start: int) -> _Tag:
    name = _NAME.match(content, start)
    assert name is not None
    attributes: dict[str, re.Match[bytes]] = {}
    position = name.end()
    while (match := _ATTRIBUTE.match(content, position)) is not None:
        attributes[match[2].decode("utf-8", "replace")] = match
        position = match.end()
    end = _TAG_END.match(content, position)
    assert end is not None
    return _Tag(name[1], attributes, position, end.end(), end[1] == b"/")


def _escape(value: str, quote: str) -> str:
    return escape(value, {quote: _QUOTES[quote]})


# The file that an export edits: the one that is given, or the one that it extends.


# Files of which each extends the next; a longer chain is refused as a circle. Chosen on: rule of thumb.
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


# Files to which an exported file refers by relative paths, such as meshes.


def find_misplaced_files(references: Iterable[str], source: Path, target: Path) -> tuple[Finding, ...]:
    """Return a finding if relative paths of the source file mean other files in the folder of the target."""
    if source.resolve().parent == target.absolute().parent.resolve():
        return ()
    relative = dict.fromkeys(name for name in references if name and "://" not in name and not Path(name).is_absolute())
    if not relative:
        return ()
    first = next(iter(relative))
    statement = f"{target.name} refers to {len(relative)} files by paths relative to its folder, such as {first!r}"
    remedy = f"write it to the folder of {source.name}, or copy these files"
    return (Finding("relative paths", Severity.WARNING, statement, remedy, fields={"files": list(relative)}),)


# Numbers and names in XML: all digits of numbers, and only characters that XML allows.


_INVALID_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_number(value: float) -> str:
    """Return a number with all its digits; integers without a decimal point, and zero without a sign."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def format_numbers(values: Iterable[float]) -> str:
    """Return numbers separated by spaces."""
    return " ".join(map(format_number, values))


def list_moments(inertia: Inertia) -> dict[str, float]:
    """Return the entries of the inertia tensor about the centre of mass by name, such as ``ixy``."""
    tensor = inertia.tensor_about_center
    return {f"i{'xyz'[i]}{'xyz'[j]}": tensor[i][j] for i in range(3) for j in range(i, 3)}


def quote_name(name: str) -> str:
    """Return a name in quotes, with escapes; InputError if it contains a character that XML does not allow."""
    if (invalid := _INVALID_CHARACTER.search(name)) is not None:
        raise InputError(f"the name {name!r} contains {invalid[0]!r}, which XML does not allow; rename it")
    return quoteattr(name)


def format_comment(text: str) -> str:
    """Return a comment; it must not contain two hyphens in a row."""
    return f"<!-- {_INVALID_CHARACTER.sub('?', text).replace('--', '- -').rstrip('-')} -->"
