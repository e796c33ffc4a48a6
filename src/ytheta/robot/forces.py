"""Declared forces of a robot: their rules, their shapes at given positions, and numbers for the lengths in them.

A force adds ``k * shape(q)`` to the torque of each joint it acts on. Names in its expressions are looked up in this
order: its own ``where``, positions of joints and motors, symbolic lengths of the robot. One that could mean two things
is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ytheta.errors import RobotError, suggest_names
from ytheta.files.expressions import POSITION, UNKNOWN, Expression, parse_expression
from ytheta.files.lengths import is_length_name
from ytheta.robot.parts import Force
from ytheta.robot.rules import check_numbers, check_unique, repeated


def check_forces(
    forces: Sequence[Force], *, moving: Sequence[str], taken: Collection[str], lengths: Collection[str]
) -> None:
    """Forces have names of their own and finite sizes, act on what moves, and say how in expressions that hold.

    ``moving``: everything with a position. ``taken``: names that forces must not have.
    """
    check_unique((force.name for force in forces), "force")
    for force in forces:
        place = f"force {force.name!r}"
        if force.name in taken:
            raise RobotError(f"{place} has the name of a joint, motor or link; rename the force, to {force.name}_force")
        check_numbers((force.value,), f"{place}: its value")
        if not force.torque:
            raise RobotError(f"{place} acts on nothing; name a joint and its expression under 'torque'")
        known = _check_where(force, moving, lengths)
        _check_torque(force, moving, lengths, known)


def shapes(force: Force, positions: Mapping[str, Any]) -> dict[str, Any]:
    """What the force adds per unit of its parameter, by joint, for positions of any scalar."""
    known: dict[str, Any] = {}
    for name, text in force.where:
        known[name] = parse_expression(text).evaluate(known, positions)
    return {joint: parse_expression(text).evaluate(known, positions) for joint, text in force.torque}


def find_lengths(force: Force, lengths: Collection[str]) -> frozenset[str]:
    """The symbolic lengths that a force uses."""
    used = {name for _, text in (*force.where, *force.torque) for name in parse_expression(text).names}
    return frozenset(used & set(lengths))


def with_numbers(force: Force, values: Mapping[str, float]) -> Force:
    """The same force with its symbolic lengths as named numbers of its own."""
    numbers = tuple((name, repr(float(values[name]))) for name in sorted(find_lengths(force, values)))
    return replace(force, where=(*numbers, *force.where)) if numbers else force


def _check_where(force: Force, moving: Sequence[str], lengths: Collection[str]) -> dict[str, Any]:
    """The values that are known already, wherever the robot stands; UNKNOWN for the others."""
    names = [name for name, _ in force.where]
    for name in repeated(names):
        raise RobotError(f"force {force.name!r}: 'where' defines {name!r} more than once; keep one")
    known: dict[str, Any] = dict.fromkeys(lengths, UNKNOWN)
    for k, (name, text) in enumerate(force.where):
        place = f"force {force.name!r}, where {name!r}"
        if not is_length_name(name):
            raise RobotError(
                f"{place}: this name cannot stand in expressions; use letters, digits and _ (but not 'pi')"
            )
        if name in moving or name in lengths:
            what = "a joint or motor" if name in moving else "a length"
            raise RobotError(f"{place}: {what} has this name too; give the one under 'where' another")
        expression = _parsed(text, place)
        for later in sorted(expression.names & set(names[k:])):
            raise RobotError(
                f"{place}: {text!r} uses {later!r}, which is not defined above it; put what is used first "
                "(names that need each other have no value)"
            )
        _check_names(expression, names[:k], moving, lengths, place)
        known[name] = _constants(expression, known, moving, place)
    return known


def _check_torque(force: Force, moving: Sequence[str], lengths: Collection[str], known: Mapping[str, Any]) -> None:
    for name in repeated(name for name, _ in force.torque):
        raise RobotError(f"force {force.name!r}: 'torque' names {name!r} more than once; add its expressions up")
    for name, text in force.torque:
        place = f"force {force.name!r}, torque of {name!r}"
        if name not in moving:
            raise RobotError(f"{place}: no joint that moves and no motor has this name{suggest_names(name, moving)}")
        expression = _parsed(text, place)
        _check_names(expression, [own for own, _ in force.where], moving, lengths, place)
        _constants(expression, known, moving, place)


def _check_names(
    expression: Expression, own: Sequence[str], moving: Sequence[str], lengths: Collection[str], place: str
) -> None:
    for name in sorted(expression.positions - set(moving)):
        raise RobotError(
            f"{place}: {expression.text!r} takes the position of {name!r}, but no joint that moves and no motor has "
            f"this name{suggest_names(name, moving)}"
        )
    if "pi" in moving and expression.uses_pi:
        raise RobotError(
            f"{place}: 'pi' in {expression.text!r} is the number, but a joint has this name too; write "
            f"{POSITION}('pi') for its position, or rename the joint"
        )
    for name in sorted(expression.names - set(own)):
        if name in moving and name in lengths:
            raise RobotError(
                f"{place}: {name!r} in {expression.text!r} is a position and a length; write {POSITION}({name!r}) for "
                "the position, or rename the length"
            )
        if name not in moving and name not in lengths:
            known = (*own, *moving, *lengths, "pi")
            raise RobotError(
                f"{place}: the name {name!r} in {expression.text!r} is unknown{suggest_names(name, known)}"
            )


def _parsed(text: str, place: str) -> Expression:
    try:
        return parse_expression(text)
    except RobotError as error:
        raise RobotError(f"{place}: {error}") from None


def _constants(expression: Expression, known: Mapping[str, Any], moving: Sequence[str], place: str) -> Any:
    """The value where it depends on no position; an error where a constant in it has none."""
    try:
        return expression.evaluate(known, dict.fromkeys(moving, UNKNOWN))
    except RobotError as error:
        raise RobotError(f"{place}: {error}; correct its figures") from None
