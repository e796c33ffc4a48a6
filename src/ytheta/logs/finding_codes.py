"""Codes of the findings about a log. Programs branch on them, and JSON output contains them."""

from __future__ import annotations

from enum import StrEnum


class LogFindingCode(StrEnum):
    """Code of a finding. docs/logs.md lists the condition for each code of the checks."""

    # reading a file
    HEADER = "header"  # columns of a text file without a header were guessed
    TORQUE = "torque"  # torques are missing or constant
    TRUNCATED = "truncated"  # the last line of a text file is incomplete

    # checking its rows
    MISSING = "missing"  # NaN, infinity, empty fields
    GARBAGE = "garbage"  # values that no robot produces
    TIME = "time"  # timestamps run backwards or repeat
    GAP = "gap"  # samples were lost
    SAMPLING = "sampling"  # rate and jitter
    HELD = "held"  # rows repeat the previous row while the arm moves
    SPIKE = "spike"  # single values far from their neighbours

    # checking the log as a whole
    SHORT = "short"  # few rows
    UNITS = "units"  # angles in degrees, or time in milliseconds
    VELOCITY = "velocity"  # recorded velocity and position disagree
    STILL = "still"  # a joint hardly moves
    SATURATION = "saturation"  # a torque stays at its minimum or maximum
    REPEATED_MOTION = "repeats"  # a log repeats the trajectory of another

    # preparing it
    JITTER = "jitter"  # timestamps are not equally spaced
    CUTOFF = "cut-off"  # the chosen cut-off of the low-pass
    PERIODS = "periods"  # periods were averaged
    SAMPLES = "samples"  # number of samples that are kept
    SEGMENTS = "segments"  # segments are too short for the low-pass
