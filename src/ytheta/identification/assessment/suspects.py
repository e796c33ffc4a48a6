"""The mistakes that may have been made in a log, as data: what mends them, and what to type.

A suspect is a kind of mistake in certain joints. It has a value, such as a delay, of which the likeliest is looked for
from several starts, or none, such as a sign. What right logs have of such a value is its usual deviation: delays of
filters and buses, errors of zero positions and of gains. Only what is larger is a mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ytheta.errors import ClosureError
from ytheta.identification.assessment.interpretation import Change, Equations, Fit, Interpretation
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.checking.velocities import compare_with_positions
from ytheta.logs.log import Log
from ytheta.shapes import Int, PerJoint

# Standard deviations of values in logs without a mistake: delays in s, zero positions in rad and m, and the logarithms
# of factors of time, of the torque of one joint, and of all torques. Chosen on: reasoning, and the recorded arms, whose
# torques are up to 20 ms late; gains of motors and masses of whole descriptions are off by some and by tens of percent.
USUAL_DELAY, USUAL_OFFSET, USUAL_TIME, USUAL_GAIN, USUAL_SCALE = 0.005, np.radians(0.6), 0.006, 0.045, 0.12
USUAL_SLIDE_OFFSET = 0.002
# Joints of a robot up to which pairs of joints are suspected. Chosen on: rule of thumb.
MAX_JOINTS = 12
DEGREE = np.pi / 180.0  # Fixed by: mathematics.


@dataclass(frozen=True, eq=False)
class Mistake:
    """A mistake that may have been made.

    Attributes
    ----------
    code            kind of the mistake
    statement       what is wrong, as the beginning of a sentence
    remedy          what to type
    change          what mends the log
    names           joints concerned
    fields          values of the statement, for programs
    find_equations  returns the equations with another description or orientation; None for those of the change
    log_odds        logarithm of what speaks for the mistake beside the equations
    reason          what that is, as a clause
    """

    code: FitFindingCode
    statement: str
    remedy: str
    change: Change = field(default_factory=Change)
    names: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    find_equations: Callable[[], Equations] | None = None
    log_odds: float = 0.0
    reason: str = ""

    def fit(self, interpretation: Interpretation, start: Fit | None = None) -> Fit | None:
        """Return the fit in which the mistake is mended; None if the robot cannot take all poses, with loops."""
        try:
            equations = interpretation.find_equations(self.change, self.find_equations)
            fit = equations.fit(self.change.torque, start)
        except ClosureError:
            return None
        return fit if np.isfinite(fit.log_evidence) else None


@dataclass(frozen=True, eq=False)
class Suspect:
    """A kind of mistake.

    Attributes
    ----------
    make    returns the mistake with a value; without a mistake it is zero
    starts  values from which the likeliest one is looked for
    usual   standard deviation of the value in logs without a mistake; 0 for mistakes without a value
    round   values that are likelier than those near them
    mistakes
            number of mistakes that were made independently
    """

    make: Callable[[float], Mistake]
    starts: tuple[float, ...] = (0.0,)
    usual: float = 0.0
    round: tuple[float, ...] = ()
    mistakes: int = 1

    @property
    def count(self) -> float:
        """The number of values that can be told apart."""
        return max(1.0, (max(self.starts) - min(self.starts)) / (2.0 * self.usual)) if self.usual else 1.0


def list_suspects(interpretation: Interpretation, logs: Sequence[Log]) -> Iterator[Suspect]:
    """Yield all mistakes that may have been made in the logs of a fixed or floating robot."""
    count, mapped = len(interpretation.robot.actuated), interpretation.mapped.tolist()
    every, single = list(range(count)), [[j] for j in range(count)] if count > 1 else []
    pairs = [list(pair) for pair in combinations(range(count), 2)] if 2 < count <= MAX_JOINTS else []
    for joints in (every, *single):
        yield Suspect(partial(_make_torque_sign, interpretation, joints))
    for joints in pairs:
        yield Suspect(partial(_make_torque_sign, interpretation, joints), mistakes=2)
    for order in list_permutations(interpretation.robot.actuated):
        for quantities in ("tau", "q and tau", "q"):
            yield Suspect(partial(_make_order, interpretation, order, quantities))
    for j in mapped:
        for has_torque in (False, True):
            yield Suspect(partial(_make_position_sign, interpretation, j, has_torque))
    slides = [j for j in mapped if interpretation.slides[j]]
    hinges = [j for j in mapped if not interpretation.slides[j]]
    for factor in (1e-3, 1e-2) if slides else ():
        yield Suspect(partial(_make_unit, interpretation, slides, factor))
    for joints in (hinges, *([[j] for j in hinges] if len(hinges) > 1 else ())) if hinges else ():
        yield Suspect(partial(_make_unit, interpretation, joints, DEGREE))
    powers = tuple(float(each) for each in np.log(10.0) * np.arange(-6, 7) if each)
    if interpretation.has_inertias:
        starts = tuple(sorted({*powers, -1.0, 1.0}))
        yield Suspect(partial(_make_scale, interpretation, every), starts, USUAL_SCALE, powers)
    starts = tuple(np.log([1e-3, 0.03, 0.25, 0.6, 1.7, 4.0, 30.0, 1e3]).tolist())
    for joints in single:
        yield Suspect(partial(_make_scale, interpretation, joints), starts, USUAL_GAIN, powers)
    angles = np.radians([-135.0, -90.0, -40.0, -12.0, 12.0, 40.0, 90.0, 135.0, 180.0])
    for j in hinges:
        right = tuple(angles[[1, 6, 8]].tolist())
        yield Suspect(partial(_make_offset, interpretation, j), tuple(angles.tolist()), USUAL_OFFSET, right)
    for j in slides:
        yield Suspect(partial(_make_offset, interpretation, j), (-0.3, -0.1, 0.1, 0.3), USUAL_SLIDE_OFFSET)
    yield Suspect(
        partial(_make_delay, interpretation, "tau", every),
        (-0.5, -0.25, -0.1, -0.04, 0.04, 0.1, 0.25, 0.5),
        USUAL_DELAY,
    )
    for quantity in ("q", "tau") if count > 1 else ():
        for j in mapped:
            yield Suspect(partial(_make_delay, interpretation, quantity, [j]), (-0.1, 0.1), USUAL_DELAY)
    yield _suspect_time(logs)


def _name(interpretation: Interpretation, joints: Sequence[int]) -> tuple[str, ...]:
    return tuple(interpretation.robot.actuated[j] for j in joints)


def _fill(interpretation: Interpretation, joints: Sequence[int], value: float, other: float) -> PerJoint:
    """Return one value for some joints and another one for the rest."""
    values = np.full(len(interpretation.robot.actuated), other)
    values[list(joints)] = value
    return values


def _make_torque_sign(interpretation: Interpretation, joints: Sequence[int], _value: float = 0.0) -> Mistake:
    signs, names = _fill(interpretation, joints, -1.0, 1.0), _name(interpretation, joints)
    subject = "all torques have" if (signs < 0.0).all() else f"the torque of {', '.join(names)} has"
    return Mistake(
        FitFindingCode.TORQUE_SIGN,
        f"{subject} the wrong sign",
        f"write [sign] tau = {format_row(signs)} in the mapping, multiplied by any signs already there",
        Change(torque=np.diag(signs)),
        names,
        {"signs": signs.tolist()},
    )


def _make_scale(interpretation: Interpretation, joints: Sequence[int], value: float) -> Mistake:
    """Return the mistake that the torques of some joints have to be multiplied by exp(value)."""
    factor, names = float(f"{np.exp(value):.3g}"), _name(interpretation, joints)
    factors = _fill(interpretation, joints, factor, 1.0)
    is_every = len(names) == len(factors)
    subject = "all torques are" if is_every and len(names) > 1 else f"the torque of {', '.join(names)} is"
    size = f"{format_number(1.0 / factor)} times as large as" if factor < 1.0 else f"{factor:.3g} times smaller than"
    other = ", as if of motors or in amperes" if factor > 1.0 else ""
    unit = {1e-3: ", as if in Nmm", 1e3: ", as if in kNm"}.get(factor, other)
    entry = format_number(factor) if is_every else format_row(factors)
    return Mistake(
        FitFindingCode.TORQUE_SCALE,
        f"{subject} about {size} those of the described masses{unit}",
        f"write [scale] tau = {entry} in the mapping, multiplied by any scale already there, or the gains of motor "
        "currents in [gain]",
        Change(torque=np.diag(factors)),
        names,
        {"factors": factors.tolist()},
    )


def list_permutations(joints: tuple[str, ...]) -> list[Int[np.ndarray, " joints"]]:
    """Return orders in which columns may have been recorded: exchanged pairs, reversed, shifted by one, by name."""
    n = len(joints)
    orders = []
    for i, j in combinations(range(n), 2) if n <= MAX_JOINTS else ():
        order = np.arange(n)
        order[[i, j]] = j, i
        orders.append(order)
    by_name = np.empty(n, dtype=int)
    by_name[np.argsort(np.array(joints), kind="stable")] = np.arange(n)
    orders += [np.arange(n)[::-1], np.roll(np.arange(n), 1), np.roll(np.arange(n), -1), by_name]
    unique = {tuple(order.tolist()): order for order in orders}
    unique.pop(tuple(range(n)), None)
    return list(unique.values())


def _make_order(
    interpretation: Interpretation, order: Int[np.ndarray, " joints"], quantities: str, _value: float = 0.0
) -> Mistake:
    """Return the mistake that joint j of these quantities was recorded in the columns of joint ``order[j]``."""
    joints = interpretation.robot.actuated
    names = tuple(joints[j] for j, source in enumerate(order) if j != source)
    what = {"q": "the positions", "tau": "the torques", "q and tau": "the columns"}[quantities]
    statement = f"{what} of {' and '.join(names)} are exchanged"
    if len(names) != 2:
        recorded = [joints[j] for j in np.argsort(order)]
        statement = f"{what} of the joints are in another order, that of {', '.join(recorded)}"
    parts, matrix = quantities.split(" and "), np.eye(len(joints))[order]
    columns = {part: ", ".join(f'"{part}{source + 1}"' for source in order) for part in parts}
    entries = [f"{part} = [{row}]" for part, row in columns.items()]
    likewise = ", and likewise for qd, if it is recorded" if "q" in parts else ""
    return Mistake(
        FitFindingCode.JOINT_ORDER,
        statement,
        f"write {', '.join(entries)} into [columns] of the mapping, with the names of your columns{likewise}",
        Change(torque=matrix if "tau" in parts else None, position=matrix if "q" in parts else None),
        names,
        {"order": order.tolist(), "quantities": parts},
    )


def _make_position_sign(interpretation: Interpretation, j: int, has_torque: bool, _value: float = 0.0) -> Mistake:
    """Return the mistake that the position of a joint is reversed, with or without its torque."""
    (name,), signs = _name(interpretation, [j]), _fill(interpretation, [j], -1.0, 1.0)
    row = format_row(signs[interpretation.mapped])
    statement, torque = f"the position of {name} has the wrong sign", ""
    if has_torque:
        statement = f"{name} turns the other way round: its position and its torque have the wrong sign"
        torque = f", tau = {row}"
    return Mistake(
        FitFindingCode.POSITION_SIGN,
        statement,
        f"write [sign] q = {row}{torque} and the same for qd, if it is recorded, in the mapping",
        Change(torque=np.diag(signs) if has_torque else None, position=np.diag(signs)),
        (name,),
        {"signs": signs.tolist(), "torque": has_torque},
    )


def _make_unit(interpretation: Interpretation, joints: Sequence[int], factor: float, _value: float = 0.0) -> Mistake:
    """Return the mistake that positions of some joints have to be multiplied by a factor."""
    factors, names = _fill(interpretation, joints, factor, 1.0), _name(interpretation, joints)
    text = {1e-3: '"mm"', DEGREE: '"degrees"'}.get(factor, f"{factor:g}")
    usual = np.where(interpretation.slides, '"metres"', '"radians"')
    entries = [text if k in joints else str(usual[k]) for k in interpretation.mapped]
    size = "in degrees" if factor == DEGREE else f"{1.0 / factor:.0f} times too large"
    return Mistake(
        FitFindingCode.POSITION_SCALE,
        f"the position of {', '.join(names)} is {size}",
        f"write [scale] q = [{', '.join(entries)}] in the mapping, and scale qd likewise, if it is recorded",
        Change(position=np.diag(factors)),
        names,
        {"factors": factors.tolist()},
    )


def _make_offset(interpretation: Interpretation, j: int, value: float) -> Mistake:
    """Return the mistake that the zero position of a joint is off."""
    size = f"{1e3 * value:.3g} mm" if interpretation.slides[j] else f"{np.degrees(value):.3g}°"
    text = {-90.0: '"-pi/2"', 90.0: '"pi/2"', 180.0: '"pi"'}.get(round(np.degrees(value), 9), f"{value:.3g}")
    offsets = _fill(interpretation, [j], value if text.startswith('"') else float(text), 0.0)
    row = ", ".join(text if k == j else "0" for k in interpretation.mapped)
    names = _name(interpretation, [j])
    return Mistake(
        FitFindingCode.POSITION_OFFSET,
        f"the zero position of {names[0]} is off by {size}",
        f"write [offset] q = [{row}] in the mapping, added to any offsets already there",
        Change(offset=offsets),
        names,
        {"offsets": offsets.tolist()},
    )


def _make_delay(interpretation: Interpretation, quantity: str, joints: Sequence[int], value: float) -> Mistake:
    """Return the mistake that a quantity of some joints was recorded ``value`` seconds late."""
    value = round(value, 3)
    delays, names = _fill(interpretation, joints, value, 0.0), _name(interpretation, joints)
    noun, other = ("torque", "position") if quantity == "tau" else ("position", "torque")
    if len(names) == len(delays):
        late, early = (noun, other) if value > 0.0 else (other, noun)
        statement, row, names = (
            f"{late}s were recorded about {abs(value):.2g} s later than {early}s",
            f"{value:.3g}",
            (),
        )
    else:
        when = "later" if value > 0.0 else "earlier"
        statement = f"the {noun} of {', '.join(names)} was recorded about {abs(value):.2g} s {when} than the others"
        row = format_row(delays[interpretation.mapped])
    likewise = ", and the same for qd, if it is recorded" if quantity == "q" else ""
    return Mistake(
        FitFindingCode.DELAY,
        statement,
        f"write [delay] {quantity} = {row} in the mapping{likewise}",
        Change(tau_delay=delays) if quantity == "tau" else Change(q_delay=delays),
        names,
        {"delay": value, "quantity": quantity},
    )


# Time: recorded velocities show its unit, too.

# Relative standard deviation of recorded velocity divided by the derivative of position, if time is right. Chosen on:
# rule of thumb; filters and gains.
VELOCITY_STD = 0.02
# Largest logarithm of odds with which recorded velocities speak for a factor of time. Chosen on: reasoning; so large
# that they suffice if torques do not contradict, since velocities may be in another unit than positions.
MAX_VELOCITY_LOG_ODDS = 18.0


@dataclass(frozen=True)
class VelocityRatio:
    """Recorded velocity divided by the derivative of position, as a logarithm: median of all joints, and spread."""

    median: float
    std: float

    @classmethod
    def of(cls, logs: Sequence[Log]) -> VelocityRatio | None:
        """Return the ratio of logs; None if a log has no velocities that follow its positions."""
        ratios = [fit.ratio for log in logs if log.qd is not None for fit in compare_with_positions(log).values()]
        if not ratios or min(ratios) <= 0.0 or any(log.qd is None for log in logs):
            return None
        values = np.log(ratios)
        median = float(np.median(values))
        return cls(median, max(VELOCITY_STD, float(abs(values - median).max())))

    def compute_log_odds(self, value: float) -> float:
        """Return how much likelier the ratio is if time has to be multiplied by exp(value)."""
        squares = (self.median / self.std) ** 2, ((self.median + value) / self.std) ** 2
        before, after = (min(0.5 * square, MAX_VELOCITY_LOG_ODDS) for square in squares)
        return before - after


def _suspect_time(logs: Sequence[Log]) -> Suspect:
    ratio = VelocityRatio.of(logs)
    factors = (1e-3, 0.01, 0.1, 0.125, 0.2, 0.25, 0.4, 0.5, 2.0 / 3.0, 1.5, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0, 100.0, 1e3)
    starts = {-0.25, 0.25, *np.log([1e-3, 0.1, 0.25, 0.5, 2.0, 4.0, 10.0, 1e3]).tolist()}
    if ratio is not None and abs(ratio.median) > VELOCITY_STD:
        starts.add(-ratio.median)
    make = partial(_make_time, ratio)
    return Suspect(make, tuple(sorted(starts)), USUAL_TIME, tuple(np.log(factors).tolist()))


def _make_time(ratio: VelocityRatio | None, value: float) -> Mistake:
    factor = float(f"{np.exp(value):.4g}")
    size, kind = (1.0 / factor, "long") if factor < 1.0 else (factor, "short")
    log_odds = 0.0 if ratio is None else ratio.compute_log_odds(value)
    reason = ""
    if ratio is not None and log_odds > 0.0:
        reason = f"recorded velocity is {np.exp(ratio.median):.3g} times the derivative of position in all joints"
    return Mistake(
        FitFindingCode.TIME_SCALE,
        f"time steps are {format_number(size)} times too {kind}",
        f"write [scale] t = {format_number(factor)} in the mapping, or multiply its rate by "
        f"{format_number(1.0 / factor)}",
        Change(time=factor),
        fields={"factor": factor},
        log_odds=log_odds,
        reason=reason,
    )


def format_number(value: float) -> str:
    """Return a number without exponent if it is not very small or large."""
    return f"{float(f'{value:.4g}'):.10g}" if 1e-6 <= abs(value) < 1e7 else f"{value:.3g}"


def format_row(values: PerJoint) -> str:
    return f"[{', '.join(f'{value:.4g}' for value in values + 0.0)}]"
