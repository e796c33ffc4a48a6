"""Error messages about columns that are missing, incomplete or ambiguous."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ytheta.errors import InputError, find_similar_names, suggest_names
from ytheta.logs.reading.columns.column_index import ColumnIndex
from ytheta.logs.reading.columns.column_names import drop_quantity
from ytheta.logs.reading.columns.families import Family, describe_missing_joints
from ytheta.logs.reading.columns.words import QUANTITY_WORDS

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
MAX_GROUPS = 12  # groups of names in an error message
LISTED_WORDS = 3  # words for a quantity in an error message

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

    def make_missing_quantity(self, key: str, used: Collection[int], commands: Sequence[Family]) -> InputError:
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

    def make_gains_needed(self, currents: Sequence[Family], computed: Sequence[Family]) -> InputError:
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

    def make_ambiguity(self, key: str, families: Sequence[Family]) -> InputError:
        shown = "; ".join(map(self._show, families))
        first = families[0]
        name = self.index.get_name(first.members[0][0])
        reference = f'["{name}", …]' if first.by_joint else f'"{first.template}"'
        return InputError(
            f"{self._source} has several groups of columns with {QUANTITY_NOUNS[key]} ({shown}); choose "
            f"{self._suggest_group(families)}one in a mapping: [columns] {key} = {reference}"
        )

    def _suggest_group(self, families: Sequence[Family]) -> str:
        """Return how to choose the group or struct of a family, if the families are in several."""
        scopes = [drop_quantity(family.scope) for family in families]
        if not self.index.table.has_groups or len(set(scopes)) < len(scopes) or not scopes[0]:
            return ""
        parts = re.split(r"[/.]", self.index.get_name(families[0].members[0][0]).strip("/."))
        return f"a group with --topic {'/'.join(parts[: len(scopes[0])])}, or "

    def make_incomplete(self, key: str, family: Family, *, has_positions: bool) -> InputError:
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

    def _show(self, family: Family) -> str:
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
