"""Outcome: how the evaluation of a kernel ended."""

from __future__ import annotations

from enum import IntEnum


class Outcome(IntEnum):
    """DONE is 0, so that a call has succeeded if its outcome is false. All others are negative.

    Attributes
    ----------
    DONE
        The results are written.
    NOT_FINITE
        A number of an input is infinite or NaN; the results are undefined.
    NOT_PLAIN
        An array is not plain: not of the class numpy.ndarray itself, not of aligned doubles in C order, of the wrong
        shape, not writable, or sharing memory with an input. Nothing was written.
    """

    DONE = 0
    NOT_FINITE = -1
    NOT_PLAIN = -2
