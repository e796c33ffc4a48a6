"""Checking a log: what is wrong with it, told with figures, and what is safe to repair, repaired.

Rows that hold no measurement go first, then stamps, then stale rows, then spikes; what remains is looked at as a
whole. Nothing is sorted, filtered or resampled here, and no model of the robot is needed but its joints' kinds and
limits.
"""

from __future__ import annotations

from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.logs.checking.bad_rows import bad_rows
from ytheta.logs.checking.clock import clock
from ytheta.logs.checking.held_rows import held_rows
from ytheta.logs.checking.plausibility import length_findings, motion_findings, torque_findings, unit_findings
from ytheta.logs.checking.row_edits import Marks, carried_out
from ytheta.logs.checking.spikes import spikes
from ytheta.logs.checking.units import clock_findings
from ytheta.logs.checking.velocities import velocity_findings
from ytheta.logs.log import Log
from ytheta.robot.robot import Robot

STEPS = (bad_rows, clock, held_rows, spikes)


def checked(
    log: Log, robot: Robot, *, strict: bool = False, units_stated: bool = False, clock_stated: bool = False
) -> Log:
    """The log, repaired where that is safe, with what was found in ``findings``.

    A log that would give wrong results (a finding of weight ERROR) is refused; ``strict`` refuses everything above a
    note, and so repairs nothing. ``units_stated``: someone has said that positions are in radians; ``clock_stated``:
    in which unit time is.
    """
    if log.joints != robot.actuated:
        raise InputError(
            f"{log.source or 'the log'} has the joints {', '.join(log.joints)}, and the robot the actuated coordinates "
            f"{', '.join(robot.actuated)}; use the robot of this log"
        )
    if not len(log):
        raise InputError(f"{log.source or 'the log'} holds no rows; record the motion again or name another file")
    for step in STEPS:
        log = carried_out(log, step(log))
        _refuse(log, frozenset({Severity.ERROR}))
    findings = length_findings(log)
    if not any(finding.severity is Severity.ERROR for finding in findings):
        about_velocity = velocity_findings(log, robot)
        doubted = any(finding.code == "units" for finding in about_velocity)
        findings += [
            *about_velocity,
            *([] if clock_stated or doubted else clock_findings(log, robot)),
            *([] if units_stated else unit_findings(log, robot)),
            *motion_findings(log, robot),
            *torque_findings(log),
        ]
    log = carried_out(log, Marks(tuple(findings)))
    _refuse(log, frozenset(Severity) - {Severity.NOTE} if strict else frozenset({Severity.ERROR}))
    return log


def _refuse(log: Log, weights: frozenset[Severity]) -> None:
    """One error with everything of these weights that was found so far."""
    told = [finding.text for finding in log.findings if finding.severity in weights]
    if told:
        raise InputError(f"{log.source or 'the log'} is refused: " + "; also: ".join(told))
