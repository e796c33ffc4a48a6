"""Findings: what a user should know about a robot, a log or a fit, as data.

Code branches on ``code`` and ``severity`` and reads figures from ``fields``; nothing takes the sentence apart. Whoever
makes a finding words it, once, in two parts: what is the case, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Severity(Enum):
    """How serious a finding is."""

    NOTE = "note"  # worth knowing
    REPAIRED = "repaired"  # was wrong, and a safe repair was made
    WARNING = "warning"  # makes results worse; there is no safe repair
    ERROR = "error"  # makes results wrong; the input is refused


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes
    ----------
    code       what kind of finding it is, such as ``"gap"`` or ``"torque sign"``
    severity   how serious it is
    statement  what is the case, with figures
    remedy     what was done or should be done about it; empty if nothing
    names      the joints or links it is about, if it is about some of them
    source     the log or file it is about; empty if that is clear from the context
    fields     the figures of the statement, for programs
    """

    code: str
    severity: Severity
    statement: str
    remedy: str = ""
    names: tuple[str, ...] = ()
    source: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def is_warning(self) -> bool:
        """Whether it casts doubt on results."""
        return self.severity in (Severity.WARNING, Severity.ERROR)

    @property
    def data(self) -> dict[str, Any]:
        """The finding as plain data, for JSON."""
        parts = {"code": self.code, "severity": self.severity.value, "text": self.text, "names": list(self.names)}
        return {**parts, "fields": dict(self.fields)}

    @property
    def text(self) -> str:
        """The finding as one sentence."""
        source = f"{self.source}: " if self.source else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{source}{self.statement}{remedy}"
