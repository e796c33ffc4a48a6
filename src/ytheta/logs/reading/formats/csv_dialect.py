"""The dialect of a text file (separator, decimal separator, header, comments), detected from its first lines.

Python's ``csv.Sniffer`` mistakes decimal points and minus signs for separators. This module chooses the separator that
splits the largest number of lines into the same number of fields.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

COMMENT_PREFIXES = ("#", "%")
SEPARATORS = (";", "\t", ",", " ")  # separators that are never part of a number come first
SAMPLED_LINES = 200
MISSING_VALUES = frozenset({"", "na", "n/a", "null", "none", "-"})

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """How to parse a text file. ``names`` is None without a header; ``skip`` is the number of lines before the data."""

    separator: str
    columns: int
    names: tuple[str, ...] | None = None
    skip: int = 0
    decimal_comma: bool = False
    comment: str | None = None
    quoted: bool = False  # fields are in quotes; otherwise quotes are ignored, since a stray quote would join lines
    padded: bool = False  # there are spaces next to separators; Polars would treat the spaces as part of the fields

    def split(self, line: str) -> list[str]:
        return split_fields(line, self.separator)


def split_fields(line: str, separator: str) -> list[str]:
    """Split a line into its fields; if the separator is a space, consecutive whitespace counts as one separator."""
    if separator == " ":
        line = " ".join(line.split())
    return next(csv.reader([line.strip("\r\n")], delimiter=separator), [])


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(COMMENT_PREFIXES)


def parse_number(text: str, *, decimal_comma: bool = False) -> float | None:
    """Return the number in a field; NaN if the field marks a missing value, None if it is not a number."""
    text = text.strip().strip('"').strip()
    if text.lower() in MISSING_VALUES:
        return float("nan")
    try:
        return float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return None


def sniff_dialect(lines: list[str], skip: int = 0) -> Dialect | None:
    """Return the dialect of a file, detected from ``lines`` without the first ``skip``; None if there is no data."""
    numbered = [(k, line) for k, line in enumerate(lines) if k >= skip and line.strip()]
    content = [(k, line) for k, line in numbered if not is_comment(line)]
    comment = next((line.lstrip()[0] for _, line in numbered if is_comment(line)), None)
    if not content:
        return None
    separator, count = _choose_separator([line for _, line in content])
    first, line = content[0]
    body = [split_fields(text, separator) for _, text in content[1:]] or [split_fields(line, separator)]
    decimal_comma = separator in ";\t " and any(_DECIMAL_COMMA.fullmatch(f.strip()) for row in body for f in row)
    names = _parse_header(split_fields(line, separator), decimal_comma=decimal_comma)
    start = first
    if names is not None:
        start = content[1][0] if len(content) > 1 else first + 1
    if names is None:
        names = _parse_commented_header([text for k, text in numbered if k < first], separator, count)
    quoted = any('"' in text for _, text in content)
    padded = separator == " " or any(f != f.strip() for row in body for f in row)
    return Dialect(separator, len(names) if names else count, names, start, decimal_comma, comment, quoted, padded)


def _choose_separator(lines: list[str]) -> tuple[str, int]:
    """Return the separator for which most lines have the same number of fields, and this number of fields."""
    best, most_lines, columns = ",", 0, 1
    for separator in SEPARATORS:
        count, lines_with = Counter(len(split_fields(line, separator)) for line in lines).most_common(1)[0]
        if count > 1 and lines_with > most_lines:
            best, most_lines, columns = separator, lines_with, count
    return best, columns


def _parse_header(fields: list[str], *, decimal_comma: bool) -> tuple[str, ...] | None:
    """Return the names in a header line; None if all fields are numbers."""
    if all(parse_number(field, decimal_comma=decimal_comma) is not None for field in fields):
        return None
    return tuple(field.strip().strip('"').strip() for field in fields)


def _parse_commented_header(comments: list[str], separator: str, count: int) -> tuple[str, ...] | None:
    """Return the names in the last comment before the data, where numpy.savetxt writes them; None if there are none."""
    if not comments:
        return None
    names = split_fields(comments[-1].strip().lstrip("".join(COMMENT_PREFIXES)).strip(), separator)
    if len(names) != count or any(parse_number(name) is not None for name in names):
        return None
    return tuple(name.strip() for name in names)
