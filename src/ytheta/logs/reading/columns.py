"""Finding the columns of a table that contain time, positions, velocities and torques.

The mapping selects the columns. Columns of quantities that the mapping does not contain are found by name. Time is
called ``t``, ``time`` or ``timestamp``. The names of the other columns consist of a quantity and either a number
(``q1 … qn``, counted from 1 or from 0 in the order of the robot's actuated coordinates) or the name of a coordinate
(``q_elbow``, ``elbow.tau``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from ytheta.errors import InputError, suggest_names
from ytheta.logs.reading.mapping import ColumnMapping, References
from ytheta.logs.reading.mapping_values import Reference
from ytheta.logs.reading.table import ColumnTable

TIME_NAMES = ("t", "time", "timestamp")
QUANTITY_NAMES = {
    "q": ("q", "pos", "position"),
    "qd": ("qd", "dq", "vel", "velocity"),
    "tau": ("tau", "torque", "effort"),
}


@dataclass(frozen=True)
class LogColumns:
    """Positions of the columns to read; a tuple is empty if the file does not contain the quantity.

    ``guessed`` is true if the file has no header, so that columns were assigned according to how many there are.
    """

    t: int | None
    q: tuple[int, ...]
    qd: tuple[int, ...] = ()
    tau: tuple[int, ...] = ()
    current: tuple[int, ...] = ()
    guessed: bool = False


def describe_missing(key: str, joints: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """Return two texts on a missing quantity: the expected columns (with similar names in the file) and the remedy."""
    expected = f"column {key}1" if len(joints) == 1 else f"columns {key}1 … {key}{len(joints)}"
    *others, last = QUANTITY_NAMES[key]
    return (
        f"{expected}{_suggest(f'{key}1', names)}",
        f"use one of the names {', '.join(others)} or {last} with a number or a joint's name ({key}1, "
        f'{key}_{joints[0]}), or a mapping: [columns] {key} = "name{{}}"',
    )


def find_columns(table: ColumnTable, joints: Sequence[str], mapping: ColumnMapping, source: str) -> LogColumns:
    """Return the columns of a table that make up a log; ``source`` is the name of the file in error messages."""
    search = _ColumnSearch(table, tuple(joints), mapping, source)
    if not table.has_header and not mapping.columns:
        return search.guess_from_count()
    q, qd, tau, current = (search.find_quantity(name) for name in ("q", "qd", "tau", "current"))
    if not q:
        raise search.make_missing_quantity_error("q", {*qd, *tau, *current})
    return LogColumns(search.find_time(), q, qd, tau, current)


def _suggest(name: str, names: Sequence[str]) -> str:
    """Return in brackets the names similar to ``name``, or all names."""
    suggestion = suggest_names(name, names).removeprefix("; ")
    return f" ({suggestion})" if suggestion else ""


def _suggest_locks(joints: Sequence[str], count: int) -> str:
    """Return the option that locks the joints that a log of this many joints does not contain, mostly the last ones."""
    if not 0 < count < len(joints):
        return ""
    names = ",".join(joints[count:])
    return f"if the log has the first {count} of them, lock the others: --lock {names} (lock in Python), or "


@dataclass(frozen=True)
class _ColumnSearch:
    table: ColumnTable
    joints: tuple[str, ...]
    mapping: ColumnMapping
    source: str

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        """The positions of the columns of every name; the keys are the names in lower case."""
        positions: dict[str, list[int]] = {}
        for k, name in enumerate(self.table.names):
            positions.setdefault(name.strip().casefold(), []).append(k)
        return positions

    def find_position(self, name: str) -> int | None:
        """Return the position of the column with this name; if several have it, only their case may distinguish them.

        Raise InputError if several columns have this name, because it is not known which of them is meant.
        """
        name = name.strip()
        alike = self.positions.get(name.casefold(), [])
        equal = [k for k in alike if self.table.names[k].strip() == name] if len(alike) > 1 else alike
        if len(alike) > 1 and len(equal) != 1:
            numbers = ", ".join(map(str, alike))
            raise InputError(
                f"{self.source} has several columns {self.table.names[alike[0]]!r} (columns {numbers}, counted from 0);"
                " rename those that are not part of the log, or choose one by its number in a mapping"
            )
        return equal[0] if equal else None

    def find_time(self) -> int | None:
        """Return the time column; None if the mapping gives a sampling rate instead."""
        if self.mapping.rate is not None:
            return None
        if self.mapping.t is not None:
            return self._resolve("t", self.mapping.t)
        for name in TIME_NAMES:
            if (position := self.find_position(name)) is not None:
                return position
        self._refuse_other(TIME_NAMES, "one time per sample")
        raise InputError(
            f"{self.source} has no time column 't' or 'time'{_suggest('time', self.table.names)}; name it in a mapping "
            "under [columns], or give the sampling rate there: rate = 100.0"
        )

    def find_quantity(self, key: str) -> tuple[int, ...]:
        """Return the columns of one quantity; an empty tuple if the file does not contain the quantity."""
        if key in self.mapping.columns:
            return self._resolve_all(key, self.mapping.columns[key])
        if key == "current" or (key == "tau" and "current" in self.mapping.columns):
            return ()
        for word in QUANTITY_NAMES[key]:
            if columns := self._find_by_joint(word):
                return columns
        for word in QUANTITY_NAMES[key]:
            if columns := self._find_by_number(key, word):
                return columns
        self._refuse_other(QUANTITY_NAMES[key], "one row per sample and one column per joint", optional=key != "q")
        return ()

    def guess_from_count(self) -> LogColumns:
        """Return the columns of a file without a header: (t, q, tau) or (t, q, qd, tau), depending on their count."""
        n, count = len(self.joints), len(self.table.names)
        first = 0 if self.mapping.rate is not None else 1
        quantities, rest = divmod(count - first, n)
        if rest or quantities not in (2, 3):
            expected = f"{first + 2 * n} (t, q, tau) or {first + 3 * n} (t, q, qd, tau)"
            raise InputError(
                f"{self.source} has {count} columns and no header, but for {n} joints it should have {expected}; "
                "select columns by number in a mapping: [columns] t = 0, q = [1, 2, …]"
            )
        groups = [tuple(range(first + k * n, first + (k + 1) * n)) for k in range(quantities)]
        t = 0 if first else None
        return LogColumns(t=t, q=groups[0], qd=groups[1] if quantities == 3 else (), tau=groups[-1], guessed=True)

    def make_missing_quantity_error(self, key: str, used: Collection[int]) -> InputError:
        unused = [name for k, name in enumerate(self.table.names) if k not in used]
        statement, remedy = describe_missing(key, self.joints, unused)
        return InputError(f"{self.source} has no {statement}; {remedy}")

    def _refuse_other(self, words: Sequence[str], content: str, *, optional: bool = False) -> None:
        """Raise an error if an entry has one of these names but is not a column; None stands for an optional one."""
        for name, kind in self.table.others.items():
            if name.strip().casefold() in words and not (optional and kind == "None"):
                raise InputError(f"{self.source}: {name!r} is {kind}; give an array with {content}")

    def _find_by_joint(self, word: str) -> tuple[int, ...]:
        """Return the columns named after the actuated coordinates; an empty tuple if one is missing."""
        columns: list[int] = []
        for joint in self.joints:
            forms = [f"{a}{separator}{b}" for separator in "_./" for a, b in ((word, joint), (joint, word))]
            match = next((k for form in forms if (k := self.find_position(form)) is not None), None)
            if match is None:
                return ()
            columns.append(match)
        return tuple(columns)

    def _find_by_number(self, key: str, word: str) -> tuple[int, ...]:
        """Return the columns numbered from 1 or from 0.

        Raise InputError if their number differs from the number of actuated coordinates.
        """
        for form in (f"{word}{{}}", f"{word}_{{}}"):
            numbers = [k for k in range(len(self.table.names) + 1) if form.format(k) in self.positions]
            if not numbers:
                continue
            n = len(self.joints)
            if len(numbers) != n:
                for k in numbers:
                    self.find_position(form.format(k))  # a repeated name is the likely cause, and raises an error
                shown = f"columns {form.format(numbers[0])} … {form.format(numbers[-1])}"
                if len(numbers) == 1:
                    shown = f"column {form.format(numbers[0])}"
                raise InputError(
                    f"{self.source} has {len(numbers)} {shown}, but the robot has {n} actuated coordinates "
                    f"({', '.join(self.joints)}); {_suggest_locks(self.joints, len(numbers))}use the robot that was "
                    "recorded, or choose the columns in a mapping"
                )
            start = 0 if numbers[0] == 0 else 1
            return tuple(self._resolve(key, form.format(k)) for k in range(start, start + n))
        return ()

    def _resolve_all(self, key: str, references: References) -> tuple[int, ...]:
        """Return the columns that the mapping selects for a quantity."""
        n = len(self.joints)
        if isinstance(references, str):
            start = 0 if references.replace("{}", "0").strip().casefold() in self.positions else 1
            references = tuple(references.replace("{}", str(k)) for k in range(start, start + n))
        if len(references) != n:
            raise InputError(
                f"{self.mapping.source}, [columns]: {key!r} names {len(references)} columns, but the robot has {n} "
                f"actuated coordinates ({', '.join(self.joints)}); name one for each"
            )
        return tuple(self._resolve(key, reference) for reference in references)

    def _resolve(self, key: str, reference: Reference) -> int:
        """Return the position of the column to which a mapping refers by name or by number."""
        if isinstance(reference, str):
            position = self.find_position(reference)
            if position is None:
                raise self._make_missing_column_error(key, reference)
            return position
        count = len(self.table.names)
        if reference >= count:
            raise InputError(
                f"{self.source} has {count} columns, but {self.mapping.source} selects column {reference} "
                f"(counted from 0) for {key!r}; correct the mapping, or record the missing columns"
            )
        return reference

    def _make_missing_column_error(self, key: str, name: str) -> InputError:
        return InputError(
            f"{self.source} has no column {name!r} for {key!r}{_suggest(name, self.table.names)}; "
            "correct the name, or choose the columns in a mapping"
        )
