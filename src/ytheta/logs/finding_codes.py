"""Codes of the findings about a log. Programs can branch on these codes, and JSON output contains them."""

from __future__ import annotations

from enum import StrEnum


class LogFindingCode(StrEnum):
    """Code of a finding about a log.

    The page on logs of the documentation states the condition under which a check reports each code.
    """

    # reading a file
    COLUMNS = "columns"  # the columns that were chosen
    PLACES = "places"  # quantities are from different topics, structs or groups
    ORDER = "order"  # the numbers of columns and those in the names of joints have different orders
    HEADER = "header"  # columns of a text file without a header were guessed
    TORQUE = "torque"  # torques are missing or constant
    LOCKED = "locked"  # a joint that the robot has locked rests at another position
    WRENCH = "wrench"  # the wrench on a floating base is taken to be zero
    TRUNCATED = "truncated"  # the last line of a text file is incomplete
    COMPUTED_TORQUE = "computed torque"  # torques were computed by a controller, not measured
    EPISODES = "episodes"  # the file contains several recordings

    # checking the rows of a log
    MISSING = "missing"  # a value is NaN, infinite or an empty field
    GARBAGE = "garbage"  # values that no robot produces
    TIME = "time"  # timestamps run backwards or repeat
    GAP = "gap"  # samples were lost
    SAMPLING = "sampling"  # sampling rate and jitter
    HELD = "held"  # rows repeat the previous row while the arm moves
    WRAPPED = "wrapped"  # positions jump by a full turn
    SPIKE = "spike"  # single values are far from their neighbours

    # checking a log as a whole
    SHORT = "short"  # the log has few rows
    UNITS = "units"  # angles in degrees, or time in milliseconds
    VELOCITY = "velocity"  # recorded velocity and position disagree
    STILL = "still"  # a joint hardly moves
    SATURATION = "saturation"  # a torque stays at its minimum or maximum
    REPEATED_MOTION = "repeats"  # a log repeats the trajectory of another log

    # preparing a log
    JITTER = "jitter"  # timestamps are not equally spaced
    CUTOFF = "cut-off"  # the chosen cut-off of the low-pass
    PERIODS = "periods"  # periods were averaged
    SAMPLES = "samples"  # number of samples kept after decimation and trimming
    SEGMENTS = "segments"  # segments are too short for the low-pass
