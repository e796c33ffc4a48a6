"""The dialect of a text file (separator, decimal separator, header, comments), detected from its first lines.

Python's ``csv.Sniffer`` mistakes decimal points and minus signs for separators. This module chooses the separator that
splits the largest number of lines into the same number of fields.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

from ytheta.logs.reading.columns.column_names import BRACKETED_UNITS

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
    preamble: int = 0  # number of lines before the header that do not belong to the table

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
    preamble = _find_preamble([split_fields(line, separator) for _, line in content], count)
    units = _parse_unit_row([split_fields(line, separator) for _, line in content[preamble : preamble + 2]])
    content = content[preamble:]
    first, line = content[0]
    body = [split_fields(text, separator) for _, text in content[1:]] or [split_fields(line, separator)]
    decimal_comma = separator in ";\t " and any(_DECIMAL_COMMA.fullmatch(f.strip()) for row in body for f in row)
    names = _parse_header(split_fields(line, separator), decimal_comma=decimal_comma)
    start = first
    if names is not None and units is not None:
        names = tuple(f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True))
        del content[1]
    if names is not None:
        start = content[1][0] if len(content) > 1 else content[0][0] + 1 + (units is not None)
    if names is None:
        names = _parse_commented_header([text for k, text in numbered if k < first], separator, count)
    quoted = any('"' in text for _, text in content)
    padded = separator == " " or any(f != f.strip() for row in body for f in row)
    columns = len(names) if names else count
    skipped = first - skip if preamble else 0
    return Dialect(separator, columns, names, start, decimal_comma, comment, quoted, padded, skipped)


def _find_preamble(rows: list[list[str]], count: int) -> int:
    """Return the number of lines before the header that describe the recording; 0 unless there clearly are some.

    These lines have another number of fields than the table, the first row of which is the first line with as many
    fields as most lines, more than half of them numbers. The line before it, or the one before the units, is the header
    and consists of texts only.
    """
    if len(rows[0]) == count or count < 2:
        return 0
    data = next((k for k, row in enumerate(rows) if len(row) == count and _count_numbers(row) > count / 2), 0)
    header = data - 1
    while header > 0 and len(rows[header - 1]) == count:
        header -= 1
    is_header = header > 0 and len(rows[header]) == count and not _count_numbers(rows[header])
    has_units = data - header == 2 and _parse_unit_row(rows[header:data]) is not None
    return header if is_header and (data - header == 1 or has_units) else 0


def _count_numbers(fields: list[str]) -> int:
    """Return how many fields are numbers, with a decimal point or a decimal comma; missing values are none."""
    numbers = (parse_number(field, decimal_comma=True) for field in fields)
    return sum(number is not None and number == number for number in numbers)  # NaN is a missing value


def _parse_unit_row(rows: list[list[str]]) -> tuple[str, ...] | None:
    """Return the units in the second of two lines, if it consists of units only; None if it does not."""
    if len(rows) < 2 or len(rows[0]) != len(rows[1]):
        return None
    units = tuple(field.strip().strip('"').strip().strip("[]()").strip() for field in rows[1])
    is_known = all(not unit or unit.casefold() in BRACKETED_UNITS for unit in units)
    return units if is_known and any(units) else None


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
