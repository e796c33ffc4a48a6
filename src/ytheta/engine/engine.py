"""What an engine is: something that does the same work on many items, one after the other or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 2  # items per worker that are under way or wait to be merged: memory stays the same however many there are


@runtime_checkable
class Engine(Protocol):
    """``choice.engine`` opens one by its name."""

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """``work(item)`` of every item in the order of the items, whatever finishes first; of few at a time.

        Work and items may travel to other processes: both must pickle, and what the work changes stays there. An error
        of the work is raised here as itself, and nothing new is begun.
        """
