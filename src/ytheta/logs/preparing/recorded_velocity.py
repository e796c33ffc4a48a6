"""Choosing between recorded velocity and differentiated position, separately for each joint.

A drive differentiates its encoder signal at a higher rate and with more digits than the log contains, so that recorded
velocity is often more accurate, and its acceleration needs one differentiation instead of two. However, recorded
velocity can be wrong: too large by a factor (three wrist joints of a dVRK arm: 5 to 18 %), late because the drive
filters it, or noisier than the positions. Which of the two is better is computed from spectra.

Transfer    Below the valley, the velocity spectrum V is compared with i w Q of the positions:
            V = (s + i w d) i w Q, with the scale s and the delay -d / s. Both follow from the cross-spectrum, to
            which noise of one of the two signals does not contribute.
Scale       A scale off by more than 2 % is systematic: it would scale viscous friction and inertias. Such a velocity
            is not used, whatever its noise.
Noise       The residual V - (s + i w d) i w Q contains no motion, only the errors of both signals. At each frequency,
            it is divided between the two in proportion to their noise floors: white noise of positions has the
            power w^2 in velocity, white noise of recorded velocity the power 1. The floors are measured at
            frequencies above the valley.
Errors      The systematic error of recorded velocity is |s - 1 + i w d|^2 times the motion. The noise of both sources
            is their share of the residual. Errors of velocity and acceleration up to the cut-off count, each relative
            to the motion.
Choice      Recorded velocity if its noise is at most twice that of differentiated position: the shares of the residual
            are not known better than that, and a drive knows more than a log. Its systematic error must be below half
            the noise of differentiated position, because noise averages out and a delay does not. Errors below 0.1 %
            do not matter.
            Signals that were smoothed before they were recorded have no noise floor, so that the shares of the
            residual are uncertain. If torques were recorded, an identification asks them: see
            ``identification.plan``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import (
    MIN_SAMPLES,
    choose_window_size,
    compute_bin_edges,
    find_valley,
    make_taper,
    sample_windows,
    transform,
)
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import LinesByJoint, PerLine, Shaped

COMPUTED = "for these joints velocity is computed from position"
SOURCES = ("auto", "recorded", "position")
# Deviation of the scale from 1, above which recorded velocity is not used. Chosen on: reasoning; it would scale viscous
# friction and inertias. Three wrist joints of a recorded dVRK arm are off by 5 to 18 %.
MAX_SCALE_ERROR = 0.02
# Relative error due to scale and delay, above which recorded velocity counts as wrong. Chosen on: rule of thumb.
MAX_SYSTEMATIC_ERROR = 0.05
# Noise of recorded velocity divided by that of differentiated position, up to which it is used. Chosen on: reasoning;
# the two are not known better than by a factor of 2.
MAX_NOISE_RATIO = 2.0
# Systematic error of recorded velocity divided by the noise of differentiated position, up to which it is used. Chosen
# on: reasoning; noise averages out, and a delay does not.
MAX_SYSTEMATIC_RATIO = 0.5
# Relative error that does not matter. Chosen on: rule of thumb.
NEGLIGIBLE_ERROR = 1e-3
# Lowest frequency at which a noise floor is measured, divided by the sampling rate. Chosen on: rule of thumb.
MIN_FLOOR_RATIO = 0.2
# Share of the power of differentiated position below the valley that is not noise, from which a joint moves. Chosen on:
# rule of thumb.
MIN_MOTION_SHARE = 0.5
# Highest frequency that is compared, divided by the sampling rate. Chosen on: reasoning; below the Nyquist frequency,
# 0.5.
MAX_FREQUENCY_RATIO = 0.45
# Ratio of the sampling rates of two logs, up to which they count as recorded in the same way. Chosen on: rule of
# thumb.
MAX_RATE_RATIO = 2.0


@dataclass(frozen=True)
class VelocityComparison:
    """Recorded velocity of one joint compared with its differentiated position.

    Attributes
    ----------
    scale           recorded velocity divided by differentiated position
    delay           of recorded velocity, in seconds; negative if it is early
    systematic_error
                    error of velocity and acceleration from recorded velocity due to scale and delay
    recorded_noise  noise of velocity and acceleration from recorded velocity
    position_noise  noise of velocity and acceleration from differentiated position
    moves           whether there is motion to compare; otherwise the other values say nothing

    Errors and noise are RMS values relative to the motion.
    """

    scale: float
    delay: float
    systematic_error: float
    recorded_noise: float
    position_noise: float
    moves: bool = True

    @property
    def is_scaled(self) -> bool:
        """Whether the scale is wrong."""
        return self.moves and not abs(self.scale - 1.0) <= MAX_SCALE_ERROR

    @property
    def is_wrong(self) -> bool:
        """Whether recorded velocity is not the derivative of the position, apart from noise."""
        return self.moves and (self.is_scaled or self.systematic_error > MAX_SYSTEMATIC_ERROR)

    @property
    def prefers_recorded(self) -> bool:
        """Whether recorded velocity is used."""
        if not self.moves:
            return False
        max_noise = max(MAX_NOISE_RATIO * self.position_noise, NEGLIGIBLE_ERROR)
        max_systematic_error = max(MAX_SYSTEMATIC_RATIO * self.position_noise, NEGLIGIBLE_ERROR)
        return not self.is_scaled and self.recorded_noise <= max_noise and self.systematic_error <= max_systematic_error

    @property
    def text(self) -> str:
        """The figures on which the choice is based."""
        if not self.moves:
            return "it does not move"
        scale = f"scale {self.scale:.3f}, " if self.is_scaled else ""
        delay = f"{abs(1000 * self.delay):.2g} ms {'late' if self.delay >= 0.0 else 'early'}"
        noise = f"noise {100 * self.recorded_noise:.2g} %, of position {100 * self.position_noise:.2g} %"
        return f"{scale}{delay}, {noise}"


@dataclass(frozen=True)
class DecidedVelocity:
    """What the torques of a log decided: for each joint, whether recorded velocity is used. Similar logs follow it.

    ``rate``: samples per second of the log. ``log``: its name.
    """

    rate: float
    uses_recorded: tuple[bool, ...]
    log: str


@dataclass(frozen=True)
class VelocityChoice:
    """For each joint, whether recorded velocity is used.

    ``comparisons`` are those on which the choice is based; they are empty if the source was set or cannot be compared.
    ``torque_gain``: relative reduction of the torque residual by this choice, if the torques decided; otherwise None.
    ``followed``: name of the log of the fit whose choice, made by its torques, is followed; empty if there is none.
    """

    uses_recorded: tuple[bool, ...]
    comparisons: tuple[VelocityComparison, ...] = ()
    torque_gain: float | None = None
    followed: str = ""

    @property
    def may_use_recorded(self) -> tuple[bool, ...]:
        """For each joint, whether recorded velocity has the right scale."""
        return tuple(not each.is_scaled for each in self.comparisons)

    def follow(self, decided: Sequence[DecidedVelocity], rate: float) -> VelocityChoice:
        """Return the choice of the log with the nearest sampling rate of those whose torques decided, if it is similar.

        ``rate``: that of this log. Velocities with a wrong scale are not used in any case.
        """
        similar = {max(each.rate / rate, rate / each.rate): each for each in reversed(decided)}
        if not self.comparisons or min(similar, default=np.inf) > MAX_RATE_RATIO:
            return self
        nearest = similar[min(similar)]
        pairs = zip(nearest.uses_recorded, self.may_use_recorded, strict=True)
        uses_recorded = tuple(used and allowed for used, allowed in pairs)
        return replace(self, uses_recorded=uses_recorded, followed=nearest.log)

    def list_findings(self, log: Log) -> Iterator[Finding]:
        """Yield the choice and its reason; joints of which the check of the log has warned are not named again."""
        if log.qd is None or not self.comparisons:
            return
        warned = {name for finding in log.findings if finding.code == LogFindingCode.VELOCITY for name in finding.names}
        rows = list(zip(log.joints, self.comparisons, self.uses_recorded, strict=True))
        wrong = {name: each for name, each, used in rows if each.is_wrong and not used and name not in warned}
        if wrong:
            yield _make_finding(
                Severity.REPAIRED, "recorded velocity is not the derivative of the position", wrong, COMPUTED
            )
        worse = {name: each for name, each, used in rows if not used and not each.is_wrong}
        reason = "" if self.torque_gain is None else f": torque residuals are {100 * self.torque_gain:.2g} % smaller"
        if self.followed:
            reason = f" as in {self.followed}, where the torques decided"
        if worse:
            yield _make_finding(Severity.NOTE, f"differentiated position is used{reason}", worse, COMPUTED)
        used_ones = {name: each for name, each, used in rows if used}
        if used_ones:
            statement = f"recorded velocity is used for {len(used_ones)} of {len(rows)} joints{reason}"
            yield _make_finding(Severity.NOTE, statement, used_ones, "")


def _make_finding(
    severity: Severity, statement: str, comparisons: Mapping[str, VelocityComparison], remedy: str
) -> Finding:
    shown = "; ".join(f"{joint}: {each.text}" for joint, each in comparisons.items())
    return Finding(
        LogFindingCode.VELOCITY,
        severity,
        f"{statement} ({shown})",
        remedy,
        tuple(comparisons),
        fields={joint: asdict(each) for joint, each in comparisons.items()},
    )


def choose_velocity_source(log: Log, grid: Grid, cutoff: float, velocity: str | tuple[bool, ...]) -> VelocityChoice:
    """Choose for each joint whether to use recorded velocity; "auto" compares it with positions."""
    joints = len(log.joints)
    if isinstance(velocity, tuple):
        if len(velocity) != joints:
            raise InputError(f"velocity has {len(velocity)} entries for {joints} joints; give one for each")
        uses_recorded = velocity
    elif velocity in SOURCES:
        uses_recorded = (velocity == "recorded",) * joints
    else:
        raise InputError(f'unknown velocity {velocity!r}; there are "auto", "recorded" and "position"')
    if log.qd is None:
        if any(uses_recorded):
            source = log.source or "log"
            raise InputError(f'{source}: velocity was not recorded; set velocity to "position"')
        return VelocityChoice((False,) * joints)
    if velocity != "auto":
        return VelocityChoice(uses_recorded)
    comparisons = compare_velocities(log, grid, cutoff)
    if not comparisons:  # the log is too short
        return VelocityChoice((False,) * joints)
    return VelocityChoice(tuple(each.prefers_recorded for each in comparisons), comparisons)


def compare_velocities(log: Log, grid: Grid, cutoff: float) -> tuple[VelocityComparison, ...]:
    """Compare recorded velocity with differentiated position for each joint; nothing if the log is too short."""
    assert log.qd is not None
    size = choose_window_size(log, grid)
    if size < MIN_SAMPLES:
        return ()
    taper, powers = make_taper(size), []
    angle = 2.0 * np.pi * np.fft.rfftfreq(size - 1)  # per sample
    lines = (angle > 0.0) & (angle <= 2.0 * np.pi * MAX_FREQUENCY_RATIO)
    half = 0.5 * angle[lines]
    for position, velocity in sample_windows(log, grid, size, (log.q, log.qd)):
        # Differences and means of neighbours belong to the same times; their gains are divided out.
        q = transform(np.diff(position, axis=1) * grid.rate, taper, grid.rate)[:, lines] * (half / np.sin(half))
        v = transform(0.5 * (velocity[:, 1:] + velocity[:, :-1]), taper, grid.rate)[:, lines] / np.cos(half)
        powers.append((np.abs(q) ** 2, np.abs(v) ** 2, np.conj(q) * v))
    derived, recorded, cross = (np.mean(each, axis=0).T for each in zip(*powers, strict=True))
    frequency = angle[lines] * grid.rate / (2.0 * np.pi)
    return tuple(_compare_joints(frequency, derived.real, recorded.real, cross, grid.rate, cutoff))


def _compare_joints(
    frequency: PerLine,
    derived: LinesByJoint,
    recorded: LinesByJoint,
    cross: Shaped[np.ndarray, "lines joints"],
    rate: float,
    cutoff: float,
) -> list[VelocityComparison]:
    omega = 2.0 * np.pi * frequency
    edges = compute_bin_edges(frequency, rate)
    gain = 1.0 / (1.0 + (frequency / cutoff) ** 8) ** 2  # of the low-pass in power
    comparisons = []
    for q, v, c in zip(derived.T, recorded.T, cross.T, strict=True):
        valley = find_valley(frequency, q, q * omega**2, edges)
        high = frequency > max(MIN_FLOOR_RATIO * rate, min(valley, 0.5 * frequency[-1]))
        position_noise, velocity_noise = omega**2 * np.median((q / omega**2)[high]), np.median(v[high])
        moving = frequency <= valley
        motion = np.where(moving, np.maximum(q - position_noise, 0.0), 0.0)
        if not motion.sum() > MIN_MOTION_SHARE * q[moving].sum():
            comparisons.append(VelocityComparison(1.0, 0.0, 0.0, 0.0, 0.0, moves=False))
            continue
        power = float(motion.sum())
        scale = float(c.real[moving].sum()) / power
        slope = float((omega * c.imag)[moving].sum()) / max(float((omega**2 * motion).sum()), np.finfo(float).tiny)
        transfer = scale + 1j * omega * slope
        residual = np.maximum(v - 2.0 * (np.conj(transfer) * c).real + np.abs(transfer) ** 2 * q, 0.0)
        noise = np.maximum(velocity_noise + position_noise, np.finfo(float).tiny)
        weight = gain * (1.0 / power + omega**2 / max(float((omega**2 * motion).sum()), np.finfo(float).tiny))
        systematic_error = weight @ (np.abs(transfer - 1.0) ** 2 * motion)
        recorded_share = weight @ (residual * velocity_noise / noise)
        position_share = weight @ (residual * position_noise / noise)
        comparisons.append(
            VelocityComparison(
                scale=scale,
                delay=-slope / scale if scale else 0.0,
                systematic_error=float(np.sqrt(systematic_error)),
                recorded_noise=float(np.sqrt(recorded_share)),
                position_noise=float(np.sqrt(position_share)),
            )
        )
    return comparisons
