"""ColumnTable: the columns of a log in the order of the file, before their meaning is known.

A column is an array, or an object that reads a slice of rows on demand. Columns are known by their position, since
several may have the same name, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ytheta.findings import Finding
from ytheta.shapes import PerSample


@runtime_checkable
class TableColumn(Protocol):
    """An array, or an object that reads slices of rows from a file."""

    def __getitem__(self, rows: slice, /) -> PerSample: ...


@runtime_checkable
class DatedColumn(Protocol):
    """A column that contains no numbers, but may contain dates; as time, it is in seconds since the first date."""

    def read_seconds(self, rows: slice) -> PerSample: ...


@runtime_checkable
class LabelColumn(Protocol):
    """A column that may contain texts, such as the name of a joint."""

    def list_labels(self) -> list[str]:
        """Return the first two different texts of the column, fewer if there are fewer."""
        ...

    def load_texts(self) -> Sequence[str | None]:
        """Return the texts of all rows."""
        ...


def read_time_column(column: TableColumn, rows: slice) -> PerSample:
    """Return rows of a column of time: numbers of any unit, or dates in seconds."""
    return column.read_seconds(rows) if isinstance(column, DatedColumn) else column[rows]


# Largest number of columns of one array, and of a file. Chosen on: reasoning; no log has so many.
MAX_COLUMNS, MAX_FILE_COLUMNS = 10_000, 100_000


@dataclass(frozen=True, eq=False)
class FileColumns:
    """The columns of a file as they are found, their numbers of rows, and what the other entries of the file are."""

    others: dict[str, str] = field(default_factory=dict)
    max_count: int = MAX_FILE_COLUMNS
    named: list[tuple[str, TableColumn]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def add(self, name: str, column: TableColumn, rows: int) -> None:
        self.named.append((name, column))
        self.rows.append(rows)

    def add_matrix(self, name: str, count: int, make: Callable[[int], TableColumn], rows: int) -> None:
        """Add the columns of a matrix, called name1, name2, …; if they are too many, the matrix is no part of a log."""
        if count > min(MAX_COLUMNS, self.max_count - len(self.named)):
            self.others[name] = f"an array with {count:,} columns"
            return
        for k in range(count):
            self.add(f"{name}{k + 1}", make(k), rows)


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Columns of equal length and their names; if the file has no header, they are called 0, 1, 2, …

    ``others`` contains the entries of a dict that are not columns, and what they are instead, such as "a text".
    ``kind`` is the format; ``topic``, ``message_type`` and ``ignored_joints`` are as in LogOrigin. ``starts`` are the
    first rows of recordings within one file, which become segments. ``contents`` lists what the file contains, if that
    is more than its columns. ``has_groups`` is true if an option can choose the group or struct that contains the log.
    ``time_parts`` are the columns of seconds and of nanoseconds from which a column of time was made.
    ``stored_size`` is the size of the file in bytes, if it is known.
    ``texts`` contains the lists of texts that may be the names of the joints. ``spellings`` are the names in the file
    of joints that have other names in the robot.
    """

    names: tuple[str, ...]
    columns: Sequence[TableColumn]
    rows: int
    has_header: bool = True
    findings: tuple[Finding, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    kind: str = "table"
    topic: str = ""
    message_type: str = ""
    ignored_joints: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    contents: str = ""
    has_groups: bool = False
    time_parts: frozenset[int] = frozenset()
    stored_size: int | None = None
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spellings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, TableColumn], rows: int, *, kind: str) -> ColumnTable:
        """Create the table of columns that all have different names."""
        return cls(tuple(columns), tuple(columns.values()), rows, kind=kind)
