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
Errors      The expected error of recorded velocity is its share of the residual plus that of delay and scale,
            |s - 1 + i w d|^2 times the motion; the expected error of differentiated position is its share of the
            residual. Errors of velocity and acceleration up to the cut-off count, each relative to the motion.
Choice      The source with the smaller expected error. If that of recorded velocity is negligible, it is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.preparing.resample import Grid
from ytheta.logs.preparing.spectra import (
    LOBE_WIDTH,
    MIN_SAMPLES,
    choose_window_size,
    compute_bin_edges,
    find_valley,
    make_taper,
    sample_windows,
    transform,
)
from ytheta.shapes import LinesByJoint, PerLine, Shaped

SOURCES = ("auto", "recorded", "position")
MAX_SCALE_ERROR = 0.02  # deviation of the scale from 1
NEGLIGIBLE_ERROR = 1e-3  # expected relative error; recorded velocity with a smaller one is used in any case
MIN_FLOOR_RATIO = 0.2  # lowest frequency at which a noise floor is measured, divided by the sampling rate
MAX_FREQUENCY_RATIO = 0.45  # highest frequency that is compared, divided by the sampling rate


@dataclass(frozen=True)
class VelocityComparison:
    """Recorded velocity of one joint compared with its differentiated position.

    Attributes
    ----------
    scale           recorded velocity divided by differentiated position
    delay           of recorded velocity, in seconds; negative if it is early
    recorded_error  expected error of velocity and acceleration from recorded velocity, relative to the motion
    position_error  expected error of velocity and acceleration from differentiated position, relative to the motion
    """

    scale: float
    delay: float
    recorded_error: float
    position_error: float

    @property
    def is_scaled(self) -> bool:
        """Whether the scale is wrong."""
        return not abs(self.scale - 1.0) <= MAX_SCALE_ERROR

    @property
    def prefers_recorded(self) -> bool:
        """Whether recorded velocity is used."""
        return not self.is_scaled and self.recorded_error <= max(self.position_error, NEGLIGIBLE_ERROR)

    @property
    def reason(self) -> str:
        """Why differentiated position is used instead, with figures."""
        if self.is_scaled:
            return f"its scale is {self.scale:.3f}"
        errors = f"expected error {100 * self.recorded_error:.2g} % instead of {100 * self.position_error:.2g} %"
        return f"{1000 * self.delay:.2g} ms late, {errors}"


def choose_velocity_source(
    log: Log, grid: Grid, cutoff: float, velocity: str | tuple[bool, ...]
) -> tuple[tuple[bool, ...], tuple[Finding, ...]]:
    """Return for each joint whether to use recorded velocity, and the findings; "auto" compares it with positions."""
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
        return (False,) * joints, ()
    if velocity != "auto":
        return uses_recorded, ()
    comparisons = compare_velocities(log, grid, cutoff)
    if not comparisons:
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.NOTE,
            "the log is too short to compare recorded velocity with positions",
            remedy="velocity is computed from position",
        )
        return (False,) * joints, (finding,)
    return tuple(each.prefers_recorded for each in comparisons), tuple(_describe_choice(log, comparisons))


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
        power = max(float(motion.sum()), np.finfo(float).tiny)
        scale = float(c.real[moving].sum()) / power
        slope = float((omega * c.imag)[moving].sum()) / max(float((omega**2 * motion).sum()), np.finfo(float).tiny)
        transfer = scale + 1j * omega * slope
        residual = np.maximum(v - 2.0 * (np.conj(transfer) * c).real + np.abs(transfer) ** 2 * q, 0.0)
        noise = np.maximum(velocity_noise + position_noise, np.finfo(float).tiny)
        weight = gain * (1.0 / power + omega**2 / max(float((omega**2 * motion).sum()), np.finfo(float).tiny))
        recorded_error = weight @ (np.abs(transfer - 1.0) ** 2 * motion + residual * velocity_noise / noise)
        position_error = weight @ (residual * position_noise / noise)
        comparisons.append(
            VelocityComparison(
                scale=scale,
                delay=-slope / scale if scale else 0.0,
                recorded_error=float(np.sqrt(recorded_error)),
                position_error=float(np.sqrt(position_error)),
            )
        )
    return comparisons


def _describe_choice(log: Log, comparisons: tuple[VelocityComparison, ...]) -> list[Finding]:
    # Joints about which the check of the log has already warned are not reported again.
    reported = {name for finding in log.findings if finding.code == LogFindingCode.VELOCITY for name in finding.names}
    pairs = list(zip(log.joints, comparisons, strict=True))
    rejected = {joint: each for joint, each in pairs if not each.prefers_recorded and joint not in reported}
    findings = []
    if rejected:
        shown = "; ".join(f"{joint}: {each.reason}" for joint, each in rejected.items())
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.REPAIRED,
            f"recorded velocity is worse than differentiated position ({shown})",
            remedy="for these joints velocity is computed from position",
            names=tuple(rejected),
            fields={joint: vars(each) for joint, each in rejected.items()},
        )
        findings.append(finding)
    used = [each for _, each in pairs if each.prefers_recorded]
    if used:
        recorded, position = (
            max(getattr(each, name) for each in used) for name in ("recorded_error", "position_error")
        )
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.NOTE,
            f"recorded velocity is used for {len(used)} of {len(pairs)} joints (expected error at most "
            f"{100 * recorded:.2g} %, of differentiated position {100 * position:.2g} %)",
            fields={"joints": len(used), "recorded_error": recorded, "position_error": position},
        )
        findings.append(finding)
    return findings
