"""The text of a log file: its encoding, its first lines, and its lines by number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

HEAD_BYTES = 1 << 20  # from which the first lines are taken
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_first_lines(path: Path, count: int) -> list[str]:
    """Return up to ``count`` lines from the beginning."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return head.decode(_detect_encoding(path), errors="replace").splitlines()[:count]


def iterate_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield all lines with their numbers, counted from 1."""
    with path.open(encoding=_detect_encoding(path), errors="replace") as file:
        yield from enumerate(file, start=1)


def normalize_text(path: Path, separator: str, *, padded: bool) -> Path | bytes:
    """Return text that Polars can read: the file itself, or its content in UTF-8 without blanks beside separators.

    If blanks are the separator, runs of them become commas. Line breaks stay, so that line numbers do too.
    """
    encoding = _detect_encoding(path)
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


def _detect_encoding(path: Path) -> str:
    """UTF-8 with or without a byte order mark, or UTF-16 with one. Bytes that do not fit are replaced when decoded."""
    with path.open("rb") as file:
        mark = file.read(3)
    if mark.startswith(UTF16_MARKS):
        return "utf-16"
    return "utf-8-sig" if mark == UTF8_MARK else "utf-8"
