"""Finding the columns of a table that contain time, positions, velocities and torques.

The mapping selects the columns. Columns of quantities that the mapping does not contain are found by their names, which
``column_names`` parses: families of columns that contain one quantity for each actuated coordinate, by name or by
number, counted from 1 or from 0. If several families contain the same quantity, it is not known which of them is meant,
and an error names them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ytheta.errors import InputError, suggest_names
from ytheta.logs.reading.column_names import QUANTITY_WORDS, TIME_WORDS, ColumnName, NameParser, parse_time_name
from ytheta.logs.reading.families import Family, describe_missing_joints
from ytheta.logs.reading.mapping import ColumnMapping, References
from ytheta.logs.reading.mapping_values import Reference
from ytheta.logs.reading.table import ColumnTable

QUANTITY_NOUNS = {"t": "the time", "q": "positions", "qd": "velocities", "tau": "torques", "current": "currents"}
LISTED_WORDS = 3  # words for a quantity in an error message


@dataclass(frozen=True)
class LogColumns:
    """Positions of the columns to read; a tuple is empty if the file does not contain the quantity.

    ``guessed`` is true if the file has no header, so that columns were assigned according to how many there are.
    ``units`` contains units from names, such as "deg" of ``q1_deg``. ``computed_torque`` is true if the torques are
    those that a controller computed.
    """

    t: int | None
    q: tuple[int, ...]
    qd: tuple[int, ...] = ()
    tau: tuple[int, ...] = ()
    current: tuple[int, ...] = ()
    guessed: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    computed_torque: bool = False


def describe_missing(key: str, joints: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """Return two texts on a missing quantity: the expected columns (with similar names in the file) and the remedy."""
    expected = f"column {key}1" if len(joints) == 1 else f"columns {key}1 … {key}{len(joints)}"
    *others, last = QUANTITY_WORDS[key][:LISTED_WORDS]
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
    chosen = {key: search.find_quantity(key) for key in ("q", "qd")} | search.find_torques()
    q, qd, tau, current = (chosen.get(key, _Choice()) for key in ("q", "qd", "tau", "current"))
    if not q.positions:
        raise search.make_missing_quantity_error("q", {*qd.positions, *tau.positions, *current.positions})
    t, time_unit = search.find_time(q.scope)
    units = {key: choice.unit for key, choice in chosen.items() if choice.unit}
    return LogColumns(
        t,
        q.positions,
        qd.positions,
        tau.positions,
        current.positions,
        units=units | ({"t": time_unit} if time_unit else {}),
        computed_torque=tau.is_command,
    )


def _suggest(name: str, names: Sequence[str]) -> str:
    """Return in brackets the names similar to ``name``, or all names."""
    suggestion = suggest_names(name, names).removeprefix("; ")
    return f" ({suggestion})" if suggestion else ""


@dataclass(frozen=True)
class _Choice:
    """The columns of one quantity; no positions if the file does not contain it."""

    positions: tuple[int, ...] = ()
    scope: tuple[str, ...] = ()
    unit: str = ""
    is_command: bool = False


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

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The families of columns of all quantities, in the order of the file."""
        parser = NameParser(self.joints)
        members: dict[tuple[str, bool], dict[str, ColumnName]] = {}
        for name in self.positions:
            parsed = parser.parse(self.table.names[self.positions[name][0]])
            if parsed is not None:
                members.setdefault((parsed.family, isinstance(parsed.index, str)), {})[name] = parsed
        return tuple(Family(self.joints, tuple(names.items())) for names in members.values())

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

    def find_time(self, scope: tuple[str, ...]) -> tuple[int | None, str]:
        """Return the time column and its unit; no column if a sampling rate is given instead.

        Time is looked for in the scope of the positions, then in the scopes around it.
        """
        if self.mapping.rate is not None:
            return None, ""
        if self.mapping.t is not None:
            return self._resolve("t", self.mapping.t), ""
        candidates = {name: parsed for name in self.positions if (parsed := parse_time_name(name)) is not None}
        for depth in range(len(scope), -1, -1):
            names = [name for name, (place, _) in candidates.items() if place == scope[:depth]]
            if len(names) > 1:
                listed = [self.table.names[self.positions[name][0]] for name in names]
                raise InputError(
                    f"{self.source} has several columns of time ({', '.join(listed)}); choose one in a mapping: "
                    f'[columns] t = "{listed[0]}"'
                )
            if names:
                return self.find_position(names[0]), candidates[names[0]][1]
        self._refuse_other(TIME_WORDS, "one time per sample")
        raise InputError(
            f"{self.source} has no time column 't' or 'time'{_suggest('time', self.table.names)}; name it in a mapping "
            "under [columns], or give the sampling rate: --rate 100, or rate = 100.0 in the mapping"
        )

    def find_torques(self) -> dict[str, _Choice]:
        """Return the columns of torques or currents by quantity; an empty dict if the file contains neither.

        Currents are used if there are gains. Torques that a controller computed are used only if nothing else is there.
        """
        if self.mapping.gain is not None:
            return {"current": self._find_currents()}
        torques = self.find_quantity("tau")
        if torques.positions:
            return {"tau": torques}
        computed = [family for family in self._list_families("tau", commands=True) if "moment" in family.template]
        currents = self._list_families("current")
        if currents:
            self._refuse_currents(currents, computed)
        if len(computed) > 1:
            raise self._make_ambiguity_error("tau", computed)
        return {"tau": self._choose(computed[0])} if computed else {}

    def find_quantity(self, key: str) -> _Choice:
        """Return the measured columns of one quantity; no columns if the file does not contain it."""
        if key in self.mapping.columns:
            return _Choice(self._resolve_all(key, self.mapping.columns[key]))
        complete = self._list_families(key)
        if len(complete) > 1:
            raise self._make_ambiguity_error(key, complete)
        if complete:
            return self._choose(complete[0])
        partial = [family for family in self.families if family.quantity == key and not family.is_command]
        if partial:
            raise self._make_incomplete_error(key, max(partial, key=lambda family: len(family.members)))
        self._refuse_other(QUANTITY_WORDS[key], "one row per sample and one column per joint", optional=key != "q")
        return _Choice()

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
        t, qd = 0 if first else None, groups[1] if quantities == 3 else ()
        if self.mapping.gain is not None:
            return LogColumns(t=t, q=groups[0], qd=qd, current=groups[-1], guessed=True)
        return LogColumns(t=t, q=groups[0], qd=qd, tau=groups[-1], guessed=True)

    def make_missing_quantity_error(self, key: str, used: Collection[int]) -> InputError:
        unused = [name for k, name in enumerate(self.table.names) if k not in used]
        statement, remedy = describe_missing(key, self.joints, unused)
        commands = ", ".join(self._show(family) for family in self._list_families(key, commands=True))
        also = f" (its commands {commands} are not measured {QUANTITY_NOUNS[key]})" if commands else ""
        return InputError(f"{self.source} has no {statement}{also}; {remedy}")

    def _list_families(self, key: str, *, commands: bool = False) -> list[Family]:
        """Return the families that contain a quantity for all joints."""
        return [
            family
            for family in self.families
            if family.quantity == key and family.is_command == commands and family.is_complete
        ]

    def _choose(self, family: Family) -> _Choice:
        names = family.list_names()
        positions = tuple(self._resolve(family.quantity, name) for name in names)
        return _Choice(positions, family.scope, family.unit, family.is_command)

    def _find_currents(self) -> _Choice:
        choice = self.find_quantity("current")
        if choice.positions:
            return choice
        statement, _ = describe_missing("current", self.joints, self.table.names)
        raise InputError(
            f"{self.source} has no {statement}, but gains are given, which turn currents into torques; remove the "
            'gains, or name the columns in a mapping: [columns] current = "name{}"'
        )

    def _refuse_currents(self, currents: Sequence[Family], computed: Sequence[Family]) -> None:
        shown = ", ".join(self._show(family) for family in currents)
        also = "".join(
            f"; or, for the torques that the controller computed from its own model, a mapping: [columns] tau = "
            f'"{family.template}"'
            for family in computed
        )
        raise InputError(
            f"{self.source} contains motor currents ({shown}) but no measured torques; give the torque constants in "
            f"Nm/A at the joint (torque constant × gear ratio): --gain, one number for each joint{also}"
        )

    def _show(self, family: Family) -> str:
        """Return the first and the last name of a family, as in the file."""
        names = [self.table.names[self.positions[name][0]].strip() for name, _ in family.members]
        return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"

    def _make_ambiguity_error(self, key: str, families: Sequence[Family]) -> InputError:
        shown = "; ".join(self._show(family) for family in families)
        return InputError(
            f"{self.source} has several groups of columns with {QUANTITY_NOUNS[key]} ({shown}); choose one in a "
            f"mapping: [columns] {key} = {self._format_reference(families[0])}"
        )

    def _format_reference(self, family: Family) -> str:
        if not family.by_joint:
            return f'"{family.template}"'
        first = self.table.names[self.positions[family.members[0][0]][0]].strip()
        return f'["{first}", …]'

    def _make_incomplete_error(self, key: str, family: Family) -> InputError:
        """Say which joints or numbers of a quantity are missing."""
        for name, _ in family.members:
            self.find_position(name)  # a repeated name is the likely cause, and raises an error
        n, count = len(self.joints), len(family.members)
        shown = f"{'column' if count == 1 else 'columns'} {self._show(family)}"
        actuated = f"the robot has {n} actuated coordinates ({', '.join(self.joints)})"
        missing = [joint for joint in self.joints if joint not in family.indices]
        if family.by_joint:
            return InputError(
                f"{self.source} has {QUANTITY_NOUNS[key]} of {count} joints ({shown}), but {actuated}; "
                f"{describe_missing_joints(missing)}"
            )
        if count < n:
            remedy = f"if it has the first {count}, {describe_missing_joints(self.joints[count:])}"
            return InputError(f"{self.source} has {count} {shown}, but {actuated}; {remedy}")
        if count > n:
            return InputError(
                f"{self.source} has {count} {shown}, but {actuated}; use the robot that was recorded, or choose the "
                "columns in a mapping"
            )
        gap = next(k for k in range(family.first_number, family.first_number + n) if k not in family.indices)
        return self._make_missing_column_error(key, family.template.replace("{}", str(gap)))

    def _refuse_other(self, words: Sequence[str], content: str, *, optional: bool = False) -> None:
        """Raise an error if an entry has one of these names but is not a column; None stands for an optional one."""
        for name, kind in self.table.others.items():
            if name.strip().casefold() in words and not (optional and kind == "None"):
                raise InputError(f"{self.source}: {name!r} is {kind}; give an array with {content}")

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
