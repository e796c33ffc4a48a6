"""How a text file separates its columns, found from its first lines.

Python's own sniffer takes the points and signs of numbers for separators, so the question is put the other way round:
which separator cuts most of the first lines into the same number of fields?
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

COMMENTS = ("#", "%")
SEPARATORS = (";", "\t", ",", " ")  # a semicolon or tab is never part of a number, a comma and a space may be
SAMPLE = 200  # lines that are looked at
MISSING = frozenset({"", "na", "n/a", "null", "none", "-"})

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """Separator, decimal sign, names of the columns (None without a header), and the first line of data."""

    separator: str
    columns: int
    names: tuple[str, ...] | None = None
    skip: int = 0
    decimal_comma: bool = False
    comment: str | None = None
    quoted: bool = False  # a single quote sign in a file that uses none would swallow lines
    padded: bool = False  # blanks stand beside separators, which Polars would take as part of the fields

    def fields(self, line: str) -> list[str]:
        return fields(line, self.separator)


def fields(line: str, separator: str) -> list[str]:
    """One line cut into its fields; any run of blanks counts as one space."""
    if separator == " ":
        line = " ".join(line.split())
    return next(csv.reader([line.strip("\r\n")], delimiter=separator), [])


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(COMMENTS)


def number(text: str, *, decimal_comma: bool = False) -> float | None:
    """A field as a number; None where it is none. Missing values are NaN."""
    text = text.strip().strip('"').strip()
    if text.lower() in MISSING:
        return float("nan")
    try:
        return float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return None


def sniffed(lines: list[str], skip: int = 0) -> Dialect | None:
    """The dialect of a file from its first lines, ``skip`` of them left out; None where no line holds anything."""
    numbered = [(k, line) for k, line in enumerate(lines) if k >= skip and line.strip()]
    content = [(k, line) for k, line in numbered if not is_comment(line)]
    comment = next((line.lstrip()[0] for _, line in numbered if is_comment(line)), None)
    if not content:
        return None
    separator, count = _separator([line for _, line in content])
    first, line = content[0]
    body = [fields(text, separator) for _, text in content[1:]] or [fields(line, separator)]
    decimal_comma = separator in ";\t " and any(_DECIMAL_COMMA.fullmatch(f.strip()) for row in body for f in row)
    names = _names(fields(line, separator), decimal_comma=decimal_comma)
    start = first
    if names is not None:
        start = content[1][0] if len(content) > 1 else first + 1
    if names is None:
        names = _commented_names([text for k, text in numbered if k < first], separator, count)
    quoted = any('"' in text for _, text in content)
    padded = separator == " " or any(f != f.strip() for row in body for f in row)
    return Dialect(separator, len(names) if names else count, names, start, decimal_comma, comment, quoted, padded)


def _separator(lines: list[str]) -> tuple[str, int]:
    """The separator on whose field count most lines agree, and that count."""
    best, agreed, columns = ",", 0, 1
    for separator in SEPARATORS:
        count, lines_with = Counter(len(fields(line, separator)) for line in lines).most_common(1)[0]
        if count > 1 and lines_with > agreed:
            best, agreed, columns = separator, lines_with, count
    return best, columns


def _names(first: list[str], *, decimal_comma: bool) -> tuple[str, ...] | None:
    """The names in a header line; None where the line holds numbers."""
    if all(number(field, decimal_comma=decimal_comma) is not None for field in first):
        return None
    return tuple(field.strip().strip('"').strip() for field in first)


def _commented_names(comments: list[str], separator: str, count: int) -> tuple[str, ...] | None:
    """Names in the last comment before the data, where numpy.savetxt and others put them."""
    if not comments:
        return None
    names = fields(comments[-1].strip().lstrip("".join(COMMENTS)).strip(), separator)
    if len(names) != count or any(number(name) is not None for name in names):
        return None
    return tuple(name.strip() for name in names)
