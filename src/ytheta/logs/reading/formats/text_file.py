"""The text of a log file: its encoding, its first lines, and its numbered lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

HEAD_BYTES = 1 << 20  # number of bytes at the start of the file from which the first lines are read
MAX_ENCODING_BYTES = 1 << 14  # number of bytes at the start, with all names, from which the encoding is detected
UTF8_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF16_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_first_lines(path: Path, count: int) -> list[str]:
    """Return the first lines, at most ``count``."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return head.decode(_detect_encoding(path), errors="replace").splitlines()[:count]


def iterate_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield all lines with their numbers, counted from 1."""
    with path.open(encoding=_detect_encoding(path), errors="replace") as file:
        yield from enumerate(file, start=1)


def normalize_text(path: Path, separator: str, *, padded: bool) -> Path | bytes:
    """Return input for Polars: the path, or the file's content in UTF-8 without spaces next to separators.

    Lines that end with a carriage return alone get a line feed, since Polars knows no other end of a line. If the
    separator is a space, consecutive spaces and tabs are replaced by one comma. Line breaks are kept, so line numbers
    do not change.
    """
    encoding = _detect_encoding(path)
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES).decode(encoding, errors="replace")
    has_returns = "\r" in head and "\n" not in head
    if encoding == "utf-8" and not padded and not has_returns:
        return path
    text = path.read_bytes().decode(encoding, errors="replace").encode()
    if has_returns:
        text = text.replace(b"\r", b"\n")
    if not padded:
        return text
    text = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", text) if separator != "\t" else text
    if separator == " ":
        return re.sub(rb"[ \t]+", b",", text)
    char = separator.encode()
    return re.sub(rb" *" + re.escape(char) + rb" *", char, text)


def _detect_encoding(path: Path) -> str:
    """Return the encoding: UTF-8 with or without a byte order mark, or UTF-16 with a byte order mark.

    Text that is not valid UTF-8 is taken for that of Windows, where spreadsheets write the degree sign as one byte.
    """
    with path.open("rb") as file:
        start = file.read(MAX_ENCODING_BYTES)
    if start.startswith(UTF16_BYTE_ORDER_MARKS):
        return "utf-16"
    if start.startswith(UTF8_BYTE_ORDER_MARK):
        return "utf-8-sig"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # a character may be cut at the end
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
