"""Symbolic lengths and angles of a robot: their values, changes of these values, and errors if a value is missing.

A declared symbol is a name and its value, which is None if the symbol has no value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from ytheta.errors import RobotError, UnknownNameError, UnsetAngleError, UnsetLengthError, suggest_names
from ytheta.files.symbols import SymbolKind

DeclaredSymbols: TypeAlias = tuple[tuple[str, float | None], ...]


def list_values(declared: DeclaredSymbols) -> dict[str, float]:
    """Return the values of the symbols that have one, by name."""
    return {name: value for name, value in declared if value is not None}


def find_unset(declared: DeclaredSymbols, used: Collection[str]) -> tuple[str, ...]:
    """Return the names of the used symbols that have no value, in alphabetical order."""
    return tuple(sorted(set(used) - list_values(declared).keys()))


def set_values(
    declared: DeclaredSymbols, values: Mapping[str, float], kind: SymbolKind, *, robot: str
) -> DeclaredSymbols:
    """Return the declared symbols with new values for some of them; ``robot`` is the name of the robot."""
    known = dict(declared)
    for name in values:
        if name not in known:
            raise UnknownNameError(f"robot {robot!r} has no {kind} {name!r}{suggest_names(name, known)}")
    return tuple((name, values.get(name, value)) for name, value in declared)


def check_all_set(unset: Collection[str], kind: SymbolKind, *, robot: str, inertias_unknown: bool) -> None:
    """Raise UnsetLengthError or UnsetAngleError if there are ``unset`` symbols, which are used but have no value."""
    error = {SymbolKind.LENGTH: UnsetLengthError, SymbolKind.ANGLE: UnsetAngleError}[kind]
    works = {
        SymbolKind.LENGTH: "identify and base",
        SymbolKind.ANGLE: "identify, base --method ha and derive_regressor",
    }
    for name in unset:
        if inertias_unknown:
            raise error(_explain_unknown_inertias(robot))
        raise error(
            f"robot {robot!r}: the {kind} {name!r} has no value, but a number is needed; set it with "
            f"robot.with_{kind}s({name}=…), --{kind} {name}=VALUE, or under [{kind}s] in its file; without it, "
            f"{works[kind]} still work, and predict with an identified model"
        )


def check_may_be_set(names: Collection[str], *, robot: str, inertias_unknown: bool) -> None:
    """Raise RobotError if there are names of lengths or angles to be set, but the inertias are unknown."""
    if names and inertias_unknown:
        raise RobotError(
            f"{', '.join(map(repr, names))} cannot be set: {_explain_unknown_inertias(robot)}; to identify "
            "inertias, set lengths and angles in the description from which it was identified"
        )


def _explain_unknown_inertias(robot: str) -> str:
    return (
        f"robot {robot!r} was identified with unknown geometry, so its links have no inertias; for torques, "
        "use predict, or inverse_dynamics() of the model or identification"
    )
