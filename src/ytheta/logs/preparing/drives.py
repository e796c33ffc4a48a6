"""Drives: their low-passed directions, which multiply the Coulomb friction in the regressor, and their rests.

A drive direction is the sign of a drive velocity.

Coulomb friction jumps when a drive reverses. The low-pass smooths this jump in the measured torque. Both sides of
tau = Y beta must be filtered by the same operator, so the drive direction must be low-passed in the same way.

The drive direction should be the sign of the unfiltered velocity, but noise would change this sign. Therefore the sign
is taken from a velocity filtered with ``CUTOFF_RATIO`` times the cut-off of the motion: at a reversal, this velocity
changes sign closer to the right time than the velocity of the motion does.

If a drive turns with several joints, its friction acts on each of them in proportion to a velocity ratio. Without loops
the ratios are constants, which multiply the low-passed direction. With loops they depend on the pose
(``PoseDirections``): then the products of ratio and direction are low-passed. Ratios change as smoothly as positions;
only directions jump. Ratios are therefore computed at the rate of the kept samples and interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ytheta.logs.log import allocate_temporary, compute_highest_speeds
from ytheta.logs.preparing.resample import choose_windows
from ytheta.shapes import Bool, ChannelsBySample, Float, Int, PerJoint, SamplesByJoint

if TYPE_CHECKING:
    from ytheta.logs.preparing.preparation import Preparation

# Cut-off of the velocity whose sign is the drive direction, divided by that of the motion. Chosen on: reasoning; a
# sharper velocity reverses closer to the right time, a noisier one at wrong times.
CUTOFF_RATIO = 2.0
MIN_RATIO_SAMPLES = 4  # from which ratios are interpolated by cubic polynomials. Fixed by: mathematics.

PairsBySample: TypeAlias = Float[np.ndarray, "pairs samples"]


@dataclass(frozen=True, eq=False)
class DriveDirections:
    """The drives whose directions are needed; ``rates`` @ qd are the velocities of these drives.

    ``smooth_speeds``: for each drive, the speed s in the smooth sign v / sqrt(v^2 + s^2); 0 if its friction jumps.
    """

    rates: Float[np.ndarray, "drives joints"]
    smooth_speeds: Float[np.ndarray, " drives"]

    @property
    def row_count(self) -> int:
        return len(self.rates)

    @property
    def row_drives(self) -> Int[np.ndarray, " rows"]:
        """The drive of every row of an alternative."""
        return np.arange(self.rates.shape[0])

    def evaluate(self, qd: ChannelsBySample) -> Float[np.ndarray, "drives samples"]:
        """Return directions between -1 and 1 at each sample, before the low-pass."""
        drives, samples = len(self.rates), qd.shape[1]
        velocity = np.matmul(self.rates, qd, out=allocate_temporary(drives * samples).reshape(drives, samples))
        for speeds, smooth_speed in zip(velocity, self.smooth_speeds, strict=True):  # one drive at a time and in place:
            _take_smooth_sign(speeds, smooth_speed)  # there are many times more samples than are kept
        return velocity

    def without_joints(self, held: Bool[np.ndarray, " joints"]) -> DriveDirections:
        """Return the directions while these joints do not move."""
        return replace(self, rates=self.rates * ~held)

    def with_alternatives(self, speeds: Float[np.ndarray, "alternatives drives"]) -> DriveDirections:
        """Return the directions with each of several rows of smoothing speeds, one alternative after the other."""
        return DriveDirections(np.tile(self.rates, (len(speeds), 1)), speeds.ravel())


@dataclass(frozen=True, eq=False)
class PoseDirections:
    """Drives whose velocity ratios depend on the pose: their directions times these ratios.

    Attributes
    ----------
    pairs          drive and joint of every ratio that is not always zero
    compute_rates  positions → ratios of these pairs: velocity of the drive per unit velocity of the joint
    smooth_speeds  as in ``DriveDirections``; several rows for several alternatives
    moves          whether each joint moves; the velocities of the others are only noise
    """

    pairs: Int[np.ndarray, "pairs 2"]
    compute_rates: Callable[[SamplesByJoint], PairsBySample]
    smooth_speeds: Float[np.ndarray, "alternatives drives"]
    moves: Bool[np.ndarray, " joints"]

    @property
    def row_count(self) -> int:
        return len(self.smooth_speeds) * len(self.pairs)

    @property
    def row_drives(self) -> Int[np.ndarray, " rows"]:
        """The drive of every row of an alternative."""
        return self.pairs[:, 0]

    def evaluate(self, qd: ChannelsBySample, rates: PairsBySample) -> Iterator[Float[np.ndarray, " samples"]]:
        """Yield ratio times direction of every pair at each sample, before the low-pass."""
        drives, joints = self.pairs.T
        velocity = np.zeros((self.smooth_speeds.shape[1], qd.shape[1]))
        for drive, joint, rate in zip(drives, joints, rates, strict=True):
            if self.moves[joint]:
                velocity[drive] += rate * qd[joint]
        for speeds in self.smooth_speeds:
            for drive, rate in zip(drives, rates, strict=True):
                direction = velocity[drive].copy()
                _take_smooth_sign(direction, speeds[drive])
                direction *= rate
                yield direction

    def interpolate_rates(self, q: ChannelsBySample, step: int) -> PairsBySample:
        """Return the ratios at all samples, computed at every ``step``-th one."""
        from scipy.interpolate import CubicSpline  # imported here, since only robots with loops need it

        count = q.shape[1]
        step = max(1, min(step, (count - 1) // MIN_RATIO_SAMPLES))
        chosen = np.union1d(np.arange(0, count, step), [count - 1])
        rates = self.compute_rates(np.ascontiguousarray(q[:, chosen].T))
        return rates if step == 1 else np.asarray(CubicSpline(chosen, rates, axis=1)(np.arange(count)))

    def without_joints(self, held: Bool[np.ndarray, " joints"]) -> PoseDirections:
        """Return the directions while these joints do not move."""
        return replace(self, moves=self.moves & ~held)

    def with_alternatives(self, speeds: Float[np.ndarray, "alternatives drives"]) -> PoseDirections:
        """Return the directions with each of several rows of smoothing speeds, one alternative after the other."""
        return replace(self, smooth_speeds=speeds)


def _take_smooth_sign(speeds: Float[np.ndarray, " samples"], smooth_speed: float) -> None:
    """Replace velocities by directions between -1 and 1, in place."""
    width = speeds * speeds
    width += smooth_speed**2
    np.sqrt(width, out=width)
    np.divide(speeds, width, out=speeds, where=width > 0.0)


AnyDirections: TypeAlias = DriveDirections | PoseDirections


# Rest: the samples at which a drive does not move, by a rule that follows from the log.
#
# While a drive rests, its friction torque may be anything up to its Coulomb friction (stiction), so that the torque of
# the joints on which it acts says little about the parameters. The rule has three steps:
#
# Slow        A drive is slow if its velocity, low-passed as for drive directions, cannot be told from zero: it is at
#             most ``MAX_NOISE_RATIO`` standard deviations of its noise, or at most ``MAX_SPEED_RATIO`` of the highest
#             speed, below which the smooth sign of Coulomb friction has no direction either.
# Rest        A drive rests while it is slow for at least ``MIN_REST_PERIODS`` periods of the cut-off, which is as long
#             as the low-pass remembers. A reversal passes through the slow speeds in a shorter time and is not a rest.
# Sticking    Friction can hold a drive for a shorter time, which ends and begins abruptly. ``MIN_STICK_PERIODS``
#             periods are a rest too, half the main lobe of the low-passed velocity, if the drive is below twice the
#             highest slow speed for at most ``MAX_WIDENING`` times as long: a reversal at constant acceleration takes
#             twice as long.
# Surrounding The low-pass mixes the friction torques of rest and motion, and the velocity that decides is low-passed
#             too. Therefore ``MARGIN_PERIODS`` periods before and after a rest count as rest: half the main lobes of
#             both impulse responses, 1/2 period of the low-pass and 1/4 of that of the directions, whose cut-off is
#             doubled.
#
# The noise of a recorded signal is computed from its differences of even orders: the median of those that are not zero,
# since a quantized signal does not change at rest, relative to the standard deviation that white noise would give them.
# Motion adds to differences, to those of high orders least; the smallest value of all orders is used.


# Speed divided by the standard deviation of its noise, up to which a drive is slow; noise alone exceeds it once in
# 16000 samples. Chosen on: recorded logs of the TX40, the LWR4+ and the UR10e, whose errors hardly depend on it.
MAX_NOISE_RATIO = 4.0
# Speed divided by the highest speed of the joint, up to which a drive is slow; the smooth sign of Coulomb friction has
# no direction below it. Chosen on: the same logs.
MAX_SPEED_RATIO = 1e-3
# Duration of a rest in periods of the cut-off, as long as the low-pass remembers. Chosen on: the same logs.
MIN_REST_PERIODS = 1.0
# The same, if the drive stops and starts abruptly. Chosen on: reasoning; half the main lobe of the low-passed velocity.
MIN_STICK_PERIODS = 0.25
# Time below twice the highest slow speed divided by the time below it, up to which a drive stops abruptly. Chosen on:
# reasoning; it is 2 at constant acceleration.
MAX_WIDENING = 1.5
# Time before and after a rest, in periods of the cut-off, that counts as rest: half the main lobes of both impulse
# responses. Chosen on: the same logs as the rest.
MARGIN_PERIODS = 0.75
# Orders of the differences from which noise is computed. Chosen on: reasoning; motion adds to low orders most.
DIFFERENCE_ORDERS = (2, 4, 6)
MEDIAN_RATIO = 0.6745  # median / standard deviation of the absolute value of normal noise. Fixed by: mathematics.
# Rounding error of a low-passed position, relative to its size. Chosen on: rule of thumb.
MAX_ROUNDING_ERROR = 1e-12


@dataclass(frozen=True, eq=False)
class RestRule:
    """When the drives of one log rest.

    Attributes
    ----------
    rates        velocities of the drives per unit velocity of each joint; only of drives that can stick
    moves        False for joints whose velocity is only noise in all logs
    speeds       highest slow speed of every drive
    min_samples  shortest rest, in samples of the grid
    min_stick_samples
                 shortest rest of a drive that stops and starts abruptly, likewise
    margin       number of samples before and after a rest that count as rest
    noise        standard deviations of the noise of the recorded signals; None if it is not known
    """

    rates: Float[np.ndarray, "drives joints"]
    moves: Bool[np.ndarray, " joints"]
    speeds: Float[np.ndarray, " drives"]
    min_samples: int
    min_stick_samples: int
    margin: int
    noise: SignalNoise | None = None

    def evaluate(self, qd: ChannelsBySample) -> Bool[np.ndarray, "joints samples"]:
        """Return True at the samples at which a drive that acts on the joint rests."""
        resting = np.zeros(qd.shape, dtype=bool)
        for rate, speed in zip(self.rates, self.speeds, strict=True):
            resting[rate != 0.0] |= self.find_rests(abs((rate * self.moves) @ qd), float(speed))
        return resting

    def find_rests(self, speed: Float[np.ndarray, " samples"], slow_speed: float) -> Bool[np.ndarray, " samples"]:
        """Return True at the rests of one drive, and at ``margin`` samples around them."""
        starts, stops = _find_runs(speed <= slow_speed)
        wide_starts, wide_stops = _find_runs(speed <= 2.0 * slow_speed)
        around = np.searchsorted(wide_starts, starts, side="right") - 1  # the run at twice the speed around each run
        duration, wide = stops - starts, (wide_stops - wide_starts)[around]
        sticks = (duration >= self.min_stick_samples) & (wide <= MAX_WIDENING * duration)
        is_rest = (duration >= self.min_samples) | sticks
        count = len(speed)
        balance = np.zeros(count + 1, dtype=int)  # number of rests that begin minus number of rests that end
        np.add.at(balance, np.maximum(starts[is_rest] - self.margin, 0), 1)
        np.add.at(balance, np.minimum(stops[is_rest] + self.margin, count), -1)
        return np.asarray(np.cumsum(balance[:count]) > 0)


def make_rest_rule(
    preparation: Preparation,
    rates: Float[np.ndarray, "drives joints"],
    held: Bool[np.ndarray, " joints"] | None = None,
    signal_noise: SignalNoise | None = None,
) -> RestRule:
    """Return the rule for one log. ``rates``: those of the drives that can stick; ``held``: joints that never move.

    The rule leaves drives that never move aside: all of their equations are alike, and stiction counts as their noise.
    ``signal_noise``: that of the log on the grid of the preparation, if it is known.
    """
    highest = compute_highest_speeds(preparation.log)
    floor = MAX_SPEED_RATIO * highest.max(initial=0.0)  # for joints that do not move at all
    signal_noise = signal_noise or SignalNoise.of(preparation)
    noise = compute_velocity_noise(preparation, signal_noise)
    speeds = np.maximum(MAX_NOISE_RATIO * noise, MAX_SPEED_RATIO * np.maximum(highest, floor))
    q = preparation.log.q
    largest = np.maximum(q.max(axis=0), -q.min(axis=0))  # without a copy of all positions
    rounding = MAX_ROUNDING_ERROR * preparation.grid.rate * largest
    speeds = np.maximum(speeds, rounding)  # if positions are constant, their derivative is not exactly zero
    moves = np.ones(len(speeds), dtype=bool) if held is None else ~held
    rates = rates[(rates * moves).any(axis=1)]
    period = preparation.grid.rate / float(preparation.settings.cutoff)
    return RestRule(
        rates,
        moves,
        abs(rates) @ (speeds * moves),
        max(1, math.ceil(MIN_REST_PERIODS * period)),
        max(2, math.ceil(MIN_STICK_PERIODS * period)),
        math.ceil(MARGIN_PERIODS * period),
        signal_noise,
    )


def remake_rest_rule(rule: RestRule, before: Preparation, after: Preparation) -> RestRule:
    """Return the rule for the same log with another preparation."""
    is_same_signal = after.log is before.log and after.grid == before.grid
    return make_rest_rule(after, rule.rates, ~rule.moves, rule.noise if is_same_signal else None)


def _find_runs(
    condition: Bool[np.ndarray, " samples"],
) -> tuple[Int[np.ndarray, " runs"], Int[np.ndarray, " runs"]]:
    """Return the first samples of the runs at which a condition holds, and the samples after their ends."""
    changes = np.flatnonzero(np.diff(condition, prepend=False, append=False))
    return changes[::2], changes[1::2]


@dataclass(frozen=True, eq=False)
class SignalNoise:
    """Standard deviations of the noise of the recorded positions and, if there are any, velocities of every joint."""

    q: PerJoint
    qd: PerJoint | None

    @classmethod
    def of(cls, preparation: Preparation) -> SignalNoise:
        """Return the noise of a log on the grid of its preparation."""
        log = preparation.log
        return cls(_compute_noise(preparation, log.q), None if log.qd is None else _compute_noise(preparation, log.qd))


def compute_velocity_noise(preparation: Preparation, noise: SignalNoise) -> PerJoint:
    """Return the standard deviation of the noise of every joint's velocity, low-passed as for drive directions."""
    rate = preparation.grid.rate
    cutoff = preparation.direction_cutoff
    # White noise after an ideal low-pass, and after its derivative: integrals of 1 and of (2 pi f)^2 up to the cut-off.
    recorded_gain = math.sqrt(min(1.0, 2.0 * cutoff / rate))
    derivative_gain = 2.0 * math.pi * math.sqrt(2.0 * cutoff**3 / (3.0 * rate))
    position = derivative_gain * noise.q
    if noise.qd is None:
        return position
    return np.where(preparation.uses_recorded_velocity, recorded_gain * noise.qd, position)


def _compute_noise(preparation: Preparation, signal: Float[np.ndarray, "samples joints"]) -> PerJoint:
    """Return the standard deviation of the noise of every column."""
    log, grid = preparation.log, preparation.grid
    windows = [
        grid.sample(log, window, 0, grid.count_samples(log, window), (signal,))[0] for window in choose_windows(log)
    ]
    noise = np.full(signal.shape[1], math.inf)
    for order in DIFFERENCE_ORDERS:
        differences = [abs(np.diff(values, n=order, axis=1)) for values in windows if values.shape[1] > order]
        if not differences:
            continue
        gain = MEDIAN_RATIO * math.sqrt(math.comb(2 * order, order))
        for joint, row in enumerate(np.concatenate(differences, axis=1)):
            changes = row[row > 0.0]
            noise[joint] = min(noise[joint], float(np.median(changes)) / gain if len(changes) else 0.0)
    return np.where(np.isfinite(noise), noise, 0.0)
