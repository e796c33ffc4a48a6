"""Families of columns: one quantity of several joints, whose names differ only in the joint or its number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ytheta.logs.reading.columns.column_names import ColumnName


@dataclass(frozen=True)
class Family:
    """Columns with the same words; ``members`` are the names in lower case and their meaning, in the file's order."""

    joints: tuple[str, ...]
    members: tuple[tuple[str, ColumnName], ...]

    @property
    def quantity(self) -> str:
        return self.members[0][1].quantity

    @property
    def is_command(self) -> bool:
        """Whether a controller wants or computes these values."""
        return self.members[0][1].is_command

    @property
    def template(self) -> str:
        """The name with {} in place of the index, as in a mapping."""
        return self.members[0][1].family

    @property
    def scope(self) -> tuple[str, ...]:
        return self.members[0][1].scope

    @property
    def unit(self) -> str:
        return self.members[0][1].unit

    @property
    def by_unit(self) -> bool:
        """Whether only the unit says which quantity it is."""
        return self.members[0][1].by_unit

    @property
    def by_joint(self) -> bool:
        """Whether the index is a joint's name, not a number."""
        return isinstance(self.members[0][1].index, str)

    @cached_property
    def indices(self) -> dict[int | str, str]:
        """The name of the column of every index."""
        return {parsed.index: name for name, parsed in self.members}

    @property
    def first_number(self) -> int:
        return 0 if 0 in self.indices else 1

    @property
    def is_complete(self) -> bool:
        """Whether there is exactly one column for each joint of the robot.

        Numbers after a gap are ignored: q11 and q12 beside q1 and q2 are the columns of an array called q1.
        """
        expected = set(self._expected)
        chosen = [parsed.index for _, parsed in self.members if parsed.index in expected]
        is_longer = not self.by_joint and self.first_number + len(self.joints) in self.indices
        return len(chosen) == len(expected) == len(set(chosen)) and not is_longer

    @property
    def _expected(self) -> Sequence[int | str]:
        return self.joints if self.by_joint else range(self.first_number, self.first_number + len(self.joints))

    def list_names(self) -> list[str]:
        """Return the names of a complete family in the order of the joints."""
        return [self.indices[index] for index in self._expected]


def contradict_numbers(joints: Sequence[str]) -> bool:
    """Return whether the names of joints end in consecutive numbers, but in another order than that of the joints."""
    matches = [re.search(r"\d{1,4}$", joint) for joint in joints]
    numbers = [int(match.group()) for match in matches if match]
    first = min(numbers, default=0)
    return len(numbers) == len(joints) and numbers != sorted(numbers) == list(range(first, first + len(numbers)))


def describe_missing_joints(missing: Sequence[str], joints: Sequence[str]) -> str:
    """Return a clause on joints of a robot that a log does not contain, and what to do about them."""
    if len(missing) == len(joints):
        return (
            f"the joints of the robot have other names ({', '.join(joints)}): use the robot that was recorded, or give "
            "its joints the names in the log"
        )
    verb = "is" if len(missing) == 1 else "are"
    example = ",".join(f"{joint}=0" for joint in missing)
    return (
        f"{', '.join(missing)} {verb} missing: lock what did not move, at its position, with --lock {example}, or use "
        "the robot that was recorded"
    )
