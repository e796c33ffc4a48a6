"""Reading Parquet logs, after a check of the sizes that they declare.

Rows are read on demand, so that reading needs only about 1 MB in addition to the log.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import ProcessEndedError, ProcessLimits, run_limited
from ytheta.errors import InputError
from ytheta.files.panics import catch_panics
from ytheta.logs.reading.cells import MAX_WIDTH, TextColumn, VectorColumn, Vectors, read_repeated_list
from ytheta.logs.reading.column_names import parse_label_name, parse_time_name
from ytheta.logs.reading.formats.expansion import ENCODED, DamagedError
from ytheta.logs.reading.table import ColumnTable, FileColumns, TableColumn
from ytheta.shapes import PerSample

if TYPE_CHECKING:
    import polars as pl

UNNAMED_INDEX = "__index_level_0__"  # as pandas calls it
# Memory in bytes and times in s of the process that reads a schema. Chosen on: Polars, which reserves some GB of
# addresses.
PROBE_LIMITS = ProcessLimits(memory=2**33, seconds=30.0, processor_seconds=30.0)


@dataclass(frozen=True)
class ParquetColumn:
    """One column of a Parquet file; slices of its rows are read on demand. Other content than numbers is refused."""

    path: Path
    name: str
    kind: pl.DataType
    sizes: DeclaredSizes

    def __getitem__(self, rows: slice, /) -> PerSample:
        import polars as pl

        if not (self.kind.is_numeric() or self.kind == pl.Boolean):
            raise InputError(
                f"{self.path}: the column {self.name!r} contains {self.kind}, not numbers; store plain floating-point "
                "columns"
            )
        self.sizes.check_column(self.name)
        with explain_errors(self.path):
            lazy = scan_file(self.path).select(pl.col(self.name).cast(pl.Float64))
            return lazy.slice(rows.start, rows.stop - rows.start).collect()[self.name].to_numpy()


@dataclass(frozen=True)
class ParquetDates:
    """One column of dates or durations of a Parquet file; it can only be the time."""

    path: Path
    name: str
    kind: pl.DataType
    sizes: DeclaredSizes

    def __getitem__(self, rows: slice, /) -> PerSample:
        raise InputError(
            f"{self.path}: the column {self.name!r} contains {self.kind}, not numbers; store plain floating-point "
            "columns"
        )

    def read_seconds(self, rows: slice) -> PerSample:
        """Return durations in seconds, or dates in seconds since the first one; those that are missing are NaN."""
        import polars as pl

        self.sizes.check_column(self.name)
        times = pl.col(self.name)
        since = times - times.drop_nulls().first() if self.kind.base_type() is pl.Datetime else times
        per_second = {"ns": 1e9, "us": 1e6, "ms": 1e3}[getattr(self.kind, "time_unit", "us")]
        with explain_errors(self.path):
            lazy = scan_file(self.path).select(since.cast(pl.Int64).cast(pl.Float64) / per_second)
            return lazy.slice(rows.start, rows.stop - rows.start).collect()[self.name].to_numpy()


def read_parquet(path: Path) -> ColumnTable:
    """Return the table of a Parquet file; only the file's footer is read here."""
    import polars as pl

    sizes = DeclaredSizes(path)
    schema, rows = read_schema(path, sizes)
    columns = FileColumns()
    texts: dict[str, tuple[str, ...]] = {}
    for name, kind in schema.items():
        inner = getattr(kind, "inner", None)
        width = sizes.find_width(name) if inner is not None and rows else 0
        if inner is not None and inner.is_numeric() and 0 < width <= MAX_WIDTH:
            load = partial(_load_lists, path, name, sizes, width)
            columns.add_matrix(name, width, partial(VectorColumn, Vectors(name, str(path), width, load)), rows)
        elif inner is not None and inner == pl.String and parse_label_name(name) is not None and width <= MAX_WIDTH:
            lists = _load_lists(path, name, sizes, width)
            texts[name] = read_repeated_list(lists, name, str(path))
        else:
            columns.add(_name_index(name, kind, schema), _make_column(path, name, kind, sizes), rows)
    names = tuple(name for name, _ in columns.named)
    return ColumnTable(
        names, [column for _, column in columns.named], rows, kind="Parquet", texts=texts, others=columns.others
    )


def _name_index(name: str, kind: pl.DataType, schema: Iterable[str]) -> str:
    """Return the name of a column; an index of pandas without a name is the time if it consists of dates."""
    import polars as pl

    is_time = name == UNNAMED_INDEX and kind.base_type() in (pl.Datetime, pl.Duration)
    return "time" if is_time and not any(parse_time_name(each) for each in schema) else name


def _load_lists(path: Path, name: str, sizes: DeclaredSizes, width: int) -> Sequence[Any]:
    import polars as pl

    sizes.check_column(name, width=width)
    with explain_errors(path):
        return scan_file(path).select(pl.col(name)).collect()[name].to_list()


def _make_column(path: Path, name: str, kind: pl.DataType, sizes: DeclaredSizes) -> TableColumn:
    import polars as pl

    if kind.base_type() in (pl.Datetime, pl.Duration):
        return ParquetDates(path, name, kind, sizes)
    if kind == pl.String:
        return TextColumn(partial(_load_texts, path, name, sizes), name, str(path))
    return ParquetColumn(path, name, kind, sizes)


def _load_texts(path: Path, name: str, sizes: DeclaredSizes) -> list[str | None]:
    import polars as pl

    sizes.check_column(name)
    with explain_errors(path):
        return scan_file(path).select(pl.col(name)).collect()[name].to_list()


def read_schema(path: Path, sizes: DeclaredSizes) -> tuple[Mapping[str, pl.DataType], int]:
    """Return the types of the columns and the number of rows; only the file's footer is read."""
    import polars as pl

    if sizes.check_footer():
        _probe_schema(path)
    with explain_errors(path):
        schema = scan_file(path).collect_schema()
        rows = int(scan_file(path).select(pl.len()).collect().item())
    if not ENCODED.allows(8 * rows, path.stat().st_size):
        raise InputError(
            f"{path} declares {rows:,} rows in {path.stat().st_size:,} bytes, so it is no record of a motion; check "
            "the file"
        )
    return schema, rows


def _probe_schema(path: Path) -> None:
    """Let Polars read the schema in a child process; InputError if this ends the process."""
    try:
        run_limited(__name__, "collect_schema", str(path), PROBE_LIMITS)
    except ProcessEndedError as error:
        raise InputError(
            f"{path} cannot be read as Parquet: {error}; write it again, or check that it was copied completely"
        ) from None


def collect_schema(path: str) -> Reply:
    """Read a schema in a child process; errors that can be caught are left to the parent, which reads it again."""
    with suppress(InputError), explain_errors(Path(path)):
        scan_file(Path(path)).collect_schema()
    return Reply()


def scan_file(path: Path) -> pl.LazyFrame:
    """Scan one file, without wildcards in its name and without columns from folder names."""
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn the errors that damaged files cause into one InputError."""
    import polars as pl

    try:
        with catch_panics():
            yield
    except (pl.exceptions.PolarsError, OSError, MemoryError) as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise InputError(
            f"{path} cannot be read as Parquet: {reason}; write it again, or check that it was copied completely"
        ) from None


# Sizes that a Parquet file declares, compared with the file before Polars believes them.
#
# Polars allocates what a page declares: a damaged number of 10¹⁸ values ends the process, without an exception that
# could be caught, and so do columns in columns in columns, because Polars reads them by recursion. Here the footer and
# the header of every page of a column are read, and refused if the numbers in them do not fit together. Values are not
# read.
#
# Reference     Apache Parquet format 2.11, parquet.thrift; Apache Thrift compact protocol
# Notation      a structure is a dict from the number of a field to its value; numbers below are those of parquet.thrift

MAGIC = b"PAR1"
FOOTER_TAIL = 8  # bytes: length of the footer, and the magic. Fixed by: the format.
# Depth of structures in structures. Chosen on: reasoning; the structures of the format are less deep.
MAX_DEPTH = 16
# Depth of columns in columns. Chosen on: reasoning; no log is so deep, and Polars reads columns by recursion.
MAX_COLUMN_DEPTH = 64
# Bytes of the schema of Arrow, whose depth is not known, up to which it is read without a probe. Chosen on: reasoning;
# they suffice for some hundred columns in columns.
MAX_UNPROBED_SIZE = 2**14
# Largest number of entries of lists in the footer. Chosen on: rule of thumb.
MAX_ENTRIES = 10_000_000
MAX_PAGE_SIZE = 2**31 - 1  # bytes; stored in 32 bits. Fixed by: the format.

# Numbers of fields; the last is that of each kind of page. Fixed by: parquet.thrift.
FILE_SCHEMA, FILE_GROUPS, FILE_NOTES = 2, 4, 5
ELEMENT_CHILDREN = 5
NOTE_NAME, NOTE_VALUE = 1, 2
GROUP_COLUMNS, GROUP_ROWS = 1, 3
CHUNK_METADATA = 3
COLUMN_PATH, COLUMN_VALUES, COLUMN_SIZE, COLUMN_PAGES, COLUMN_DICTIONARY = 3, 5, 7, 9, 11
PAGE_SIZE, PAGE_SIZE_IN_FILE, PAGE_DATA, PAGE_DICTIONARY, PAGE_DATA_2 = 2, 3, 5, 7, 8
PAGE_VALUES = 1

# Types of the compact protocol. Fixed by: Apache Thrift.
STOP, TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, MAP, STRUCTURE = 0, 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 11, 12

Structure = dict[int, Any]


@dataclass(frozen=True, eq=False)
class DeclaredSizes:
    """The sizes that a file declares; columns are checked when they are needed, and once each."""

    path: Path
    _checked: set[str] = field(default_factory=set)

    def check_column(self, name: str, *, width: int | None = None) -> None:
        """Raise InputError if the pages of a column contradict the file; ``width`` is the length of lists in it."""
        if name in self._checked:
            return
        with self._open() as content:
            found = [_check_group(content, group, name, width) for group in self._groups]
            if not all(found):
                raise DamagedError(f"a group of rows lacks the column {name!r}")
        self._checked.add(name)

    def find_width(self, name: str) -> int:
        """Return the declared number of values of a column of lists per row; 0 if lists have different lengths."""
        with self._open():
            rows = sum(group[GROUP_ROWS] for group in self._groups)
            columns = [chunk[CHUNK_METADATA] for group in self._groups for chunk in group[GROUP_COLUMNS]]
            values = sum(
                column[COLUMN_VALUES]
                for column in columns
                if column[COLUMN_PATH][0] == name.encode() and len(column[COLUMN_PATH]) > 1
            )
        return values // rows if rows > 0 and values % rows == 0 else 0

    def check_footer(self) -> bool:
        """Raise InputError if the footer cannot be read; return whether Polars may fail to read it all the same."""
        with self._open():
            _check_depth(self._footer[FILE_SCHEMA])
            notes = self._footer.get(FILE_NOTES, [])
            arrow = [note.get(NOTE_VALUE, b"") for note in notes if note[NOTE_NAME] == b"ARROW:schema"]
            return sum(map(len, arrow)) > MAX_UNPROBED_SIZE

    @cached_property
    def _footer(self) -> Structure:
        with self._open() as content:
            return _read_footer(content)

    @property
    def _groups(self) -> list[Structure]:
        return list(self._footer[FILE_GROUPS])

    @contextmanager
    def _open(self) -> Iterator[mmap.mmap]:
        try:
            with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                yield content
        except (IndexError, KeyError, TypeError, AttributeError, DamagedError) as error:
            reason = str(error) if isinstance(error, DamagedError) else "its structure is incomplete"
            raise InputError(
                f"{self.path} is damaged: {reason}; write it again, or check that it was copied completely"
            ) from None


def _read_footer(content: mmap.mmap) -> Structure:
    end = len(content) - FOOTER_TAIL
    if end < len(MAGIC) or content[-len(MAGIC) :] != MAGIC:
        raise DamagedError("it does not end as a Parquet file")
    start = end - int.from_bytes(content[end : end + 4], "little")
    if start < len(MAGIC):
        raise DamagedError("its footer is longer than the file")
    return _Decoder(content, start, end).read_structure()


def _check_depth(elements: list[Structure]) -> None:
    """The schema is a list: after a column come the columns in it, whose number it declares."""
    waiting: list[int] = []  # columns that are still to come, at each level
    for element in elements:
        if waiting:
            waiting[-1] -= 1
        if children := element.get(ELEMENT_CHILDREN, 0):
            waiting.append(children)
        while waiting and waiting[-1] <= 0:
            waiting.pop()
        if len(waiting) > MAX_COLUMN_DEPTH:
            raise DamagedError("its columns are nested too deeply")


def _check_group(content: mmap.mmap, group: Structure, name: str, width: int | None) -> bool:
    """Check the pages of one column in one group of rows; return whether the group has the column."""
    for chunk in group[GROUP_COLUMNS]:
        column = chunk[CHUNK_METADATA]
        path = column[COLUMN_PATH]
        if path[0] != name.encode() or (len(path) > 1) != (width is not None):
            continue
        values, size = column[COLUMN_VALUES], column[COLUMN_SIZE]
        first = min(column[COLUMN_PAGES], column.get(COLUMN_DICTIONARY) or column[COLUMN_PAGES])
        if values != group[GROUP_ROWS] * (width or 1) or not values >= 0:
            raise DamagedError(f"the column {name!r} has {values} values for {group[GROUP_ROWS]} rows")
        if not 0 < first <= first + size <= len(content):
            raise DamagedError(f"the column {name!r} is not within the file")
        count = sum(_check_page(name, page, values) for page in _iterate_pages(content, first, first + size))
        if count != values:
            raise DamagedError(f"the pages of the column {name!r} have {count} values instead of {values}")
        return True
    return False


def _iterate_pages(content: mmap.mmap, first: int, end: int) -> Iterator[Structure]:
    while first < end:
        decoder = _Decoder(content, first, end)
        page = decoder.read_structure()
        first = decoder.place + page[PAGE_SIZE_IN_FILE]
        if page[PAGE_SIZE_IN_FILE] < 0 or first > end:
            raise DamagedError("a page is not within its column")
        yield page


def _check_page(name: str, page: Structure, max_values: int) -> int:
    """Check one page, and return the number of its values that are rows of the column."""
    size, size_in_file = page[PAGE_SIZE], page[PAGE_SIZE_IN_FILE]
    if not 0 <= size <= MAX_PAGE_SIZE or not ENCODED.allows(size, size_in_file):
        raise DamagedError(f"a page of the column {name!r} has {size_in_file} bytes, but declares {size}")
    header = next((page[kind] for kind in (PAGE_DATA, PAGE_DATA_2, PAGE_DICTIONARY) if kind in page), None)
    count = 0 if header is None else header[PAGE_VALUES]
    if not 0 <= count <= max_values:
        raise DamagedError(f"a page of the column {name!r} declares {count} values, but there are {max_values}")
    return count if PAGE_DICTIONARY not in page else 0


@dataclass
class _Decoder:
    """Reads structures of the compact protocol between ``place`` and ``end``."""

    content: mmap.mmap
    place: int
    end: int
    depth: int = 0

    def read_structure(self) -> Structure:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise DamagedError("its structures are nested too deeply")
        fields: Structure = {}
        number = 0
        while (head := self._read_byte()) != STOP:
            number = number + (head >> 4) if head >> 4 else self._read_signed()
            fields[number] = self._read_value(head & 15)
        self.depth -= 1
        return fields

    def _read_value(self, kind: int, *, in_list: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return self._read_byte() == TRUE if in_list else kind == TRUE
        if kind == BYTE:
            return self._read_byte()
        if kind in INTEGERS:
            return self._read_signed()
        if kind == DOUBLE:
            return self._read_bytes(8)
        if kind == BINARY:
            return self._read_bytes(self._read_unsigned())
        if kind == STRUCTURE:
            return self.read_structure()
        if kind in LISTS:
            head = self._read_byte()
            count = head >> 4 if head >> 4 != 15 else self._read_unsigned()
            return [self._read_value(head & 15, in_list=True) for _ in range(self._check_count(count))]
        if kind == MAP:
            count = self._check_count(self._read_unsigned())
            kinds = self._read_byte() if count else 0
            return [
                (self._read_value(kinds >> 4, in_list=True), self._read_value(kinds & 15, in_list=True))
                for _ in range(count)
            ]
        raise DamagedError("it contains a value of an unknown type")

    def _check_count(self, count: int) -> int:
        if count > min(MAX_ENTRIES, self.end - self.place):  # every entry has at least one byte
            raise DamagedError("a list is longer than the file")
        return count

    def _read_byte(self) -> int:
        if self.place >= self.end:
            raise DamagedError("it ends within a structure")
        self.place += 1
        return self.content[self.place - 1]

    def _read_bytes(self, count: int) -> bytes:
        if count > self.end - self.place:
            raise DamagedError("a text is longer than the file")
        self.place += count
        return self.content[self.place - count : self.place]

    def _read_unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._read_byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise DamagedError("it contains a number that is too large")

    def _read_signed(self) -> int:
        value = self._read_unsigned()
        return (value >> 1) ^ -(value & 1)
