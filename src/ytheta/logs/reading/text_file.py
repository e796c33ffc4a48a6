"""The text of a log file: its encoding, its first lines, and its lines by number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

HEAD = 1 << 20  # bytes in which the first lines are looked for
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def first_lines(path: Path, count: int) -> list[str]:
    """Up to ``count`` lines from the beginning."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    return head.decode(_encoding(path), errors="replace").splitlines()[:count]


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """All lines with their numbers, counted from 1."""
    with path.open(encoding=_encoding(path), errors="replace") as file:
        yield from enumerate(file, start=1)


def content(path: Path, separator: str, *, padded: bool) -> Path | bytes:
    """What Polars can read: the file itself, or its content in UTF-8 with blanks beside separators removed.

    Runs of blanks as separators become commas. Line breaks stay where they are, so that line numbers do.
    """
    encoding = _encoding(path)
    if encoding == "utf-8" and not padded:
        return path
    text = path.read_bytes().decode(encoding, errors="replace").encode()
    if not padded:
        return text
    text = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", text) if separator != "\t" else text
    if separator == " ":
        return re.sub(rb"[ \t]+", b",", text)
    sign = separator.encode()
    return re.sub(rb" *" + re.escape(sign) + rb" *", sign, text)


def _encoding(path: Path) -> str:
    """UTF-8 with or without mark, or UTF-16 with one; a byte that is neither is a stray sign in a name."""
    with path.open("rb") as file:
        mark = file.read(3)
    if mark.startswith(UTF16_MARKS):
        return "utf-16"
    return "utf-8-sig" if mark == UTF8_MARK else "utf-8"
