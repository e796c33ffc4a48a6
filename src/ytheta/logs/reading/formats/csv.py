"""Reading text logs.

Polars parses the numbers. Rows that Polars cannot parse are read again from the text, so that error messages contain
the line number. An incomplete last line is dropped and reported; blank lines and comments are skipped. Any other line
with the wrong number of fields, or with a field that is not a number, is an error, because its meaning is unknown.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import InputError
from ytheta.files.panics import catch_panics
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.cells import TextColumn, Vectors, parse_list, parse_vector, read_repeated_list
from ytheta.logs.reading.column_names import parse_label_name, parse_time_name
from ytheta.logs.reading.formats.csv_dialect import SAMPLED_LINES, Dialect, is_comment, parse_number, sniff_dialect
from ytheta.logs.reading.formats.topic_echo import find_echoed_names, read_topic_echo
from ytheta.logs.reading.joint_columns import spell_joints
from ytheta.logs.reading.table import ColumnTable, TableColumn

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class _UnparsedRows:
    """Classification of the rows that Polars did not parse.

    ``drop``: rows to leave out. ``padded``: whether there are valid numbers with spaces before or after them.
    """

    drop: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    padded: bool = False


def read_csv(path: Path, skip: int = 0, joints: Sequence[str] = (), locked: Sequence[str] = ()) -> ColumnTable:
    """Return the table of a text file without its first ``skip`` lines; ``joints`` are those of the robot.

    ``locked`` are the joints that the robot has locked.
    """
    try:
        return _read_text(path, skip, joints, locked)
    except csv.Error as error:
        raise InputError(f"{path}: a line cannot be split into fields: {error}; export the log again") from None


def _read_text(path: Path, skip: int, joints: Sequence[str], locked: Sequence[str]) -> ColumnTable:
    lines = read_first_lines(path, skip + SAMPLED_LINES)
    echoed = () if skip else find_echoed_names(lines)
    if set(spell_joints(echoed, joints)) & set(joints):
        return read_topic_echo(path, lines, echoed, joints, locked)
    dialect = sniff_dialect(lines, skip)
    if dialect is None:
        raise InputError(f"{path} contains no data; record the motion again, or choose another file")
    if dialect.columns < 2:
        first = next(line for line in lines[skip:] if line.strip() and not is_comment(line)).strip()[:60]
        raise InputError(
            f"{path}: no column separator found (comma, semicolon, tab or space); the first line is {first!r}; "
            "export the log with one of these separators"
        )
    return _read_table(path, _fit_header(path, dialect, lines))


def _fit_header(path: Path, dialect: Dialect, lines: Sequence[str]) -> Dialect:
    """Return the dialect with as many names as the rows have fields; empty ones at the end do not count.

    Raise InputError if the number of names differs, because it is not known which columns they belong to.
    """
    rows = [dialect.split(line) for line in lines[dialect.skip :] if line.strip() and not is_comment(line)]
    if dialect.names is None or len(rows) < 2:
        return dialect
    names, width = list(dialect.names), Counter(map(len, rows)).most_common(1)[0][0]
    while len(names) > width and not names[-1]:
        names.pop()
    used = max(len(row) for row in _strip_empty_ends([row for row in rows if len(row) == width]))
    names += [""] * (width - len(names) if used <= len(names) else 0)
    if len(names) != width:
        raise InputError(
            f"{path}: the header has {len(names)} names, but the rows have {width} fields, so it is not known which "
            "columns the names belong to; correct the header"
        )
    return replace(dialect, names=tuple(names), columns=width)


def _strip_empty_ends(rows: Sequence[list[str]]) -> list[list[str]]:
    """Return rows without empty fields at their end, as separators at the end of lines give them."""
    return [row[: max((k + 1 for k, field in enumerate(row) if field.strip()), default=0)] for row in rows]


def _read_table(path: Path, dialect: Dialect) -> ColumnTable:
    import polars as pl

    numbers = [str(k) for k in range(dialect.columns)]
    try:
        frame = _parse_fields(path, dialect)
    except pl.exceptions.NoDataError:
        raise InputError(f"{path} contains column names but no data; record the motion again") from None
    except InputError:
        _refuse_long_lines(path, dialect)
        raise
    # If every line ends with a separator, the last column is empty; this does not count as a row that was not parsed.
    used = [name for name in numbers if frame[name].null_count() < len(frame)] or numbers
    texts = _find_text_columns(path, dialect, [int(name) for name in numbers if name not in used])
    has_null = frame.select(pl.any_horizontal(pl.col(used).is_null())).to_series().to_numpy()
    rows = {int(row) for row in np.flatnonzero(has_null)}
    unparsed = _classify_unparsed_rows(path, dialect, rows, texts) if rows else _UnparsedRows()
    if unparsed.padded and not dialect.padded:
        return _read_table(path, replace(dialect, padded=True))
    keep = np.ones(len(frame), dtype=bool)
    keep[list(unparsed.drop)] = False
    names = _name_index(dialect.names, texts) if dialect.names else tuple(numbers)
    columns: list[tuple[str, TableColumn]] = []
    labels: dict[str, tuple[str, ...]] = {}
    for k, number in enumerate(numbers):
        values = frame[number].to_numpy()
        load = partial(_load_texts, path, dialect, k, keep)
        entries = parse_list(texts.get(k, ""))
        if entries and isinstance(parse_vector(texts[k]), list):
            columns += Vectors(names[k], str(path), len(entries), partial(_load_vectors, load)).list_columns()
        elif entries and parse_label_name(names[k]) is not None:
            lists = [parse_list(text) if text else None for text in load()]
            labels[names[k]] = read_repeated_list(lists, names[k], str(path))
        elif k in texts:
            columns.append((names[k], TextColumn(load, names[k], str(path))))
        else:
            columns.append((names[k], np.asarray(values[keep] if unparsed.drop else values, dtype=np.float64)))
    return ColumnTable(
        tuple(name for name, _ in columns),
        [column for _, column in columns],
        int(np.count_nonzero(keep)),
        dialect.names is not None,
        (*_report_preamble(dialect), *unparsed.findings),
        kind="text table",
        texts=labels,
    )


def _name_index(names: tuple[str, ...], texts: Collection[int]) -> tuple[str, ...]:
    """Return the names; a first column of texts without a name is the time, as pandas writes an index of dates."""
    is_index = not names[0] and 0 in texts and not any(parse_time_name(name) for name in names)
    return ("time", *names[1:]) if is_index else names


def _parse_fields(path: Path, dialect: Dialect, *, text: int | None = None) -> pl.DataFrame:
    """Return the fields as numbers, null where they are none; the column ``text`` is kept as it is."""
    import polars as pl

    kinds = {str(k): pl.String if k == text else pl.Float64 for k in range(dialect.columns)}
    with _explain_errors(path), catch_panics():
        return pl.read_csv(
            normalize_text(path, dialect.separator, padded=dialect.padded),
            has_header=False,
            schema=kinds,
            separator="," if dialect.separator == " " else dialect.separator,
            decimal_comma=dialect.decimal_comma,
            skip_lines=dialect.skip,
            comment_prefix=dialect.comment,
            quote_char='"' if dialect.quoted else None,
            ignore_errors=True,
            missing_columns="insert",
            glob=False,
            encoding="utf8-lossy",
        )


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn errors of Polars into an InputError, except that of a file without data."""
    import polars as pl

    try:
        yield
    except pl.exceptions.NoDataError:
        raise
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path} cannot be read as a text table: {str(error).splitlines()[0]}; export it again"
        ) from None


def _find_text_columns(path: Path, dialect: Dialect, candidates: Sequence[int]) -> dict[int, str]:
    """Return the texts in the first row of the columns that contain no number, such as a date or a list."""
    if not candidates:
        return {}
    first = next((line for _, line in _iterate_data_lines(path, dialect) if line.strip() and not is_comment(line)), "")
    fields = dialect.split(first)
    return {
        k: fields[k]
        for k in candidates
        if k < len(fields) and parse_number(fields[k], decimal_comma=dialect.decimal_comma) is None
    }


def _load_vectors(load: Callable[[], list[str | None]]) -> list[list[float] | str | None]:
    return [parse_vector(text) for text in load()]


def _load_texts(path: Path, dialect: Dialect, column: int, keep: np.ndarray) -> list[str | None]:
    """Return the texts of a column in the rows that are kept."""
    texts = _parse_fields(path, dialect, text=column)[str(column)]
    return [texts[int(row)] for row in np.flatnonzero(keep)] if not keep.all() else texts.to_list()


def _classify_unparsed_rows(path: Path, dialect: Dialect, rows: set[int], texts: Collection[int]) -> _UnparsedRows:
    """Classify rows by reading their text again; Polars did not parse all fields of these rows.

    The columns ``texts`` contain no numbers in any row.
    """
    drop: list[int] = []
    findings: tuple[Finding, ...] = ()
    padded = False
    short_line = None  # line number and field count of an incomplete line; an error if another line follows
    for row, (number, line) in enumerate(_iterate_data_lines(path, dialect)):
        if short_line is not None and line.strip():
            raise _make_wrong_length_error(path, *short_line, dialect.columns)
        if row not in rows:
            continue
        fields = dialect.split(line)
        if not line.strip() or is_comment(line):
            drop.append(row)
        elif len(fields) < dialect.columns and row > 0:
            short_line = (number, len(fields))
            drop.append(row)
        elif len(fields) != dialect.columns:
            raise _make_wrong_length_error(path, number, len(fields), dialect.columns)
        else:
            _refuse_non_numeric_fields(path, number, fields, dialect, texts)
            padded = padded or any(field != field.strip() for field in fields)
    if short_line is not None:
        findings = (_report_truncated(*short_line, dialect.columns),)
    return _UnparsedRows(tuple(drop), findings, padded)


def _refuse_non_numeric_fields(
    path: Path, number: int, fields: list[str], dialect: Dialect, texts: Collection[int]
) -> None:
    for k, field in enumerate(fields):
        if k not in texts and parse_number(field, decimal_comma=dialect.decimal_comma) is None:
            name = dialect.names[k] if dialect.names else str(k)
            raise InputError(
                f"{path}, line {number}: {field.strip()[:40]!r} in the column {name!r} is not a number; "
                "correct the line or remove it"
            )


def _refuse_long_lines(path: Path, dialect: Dialect) -> None:
    for number, line in _iterate_data_lines(path, dialect):
        if line.strip() and (count := len(dialect.split(line))) > dialect.columns:
            raise _make_wrong_length_error(path, number, count, dialect.columns)


def _iterate_data_lines(path: Path, dialect: Dialect) -> Iterator[tuple[int, str]]:
    """Yield the line number and the text of each row of the table."""
    for number, line in iterate_lines(path):
        if number > dialect.skip and not (dialect.comment and line.startswith(dialect.comment)):
            yield number, line


def _report_preamble(dialect: Dialect) -> list[Finding]:
    if not dialect.preamble:
        return []
    first = "line, which does" if dialect.preamble == 1 else f"{dialect.preamble} lines, which do"
    statement = f"skipped the first {first} not belong to the table"
    remedy = "if the header is another line, write skip = … in a mapping, the number of lines before it"
    fields = {"lines": dialect.preamble}
    return [Finding(LogFindingCode.HEADER, Severity.NOTE, statement, remedy, fields=fields)]


def _report_truncated(number: int, count: int, expected: int) -> Finding:
    return Finding(
        LogFindingCode.TRUNCATED,
        Severity.REPAIRED,
        f"the last line ({number}) is incomplete: {count} fields instead of {expected}",
        remedy="it was dropped",
        fields={"line": number, "fields": count, "expected": expected},
    )


def _make_wrong_length_error(path: Path, number: int, count: int, expected: int) -> InputError:
    return InputError(
        f"{path}, line {number}: {count} fields, but the other lines have {expected}; "
        "correct the line, or record the log again"
    )


# The text of a log file: its encoding, its first lines, and its numbered lines.

# Bytes at the start of the file from which the first lines are read. Chosen on: rule of thumb.
HEAD_BYTES = 1 << 20
# Bytes at the start, with all names, from which the encoding is detected. Chosen on: rule of thumb.
MAX_ENCODING_BYTES = 1 << 14
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
