"""Symbolic angles: a name such as ``alpha1``, or its negative.

Sums and multiples are not needed: a sum is a rotation after a rotation about the same axis, and a multiple would make
the cosines of unknown angles polynomials of high degree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ytheta.errors import RobotFileError, UnsetAngleError
from ytheta.files.lengths import Length, SymbolKind, parse_scalar, shorten


@dataclass(frozen=True)
class Angle:
    """A named angle (``sign`` 1) or its negative (``sign`` -1)."""

    name: str
    sign: int = 1

    def __neg__(self) -> Angle:
        return Angle(self.name, -self.sign)

    def __str__(self) -> str:
        return self.name if self.sign == 1 else f"-{self.name}"

    def evaluate(self, values: Mapping[str, float]) -> float:
        """Return the angle in rad, given the values of named angles."""
        if self.name not in values:
            raise UnsetAngleError(
                f"the angle {self.name!r} has no value; give it one with robot.with_angles({self.name}=…) "
                f"or --angle {self.name}=VALUE"
            )
        return self.sign * values[self.name]


def parse_angle(text: str, known: frozenset[str], lengths: frozenset[str] = frozenset()) -> float | Angle:
    """Parse a text such as ``"pi/2"``, ``"alpha1"`` or ``"-alpha1"``; ``lengths`` are names that are not angles.

    RobotFileError if the text is invalid, as for ``parse_scalar``.
    """
    form = parse_scalar(text, known, kind=SymbolKind.ANGLE, others=lengths)
    if not isinstance(form, Length):
        return form
    match form.constant, form.terms:
        case 0.0, ((name, 1.0 | -1.0 as sign),):
            return Angle(name, int(sign))
    raise RobotFileError(
        f"{shorten(text)!r} is not understood: a symbolic angle cannot be added or multiplied; "
        "write the name of one angle, with or without a minus sign"
    )
