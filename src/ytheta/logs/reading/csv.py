"""Text logs: Polars reads the numbers; what it could not read is looked up in the text and told with its line.

A last line that was cut off is dropped and told; blank lines and comments are skipped; a line of the wrong length or a
word among the numbers is an error, because nobody can know what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.reading.csv_dialect import SAMPLE, Dialect, is_comment, number, sniffed
from ytheta.logs.reading.table import Table
from ytheta.logs.reading.text_file import content, first_lines, numbered_lines
from ytheta.shapes import PerSample


@dataclass(frozen=True)
class _Repair:
    """What the text of unread rows says: rows to drop, what to tell, and whether fields are padded with blanks."""

    drop: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    padded: bool = False


def read_csv(path: Path, skip: int = 0) -> Table:
    """The table of a text file; its first ``skip`` lines are left out."""
    lines = first_lines(path, skip + SAMPLE)
    dialect = sniffed(lines, skip)
    if dialect is None:
        raise InputError(f"{path} holds no data; record the motion again or name another file")
    if dialect.columns < 2:
        shown = next(line for line in lines[skip:] if line.strip() and not is_comment(line)).strip()[:60]
        raise InputError(
            f"{path}: its lines are not cut into columns by commas, semicolons, tabs or spaces "
            f"(the first is {shown!r}); export the log with one of these"
        )
    return _table(path, dialect)


def _table(path: Path, dialect: Dialect) -> Table:
    import polars as pl

    places = [str(k) for k in range(dialect.columns)]
    try:
        frame = pl.read_csv(
            content(path, dialect.separator, padded=dialect.padded),
            has_header=False,
            schema=dict.fromkeys(places, pl.Float64),
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
    except pl.exceptions.NoDataError:
        raise InputError(f"{path} holds column names and no data; record the motion again") from None
    except pl.exceptions.PolarsError as error:
        _refuse_long_lines(path, dialect)
        raise InputError(
            f"{path} cannot be read as a text table: {str(error).splitlines()[0]}; export it again"
        ) from None
    # A separator at the end of every line makes an empty last column, which is no reason to look at every line.
    used = [name for name in places if frame[name].null_count() < len(frame)] or places
    unread = np.flatnonzero(frame.select(pl.any_horizontal(pl.col(used).is_null())).to_series().to_numpy())
    repair = _looked_up(path, dialect, {int(row) for row in unread}) if len(unread) else _Repair()
    if repair.padded and not dialect.padded:
        return _table(path, replace(dialect, padded=True))
    keep = np.ones(len(frame), dtype=bool)
    keep[list(repair.drop)] = False
    columns: dict[str, PerSample] = {}
    for place, name in zip(places, dialect.names or places, strict=True):
        values = frame[place].to_numpy()
        columns[name] = np.asarray(values[keep] if repair.drop else values, dtype=np.float64)
    return Table(columns, int(np.count_nonzero(keep)), dialect.names is not None, repair.findings)


def _looked_up(path: Path, dialect: Dialect, unread: set[int]) -> _Repair:
    """What the text says about rows in which Polars left something unread."""
    drop: list[int] = []
    findings: tuple[Finding, ...] = ()
    padded = False
    suspect = None  # a short line is a cut-off one only if nothing follows
    for row, (place, line) in enumerate(_data_lines(path, dialect)):
        if suspect is not None and line.strip():
            raise _ragged(path, *suspect, dialect.columns)
        if row not in unread:
            continue
        found = dialect.fields(line)
        if not line.strip() or is_comment(line):
            drop.append(row)
        elif len(found) < dialect.columns and row > 0:
            suspect = (place, len(found))
            drop.append(row)
        elif len(found) != dialect.columns:
            raise _ragged(path, place, len(found), dialect.columns)
        else:
            _refuse_words(path, place, found, dialect)
            padded = padded or any(text != text.strip() for text in found)
    if suspect is not None:
        findings = (_truncated(*suspect, dialect.columns),)
    return _Repair(tuple(drop), findings, padded)


def _refuse_words(path: Path, place: int, found: list[str], dialect: Dialect) -> None:
    for k, text in enumerate(found):
        if number(text, decimal_comma=dialect.decimal_comma) is None:
            name = dialect.names[k] if dialect.names else str(k)
            raise InputError(
                f"{path}, line {place}: {text.strip()[:40]!r} in the column {name!r} is not a number; "
                "correct the line or remove it"
            )


def _refuse_long_lines(path: Path, dialect: Dialect) -> None:
    for place, line in _data_lines(path, dialect):
        if line.strip() and (found := len(dialect.fields(line))) > dialect.columns:
            raise _ragged(path, place, found, dialect.columns)


def _data_lines(path: Path, dialect: Dialect) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are rows of the table."""
    for place, line in numbered_lines(path):
        if place > dialect.skip and not (dialect.comment and line.startswith(dialect.comment)):
            yield place, line


def _truncated(place: int, found: int, wanted: int) -> Finding:
    text = f"the last line ({place}) is cut off: {found} fields instead of {wanted}; it was dropped"
    return Finding("truncated", Severity.REPAIRED, text)


def _ragged(path: Path, place: int, found: int, wanted: int) -> InputError:
    return InputError(
        f"{path}, line {place}: {found} fields where the other lines have {wanted}; "
        "correct the line, or record the log again"
    )
