"""The columns of a table by name, the places where they stand, and the errors if columns are missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.errors import InputError, find_similar_names, suggest_names
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.column_names import QUANTITY_WORDS, drop_quantity, parse_time_name
from ytheta.logs.reading.joint_columns import ColumnFamily, describe_missing_joints
from ytheta.logs.reading.mapping import UNITS
from ytheta.logs.reading.table import ColumnTable, read_time_column
from ytheta.shapes import PerSample


@dataclass(frozen=True)
class TimeColumn:
    """A column of time; ``unit`` is empty if its name has none."""

    position: int
    unit: str


@dataclass(frozen=True)
class ColumnIndex:
    """Finds columns by name; ``source`` is the name of the file in error messages."""

    table: ColumnTable
    source: str

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        """The positions of the columns of every name; the keys are the names in lower case."""
        positions: dict[str, list[int]] = {}
        for k, name in enumerate(self.table.names):
            positions.setdefault(name.strip().casefold(), []).append(k)
        return positions

    @cached_property
    def _times(self) -> dict[tuple[str, ...], list[tuple[str, str]]]:
        """Names and units of the columns of time in every scope."""
        times: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name, positions in self.positions.items():
            if positions[0] in self.table.time_parts:
                continue
            if (parsed := parse_time_name(name)) is not None:
                times.setdefault(parsed[0], []).append((name, parsed[1]))
        return times

    def get_name(self, name: str) -> str:
        """Return a name in lower case as it is in the file."""
        return self.table.names[self.positions[name][0]].strip()

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

    def list_times(self, scope: tuple[str, ...]) -> list[TimeColumn]:
        """Return the columns of time in a scope or, if it has none, in the nearest scope around it."""
        for depth in range(len(scope), -1, -1):
            if names := self._times.get(scope[:depth]):
                found = [(self.find_position(name), unit) for name, unit in names]
                return [TimeColumn(position, unit) for position, unit in found if position is not None]
        return []


# The places of quantities: topics, structs or groups, each of which may have a time of its own.
#
# The place of the positions decides the time of the log. Quantities are taken from the same place; if it does not have
# them, those of another place are used with a warning. If that place has its own time, it must be that of the
# positions, because quantities are combined row by row.

# Difference of two clocks, divided by the sampling interval, up to which they are the same. Chosen on: rule of thumb.
MAX_TIME_DIFFERENCE = 0.1


@dataclass(frozen=True)
class Place:
    """Where a quantity is.

    Attributes
    ----------
    scope      the names of topic, struct or group, from the outermost; empty for the top level of a file
    times      the columns of time that belong to it
    is_chosen  whether a mapping chose the columns, so that their place needs no warning
    """

    scope: tuple[str, ...] = ()
    times: tuple[TimeColumn, ...] = ()
    is_chosen: bool = False

    @property
    def name(self) -> str:
        return repr("/".join(self.scope)) if self.scope else "the top level of the file"

    def is_same(self, other: Place) -> bool:
        return drop_quantity(self.scope) == drop_quantity(other.scope)


def report_places(places: Mapping[str, Place]) -> list[Finding]:
    """Return a warning for each quantity that was found at another place than the positions."""
    origin = places.get("q", Place())
    return [
        Finding(
            LogFindingCode.PLACES,
            Severity.WARNING,
            f"the {QUANTITY_NOUNS[key]} are from {place.name}, but the positions from {origin.name}",
            remedy="check that both are of the same robot and recorded together, or choose columns in a mapping",
            fields={"quantity": key, "place": "/".join(place.scope), "positions": "/".join(origin.scope)},
        )
        for key, place in places.items()
        if not place.is_chosen and not place.is_same(origin)
    ]


def compare_clocks(
    table: ColumnTable,
    places: Mapping[str, Place],
    time: TimeColumn | None,
    rows: slice,
    source: str,
    *,
    scale: float = 1.0,
) -> None:
    """Raise InputError if a quantity has another time than the positions, whose column is ``time``.

    Without ``time``, the time was given for the whole file, and there is nothing to compare. ``scale`` is the unit of
    times in s, unless their names contain another one.
    """
    if time is None:
        return
    others = {
        key: place
        for key, place in places.items()
        if place.times and all(clock.position != time.position for clock in place.times)
    }
    if not others:
        return
    t = _read_seconds(table, time, rows, scale)
    steps = np.abs(np.diff(t[np.isfinite(t)]))
    interval = float(np.median(steps)) if len(steps) else 0.0
    for key, place in others.items():
        difference = min(_compare(t, _read_seconds(table, clock, rows, scale)) for clock in place.times)
        if difference > MAX_TIME_DIFFERENCE * interval:
            names = [table.names[clock.position] for clock in (place.times[0], time)]
            raise InputError(
                f"{source}: the {QUANTITY_NOUNS[key]} have their own time ({names[0]}), which differs from that of the "
                f"positions ({names[1]}) by up to {difference:.3g} s; interpolate them at the times of the positions "
                f'or, if their rows belong together, choose the time in a mapping: [columns] t = "{names[1]}"'
            )


def _read_seconds(table: ColumnTable, time: TimeColumn, rows: slice, scale: float) -> PerSample:
    values = np.asarray(read_time_column(table.columns[time.position], rows))
    return values * (UNITS["t"][time.unit] if time.unit else scale)


def _compare(t: PerSample, other: PerSample) -> float:
    """Return the greatest difference of two times in s; rows without a time are left out."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(other - t)
    finite = difference[np.isfinite(difference)]
    return float(finite.max()) if len(finite) else 0.0


# Error messages about columns that are missing, incomplete or ambiguous.

QUANTITY_NOUNS = {
    "t": "the time",
    "q": "positions",
    "qd": "velocities",
    "tau": "torques",
    "current": "currents",
    "pose": "columns of the base's pose",
    "twist": "columns of the base's twist",
    "wrench": "columns of the base's wrench",
    "sensors": "columns of the force-torque sensors",
}
MAX_GROUPS = 12  # groups of names; affects only the length of a message
LISTED_WORDS = 3  # words for a quantity; affects only the length of a message

_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")


def describe_missing(key: str, joints: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """Return two texts on a missing quantity: the expected columns (with similar names in the file) and the remedy."""
    expected = f"column {key}1" if len(joints) == 1 else f"columns {key}1 … {key}{len(joints)}"
    *others, last = QUANTITY_WORDS[key][:LISTED_WORDS]
    return (
        f"{expected}{_suggest(f'{key}1', names)}",
        f"use one of the names {', '.join(others)} or {last} with a number or a joint's name ({key}1, "
        f'{key}_{joints[0]}), or a mapping: [columns] {key} = "name{{}}"',
    )


@dataclass(frozen=True)
class ColumnErrors:
    """Makes the errors about the columns of a file for a robot with these joints."""

    index: ColumnIndex
    joints: tuple[str, ...]

    @property
    def _source(self) -> str:
        return self.index.source

    def make_missing_quantity(self, key: str, used: Collection[int], commands: Sequence[ColumnFamily]) -> InputError:
        """Return the error about a quantity of which there are no columns, or only ``commands``."""
        unused = [name for k, name in enumerate(self.index.table.names) if k not in used]
        statement, remedy = describe_missing(key, self.joints, unused)
        shown = ", ".join(map(self._show, commands))
        also = f" (its commands {shown} are not measured {QUANTITY_NOUNS[key]})" if commands else ""
        return InputError(f"{self._source} has no {statement}{also}; {remedy}")

    def make_missing_time(self) -> InputError:
        return InputError(
            f"{self._source} has no time column 't' or 'time'{_suggest('time', self.index.table.names)}; name it in a "
            "mapping under [columns], or give the sampling rate: --rate 100, or rate = 100.0 in the mapping"
        )

    def make_missing_currents(self) -> InputError:
        statement, _ = describe_missing("current", self.joints, self.index.table.names)
        return InputError(
            f"{self._source} has no {statement}, but gains are given, which turn currents into torques; remove the "
            'gains, or name the columns in a mapping: [columns] current = "name{}"'
        )

    def make_missing_column(self, key: str, name: str) -> InputError:
        return InputError(
            f"{self._source} has no column {name!r} for {key!r}{_suggest(name, self.index.table.names)}; "
            "correct the name, or choose the columns in a mapping"
        )

    def make_several_times(self, positions: Sequence[int]) -> InputError:
        listed = [self.index.table.names[k] for k in positions]
        return InputError(
            f"{self._source} has several columns of time ({', '.join(listed)}); choose one in a mapping: "
            f'[columns] t = "{listed[0]}"'
        )

    def make_gains_needed(self, currents: Sequence[ColumnFamily], computed: Sequence[ColumnFamily]) -> InputError:
        """Return the error about currents without gains; ``computed`` are torques that a controller computed."""
        shown = ", ".join(map(self._show, currents))
        also = "".join(
            f"; or, for the torques that the controller computed from its own model, a mapping: [columns] tau = "
            f'"{family.template}"'
            for family in computed
        )
        return InputError(
            f"{self._source} contains motor currents ({shown}) but no measured torques; give the torque constants in "
            f"Nm/A at the joint (torque constant × gear ratio): --gain, one number for each joint{also}"
        )

    def make_ambiguity(self, key: str, families: Sequence[ColumnFamily]) -> InputError:
        shown = "; ".join(map(self._show, families))
        first = families[0]
        name = self.index.get_name(first.members[0][0])
        reference = f'["{name}", …]' if first.by_joint else f'"{first.template}"'
        return InputError(
            f"{self._source} has several groups of columns with {QUANTITY_NOUNS[key]} ({shown}); choose "
            f"{self._suggest_group(families)}one in a mapping: [columns] {key} = {reference}"
        )

    def _suggest_group(self, families: Sequence[ColumnFamily]) -> str:
        """Return how to choose the group or struct of a family, if the families are in several."""
        scopes = [drop_quantity(family.scope) for family in families]
        if not self.index.table.has_groups or len(set(scopes)) < len(scopes) or not scopes[0]:
            return ""
        parts = re.split(r"[/.]", self.index.get_name(families[0].members[0][0]).strip("/."))
        return f"a group with --topic {'/'.join(parts[: len(scopes[0])])}, or "

    def make_incomplete(self, key: str, family: ColumnFamily, *, has_positions: bool) -> InputError:
        """Say which joints or numbers of a quantity are missing; ``has_positions``: all joints have positions."""
        for name, _ in family.members:
            self.index.find_position(name)  # a repeated name is the likely cause, and raises an error
        n, count = len(self.joints), len(family.members)
        shown = f"{'column' if count == 1 else 'columns'} {self._show(family)}"
        actuated = f"the robot has {n} actuated coordinates ({', '.join(self.joints)})"
        if family.by_joint:
            known = [joint for joint in self.joints if joint in family.indices]
            statement = f"has {QUANTITY_NOUNS[key]} of {len(known)} joints ({shown})"
        else:
            known = list(self.joints[:count])
            statement = f"has {count} {shown}"
        if not family.by_joint and count > n:
            return InputError(
                f"{self._source} {statement}, but {actuated}; use the robot that was recorded, or choose the columns "
                "in a mapping"
            )
        if not family.by_joint and (count == n or has_positions):
            numbers = range(family.first_number, family.first_number + n)
            gap = next((k for k in numbers if k not in family.indices), family.first_number + n)
            return self.make_missing_column(key, family.template.replace("{}", str(gap)))
        missing = [joint for joint in self.joints if joint not in known]
        if has_positions:
            return InputError(
                f"{self._source} {statement}, but positions of all {n}; the {QUANTITY_NOUNS[key]} of "
                f"{', '.join(missing)} are missing: record them, or name their columns in a mapping: [columns] {key} = "
                "[…]"
            )
        condition = "" if family.by_joint else f"if it has the first {count}, "
        return InputError(
            f"{self._source} {statement}, but {actuated}; {condition}{describe_missing_joints(missing, self.joints)}"
        )

    def _show(self, family: ColumnFamily) -> str:
        """Return the first and the last name of a family, as in the file."""
        first, last = (self.index.get_name(family.members[k][0]) for k in (0, -1))
        return first if len(family.members) == 1 else f"{first} … {last}"


def _suggest(name: str, names: Sequence[str]) -> str:
    """Return in brackets the names similar to ``name``, or all names; numbered ones are shown as a group."""
    known = [each for each in names if each.strip()]
    if not known:
        return ""
    if find_similar_names(name, known):
        return f" ({suggest_names(name, known).removeprefix('; ')})"
    groups: dict[str, list[str]] = {}
    for each in known:
        groups.setdefault(_LAST_NUMBER.sub("{}", each), []).append(each)
    listed = [group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}" for group in groups.values()]
    return f" (it has {', '.join(listed[:MAX_GROUPS])}{' and more' if len(listed) > MAX_GROUPS else ''})"
