"""Declared forces of a robot: checks, evaluation of their shapes, and replacement of symbolic lengths by numbers.

A force adds ``k * shape(q)`` to the torque of each joint on which the force acts. A name in the expressions of the
force refers to an entry of its ``where``, to the position of a joint or motor, or to a symbolic length. Ambiguous
names are errors.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ytheta.errors import RobotError, suggest_names
from ytheta.files.expressions import POSITION, UNKNOWN, Expression, parse_expression
from ytheta.files.symbols import is_length_name
from ytheta.robot.checks import check_finite, check_unique, find_repeated
from ytheta.robot.parts import Force


def check_forces(
    forces: Sequence[Force], *, moving: Sequence[str], reserved: Collection[str], lengths: Collection[str]
) -> None:
    """Check names, values and expressions of forces.

    ``moving`` are the names of joints and motors with a position; ``reserved`` are names that a force must not have.
    """
    check_unique((force.name for force in forces), "force")
    for force in forces:
        place = f"force {force.name!r}"
        if force.name in reserved:
            raise RobotError(
                f"{place} has the name of a joint, motor or link; rename it, for example {force.name}_force"
            )
        check_finite((force.value,), f"{place}: its value")
        if not force.torque:
            raise RobotError(f"{place} does not act on a joint; name a joint and its expression under 'torque'")
        known = _check_where(force, moving, lengths)
        _check_torque(force, moving, lengths, known)


def evaluate_shapes(force: Force, positions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the torque of a force on each joint for k = 1; positions may be of any scalar type."""
    known: dict[str, Any] = {}
    for name, text in force.where:
        known[name] = parse_expression(text).evaluate(known, positions)
    return {joint: parse_expression(text).evaluate(known, positions) for joint, text in force.torque}


def find_lengths(force: Force, lengths: Collection[str]) -> frozenset[str]:
    """Return the symbolic lengths that a force uses; ``lengths`` are all declared lengths."""
    used = {name for _, text in (*force.where, *force.torque) for name in parse_expression(text).names}
    return frozenset(used & set(lengths))


def with_numbers(force: Force, values: Mapping[str, float]) -> Force:
    """Return the force with its symbolic lengths defined as numbers under ``where``."""
    numbers = tuple((name, repr(float(values[name]))) for name in sorted(find_lengths(force, values)))
    return replace(force, where=(*numbers, *force.where)) if numbers else force


def _check_where(force: Force, moving: Sequence[str], lengths: Collection[str]) -> dict[str, Any]:
    """Return the values of the names in ``where``; UNKNOWN if a value depends on positions or lengths."""
    names = [name for name, _ in force.where]
    for name in find_repeated(names):
        raise RobotError(f"force {force.name!r}: 'where' defines {name!r} more than once; keep one")
    known: dict[str, Any] = dict.fromkeys(lengths, UNKNOWN)
    for k, (name, text) in enumerate(force.where):
        place = f"force {force.name!r}, where {name!r}"
        if not is_length_name(name):
            raise RobotError(
                f"{place}: this name cannot be used in expressions; use letters, digits and _ (but not 'pi')"
            )
        if name in moving or name in lengths:
            what = "a joint or motor" if name in moving else "a length"
            raise RobotError(f"{place}: {what} also has this name; rename it under 'where'")
        expression = _parse(text, place)
        for later in sorted(expression.names & set(names[k:])):
            raise RobotError(
                f"{place}: {text!r} uses {later!r}, which is not defined above it; define it first "
                "(names must not depend on each other)"
            )
        _check_names(expression, names[:k], moving, lengths, place)
        known[name] = _evaluate_constants(expression, known, moving, place)
    return known


def _check_torque(force: Force, moving: Sequence[str], lengths: Collection[str], known: Mapping[str, Any]) -> None:
    for name in find_repeated(name for name, _ in force.torque):
        raise RobotError(f"force {force.name!r}: 'torque' names {name!r} more than once; add up its expressions")
    for name, text in force.torque:
        place = f"force {force.name!r}, torque of {name!r}"
        if name not in moving:
            raise RobotError(f"{place}: there is no movable joint or motor with this name{suggest_names(name, moving)}")
        expression = _parse(text, place)
        _check_names(expression, [name for name, _ in force.where], moving, lengths, place)
        _evaluate_constants(expression, known, moving, place)


def _check_names(
    expression: Expression, defined: Sequence[str], moving: Sequence[str], lengths: Collection[str], place: str
) -> None:
    for name in sorted(expression.positions - set(moving)):
        raise RobotError(
            f"{place}: {expression.text!r} uses the position of {name!r}, but there is no movable joint or motor "
            f"with this name{suggest_names(name, moving)}"
        )
    if "pi" in moving and expression.uses_pi:
        raise RobotError(
            f"{place}: 'pi' in {expression.text!r} is the number, but a joint also has this name; write "
            f"{POSITION}('pi') for its position, or rename the joint"
        )
    for name in sorted(expression.names - set(defined)):
        if name in moving and name in lengths:
            raise RobotError(
                f"{place}: {name!r} in {expression.text!r} is both a position and a length; write {POSITION}({name!r}) "
                "for the position, or rename the length"
            )
        if name not in moving and name not in lengths:
            known = (*defined, *moving, *lengths, "pi")
            raise RobotError(
                f"{place}: the name {name!r} in {expression.text!r} is unknown{suggest_names(name, known)}"
            )


def _parse(text: str, place: str) -> Expression:
    try:
        return parse_expression(text)
    except RobotError as error:
        raise RobotError(f"{place}: {error}") from None


def _evaluate_constants(expression: Expression, known: Mapping[str, Any], moving: Sequence[str], place: str) -> Any:
    """Return the value, or UNKNOWN if the value depends on positions; RobotError if a constant is not finite."""
    try:
        return expression.evaluate(known, dict.fromkeys(moving, UNKNOWN))
    except RobotError as error:
        raise RobotError(f"{place}: {error}; correct its numbers") from None
