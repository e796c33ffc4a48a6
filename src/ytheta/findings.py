"""Findings: facts about a robot, a log or an identification that a user should know, as data.

Programs branch on ``code`` and ``severity`` and read values from ``fields``; they never parse sentences. A finding is
worded once, where it is created, in two parts: a statement of the fact, and a remedy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ytheta.errors import YthetaError


class Severity(Enum):
    """How serious a finding is."""

    NOTE = "note"  # a fact worth knowing
    REPAIRED = "repaired"  # a fault that has been repaired safely
    WARNING = "warning"  # a fault that makes results worse and has no safe repair
    ERROR = "error"  # a fault that makes results wrong; the input is refused


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes
    ----------
    code       kind of the finding, such as ``"gap"`` or ``"torque sign"``
    severity   how serious the finding is
    statement  the fact, with numbers
    remedy     the repair that was made or is recommended; empty if there is none
    names      joints or links that the finding concerns; empty if it concerns none in particular
    source     log or file that the finding concerns; empty if the context identifies it
    fields     the values in the statement, for programs
    """

    code: str
    severity: Severity
    statement: str
    remedy: str = ""
    names: tuple[str, ...] = ()
    source: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.text

    @property
    def is_warning(self) -> bool:
        """Whether the finding casts doubt on results."""
        return self.severity in (Severity.WARNING, Severity.ERROR)

    @property
    def text(self) -> str:
        """The finding as one sentence."""
        source = f"{self.source}: " if self.source else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{source}{self.statement}{remedy}"

    @property
    def data(self) -> dict[str, Any]:
        """The finding as plain data, for JSON."""
        return {
            "code": str(self.code),
            "severity": self.severity.value,
            "text": self.text,
            "names": list(self.names),
            "fields": dict(self.fields),
        }


@contextmanager
def attach_findings(findings: Iterable[Finding]) -> Iterator[None]:
    """Add findings to an error that is raised in this context, because they may be its cause; notes are left out."""
    try:
        yield
    except YthetaError as error:
        for finding in findings:
            if finding.severity is not Severity.NOTE:
                error.add_note(finding.text)
        raise
