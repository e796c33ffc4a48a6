"""How much larger the content of a file may be than the file, and the error of content that contradicts itself."""

from __future__ import annotations

from dataclasses import dataclass


class DamagedError(Exception):
    """Declared sizes cannot be right; the message is the reason, and the reader adds the path and the remedy."""


@dataclass(frozen=True)
class ExpansionBound:
    """Without a bound, a small file could need any memory.

    max_checked_ratio   size divided by size in the file, for large content
    max_unchecked_size  bytes; smaller content may have any ratio
    """

    max_checked_ratio: int
    max_unchecked_size: int

    def find_max_size(self, size_in_file: int) -> int:
        """Return the largest size in bytes of content that has a size in the file."""
        return max(self.max_unchecked_size, self.max_checked_ratio * size_in_file)

    def allows(self, size: int, size_in_file: int) -> bool:
        """Whether content of a log may have a size."""
        return size <= self.find_max_size(size_in_file)


# How much larger recorded content may be than in the file. Chosen on: reasoning; recorded numbers have noise, which
# cannot be compressed much, so small content that becomes large is not part of a log.
RECORDED = ExpansionBound(max_checked_ratio=100, max_unchecked_size=2**26)
# The same for Parquet. Chosen on: reasoning; it stores constant columns as a number and a count.
ENCODED = ExpansionBound(max_checked_ratio=1000, max_unchecked_size=2**28)
