"""Findings about a file: one for each statement, with the names of all elements concerned."""

from __future__ import annotations

from ytheta.findings import Finding, Severity

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
