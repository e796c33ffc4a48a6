"""Choosing between recorded velocity and differentiated position, separately for each joint.

A drive differentiates its encoder signal at a higher rate and with more digits than the log contains. Therefore a
correct recorded velocity is more accurate than the differentiated position. The acceleration is also more accurate,
because it needs one differentiation instead of two: on a UR10e, the torque error on validation data is 4.8 % with
recorded velocity and 5.1 % without. However, recorded velocity can be wrong: that of three wrist joints of a dVRK arm
is 5 to 18 % too large. Therefore both velocities are low-passed and compared; recorded velocity is used only if its
scale and its RMS difference, relative to the differentiated position, are within tolerance.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.preparing.derivatives import Differentiator
from ytheta.logs.preparing.resample import Grid

MAX_SCALE_ERROR = 0.02  # scale: regression coefficient of recorded velocity on differentiated position; ideally 1
MAX_MISFIT = 0.05  # RMS difference of the two velocities divided by the RMS velocity
MAX_SAMPLES = 65536  # maximum number of samples that are compared, in the middle of the segment
MIN_SAMPLES = 16  # minimum number of samples that are compared


def choose_velocity_source(
    log: Log, grid: Grid, differentiator: Differentiator, velocity: str | tuple[bool, ...]
) -> tuple[tuple[bool, ...], tuple[Finding, ...]]:
    """Return for each joint whether to use recorded velocity, and the findings; "auto" compares it with positions."""
    joints = len(log.joints)
    if isinstance(velocity, tuple):
        if len(velocity) != joints:
            raise InputError(f"velocity has {len(velocity)} entries for {joints} joints; give one for each")
        uses_recorded = velocity
    elif velocity in ("auto", "recorded", "position"):
        uses_recorded = (velocity == "recorded",) * joints
    else:
        raise InputError(f'unknown velocity {velocity!r}; there are "auto", "recorded" and "position"')
    if log.qd is None:
        if any(uses_recorded):
            source = log.source or "log"
            raise InputError(f'{source}: velocity was not recorded; set velocity to "position"')
        return (False,) * joints, ()
    return _compare_with_positions(log, grid, differentiator) if velocity == "auto" else (uses_recorded, ())


def _compare_with_positions(
    log: Log, grid: Grid, differentiator: Differentiator
) -> tuple[tuple[bool, ...], tuple[Finding, ...]]:
    assert log.qd is not None
    segment = max(log.segments, key=lambda segment: segment[1] - segment[0])
    length = grid.count_samples(log, segment)
    trimmed = differentiator.settling
    start, stop = max(0, (length - MAX_SAMPLES) // 2), min(length, (length + MAX_SAMPLES) // 2)
    if stop - start <= 2 * trimmed + MIN_SAMPLES:
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.NOTE,
            "the log is too short to compare recorded velocity with positions",
            remedy="velocity is computed from position",
        )
        return (False,) * len(log.joints), (finding,)
    position, recorded = grid.sample(log, segment, start, stop, (log.q, log.qd))
    kept = slice(trimmed, stop - start - trimmed)
    derived = differentiator.differentiate(differentiator.smooth(position), 1, kept)
    recorded = differentiator.differentiate(differentiator.smooth(recorded), 0, kept)
    power = np.maximum((derived**2).sum(axis=1), np.finfo(float).tiny)
    scale = (derived * recorded).sum(axis=1) / power
    misfit = np.sqrt(((recorded - derived) ** 2).sum(axis=1) / power)
    agrees = (np.abs(scale - 1.0) <= MAX_SCALE_ERROR) & (misfit <= MAX_MISFIT)
    # Joints about which the check of the log has already warned are not reported again.
    reported = {name for finding in log.findings if finding.code == LogFindingCode.VELOCITY for name in finding.names}
    disagreeing = {
        joint: (float(s), float(m))
        for joint, s, m, agreement in zip(log.joints, scale, misfit, agrees, strict=True)
        if not agreement and joint not in reported
    }
    findings = []
    if disagreeing:
        shown = "; ".join(
            f"{joint}: scale {s:.3f}, RMS difference {100 * m:.2g} %" for joint, (s, m) in disagreeing.items()
        )
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.REPAIRED,
            f"recorded velocity is not the derivative of the position ({shown})",
            remedy="for these joints velocity is computed from position",
            names=tuple(disagreeing),
            fields={joint: {"scale": s, "misfit": m} for joint, (s, m) in disagreeing.items()},
        )
        findings.append(finding)
    if agrees.any():
        worst = float(misfit[agrees].max())
        finding = Finding(
            LogFindingCode.VELOCITY,
            Severity.NOTE,
            f"recorded velocity is used for {agrees.sum()} of {len(agrees)} joints (agrees with position within "
            f"{100.0 * worst:.2g} %)",
            fields={"joints": int(agrees.sum()), "misfit": worst},
        )
        findings.append(finding)
    return tuple(bool(agreement) for agreement in agrees), tuple(findings)
