"""Codes of all findings about a log, for code that branches on them and for JSON."""

from __future__ import annotations

from enum import StrEnum


class LogFindingCode(StrEnum):
    """Code of a finding; docs/logs.md lists the conditions under which the checks report it."""

    # reading a file
    HEADER = "header"  # columns of a text file without a header were guessed
    TORQUE = "torque"  # torques are missing or constant
    TRUNCATED = "truncated"  # the last line of a text file is incomplete

    # checking its rows
    MISSING = "missing"  # NaN, infinity, empty fields
    GARBAGE = "garbage"  # values that no robot produces
    TIME = "time"  # time stamps run backwards or repeat
    GAP = "gap"  # samples were lost
    SAMPLING = "sampling"  # rate and jitter
    HELD = "held"  # rows repeat the row before while the arm moves
    SPIKE = "spike"  # single readings far from their neighbours

    # checking the log as a whole
    SHORT = "short"  # few rows
    UNITS = "units"  # angles in degrees, a clock in milliseconds
    VELOCITY = "velocity"  # recorded velocity and position disagree
    STILL = "still"  # a joint hardly moves
    SATURATION = "saturation"  # a torque stays at its extreme
    REPEATED_MOTION = "repeats"  # a second log follows the trajectory of the first

    # preparing it
    JITTER = "jitter"  # samples were not equally spaced
    CUTOFF = "cut-off"  # the cut-off of the low-pass that was chosen
    PERIODS = "periods"  # periods were averaged
    SAMPLES = "samples"  # samples that are kept
    SEGMENTS = "segments"  # segments that are too short for the low-pass
