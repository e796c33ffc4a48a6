"""Work for engines that other processes can do without importing much."""

from __future__ import annotations

import os

from ytheta.errors import InputError


def square(item: int) -> tuple[int, int]:
    """The square, and the process that found it."""
    if item < 0:
        raise InputError(f"{item} is negative; give another")
    return item * item, os.getpid()


class Counting:
    """Work that makes something once, and remembers it."""

    def __init__(self) -> None:
        self.kernel: object | None = None
        self.compiled = 0

    def made(self, item: int) -> tuple[int, int, int]:
        if self.kernel is None:
            self.kernel, self.compiled = object(), self.compiled + 1
        return item, self.compiled, os.getpid()
