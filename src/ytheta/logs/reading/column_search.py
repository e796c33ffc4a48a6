"""Finding the columns of a table that contain time, positions, velocities and torques.

The mapping selects the columns. Columns of quantities that the mapping does not contain are found by their names, which
``column_names`` parses: families of columns that contain one quantity for each actuated coordinate, by name or by
number, counted from 1 or from 0. Velocities and torques are looked for at the place of the positions first. If several
families contain the same quantity, it is not known which of them is meant, and an error names them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ytheta.errors import InputError
from ytheta.logs.reading.column_names import QUANTITY_WORDS, TIME_WORDS, ColumnName, NameParser, find_scope
from ytheta.logs.reading.columns import ColumnErrors, ColumnIndex, Place, TimeColumn
from ytheta.logs.reading.joint_columns import (
    ColumnFamily,
    JointLabels,
    check_other_labels,
    choose_labels,
    find_joint_labels,
    name_members,
)
from ytheta.logs.reading.mapping import ColumnMapping, Reference, References
from ytheta.logs.reading.table import ColumnTable


@dataclass(frozen=True)
class LogColumns:
    """Positions of the columns to read; a tuple is empty if the file does not contain the quantity.

    ``guessed`` is true if the file has no header, so that columns were assigned according to how many there are.
    ``units`` contains units from names, such as "deg" of ``q1_deg``. ``computed_torque`` is true if the torques are
    those that a controller computed. ``by_number`` is true if joints are known only by the numbers in names.
    ``labels`` are the joint names that the file contains as texts for the numbers of the positions.
    ``places`` says where each quantity is; ``clock`` is the column of time if it was found at the place of the
    positions, not given by a mapping.
    """

    t: int | None
    q: tuple[int, ...]
    qd: tuple[int, ...] = ()
    tau: tuple[int, ...] = ()
    current: tuple[int, ...] = ()
    guessed: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    computed_torque: bool = False
    by_number: bool = False
    labels: JointLabels | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    clock: TimeColumn | None = None


def find_columns(table: ColumnTable, joints: Sequence[str], mapping: ColumnMapping, source: str) -> LogColumns:
    """Return the columns of a table that make up a log; ``source`` is the name of the file in error messages."""
    search = _ColumnSearch(ColumnIndex(table, source), tuple(joints), mapping)
    if not table.has_header and not mapping.columns:
        return search.guess_from_count()
    q = search.find_quantity("q", _Choice())
    chosen = {"q": q, "qd": search.find_quantity("qd", q)} | search.find_torques(q)
    qd, tau, current = (chosen.get(key, _Choice()) for key in ("qd", "tau", "current"))
    if not q.positions:
        raise search.make_missing_positions_error({*qd.positions, *tau.positions, *current.positions})
    t, clock = search.find_time(q.place)
    units = {key: choice.unit for key, choice in chosen.items() if choice.unit}
    return LogColumns(
        t,
        q.positions,
        qd.positions,
        tau.positions,
        current.positions,
        units=units | ({"t": clock.unit} if clock is not None and clock.unit else {}),
        computed_torque=tau.is_command,
        by_number=any(choice.by_number for choice in chosen.values()),
        labels=q.labels,
        places={key: choice.place for key, choice in chosen.items() if choice.positions},
        clock=clock,
    )


@dataclass(frozen=True)
class _Choice:
    """The columns of one quantity; no positions if the file does not contain it."""

    positions: tuple[int, ...] = ()
    place: Place = Place()
    unit: str = ""
    is_command: bool = False
    by_number: bool = False
    labels: JointLabels | None = None


@dataclass(frozen=True)
class _ColumnSearch:
    index: ColumnIndex
    joints: tuple[str, ...]
    mapping: ColumnMapping

    @property
    def table(self) -> ColumnTable:
        return self.index.table

    @property
    def source(self) -> str:
        return self.index.source

    @property
    def errors(self) -> ColumnErrors:
        return ColumnErrors(self.index, self.joints)

    @cached_property
    def families(self) -> tuple[ColumnFamily, ...]:
        """The families of columns of all quantities, in the order of the file."""
        parser = NameParser(self.joints)
        members: dict[tuple[str, bool], dict[str, ColumnName]] = {}
        for name, positions in self.index.positions.items():
            parsed = parser.parse(self.table.names[positions[0]])
            if parsed is None and len(self.joints) == 1:  # a quantity without a number is that of the only joint
                parsed = parser.parse(f"{self.joints[0]}/{self.table.names[positions[0]]}")
            if parsed is not None:
                members.setdefault((parsed.family, isinstance(parsed.index, str)), {})[name] = parsed
        return tuple(self._name_joints(ColumnFamily(self.joints, tuple(names.items()))) for names in members.values())

    @cached_property
    def labels(self) -> Mapping[tuple[str, ...], JointLabels]:
        """The joint names that the file contains as texts, by place."""
        return find_joint_labels(self.table, self.joints, self.source)

    def _name_joints(self, family: ColumnFamily) -> ColumnFamily:
        """Return a family whose numbers are replaced by the joint names that the file contains for them, if any."""
        labels = None if family.by_joint else choose_labels(self.labels, family.scope, len(family.members))
        return family if labels is None or not labels.is_known(self.joints) else name_members(family, labels)

    def find_time(self, place: Place) -> tuple[int | None, TimeColumn | None]:
        """Return the time column, and the same as the time of a place unless the mapping gives the time of all rows.

        There is no column if a sampling rate is given instead.
        """
        if self.mapping.rate is not None:
            return None, None
        if self.mapping.t is not None:
            return self._resolve("t", self.mapping.t), None
        if len(place.times) > 1:
            raise self.errors.make_several_times([time.position for time in place.times])
        if place.times:
            return place.times[0].position, place.times[0]
        self._refuse_other(TIME_WORDS, "one time per sample")
        raise self.errors.make_missing_time()

    def find_torques(self, q: _Choice) -> dict[str, _Choice]:
        """Return the columns of torques or currents by quantity; an empty dict if the file contains neither.

        Currents are used if there are gains. Torques that a controller computed are used only if nothing else is there.
        """
        if self.mapping.gain is not None:
            currents = self.find_quantity("current", q)
            if not currents.positions:
                raise self.errors.make_missing_currents()
            return {"current": currents}
        torques = self.find_quantity("tau", q)
        if torques.positions:
            return {"tau": torques}
        computed = [family for family in self._list_families("tau", q, commands=True) if "moment" in family.template]
        if families := self._list_families("current", q):
            raise self.errors.make_gains_needed(families, computed)
        if len(computed) > 1:
            raise self.errors.make_ambiguity("tau", computed)
        return {"tau": self._choose(computed[0])} if computed else {}

    def find_quantity(self, key: str, q: _Choice) -> _Choice:
        """Return the measured columns of one quantity, those at the place of the positions ``q`` if there are any.

        No columns are returned if the file does not contain the quantity.
        """
        if key in self.mapping.columns:
            positions = self._resolve_all(key, self.mapping.columns[key])
            scope = find_scope(self.table.names[positions[0]], self.joints)
            return _Choice(positions, Place(scope, tuple(self.index.list_times(scope)), is_chosen=True))
        complete = self._list_families(key, q)
        if len(complete) > 1:
            raise self.errors.make_ambiguity(key, complete)
        if complete:
            return self._choose(complete[0])
        partial = [family for family in self.families if family.quantity == key and not family.is_command]
        if partial:
            most = max(partial, key=lambda family: len(family.members))
            raise self.errors.make_incomplete(key, most, has_positions=bool(q.positions))
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

    def make_missing_positions_error(self, used: Collection[int]) -> InputError:
        return self.errors.make_missing_quantity("q", used, self._list_families("q", _Choice(), commands=True))

    def _list_families(self, key: str, q: _Choice, *, commands: bool = False) -> list[ColumnFamily]:
        """Return the families that contain a quantity for all joints; if some are at the place of ``q``, only those."""
        families = [
            family
            for family in self.families
            if family.quantity == key and family.is_command == commands and family.is_complete
        ]
        families = [family for family in families if not family.by_unit] or families
        near = [family for family in families if q.positions and Place(family.scope).is_same(q.place)]
        return near or families

    def _choose(self, family: ColumnFamily) -> _Choice:
        positions = tuple(self._resolve(family.quantity, name) for name in family.list_names())
        place = Place(family.scope, tuple(self.index.list_times(family.scope)))
        if not family.by_joint:
            check_other_labels(self.labels, family, self.joints, self.source)
        labels = choose_labels(self.labels, family.scope, len(family.members))
        return _Choice(positions, place, family.unit, family.is_command, not family.by_joint, labels)

    def _refuse_other(self, words: Sequence[str], content: str, *, optional: bool = False) -> None:
        """Raise an error if an entry has one of these names but is not a column; None stands for an optional one."""
        for name, kind in self.table.others.items():
            if name.strip().casefold() in words and not (optional and kind == "None"):
                raise InputError(f"{self.source}: {name!r} is {kind}; give an array with {content}")

    def _resolve_all(self, key: str, references: References) -> tuple[int, ...]:
        """Return the columns that the mapping selects for a quantity."""
        n = len(self.joints)
        if isinstance(references, str):
            start = 0 if self._has_column(references, 0) else 1
            references = self._fill_template(references, start)
        if len(references) != n:
            raise InputError(
                f"{self.mapping.source}, [columns]: {key!r} names {len(references)} columns, but the robot has {n} "
                f"actuated coordinates ({', '.join(self.joints)}); name one for each"
            )
        return tuple(self._resolve(key, reference) for reference in references)

    def _fill_template(self, template: str, start: int) -> tuple[str, ...]:
        """Return the names of the columns of all joints: {} is a joint's number, counted from ``start``.

        If the file contains the names of its joints as texts, they decide which number a joint has.
        """
        n = len(self.joints)
        scope = find_scope(template.replace("{}", str(start)), self.joints)
        count = next(k for k in range(n + len(self.index.positions) + 1) if not self._has_column(template, start + k))
        labels = choose_labels(self.labels, scope, count)
        numbers = {} if labels is None else {joint: start + k for k, joint in enumerate(labels.joints)}
        if all(joint in numbers for joint in self.joints):
            return tuple(template.replace("{}", str(numbers[joint])) for joint in self.joints)
        return tuple(template.replace("{}", str(k)) for k in range(start, start + n))

    def _has_column(self, template: str, number: int) -> bool:
        return template.replace("{}", str(number)).strip().casefold() in self.index.positions

    def _resolve(self, key: str, reference: Reference) -> int:
        """Return the position of the column to which a mapping refers by name or by number."""
        if isinstance(reference, str):
            position = self.index.find_position(reference)
            if position is None:
                raise self.errors.make_missing_column(key, reference)
            return position
        count = len(self.table.names)
        if reference >= count:
            raise InputError(
                f"{self.source} has {count} columns, but {self.mapping.source} selects column {reference} "
                f"(counted from 0) for {key!r}; correct the mapping, or record the missing columns"
            )
        return reference
