"""What the readers of URDF, MJCF and SDF share: findings about a file, and the precision of its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.checks import MAX_CLOSURE_TOLERANCE

MAX_NAMES = 12  # largest number of names in the text of a finding


class FindingCollector:
    """Collects element names for statements; ``{}`` in a statement is replaced by the names.

    ``code`` is the code of the findings.
    """

    def __init__(self, code: str = "mjcf") -> None:
        self._code = code
        self._names: dict[tuple[str, Severity], list[str]] = {}
        self._others: list[Finding] = []

    def warn(self, statement: str, name: str) -> None:
        """Add a name to a warning. Warnings report parts of the file that the robot lacks."""
        self._names.setdefault((statement, Severity.WARNING), []).append(name)

    def note(self, statement: str, name: str) -> None:
        """Add the name of an element to a note."""
        self._names.setdefault((statement, Severity.NOTE), []).append(name)

    def add(self, finding: Finding) -> None:
        """Add a finding that has a code and fields of its own."""
        self._others.append(finding)

    @property
    def findings(self) -> tuple[Finding, ...]:
        named = (
            Finding(self._code, severity, statement.format(_list_names(names)), names=tuple(names))
            for (statement, severity), names in self._names.items()
        )
        return (*named, *self._others)


def _list_names(names: list[str]) -> str:
    return ", ".join(names[:MAX_NAMES]) + (f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else "")


# The precision of a description: how many digits its geometry has, and how well loops can close because of that.


POSE_KEYS = ("pos", "quat", "euler", "axisangle", "xyaxes", "zaxis", "axis", "anchor", "relpose", "xyz", "rpy")
POSE_ELEMENTS = ("pose", "xyz")  # of SDF, which writes numbers between tags
_NUMBER = re.compile(r"[-+]?0*\.?0*(\d*\.?\d*)")


def find_closure_tolerance(nodes: Iterable[Node]) -> float:
    """Return the gap up to which loops count as closed, from the largest number of digits of poses and axes.

    Poses with n significant digits have relative errors up to 10^(1 - n) / 2, of lengths and angles of the order of
    one. The errors of the poses of a loop add up, to ten times as much at most.
    """
    digits = max((_count_digits(word) for node in nodes for word in _list_numbers(node)), default=0)
    if digits == 0:
        return CLOSURE_TOLERANCE
    return min(MAX_CLOSURE_TOLERANCE, max(CLOSURE_TOLERANCE, 10.0 ** (1 - digits)))


def _list_numbers(node: Node) -> list[str]:
    content = node.content.split() if node.tag in POSE_ELEMENTS else []
    return [*content, *(word for key in POSE_KEYS if key in node.attributes for word in node.attributes[key].split())]


def _count_digits(word: str) -> int:
    """Return the number of significant digits, without zeros at the end."""
    match = _NUMBER.match(word.partition("e")[0].partition("E")[0])
    return len(match[1].replace(".", "").rstrip("0")) if match else 0
