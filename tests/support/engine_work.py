"""Work for engines that other processes can import quickly."""

from __future__ import annotations

import os
import time

from ytheta.errors import InputError


def square(item: int) -> tuple[int, int]:
    """Return the square of a number, and the process that computed it."""
    if item < 0:
        raise InputError(f"{item} is negative; give another")
    return item * item, os.getpid()


def slow_square(item: int) -> tuple[int, int]:
    """Return the same after a while, in which a process can be killed."""
    time.sleep(0.2)
    return square(item)


class CachingWork:
    """Work that caches a value and counts how often it computes it."""

    def __init__(self) -> None:
        self.value: object | None = None
        self.computed = 0

    def run(self, item: int) -> tuple[int, int, int]:
        """Return the item, the number of computations, and the process."""
        if self.value is None:
            self.value, self.computed = object(), self.computed + 1
        return item, self.computed, os.getpid()
