"""Joint names that a file contains as texts, beside columns that are only numbered.

A list of texts called ``joint_names``, ``names`` or ``joints`` gives the joints of all numbered columns at its place,
in their order. So do numbered columns of texts, as ``name_0``, ``name_1``, … that tools write for JointState messages.
Joints of such messages are often in alphabetical order, which is not that of the robot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ytheta.errors import InputError
from ytheta.logs.reading.columns.column_names import drop_quantity, parse_label_name
from ytheta.logs.reading.columns.families import Family
from ytheta.logs.reading.columns.joint_spelling import spell_joints
from ytheta.logs.reading.table import ColumnTable, LabelColumn

MAX_SHOWN = 6  # joint names in a message


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
    labels: Mapping[tuple[str, ...], JointLabels], family: Family, joints: Sequence[str], source: str
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


def name_members(family: Family, labels: JointLabels) -> Family:
    """Return a family of numbered columns with joints in place of the numbers."""
    order = sorted(range(len(family.members)), key=lambda k: int(family.members[k][1].index))
    members = [
        (family.members[k][0], replace(family.members[k][1], index=label))
        for k, label in zip(order, labels.joints, strict=True)
    ]
    return Family(family.joints, tuple(members))
