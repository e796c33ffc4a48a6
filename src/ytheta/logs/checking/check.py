"""Checking a log: faults are reported with figures, and repaired if the repair is safe.

Rows without a measurement are dropped first, then rows with wrong timestamps and held rows. Angles that wrap are made
continuous, and spikes are dropped. The remaining log is checked as a whole. Nothing is sorted, filtered or resampled.
The checks use the types and limits of the robot's joints, but not its dynamics.
"""

from __future__ import annotations

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.bad_rows import find_bad_rows
from ytheta.logs.checking.clock import find_clock_faults
from ytheta.logs.checking.held_rows import find_held_rows
from ytheta.logs.checking.plausibility import check_length, check_motion, check_torques
from ytheta.logs.checking.row_edits import RowEdits, apply_edits
from ytheta.logs.checking.spikes import find_spikes
from ytheta.logs.checking.units import check_declared_degrees, check_lengths, check_position_units, check_time_unit
from ytheta.logs.checking.velocities import check_velocities
from ytheta.logs.checking.work import check_work
from ytheta.logs.checking.wraps import unwrap_positions
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.robot.robot import Robot

ROW_CHECKS = (find_bad_rows, find_clock_faults, find_held_rows)  # before positions are made continuous


def check_log(
    log: Log, robot: Robot, *, strict: bool = False, position_unit_known: bool = False, time_unit_known: bool = False
) -> Log:
    """Return the log after all safe repairs; its ``findings`` list the faults and repairs.

    A log that would give wrong results (a finding of severity ERROR) is refused; ``strict`` refuses a log with any
    finding more serious than a note. ``position_unit_known`` and ``time_unit_known`` mean that the user has stated the
    unit, which is then not checked.
    """
    check_joints(log, robot)
    if not len(log):
        raise InputError(f"{log.source or 'the log'} contains no rows; record the motion again, or choose another file")
    for find_faults in ROW_CHECKS:
        log = apply_edits(log, find_faults(log))
        refuse_findings(log, frozenset({Severity.ERROR}))
    log = unwrap_positions(log, robot)
    log = apply_edits(log, find_spikes(log))
    findings = check_length(log)
    if not any(finding.severity is Severity.ERROR for finding in findings):
        findings += _check_whole(log, robot, position_unit_known=position_unit_known, time_unit_known=time_unit_known)
    log = apply_edits(log, RowEdits(tuple(findings)))
    refuse_findings(log, frozenset(Severity) - {Severity.NOTE} if strict else frozenset({Severity.ERROR}))
    return log


def check_joints(log: Log, robot: Robot) -> None:
    """Raise InputError if the log is that of a robot with other actuated coordinates."""
    if log.joints != robot.actuated:
        raise InputError(
            f"{log.source or 'the log'} has the joints {', '.join(log.joints)}, but the robot has the actuated "
            f"coordinates {', '.join(robot.actuated)}; use the robot that was recorded"
        )


def _check_whole(log: Log, robot: Robot, *, position_unit_known: bool, time_unit_known: bool) -> list[Finding]:
    findings = check_velocities(log, robot)
    if not time_unit_known and not any(finding.code == LogFindingCode.UNITS for finding in findings):
        findings += check_time_unit(log, robot)
    findings += check_declared_degrees(log, robot) if position_unit_known else check_position_units(log, robot)
    findings += check_lengths(log, robot, unit_known=position_unit_known)
    return [*findings, *check_motion(log, robot), *check_torques(log), *check_work(log, robot)]


def refuse_findings(log: Log, severities: frozenset[Severity]) -> None:
    """Raise one error that lists all findings of these severities, if there are any."""
    reasons = [finding.text for finding in log.findings if finding.severity in severities]
    if reasons:
        raise InputError(f"{log.source or 'the log'} is refused: " + "; also: ".join(reasons))
