"""What can become of an input, and the bounds that no input may exceed."""

from __future__ import annotations

from enum import StrEnum

MAX_SECONDS = 5.0  # of processor time for one input, which other work on the machine does not lengthen
MAX_MEMORY = 10**9  # bytes of the whole process


class Outcome(StrEnum):
    """What became of an input; all but the first two are failures."""

    ACCEPTED = "accepted"
    REFUSED = "refused by our errors"
    FOREIGN = "foreign exception"
    SLOW = "over 5 s"
    LARGE = "over 1 GB"
    DEAD = "process ended"

    @property
    def is_failure(self) -> bool:
        return self not in (Outcome.ACCEPTED, Outcome.REFUSED)
