"""Which joint a column belongs to: families of columns, lists of joint names in a file, and other spellings of joints.

A family is one quantity of several joints; the names of its columns differ only in the joint or its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from ytheta.errors import InputError
from ytheta.logs.reading.column_names import ColumnName, drop_quantity, parse_label_name
from ytheta.logs.reading.table import ColumnTable, LabelColumn


@dataclass(frozen=True)
class ColumnFamily:
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


# Joint names that a file contains as texts, beside columns that are only numbered.
#
# A list of texts called ``joint_names``, ``names`` or ``joints`` gives the joints of all numbered columns at its place,
# in their order. So do numbered columns of texts, as ``name_0``, ``name_1``, … that tools write for JointState
# messages. Joints of such messages are often in alphabetical order, which is not that of the robot.

MAX_SHOWN = 6  # joint names; affects only the length of a message


@dataclass(frozen=True)
class JointLabels:
    """The joints of numbered columns, in the order of the numbers; ``name`` is that of the list or the first column.

    ``texts`` are the names in the file. Those in ``joints`` are spelled as in the robot, if it has these joints.
    """

    name: str
    joints: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, name: str, texts: Sequence[str], joints: Sequence[str]) -> JointLabels:
        """Create the labels for a robot with these joints."""
        return cls(name, spell_joints(texts, joints, numbers_suffice=True), tuple(texts))

    def describe(self) -> str:
        more = ", …" if len(self.texts) > MAX_SHOWN else ""
        return f"{self.name!r} ({', '.join(self.texts[:MAX_SHOWN])}{more})"

    def is_known(self, joints: Sequence[str]) -> bool:
        """Whether at least one of these texts is the name of one of the robot's ``joints``."""
        return bool(set(self.joints) & set(joints))


def find_joint_labels(table: ColumnTable, joints: Sequence[str], source: str) -> dict[tuple[str, ...], JointLabels]:
    """Return the joint names at every place of a table.

    Raise InputError if the texts of a column change, since its numbers are then those of several joints.
    """
    labels: dict[tuple[str, ...], JointLabels] = {}
    for name, texts in table.texts.items():
        if (parsed := parse_label_name(name)) is not None and parsed[1] is None:
            labels[parsed[0]] = JointLabels.of(name, [text.strip() for text in texts], joints)
    numbered: dict[tuple[str, ...], dict[int, str]] = {}
    for name, column in zip(table.names, table.columns, strict=True):
        parsed = parse_label_name(name) if isinstance(column, LabelColumn) else None
        if parsed is not None and parsed[1] is not None:
            numbered.setdefault(parsed[0], {}).setdefault(parsed[1], name)
    columns = dict(zip(table.names, table.columns, strict=True))
    for scope, names in numbered.items():
        read = [_read_label(columns[names[number]], names[number], source) for number in sorted(names)]
        if all(read):
            labels[scope] = JointLabels.of(names[min(names)], read, joints)
    return labels


def _read_label(column: object, name: str, source: str) -> str:
    """Return the text that all rows of a column contain; empty if it contains none."""
    assert isinstance(column, LabelColumn)
    texts = column.list_labels()
    if len(texts) > 1:
        raise InputError(
            f"{source}: the joint names in the column {name!r} change ({texts[0][:40]!r}, then {texts[1][:40]!r}), so "
            "its number is that of several joints; write one group of columns for each joint"
        )
    return texts[0].strip() if texts else ""


def choose_labels(
    labels: Mapping[tuple[str, ...], JointLabels], scope: Sequence[str], count: int
) -> JointLabels | None:
    """Return the joint names at a place, or at the nearest place around it, if there are ``count`` of them."""
    found = _find_nearest(labels, scope)
    return found if found is not None and len(found.joints) == count else None


def check_other_labels(
    labels: Mapping[tuple[str, ...], JointLabels], family: ColumnFamily, joints: Sequence[str], source: str
) -> None:
    """Raise InputError if the joint names at the place of numbered columns are more or fewer, and in another order.

    If they are in the order of the robot's joints, so are the columns.
    """
    found = _find_nearest(labels, family.scope)
    if found is None or len(found.joints) == len(family.members) or not found.is_known(joints):
        return
    order = [joints.index(label) for label in found.joints if label in joints]
    if order != sorted(order):
        raise InputError(
            f"{source} has {len(found.joints)} joint names in {found.describe()}, but {len(family.members)} columns "
            f"{family.template.replace('{}', '…')}, so it is not known which joints they belong to; choose the columns "
            f"in a mapping: [columns] {family.quantity} = […], in the order of the robot's joints"
        )


def _find_nearest(labels: Mapping[tuple[str, ...], JointLabels], scope: Sequence[str]) -> JointLabels | None:
    inner = drop_quantity(scope)
    return next((labels[inner[:depth]] for depth in range(len(inner), -1, -1) if inner[:depth] in labels), None)


def name_members(family: ColumnFamily, labels: JointLabels) -> ColumnFamily:
    """Return a family of numbered columns with joints in place of the numbers."""
    order = sorted(range(len(family.members)), key=lambda k: int(family.members[k][1].index))
    members = [
        (family.members[k][0], replace(family.members[k][1], index=label))
        for k, label in zip(order, labels.joints, strict=True)
    ]
    return ColumnFamily(family.joints, tuple(members))


# Names of joints in a log that are spelled otherwise than in the robot.
#
# The same arm is called ``elbow_joint`` in one description and ``ur10_elbow_joint`` in another, since a namespace or a
# side was put before all of its names. Names are matched only if a single rule explains all of them.


def spell_joints(names: Sequence[str], joints: Sequence[str], *, numbers_suffice: bool = False) -> tuple[str, ...]:
    """Return names with the joints of a robot spelled as there; other names stay as they are.

    Upper and lower case are the same. If no name is that of a joint, there are two further rules. All names may differ
    from the joints in a common prefix and suffix: ur10_elbow is elbow_joint. Or, beside names of other joints, all
    joints have the same prefix more or less, and no other prefix would do: left_elbow_joint is elbow_joint if there is
    no right_elbow_joint. ``numbers_suffice``: by the first rule, J1 is joint1; otherwise finger1 could be joint1, too.
    """
    lower = [name.casefold() for name in names]
    spelling = {joint.casefold(): joint for joint in joints}
    if not any(name in spelling for name in lower):
        cores = dict(zip(_strip_common(joints), joints, strict=True))
        stripped = _strip_common(names)
        are_clear = all(numbers_suffice or any(map(str.isalpha, core)) for core in cores) and "" not in cores
        if len(cores) == len(joints) and are_clear and sorted(stripped) == sorted(cores):
            return tuple(cores[core] for core in stripped)
        candidates = list(_list_prefixed_spellings(lower, spelling))
        if len(candidates) == 1:
            spelling = candidates[0]
    return tuple(spelling.get(folded, name) for folded, name in zip(lower, names, strict=True))


def _list_prefixed_spellings(names: Sequence[str], spelling: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the joints by their names with another prefix, for each prefix with which all of them are among the names.

    Names and the keys of ``spelling`` are in lower case.
    """
    present, first = set(names), next(iter(spelling), "")
    for prefix in sorted(
        {name.removesuffix(first) for name in present if name.endswith(first)} - {""} if first else ()
    ):
        longer = {prefix + key: joint for key, joint in spelling.items()}
        if present.issuperset(longer):
            yield longer
    for count in range(1, _count_common(list(spelling)) + 1):
        shorter = {key[count:]: joint for key, joint in spelling.items()}
        if "" not in shorter and present.issuperset(shorter):
            yield shorter


def _strip_common(names: Sequence[str]) -> list[str]:
    """Return names in lower case without the prefix and the suffix that all of them have."""
    lower = [name.casefold() for name in names]
    start = _count_common(lower)
    rest = [name[start:][::-1] for name in lower]
    end = _count_common(rest)
    return [name[end:][::-1] for name in rest]


def _count_common(names: Sequence[str]) -> int:
    """Return the number of characters at the start that all names have."""
    columns = zip(*names, strict=False)  # up to the end of the shortest
    return sum(1 for _ in takewhile(lambda characters: len(set(characters)) == 1, columns))
