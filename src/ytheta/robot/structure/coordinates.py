"""Coordinates of a robot: their names, the linear maps to joint and motor positions, and checks.

The joint positions are q = A x + b, where x are the coordinates; see ``robot.robot``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ytheta.errors import RobotError, UnknownNameError, suggest_names
from ytheta.robot.checks import check_finite, check_size, check_unique, find_repeated
from ytheta.robot.parts import Coupling, Joint, Loop, Motor
from ytheta.shapes import Float

MAX_RATIO = 1e9  # of positions or velocities of coupled parts; larger than that of any gear


def check_motors(motors: Sequence[Motor], joints: Sequence[Joint], loops: Sequence[Loop]) -> None:
    """Check that motors have unique names, and that ``turns_with`` names movable joints."""
    others = (*(joint.name for joint in joints), *(loop.name for loop in loops))
    check_unique((*others, *(motor.name for motor in motors)), "coordinate")
    movable = {joint.name for joint in joints if joint.moves}
    for motor in motors:
        place = f"motor {motor.name!r}, turns_with"
        for name, _ in motor.turns_with:
            if name not in movable:
                raise RobotError(f"{place}: {name!r} is not a movable joint{suggest_names(name, movable)}")
        for name in find_repeated(name for name, _ in motor.turns_with):
            raise RobotError(f"{place} names {name!r} more than once; add up its factors")
        check_finite((factor for _, factor in motor.turns_with), f"{place}: its factors")


def check_couplings(couplings: Sequence[Coupling], movable: Sequence[Joint], motors: Sequence[Motor]) -> None:
    """Check that couplings determine movable joints, no joint twice, and that their terms are joints or motors."""
    names = {joint.name for joint in movable}
    known = names | {motor.name for motor in motors if motor.is_coordinate}
    dependent = {motor.name for motor in motors} - known
    check_unique((coupling.joint for coupling in couplings), "coupled joint")
    for coupling in couplings:
        place = f"the coupling of joint {coupling.joint!r}"
        if coupling.joint not in names:
            hint = suggest_names(coupling.joint, names)
            raise RobotError(f"a coupling determines {coupling.joint!r}, which is not a movable joint{hint}")
        for name, _ in coupling.terms:
            if name in dependent:
                raise RobotError(
                    f"{place} uses the motor {name!r}, whose position depends on joints; "
                    "name these joints instead, or remove 'turns_with' from the motor"
                )
            if name not in known:
                hint = suggest_names(name, known)
                raise RobotError(f"{place} uses {name!r}, which is neither a movable joint nor a motor{hint}")
        for name in find_repeated(name for name, _ in coupling.terms):
            raise RobotError(f"{place} names {name!r} more than once; add up its factors")
        numbers = (coupling.offset, *(factor for _, factor in coupling.terms))
        check_finite(numbers, f"{place}: its factors and its offset")


def check_actuated(
    actuated: Sequence[str], coordinates: Sequence[str], in_loops: Collection[str], *, has_loops: bool
) -> None:
    """Check that actuated coordinates exist, and that all coordinates outside loops are actuated."""
    check_unique(actuated, "actuated coordinate")
    known, chosen = set(coordinates), set(actuated)
    for name in actuated:
        if name not in known:
            raise RobotError(f"the actuated coordinate {name!r} does not exist{suggest_names(name, known)}")
    if has_loops and not actuated:
        return  # they may be chosen later; functions that need actuated coordinates check that there are any
    free = [name for name in coordinates if name not in chosen and name not in in_loops]
    if free:
        raise RobotError(
            f"{free[0]!r} is neither actuated nor part of a loop, so nothing determines it; add it to 'actuated'"
        )


def check_home(home: Sequence[tuple[str, float]], coordinates: Sequence[str], robot: str) -> None:
    """Check that the home configuration gives finite positions of existing coordinates, each once."""
    known = set(coordinates)
    for name in find_repeated(name for name, _ in home):
        raise RobotError(f"robot {robot!r}: 'home' names {name!r} more than once; keep one")
    for name, value in home:
        if name not in known:
            hint = suggest_names(name, known)
            raise UnknownNameError(f"robot {robot!r}: 'home' names {name!r}, which is not a coordinate{hint}")
        check_finite((value,), f"robot {robot!r}: the 'home' of {name!r}")


def list_coordinates(
    movable: Sequence[Joint], couplings: Sequence[Coupling], motors: Sequence[Motor]
) -> tuple[str, ...]:
    """Return the coordinates: first the joints that no coupling determines, in tree order, then independent motors."""
    coupled = {coupling.joint for coupling in couplings}
    return (
        *(joint.name for joint in movable if joint.name not in coupled),
        *(motor.name for motor in motors if motor.is_coordinate),
    )


def build_coupling_map(
    couplings: Sequence[Coupling], positions: Sequence[str], coordinates: Sequence[str]
) -> tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]]:
    """Return A and b of q = A x + b, where q has these ``positions``.

    A coupling may depend on coupled joints (a mimic of a mimic).
    """
    column = {name: k for k, name in enumerate(coordinates)}
    row = {name: k for k, name in enumerate(positions)}
    factors, offset = np.zeros((len(row), len(column))), np.zeros(len(row))
    for name in row.keys() & column.keys():
        factors[row[name], column[name]] = 1.0
    for coupling in _sort_by_dependency(couplings):
        k = row[coupling.joint]
        offset[k] = coupling.offset
        with np.errstate(over="ignore", invalid="ignore"):  # the result is checked below
            for term, factor in coupling.terms:
                if term in row:
                    factors[k] += factor * factors[row[term]]
                    offset[k] += factor * offset[row[term]]
                else:  # an independent motor
                    factors[k, column[term]] += factor
        check_finite((offset[k], *factors[k]), f"the coupling of joint {coupling.joint!r}: its result")
        check_size(
            (offset[k], *factors[k]), MAX_RATIO, f"the coupling of joint {coupling.joint!r} contains", "SI units"
        )
    return factors, offset


def build_motor_map(
    motors: Sequence[Motor],
    positions: Sequence[str],
    coordinates: Sequence[str],
    coupling_map: tuple[Float[np.ndarray, "joints coordinates"], Float[np.ndarray, "joints"]],
) -> tuple[Float[np.ndarray, "motors coordinates"], Float[np.ndarray, "motors"]]:
    """Return factors F and offsets c of the motor positions F x + c; ``coupling_map`` is A and b of q = A x + b."""
    joint_factors, joint_offset = coupling_map
    row = {name: k for k, name in enumerate(positions)}
    factors, offset = np.zeros((len(motors), len(coordinates))), np.zeros(len(motors))
    for k, motor in enumerate(motors):
        if motor.is_coordinate:
            factors[k, coordinates.index(motor.name)] = 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # the result is checked below
            for name, factor in motor.turns_with:
                factors[k] += factor * joint_factors[row[name]]
                offset[k] += factor * joint_offset[row[name]]
        check_finite((offset[k], *factors[k]), f"motor {motor.name!r}, turns_with: its result")
        check_size((offset[k], *factors[k]), MAX_RATIO, f"motor {motor.name!r}, turns_with, contains", "SI units")
    return factors, offset


def _sort_by_dependency(couplings: Sequence[Coupling]) -> Iterator[Coupling]:
    """Yield each coupling after the couplings that determine the joints in its terms."""
    by_joint = {coupling.joint: coupling for coupling in couplings}
    done: set[str] = set()
    for start in by_joint:
        path = {start: _list_term_names(by_joint[start])} if start not in done else {}
        while path:
            name = next(reversed(path))
            term = next(path[name], None)
            if term is None:
                path.popitem()
                done.add(name)
                yield by_joint[name]
            elif term in path:
                cycle = _format_cycle(list(path), term)
                raise RobotError(f"couplings are circular: {cycle}; remove one of them")
            elif term in by_joint and term not in done:
                path[term] = _list_term_names(by_joint[term])


def _list_term_names(coupling: Coupling) -> Iterator[str]:
    return (name for name, _ in coupling.terms)


def _format_cycle(path: list[str], repeated: str) -> str:
    names = [*path[path.index(repeated) :], repeated]
    return " → ".join(names if len(names) <= 8 else [*names[:6], "…", repeated])
