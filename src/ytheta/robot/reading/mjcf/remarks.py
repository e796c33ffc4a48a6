"""What the MJCF reader could not keep, or changed: one finding per kind, naming everything it concerns."""

from __future__ import annotations

from ytheta.findings import Finding, Severity

MOST_NAMES = 12


class Remarks:
    """Collects names under sentences with one ``{}`` in them."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, Severity], list[str]] = {}

    def warn(self, sentence: str, name: str) -> None:
        """Add a name to a warning: something the robot lacks after reading."""
        self._names.setdefault((sentence, Severity.WARNING), []).append(name)

    def tell(self, sentence: str, name: str) -> None:
        """Add a name to a note: something worth knowing."""
        self._names.setdefault((sentence, Severity.NOTE), []).append(name)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(
            Finding("mjcf", severity, sentence.format(_listed(names)), names=tuple(names))
            for (sentence, severity), names in self._names.items()
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
