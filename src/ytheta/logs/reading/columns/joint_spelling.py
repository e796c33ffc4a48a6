"""Names of joints in a log that are spelled otherwise than in the robot.

The same arm is called ``elbow_joint`` in one description and ``ur10_elbow_joint`` in another, since a namespace or a
side was put before all of its names. Names are matched only if a single rule explains all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile


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
