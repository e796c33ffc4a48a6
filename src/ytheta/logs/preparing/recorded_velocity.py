"""Is recorded velocity to be trusted? Joint by joint, against the positions of the same log.

A drive differentiates its encoder faster and with more digits than a log keeps, so its velocity, and acceleration from
it by one difference instead of two, are better where it tells the truth: on UR10e the held-out torque error is 4.8 %
with it and 5.1 % without. It does not always: three wrist joints of the dVRK arm report 5 to 18 % too much. After the
same low-pass a joint's velocity must have the scale of its differentiated position and follow it closely.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.preparing.derivatives import Differentiator
from ytheta.logs.preparing.resample import Grid

SCALE = 0.02  # scale error that is still trusted
MISFIT = 0.05  # rms difference, of the rms velocity, that is still trusted
LONGEST = 65536  # samples compared; a longer log is judged by its middle


def trusted_velocity(
    log: Log, grid: Grid, differentiator: Differentiator, wanted: str | tuple[bool, ...]
) -> tuple[tuple[bool, ...], tuple[Finding, ...]]:
    """For each joint whether recorded velocity is used; ``wanted`` "auto" lets the log decide."""
    joints = len(log.joints)
    if isinstance(wanted, tuple):
        if len(wanted) != joints:
            raise InputError(f"velocity has {len(wanted)} entries for {joints} joints; give one for each")
        chosen = wanted
    elif wanted in ("auto", "recorded", "position"):
        chosen = (wanted == "recorded",) * joints
    else:
        raise InputError(f'unknown velocity {wanted!r}; there are "auto", "recorded" and "position"')
    if log.qd is None:
        if any(chosen):
            where = log.source or "log"
            raise InputError(f'{where}: velocity was not recorded; take velocity from "position"')
        return (False,) * joints, ()
    return _judge(log, grid, differentiator) if wanted == "auto" else (chosen, ())


def _judge(log: Log, grid: Grid, differentiator: Differentiator) -> tuple[tuple[bool, ...], tuple[Finding, ...]]:
    assert log.qd is not None
    segment = max(log.segments, key=lambda ends: ends[1] - ends[0])
    length = grid.length(log, segment)
    cut = differentiator.settling
    start, stop = max(0, (length - LONGEST) // 2), min(length, (length + LONGEST) // 2)
    if stop - start <= 2 * cut + 16:
        text = "too short to compare recorded velocity with positions; velocity is taken from positions"
        return (False,) * len(log.joints), (Finding("velocity", Severity.NOTE, text),)
    position, recorded = grid.sample(log, segment, start, stop, (log.q, log.qd))
    kept = slice(cut, stop - start - cut)
    derived = differentiator.derivative(differentiator.smooth(position), 1, kept)
    recorded = differentiator.derivative(differentiator.smooth(recorded), 0, kept)
    power = np.maximum((derived**2).sum(axis=1), np.finfo(float).tiny)
    scale = (derived * recorded).sum(axis=1) / power
    misfit = np.sqrt(((recorded - derived) ** 2).sum(axis=1) / power)
    good = (np.abs(scale - 1.0) <= SCALE) & (misfit <= MISFIT)
    # What the reader of the log has said is not said again.
    told = {joint for finding in log.findings if finding.code == "velocity" for joint in finding.names}
    off = {
        joint: f"{joint} {s:.3f} times it, {100 * m:.2g} % rms off"
        for joint, s, m, fine in zip(log.joints, scale, misfit, good, strict=True)
        if not fine and joint not in told
    }
    findings = []
    if off:
        text = f"recorded velocity is not that of the position ({'; '.join(off.values())}): taken from position there"
        findings.append(Finding("velocity", Severity.REPAIRED, text, names=tuple(off)))
    if good.any():
        worst = 100.0 * float(misfit[good].max())
        which = f"{good.sum()} of {len(good)} joints"
        text = f"recorded velocity is used for {which} (agrees with position within {worst:.2g} %)"
        findings.append(Finding("velocity", Severity.NOTE, text))
    return tuple(bool(fine) for fine in good), tuple(findings)
