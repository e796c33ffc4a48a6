"""The dialect of a text file (separator, decimal separator, header, comments), detected from its first lines.

Python's ``csv.Sniffer`` mistakes decimal points and minus signs for separators. This module chooses the separator that
splits the largest number of lines into the same number of fields.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass

from ytheta.logs.reading.column_names import BRACKETED_UNITS

COMMENT_PREFIXES = ("#", "%")
SEPARATORS = (";", "\t", ",", " ")  # separators that are never part of a number come first
# Lines from which the dialect is detected. Chosen on: rule of thumb.
SAMPLED_LINES = 200
# Largest number of lines of names, one for each level. Chosen on: rule of thumb.
MAX_HEADER_ROWS = 4
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
    content = content[preamble:]
    first, line = content[0]
    top = [split_fields(text, separator) for _, text in content[: MAX_HEADER_ROWS + 2]]
    body = [split_fields(text, separator) for _, text in content[1:]] or [split_fields(line, separator)]
    decimal_comma = separator in ";\t " and any(_DECIMAL_COMMA.fullmatch(f.strip()) for row in body for f in row)
    names = _parse_commented_header([text for k, text in numbered if k < first], separator, count)
    if names is not None and not _count_numbers(top[0]):  # the table has a header of its own below the comment
        names = None
    height = 0  # lines of the header
    if names is None and (names := _parse_header(top[0], decimal_comma=decimal_comma)) is not None:
        height = _count_header_rows(top)
        if (units := _parse_unit_row([top[0], top[max(1, height - 1)]] if len(top) > 1 else [])) is not None:
            height = max(2, height)
            names = _join_header_rows(top[: height - 1])
            names = tuple(f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True))
        elif height > 1:
            names = _join_header_rows(top[:height])
    start = content[height][0] if len(content) > height else content[-1][0] + 1
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


def _count_header_rows(rows: list[list[str]]) -> int:
    """Return the number of lines of the header, which have texts, no numbers, and as many fields as the first.

    There is only one if all its names are there and differ from each other.
    """
    if len({field.strip() for field in rows[0] if field.strip()}) == len(rows[0]):
        return 1
    for k, row in enumerate(rows[: MAX_HEADER_ROWS + 1]):
        fields = [field.strip().strip('"').strip() for field in row]
        is_text = any(fields) and all(not field or parse_number(field, decimal_comma=True) is None for field in fields)
        if k and (len(row) != len(rows[0]) or not is_text):
            return k
    return 1


def _join_header_rows(rows: list[list[str]]) -> tuple[str, ...]:
    """Return names of several levels, such as position/elbow, from the lines of a header.

    An empty field above a text belongs to the field on its left, since spreadsheets merge such cells. If only the first
    fields of the last line are filled, they are the names of an index, as pandas writes them.
    """
    levels = [[field.strip().strip('"').strip() for field in row] for row in rows]
    for upper in levels[:-1]:
        for k in range(1, len(upper)):
            if not upper[k] and levels[-1][k]:
                upper[k] = upper[k - 1]
    index = next((k for k, field in enumerate(levels[-1]) if not field), len(levels[-1]))
    is_index = len(levels) > 1 and index < len(levels[-1]) and not any(levels[-1][index:])
    return tuple(
        levels[-1][k] if is_index and k < index else "/".join(level[k] for level in levels if level[k])
        for k in range(len(levels[0]))
    )


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
