"""What the MJCF reader saw and could not keep, or changed: one sentence per kind, naming everything it concerns."""

from __future__ import annotations

from ytheta.robot.parts import Note

MOST_NAMES = 12


class Remarks:
    """Collects names under sentences with one ``{}`` in them."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, bool], list[str]] = {}

    def warn(self, sentence: str, name: str) -> None:
        """Something that the robot lacks after reading."""
        self._names.setdefault((sentence, True), []).append(name)

    def tell(self, sentence: str, name: str) -> None:
        """Something worth knowing."""
        self._names.setdefault((sentence, False), []).append(name)

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(
            Note(sentence.format(_listed(names)), warning) for (sentence, warning), names in self._names.items()
        )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
