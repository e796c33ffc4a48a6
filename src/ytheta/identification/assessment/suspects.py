"""Mistakes in logs of which each may have been made: signs, orders and units, and values that are estimated.

A mistake is mended by a matrix of the torques, by another motion, or both. Mistakes with a value, such as a delay, are
lines of such mistakes: the value with the largest evidence is looked for from several starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from ytheta.errors import ClosureError
from ytheta.identification.assessment.interpretation import Equations, Fit, Interpretation, Samples
from ytheta.identification.assessment.orientation import INVERSE, SCALAR_FIRST, change_orientation
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.checking.velocities import compare_with_positions
from ytheta.logs.log import Log
from ytheta.robot.parts import JointKind
from ytheta.shapes import Bool, Float, Int, PerJoint, SquareMatrix

# Values that logs without a mistake may have: delays of filters and buses in s, errors of zero positions in rad and m,
# and the logarithms of factors of time, of the torque of one joint, and of all torques. Only what a larger value
# explains better counts. Chosen on: reasoning, and the recorded arms, whose torques are up to 20 ms late; gains of
# motors are off by tens of percent, and descriptions that take hollow links for solid ones by a factor of two.
MAX_DELAY, MAX_OFFSET, MAX_TIME, MAX_GAIN, MAX_SCALE = 0.025, np.radians(3.0), 0.03, np.log(1.25), np.log(2.0)
MAX_SLIDE_OFFSET = 0.01
# Logarithm of the odds of mistakes that are rarer than others, relative to those: two joints at once, reversed axes and
# values, each of which is one of about fifty that could be told apart. Chosen on: rule of thumb.
RARE_LOG_ODDS = -np.log(50.0)
# Joints of a robot up to which exchanges of pairs of joints are tried. Chosen on: rule of thumb.
MAX_JOINTS = 12
DEGREE = np.pi / 180.0  # Fixed by: mathematics.


@dataclass(frozen=True, eq=False)
class Mistake:
    """A mistake that may have been made.

    Attributes
    ----------
    code       kind of the mistake
    statement  what is wrong, as the beginning of a sentence
    remedy     what to type
    find_equations
               returns the equations in which the motion or the description is mended
    torque     matrix that mends the torques; None if they are right
    names      joints concerned
    fields     values of the statement, for programs
    samples    the mended motion; None if it is right
    log_odds   logarithm of what speaks for the mistake beside the equations, relative to other mistakes
    reason     what that is, as a clause
    """

    code: FitFindingCode
    statement: str
    remedy: str
    find_equations: Callable[[], Equations]
    torque: SquareMatrix | None = None
    names: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    samples: Samples | None = None
    log_odds: float = 0.0
    reason: str = ""

    def fit(self, start: Fit | None = None) -> Fit | None:
        """Return the fit in which the mistake is mended; None if the robot cannot take all poses, with loops."""
        try:
            fit = self.find_equations().fit(self.torque, start)
        except ClosureError:
            return None
        return fit if np.isfinite(fit.log_evidence) else None


@dataclass(frozen=True, eq=False)
class Line:
    """Mistakes with a value.

    Attributes
    ----------
    make       returns the mistake with this value, which is zero if there is none
    starts     values from which the best one is looked for, in ascending order
    tolerance  size of the value that logs without a mistake may have
    usual      values that are likelier than those near them
    """

    make: Callable[[float], Mistake]
    starts: tuple[float, ...]
    tolerance: float
    usual: tuple[float, ...] = ()


def list_mistakes(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield mistakes without a value; frequent ones come first."""
    yield from list_torque_signs(interpretation)
    yield from list_orders(interpretation)
    yield from list_orientations(interpretation)
    yield from list_position_signs(interpretation)
    yield from list_position_units(interpretation)


def list_lines(interpretation: Interpretation, logs: Sequence[Log]) -> Iterator[Line]:
    """Yield mistakes with a value."""
    yield from list_torque_scales(interpretation)
    yield make_time_line(interpretation, logs)
    yield from list_delays(interpretation)
    yield from list_offsets(interpretation)


def _change_motion(interpretation: Interpretation, samples: Samples) -> Callable[[], Equations]:
    return cache(lambda: interpretation.make_equations(samples))


def count_independent(interpretation: Interpretation, mistake: Mistake, fit: Fit) -> PerJoint:
    """Return the number of independent equations of each joint if this mistake was made and is mended."""
    samples = mistake.samples or interpretation.samples
    if len(fit.beta) != len(interpretation.expectation.mean):  # another description, with other parameters
        return interpretation.counts
    tau = samples.tau if mistake.torque is None else samples.tau @ mistake.torque.T
    return interpretation.count_independent(replace(samples, motion=replace(samples.motion, tau=tau)), fit.beta)


def _get_equations(interpretation: Interpretation) -> Callable[[], Equations]:
    return lambda: interpretation.equations


# Torques: signs, units, gains of motor currents.


def list_torque_signs(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield reversed torques of all joints, of each joint and of two joints."""
    count = len(interpretation.robot.actuated)
    yield make_torque_sign(interpretation, -np.ones(count))
    for row in np.eye(count) if count > 1 else ():
        yield make_torque_sign(interpretation, 1.0 - 2.0 * row)
    for pair in combinations(range(count), 2) if 2 < count <= MAX_JOINTS else ():
        signs = np.ones(count)
        signs[list(pair)] = -1.0
        yield replace(make_torque_sign(interpretation, signs), log_odds=RARE_LOG_ODDS)


def make_torque_sign(interpretation: Interpretation, signs: PerJoint) -> Mistake:
    """Return the mistake that torques have to be multiplied by these signs."""
    joints = interpretation.robot.actuated
    wrong = tuple(name for name, sign in zip(joints, signs, strict=True) if sign < 0.0)
    subject = "all torques have" if len(wrong) == len(joints) else f"the torque of {', '.join(wrong)} has"
    return Mistake(
        FitFindingCode.TORQUE_SIGN,
        f"{subject} the wrong sign",
        f"write [sign] tau = {format_row(signs)} in the mapping, multiplied by any signs already there",
        _get_equations(interpretation),
        np.diag(signs),
        wrong,
        {"signs": signs.tolist()},
    )


def list_torque_scales(interpretation: Interpretation) -> Iterator[Line]:
    """Yield factors of the torque of each joint, and of all torques if the description has masses."""
    count = len(interpretation.robot.actuated)
    powers = tuple(float(each) for each in np.log(10.0) * np.arange(-6, 7) if each)
    if interpretation.has_inertias:
        starts = tuple(sorted({*powers, -1.0, 1.0}))
        every = np.ones(count, dtype=bool)
        yield Line(partial(_make_scale, interpretation, every), starts, MAX_SCALE, powers)
    for chosen in np.eye(count, dtype=bool) if count > 1 else ():
        starts = tuple(np.log([1e-3, 0.03, 0.25, 0.6, 1.7, 4.0, 30.0, 1e3]).tolist())
        yield Line(partial(_make_scale, interpretation, chosen), starts, MAX_GAIN, powers)


def _make_scale(interpretation: Interpretation, chosen: Bool[np.ndarray, " joints"], value: float) -> Mistake:
    """Return the mistake that the torques of some joints have to be multiplied by exp(value)."""
    joints = interpretation.robot.actuated
    factor = float(f"{np.exp(value):.3g}")
    factors = np.where(chosen, factor, 1.0)
    wrong = tuple(name for name, is_wrong in zip(joints, chosen, strict=True) if is_wrong)
    subject = "all torques are" if chosen.all() and len(joints) > 1 else f"the torque of {', '.join(wrong)} is"
    size = f"{format_number(1.0 / factor)} times as large as" if factor < 1.0 else f"{factor:.3g} times smaller than"
    unit = {1e-3: ", as if in Nmm", 1e3: ", as if in kNm"}.get(
        factor, ", as if of motors or in amperes" if factor > 1.0 else ""
    )
    entry = format_number(factor) if chosen.all() else format_row(factors)
    return Mistake(
        FitFindingCode.TORQUE_SCALE,
        f"{subject} about {size} those of the described masses{unit}",
        f"write [scale] tau = {entry} in the mapping, multiplied by any scale already there, or the gains of motor "
        "currents in [gain]",
        _get_equations(interpretation),
        np.diag(factors),
        wrong,
        {"factors": factors.tolist()},
    )


# Orders of columns.


def list_orders(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield other orders of the columns of torques, of positions, and of both."""
    for order in list_permutations(interpretation.robot.actuated):
        samples = interpretation.samples.permute(order)
        equations = _change_motion(interpretation, samples)
        yield make_order(interpretation, order, "tau", _get_equations(interpretation))
        yield replace(make_order(interpretation, order, "q and tau", equations), samples=samples)
        yield replace(make_order(interpretation, order, "q", equations), samples=samples)


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


def make_order(
    interpretation: Interpretation,
    order: Int[np.ndarray, " joints"],
    quantities: str,
    find_equations: Callable[[], Equations],
) -> Mistake:
    """Return the mistake that joint j of these quantities was recorded in the columns of joint ``order[j]``."""
    joints = interpretation.robot.actuated
    moved = [j for j, source in enumerate(order) if j != source]
    names = tuple(joints[j] for j in moved)
    what = {"q": "the positions", "tau": "the torques", "q and tau": "the columns"}[quantities]
    statement = f"{what} of {' and '.join(names)} are exchanged"
    if len(moved) != 2:
        recorded = [joints[j] for j in np.argsort(order)]
        statement = f"{what} of the joints are in another order, that of {', '.join(recorded)}"
    parts = quantities.split(" and ")
    columns = {part: ", ".join(f'"{part}{source + 1}"' for source in order) for part in parts}
    entries = [f"{part} = [{row}]" for part, row in columns.items()]
    likewise = ", and likewise for qd, if it is recorded" if "q" in parts else ""
    return Mistake(
        FitFindingCode.JOINT_ORDER,
        statement,
        f"write {', '.join(entries)} into [columns] of the mapping, with the names of your columns{likewise}",
        find_equations,
        np.eye(len(joints))[order] if "tau" in parts else None,
        names,
        {"order": order.tolist(), "quantities": parts},
    )


# Positions: reversed axes, zero positions, units, orientations of the base.


def find_mapped(interpretation: Interpretation) -> Int[np.ndarray, " mapped"]:
    """Return the actuated coordinates that a mapping can change: not those of a floating base or a sensor.

    Their columns have names and units of their own, and a single entry of a rotation vector is never recorded.
    """
    robot = interpretation.robot
    others = {*robot.base_coordinates, *robot.sensor_coordinates}
    return np.array([k for k, name in enumerate(robot.actuated) if name not in others], dtype=int)


def find_slides(interpretation: Interpretation) -> Bool[np.ndarray, " joints"]:
    """Return which actuated joints are prismatic."""
    kinds = {joint.name: joint.kind for joint in interpretation.robot.merged.movable}
    return np.array([kinds.get(name) is JointKind.PRISMATIC for name in interpretation.robot.actuated])


def list_position_signs(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield reversed positions of each joint, with and without its torque."""
    joints, mapped = interpretation.robot.actuated, find_mapped(interpretation)
    for j in mapped:
        name, signs = joints[j], np.ones(len(joints))
        signs[j] = -1.0
        samples = interpretation.samples.reverse(signs)
        equations = _change_motion(interpretation, samples)
        row = format_row(signs[mapped])
        yield Mistake(
            FitFindingCode.POSITION_SIGN,
            f"the position of {name} has the wrong sign",
            f"write [sign] q = {row} and the same for qd, if it is recorded, in the mapping",
            equations,
            None,
            (name,),
            {"signs": signs.tolist(), "torque": False},
            samples,
            RARE_LOG_ODDS,
        )
        yield Mistake(
            FitFindingCode.POSITION_SIGN,
            f"{name} turns the other way round: its position and its torque have the wrong sign",
            f"write [sign] q = {row}, tau = {row} and the same for qd, if it is recorded, in the mapping",
            equations,
            np.diag(signs),
            (name,),
            {"signs": signs.tolist(), "torque": True},
            samples,
            RARE_LOG_ODDS,
        )


def list_position_units(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield positions of all slides in millimetres or centimetres, and of all and of single hinges in degrees."""
    slides, mapped = find_slides(interpretation), np.zeros(len(interpretation.robot.actuated), dtype=bool)
    mapped[find_mapped(interpretation)] = True
    for factor, text in ((1e-3, '"mm"'), (1e-2, "0.01")) if slides.any() else ():
        yield _make_unit(interpretation, slides & mapped, factor, text)
    hinges = ~slides & mapped
    if hinges.any():
        yield _make_unit(interpretation, hinges, DEGREE, '"degrees"')
    for j in np.flatnonzero(hinges) if hinges.sum() > 1 else ():
        yield _make_unit(interpretation, np.arange(len(hinges)) == j, DEGREE, '"degrees"')


def _make_unit(
    interpretation: Interpretation, chosen: Bool[np.ndarray, " joints"], factor: float, text: str
) -> Mistake:
    slides, joints = find_slides(interpretation), interpretation.robot.actuated
    factors: PerJoint = np.where(chosen, factor, 1.0)
    names = tuple(name for name, is_wrong in zip(joints, chosen, strict=True) if is_wrong)
    entries = [text if chosen[k] else '"metres"' if slides[k] else '"radians"' for k in find_mapped(interpretation)]
    size = "in degrees" if factor == DEGREE else f"{1.0 / factor:.0f} times too large"
    samples = interpretation.samples.scale_positions(factors)
    return Mistake(
        FitFindingCode.POSITION_SCALE,
        f"the position of {', '.join(names)} is {size}",
        f"write [scale] q = [{', '.join(entries)}] in the mapping, and scale qd likewise, if it is recorded",
        _change_motion(interpretation, samples),
        None,
        names,
        {"factors": factors.tolist()},
        samples,
    )


def list_offsets(interpretation: Interpretation) -> Iterator[Line]:
    """Yield errors of the zero position of each joint."""
    slides = find_slides(interpretation)
    for j in find_mapped(interpretation).tolist():
        starts: Float[np.ndarray, " starts"] = np.radians([-135.0, -90.0, -40.0, -12.0, 12.0, 40.0, 90.0, 135.0, 180.0])
        tolerance, usual = MAX_OFFSET, tuple(np.radians([-90.0, 90.0, 180.0]).tolist())
        if slides[j]:
            starts, tolerance, usual = np.array([-0.3, -0.1, -0.03, 0.03, 0.1, 0.3]), MAX_SLIDE_OFFSET, ()
        yield Line(partial(_make_offset, interpretation, j), tuple(starts.tolist()), tolerance, usual)


def _make_offset(interpretation: Interpretation, j: int, value: float) -> Mistake:
    joints, mapped = interpretation.robot.actuated, find_mapped(interpretation)
    is_slide = bool(find_slides(interpretation)[j])
    size = f"{1e3 * value:.3g} mm" if is_slide else f"{np.degrees(value):.3g}°"
    text = {-90.0: '"-pi/2"', 90.0: '"pi/2"', 180.0: '"pi"'}.get(round(np.degrees(value), 9), f"{value:.3g}")
    exact = value if text.startswith('"') else float(text)
    offsets = np.where(np.arange(len(joints)) == j, exact, 0.0)
    row = ", ".join(text if k == j else "0" for k in mapped)
    samples = interpretation.samples.offset(offsets)
    return Mistake(
        FitFindingCode.POSITION_OFFSET,
        f"the zero position of {joints[j]} is off by {size}",
        f"write [offset] q = [{row}] in the mapping, added to any offsets already there",
        _change_motion(interpretation, samples),
        None,
        (joints[j],),
        {"offsets": offsets.tolist()},
        samples,
    )


def list_orientations(interpretation: Interpretation) -> Iterator[Mistake]:
    """Yield mistakes in the quaternion of a floating base; none if the base is fixed."""
    robot, samples = interpretation.robot, interpretation.samples
    for statement, remedy, matrix in (
        (
            "the quaternion of the base was recorded in the order w, x, y, z",
            "rename base_qx, base_qy, base_qz, base_qw to base_qw, base_qx, base_qy, base_qz",
            SCALAR_FIRST,
        ),
        (
            "the quaternion of the base is inverted: it turns the world into the base",
            "change the signs of base_qx, base_qy and base_qz",
            INVERSE,
        ),
    ):
        if robot.floating:
            motion = samples.motion
            q, qd, qdd = change_orientation(motion.q, motion.qd, motion.qdd, matrix)
            mended = replace(samples, motion=replace(motion, q=q, qd=qd, qdd=qdd))
            equations = _change_motion(interpretation, mended)
            names = robot.base_coordinates[3:]
            yield Mistake(FitFindingCode.ORIENTATION, statement, remedy, equations, None, names, samples=mended)


# Time: its unit or rate, and delays.

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


def make_time_line(interpretation: Interpretation, logs: Sequence[Log]) -> Line:
    """Return factors of time."""
    ratio = VelocityRatio.of(logs)
    factors = (1e-3, 0.01, 0.1, 0.125, 0.2, 0.25, 0.4, 0.5, 2.0 / 3.0, 1.5, 2.0, 2.5, 4.0, 5.0, 8.0, 10.0, 100.0, 1e3)
    usual = tuple(np.log(factors).tolist())
    starts = {-0.25, -0.08, 0.08, 0.25, *np.log([1e-3, 0.1, 0.25, 0.5, 2.0, 4.0, 10.0, 1e3]).tolist()}
    if ratio is not None and abs(ratio.median) > MAX_TIME:
        starts.add(-ratio.median)
    return Line(partial(_make_time, interpretation, ratio), tuple(sorted(starts)), MAX_TIME, usual)


def _make_time(interpretation: Interpretation, ratio: VelocityRatio | None, value: float) -> Mistake:
    factor = float(f"{np.exp(value):.4g}")
    size, kind = (1.0 / factor, "long") if factor < 1.0 else (factor, "short")
    log_odds = 0.0 if ratio is None else ratio.compute_log_odds(value)
    reason = ""
    if ratio is not None and log_odds > 0.0:
        reason = f"recorded velocity is {np.exp(ratio.median):.3g} times the derivative of position in all joints"
    samples = interpretation.samples.stretch(factor)
    return Mistake(
        FitFindingCode.TIME_SCALE,
        f"time steps are {format_number(size)} times too {kind}",
        f"write [scale] t = {format_number(factor)} in the mapping, or multiply its rate by "
        f"{format_number(1.0 / factor)}",
        _change_motion(interpretation, samples),
        fields={"factor": factor},
        samples=samples,
        log_odds=log_odds,
        reason=reason,
    )


def list_delays(interpretation: Interpretation) -> Iterator[Line]:
    """Yield delays of all torques, and of the positions and torques of each joint."""
    count, mapped = len(interpretation.robot.actuated), find_mapped(interpretation)
    starts = (-0.1, -0.04, 0.04, 0.1)
    every = np.ones(count, dtype=bool)
    longer = (-0.5, -0.25, *starts, 0.25, 0.5)
    yield Line(partial(_make_delay, interpretation, "tau", every), longer, MAX_DELAY)
    for quantity in ("q", "tau") if count > 1 else ():
        for j in mapped:
            chosen = np.arange(count) == j
            yield Line(partial(_make_delay, interpretation, quantity, chosen), starts, MAX_DELAY)


def _make_delay(
    interpretation: Interpretation, quantity: str, chosen: Bool[np.ndarray, " joints"], value: float
) -> Mistake:
    """Return the mistake that a quantity of some joints was recorded ``value`` seconds late."""
    robot, samples, value = interpretation.robot, interpretation.samples, round(value, 3)
    names = () if chosen.all() else tuple(name for name, each in zip(robot.actuated, chosen, strict=True) if each)
    nouns = ("torques", "positions") if quantity == "tau" else ("positions", "torques")
    late, early = nouns if value > 0.0 else nouns[::-1]
    statement = f"{late} were recorded about {abs(value):.2g} s later than {early}"
    row = f"{value:.3g}"
    if names:
        noun = "torque" if quantity == "tau" else "position"
        when = "later" if value > 0.0 else "earlier"
        statement = f"the {noun} of {', '.join(names)} was recorded about {abs(value):.2g} s {when} than the others"
        row = format_row(np.where(chosen, value, 0.0)[find_mapped(interpretation)])
    likewise = ", and the same for qd, if it is recorded" if quantity == "q" else ""
    samples = (samples.advance_torques if quantity == "tau" else samples.advance_positions)(value, chosen)
    return Mistake(
        FitFindingCode.DELAY,
        statement,
        f"write [delay] {quantity} = {row} in the mapping{likewise}",
        _change_motion(interpretation, samples),
        names=names,
        fields={"delay": value, "quantity": quantity},
        samples=samples,
    )


def format_number(value: float) -> str:
    """Return a number without exponent if it is not very small or large."""
    return f"{float(f'{value:.4g}'):.10g}" if 1e-6 <= abs(value) < 1e7 else f"{value:.3g}"


def format_row(values: PerJoint) -> str:
    return f"[{', '.join(f'{value:.4g}' for value in values + 0.0)}]"
