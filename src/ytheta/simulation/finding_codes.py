"""Codes of the findings about a simulation, for programs and for ``--json``."""

from __future__ import annotations

from enum import StrEnum


class SimulationFindingCode(StrEnum):
    """The kind of a finding about a simulation."""

    # what was decided before the simulation
    SMOOTH_FRICTION = "smooth friction"  # Coulomb friction was smoothed near zero speed
    RECORDING = "recording"  # not all control instants are recorded

    # how to interpret the results
    TORQUE_LIMIT = "torque limit"  # a torque is often at its limit
    CHATTERING = "chattering"  # Coulomb friction makes plant and controller chatter
    NO_FRICTION = "no friction"  # the controller estimates friction of a robot without friction
    PARAMETER_ERROR = "parameter error"  # the estimates end farther from the true values than they began

    # runs that failed
    NO_LOG = "no log"  # diverged runs have no log
    NOT_TRACKING = "not tracking"  # a run finished, but does not follow the reference
    DIVERGED = "diverged"  # a run diverged: its positions or velocities grew without bound


REMARKS = (
    SimulationFindingCode.TORQUE_LIMIT,
    SimulationFindingCode.CHATTERING,
    SimulationFindingCode.NO_FRICTION,
    SimulationFindingCode.PARAMETER_ERROR,
)
FAILURES = (SimulationFindingCode.DIVERGED, SimulationFindingCode.NOT_TRACKING)
ABOUT_LOGS = (SimulationFindingCode.RECORDING, SimulationFindingCode.NO_LOG)
